"""Before the first turn and between the rounds ("Set-up", "End of a round"): who sits where, which raiders come."""

from samurai_env.core.jit import jit
from samurai_env.core.rng import below, shuffle
from samurai_env.games.spirit.rules.cards import (
    CARDS,
    DOLL,
    EXTRA_BARRICADES,
    EXTRA_OFFICERS,
    FARMSTEADS,
    FIRST,
    MOST,
    NOTHING,
    PLUNDERERS_EACH,
    SYMBOL,
)
from samurai_env.games.spirit.rules.table import turn_over
from samurai_env.games.spirit.rules.village import any_of
from samurai_env.games.spirit.state import BOX, RAIDERS, RANDOM, RUNNING, UNSEEN

ALWAYS = 1  # option two_player_rules
FEW = 2  # samurai with whom those rules hold in any case
TWO_DOLLS = 2


@jit
def has_open_tokens(state):
    """Whether the two-player rules hold."""
    return state.players <= FEW or state.two_player_rules == ALWAYS


@jit
def clear(state, seed):
    """An untouched village and empty boards; options stay as they are."""
    state.seed = seed
    state.rng[0] = seed
    if state.first_drawn:
        state.first_seat = below(state.rng, state.players)
    state.steps = 0
    state.seat = state.first_seat
    state.over = 0
    state.result = RUNNING
    state.half_made = 0
    state.round = 1
    state.phase = 0
    state.choices = 0
    state.raiders[:] = 0
    state.intruders[:] = 0
    state.arrived[:] = 0
    state.animal[:] = 0
    state.wounded[:] = 0
    state.away = 0
    state.borrowed[:] = 0
    state.most_barricades = state.players + EXTRA_BARRICADES[state.difficulty]
    state.barricades = state.most_barricades
    for back in range(FARMSTEADS.shape[0]):
        state.farmsteads[back] = FARMSTEADS[back]
    state.families[:] = 1
    state.icons[:] = NOTHING
    state.icon = 0
    state.penalty_card = NOTHING
    state.card = NOTHING
    state.mover = 0
    state.moved = NOTHING
    state.holder = 0
    state.had = 0
    state.kept = 0
    state.asked = 0
    state.nested = 0
    state.kiai_seat[:] = 0
    state.kiai_side[:] = 0
    state.kiai_stage[:] = 0
    state.kiai_uses[:] = 0
    state.kiai_a[:] = 0
    state.kiai_b[:] = 0
    clear_boards(state)


@jit
def clear_boards(state):
    """No cards beside the boards, meeples on 0, everybody in the round."""
    state.beneath[:] = NOTHING
    state.total[:] = 0
    state.last[:] = NOTHING
    state.left[:] = NOTHING
    state.passed = 0
    state.granted[:] = 0
    state.raiders_left = 0
    state.intruders_left = 0
    state.recycles = 0


@jit
def seat_samurai(state):
    """Put the chosen samurai on the seats, or random ones."""
    if state.chosen[0] == RANDOM:
        for samurai in range(MOST):
            state.who[samurai] = samurai
        shuffle(state.rng, state.who)
    else:
        for seat in range(state.players):
            state.who[seat] = state.chosen[seat]
    for seat in range(state.players, MOST):
        state.who[seat] = NOTHING
    state.seat_of[:] = NOTHING
    absent = (1 << MOST) - 1
    for seat in range(state.players):
        state.seat_of[state.who[seat]] = seat
        absent &= ~(1 << state.who[seat])
    state.open_tokens = absent if has_open_tokens(state) else 0


@jit
def first_raiders(state):
    """The raiders of round 1: plunderers drawn at random, with two dolls or more under the two-player rules."""
    size = PLUNDERERS_EACH[state.difficulty] * state.players
    dolls = 0
    while dolls < TWO_DOLLS:
        for card in range(FIRST[1]):
            state.raiders[card] = card
        shuffle(state.rng, state.raiders[: FIRST[1]])
        dolls = 0 if has_open_tokens(state) else TWO_DOLLS
        for i in range(size):
            if SYMBOL[state.raiders[i]] == DOLL:
                dolls += 1
    state.where[:] = BOX
    state.known[:] = UNSEEN
    state.raiders_left = size
    turn_over(state.raiders, size)
    for i in range(size):
        state.where[state.raiders[i]] = RAIDERS
    for i in range(size, FIRST[1]):
        state.raiders[i] = 0


@jit
def new_round(state):
    """Collect all cards, add random lieutenants (round 2) or bosses (round 3), and shuffle."""
    clear_boards(state)
    for card in range(CARDS):
        if state.where[card] != BOX:
            state.known[card] = 0  # everybody has seen it: at the end of a round no card is left unseen
            state.where[card] = RAIDERS
    first, end = FIRST[state.round - 1], FIRST[state.round]
    for i in range(state.players + EXTRA_OFFICERS[state.difficulty]):
        skip = any_of(state, end - first - i)
        for card in range(first, end):
            if state.where[card] == BOX:
                if skip == 0:
                    state.where[card] = RAIDERS
                    break
                skip -= 1
    size = 0
    for card in range(CARDS):
        if state.where[card] == RAIDERS:
            state.raiders[size] = card
            size += 1
    shuffle(state.rng, state.raiders[:size])
    state.raiders_left = size
    turn_over(state.raiders, size)
