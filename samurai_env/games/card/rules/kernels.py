"""The rules of the card game, compiled: what is legal, what a decision does, when the game ends.

Paragraph names refer to docs/games/card_game.md. The set-up is in `setup`, scoring and who wins in `scoring`.
Every function takes one state (`state`, see `state.py`) and changes it in place.
"""

import numpy as np

from samurai_env.core.bits import EMPTY, bit, lowest, popcount
from samurai_env.core.jit import jit
from samurai_env.core.payoffs import pay
from samurai_env.games.card.actions import CELL0, CHOICE0
from samurai_env.games.card.rules import setup
from samurai_env.games.card.rules.cards import KINDS, STONES_EACH
from samurai_env.games.card.rules.scoring import score, surrounded, winners
from samurai_env.games.card.rules.topology import (
    EAST,
    NORTH,
    READING_ORDER,
    SOUTH,
    STEP_X,
    STEP_Y,
    VILLAGES,
    WEST,
    distance,
    opposite,
    side_towards,
)
from samurai_env.games.card.state import CARD, CELL, VILLAGE

# --- The grid ---


@jit
def cell_x(state, cell):
    """Coordinate of a cell, east of the first village."""
    return state.village_x[cell >> 2] + STEP_X[cell & 3]


@jit
def cell_y(state, cell):
    """Coordinate of a cell, south of the first village."""
    return state.village_y[cell >> 2] + STEP_Y[cell & 3]


@jit
def villages_near(state, x, y, steps):
    """Bit set of the villages that lie this many steps from a place."""
    near = EMPTY
    for village in range(VILLAGES):  # without a branch, so that the compiler makes vectors of it
        away = distance(state.village_x[village] - x, state.village_y[village] - y)
        near |= np.uint64(away == steps) << np.uint64(village)
    return near & (bit(state.villages) - np.uint64(1))


@jit
def villages_beside(state, x, y):
    """The villages north, east, south and west of a place, -1 where there is none."""
    north, east, south, west = -1, -1, -1, -1
    near = villages_near(state, x, y, 1)
    while near != EMPTY:
        village = np.int64(lowest(near))
        near &= near - np.uint64(1)
        side = side_towards(state.village_x[village] - x, state.village_y[village] - y)
        north = village if side == NORTH else north
        east = village if side == EAST else east
        south = village if side == SOUTH else south
        west = village if side == WEST else west
    return north, east, south, west


@jit
def read_sides(state, x, y, sides):
    """Write what lies around a place for a village; the bit set of the sides whose cells have a name already.

    Args:
        state: a game.
        x: the place's coordinate.
        y: the place's coordinate.
        sides: int8, shape (4,), out: as a row of the field `side`; untouched where no village is beside the cell.
    """
    named = 0
    near = villages_near(state, x, y, 2)  # each has one or two cells in common with the place
    while near != EMPTY:
        other = np.int64(lowest(near))
        near &= near - np.uint64(1)
        dx, dy = state.village_x[other] - x, state.village_y[other] - y
        for side in range(4):
            back_x, back_y = STEP_X[side] - dx, STEP_Y[side] - dy  # from the other village to the cell
            if distance(back_x, back_y) == 1:
                sides[side] = state.side[other, side_towards(back_x, back_y)]
                named |= 1 << side
    return named


@jit
def village_sides_due(state, seat, near):
    """Bit set of the sides of a card of `seat` on which new villages are due ("A turn", 3).

    Args:
        state: a game.
        seat: whose card lies, or would lie, there.
        near: the villages beside the card, see `villages_beside`.
    """
    due, taken = 0, 0
    for side in range(4):
        village = near[side]
        if village >= 0:
            taken |= 1 << side
            for right_angle in (side ^ 1, side ^ 3):
                rival = state.side[village, right_angle] - 1
                if rival >= 0 and rival // KINDS != seat:
                    due |= 1 << right_angle
    return due & ~taken


# --- What is legal ---


@jit
def legal(state, words):
    """Write the legal actions as bits into `words` (uint64, enough words for all action ids); none once over."""
    words[:] = EMPTY
    if state.over:
        return
    if state.phase == CARD:
        words[0] = np.uint64(state.kinds[state.seat])
    elif state.phase == CELL:
        for i in range(3):
            words[i] = state.free[i]
    else:
        words[0] = bit(CHOICE0) | bit(CHOICE0 + 1)


# --- What a decision does ---


@jit
def step(state, action):
    """Carry out one legal action of the seat to move."""
    state.steps += 1
    if state.phase == CARD:
        state.card = action
        state.phase = CELL
    elif state.phase == CELL:
        lay_card(state, action - CELL0)
    else:
        choose_place(state, action - CHOICE0)


