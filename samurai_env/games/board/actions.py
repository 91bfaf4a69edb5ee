"""Action ids and their names.

A decision is a small step (which tile, then where), so one id space serves all of them:

    0 .. 16          a kind of tile (first hand, or the tile to play)
    17               end the turn
    18               an idle figure exchange (nothing changes but the tile leaves the game)
    LAND0 ..         a land hex
    SEA0 ..          a sea hex
    SPOT0 ..         a figure on a settlement, figure by figure, Edo left out: helmet on settlement 1, 2, ...
"""

from functools import cache

import numpy as np

from samurai_env.games.board.rules.tiles import FIGURE_LETTERS, KIND_CODES, KINDS
from samurai_env.games.board.rules.topology import LAND, LANDS, SEA, SEAS, SETTLEMENT, SETTLEMENTS

END = KINDS
IDLE = KINDS + 1
LAND0 = KINDS + 2
SEA0 = LAND0 + LANDS  # by number of players
SPOT0 = SEA0 + SEAS
ACTIONS = SPOT0 + 3 * (SETTLEMENTS - 1)  # 141, 201, 258 with 2, 3, 4 players


@cache
def names(num_players: int) -> tuple[str, ...]:
    """The name of every action id: `S3`, `end`, `idle`, `c14r12`, `c11r15.B`."""
    n = num_players
    spots = [f"{s.label}.{letter}" for letter in FIGURE_LETTERS for s in SETTLEMENT[1 : SETTLEMENTS[n]]]
    hexes = [h.label for h in LAND[: LANDS[n]] + SEA[: SEAS[n]]]
    return (*KIND_CODES, "end", "idle", *hexes, *spots)


# What the ids mean, for the action table of the docs: (first id by number of players, name, meaning).
GROUPS = [
    (np.zeros(5, np.int64), "kind of tile", "a kind for the first hand, or the tile to play: " + ", ".join(KIND_CODES)),
    (np.full(5, END), "end", "end the turn"),
    (np.full(5, IDLE), "idle", "exchange two figures so that nothing changes; the tile leaves the game"),
    (np.full(5, LAND0), "land hex", "where a land tile goes; the own tile to be moved; where it goes"),
    (SEA0, "sea hex", "where a ship goes"),
    (SPOT0, "figure spot", "a figure and a settlement: set-up, and the two figures of an exchange"),
]
