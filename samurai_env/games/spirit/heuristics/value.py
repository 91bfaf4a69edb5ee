"""The heuristic value of Samurai Spirit: the probability of victory, a logistic function of the position's value."""

import json

import numpy as np

from samurai_env.core.bits import has
from samurai_env.core.jit import jit, scratch
from samurai_env.games.spirit.heuristics.features import FEATURES, UNSEEN, WEIGHTS, linear_value, write_unseen
from samurai_env.games.spirit.heuristics.policy import LOWEST, STATE_TYPE, action_logit
from samurai_env.games.spirit.rules.cards import DATA
from samurai_env.games.spirit.state import CARD, PLACING

_DATA = json.loads((DATA / "heuristic_value.json").read_text(encoding="utf-8"))
SCALE = np.array(_DATA["scale"], np.float64)  # [round - 1]
BIAS = np.array(_DATA["bias"], np.float64)  # [difficulty, samurai - 1, round - 1]


@jit
def best_value(state, weights):
    """Value of a position; with a card in hand, that of its best place.

    Args:
        state: a game that is not over.
        weights: float64 (ROUNDS, FEATURES).
    """
    unseen, features = scratch(UNSEEN, np.float64), scratch(FEATURES, np.float64)
    write_unseen(state, unseen)
    if state.phase != CARD and state.phase != PLACING:
        return linear_value(state, unseen, features, weights)
    drawn, child = scratch(1, STATE_TYPE), scratch(1, STATE_TYPE)
    best = LOWEST
    for action in range(64):
        if has(state.choices, action):
            best = max(best, action_logit(state, action, drawn, child, unseen, features, weights))
    return best


@jit
def log_odds(state):
    """Log odds of victory (float64) for a state that is not over."""
    bias = BIAS[state.difficulty, state.players - 1, state.round - 1]
    return SCALE[state.round - 1] * best_value(state, WEIGHTS) + bias


@jit
def heuristic_value(state, out):
    """Write the probability of victory for every seat (float64 (n,)) for a state that is not over."""
    chance = 1.0 / (1.0 + np.exp(-log_odds(state)))
    for seat in range(state.players):
        out[seat] = chance
