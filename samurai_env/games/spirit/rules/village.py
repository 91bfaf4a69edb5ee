"""Losing and regaining: barricades, farmsteads, families and wounds ("Attacking", "Wounds"), and losing the game."""

from samurai_env.core.jit import jit
from samurai_env.core.rng import below
from samurai_env.games.spirit.rules.cards import (
    BACK_BARRICADE,
    BACK_FAMILY,
    BACK_WOUND,
    FAMILIES,
    FARM_PENALTIES,
)
from samurai_env.games.spirit.rules.table import look_at_total
from samurai_env.games.spirit.state import DIED, NO_FAMILY, NO_FARMSTEAD, WON


@jit
def end_game(state, result):
    """The game is over."""
    state.over = 1
    state.result = result
    state.choices = 0


@jit
def any_of(state, count):
    """A random number below `count`; a single possibility costs no random number."""
    return below(state.rng, count) if count > 1 else 0


# --- Wounds ---


@jit
def wound(state, seat):
    """A samurai takes a wound: a token, then the animal side, a token again, death."""
    if not state.wounded[seat]:
        state.wounded[seat] = 1
    elif not state.animal[seat]:
        state.wounded[seat] = 0
        state.animal[seat] = 1
        look_at_total(state, seat)
    else:
        end_game(state, DIED)


@jit
def heal_somebody(state):
    """A random wounded samurai loses the token, if there is one (a family's bonus)."""
    hurt = 0
    for seat in range(state.players):
        hurt += state.wounded[seat]
    if hurt == 0:
        return
    skip = any_of(state, hurt)
    for seat in range(state.players):
        if state.wounded[seat]:
            if skip == 0:
                state.wounded[seat] = 0
                return
            skip -= 1


# --- The village ---


@jit
def add_barricade(state):
    """One barricade more, never above the starting number."""
    if state.barricades < state.most_barricades:
        state.barricades += 1


@jit
def lose_barricade(state):
    """A barricade goes; without one, a farmstead."""
    if state.barricades > 0:
        state.barricades -= 1
    else:
        lose_farmstead(state)


@jit
def total_of(counts):
    """Sum of a short row of counts."""
    total = 0
    for count in counts:
        total += count
    return total


@jit
def lose_farmstead(state):
    """A random farmstead goes, at the hard levels with what is on its back, which may cost another one."""
    while True:
        rest = total_of(state.farmsteads)
        skip, back = any_of(state, rest), 0
        while skip >= state.farmsteads[back]:
            skip -= state.farmsteads[back]
            back += 1
        state.farmsteads[back] -= 1
        if rest == 1:
            end_game(state, NO_FARMSTEAD)
            return
        if not FARM_PENALTIES[state.difficulty]:
            return
        if back == BACK_FAMILY:
            lose_family(state)
            return
        if back == BACK_WOUND:
            wound(state, any_of(state, state.players))
            return
        if back == BACK_BARRICADE and state.barricades > 0:
            state.barricades -= 1
            return


@jit
def lose_family(state):
    """A random family goes."""
    rest = total_of(state.families)
    skip = any_of(state, rest)
    for family in range(len(FAMILIES)):
        if state.families[family]:
            if skip == 0:
                state.families[family] = 0
                break
            skip -= 1
    if rest == 1:
        end_game(state, NO_FAMILY)


# --- Counting at the end ---


@jit
def score(state):
    """Points of a won game: farmsteads, families, and one if nobody bears a wound; 0 otherwise."""
    if state.result != WON:
        return 0
    unhurt = 1
    for seat in range(state.players):
        if state.wounded[seat]:
            unhurt = 0
    return total_of(state.farmsteads) + total_of(state.families) + unhurt
