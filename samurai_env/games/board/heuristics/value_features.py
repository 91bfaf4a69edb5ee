"""What a learned value reads of a position (`agents.leaf_values`): a row of numbers for each seat.

They tell all that is on the table and in the hands, so they are for determinizations. The first columns are those of
`games.standings`, expected figures those of the heuristic value.
"""

import numpy as np

from samurai_env.core.bits import lowest, popcount
from samurai_env.core.jit import jit, scratch
from samurai_env.games import standings
from samurai_env.games.board.heuristics.value import INVERSE_TEMPERATURE
from samurai_env.games.board.rules.tiles import KIND_CODES, KINDS, SHIPS, STRENGTH
from samurai_env.games.board.rules.topology import SETTLEMENT_LAND
from samurai_env.games.board.state import TILE

# By kind of figure: left, set aside; the least left of a kind.
LEFT = len(standings.COLUMNS)
ASIDE, LEAST_LEFT = LEFT + 3, LEFT + 6
# Tiles; of the seat to move: it has played its plain tile, it may end the turn, it chooses a tile; strength of the tile
# that it has chosen and not placed, by kind of figure, and whether that is a ship.
HAND = LEAST_LEFT + 1
PLAIN_PLAYED = HAND + KINDS + standings.HAND_COLUMNS
MAY_END, CHOOSES_TILE, CHOSEN, CHOSEN_SHIP = PLAIN_PLAYED + 1, PLAIN_PLAYED + 2, PLAIN_PLAYED + 3, PLAIN_PLAYED + 6
COLUMNS = (
    *standings.COLUMNS,
    *standings.by_kind("left", "set aside"),
    "least left of a kind",
    *standings.hand_columns(KIND_CODES),
    *("plain tile played", "may end the turn", "chooses a tile"),
    *standings.by_kind("strength of the chosen tile"),
    "the chosen tile is a ship",
)

# By empty hexes, and influence less than that of the strongest: the weight of a seat in the softmax.
WEIGHT = np.exp(-INVERSE_TEMPERATURE[:, None] * np.arange(64)).astype(np.float32)
STRENGTH_ON_LAND = STRENGTH * np.array([[not SHIPS >> np.uint32(kind) & np.uint32(1)] for kind in range(KINDS)])


@jit
def value_features(state, out):
    """Write what a learned value reads of each seat (float32 (n, columns))."""
    n, least = state.hand.shape[0], np.float32(99.0)
    influences = scratch(4, np.int64)
    out[:, :] = np.float32(0.0)
    for figure in range(3):
        places = state.figures[figure]
        left = np.float32(np.int64(popcount(places)) + np.int64(state.pool[figure]))
        least = min(least, left)
        for seat in range(n):
            taken = np.float32(state.captured[seat, figure])
            out[seat, standings.TAKEN + figure] = taken
            out[seat, standings.EXPECTED + figure] = taken
            out[seat, LEFT + figure] = left
            out[seat, ASIDE + figure] = state.aside[figure]
        while places != np.uint64(0):
            settlement = np.int64(lowest(places))
            places &= places - np.uint64(1)
            empty = np.int64(popcount(SETTLEMENT_LAND[settlement] & state.land_free))
            for seat in range(n):
                influences[seat] = state.influence[seat, settlement, figure]
            soon = min(empty, standings.CLASSES - 1)
            standings.write_open(influences, WEIGHT[empty], figure, soon, np.float32(1.0), out)
    standings.write_standings(state.seat, out)
    for seat in range(n):
        out[seat, LEAST_LEFT] = least
        standings.write_hand(state.hand[seat], state.unseen[seat], STRENGTH, STRENGTH_ON_LAND, HAND, out[seat])
    mover = out[state.seat]
    mover[PLAIN_PLAYED] = state.plain_played
    mover[MAY_END] = state.may_end
    mover[CHOOSES_TILE] = np.float32(state.phase == TILE)
    if state.tile >= 0:
        for figure in range(3):
            mover[CHOSEN + figure] = STRENGTH[state.tile, figure]
        mover[CHOSEN_SHIP] = np.float32(SHIPS >> np.uint32(state.tile) & np.uint32(1))
