"""Step A of a turn: the penalty of the last card of the own combat line ("Step A, the penalty")."""

from samurai_env.core.bits import EMPTY, bit
from samurai_env.core.jit import jit
from samurai_env.core.rng import shuffle
from samurai_env.games.spirit.actions import ICON_ID, IGNORE, SUFFER, SYMBOL0
from samurai_env.games.spirit.rules.cards import (
    CARD_ICONS,
    CARDS,
    DISCARD_DEFENDER,
    FIRE,
    GOROBEI,
    KANBEI,
    LEFT_DRAWS,
    MUST_PASS,
    NINJA,
    NO_DEFEND,
    NO_SUPPORT,
    NO_TALENT,
    NOTHING,
    RECYCLE,
    RIGHT_DRAWS,
    SYMBOLS,
    VALUE,
    WOUND,
)
from samurai_env.games.spirit.rules.fight import attack
from samurai_env.games.spirit.rules.table import (
    ask,
    discard,
    draw_raider,
    has_talent,
    in_round,
    left_neighbour,
    raider_to_intruders,
    right_neighbour,
)
from samurai_env.games.spirit.rules.village import any_of, lose_barricade, wound
from samurai_env.games.spirit.state import (
    CHOICE,
    DEFENDER,
    DISCARD_PILE,
    ICON_BY_ICON,
    PENALTY,
    PENALTY_ORDER,
    PLACE_KNOWN,
    RAIDERS,
)


@jit
def start(state):
    """Read the icons off the card that is last now; two different ones are suffered in an order of choice."""
    state.stage = ICON_BY_ICON
    state.penalty_card = state.last[state.active]
    state.icon = 0
    state.icons[:] = NOTHING
    if state.penalty_card == NOTHING:
        state.stage = CHOICE
        return
    first, second = CARD_ICONS[state.penalty_card, 0], CARD_ICONS[state.penalty_card, 1]
    state.icons[0], state.icons[1] = first, second
    if second != NOTHING and first != second:
        ask(state, state.active, PENALTY_ORDER, bit(ICON_ID[first]) | bit(ICON_ID[second]))


@jit
def order(state, action):
    """The icon chosen comes first."""
    if ICON_ID[state.icons[0]] != action:
        state.icons[0], state.icons[1] = state.icons[1], state.icons[0]


@jit
def next_icon(state):
    """Suffer the next icon, or ask whether to."""
    if state.icon == 2 or state.icons[state.icon] == NOTHING:
        state.stage = CHOICE
        return
    ignores = KANBEI if VALUE[state.penalty_card] & 1 else GOROBEI
    if has_talent(state, state.active, ignores):
        ask(state, state.active, PENALTY, bit(SUFFER) | bit(IGNORE))
    else:
        suffer(state)


@jit
def suffer(state):
    """The next icon happens to the active samurai; what cannot be applied is a wound."""
    seat, icon = state.active, state.icons[state.icon]
    state.icon += 1
    if icon == FIRE:
        lose_barricade(state)
    elif icon == WOUND:
        wound(state, seat)
    elif icon == NINJA:
        raider_to_intruders(state)
    elif icon == NO_DEFEND:
        state.no_defend = 1
    elif icon == NO_SUPPORT:
        state.no_support = 1
    elif icon == NO_TALENT:
        state.no_talent = 1
    elif icon == MUST_PASS:
        state.must_pass = 1
    elif icon == LEFT_DRAWS:
        neighbour_draws(state, left_neighbour(state, seat))
    elif icon == RIGHT_DRAWS:
        neighbour_draws(state, right_neighbour(state, seat))
    elif icon == RECYCLE:
        recycle(state)
    elif icon == DISCARD_DEFENDER:
        ask_defender(state)


@jit
def neighbour_draws(state, neighbour):
    """A neighbour has to fight a raider without talents; nobody there, or out of the round, means a wound."""
    if neighbour == state.active or not in_round(state, neighbour):
        wound(state, state.active)
    else:
        attack(state, neighbour, draw_raider(state))


@jit
def recycle(state):
    """A random card of the discard pile goes among the raiders, and all of those are shuffled."""
    pile = 0
    for card in range(CARDS):
        if state.where[card] == DISCARD_PILE:
            pile += 1
    if pile == 0:
        wound(state, state.active)
        return
    skip = any_of(state, pile)
    state.recycles += 1
    size = 0
    for card in range(CARDS):
        if state.where[card] == DISCARD_PILE:
            if skip == 0:
                state.where[card] = RAIDERS
                state.known[card] = state.recycles
            skip -= 1
        if state.where[card] == RAIDERS:
            if state.known[card] == PLACE_KNOWN:
                state.known[card] = state.recycles
            state.raiders[size] = card
            size += 1
    state.raiders_left = size
    shuffle(state.rng, state.raiders[:size])


@jit
def ask_defender(state):
    """The active samurai has to discard a card of the left side."""
    choices = EMPTY
    for symbol in range(len(SYMBOLS)):
        if state.left[state.active, symbol] != NOTHING:
            choices |= bit(SYMBOL0 + symbol)
    if choices == EMPTY:
        wound(state, state.active)
    else:
        ask(state, state.active, DEFENDER, choices)


@jit
def drop_defender(state, action):
    """The card chosen on the left is discarded."""
    discard(state, state.left[state.active, action - SYMBOL0])
    state.left[state.active, action - SYMBOL0] = NOTHING


@jit
def answer(state, action):
    """Carry out a decision of the phases penalty_order, penalty and defender."""
    if state.phase == PENALTY_ORDER:
        order(state, action)
    elif state.phase == DEFENDER:
        drop_defender(state, action)
    elif action == SUFFER:
        suffer(state)
    else:
        state.icon += 1
