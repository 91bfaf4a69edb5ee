"""The heuristic policy: how much laying one card improves the prospects of winning stones.

Every symbol on a village that is not yet scored has a prospect between -1 (an opponent will take the stone) and 1
(mine), read off the lead in influence and the number of free sides, and a worth, read off how open the majority
of its shape still is. A card scores the change it makes to the sum of worth x prospect on the villages beside it,
plus worth x prospect of the new villages it brings (the open top card on the better place, an average card on a
second one), less the price of the card. The parameters come from self-play (`python -m
samurai_env.games.card.heuristics.fit`).
"""

import json
from typing import NamedTuple

import numpy as np

from samurai_env.core.bits import lowest
from samurai_env.core.jit import jit
from samurai_env.games.card.actions import CELL0, CHOICE0
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.cards import KIND_NAMES, KINDS, SHAPES, STRENGTH
from samurai_env.games.card.rules.kernels import (
    NONE,
    cell_x,
    cell_y,
    look_around,
    stones_left,
    village_sides_due,
    villages_beside,
    waiting_side,
)
from samurai_env.games.card.rules.scoring import influences
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y, VILLAGES, opposite
from samurai_env.games.card.state import CARD, CELL

# Parameters, by position: LEAN + e and SLOPE + e give the prospect 2 * sigmoid(lean + slope * lead) - 1 with
# e = 1 .. 3 free sides; PRICE + PRICE_OF[kind] is what a card of that kind is worth in the hand, the same for all
# three shapes.
LEAN, SLOPE, PRICE = -1, 2, 6
PRICE_OF = np.array([value - 2 if name in SHAPES else 2 + value for name, value in KIND_NAMES], np.int64)
OPEN, DECIDED, CLOSE, NEAR_END, NEW_VILLAGE = range(PRICE + 6, PRICE + 11)
PARAMETERS = NEW_VILLAGE + 1
NEVER = -1e9

WEIGHTS = np.array(json.loads((DATA / "advice.json").read_text(encoding="utf-8"))["weights"], np.float64)
MOST = 4 * int(STRENGTH.max())  # influence that a seat can have on a village


class Judgement(NamedTuple):
    """What gains are reckoned with.

    Attributes:
        weights: the parameters, float64 (PARAMETERS or more,).
        prospects: what `prospects_of` makes of them: a look into a table takes less time than an exponential.
    """

    weights: np.ndarray
    prospects: np.ndarray


@jit
def prospects_of(weights):
    """How surely a stone falls to a seat, from -1 to 1: float64, by free sides and MOST + lead over the best other."""
    out = np.zeros((5, 2 * MOST + 1))  # with 4 free sides, the first village before the first card, 0
    for lead in range(-MOST, MOST + 1):
        out[0, MOST + lead] = np.sign(lead)
        for free in range(1, 4):
            logit = weights[LEAN + free] + weights[SLOPE + free] * lead
            out[free, MOST + lead] = 2.0 / (1.0 + np.exp(-logit)) - 1.0
    return out


PROSPECTS = prospects_of(WEIGHTS)


@jit
def worth(state, seat, shape, w):
    """How much one more stone of this shape matters to `seat`."""
    left = max(0, stones_left(state, shape))
    mine = state.stones[seat, shape]
    best = 0
    for other in range(state.hand.shape[0]):
        if other != seat:
            best = max(best, state.stones[other, shape])
    if mine > best + left or best > mine + left:
        return w[DECIDED]
    return w[OPEN] + w[CLOSE] / (1.0 + abs(mine - best)) + w[NEAR_END] / (1.0 + left)


@jit
def lead_of(seat, sums, n):
    """Own influence less the best other's; `sums` as `scoring.influences` gives it."""
    best = 0
    for other in range(n):
        if other != seat:
            best = max(best, sums >> (8 * other) & 255)
    return (sums >> (8 * seat) & 255) - best


@jit
def free_sides(sides):
    """Number of free sides of a village."""
    free = 0
    for side in range(4):
        free += sides[side] == 0
    return free


@jit
def add_village_gains(state, seat, cards, village, worths, prospects, gains):
    """Add to `gains` what cards beside a village change; the arguments are those of `write_gains`."""
    n, sides = state.hand.shape[0], state.side[village]
    free = free_sides(sides)
    for shape in range(3):
        if state.village_stack[village] >> shape & 1:
            now = MOST + lead_of(seat, influences(sides, shape), n)
            for kind in range(KINDS):
                if cards[kind] > 0:
                    after = prospects[free - 1, now + STRENGTH[kind, shape]]
                    gains[kind] += worths[shape] * (after - prospects[free, now])


@jit
def place_value(seat, sides, symbols, worths, judgement, n):
    """What a new village is worth, given what lies on its four sides and how likely it shows each shape."""
    total, free = judgement.weights[NEW_VILLAGE], free_sides(sides)
    for shape in range(3):
        if symbols[shape] > 0.0:
            lead = lead_of(seat, influences(sides, shape), n)
            total += symbols[shape] * worths[shape] * judgement.prospects[free, MOST + lead]
    return total


# --- What is known of the village cards ---


@jit
def symbols_of(card):
    """How likely a known village card shows each shape: 0 or 1."""
    return np.float64(card & 1), np.float64(card >> 1 & 1), np.float64(card >> 2 & 1)


@jit
def average_symbols(state, first):
    """How likely a card of the stack from position `first` on, whose order nobody knows, shows each shape."""
    helmet, buddha, rice = 0.0, 0.0, 0.0
    left = max(1.0, np.float64(VILLAGES - first))
    for i in range(first, VILLAGES):
        helmet += state.village_stack[i] & 1
        buddha += state.village_stack[i] >> 1 & 1
        rice += state.village_stack[i] >> 2 & 1
    return helmet / left, buddha / left, rice / left


