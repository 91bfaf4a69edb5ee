"""The square grid: four sides, how to step over them, and how far a game can spread.

There is no canvas. A place is a pair of coordinates, x growing east and y growing south, the first village
at (0, 0). Villages and influence cards alternate like the squares of a chess board, so a *cell* for an
influence card is named by a village and the side of it: cell `4 * village + side`, the village being the one
beside it that was laid first. The bounds are proven in docs/games/card_game.md.
"""

import numpy as np

from samurai_env.core.jit import jit

SIDES = "NESW"
NORTH, EAST, SOUTH, WEST = range(4)
STEP_X = np.array([0, 1, 0, -1], np.int64)
STEP_Y = np.array([-1, 0, 1, 0], np.int64)
READING_ORDER = np.array([NORTH, WEST, EAST, SOUTH], np.int64)  # places around a place, by (y, x)

VILLAGES = 44  # village cards in the game
CELLS = 4 * VILLAGES
REACH = VILLAGES - 1  # no village lies farther than this from the first, along x or y


@jit
def opposite(side):
    """The side that faces `side`."""
    return side ^ 2


@jit
def side_towards(dx, dy):
    """The side over which one step (dx, dy) leads."""
    return dy + 1 if dx == 0 else 2 - dx


@jit
def distance(dx, dy):
    """Steps over sides from one place to another."""
    return abs(dx) + abs(dy)
