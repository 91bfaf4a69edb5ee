"""What a position asks, worked out again from its other fields: a forged question is found out by it."""

from samurai_env.core.bits import EMPTY, bit
from samurai_env.core.jit import jit
from samurai_env.games.spirit.actions import SUPPORT, TOKEN0
from samurai_env.games.spirit.rules import fight, kiai, penalties, turn
from samurai_env.games.spirit.rules.cards import CARDS, GOROBEI, KANBEI, NOTHING, VALUE
from samurai_env.games.spirit.rules.table import ask, has_talent, others_in_round, player_bit
from samurai_env.games.spirit.state import (
    ACTION,
    CARD,
    DEFENDER,
    HEAL,
    LINE0,
    OFFER,
    OPEN_TOKEN,
    PENALTY,
    PENALTY_ORDER,
    PLACING,
    RECEIVER,
    SECOND_FIGHT,
    SUPPORT_TO,
    TOKEN,
    TOKEN_TO,
    TOP,
)


@jit
def asks_the_same(state):
    """Whether the rules ask what the state says, of the same seat. The state may have changed afterwards.

    The game must run, and stage and Kiai fit the phase (`invariants`).
    """
    phase, seat, choices = state.phase, state.seat, state.choices
    state.choices = EMPTY
    if phase < OFFER:
        ask_in_turn(state, phase)
    else:
        ask_in_kiai(state, phase, state.nested - 1)
    return state.phase == phase and state.seat == seat and state.choices == choices


@jit
def ask_in_turn(state, phase):
    """Ask what belongs to no Kiai; nothing, if it is not to be asked."""
    active = state.active
    if phase == OPEN_TOKEN:
        turn.ask_open_token(state)
    elif phase == PENALTY_ORDER:
        card, first, second, icon = state.penalty_card, state.icons[0], state.icons[1], state.icon
        penalties.start(state)
        if (card, first, second, icon) != (state.penalty_card, state.icons[0], state.icons[1], state.icon):
            state.choices = EMPTY
    elif phase == PENALTY:
        ignores = KANBEI if VALUE[state.penalty_card] & 1 else GOROBEI
        if state.icon < 2 and state.icons[state.icon] != NOTHING and has_talent(state, active, ignores):
            penalties.next_icon(state)
    elif phase == DEFENDER:
        penalties.ask_defender(state)
    elif phase == ACTION:
        turn.ask_action(state)
    elif phase == SUPPORT_TO:
        turn.ask_action(state)
        may = state.choices & bit(SUPPORT) != EMPTY
        ask(state, active, SUPPORT_TO, others_in_round(state, active, active) if may else EMPTY)
    elif phase == CARD:
        fight.ask_card(state)
    elif phase == SECOND_FIGHT:
        fight.fought(state)


@jit
def ask_in_kiai(state, phase, i):
    """Ask what the innermost Kiai `i` asks; nothing, if it is not to be asked."""
    seat = state.kiai_seat[i]
    if phase == OFFER or phase == PLACING:
        kiai.advance(state)
    elif phase == HEAL:
        kiai.ask_heal(state, i)
    elif phase == TOKEN:
        kiai.ask_token(state, i)
    elif phase == TOKEN_TO:
        kiai.ask_token(state, i)
        may = state.choices & bit(TOKEN0 + state.kiai_a[i]) != EMPTY
        owner = state.seat_of[state.kiai_a[i]]
        ask(state, seat, TOKEN_TO, others_in_round(state, seat, owner) if may else EMPTY)
    elif phase == TOP:
        kiai.ask_top(state, i)
    else:
        kiai.use(state, i)
        if phase == RECEIVER:
            may = state.choices & player_bit(state, seat, state.kiai_a[i]) != EMPTY
            ask(state, seat, RECEIVER, others_in_round(state, seat, state.kiai_a[i]) if may else EMPTY)


@jit
def lines_are_consistent(state):
    """Whether every card of a combat line is reached from its last card."""
    lying = 0
    for card in range(CARDS):
        lying += state.where[card] >= LINE0
    for seat in range(state.players):
        card = state.last[seat]
        while card != NOTHING and lying >= 0:
            lying -= 1
            card = state.beneath[card]
    return lying == 0


@jit
def check_all(states, asks, lines):
    """Write of each state (copies, they change) whether lines are consistent and, while it runs, it asks the same."""
    for i in range(states.shape[0]):
        lines[i] = lines_are_consistent(states[i])
        if not states[i].over:
            asks[i] = lines[i] and asks_the_same(states[i])
