"""What a learned value reads of a position (`agents.leaf_values`): one row of numbers, as all win or lose together.

It is what everybody may know: of the players, from the one to move on, and of the table what the encoding `flat` has;
shares of the unseen cards; the features of the heuristic policy, in places of their own each round; for each player the
room in the combat line and what the next raider would do there; the log odds by the heuristic value.
"""

import numpy as np

from samurai_env.core.jit import jit, scratch
from samurai_env.games.spirit.heuristics.features import (
    FEATURES,
    NAMES,
    OF_VALUE,
    UNSEEN,
    VALUES,
    write_features,
    write_unseen,
)
from samurai_env.games.spirit.heuristics.value import log_odds
from samurai_env.games.spirit.observation import FLAT, flat, write_player, write_table
from samurai_env.games.spirit.rules.cards import MOST, ROUNDS, SYMBOLS
from samurai_env.games.spirit.rules.table import kiai_of

OF_SHARES = int(FLAT["hidden"][MOST])  # before it, all that `flat` has before the single cards; there is room for seven
OF_FEATURES = OF_SHARES + UNSEEN
OF_PLAYERS = OF_FEATURES + ROUNDS * FEATURES
# By player: one-hot, how far the combat line is below the Kiai; chances that the next raider there makes it or exceeds
# it.
ROOMS, LEAST_ROOM = 16, -2
MAKES, EXCEEDS, PLAYER_COLUMNS = ROOMS, ROOMS + 1, ROOMS + 2
ODDS = OF_PLAYERS + MOST * PLAYER_COLUMNS
COLUMNS = (
    *[f"{block.name} {i}" for block in flat(MOST).blocks for i in range(block.size)][:OF_SHARES],
    *(f"unseen {what}" for what in (*SYMBOLS, "mean value", "flames", *(f"of value {v}" for v in range(VALUES + 1)))),
    *(f"{name} in round {number}" for number in range(1, ROUNDS + 1) for name in NAMES),
    *(
        f"{what}, player {player}"
        for player in range(MOST)
        for what in (*(f"room {LEAST_ROOM + i}" for i in range(ROOMS)), "makes Kiai", "exceeds Kiai")
    ),
    "log odds",
)


@jit
def value_features(state, out):
    """Write what a learned value reads (float32 (1, columns)) of a state that is not over."""
    seen, row = scratch(OF_SHARES, np.int8), out[0]
    unseen, features = scratch(UNSEEN, np.float64), scratch(FEATURES, np.float64)
    at = FLAT[MOST]
    seen[:] = 0
    for player in range(state.players):
        write_player(state, state.seat, player, seen, at, player)
    write_table(state, state.seat, seen, at)
    row[:] = np.float32(0.0)
    for i in range(OF_SHARES):
        row[i] = seen[i]
    write_unseen(state, unseen)
    for i in range(UNSEEN):
        row[OF_SHARES + i] = unseen[i]
    write_features(state, unseen, features)
    for i in range(FEATURES):
        row[OF_FEATURES + (state.round - 1) * FEATURES + i] = features[i]
    for player in range(state.players):
        write_room(state, (state.seat + player) % state.players, unseen, row, OF_PLAYERS + PLAYER_COLUMNS * player)
    row[ODDS] = log_odds(state)


@jit
def write_room(state, seat, unseen, row, start):
    """Write the columns of a player about the room in the combat line, from `row[start]` on."""
    room = kiai_of(state, seat) - state.total[seat]
    row[start + min(max(room - LEAST_ROOM, 0), ROOMS - 1)] = 1.0
    for value in range(1, VALUES + 1):
        if value == room:
            row[start + MAKES] += np.float32(unseen[OF_VALUE + value])
        elif value > room:
            row[start + EXCEEDS] += np.float32(unseen[OF_VALUE + value])
