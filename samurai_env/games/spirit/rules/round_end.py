"""The end of a round and the beginning of the next ("End of a round")."""

from samurai_env.core.jit import jit
from samurai_env.games.spirit.rules import setup, turn
from samurai_env.games.spirit.rules.cards import (
    BONUS_BARRICADE,
    BONUS_HEAL,
    BONUS_INTRUDER,
    DOLL,
    FAMILY_BONUSES,
    FARM,
    FLAMES,
    HAT,
    NOTHING,
    ROUNDS,
)
from samurai_env.games.spirit.rules.table import discard_intruder, left_neighbour
from samurai_env.games.spirit.rules.village import (
    add_barricade,
    end_game,
    heal_somebody,
    lose_barricade,
    lose_family,
    lose_farmstead,
    wound,
)
from samurai_env.games.spirit.state import DOLLS_ASKED, FARMS, HATS, INTRUDERS, NEXT_ROUND, WON


@jit
def advance(state):
    """Go on with the end of the round by one samurai or one intruder; a Kiai may come in between."""
    stage = state.stage
    if stage == INTRUDERS:
        if state.intruders_left == 0:
            state.stage = NEXT_ROUND
        elif FLAMES[discard_intruder(state)]:
            lose_barricade(state)
    elif stage == NEXT_ROUND:
        next_round(state)
    elif state.asked == state.players:
        state.asked = 0
        state.stage = stage + 1
        if stage == DOLLS_ASKED and FAMILY_BONUSES[state.difficulty]:
            thanks(state)
    else:
        seat = state.asked
        state.asked += 1
        if stage == HATS and state.left[seat, HAT] == NOTHING:
            wound(state, seat)
        elif stage == FARMS and state.left[seat, FARM] == NOTHING:
            lose_farmstead(state)
        elif stage == DOLLS_ASKED and state.left[seat, DOLL] == NOTHING:
            lose_family(state)


@jit
def thanks(state):
    """Each family left gives its bonus."""
    if state.families[BONUS_HEAL]:
        heal_somebody(state)
    if state.families[BONUS_BARRICADE]:
        add_barricade(state)
    if state.families[BONUS_INTRUDER] and state.intruders_left > 0:
        discard_intruder(state)


@jit
def next_round(state):
    """The village stands: victory after the last round, else new raiders and the next samurai."""
    if state.round == ROUNDS:
        end_game(state, WON)
        return
    state.round += 1
    setup.new_round(state)
    turn.start(state, left_neighbour(state, state.active))
