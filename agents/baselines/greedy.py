"""The greedy agent: the best action by the game's heuristic policy, one decision ahead."""

from functools import cache
from typing import Any

import numpy as np

from agents.heuristics import bound_greedy_action, tuned
from agents.spec import AgentSpec, no_settings
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind

greedy_action: Any = None  # bound to each game's kernels


def choose(states, keys, words, logits, actions):
    """Write the greedy action for each game."""
    rng = np.zeros(1, np.uint64)
    for i in range(states.shape[0]):
        rng[0] = keys[i]
        actions[i] = greedy_action(states[i], words, logits, rng)


@cache
def _bound(game: Game) -> Any:
    return bind(choose, game.name, {"greedy_action": bound_greedy_action(game)})


class GreedyAgent:
    """Takes the action of highest logit by the heuristic policy."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._choose = _bound(variant.game)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        states = checked_games(states, self._variant.dtype)
        actions = np.zeros(len(states), np.int64)
        words, logits = np.zeros(self._variant.num_words, np.uint64), np.zeros(self._variant.num_actions)
        self._choose(states, checked_keys(keys, len(states)), words, logits, actions)
        return actions


def make(variant: Variant, spec: AgentSpec) -> GreedyAgent:
    """Make the agent of `greedy`."""
    no_settings(spec)
    return GreedyAgent(variant)


def make_tuned(variant: Variant, spec: AgentSpec) -> GreedyAgent:
    """Make the agent of `greedy_tuned`: greedy by weights tuned for the number of players.

    Raises:
        ValueError: the game has no such weights.
    """
    no_settings(spec)
    return GreedyAgent(tuned(variant))
