"""Majorities and payoffs, the same in every competitive game of the family."""

import numpy as np

from samurai_env.core.bits import has, popcount
from samurai_env.core.jit import jit


@jit
def most(values, among):
    """Bit set of the seats of the set `among` with the highest of `values` (one integer a seat)."""
    best, seats = -1, 0
    for seat in range(values.shape[0]):
        if among >> seat & 1:
            if values[seat] > best:
                best, seats = values[seat], 0
            if values[seat] == best:
                seats |= 1 << seat
    return seats


@jit
def pay(winners, n, out):
    """Write the zero-sum payoff of n seats (float64): +1 for a sole winner, 0 for all if all share.

    Args:
        winners: bit set of the seats that win or share the win; 0 while the game runs.
        n: number of seats.
        out: float64, at least n.
    """
    out[:n] = 0.0
    won = np.float64(popcount(np.uint64(winners)))
    if won > 0.0:
        for seat in range(n):
            share = 1.0 / won if has(np.uint64(winners), seat) else 0.0
            out[seat] = (n * share - 1.0) / (n - 1.0)


def win_shares(payoffs, n):
    """The share of the win that payoffs of `pay` mean (float64, their shape): 1 for a sole winner, 1/n if all share."""
    return (payoffs * (n - 1) + 1) / n


@jit
def expected_returns(expected, lead_slope, majority_weight, piece_weight, out):
    """Write each seat's expected zero-sum return (float64, n), estimated from the pieces that it can expect at the end.

    A softmax of the seats' scores is the chance to win. `hill_climbing.fit_outcome_model` fits the three parameters.

    Args:
        expected: float64 (n, 3): pieces at the end, by seat and kind.
        lead_slope: slope of the sigmoid that turns a lead in pieces into the chance of a majority.
        majority_weight: weight of that chance.
        piece_weight: weight of each piece.
        out: float64 (n,).
    """
    n = expected.shape[0]
    total = 0.0
    for seat in range(n):
        score = 0.0
        for kind in range(3):
            best = 0.0
            for other in range(n):
                if other != seat:
                    best = max(best, expected[other, kind])
            score += majority_weight / (1.0 + np.exp(-lead_slope * (expected[seat, kind] - best)))
            score += piece_weight * expected[seat, kind]
        out[seat] = np.exp(score)
        total += out[seat]
    for seat in range(n):
        out[seat] = (n * out[seat] / total - 1.0) / (n - 1.0)
