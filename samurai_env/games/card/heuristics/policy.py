"""The heuristic policy: how much control of stones a card gains.

*Control* of a symbol on a village is between -1 (an opponent takes the stone) and 1 (the seat takes it), a sigmoid of
the lead in influence whose slope depends on the number of free sides. *Importance* of a shape depends on how open its
majority still is. The logit of a card is the change in the sum of importance x control on the villages beside it, plus
that of the new villages it brings (the open top card on the better place, an average card on a second one), less the
price of the card. The weights come from self-play (`python -m samurai_env.games.card.heuristics.fit`).
"""

import json
from typing import NamedTuple

import numpy as np

from samurai_env.core.bits import EMPTY, lowest
from samurai_env.core.jit import jit, scratch
from samurai_env.games.card.actions import CELL0, CHOICE0
from samurai_env.games.card.rules.card_lists import DATA
from samurai_env.games.card.rules.cards import KIND_NAMES, KINDS, SHAPES, STRENGTH
from samurai_env.games.card.rules.kernels import (
    cell_x,
    cell_y,
    read_sides,
    stones_left,
    village_sides_due,
    villages_beside,
    waiting_side,
)
from samurai_env.games.card.rules.scoring import influences
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y, VILLAGES
from samurai_env.games.card.state import CARD, CELL

# Parameters, by position: BIAS + e and SLOPE + e give control as 2 * sigmoid(bias + slope * lead) - 1 with
# e = 1 .. 3 free sides; PRICE + PRICE_OF[kind] is what a card of that kind is worth in the hand, the same for all
# three shapes.
BIAS, SLOPE, PRICE = -1, 2, 6
PRICE_OF = np.array([value - 2 if name in SHAPES else 2 + value for name, value in KIND_NAMES], np.int64)
OPEN, DECIDED, CLOSE, NEAR_END, NEW_VILLAGE = range(PRICE + 6, PRICE + 11)
PARAMETERS = NEW_VILLAGE + 1
LOWEST = -1e9

WEIGHTS = np.array(json.loads((DATA / "heuristic_policy.json").read_text(encoding="utf-8"))["weights"], np.float64)
MAX_LEAD = 4 * int(STRENGTH.max())  # most influence that a seat can have on a village


class Parameters(NamedTuple):
    """The weights, and what follows from them.

    Attributes:
        weights: float64 (PARAMETERS or more,).
        control: the table of `control_table`, faster than an exponential for each symbol.
    """

    weights: np.ndarray
    control: np.ndarray


@jit
def control_table(weights):
    """Control of a stone, -1 to 1, by free sides and MAX_LEAD + lead over the best opponent (float64)."""
    out = np.zeros((5, 2 * MAX_LEAD + 1))  # with 4 free sides, the first village before the first card, 0
    for lead in range(-MAX_LEAD, MAX_LEAD + 1):
        out[0, MAX_LEAD + lead] = np.sign(lead)
        for free in range(1, 4):
            logit = weights[BIAS + free] + weights[SLOPE + free] * lead
            out[free, MAX_LEAD + lead] = 2.0 / (1.0 + np.exp(-logit)) - 1.0
    return out


CONTROL = control_table(WEIGHTS)


@jit
def importance(state, seat, shape, weights):
    """Importance of one more stone of this shape to `seat`."""
    left = max(0, stones_left(state, shape))
    mine = state.stones[seat, shape]
    best = 0
    for other in range(state.hand.shape[0]):
        if other != seat:
            best = max(best, state.stones[other, shape])
    if mine > best + left or best > mine + left:
        return weights[DECIDED]
    return weights[OPEN] + weights[CLOSE] / (1.0 + abs(mine - best)) + weights[NEAR_END] / (1.0 + left)


