"""The heuristic policy, one decision ahead: the best prospect (see `prospects.py`).

A decision is as good as the position it leads to, with what its chance events bring on average: fighting by the mean
over all raiders that may lie on top, each put where it does best. A Kiai that is reached counts by a worth of its own.
"""

import json

import numpy as np
from numba import from_dtype

from samurai_env.core.bits import has
from samurai_env.core.jit import jit
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
from samurai_env.games.spirit.heuristics.prospects import FEATURES, KIAI_WORTH, OUTLOOK, WEIGHTS, look_out, prospect
from samurai_env.games.spirit.observation import hidden_state
from samurai_env.games.spirit.rules.cards import (
    CARDS,
    DAISUKE,
    DATA,
    DEPTH,
    FIRE,
    GOROBEI,
    HEIHACHI,
    KANBEI,
    KYUZO,
    MOST,
    NO_TALENT,
    NOTHING,
    ROUNDS,
    SAMURAI,
    SYMBOL,
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
from samurai_env.games.spirit.state import (
    ACTION,
    CARD,
    DEFENDER,
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

_DATA = json.loads((DATA / "advice.json").read_text(encoding="utf-8"))
TOKEN_WORTH = np.array([_DATA["tokens"][name] for name in SAMURAI], np.float64)
NEVER = -1e9
RECORD = from_dtype(dtype(1))  # the same for every number of players


@jit
def burn(then):
    """A barricade goes, or any farmstead: chance and backs are left out."""
    if then.barricades > 0:
        then.barricades -= 1
        return
    for back in range(then.farmsteads.shape[0]):
        if then.farmsteads[back] > 0:
            then.farmsteads[back] -= 1
            return


@jit
def hurt(then, seat):
    """A wound, without what a turned board sets off."""
    if not then.wounded[seat]:
        then.wounded[seat] = 1
    elif not then.animal[seat]:
        then.wounded[seat] = 0
        then.animal[seat] = 1


@jit
def lay_right(then, seat, card, w):
    """Lay a card on the right; what a Kiai reached by it is worth (0 without)."""
    add_to_line(then, seat, card)
    if beyond_kiai(then, seat):
        burn(then)
    elif then.total[seat] == kiai_of(then, seat):
        discard_first(then, seat)
        return w[then.round - 1, KIAI_WORTH + then.who[seat]]
    return 0.0


@jit
def place(state, then, seat, card, outlook, found, w):
    """The better of right and left for a card, without talents."""
    then[0] = state
    bonus = lay_right(then[0], seat, card, w)
    best = bonus + prospect(then[0], outlook, found, w)
    if may_defend(state, seat, card):
        then[0] = state
        put_left(then[0], seat, SYMBOL[card], card)
        best = max(best, prospect(then[0], outlook, found, w))
    return best


@jit
def fate(state, then, seat, card, outlook, found, w):
    """The best that can become of a card in a fight."""
    best = place(state, then, seat, card, outlook, found, w)
    mine = talents(state, seat)
    if (mine >> (DAISUKE if VALUE[card] & 1 else HEIHACHI)) & 1:
        for other in (left_neighbour(state, seat), right_neighbour(state, seat)):
            if other != seat and in_round(state, other):
                best = max(best, place(state, then, other, card, outlook, found, w))
    if (mine >> KYUZO) & 1 and value_in_line(state, seat, VALUE[card]):
        best = max(best, prospect(state, outlook, found, w))
    return best


@jit
def draw(state, drawn, then, seat, outlook, found, w):
    """The mean of `fate` over the raiders that may lie on top; `drawn` is scratch."""
    drawn[0] = state
    base = drawn[0]
    if state.raiders_left == 0:
        return prospect(state, outlook, found, w)
    top = state.raiders[state.raiders_left - 1]
    base.raiders_left -= 1
    if state.known[top] == PLACE_KNOWN:
        return fate(base, then, seat, top, outlook, found, w)
    total, count = 0.0, 0
    for card in range(CARDS):
        if hidden_state(state, card) > 0:
            total += fate(base, then, seat, card, outlook, found, w)
            count += 1
    return total / count


@jit
def lend(then, samurai, seat):
    """A support token goes to a seat."""
    then.borrowed[seat] |= np.uint8(1 << samurai)
    then.away |= np.uint8(1 << samurai)


@jit
def support(state, then, seat, outlook, found, w):
    """What lending the own token to a seat leads to."""
    then[0] = state
    lend(then[0], state.who[state.active], seat)
    then[0].raiders_left -= 1
    then[0].intruders_left += 1
    return prospect(then[0], outlook, found, w)


@jit
def score_token(state, action):
    """Open tokens are spread over the rounds, the best first."""
    left = 0
    for token in range(MOST):
        left += (state.open_tokens >> token) & 1
    return TOKEN_WORTH[action - TOKEN0] if left > 2 * (ROUNDS - state.round) else -1.0


@jit
def move_last(state, drawn, then, giver, receiver, outlook, found, w):
    """What it leads to that Daisuke takes a last card to another samurai."""
    drawn[0] = state
    card = take_last(drawn[0], giver)
    return place(drawn[0], then, receiver, card, outlook, found, w)


@jit
def score(state, action, drawn, then, outlook, found, w):
    """The score of one legal action: the prospect of the position it leads to."""
    phase, seat = state.phase, state.seat
    named = named_seat(state, action)
    then[0] = state
    after = then[0]
    bonus = 0.0
    if phase == CARD or phase == PLACING:
        card, holder = state.card, state.holder
        if action == ATTACK:
            bonus = lay_right(after, holder, card, w)
        elif action == DEFEND:
            put_left(after, holder, SYMBOL[card], card)
        elif action == REPLACE:
            return draw(state, drawn, then, holder, outlook, found, w)
        elif action != DISCARD:
            return place(state, then, named, card, outlook, found, w) - 0.01
    elif phase == ACTION or phase == SECOND_FIGHT:
        if action == FIGHT:
            return draw(state, drawn, then, seat, outlook, found, w)
        if action == SUPPORT:
            best = NEVER
            for other in range(state.players):
                if other != seat and in_round(state, other):
                    best = max(best, support(state, then, other, outlook, found, w))
            return best
        if action == PASS:
            after.passed |= np.uint8(1 << seat)
    elif phase == SUPPORT_TO:
        return support(state, then, named, outlook, found, w)
    elif phase == OPEN_TOKEN:
        return 0.0 if action == NONE else score_token(state, action)
    elif phase == PENALTY_ORDER:
        return -np.float64(action == ICON_ID[NO_TALENT])
    elif phase == PENALTY:
        if action != IGNORE:
            icon = state.icons[state.icon]
            if icon == WOUND:
                hurt(after, seat)
            elif icon == FIRE:
                burn(after)
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
        best = NEVER
        for other in range(state.players):
            if other != named and in_round(state, other):
                best = max(best, move_last(state, drawn, then, named, other, outlook, found, w))
        return best
    elif phase == RECEIVER:
        return move_last(state, drawn, then, state.kiai_a[state.nested - 1], named, outlook, found, w)
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
        return place(state, then, other, card, outlook, found, w)
    return bonus + prospect(after, outlook, found, w)


@jit
def weighted_policy(state, scores, w):
    """`heuristic_policy` with given weights (float64 (ROUNDS, FEATURES))."""
    outlook, found = np.empty(OUTLOOK), np.empty(FEATURES)
    drawn, then = np.empty(1, RECORD), np.empty(1, RECORD)
    look_out(state, outlook)
    scores[:] = NEVER
    for action in range(scores.shape[0]):
        if has(state.choices, action):
            scores[action] = score(state, action, drawn, then, outlook, found, w)


@jit
def heuristic_policy(state, scores):
    """Score every legal action of the seat to move (float64, one an action id; illegal ones very low)."""
    weighted_policy(state, scores, WEIGHTS)
