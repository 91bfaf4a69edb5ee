"""Determinization: draw all that nobody can know ("Hidden information").

All players know the same. Hidden are the order of the raiders and of the intruders, and which cards of the newest
kind (round 1 plunderers, round 2 lieutenants, round 3 bosses) stayed in the box. What is known of a card that lies in
one of the stacks is kept in `known`:

    UNSEEN        it has not been seen in this game: it may be in the box as well
    0             it has been seen in an earlier round: it is in one of the two stacks
    e > 0         it was among the raiders when they were shuffled for the e-th time in this round ("recycle"), so it
                  cannot be an intruder that had come (`arrived`) before
    PLACE_KNOWN   it was seen where it lies (opened, or put under the stack)
"""

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.rng import SEED_BITS, below, draw
from samurai_env.games.spirit.rules.cards import CARDS, DAISUKE, DOLL, FIRST, KATSUSHIRO, SYMBOL
from samurai_env.games.spirit.rules.setup import TWO_DOLLS, has_open_tokens
from samurai_env.games.spirit.state import (
    BOX,
    INTRUDER_STACK,
    MOST,
    ORDERING,
    PLACE_KNOWN,
    RAIDERS,
    RECEIVER,
    TOKEN_TO,
    UNSEEN,
)


@jit
def determinize(state, seat, rng):
    """Replace what cannot be known by a uniformly random alternative, in place.

    The hidden cards are dealt again to their places, as far as `known` allows; the game's random stream is replaced.

    Args:
        state: a game.
        seat: the seat whose knowledge is kept; here it makes no difference.
        rng: uint64 array (1,), the stream to draw from; not the game's own.
    """
    state.rng[0] = draw(rng)
    state.seed = state.rng[0] & SEED_BITS
    deal(state, rng)
    while has_open_tokens(state) and state.round == 1 and dolls_in_game(state) < TWO_DOLLS:
        deal(state, rng)
    # What lay above the stacks: a raider that joined the intruders unseen is still there.
    state.raiders[state.raiders_left :] = 0
    state.intruders[state.intruders_left :] = 0
    forget_past_kiai(state)


@jit
def forget_past_kiai(state):
    """Clear what a Kiai that is over has left in the record: which card brought it may still be hidden."""
    for number in range(state.nested, MOST):
        state.kiai_seat[number] = state.kiai_side[number] = state.kiai_stage[number] = state.kiai_uses[number] = 0
        state.kiai_a[number] = state.kiai_b[number] = 0
    for number in range(state.nested):
        samurai = state.who[state.kiai_seat[number]]
        both = samurai == KATSUSHIRO and state.kiai_stage[number] == ORDERING
        both = both or (samurai == DAISUKE and state.kiai_uses[number] > 0)
        chosen = number == state.nested - 1 and (state.phase == RECEIVER or state.phase == TOKEN_TO)
        if not both:
            state.kiai_b[number] = 0
            if not chosen:
                state.kiai_a[number] = 0


@jit
def dolls_in_game(state):
    """The dolls among the plunderers that are not in the box."""
    dolls = 0
    for card in range(FIRST[1]):
        if SYMBOL[card] == DOLL and state.where[card] != BOX:
            dolls += 1
    return dolls


@jit
def hidden_cards(state, cards):
    """List the cards that lie nobody knows where, the best known first; their number."""
    count = 0
    for card in range(FIRST[state.round]):
        zone, known = state.where[card], state.known[card]
        in_stack = (zone == RAIDERS or zone == INTRUDER_STACK) and known != PLACE_KNOWN
        if in_stack or (zone == BOX and card >= FIRST[state.round - 1]):
            i = count
            while i > 0 and state.known[cards[i - 1]] < known:
                cards[i] = cards[i - 1]
                i -= 1
            cards[i] = card
            count += 1
    return count


@jit
def hidden_places(state, places):
    """List the places of hidden cards: raiders, then intruders from the newest to the oldest, then the box.

    A place is its index in the raider stack, CARDS + its index in the intruder stack, or 2 * CARDS for the box. A
    card fits the places up to some point of this list, the better known the fewer.
    """
    count = 0
    for i in range(state.raiders_left):
        if state.known[state.raiders[i]] != PLACE_KNOWN:
            places[count] = i
            count += 1
    for i in range(state.intruders_left - 1, -1, -1):
        if state.known[state.intruders[i]] != PLACE_KNOWN:
            places[count] = CARDS + i
            count += 1
    for card in range(FIRST[state.round - 1], FIRST[state.round]):
        if state.where[card] == BOX:
            places[count] = 2 * CARDS
            count += 1
    return count


@jit
def fits(state, known, place):
    """Whether a card of which that much is known can lie at a place of `hidden_places`."""
    if place < CARDS:
        return True
    if place < 2 * CARDS:
        return state.arrived[place - CARDS] >= known
    return known == UNSEEN


@jit
def deal(state, rng):
    """Deal the hidden cards to their places: every possible way equally likely.

    The cards are placed from the best known on. Each takes any place that is left of the first `reach`, and these
    contain the ones that the cards before it could take, so every way is reached, with the same probability.
    """
    cards, places = np.empty(CARDS, np.int64), np.empty(CARDS, np.int64)
    count = hidden_cards(state, cards)
    hidden_places(state, places)
    reach = 0
    for i in range(count):
        card = cards[i]
        while reach < count and fits(state, state.known[card], places[reach]):
            reach += 1
        j = i + below(rng, max(reach - i, 1))  # in a legal game there is always a place left
        places[i], places[j] = places[j], places[i]
        place = places[i]
        if place < CARDS:
            state.raiders[place] = card
            state.where[card] = RAIDERS
        elif place < 2 * CARDS:
            state.intruders[place - CARDS] = card
            state.where[card] = INTRUDER_STACK
        else:
            state.where[card] = BOX
