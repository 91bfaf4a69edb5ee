"""How a position looks for each seat, without playing on: the leaves of a search use it.

Who will take a figure is guessed from the influences around it, who wins from the figures each seat can
expect. The few parameters were fitted to the outcomes of games between built-in players
(`python -m samurai_env.games.board.heuristics.fit`).
"""

import json

import numpy as np

from samurai_env.core.bits import lowest, popcount
from samurai_env.core.jit import jit
from samurai_env.core.payoffs import expected_returns
from samurai_env.games.board.rules.topology import DATA, SETTLEMENT_LAND

_FITTED = json.loads((DATA / "advice.json").read_text(encoding="utf-8"))["evaluation"]
# By number of empty land hexes: how much a point of influence tells about who will take the figure.
SHARPNESS = np.array(_FITTED["sharpness"], np.float64)
# What majorities and further figures that are expected tell about who wins.
MAJORITY, FIGURES, SPREAD = (np.float64(_FITTED[name]) for name in ("majority", "figures", "spread"))


@jit
def expect_figures(state, expected):
    """Write the expected final number of figures by seat and kind (float64, (n, 3)); the number still open."""
    n = state.hand.shape[0]
    shares = np.empty(n)
    expected[:] = state.captured
    still_open = 0.0
    for figure in range(3):
        places = state.figures[figure]
        while places != np.uint64(0):
            settlement = np.int64(lowest(places))
            places &= places - np.uint64(1)
            empty = np.int64(popcount(SETTLEMENT_LAND[settlement] & state.land_free))
            total = 0.0
            for seat in range(n):
                shares[seat] = np.exp(SHARPNESS[empty] * state.influence[seat, settlement, figure])
                total += shares[seat]
            for seat in range(n):
                expected[seat, figure] += shares[seat] / total
            still_open += 1.0
    return still_open


@jit
def heuristic_value(state, out):
    """Write each seat's expected return (float64, n seats; sums to 0). The state is not over."""
    expected = np.empty((state.hand.shape[0], 3))
    still_open = expect_figures(state, expected)
    sharp = SPREAD / np.sqrt(1.0 + still_open)
    expected_returns(expected, sharp, MAJORITY, FIGURES, out)
