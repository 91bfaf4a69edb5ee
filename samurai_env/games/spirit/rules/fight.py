"""Fighting a raider: attack, defend, and the talents that put the card elsewhere ("Fight", "Talents and Kiai")."""

from samurai_env.core.bits import EMPTY, bit
from samurai_env.core.jit import jit
from samurai_env.games.spirit.actions import ATTACK, DEFEND, DISCARD, FIGHT, NONE, REPLACE
from samurai_env.games.spirit.rules.cards import DAISUKE, HEIHACHI, KATSUSHIRO, KIKUCHIYO, KYUZO, NOTHING, SYMBOL, VALUE
from samurai_env.games.spirit.rules.table import (
    add_to_line,
    ask,
    beyond_kiai,
    discard,
    draw_raider,
    has_talent,
    in_round,
    left_neighbour,
    look_at_total,
    named_seat,
    player_bit,
    put_left,
    put_under,
    right_neighbour,
    talents,
    value_in_line,
)
from samurai_env.games.spirit.rules.village import lose_barricade
from samurai_env.games.spirit.state import CARD, DRAWN, FOUGHT, SECOND_FIGHT, TURN_OVER


@jit
def start(state):
    """The active samurai draws a raider."""
    state.fights += 1
    state.card = draw_raider(state)
    state.holder = state.active
    state.had = 1 << state.active
    state.kept = 0
    state.stage = DRAWN


@jit
def attack(state, seat, card):
    """A card is laid on the right: beyond the Kiai a barricade goes, exactly on it the Kiai may be used."""
    add_to_line(state, seat, card)
    if beyond_kiai(state, seat):
        lose_barricade(state)
    else:
        look_at_total(state, seat)


@jit
def may_defend(state, seat, card):
    """Whether a samurai may lay the card on the left."""
    symbol = SYMBOL[card]
    if symbol == NOTHING or state.left[seat, symbol] != NOTHING:
        return False
    return not (state.no_defend and seat == state.active)


@jit
def fighting(state, seat, card):
    """The two ways to fight a card, as far as they are open."""
    return bit(ATTACK) | bit(DEFEND) if may_defend(state, seat, card) else bit(ATTACK)


@jit
def ask_card(state):
    """Whoever holds the card decides what becomes of it."""
    seat, card = state.holder, state.card
    choices = fighting(state, seat, card)
    if not state.kept:
        mine = talents(state, seat)
        if (mine >> (DAISUKE if VALUE[card] & 1 else HEIHACHI)) & 1:
            choices |= takers(state)
        if (mine >> KYUZO) & 1 and value_in_line(state, seat, VALUE[card]):
            choices |= bit(DISCARD)
        if (mine >> KATSUSHIRO) & 1 and state.raiders_left > 0:
            choices |= bit(REPLACE)
    ask(state, seat, CARD, choices)


@jit
def takers(state):
    """The neighbours to whom the card may be passed on: in the round, and not had it in this fight."""
    seat, choices = state.holder, EMPTY
    for neighbour in (left_neighbour(state, seat), right_neighbour(state, seat)):
        if in_round(state, neighbour) and (state.had >> neighbour) & 1 == 0:
            choices |= player_bit(state, seat, neighbour)
    return choices


@jit
def place(state, action):
    """Put the card in hand away as the holder has decided, or on to somebody else."""
    card = state.card
    if action == REPLACE:
        state.card = NOTHING
        put_under(state, card)
        state.card = draw_raider(state)
        state.kept = 1
        return
    if action > REPLACE:  # a neighbour
        state.holder = named_seat(state, action)
        state.had |= 1 << state.holder
        return
    state.card = NOTHING
    state.had = 0
    state.kept = 0
    state.stage = FOUGHT
    if action == ATTACK:
        attack(state, state.holder, card)
    elif action == DEFEND:
        put_left(state, state.holder, SYMBOL[card], card)
    else:
        discard(state, card)


@jit
def fought(state):
    """After a fight: once more with Kikuchiyo's talent, or the turn is over."""
    if state.fights == 1 and has_talent(state, state.active, KIKUCHIYO):
        ask(state, state.active, SECOND_FIGHT, bit(FIGHT) | bit(NONE))
    else:
        state.stage = TURN_OVER
