"""Priors of a node's actions from a game's built-in advice."""

from functools import cache
from typing import Any

import numpy as np

from samurai_env.core import bits
from samurai_env.core.compile import bind
from samurai_env.core.game import Game

advise: Any = None  # put in by `bind`

LEAST = 0.5  # the least prior of a legal action is this, shared by all


def write_priors(state, words, temperature, scores, node):
    """Write priors of the legal actions (`words`) that have none: the softmax of all their advice, or all alike."""
    total, best = 0.0, -np.inf
    if temperature < np.inf:
        advise(state, scores)
        for action in range(scores.shape[0]):
            if bits.contains(words, action):
                best = max(best, scores[action])
    for action in range(scores.shape[0]):
        if bits.contains(words, action):
            chance = np.exp((scores[action] - best) / temperature) if temperature < np.inf else 1.0
            scores[action] = np.float32(chance)
            total += chance
    for action in range(scores.shape[0]):
        if bits.contains(words, action) and node.prior[action] == 0.0:
            node.prior[action] = scores[action] / total


@cache
def bound(game: Game) -> Any:
    """`write_priors` of a game."""
    return bind(write_priors, game.name, {"advise": game.compiled.advise})
