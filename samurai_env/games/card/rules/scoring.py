"""Stones for scored villages ("A turn", 2) and the winners ("End and winner")."""

import numpy as np

from samurai_env.core.jit import jit, scratch
from samurai_env.core.payoffs import most
from samurai_env.games.card.rules.cards import STRENGTH

# By entry of the field `side` and shape: what `influences` sums up.
INFLUENCE = np.concatenate([np.zeros((1, 3), np.int64), *(STRENGTH.astype(np.int64) << 8 * seat for seat in range(4))])


@jit
def influences(sides, shape):
    """The influence of all seats on a village, for a shape: eight bits a seat, seat 0 lowest.

    Args:
        sides: int8, shape (4,): a row of the field `side`.
        shape: index of the shape.
    """
    sums = 0
    for side in range(4):
        sums += INFLUENCE[sides[side], shape]
    return sums


@jit
def sole_highest(sums, n):
    """The seat with more influence than every other one, -1 in a tie. `sums` is as `influences` gives it."""
    best, taker = -1, -1
    for seat in range(n):
        strength = sums >> (8 * seat) & 255
        if strength > best:
            best, taker = strength, seat
        elif strength == best:
            taker = -1
    return taker


@jit
def surrounded(state, village):
    """Whether all four sides of a village are filled, so that it is scored."""
    sides = state.side[village]
    return sides[0] > 0 and sides[1] > 0 and sides[2] > 0 and sides[3] > 0


@jit
def score(state, village):
    """Give a stone of each shape on a village to the seat with the sole highest influence, if there is one."""
    for shape in range(3):
        if state.village_stack[village] >> shape & 1:
            taker = sole_highest(influences(state.side[village], shape), state.hand.shape[0])
            if taker >= 0:
                state.stones[taker, shape] += 1


@jit
def winners(stones):
    """Bit set (int64) of the seats that win or share the win.

    Args:
        stones: int8, shape (n, 3): stones taken, by seat and shape.
    """
    n = stones.shape[0]
    everybody = (1 << n) - 1
    majorities, others = scratch(4, np.int64)[:n], scratch(4, np.int64)[:n]
    own = scratch(4, np.int64)[:n]  # stones of the shape in which the seat has its majority
    for seat in range(n):
        majorities[seat] = own[seat] = others[seat] = 0
    for shape in range(3):
        leaders = most(stones[:, shape], everybody)
        for seat in range(n):
            if leaders == 1 << seat:
                majorities[seat] += 1
                own[seat] = stones[seat, shape]
            else:
                others[seat] += stones[seat, shape]
    eligible = 0
    for seat in range(n):
        if majorities[seat] >= 2:
            return 1 << seat
        if majorities[seat] == 1:
            eligible |= 1 << seat
    if eligible == 0:
        return everybody  # nobody has a majority: all share (Ruling)
    return most(own, most(others, eligible))