@jit
def known_symbols(state):
    """How likely the top village card shows each shape, and how likely one below it does."""
    top = symbols_of(state.village_stack[min(state.villages, VILLAGES - 1)])
    return top, average_symbols(state, state.villages + 1)


# --- Laying a card ---


@jit
def look_at_cell(state, seat, cell, around):
    """Which villages a card of `seat` on this cell touches, and on which sides it brings new ones.

    Args:
        state: record of a game.
        seat: whose card it is.
        cell: a free cell.
        around: int8, shape (4, 4), out: for each side with a new village what lies on the sides of that place,
            the card to be laid left out.

    Returns:
        The villages beside the cell as in `villages_beside`, and the bit set of sides.
    """
    x, y = cell_x(state, cell), cell_y(state, cell)
    near = villages_beside(state, x, y)
    due = village_sides_due(state, seat, near)
    for side in range(4):
        if due >> side & 1:
            around[side] = 0
            look_around(state, x + STEP_X[side], y + STEP_Y[side], around[side])
    return near, due


@jit
def new_villages_value(state, seat, kind, due, around, known, worths, judgement):
    """What the new villages are worth that a card of this kind brings; the arguments are those of `write_gains`."""
    n, left = state.hand.shape[0], VILLAGES - state.villages
    top, rest = known
    alone, averages, places = 0.0, 0.0, 0
    most_added = NEVER  # by the top card over an average one
    for side in range(4):
        if due >> side & 1:
            sides = around[side]
            sides[opposite(side)] = 1 + KINDS * seat + kind
            alone = place_value(seat, sides, top, worths, judgement, n)
            average = place_value(seat, sides, rest, worths, judgement, n) if left > 1 else 0.0
            sides[opposite(side)] = 0
            most_added = max(most_added, alone - average)
            averages += average
            places += 1
    return alone if places == 1 else most_added + averages


@jit
def write_gains(state, seat, cards, cell, known, worths, judgement, around, gains):
    """Write what laying each of some kinds of card on a cell changes.

    Args:
        state: record of a game.
        seat: who lays it.
        cards: int8, shape (KINDS,): above 0 for the kinds that are asked for.
        cell: a free cell.
        known: what is known of village cards, see `known_symbols`.
        worths: of a stone of each shape to `seat`.
        judgement: what gains are reckoned with.
        around: int8 scratch, shape (4, 4).
        gains: float64, shape (KINDS,), out; other kinds get 0.
    """
    near, due = look_at_cell(state, seat, cell, around)
    gains[:] = 0.0
    for side in range(4):
        if near[side] >= 0:
            add_village_gains(state, seat, cards, near[side], worths, judgement.prospects, gains)
    if due and state.villages < VILLAGES:
        for kind in range(KINDS):
            if cards[kind] > 0:
                gains[kind] += new_villages_value(state, seat, kind, due, around, known, worths, judgement)
    return near, due


@jit
def score_cards(state, scores, worths, judgement):
    """In the phases `card` and `cell`: the best cell of each kind in the hand, or each cell of the chosen kind."""
    seat, phase = state.seat, state.phase
    around, gains = np.empty((4, 4), np.int8), np.empty(KINDS)
    cards = state.hand[seat]
    if phase == CELL:
        cards = np.zeros(KINDS, np.int8)
        cards[state.card] = 1
    known = known_symbols(state)
    for i in range(3):
        free = state.free[i]
        while free != NONE:
            action = 64 * i + np.int64(lowest(free))
            free &= free - np.uint64(1)
            write_gains(state, seat, cards, action - CELL0, known, worths, judgement, around, gains)
            if phase == CELL:
                scores[action] = gains[state.card]
                continue
            for kind in range(KINDS):
                if cards[kind] > 0:
                    scores[kind] = max(scores[kind], gains[kind] - judgement.weights[PRICE + PRICE_OF[kind]])


@jit
def score_choice(state, scores, worths, judgement):
    """In the phase `village`: the top card on one place and the next one, if there is one, on the other."""
    seat, n = state.seat, state.hand.shape[0]
    sides = np.zeros((2, 4), np.int8)
    for choice in range(2):
        side = waiting_side(state, choice)
        x, y = cell_x(state, state.laid) + STEP_X[side], cell_y(state, state.laid) + STEP_Y[side]
        look_around(state, x, y, sides[choice])
    top = symbols_of(state.village_stack[state.villages])
    for choice in range(2):
        scores[CHOICE0 + choice] = place_value(seat, sides[choice], top, worths, judgement, n)
        if state.villages + 1 < VILLAGES:
            after = symbols_of(state.village_stack[state.villages + 1])
            scores[CHOICE0 + choice] += place_value(seat, sides[1 - choice], after, worths, judgement, n)


@jit
def worths_of(state, seat, weights):
    """`worth` of each shape."""
    return worth(state, seat, 0, weights), worth(state, seat, 1, weights), worth(state, seat, 2, weights)


@jit
def score(state, scores, judgement):
    """`heuristic_policy` with a given judgement."""
    worths = worths_of(state, state.seat, judgement.weights)
    scores[:] = NEVER
    if state.phase == CARD or state.phase == CELL:
        score_cards(state, scores, worths, judgement)
    else:
        score_choice(state, scores, worths, judgement)


@jit
def weighted_policy(state, scores, weights):
    """`heuristic_policy` with given parameters (float64, shape (PARAMETERS,))."""
    score(state, scores, Judgement(weights, prospects_of(weights)))


@jit
def heuristic_policy(state, scores):
    """Score every legal action of the seat to move (float64, one an action id; illegal ones very low)."""
    score(state, scores, Judgement(WEIGHTS, PROSPECTS))