@jit
def influence_lead(seat, sums, n):
    """The seat's influence less the best opponent's; `sums` as `scoring.influences` returns it."""
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
def add_village_gains(state, seat, cards, village, importances, control, gains):
    """Add the gain beside one village of each kind of card; the arguments are those of `write_gains`."""
    n, sides = state.hand.shape[0], state.side[village]
    free = free_sides(sides)
    for shape in range(3):
        if state.village_stack[village] >> shape & 1:
            now = MAX_LEAD + influence_lead(seat, influences(sides, shape), n)
            for kind in range(KINDS):
                if cards[kind] > 0:
                    after = control[free - 1, now + STRENGTH[kind, shape]]
                    gains[kind] += importances[shape] * (after - control[free, now])


@jit
def place_value(free, leads, symbols, importances, parameters):
    """Value of a new village, given its free sides, the lead on it and the probability that it shows each shape."""
    total = parameters.weights[NEW_VILLAGE]
    for shape in range(3):
        if symbols[shape] > 0.0:
            total += symbols[shape] * importances[shape] * parameters.control[free, MAX_LEAD + leads[shape]]
    return total


@jit
def leads_on(seat, sides, n):
    """`influence_lead` for each shape."""
    return (
        influence_lead(seat, influences(sides, 0), n),
        influence_lead(seat, influences(sides, 1), n),
        influence_lead(seat, influences(sides, 2), n),
    )


# --- What is known of the village cards ---


@jit
def symbols_of(card):
    """Probability, 0 or 1, that a known village card shows each shape."""
    return np.float64(card & 1), np.float64(card >> 1 & 1), np.float64(card >> 2 & 1)


@jit
def average_symbols(state, first):
    """Probability that a card of the stack, unordered from position `first` on, shows each shape."""
    helmet, buddha, rice = 0.0, 0.0, 0.0
    left = max(1.0, np.float64(VILLAGES - first))
    for i in range(first, VILLAGES):
        helmet += state.village_stack[i] & 1
        buddha += state.village_stack[i] >> 1 & 1
        rice += state.village_stack[i] >> 2 & 1
    return helmet / left, buddha / left, rice / left


@jit
def known_symbols(state):
    """Probability that the top village card shows each shape, and that one below it does."""
    top = symbols_of(state.village_stack[min(state.villages, VILLAGES - 1)])
    return top, average_symbols(state, state.villages + 1)


# --- Laying a card ---


@jit
def cell_surroundings(state, seat, cell, around):
    """Find the villages beside a card of `seat` on this cell, and the sides on which it brings new ones.

    Args:
        state: a game.
        seat: whose card it is.
        cell: a free cell.
        around: int8, shape (4, 4), out: for each side with a new village the cards on that village's sides,
            without the card itself.

    Returns:
        The villages beside the cell as in `villages_beside`, and the bit set of sides.
    """
    x, y = cell_x(state, cell), cell_y(state, cell)
    near = villages_beside(state, x, y)
    due = village_sides_due(state, seat, near)
    for side in range(4):
        if due >> side & 1:
            around[side] = 0
            read_sides(state, x + STEP_X[side], y + STEP_Y[side], around[side])
    return near, due


@jit
def add_new_villages(state, seat, cards, due, around, known, importances, parameters, gains):
    """Add the value of the new villages that each kind of card brings; the arguments are those of `write_gains`."""
    n, left = state.hand.shape[0], VILLAGES - state.villages
    top, rest = known
    free, leads = scratch(4, np.int64), scratch((4, 3), np.int64)  # beside a card without influence
    for side in range(4):
        if due >> side & 1:
            free[side] = free_sides(around[side]) - 1
            leads[side, 0], leads[side, 1], leads[side, 2] = leads_on(seat, around[side], n)
    for kind in range(KINDS):
        if cards[kind] <= 0:
            continue
        alone, averages, places = 0.0, 0.0, 0
        most_added = LOWEST  # by the top card instead of an average one
        for side in range(4):
            if due >> side & 1:
                after = (
                    leads[side, 0] + STRENGTH[kind, 0],
                    leads[side, 1] + STRENGTH[kind, 1],
                    leads[side, 2] + STRENGTH[kind, 2],
                )
                alone = place_value(free[side], after, top, importances, parameters)
                average = place_value(free[side], after, rest, importances, parameters) if left > 1 else 0.0
                most_added = max(most_added, alone - average)
                averages += average
                places += 1
        gains[kind] += alone if places == 1 else most_added + averages


