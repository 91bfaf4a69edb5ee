"""The built-in player, a rule of thumb: what each place for a card is worth, and whether to fight on.

A card is worth laying on the left by what the end of the round takes for a missing symbol; on the right it costs room
up to the Kiai and the penalty it brings, gains the Kiai when it is reached exactly, and costs a barricade and the rest
of the round beyond it. Fighting is judged by the mean of that over all cards that may be drawn, passing by the symbols
given up and by the raiders left to the others or to the village.
"""

import json

import numpy as np

from samurai_env.core.bits import has
from samurai_env.core.compile import jit
from samurai_env.spirit.actions import (
    ATTACK,
    DEFEND,
    DISCARD,
    FIGHT,
    IGNORE,
    KIAI,
    NONE,
    PASS,
    PLAYER0,
    REPLACE,
    SUPPORT,
    SYMBOL0,
    TOKEN0,
    TOP0,
)
from samurai_env.spirit.cards import (
    CARD_ICONS,
    CARDS,
    DATA,
    FARM,
    FIRE,
    GOROBEI,
    HAT,
    ICONS,
    KANBEI,
    MOST,
    NOTHING,
    ROUNDS,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
    WOUND,
)
from samurai_env.spirit.fight import may_defend
from samurai_env.spirit.observation import hidden_state
from samurai_env.spirit.state import (
    ACTION,
    CARD,
    DEFENDER,
    GIVER,
    HEAL,
    OPEN_TOKEN,
    PLACE_KNOWN,
    PLACING,
    RECEIVER,
    REMOVAL,
    SECOND_FIGHT,
    SUPPORT_TO,
    TOKEN_TO,
    TOP,
)
from samurai_env.spirit.table import (
    beyond_kiai,
    in_round,
    kiai_of,
    left_neighbour,
    named_seat,
)
from samurai_env.spirit.village import total_of

_DATA = json.loads((DATA / "advice.json").read_text(encoding="utf-8"))
NAMES = tuple(_DATA["weights"])
WEIGHTS = np.array(list(_DATA["weights"].values()), np.float64)
(
    WOUND_0,  # the first wound; then the one that turns the board, the third, the deadly one
    WOUND_1,
    WOUND_2,
    WOUND_3,
    FILL_FARM,
    SHORT_FARM,
    MARGIN,
    FILL_DOLL,
    SHORT_DOLL,
    LEFT_VALUE,
    ROOM,
    REACH,
    BARRICADE,
    FARMSTEAD,
    OUT,
    ICON,
    HAND_ON,
    DROP,
    SWAP,
    LEAVE,
    SUPPORTING,
    CAUTION,
) = range(len(NAMES))
ICON_COST = np.array([_DATA["icons"].get(icon, 0.0) for icon in ICONS], np.float64)  # others depend on the position
TOKEN_WORTH = np.array([_DATA["tokens"][name] for name in SAMURAI], np.float64)
NEVER = -1e9


@jit
def wound_cost(state, seat, w):
    """What a wound costs a samurai, by the wounds so far."""
    return w[WOUND_0 + 2 * state.animal[seat] + state.wounded[seat]]


@jit
def fill(state, seat, symbol, w):
    """What it is worth to have this symbol on the left when the round ends."""
    if symbol == HAT:
        return wound_cost(state, seat, w)
    missing = 0
    for other in range(state.players):
        missing += state.left[other, symbol] == NOTHING
    if symbol == FARM:
        return w[FILL_FARM] + w[SHORT_FARM] * (missing + w[MARGIN] >= total_of(state.farmsteads))
    return w[FILL_DOLL] + w[SHORT_DOLL] * (missing >= total_of(state.families))


@jit
def unfilled(state, seat, w):
    """What the symbols that a samurai still lacks are worth."""
    total = 0.0
    for symbol in range(len(SYMBOLS)):
        if state.left[seat, symbol] == NOTHING:
            total += fill(state, seat, symbol, w)
    return total


@jit
def penalty_cost(state, seat, card, w):
    """What the icons of a card that lies last in a line will cost its samurai in the next step A."""
    if card == NOTHING:
        return 0.0
    if (1 << (KANBEI if VALUE[card] & 1 else GOROBEI)) & ((1 << state.who[seat]) | state.granted[seat]):
        return 0.0
    total = 0.0
    for k in range(2):
        icon = CARD_ICONS[card, k]
        if icon == WOUND:
            total += wound_cost(state, seat, w)
        elif icon == FIRE:
            total += barricade_cost(state, w)
        elif icon != NOTHING:
            total += w[ICON] * ICON_COST[icon]
    return total


@jit
def barricade_cost(state, w):
    """What it costs that a barricade goes, or a farmstead for want of one."""
    return w[BARRICADE] if state.barricades > 0 else w[FARMSTEAD]


@jit
def attack_score(state, seat, card, w):
    """What it is worth to lay the card on the right; the icons it covers need not be suffered."""
    total, kiai = state.total[seat] + VALUE[card], kiai_of(state, seat)
    if total == kiai:
        return w[REACH]
    if total > kiai:
        if beyond_kiai(state, seat):  # already lost for this round
            return -barricade_cost(state, w)
        return -barricade_cost(state, w) - w[OUT] * unfilled(state, seat, w)
    icons = penalty_cost(state, seat, card, w) - penalty_cost(state, seat, state.last[seat], w)
    return -w[ROOM] * VALUE[card] - icons


