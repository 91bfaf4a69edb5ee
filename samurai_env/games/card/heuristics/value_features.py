"""What a learned value reads of a position (`agents.leaf_values`): a row of numbers for each seat.

They tell all that is on the table and in the hands, so they are for determinizations. The first columns are those of
`games.standings`, expected stones those of the heuristic value.
"""

import numpy as np

from samurai_env.core.jit import jit, scratch
from samurai_env.games import standings
from samurai_env.games.card.heuristics.policy import free_sides
from samurai_env.games.card.heuristics.value import CAPTURE_RATE, INVERSE_TEMPERATURE
from samurai_env.games.card.rules.cards import KIND_NAMES, KINDS, STRENGTH
from samurai_env.games.card.rules.scoring import influences, surrounded
from samurai_env.games.card.state import PHASES

# Village cards not laid, cards; of the seat to move: what it decides, strength of the card that it has chosen and not
# laid, by shape.
VILLAGES_LEFT = len(standings.COLUMNS)
HAND = VILLAGES_LEFT + 1
PHASE = HAND + KINDS + standings.HAND_COLUMNS
CHOSEN = PHASE + len(PHASES)
COLUMNS = (
    *standings.COLUMNS,
    "village cards left",
    *standings.hand_columns(tuple(f"{name} {value}" for name, value in KIND_NAMES)),
    *(f"decides on a {phase}" for phase in PHASES),
    *standings.by_kind("strength of the chosen card"),
)

# By free sides, and influence less than that of the strongest: the weight of a seat in the softmax.
WEIGHT = np.exp(-INVERSE_TEMPERATURE[:, None] * np.arange(256)).astype(np.float32)


@jit
def value_features(state, out):
    """Write what a learned value reads of each seat (float32 (n, columns))."""
    n = state.hand.shape[0]
    by_seat = scratch(4, np.int64)
    out[:, :] = np.float32(0.0)
    for seat in range(n):
        for shape in range(3):
            taken = np.float32(state.stones[seat, shape])
            out[seat, standings.TAKEN + shape] = taken
            out[seat, standings.EXPECTED + shape] = taken
    for village in range(state.villages):
        if surrounded(state, village):
            continue
        free = free_sides(state.side[village])
        for shape in range(3):
            if state.village_stack[village] >> shape & 1:
                sums = influences(state.side[village], shape)
                for seat in range(n):
                    by_seat[seat] = sums >> (8 * seat) & 255
                rate = np.float32(CAPTURE_RATE[free])
                standings.write_open(by_seat, WEIGHT[free], shape, free - 1, rate, out)
    standings.write_standings(state.seat, out)
    for seat in range(n):
        out[seat, VILLAGES_LEFT] = state.village_stack.shape[0] - state.villages
        standings.write_hand(state.hand[seat], state.unseen[seat], STRENGTH, STRENGTH, HAND, out[seat])
    out[state.seat, PHASE + state.phase] = np.float32(1.0)
    if state.card >= 0:
        for shape in range(3):
            out[state.seat, CHOSEN + shape] = STRENGTH[state.card, shape]
