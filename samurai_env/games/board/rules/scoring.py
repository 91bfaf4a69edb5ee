"""The winners of a game ("End of the game")."""

import numpy as np

from samurai_env.core.jit import jit, scratch
from samurai_env.core.payoffs import most


@jit
def winners(captured):
    """Bit set (int64) of the seats that win or share the win.

    Args:
        captured: int8, shape (n, 3): figures taken, by seat and kind.
    """
    n = captured.shape[0]
    everybody = (1 << n) - 1
    total, majorities = scratch(4, np.int64)[:n], scratch(4, np.int64)[:n]
    others = scratch(4, np.int64)[:n]  # figures of the kinds in which the seat has no majority
    for seat in range(n):
        total[seat] = others[seat] = majorities[seat] = 0
    for figure in range(3):
        for seat in range(n):
            total[seat] += captured[seat, figure]
            others[seat] += captured[seat, figure]
        leaders = most(captured[:, figure], everybody)
        if leaders & (leaders - 1) == 0:  # one leader: a majority
            for seat in range(n):
                if leaders >> seat & 1:
                    majorities[seat] += 1
                    others[seat] -= captured[seat, figure]
    eligible = 0
    for seat in range(n):
        if majorities[seat] >= 2:
            return 1 << seat
        if majorities[seat] == 1:
            eligible |= 1 << seat
    if eligible == 0:
        return most(total, everybody)
    return most(total, most(others, eligible))
