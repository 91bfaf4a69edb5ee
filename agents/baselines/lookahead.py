"""The look-ahead agent: the heuristic policy with the replies it allows, where a game has such features."""

import numpy as np

from agents.heuristics import ActionFeatures
from agents.spec import AgentSpec, no_settings
from samurai_env.core.checks import checked_keys
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch


class LookaheadAgent:
    """Takes the best action by the first of the game's action features.

    Raises:
        ValueError: the game has no action features.
    """

    def __init__(self, variant: Variant) -> None:
        if variant.game.kernels.action_features is None:
            raise ValueError(f"{variant.game.title} has no look-ahead beyond the heuristic policy that greedy follows")
        self._features = ActionFeatures(variant)
        self._batch = GameBatch(variant)

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        gaps = self._features.compute(states)[:, :, 0]
        checked_keys(keys, len(gaps))
        return np.where(self._batch.legal_masks(states) > 0, gaps, np.inf).argmin(1)


def make(variant: Variant, spec: AgentSpec) -> LookaheadAgent:
    """Make the agent of `lookahead`.

    Raises:
        ValueError: an argument, or a game that has no action features.
    """
    no_settings(spec)
    return LookaheadAgent(variant)
