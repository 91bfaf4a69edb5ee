"""Rollouts: play on from a state to estimate the return of each seat."""

from functools import cache
from typing import Any

from agents import leaf_values
from agents.heuristics import bound_greedy_action
from samurai_env.core import bits
from samurai_env.core.game import Game
from samurai_env.core.jit import bind, jit
from samurai_env.core.rng import uniform

# Bound to each game's kernels.
legal: Any = None
step: Any = None
returns: Any = None
greedy_action: Any = None
heuristic_value: Any = None
leaf_value: Any = None


def rollout(state, depth, greedy_share, words, logits, out, rng, value):
    """Play up to `depth` decisions (-1: to the end) and write the returns, or an estimate if the game runs.

    A share of the decisions follows the heuristic policy, the others are uniformly random. The estimate is that of the
    leaf value, or without one the heuristic value.
    """
    while not state.over:
        if depth == 0:
            if value.third.shape[0] > 0:
                leaf_value(state, value, out)
            else:
                heuristic_value(state, out)
            return
        depth -= 1
        if greedy_share > 0.0 and uniform(rng) < greedy_share:
            step(state, greedy_action(state, words, logits, rng))
        else:
            legal(state, words)
            step(state, bits.pick(words, rng))
    returns(state, out)


@jit
def no_heuristic_value(state, out):
    """Stand in where a game has no heuristic value; such games are always played to the end."""
    out[:] = 0.0


@cache
def bound(game: Game) -> Any:
    """`rollout` of a game."""
    k = game.kernels
    scope = {
        "legal": k.legal,
        "step": k.step,
        "returns": k.returns,
        "greedy_action": bound_greedy_action(game),
        "heuristic_value": k.heuristic_value or no_heuristic_value,
        "leaf_value": leaf_values.bound(game),
    }
    return bind(rollout, game.name, scope)
