"""Playing on from a position, to estimate by its end what each seat can expect there."""

from functools import cache
from typing import Any

from agents.baselines import greedy
from samurai_env.core import bits
from samurai_env.core import rng as random
from samurai_env.core.game import Game
from samurai_env.core.jit import bind, jit

# Put in by `bind`.
legal: Any = None
step: Any = None
returns: Any = None
best_advised: Any = None
heuristic_value: Any = None


def roll_out(state, depth, share, words, scores, out, rng):
    """Play `depth` decisions (to the end if negative), this share of them advised, and write the returns to expect."""
    while not state.over:
        if depth == 0:
            heuristic_value(state, out)
            return
        depth -= 1
        if share > 0.0 and random.uniform(rng) < share:
            step(state, best_advised(state, words, scores, rng))
        else:
            legal(state, words)
            step(state, bits.pick(words, rng))
    returns(state, out)


@jit
def no_evaluation(state, out):
    """Stands in where a game has no evaluation; such games are always played to the end."""
    out[:] = 0.0


@cache
def bound(game: Game) -> Any:
    """`roll_out` of a game."""
    c = game.kernels
    scope = {
        "legal": c.legal,
        "step": c.step,
        "returns": c.returns,
        "best_advised": greedy.bound(game)["best_advised"],
        "heuristic_value": c.heuristic_value or no_evaluation,
    }
    return bind(roll_out, game.name, scope)
