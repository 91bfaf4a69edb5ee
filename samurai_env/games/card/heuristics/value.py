"""How a position looks for each seat, without playing on: the leaves of a search use it.

Who will take a stone is guessed from the influences on the village, who wins from the stones each seat can expect.
The few parameters were fitted to the outcomes of games between built-in players (`python -m
samurai_env.games.card.heuristics.fit`).
"""

import json

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.payoffs import expected_returns
from samurai_env.games.card.heuristics.policy import free_sides
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.scoring import influences, surrounded

_FITTED = json.loads((DATA / "advice.json").read_text(encoding="utf-8"))["evaluation"]
# By number of free sides: how often somebody will take the stone, and how much a point of influence tells about who.
TAKEN = np.array(_FITTED["taken"], np.float64)
SHARPNESS = np.array(_FITTED["sharpness"], np.float64)
# What majorities and further stones that are expected tell about who wins.
MAJORITY, STONES, SPREAD = (np.float64(_FITTED[name]) for name in ("majority", "stones", "spread"))


@jit
def expect_stones(state, expected):
    """Write the expected stones of the villages that lie, by seat and shape (float64, (n, 3))."""
    n = state.hand.shape[0]
    shares = np.empty(n)
    expected[:] = state.stones
    for village in range(state.villages):
        if surrounded(state, village):
            continue
        free = free_sides(state.side[village])
        for shape in range(3):
            if state.village_stack[village] >> shape & 1:
                sums, total = influences(state.side[village], shape), 0.0
                for seat in range(n):
                    shares[seat] = np.exp(SHARPNESS[free] * (sums >> (8 * seat) & 255))
                    total += shares[seat]
                for seat in range(n):
                    expected[seat, shape] += TAKEN[free] * shares[seat] / total


@jit
def cards_left(state):
    """Cards that all players together have not yet laid."""
    left = 0
    for seat in range(state.hand.shape[0]):
        for kind in range(state.hand.shape[1]):
            left += state.unseen[seat, kind]
    return left


@jit
def heuristic_value(state, out):
    """Write each seat's expected return (float64, n seats; sums to 0). The state is not over."""
    expected = np.empty((state.hand.shape[0], 3))
    expect_stones(state, expected)
    sharp = SPREAD / np.sqrt(1.0 + cards_left(state))
    expected_returns(expected, sharp, MAJORITY, STONES, out)
