"""A turn from its first stage to its last ("A turn"), and what belongs to no step: tokens, support, passing."""

import numpy as np

from samurai_env.core.bits import EMPTY, bit
from samurai_env.core.jit import jit
from samurai_env.games.spirit.actions import FIGHT, NONE, PASS, SUPPORT, TOKEN0
from samurai_env.games.spirit.rules import fight, penalties
from samurai_env.games.spirit.rules.table import (
    NOTHING,
    ask,
    beyond_kiai,
    in_round,
    left_neighbour,
    named_seat,
    others_in_round,
    raider_to_intruders,
    turn_over,
)
from samurai_env.games.spirit.state import (
    ACTION,
    CARD,
    CHOICE,
    DRAWN,
    FOUGHT,
    HATS,
    ICON_BY_ICON,
    OPEN_TOKEN,
    PENALTIES,
    SECOND_FIGHT,
    SUPPORT_TO,
    TOKENS,
    TURN_OVER,
)


@jit
def start(state, seat):
    """The turn of `seat` begins."""
    state.active = seat
    state.stage = TOKENS
    state.fights = 0
    clear_penalties(state)


@jit
def clear_penalties(state):
    """Forget, at the end of the turn, what step A is about and what it forbids."""
    state.penalty_card = NOTHING
    state.icons[:] = NOTHING
    state.icon = 0
    state.no_defend = 0
    state.no_support = 0
    state.no_talent = 0
    state.must_pass = 0


@jit
def advance(state):
    """Go on with the turn by one stage."""
    if state.raiders_left == 0 and state.stage >= ICON_BY_ICON and state.stage != DRAWN:
        end_round(state)  # however the last card left, nothing more of the turn happens
    elif state.stage == TOKENS:
        ask_open_token(state)
    elif state.stage == PENALTIES:
        penalties.start(state)
    elif state.stage == ICON_BY_ICON:
        penalties.next_icon(state)
    elif state.stage == CHOICE:
        ask_action(state)
    elif state.stage == DRAWN:
        fight.ask_card(state)
    elif state.stage == FOUGHT:
        fight.fought(state)
    else:
        give_back_tokens(state)
        seat = left_neighbour(state, state.active)
        while not in_round(state, seat):
            seat = left_neighbour(state, seat)
        start(state, seat)


@jit
def answer(state, action):
    """Carry out a decision of the phases that belong to a turn."""
    phase = state.phase
    if phase == CARD:
        fight.place(state, action)
    elif phase == ACTION:
        if action == FIGHT:
            fight.start(state)
        elif action == PASS:
            pass_round(state)
        else:
            ask(state, state.active, SUPPORT_TO, others_in_round(state, state.active, state.active))
    elif phase == SUPPORT_TO:
        support(state, named_seat(state, action))
    elif phase == SECOND_FIGHT:
        if action == FIGHT:
            fight.start(state)
        else:
            state.stage = TURN_OVER
    elif phase == OPEN_TOKEN:
        if action == NONE:
            state.stage = PENALTIES
        else:
            token = np.uint8(1 << (action - TOKEN0))
            state.granted[state.active] |= token
            state.open_tokens &= ~token
    else:
        penalties.answer(state, action)


@jit
def ask_open_token(state):
    """With the two-player rules the active samurai may take talents of absent ones for the round."""
    if state.open_tokens == 0:
        state.stage = PENALTIES
    else:
        ask(state, state.active, OPEN_TOKEN, (np.uint64(state.open_tokens) << np.uint64(TOKEN0)) | bit(NONE))


@jit
def ask_action(state):
    """Step B: fight, support or pass; beyond the Kiai only pass."""
    seat = state.active
    if state.must_pass or beyond_kiai(state, seat):
        choices = bit(PASS)
    else:
        choices = bit(PASS) | bit(FIGHT)
        token_here = (state.away >> state.who[seat]) & 1 == 0
        if token_here and not state.no_support and others_in_round(state, seat, seat) != EMPTY:
            choices |= bit(SUPPORT)
    ask(state, seat, ACTION, choices)


@jit
def lend(state, samurai, seat):
    """A samurai's support token goes from its owner to another seat."""
    token = np.uint8(1 << samurai)
    state.borrowed[seat] |= token
    state.away |= token


@jit
def give_back_tokens(state):
    """The tokens lent to the active samurai go home, used or not."""
    state.away &= ~state.borrowed[state.active]
    state.borrowed[state.active] = 0


@jit
def support(state, seat):
    """Lend the own token to a samurai for the next turn there; the top raider joins the intruders unseen."""
    lend(state, state.who[state.active], seat)
    raider_to_intruders(state)
    state.stage = TURN_OVER


@jit
def pass_round(state):
    """The active samurai is out; when all are, the rest of the raiders joins the intruders and the round ends."""
    state.passed |= np.uint8(1 << state.active)
    if state.passed == (1 << state.players) - 1:
        # The stack goes over as it lies, so its top card is turned up first.
        rest = state.raiders_left
        turn_over(state.raiders, rest)
        for _ in range(rest):
            raider_to_intruders(state)
        end_round(state)
    else:
        state.stage = TURN_OVER


@jit
def end_round(state):
    """The round ends: the turn is over, the village is put to the test."""
    give_back_tokens(state)
    clear_penalties(state)
    state.stage = HATS
    state.asked = 0
