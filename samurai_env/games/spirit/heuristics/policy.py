"""The heuristic policy of Samurai Spirit: the value (`features`) of the position after each action.

Chance events are averaged: fighting is the mean over all raiders that may be on top, each put on its best place.
Reaching a Kiai adds a weight of its own.
"""

import json

import numpy as np
from numba import from_dtype

from samurai_env.core.bits import has
from samurai_env.core.jit import called_on_gpu, jit, scratch
from samurai_env.games.spirit.actions import (
    ATTACK,
    DEFEND,
    DISCARD,
    FIGHT,
    ICON_ID,
    IGNORE,
    KIAI,
    NONE,
    PASS,
    REPLACE,
    SUPPORT,
    SYMBOL0,
    TOKEN0,
    TOP0,
)
from samurai_env.games.spirit.heuristics.features import (
    FEATURES,
    KIAI_VALUE,
    UNSEEN,
    WEIGHTS,
    linear_value,
    points_to_nobody,
    write_unseen,
)
from samurai_env.games.spirit.observation import hidden_state
from samurai_env.games.spirit.rules.cards import (
    CARDS,
    DAISUKE,
    DATA,
    DEPTH,
    DISCARD_DEFENDER,
    FIRE,
    GOROBEI,
    HEIHACHI,
    KANBEI,
    KYUZO,
    MOST,
    NO_TALENT,
    NOTHING,
    RECYCLE,
    ROUNDS,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
    WOUND,
)
from samurai_env.games.spirit.rules.fight import may_defend
from samurai_env.games.spirit.rules.table import (
    add_to_line,
    beyond_kiai,
    discard_first,
    in_round,
    kiai_of,
    left_neighbour,
    named_seat,
    put_left,
    right_neighbour,
    take_last,
    talents,
    value_in_line,
)
from samurai_env.games.spirit.rules.turn import lend
from samurai_env.games.spirit.state import (
    ACTION,
    CARD,
    DEFENDER,
    DISCARD_PILE,
    GIVER,
    HEAL,
    OFFER,
    OPEN_TOKEN,
    PENALTY,
    PENALTY_ORDER,
    PLACE_KNOWN,
    PLACING,
    RECEIVER,
    REMOVAL,
    SECOND_FIGHT,
    SUPPORT_TO,
    TOKEN,
    TOKEN_TO,
    dtype,
)

_TOKENS = json.loads((DATA / "heuristic_policy.json").read_text(encoding="utf-8"))["token_values"]
TOKEN_VALUES = np.array([_TOKENS[name] for name in SAMURAI], np.float64)
LOWEST = -1e9
STATE_TYPE = from_dtype(dtype(1))  # the same for every number of players


@jit
def apply_fire(child):
    """Remove a barricade, or the first farmstead: chance and back sides are ignored."""
    if child.barricades > 0:
        child.barricades -= 1
        return
    for back in range(child.farmsteads.shape[0]):
        if child.farmsteads[back] > 0:
            child.farmsteads[back] -= 1
            return


@jit
def apply_wound(child, seat):
    """Wound a samurai, without the effects of a turned board; a second token on the animal side stands for death."""
    if child.wounded[seat] and not child.animal[seat]:
        child.wounded[seat] = 0
        child.animal[seat] = 1
    else:
        child.wounded[seat] += 1


@jit
def is_wound(state, seat, icon):
    """Whether an icon wounds: what cannot be applied does, too ("Step A, the penalty")."""
    if icon == DISCARD_DEFENDER:
        for symbol in range(len(SYMBOLS)):
            if state.left[seat, symbol] != NOTHING:
                return False
        return True
    if icon == RECYCLE:
        for card in range(CARDS):
            if state.where[card] == DISCARD_PILE:
                return False
        return True
    return icon == WOUND or points_to_nobody(state, seat, icon)


@jit
def lay_right(child, seat, card, weights):
    """Lay a card on the right; return the weight of the Kiai that it reaches, else 0."""
    add_to_line(child, seat, card)
    if beyond_kiai(child, seat):
        apply_fire(child)
    elif child.total[seat] == kiai_of(child, seat):
        discard_first(child, seat)
        return weights[child.round - 1, KIAI_VALUE + child.who[seat]]
    return 0.0


@jit
def place_value(state, child, seat, card, unseen, features, weights):
    """Value of a card on the better side, right or left, without talents."""
    called_on_gpu()
    child[0] = state
    bonus = lay_right(child[0], seat, card, weights)
    best = bonus + linear_value(child[0], unseen, features, weights)
    if may_defend(state, seat, card):
        child[0] = state
        put_left(child[0], seat, SYMBOL[card], card)
        best = max(best, linear_value(child[0], unseen, features, weights))
    return best


@jit
def card_value(state, child, seat, card, unseen, features, weights):
    """Value of a raider drawn in a fight, put on its best place."""
    best = place_value(state, child, seat, card, unseen, features, weights)
    mine = talents(state, seat)
    if (mine >> (DAISUKE if VALUE[card] & 1 else HEIHACHI)) & 1:
        for other in (left_neighbour(state, seat), right_neighbour(state, seat)):
            if other != seat and in_round(state, other):
                best = max(best, place_value(state, child, other, card, unseen, features, weights))
    if (mine >> KYUZO) & 1 and value_in_line(state, seat, VALUE[card]):
        best = max(best, linear_value(state, unseen, features, weights))
    return best


