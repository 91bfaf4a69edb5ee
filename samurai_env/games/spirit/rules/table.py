"""Moving cards and telling who may do what: the small words in which the rules are written.

Every function takes one state (`state`, see `state.py`); those that move a card keep `where` and the totals right.
"""

from samurai_env.core.bits import EMPTY, bit
from samurai_env.core.jit import jit
from samurai_env.games.spirit.actions import PLAYER0
from samurai_env.games.spirit.rules.cards import KIAI, NOTHING, VALUE
from samurai_env.games.spirit.state import (
    DISCARD_PILE,
    IN_HAND,
    INTRUDER_STACK,
    LEFT0,
    LINE0,
    OFFERED,
    PLACE_KNOWN,
    RAIDERS,
)

# --- Who ---


@jit
def in_round(state, seat):
    """Whether a samurai has not passed."""
    return (state.passed >> seat) & 1 == 0


@jit
def seats_on(state, seat, ahead):
    """The seat this many places (at most as many as there are players) on in turn order."""
    seat += ahead
    return seat - state.players if seat >= state.players else seat  # a remainder would take longer


@jit
def left_neighbour(state, seat):
    """The next seat in turn order."""
    return seats_on(state, seat, 1)


@jit
def right_neighbour(state, seat):
    """The seat before in turn order."""
    return seats_on(state, seat, state.players - 1)


@jit
def kiai_of(state, seat):
    """The Kiai value of a samurai's board as it lies."""
    return KIAI[state.who[seat], state.animal[seat]]


@jit
def beyond_kiai(state, seat):
    """Whether the meeple stands on the flame space."""
    return state.total[seat] > kiai_of(state, seat)


@jit
def talents(state, seat):
    """Bit set of the samurai whose talents a seat has now.

    Open tokens serve like the own talent, lent ones in the own turn only; `no_talent` is for the turn of the active.
    """
    own = (1 << state.who[seat]) | state.granted[seat]
    if seat != state.active:
        return own
    if state.no_talent:
        return 0
    return own | state.borrowed[seat]


@jit
def has_talent(state, seat, samurai):
    """Whether a seat has that samurai's talent now."""
    return (talents(state, seat) >> samurai) & 1 == 1


# --- Cards ---


@jit
def turn_over(stack, size):
    """Turn a stack of this many cards over as it lies: the first card becomes the last."""
    for i in range(size // 2):
        stack[i], stack[size - 1 - i] = stack[size - 1 - i], stack[i]


@jit
def draw_raider(state):
    """Take the top raider off the stack; the stack must not be empty."""
    state.raiders_left -= 1
    card = state.raiders[state.raiders_left]
    state.where[card] = IN_HAND
    state.known[card] = 0
    return card


@jit
def raider_to_intruders(state):
    """Put the top raider, unseen, on the intruder stack."""
    state.raiders_left -= 1
    card = state.raiders[state.raiders_left]
    state.intruders[state.intruders_left] = card
    state.arrived[state.intruders_left] = state.recycles
    state.intruders_left += 1
    state.where[card] = INTRUDER_STACK


@jit
def put_under(state, card):
    """Put a card, seen by all, under the raider stack."""
    for i in range(state.raiders_left, 0, -1):
        state.raiders[i] = state.raiders[i - 1]
    state.raiders[0] = card
    state.raiders_left += 1
    state.where[card] = RAIDERS
    state.known[card] = PLACE_KNOWN


@jit
def discard(state, card):
    """Put a card on the discard pile."""
    state.where[card] = DISCARD_PILE


@jit
def discard_raider(state):
    """Discard the top raider."""
    discard(state, draw_raider(state))


@jit
def discard_intruder(state):
    """Turn up and discard the top intruder; returns it."""
    state.intruders_left -= 1
    card = state.intruders[state.intruders_left]
    state.known[card] = 0
    discard(state, card)
    return card


@jit
def put_left(state, seat, symbol, card):
    """Lay a card on a samurai's left."""
    state.left[seat, symbol] = card
    state.where[card] = LEFT0 + seat


@jit
def add_to_line(state, seat, card):
    """Lay a card at the end of a combat line."""
    state.beneath[card] = state.last[seat]
    state.last[seat] = card
    state.total[seat] += VALUE[card]
    state.where[card] = LINE0 + seat


@jit
def take_last(state, seat):
    """Take the last card of a combat line in hand."""
    card = state.last[seat]
    state.last[seat] = state.beneath[card]
    state.beneath[card] = NOTHING
    state.total[seat] -= VALUE[card]
    state.where[card] = IN_HAND
    return card


@jit
def discard_first(state, seat):
    """Discard the first card of a combat line, if there is one."""
    above, card = NOTHING, state.last[seat]
    if card == NOTHING:
        return
    while state.beneath[card] != NOTHING:
        above, card = card, state.beneath[card]
    if above == NOTHING:
        state.last[seat] = NOTHING
    else:
        state.beneath[above] = NOTHING
    state.total[seat] -= VALUE[card]
    discard(state, card)


@jit
def value_in_line(state, seat, value):
    """Whether a card of this value lies in a samurai's combat line."""
    card = state.last[seat]
    while card != NOTHING:
        if VALUE[card] == value:
            return True
        card = state.beneath[card]
    return False


# --- Kiai ---


@jit
def look_at_total(state, seat):
    """Begin the Kiai of a samurai in the round whose total is exactly its value, unless inside that same Kiai."""
    if state.total[seat] != kiai_of(state, seat) or not in_round(state, seat):
        return
    for i in range(state.nested):
        if state.kiai_seat[i] == seat:
            return
    i = state.nested
    state.kiai_seat[i] = seat
    state.kiai_side[i] = state.animal[seat]
    state.kiai_stage[i] = OFFERED
    state.kiai_uses[i] = 0
    state.nested = i + 1


# --- Asking ---


@jit
def ask(state, seat, phase, choices):
    """Let a seat decide among the actions of a bit set (uint64, not empty)."""
    state.seat = seat
    state.phase = phase
    state.choices = choices


@jit
def player_bit(state, asked, seat):
    """The action that names `seat` when `asked` decides: players are counted from the one who decides."""
    ahead = seat - asked
    return bit(PLAYER0 + (ahead + state.players if ahead < 0 else ahead))


@jit
def named_seat(state, action):
    """The seat that an action of the seat to move names; of an action that names none, no seat at all."""
    return seats_on(state, state.seat, action - PLAYER0)


@jit
def others_in_round(state, asked, seat):
    """The actions of `asked` that name a samurai in the round other than `seat`."""
    choices = EMPTY
    for other in range(state.players):
        if other != seat and in_round(state, other):
            choices |= player_bit(state, asked, other)
    return choices