@jit
def defend_score(state, seat, card, w):
    """What it is worth to lay the card on the left."""
    return fill(state, seat, SYMBOL[card], w) + w[LEFT_VALUE] * VALUE[card]


@jit
def fight_score(state, seat, card, w):
    """The better of right and left."""
    best = attack_score(state, seat, card, w)
    if may_defend(state, seat, card):
        best = max(best, defend_score(state, seat, card, w))
    return best


@jit
def expected(state, seat, w):
    """The mean of `fight_score` over the cards that may be the next raider."""
    if state.raiders_left == 0:
        return 0.0
    top = state.raiders[state.raiders_left - 1]
    if state.known[top] == PLACE_KNOWN:
        return fight_score(state, seat, top, w)
    total, count = 0.0, 0
    for card in range(CARDS):
        if hidden_state(state, card) > 0:
            total += fight_score(state, seat, card, w)
            count += 1
    return total / count


@jit
def score_pass(state, w):
    """What it costs to leave the round: the symbols still lacking, and a share of the raiders."""
    players = 0
    for seat in range(state.players):
        players += in_round(state, seat)
    return -w[OUT] * unfilled(state, state.seat, w) - w[LEAVE] * state.raiders_left / players


@jit
def relief(state, seat, w):
    """What it is worth that a samurai's last card goes."""
    card = state.last[seat]
    worth = w[ROOM] * VALUE[card] + penalty_cost(state, seat, card, w)
    if beyond_kiai(state, seat) and state.total[seat] - VALUE[card] <= kiai_of(state, seat):
        worth += w[OUT] * unfilled(state, seat, w) + 1.0
    return worth


@jit
def best_receiver(state, giver, w):
    """What the best receiver makes of a giver's last card."""
    best = NEVER
    for seat in range(state.players):
        if seat != giver and in_round(state, seat):
            best = max(best, fight_score(state, seat, state.last[giver], w))
    return best


@jit
def score_card(state, action, w):
    """What becomes of the card in hand."""
    seat, card = state.holder, state.card
    if action == ATTACK:
        return attack_score(state, seat, card, w)
    if action == DEFEND:
        return defend_score(state, seat, card, w)
    if action == DISCARD:
        return w[DROP]
    if action == REPLACE:
        return expected(state, seat, w) - w[SWAP]
    return fight_score(state, named_seat(state, action), card, w) - w[HAND_ON]


@jit
def score_top(state, action, w):
    """How well a raider suits the samurai who draws next."""
    card = state.raiders[state.raiders_left - 1 - state.kiai_a[state.nested - 1] - (action - TOP0)]
    seat = left_neighbour(state, state.active)
    for _ in range(state.kiai_a[state.nested - 1]):
        seat = left_neighbour(state, seat)
    return fight_score(state, seat, card, w)


@jit
def score_token(state, action):
    """Open tokens are spread over the rounds, the best first."""
    left = 0
    for token in range(MOST):
        left += (state.open_tokens >> token) & 1
    return TOKEN_WORTH[action - TOKEN0] if left > 2 * (ROUNDS - state.round) else -1.0


@jit
def score(state, action, w):
    """The score of one legal action."""
    phase, seat = state.phase, state.seat
    named = named_seat(state, action) if action >= PLAYER0 else seat
    if phase == CARD or phase == PLACING:
        return score_card(state, action, w)
    if action == NONE:
        return 0.0
    if phase == ACTION or phase == SECOND_FIGHT:
        if action == PASS:
            return score_pass(state, w)
        again = penalty_cost(state, seat, state.last[seat], w) if phase == ACTION else w[CAUTION]
        return (expected(state, seat, w) if action == FIGHT else -w[SUPPORTING]) - again
    if phase == SUPPORT_TO or phase == TOKEN_TO:  # whose turn comes first
        return -np.float64((named - state.active + state.players) % state.players)
    if phase == OPEN_TOKEN:
        return score_token(state, action)
    if phase == DEFENDER:
        return -fill(state, seat, action - SYMBOL0, w)
    if phase == HEAL:
        return 1.0 + state.animal[named]
    if phase == GIVER:
        return relief(state, named, w) + best_receiver(state, named, w)
    if phase == RECEIVER:
        giver = state.kiai_a[state.nested - 1]
        return fight_score(state, named, state.last[giver], w)
    if phase == REMOVAL:
        return relief(state, named, w)
    if phase == TOP:
        return score_top(state, action, w)
    return np.float64(action == IGNORE or action == KIAI or action == SUPPORT)


@jit
def advise_with(state, scores, w):
    """`advise` with given weights (float64, by NAMES)."""
    scores[:] = NEVER
    for action in range(scores.shape[0]):
        if has(state.choices, action):
            scores[action] = score(state, action, w)


@jit
def advise(state, scores):
    """Score every legal action of the seat to move (float64, one an action id; illegal ones very low)."""
    advise_with(state, scores, WEIGHTS)
