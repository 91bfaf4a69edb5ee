"""Players that take the action their game's built-in advice, or the first column of its outlook, scores highest."""

from functools import cache
from typing import Any

import numpy as np

from agents.api import no_argument
from agents.networks.features import Advice
from samurai_env.core import bits
from samurai_env.core import rng as random
from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_games, checked_keys
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind

legal: Any = None  # put in by `bind`
heuristic_policy: Any = None


def best_advised(state, words, scores, rng):
    """A legal action of highest score, ties broken at random; `words` and `scores` are scratch."""
    legal(state, words)
    heuristic_policy(state, scores)
    best, ties, action = -np.inf, 0, -1
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            candidate = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            if scores[candidate] > best:
                best, ties, action = scores[candidate], 1, candidate
            elif scores[candidate] == best:
                ties += 1
                if random.below(rng, ties) == 0:
                    action = candidate
    return action


def choose(states, keys, words, scores, actions):
    """Write the advised action for each game."""
    rng = np.zeros(1, np.uint64)
    for i in range(states.shape[0]):
        rng[0] = keys[i]
        actions[i] = best_advised(states[i], words, scores, rng)


@cache
def bound(game: Game) -> dict[str, Any]:
    """`best_advised` and `choose` for one game."""
    scope = {"legal": game.kernels.legal, "heuristic_policy": game.kernels.heuristic_policy}
    scope["best_advised"] = bind(best_advised, game.name, scope)
    return {"best_advised": scope["best_advised"], "choose": bind(choose, game.name, scope)}


class GreedyAgent:
    """One decision ahead, by the game's own evaluation."""

    def __init__(self, variant: Variant) -> None:
        self._dtype = variant.dtype
        self._words = np.zeros(variant.num_words, np.uint64)
        self._scores = np.zeros(variant.num_actions)
        self._choose = bound(variant.game)["choose"]

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        states = checked_games(states, self._dtype)
        actions = np.zeros(len(states), np.int64)
        self._choose(states, checked_keys(keys, len(states)), self._words, self._scores, actions)
        return actions


def make(variant: Variant, argument: str) -> GreedyAgent:
    """From a spec."""
    no_argument("greedy", argument)
    return GreedyAgent(variant)


class CounselAgent:
    """By the first column of the game's outlook (`agents.networks.features`), on which advised networks build."""

    def __init__(self, variant: Variant) -> None:
        self._advice = Advice(variant)
        self._dtype = variant.dtype
        self._list_legal = batch_kernels(variant.game).list_legal
        self._num_words = variant.num_words

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `agents.api.Agent.act`."""
        states = checked_games(states, self._dtype)
        checked_keys(keys, len(states))
        shortfalls = self._advice.outlooks(states)[:, :, 0]
        words, masks = np.zeros((len(states), self._num_words), np.uint64), np.zeros(shortfalls.shape, np.int8)
        self._list_legal(states, words)
        for row in range(len(states)):
            bits.expand(words[row], masks[row])
        return np.where(masks > 0, shortfalls, np.inf).argmin(1)


def make_counsel(variant: Variant, argument: str) -> CounselAgent:
    """From a spec.

    Raises:
        ValueError: an argument, or a game that has no counsel.
    """
    no_argument("counsel", argument)
    if variant.game.kernels.action_features is None:
        raise ValueError(f"{variant.game.title} has no counsel beyond the advice that greedy follows")
    return CounselAgent(variant)