@jit
def draw_value(state, drawn, child, seat, unseen, features, weights):
    """Mean of `card_value` over the raiders that may be on top; `drawn` is scratch."""
    called_on_gpu()
    drawn[0] = state
    base = drawn[0]
    if state.raiders_left == 0:
        return linear_value(state, unseen, features, weights)
    top = state.raiders[state.raiders_left - 1]
    base.raiders_left -= 1
    if state.known[top] == PLACE_KNOWN:
        return card_value(base, child, seat, top, unseen, features, weights)
    total, count = 0.0, 0
    for card in range(CARDS):
        if hidden_state(state, card) > 0:
            total += card_value(base, child, seat, card, unseen, features, weights)
            count += 1
    return total / count


@jit
def support_value(state, child, seat, unseen, features, weights):
    """Value of lending the active samurai's token to a seat."""
    child[0] = state
    lend(child[0], state.who[state.active], seat)
    child[0].raiders_left -= 1
    child[0].intruders_left += 1
    return linear_value(child[0], unseen, features, weights)


@jit
def token_logit(state, action):
    """Logit of an open token: they are spread over the rounds, the best first."""
    left = 0
    for token in range(MOST):
        left += (state.open_tokens >> token) & 1
    return TOKEN_VALUES[action - TOKEN0] if left > 2 * (ROUNDS - state.round) else -1.0


@jit
def move_value(state, drawn, child, giver, receiver, unseen, features, weights):
    """Value of moving a last card to another samurai (Daisuke's Kiai)."""
    drawn[0] = state
    card = take_last(drawn[0], giver)
    return place_value(drawn[0], child, receiver, card, unseen, features, weights)


@jit
def action_logit(state, action, drawn, child, unseen, features, weights):
    """Logit of a legal action: the value of the position after it."""
    called_on_gpu()
    phase, seat = state.phase, state.seat
    named = named_seat(state, action)
    child[0] = state
    after = child[0]
    bonus = 0.0
    if phase == CARD or phase == PLACING:
        card, holder = state.card, state.holder
        if action == ATTACK:
            bonus = lay_right(after, holder, card, weights)
        elif action == DEFEND:
            put_left(after, holder, SYMBOL[card], card)
        elif action == REPLACE:
            return draw_value(state, drawn, child, holder, unseen, features, weights)
        elif action != DISCARD:
            return place_value(state, child, named, card, unseen, features, weights) - 0.01
    elif phase == ACTION or phase == SECOND_FIGHT:
        if action == FIGHT:
            return draw_value(state, drawn, child, seat, unseen, features, weights)
        if action == SUPPORT:
            best = LOWEST
            for other in range(state.players):
                if other != seat and in_round(state, other):
                    best = max(best, support_value(state, child, other, unseen, features, weights))
            return best
        if action == PASS:
            after.passed |= np.uint8(1 << seat)
    elif phase == SUPPORT_TO:
        return support_value(state, child, named, unseen, features, weights)
    elif phase == OPEN_TOKEN:
        return 0.0 if action == NONE else token_logit(state, action)
    elif phase == PENALTY_ORDER:
        return -np.float64(action == ICON_ID[NO_TALENT])
    elif phase == PENALTY:
        if action != IGNORE:
            icon = state.icons[state.icon]
            if is_wound(state, seat, icon):
                apply_wound(after, seat)
            elif icon == FIRE:
                apply_fire(after)
            else:
                bonus = -0.01
    elif phase == DEFENDER:
        after.left[seat, action - SYMBOL0] = NOTHING
    elif phase == OFFER:
        bonus = 0.01 * (action == KIAI)
        if action == KIAI and state.who[seat] == GOROBEI:
            after.raiders_left -= min(after.raiders_left, DEPTH[state.animal[seat]])
        elif action == KIAI and state.who[seat] == KANBEI:
            after.intruders_left -= min(after.intruders_left, DEPTH[state.animal[seat]])
    elif action == NONE:
        pass
    elif phase == HEAL:
        after.wounded[named] = 0
    elif phase == GIVER:
        best = LOWEST
        for other in range(state.players):
            if other != named and in_round(state, other):
                best = max(best, move_value(state, drawn, child, named, other, unseen, features, weights))
        return best
    elif phase == RECEIVER:
        return move_value(state, drawn, child, state.kiai_a[state.nested - 1], named, unseen, features, weights)
    elif phase == REMOVAL:
        take_last(after, named)
    elif phase == TOKEN:
        lend(after, action - TOKEN0, left_neighbour(state, state.seat_of[action - TOKEN0]))
    elif phase == TOKEN_TO:
        lend(after, state.kiai_a[state.nested - 1], named)
    else:  # the opened raiders: what suits the samurai who draws next
        done = state.kiai_a[state.nested - 1]
        card = state.raiders[state.raiders_left - 1 - done - (action - TOP0)]
        other = left_neighbour(state, state.active)
        for _ in range(done):
            other = left_neighbour(state, other)
        return place_value(state, child, other, card, unseen, features, weights)
    return bonus + linear_value(after, unseen, features, weights)


@jit
def weighted_policy(state, logits, weights):
    """Write the logits of `heuristic_policy` with other weights (float64 (ROUNDS, FEATURES))."""
    unseen, features = scratch(UNSEEN, np.float64), scratch(FEATURES, np.float64)
    drawn, child = scratch(1, STATE_TYPE), scratch(1, STATE_TYPE)
    write_unseen(state, unseen)
    logits[:] = LOWEST
    for action in range(logits.shape[0]):
        if has(state.choices, action):
            logits[action] = action_logit(state, action, drawn, child, unseen, features, weights)


@jit
def heuristic_policy(state, logits):
    """Write the logit of each legal action of the seat to move (float64 (actions,)); illegal actions get `LOWEST`."""
    weighted_policy(state, logits, WEIGHTS)
