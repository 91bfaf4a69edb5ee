"""Action ids and their names.

A decision is a small step (which card, then where), so one id space serves all of them:

    0 .. 11          a kind of influence card to lay
    CHOICE0, + 1     of two places that wait for a village card, the northern (if level: western) one, the other one
    CELL0 ..         a cell: CELL0 + 4 * village + side, after the village beside it that was laid first
"""

from functools import cache

import numpy as np

from samurai_env.games.card.rules.cards import KIND_CODES, KINDS
from samurai_env.games.card.rules.topology import CELLS, SIDES, VILLAGES

CHOICE0 = KINDS
CELL0 = KINDS + 2
ACTIONS = CELL0 + CELLS  # 190


@cache
def names(num_players: int) -> tuple[str, ...]:
    """The name of every action id: `S3`, `cell0`, `v12E`; the same for every number of players."""
    return (*KIND_CODES, "cell0", "cell1", *(f"v{village}{side}" for village in range(VILLAGES) for side in SIDES))


# What the ids mean, for the action table of the docs: (first id by number of players, name, meaning).
GROUPS = [
    (np.full(5, 0), "kind of card", "the kind of influence card to lay: " + ", ".join(KIND_CODES)),
    (np.full(5, CHOICE0), "cell0, cell1", "which of two places gets the top village card, sorted by (y, x)"),
    (np.full(5, CELL0), "cell", "where the card goes: side N, E, S, W of village 0, 1, ... in order of laying"),
]
