"""The heuristic value: an estimate of each seat's return, for the leaves of a search.

A softmax of the influences around a figure gives each seat's chance to take it, a softmax of the expected figures each
seat's chance to win. The parameters are fitted to games of the heuristic policy (`python -m
samurai_env.games.board.heuristics.fit`).
"""

import json

import numpy as np

from samurai_env.core.bits import lowest, popcount
from samurai_env.core.jit import jit
from samurai_env.core.payoffs import expected_returns
from samurai_env.games.board.rules.topology import DATA, SETTLEMENT_LAND

_PARAMETERS = json.loads((DATA / "heuristic_value.json").read_text(encoding="utf-8"))
# Of the softmax over influences, by number of empty land hexes.
INVERSE_TEMPERATURE = np.array(_PARAMETERS["inverse_temperature"], np.float64)
# Of `expected_returns`.
MAJORITY_WEIGHT = np.float64(_PARAMETERS["majority_weight"])
FIGURE_WEIGHT = np.float64(_PARAMETERS["figure_weight"])
LEAD_SLOPE = np.float64(_PARAMETERS["lead_slope"])


@jit
def expect_figures(state, expected):
    """Write the expected final number of figures by seat and kind (float64 (n, 3)); return the number still open."""
    n = state.hand.shape[0]
    shares = np.empty(n)
    for seat in range(n):
        for figure in range(3):
            expected[seat, figure] = state.captured[seat, figure]
    still_open = 0.0
    for figure in range(3):
        places = state.figures[figure]
        while places != np.uint64(0):
            settlement = np.int64(lowest(places))
            places &= places - np.uint64(1)
            empty = np.int64(popcount(SETTLEMENT_LAND[settlement] & state.land_free))
            total = 0.0
            for seat in range(n):
                shares[seat] = np.exp(INVERSE_TEMPERATURE[empty] * state.influence[seat, settlement, figure])
                total += shares[seat]
            for seat in range(n):
                expected[seat, figure] += shares[seat] / total
            still_open += 1.0
    return still_open


@jit
def heuristic_value(state, out):
    """Write each seat's expected return (float64 (n,), sums to 0) for a state that is not over."""
    expected = np.empty((state.hand.shape[0], 3))
    still_open = expect_figures(state, expected)
    lead_slope = LEAD_SLOPE / np.sqrt(1.0 + still_open)
    expected_returns(expected, lead_slope, MAJORITY_WEIGHT, FIGURE_WEIGHT, out)
