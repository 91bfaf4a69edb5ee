"""A game's built-in advice as numbers for a network: how much worse each legal action is than the best advised.

Advice is a function of what the seat to move may know (`tests` hold every game to that), so a network that reads
it stays blind to hidden information. Starting a policy from a plain controller and learning what to change is
residual policy learning (Silver et al., 2018; Johannink et al., 2019).
"""

from functools import cache
from typing import Any

import numpy as np

from samurai_env.core import bits
from samurai_env.core.compile import bind
from samurai_env.core.game import Game, Variant

legal: Any = None  # put in by `bind`
advise: Any = None


def write_shortfalls(states, words, scores, out):
    """Write for each game how far each legal action's score lies below the best (0 where illegal)."""
    for i in range(states.shape[0]):
        legal(states[i], words)
        advise(states[i], scores)
        best = -np.inf
        for action in range(scores.shape[0]):
            if bits.contains(words, action):
                best = max(best, scores[action])
        for action in range(scores.shape[0]):
            out[i, action] = best - scores[action] if bits.contains(words, action) else 0.0


@cache
def _bound(game: Game) -> Any:
    return bind(write_shortfalls, game.name, {"legal": game.compiled.legal, "advise": game.compiled.advise})


class Advice:
    """Writes the shortfalls of many games at once."""

    def __init__(self, variant: Variant) -> None:
        self._write = _bound(variant.game)
        self._words = np.zeros(variant.num_words, np.uint64)
        self._scores = np.zeros(variant.num_actions)

    def shortfalls(self, states: np.ndarray) -> np.ndarray:
        """Best advised score less that of each action.

        Args:
            states: records (games,), none of them over.

        Returns:
            float32 (games, actions), at least 0; 0 for illegal actions, too.
        """
        out = np.zeros((len(states), len(self._scores)), np.float32)
        self._write(states, self._words, self._scores, out)
        return out
