"""Random play of every variant with bounds checks: all that is compiled, at every state that it comes to.

One loop a game does what the environments and agents do with a state, so that a million states take seconds.
"""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from agents import leaf_values
from agents.registry import make_agent
from agents.rollouts import no_heuristic_value
from samurai_env.core import bits
from samurai_env.core import rng as random
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, jit
from samurai_env.envs.vector import GameVectorEnv

# Put in by `bind`.
reset: Any = None
legal: Any = None
step: Any = None
returns: Any = None
potential: Any = None
determinize: Any = None
mid_move: Any = None
heuristic_policy: Any = None
heuristic_value: Any = None
action_features: Any = None
value_features: Any = None
observe: Any = None

SEARCHERS = ["mcts:16", "flat_mc:2", "rollout:1", "greedy", "lookahead"]
FINE, NOTHING_LEGAL, OTHER_LEGAL, NOT_FINITE = 0, -1, -2, -3
WORDS = {
    NOTHING_LEGAL: "no legal action",
    OTHER_LEGAL: "other actions legal",
    NOT_FINITE: "a number that is not finite",
}


def play_on(states, decisions, scratch, words, others, scores, features, rows, out, rng):
    """Make random decisions in every game and ask everything at each state; the number of games ended, or a fault."""
    ended = 0
    for i in range(states.shape[0]):
        state = states[i]
        for _ in range(decisions):
            legal(state, words)
            if bits.count(words) == 0:
                return NOTHING_LEGAL
            scratch[0] = state
            seat = random.below(rng, out.shape[0])
            determinize(scratch[0], seat, rng)
            legal(scratch[0], others)
            for k in range(words.shape[0]):
                if seat == state.seat and words[k] != others[k]:
                    return OTHER_LEGAL
            mid_move(state)
            potential(state, out)
            heuristic_policy(state, scores)
            for action in range(scores.shape[0]):
                if bits.contains(words, action) and not np.isfinite(scores[action]):
                    return NOT_FINITE
            action_features(state, features)
            heuristic_value(state, out)
            value_features(state, rows)
            for player in range(out.shape[0]):
                if not np.isfinite(out[player]):
                    return NOT_FINITE
            for row in range(rows.shape[0]):
                if not np.isfinite(rows[row].sum()):
                    return NOT_FINITE
            step(state, bits.pick(words, rng))
            if state.over:
                ended += 1
                returns(state, out)
                reset(state, random.draw(rng) & random.SEED_BITS)
    return ended


def see(states, out):
    """Write what every seat sees."""
    for i in range(states.shape[0]):
        for seat in range(out.shape[0]):
            observe(states[i], seat, out[seat])


@jit
def no_features(state, features):
    """Stands in where a game has no action features, or none that a value could learn from."""
    features[:, :] = 0.0


@cache
def _bound(game: Game) -> tuple[Any, dict[str, Any]]:
    c = game.kernels
    names = ("reset", "legal", "step", "returns", "potential", "determinize", "mid_move", "heuristic_policy")
    scope = {name: getattr(c, name) for name in names}
    scope |= {"heuristic_value": c.heuristic_value or no_heuristic_value}
    scope |= {"action_features": c.action_features or no_features, "value_features": c.value_features or no_features}
    seeing = {name: bind(see, f"{game.name}.{name}", {"observe": function}) for name, function in c.observe.items()}
    return bind(play_on, game.name, scope), seeing


def play(variant: Variant, decisions: int, seed: int) -> Counter[str]:
    """Make about so many random decisions, seen in every encoding, and let every searcher look at some of them.

    Raises:
        AssertionError: an access out of bounds, or something impossible; names variant and seed.
    """
    try:
        return _play(variant, decisions, seed)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} in play({variant!r}, {decisions}, {seed}): {error}") from error


def _play(variant: Variant, decisions: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    play_on_, seeing = _bound(variant.game)
    games, stretch = 16, 5
    rng, words = np.array([seed], np.uint64), np.zeros((2, variant.num_words), np.uint64)
    env = GameVectorEnv(variant.game.name, games, variant.num_players, autoreset_mode="SameStep", **variant.options)
    env.reset(seed=seed)
    states, scratch, players = env.states.copy(), variant.new(1), variant.num_players
    scores, features = (
        np.zeros(variant.num_actions),
        np.zeros((variant.num_actions, len(variant.game.action_features)), np.float32),
    )
    rows = np.zeros((leaf_values.rows(variant), len(variant.game.value_columns)), np.float32)
    searchers = [
        make_agent(spec, variant) for spec in SEARCHERS if spec != "lookahead" or variant.game.kernels.action_features
    ]
    seen = {name: np.zeros((players, *variant.encoding(name).shape), np.int8) for name in seeing}
    limits = {name: variant.encoding(name).limits() for name in seeing}
    searched = decisions // 200  # they are a thousand times as slow
    while counts["decisions"] < decisions:
        found = play_on_(states, stretch, scratch, words[0], words[1], scores, features, rows, np.zeros(players), rng)
        assert found >= 0, f"{WORDS[found]} in play({variant!r}, {decisions}, {seed})"
        counts["games"] += found
        counts["decisions"] += games * stretch
        for name, see_ in seeing.items():
            see_(states, seen[name])
            low, high = limits[name]
            wrong = (seen[name] < low) | (seen[name] > high)
            assert not wrong.any(), f"{name} beyond its limits in play({variant!r}, {decisions}, {seed})"
            counts["observations"] += games * players
        if counts["searched"] < searched:
            for searcher in searchers:
                env.restore(states)
                keys = np.full(games, rng[0], np.uint64)
                env.step(searcher.act(env.states, keys))
                counts["searched"] += games
    variant.check(states)
    return counts
