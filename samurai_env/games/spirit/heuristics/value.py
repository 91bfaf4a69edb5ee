"""The chance of victory that search reckons with: the prospect of the best decision, on the scale of probabilities."""

import json

import numpy as np

from samurai_env.core.bits import has
from samurai_env.core.jit import jit
from samurai_env.games.spirit.heuristics.policy import NEVER, RECORD, score
from samurai_env.games.spirit.heuristics.prospects import FEATURES, OUTLOOK, WEIGHTS, look_out, prospect
from samurai_env.games.spirit.rules.cards import DATA
from samurai_env.games.spirit.state import CARD, PLACING

_DATA = json.loads((DATA / "evaluation.json").read_text(encoding="utf-8"))
SCALE = np.array(_DATA["scale"], np.float64)  # [round - 1]
START = np.array(_DATA["start"], np.float64)  # [difficulty, samurai - 1, round - 1]


@jit
def best_prospect(state, weights):
    """The prospect of a position; with a card in hand, that of the best place for it.

    Args:
        state: record of a game that is not over.
        weights: float64 (ROUNDS, FEATURES).
    """
    outlook, found = np.empty(OUTLOOK), np.empty(FEATURES)
    look_out(state, outlook)
    if state.phase != CARD and state.phase != PLACING:
        return prospect(state, outlook, found, weights)
    drawn, then = np.empty(1, RECORD), np.empty(1, RECORD)
    best = NEVER
    for action in range(64):
        if has(state.choices, action):
            best = max(best, score(state, action, drawn, then, outlook, found, weights))
    return best


@jit
def heuristic_value(state, out):
    """Write the chance of victory for all seats (float64). The state is not over."""
    odds = SCALE[state.round - 1] * best_prospect(state, WEIGHTS)
    odds += START[state.difficulty, state.players - 1, state.round - 1]
    for seat in range(state.players):
        out[seat] = 1.0 / (1.0 + np.exp(-odds))
