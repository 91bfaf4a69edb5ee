"""The Kiai: its offer, the seven effects, and the first card of the line going ("Kiai").

The Kiai that are going on lie one inside the other; only the innermost moves. Its place is in `kiai_stage`.
"""

import numpy as np

from samurai_env.core.bits import EMPTY, bit
from samurai_env.core.jit import jit
from samurai_env.games.spirit.actions import ATTACK, KIAI, NONE, TOKEN0, TOP0
from samurai_env.games.spirit.rules import fight, turn
from samurai_env.games.spirit.rules.cards import (
    ANIMAL,
    DAISUKE,
    DEPTH,
    GOROBEI,
    HEIHACHI,
    HUMAN,
    KANBEI,
    KATSUSHIRO,
    KIKUCHIYO,
    KYUZO,
    MOST,
    NOTHING,
    SYMBOL,
)
from samurai_env.games.spirit.rules.table import (
    add_to_line,
    ask,
    beyond_kiai,
    discard,
    discard_first,
    discard_intruder,
    discard_raider,
    in_round,
    look_at_total,
    named_seat,
    others_in_round,
    player_bit,
    put_left,
    take_last,
)
from samurai_env.games.spirit.rules.village import add_barricade, lose_barricade
from samurai_env.games.spirit.state import (
    FIRST_USE,
    GIVER,
    GIVER_LOOKS,
    HEAL,
    HEALING,
    KIAI_OVER,
    LENDING,
    MOVING,
    OFFER,
    OFFERED,
    ORDERING,
    PLACE_KNOWN,
    PLACING,
    RECEIVER,
    RECEIVER_LOOKS,
    REMOVAL,
    SECOND_USE,
    TOKEN,
    TOKEN_TO,
    TOP,
)


@jit
def advance(state):
    """Go on with the innermost Kiai by one stage."""
    i = state.nested - 1
    stage = state.kiai_stage[i]
    if stage == OFFERED:
        if can_do_something(state, i):
            ask(state, state.kiai_seat[i], OFFER, bit(KIAI) | bit(NONE))
        else:
            state.kiai_stage[i] = KIAI_OVER
    elif stage == FIRST_USE or stage == SECOND_USE:
        use(state, i)
    elif stage == HEALING:
        ask_heal(state, i)
    elif stage == MOVING:
        ask(state, state.holder, PLACING, fight.fighting(state, state.holder, state.card))
    elif stage == GIVER_LOOKS:
        state.kiai_stage[i] = RECEIVER_LOOKS
        look_at_total(state, state.kiai_a[i])
    elif stage == RECEIVER_LOOKS:
        state.kiai_stage[i] = SECOND_USE
        look_at_total(state, state.kiai_b[i])
    elif stage == ORDERING:
        ask_top(state, i)
    elif stage == LENDING:
        ask_token(state, i)
    else:
        seat = state.kiai_seat[i]
        discard_first(state, seat)
        state.nested = i
        look_at_total(state, seat)


@jit
def can_do_something(state, i):
    """Whether the effect of Kiai `i` would change anything: if not, it is not offered."""
    seat, side = state.kiai_seat[i], state.kiai_side[i]
    samurai = state.who[seat]
    room = state.barricades < state.most_barricades
    if samurai == HEIHACHI:
        return room or (side == ANIMAL and wounded_players(state, seat) != EMPTY)
    if samurai == GOROBEI:
        return state.raiders_left > 0
    if samurai == KANBEI:
        return state.intruders_left > 0
    if samurai == KATSUSHIRO:  # a single raider that lies open already is not news
        return state.raiders_left > 1 or (state.raiders_left == 1 and state.known[state.raiders[0]] != PLACE_KNOWN)
    if samurai == KYUZO:
        return lendable(state) != EMPTY or (side == ANIMAL and room)
    if samurai == DAISUKE:
        return others_in_round(state, seat, seat) != EMPTY
    return True  # Kikuchiyo: at least the own line has a card


@jit
def use(state, i):
    """The effect of Kiai `i`, as far as it needs no further decision; else the first decision."""
    seat, side = state.kiai_seat[i], state.kiai_side[i]
    samurai = state.who[seat]
    if samurai == DAISUKE or samurai == KIKUCHIYO:
        second = state.kiai_stage[i] == SECOND_USE
        choices = EMPTY if second and side == HUMAN else lines(state, seat)
        if choices == EMPTY or state.kiai_uses[i] == 2:
            state.kiai_stage[i] = KIAI_OVER
        else:
            phase = GIVER if samurai == DAISUKE else REMOVAL
            ask(state, seat, phase, choices | bit(NONE) if second else choices)
        return
    state.kiai_stage[i] = KIAI_OVER
    depth = DEPTH[side]
    if samurai == HEIHACHI:
        add_barricade(state)
        if side == ANIMAL:
            state.kiai_stage[i] = HEALING
    elif samurai == KYUZO:
        if side == ANIMAL:
            add_barricade(state)
        state.kiai_stage[i] = LENDING
    elif samurai == GOROBEI:
        for _ in range(min(depth, state.raiders_left)):
            discard_raider(state)
    elif samurai == KANBEI:
        for _ in range(min(depth, state.intruders_left)):
            discard_intruder(state)
    else:
        state.kiai_a[i] = 0
        state.kiai_b[i] = min(depth, state.raiders_left)
        for k in range(state.kiai_b[i]):
            state.known[state.raiders[state.raiders_left - 1 - k]] = PLACE_KNOWN
        state.kiai_stage[i] = ORDERING


