"""The interface of an agent."""

from typing import Protocol

import numpy as np


class Agent(Protocol):
    """A player of one variant.

    An agent receives whole states, but its choice must be a function of what the seat to move may know (`observe`,
    `determinize`, the legal actions) and of the key. The tests hold every agent to that.
    """

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Choose an action for the seat to move in each of several games.

        Args:
            states: states (games,) of the agent's variant, none of them over. Not to be changed.
            keys: uint64 (games,), the randomness of each decision: same state and key, same action.

        Returns:
            int64 (games,), legal action ids.
        """
        ...
