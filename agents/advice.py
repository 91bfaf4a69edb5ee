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
from samurai_env.core.loops import loops_of

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


@cache
def usual_temperature(variant: Variant) -> float:
    """The temperature at which the softmax of advice gives the best advised action one half, on average.

    It is found over positions of random games; decisions without a choice do not count.
    """
    loops, count = loops_of(variant.game), 64
    states, words = variant.new(count), np.zeros(variant.num_words, np.uint64)
    loops.begin(states, np.arange(count, dtype=np.uint64))
    rng, advice, rows = np.array([1], np.uint64), Advice(variant), []
    masks = np.zeros((count, variant.num_actions), np.int8)
    for _ in range(40):
        loops.play_random(states, rng, 5, words)
        for game in range(count):
            loops.write_legal(states, game, words, masks[game])
        shortfalls = np.where(masks > 0, advice.shortfalls(states), np.inf)
        rows.append(shortfalls[masks.sum(1) > 1])
    all_rows = np.concatenate(rows)
    low, high = 1e-6, 1e6
    for _ in range(40):
        middle = (low * high) ** 0.5
        surest = 1.0 / np.exp(-all_rows / middle).sum(1)
        low, high = (middle, high) if surest.mean() > 0.5 else (low, middle)
    return float(low)


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
