"""A game's built-in advice as numbers for a network: how much worse each legal action is than the best, and why.

Advice is a function of what the seat to move may know (`tests` hold every game to that), so a network that reads
it stays blind to hidden information. Starting a policy from a plain controller and learning what to change is
residual policy learning (Silver et al., 2018; Johannink et al., 2019).
"""

from functools import cache
from typing import Any

import numpy as np

from samurai_env.core import bits
from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_games
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind

legal: Any = None  # put in by `bind`
heuristic_policy: Any = None
look: Any = None


def look_by_advice(state, scores, looks):
    """The outlook of a game that has none of its own, or the quick part of it: the score of its advice."""
    heuristic_policy(state, scores)
    looks[:, 0] = scores


def look_by_outlook(state, scores, looks):
    """The outlook of a game that has one."""
    look(state, looks)


def write_outlooks(states, words, scores, out):
    """Write each game's outlook, and in place of the score how far it lies below the best; 0 where illegal."""
    for i in range(states.shape[0]):
        legal(states[i], words)
        look(states[i], scores, out[i])
        best = -np.inf
        for action in range(scores.shape[0]):
            if bits.contains(words, action):
                best = max(best, out[i, action, 0])
        for action in range(scores.shape[0]):
            out[i, action, 0] = best - out[i, action, 0] if bits.contains(words, action) else 0.0


@cache
def _bound(game: Game, quick: bool) -> Any:
    c = game.kernels
    owner = f"{game.name}.quick" if quick else game.name
    if quick or c.action_features is None:
        chosen = bind(look_by_advice, owner, {"heuristic_policy": c.heuristic_policy})
    else:
        chosen = bind(look_by_outlook, owner, {"look": c.action_features})
    return bind(write_outlooks, owner, {"legal": c.legal, "look": chosen})


@cache
def usual_temperature(variant: Variant, quick: bool = False) -> float:
    """The temperature at which the softmax of advice gives the best advised action one half, on average.

    It is found over positions of random games; decisions without a choice do not count. `quick` is as in `Advice`.
    """
    loops, count = batch_kernels(variant.game), 64
    states, words = variant.new(count), np.zeros(variant.num_words, np.uint64)
    loops.begin(states, np.arange(count, dtype=np.uint64))
    rng, advice, rows = np.array([1], np.uint64), Advice(variant, quick), []
    masks = np.zeros((count, variant.num_actions), np.int8)
    for _ in range(40):
        loops.play_random(states, rng, 5, words)
        for game in range(count):
            loops.write_legal(states, game, words, masks[game])
        shortfalls = np.where(masks > 0, advice.outlooks(states)[:, :, 0], np.inf)
        rows.append(shortfalls[masks.sum(1) > 1])
    all_rows = np.concatenate(rows)
    low, high = 1e-6, 1e6
    for _ in range(40):
        middle = (low * high) ** 0.5
        surest = 1.0 / np.exp(-all_rows / middle).sum(1)
        low, high = (middle, high) if surest.mean() > 0.5 else (low, middle)
    return float(low)


class Advice:
    """Writes the outlooks of many games at once.

    Args:
        variant: of the games.
        quick: the game's `heuristic_policy` alone, also if it has an outlook.
    """

    def __init__(self, variant: Variant, quick: bool = False) -> None:
        self._dtype = variant.dtype
        self._write = _bound(variant.game, quick)
        self._words = np.zeros(variant.num_words, np.uint64)
        self._scores = np.zeros(variant.num_actions)
        self._columns = 1 if quick else len(variant.game.action_features)

    def outlooks(self, states: np.ndarray) -> np.ndarray:
        """What `Game.action_features` lists of each action, its first column made a shortfall.

        Args:
            states: records (games,), none of them over. They may change on the way and are as before afterwards.

        Returns:
            float32 (games, actions, columns). Column 0 is the best advised score less that of the action, at least 0.
            Illegal actions have 0 everywhere.

        Raises:
            TypeError: `states` is not an array.
            ValueError: records of another variant, or a game that is over.
        """
        states = checked_games(states, self._dtype)
        out = np.zeros((len(states), len(self._scores), self._columns), np.float32)
        self._write(states, self._words, self._scores, out)
        return out