@jit
def lay_card(state, cell):
    """Lay the chosen card on a free cell, score, and lay the new villages ("A turn", 1 to 3)."""
    seat = state.seat
    take_from_hand(state, seat, state.card)
    state.free[(CELL0 + cell) >> 6] &= ~bit((CELL0 + cell) & 63)
    near = villages_beside(state, cell_x(state, cell), cell_y(state, cell))
    for side in range(4):
        if near[side] >= 0:
            state.side[near[side], opposite(side)] = 1 + KINDS * seat + state.card
            if surrounded(state, near[side]):
                score(state, near[side])
    state.card = -1
    state.laid = cell
    state.waiting = village_sides_due(state, seat, near)
    if popcount(np.uint64(state.waiting)) == np.uint64(2) and state.villages < VILLAGES:
        state.phase = VILLAGE
    else:
        lay_waiting_villages(state)


@jit
def take_from_hand(state, seat, kind):
    """Take a card out of a hand; it is no longer unseen."""
    state.hand[seat, kind] -= 1
    state.unseen[seat, kind] -= 1
    if state.hand[seat, kind] == 0:
        state.kinds[seat] &= ~(np.uint32(1) << np.uint32(kind))


@jit
def waiting_side(state, choice):
    """The side of the card just laid on which the place number `choice` (by y, then x) waits."""
    for i in range(4):
        side = READING_ORDER[i]
        if state.waiting >> side & 1:
            if choice == 0:
                return side
            choice -= 1
    return -1  # fewer are waiting: not a legal call


@jit
def choose_place(state, choice):
    """Lay the top village card on one of two places, then the next one on the other."""
    lay_on_side(state, waiting_side(state, choice))
    lay_waiting_villages(state)


@jit
def lay_waiting_villages(state):
    """Lay village cards on the places that wait, as far as the stack goes, and end the turn."""
    for side in range(4):
        if state.waiting >> side & 1:
            lay_on_side(state, side)
    state.laid = -1
    end_turn(state)


@jit
def lay_on_side(state, side):
    """Lay the top village card beside the card just laid; it no longer waits."""
    state.waiting &= ~(1 << side)
    if state.villages < VILLAGES:
        lay_village(state, cell_x(state, state.laid) + STEP_X[side], cell_y(state, state.laid) + STEP_Y[side])


@jit
def lay_village(state, x, y):
    """Lay the top village card on a place: its cells that no older village names become free cells of its own."""
    village = state.villages
    named = read_sides(state, x, y, state.side[village])
    state.village_x[village] = x
    state.village_y[village] = y
    state.villages += 1
    for side in range(4):
        if named >> side & 1 == 0:
            action = CELL0 + 4 * village + side
            state.free[action >> 6] |= bit(action & 63)
    if surrounded(state, village):  # at once (Ruling)
        score(state, village)


@jit
def end_turn(state):
    """Draw a card, see whether the game ends, and hand over the turn."""
    setup.draw_card(state, state.seat)
    following = state.seat + 1 if state.seat + 1 < state.hand.shape[0] else 0
    round_over = following == state.first_seat
    closed = state.free[0] | state.free[1] | state.free[2] == EMPTY  # no cell is left (Ruling)
    if closed or (round_over and last_round(state)):
        state.over = 1
        state.winners = winners(state.stones)
    else:
        state.seat = following
    state.phase = CARD


@jit
def last_round(state):
    """Whether the end has been called, so that the round is played out ("End and winner")."""
    if state.villages == VILLAGES:
        return True
    n = state.hand.shape[0]
    for shape in range(3):
        if stones_left(state, shape) <= 0:
            return True
    for seat in range(n):
        if state.kinds[seat] != np.uint32(0):
            return False
    return True


@jit
def stones_left(state, shape):
    """Stones of a shape in the supply; negative when substitutes have been taken."""
    left = STONES_EACH[state.hand.shape[0]]
    for seat in range(state.hand.shape[0]):
        left -= state.stones[seat, shape]
    return left


# --- Starting, and what it was worth ---


@jit
def reset(state, seed):
    """Start the game of `seed` in a state whose settings are written; everything else is overwritten."""
    setup.clear(state, seed)
    setup.shuffle_stacks(state)
    lay_village(state, 0, 0)


@jit
def returns(state, out):
    """Write each seat's payoff (float64, n seats): zero-sum, +1 for a sole winner; all 0 while the game runs."""
    pay(state.winners if state.over else 0, state.hand.shape[0], out)