@jit
def write_gains(state, seat, cards, cell, known, importances, parameters, around, gains):
    """Write the gain of each of some kinds of card on a cell.

    Args:
        state: a game.
        seat: who lays it.
        cards: int8, shape (KINDS,): above 0 for these kinds.
        cell: a free cell.
        known: what is known of the village cards, from `known_symbols`.
        importances: of a stone of each shape to `seat`.
        parameters: of the policy.
        around: int8 scratch, shape (4, 4).
        gains: float64, shape (KINDS,), out; other kinds get 0.
    """
    near, due = cell_surroundings(state, seat, cell, around)
    gains[:] = 0.0
    for side in range(4):
        if near[side] >= 0:
            add_village_gains(state, seat, cards, near[side], importances, parameters.control, gains)
    if due and state.villages < VILLAGES:
        add_new_villages(state, seat, cards, due, around, known, importances, parameters, gains)
    return near, due


@jit
def write_card_logits(state, logits, importances, parameters):
    """Write the logits of phase `card` (each kind in the hand on its best cell) or `cell` (each cell)."""
    seat, phase = state.seat, state.phase
    around, gains = scratch((4, 4), np.int8), scratch(KINDS, np.float64)
    cards = state.hand[seat]
    if phase == CELL:
        cards = scratch(KINDS, np.int8)
        cards[:] = 0
        cards[state.card] = 1
    known = known_symbols(state)
    for i in range(3):
        free = state.free[i]
        while free != EMPTY:
            action = 64 * i + np.int64(lowest(free))
            free &= free - np.uint64(1)
            write_gains(state, seat, cards, action - CELL0, known, importances, parameters, around, gains)
            if phase == CELL:
                logits[action] = gains[state.card]
                continue
            for kind in range(KINDS):
                if cards[kind] > 0:
                    logits[kind] = max(logits[kind], gains[kind] - parameters.weights[PRICE + PRICE_OF[kind]])


@jit
def write_choice_logits(state, logits, importances, parameters):
    """Write the logits of phase `village`: the top card on one place and the next one, if any, on the other."""
    seat, n = state.seat, state.hand.shape[0]
    sides = scratch((2, 4), np.int8)
    sides[:] = 0
    for choice in range(2):
        side = waiting_side(state, choice)
        x, y = cell_x(state, state.laid) + STEP_X[side], cell_y(state, state.laid) + STEP_Y[side]
        read_sides(state, x, y, sides[choice])
    top = symbols_of(state.village_stack[state.villages])
    for choice in range(2):
        here, other = sides[choice], sides[1 - choice]
        logits[CHOICE0 + choice] = place_value(free_sides(here), leads_on(seat, here, n), top, importances, parameters)
        if state.villages + 1 < VILLAGES:
            after = symbols_of(state.village_stack[state.villages + 1])
            logits[CHOICE0 + choice] += place_value(
                free_sides(other), leads_on(seat, other, n), after, importances, parameters
            )


@jit
def importances_of(state, seat, weights):
    """`importance` of each shape."""
    return importance(state, seat, 0, weights), importance(state, seat, 1, weights), importance(state, seat, 2, weights)


@jit
def write_logits(state, logits, parameters):
    """Write the logits of `heuristic_policy` with other parameters."""
    importances = importances_of(state, state.seat, parameters.weights)
    logits[:] = LOWEST
    if state.phase == CARD or state.phase == CELL:
        write_card_logits(state, logits, importances, parameters)
    else:
        write_choice_logits(state, logits, importances, parameters)


@jit
def weighted_policy(state, logits, weights):
    """Write the logits of `heuristic_policy` with other weights (float64 (PARAMETERS,))."""
    write_logits(state, logits, Parameters(weights, control_table(weights)))


@jit
def heuristic_policy(state, logits):
    """Write the logit of each legal action of the seat to move (float64 (actions,)); illegal actions get `LOWEST`."""
    write_logits(state, logits, Parameters(WEIGHTS, CONTROL))
