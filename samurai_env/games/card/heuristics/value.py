"""The heuristic value: an estimate of each seat's return, for the leaves of a search.

A softmax of the influences on a village gives each seat's chance to take a stone, a softmax of the expected stones each
seat's chance to win. The parameters are fitted to games of the heuristic policy (`python -m
samurai_env.games.card.heuristics.fit`).
"""

import json

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.payoffs import expected_returns
from samurai_env.games.card.heuristics.policy import free_sides
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.scoring import influences, surrounded

_PARAMETERS = json.loads((DATA / "heuristic_value.json").read_text(encoding="utf-8"))
# By number of free sides: the share of stones that a seat takes in the end, and the softmax over influences.
CAPTURE_RATE = np.array(_PARAMETERS["capture_rate"], np.float64)
INVERSE_TEMPERATURE = np.array(_PARAMETERS["inverse_temperature"], np.float64)
# Of `expected_returns`.
MAJORITY_WEIGHT = np.float64(_PARAMETERS["majority_weight"])
STONE_WEIGHT = np.float64(_PARAMETERS["stone_weight"])
LEAD_SLOPE = np.float64(_PARAMETERS["lead_slope"])


@jit
def expect_stones(state, expected):
    """Write the expected final number of stones by seat and shape (float64 (n, 3)), from the villages on the table."""
    n = state.hand.shape[0]
    shares = np.empty(n)
    for seat in range(n):
        for shape in range(3):
            expected[seat, shape] = state.stones[seat, shape]
    for village in range(state.villages):
        if surrounded(state, village):
            continue
        free = free_sides(state.side[village])
        for shape in range(3):
            if state.village_stack[village] >> shape & 1:
                sums, total = influences(state.side[village], shape), 0.0
                for seat in range(n):
                    shares[seat] = np.exp(INVERSE_TEMPERATURE[free] * (sums >> (8 * seat) & 255))
                    total += shares[seat]
                for seat in range(n):
                    expected[seat, shape] += CAPTURE_RATE[free] * shares[seat] / total


@jit
def cards_left(state):
    """Number of cards that all players together have left to play."""
    left = 0
    for seat in range(state.hand.shape[0]):
        for kind in range(state.hand.shape[1]):
            left += state.unseen[seat, kind]
    return left


@jit
def heuristic_value(state, out):
    """Write each seat's expected return (float64 (n,), sums to 0) for a state that is not over."""
    expected = np.empty((state.hand.shape[0], 3))
    expect_stones(state, expected)
    lead_slope = LEAD_SLOPE / np.sqrt(1.0 + cards_left(state))
    expected_returns(expected, lead_slope, MAJORITY_WEIGHT, STONE_WEIGHT, out)
