"""The uniformly random agent."""

from functools import cache
from typing import Any

import numpy as np

from agents.spec import AgentSpec, no_settings
from samurai_env.core import bits
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind

legal: Any = None  # bound to each game's kernels


def choose(states, keys, words, actions):
    """Write a uniformly random legal action for each game."""
    rng = np.zeros(1, np.uint64)
    for i in range(states.shape[0]):
        rng[0] = keys[i]
        legal(states[i], words)
        actions[i] = bits.pick(words, rng)


@cache
def _bound(game: Game) -> Any:
    return bind(choose, game.name, {"legal": game.kernels.legal})


class RandomAgent:
    """Takes each legal action with the same probability."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._choose = _bound(variant.game)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        states = checked_games(states, self._variant.dtype)
        actions = np.zeros(len(states), np.int64)
        words = np.zeros(self._variant.num_words, np.uint64)
        self._choose(states, checked_keys(keys, len(states)), words, actions)
        return actions


def make(variant: Variant, spec: AgentSpec) -> RandomAgent:
    """Make the agent of `random`."""
    no_settings(spec)
    return RandomAgent(variant)