@jit
def answer(state, action):
    """Carry out a decision of the phases that belong to a Kiai."""
    i, phase = state.nested - 1, state.phase
    if phase == OFFER:
        state.kiai_stage[i] = FIRST_USE if action == KIAI else KIAI_OVER
    elif phase == PLACING:
        put_moved(state, i, action)
    elif action == NONE:
        state.kiai_stage[i] = KIAI_OVER
    elif phase == REMOVAL:
        remove(state, i, named_seat(state, action))
    elif phase == GIVER:
        state.kiai_a[i] = named_seat(state, action)
        ask(state, state.seat, RECEIVER, others_in_round(state, state.seat, state.kiai_a[i]))
    elif phase == RECEIVER:
        move(state, i, named_seat(state, action))
    elif phase == HEAL:
        state.wounded[named_seat(state, action)] = 0
        state.kiai_stage[i] = KIAI_OVER
    elif phase == TOKEN:
        state.kiai_a[i] = action - TOKEN0
        owner = state.seat_of[state.kiai_a[i]]
        ask(state, state.seat, TOKEN_TO, others_in_round(state, state.seat, owner))
    elif phase == TOKEN_TO:
        turn.lend(state, state.kiai_a[i], named_seat(state, action))
        state.kiai_stage[i] = KIAI_OVER
    else:
        lay_next(state, i, action - TOP0)


# --- Heihachi ---


@jit
def wounded_players(state, asked):
    """The actions of `asked` that name a samurai with a wound token, in the round or out of it."""
    choices = EMPTY
    for seat in range(state.players):
        if state.wounded[seat]:
            choices |= player_bit(state, asked, seat)
    return choices


@jit
def ask_heal(state, i):
    """Ask who loses a wound token, if anybody."""
    choices = wounded_players(state, state.kiai_seat[i])
    if choices == EMPTY:
        state.kiai_stage[i] = KIAI_OVER
    else:
        ask(state, state.kiai_seat[i], HEAL, choices | bit(NONE))


# --- Daisuke and Kikuchiyo ---


@jit
def lines(state, asked):
    """The actions of `asked` that name a samurai in the round with a card in the combat line."""
    choices = EMPTY
    for seat in range(state.players):
        if in_round(state, seat) and state.last[seat] != NOTHING:
            choices |= player_bit(state, asked, seat)
    return choices


@jit
def remove(state, i, seat):
    """Kikuchiyo discards the last card of a line."""
    state.kiai_uses[i] += 1
    state.kiai_stage[i] = SECOND_USE
    discard(state, take_last(state, seat))
    look_at_total(state, seat)


@jit
def move(state, i, seat):
    """Daisuke takes the last card of the giver's line to another samurai, who fights it without talents."""
    state.kiai_uses[i] += 1
    state.kiai_stage[i] = MOVING
    state.kiai_b[i] = seat
    state.card = take_last(state, state.kiai_a[i])
    state.holder = seat


@jit
def put_moved(state, i, action):
    """The receiver puts the card down; then giver and receiver look at their totals, in this order."""
    seat, card = state.holder, state.card
    state.card = NOTHING
    state.kiai_stage[i] = GIVER_LOOKS
    if action == ATTACK:
        add_to_line(state, seat, card)
        if beyond_kiai(state, seat):
            lose_barricade(state)
    else:
        put_left(state, seat, SYMBOL[card], card)


# --- Kyuzo ---


@jit
def lendable(state):
    """The actions that name a support token lying with its owner, in the round, whom others could give it to."""
    choices = EMPTY
    for samurai in range(MOST):
        owner = state.seat_of[samurai]
        if owner < 0 or (state.away >> samurai) & 1 or not in_round(state, owner):
            continue
        if others_in_round(state, owner, owner) != EMPTY:
            choices |= bit(TOKEN0 + samurai)
    return choices


@jit
def ask_token(state, i):
    """Ask which token is lent; on the animal side none is allowed, too."""
    choices = lendable(state)
    if choices == EMPTY:
        state.kiai_stage[i] = KIAI_OVER
    else:
        ask(state, state.kiai_seat[i], TOKEN, choices | bit(NONE) if state.kiai_side[i] == ANIMAL else choices)


# --- Katsushiro ---


@jit
def ask_top(state, i):
    """Ask which of the opened cards not yet in order lies next, from the top; the last one is not asked for."""
    rest = state.kiai_b[i] - state.kiai_a[i]
    if rest < 2:
        state.kiai_stage[i] = KIAI_OVER
    else:
        ask(state, state.kiai_seat[i], TOP, ((np.uint64(1) << np.uint64(rest)) - np.uint64(1)) << np.uint64(TOP0))


@jit
def lay_next(state, i, choice):
    """The card chosen comes up to the first place that is not yet in order."""
    place = state.raiders_left - 1 - state.kiai_a[i]
    card = state.raiders[place - choice]
    for k in range(place - choice, place):
        state.raiders[k] = state.raiders[k + 1]
    state.raiders[place] = card
    state.kiai_a[i] += 1
