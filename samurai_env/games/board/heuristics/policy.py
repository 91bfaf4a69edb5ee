"""The heuristic policy: how much control of figures a tile gains.

*Control* of a figure is between -1 (an opponent takes it) and 1 (the seat takes it), a sigmoid of the lead in influence
whose slope depends on the number of empty land hexes around. *Importance* of a kind of figure depends on how open its
majority still is. The logit of an action is the change in the sum of importance x control, less the price of the tile.
The weights come from self-play (`python -m samurai_env.games.board.heuristics.fit`). The tuned policy is the same with
weights for each number of players (`python -m samurai_env.games.board.heuristics.tune`).
"""

import json
from typing import NamedTuple

import numpy as np

from samurai_env.core.bits import EMPTY, has, lowest, popcount
from samurai_env.core.jit import called_on_gpu, inlined, jit, scratch
from samurai_env.games.board.actions import END, IDLE, LAND0, SEA0, SPOT0
from samurai_env.games.board.rules.kernels import first_spots, idle_exchange, playable
from samurai_env.games.board.rules.setup import open_settlements, pickable
from samurai_env.games.board.rules.tiles import FIGURE_EXCHANGE, KINDS, SHIPS, STRENGTH, TOKEN_EXCHANGE
from samurai_env.games.board.rules.topology import DATA, LAND_BESIDE, SEA_BESIDE, SETTLEMENT_LAND, SETTLEMENTS
from samurai_env.games.board.state import (
    FIGURE_FIRST,
    FIGURE_SECOND,
    FIRST_HAND,
    LAND,
    SEA,
    SETUP,
    TILE,
    TOKEN_FROM,
    TOKEN_TO,
)
from samurai_env.games.tuning import read_tuned_weights

# Parameters, by position: BIAS + e and SLOPE + e give control as 2 * sigmoid(bias + slope * lead) - 1
# with e = 1 .. 6 empty hexes after the move; PRICE + kind is what a tile of that kind is worth in the hand.
BIAS, SLOPE, PRICE = 0, 7, 14
OPEN, DECIDED, CLOSE, NEAR_END = PRICE + KINDS, PRICE + KINDS + 1, PRICE + KINDS + 2, PRICE + KINDS + 3
PARAMETERS = NEAR_END + 1
LOWEST = -1e9

WEIGHTS = np.array(json.loads((DATA / "heuristic_policy.json").read_text(encoding="utf-8"))["weights"], np.float64)
# By number of players, from 2 on.
TUNED_WEIGHTS = read_tuned_weights(DATA)
MAX_LEAD = 64  # in influence, with the tile that is tried: more than six neighbours can give
TOWNS = int(SETTLEMENTS.max())
ROWS = TOWNS + 1
CELLS = 3 * TOWNS
# As the tables that they come from, but no settlement is TOWNS: the last row of `Cells.gains`, which is 0.
NEAR_LAND, NEAR_SEA = np.minimum(LAND_BESIDE, TOWNS), np.minimum(SEA_BESIDE, TOWNS)


class Cells(NamedTuple):
    """What the seat to move has at each settlement, and what a tile gains there.

    A *cell* is a settlement and a kind of figure, 3 * settlement + figure. All cells are worked out, those without a
    figure with weight 0: to branch on what stands where costs more than the arithmetic.

    Attributes:
        empty: int16 (TOWNS,): empty land hexes around the settlement.
        lead: int16 (CELLS,): MAX_LEAD + the seat's influence less the best opponent's.
        now: float64 (CELLS,): control as things stand.
        weight: float64 (CELLS,): importance of the figure, 0 where none is.
        control: the table of `control_table`.
        gains: float64 (ROWS,): by settlement, see `fill_gains`; 0 for those out of play.
    """

    empty: np.ndarray
    lead: np.ndarray
    now: np.ndarray
    weight: np.ndarray
    control: np.ndarray
    gains: np.ndarray


class Parameters(NamedTuple):
    """The weights, and what follows from them.

    Attributes:
        weights: float64 (PARAMETERS,).
        control: the table of `control_table`, faster than an exponential for each figure.
    """

    weights: np.ndarray
    control: np.ndarray


@jit
def control_table(weights):
    """Control of a figure, -1 to 1, by empty land hexes around and MAX_LEAD + lead over the best opponent (float64)."""
    out = np.zeros((7, 2 * MAX_LEAD + 1))
    for lead in range(-MAX_LEAD, MAX_LEAD + 1):
        out[0, MAX_LEAD + lead] = np.sign(lead)
        for empty in range(1, 7):
            slope = weights[SLOPE + empty] * lead
            out[empty, MAX_LEAD + lead] = 2.0 / (1.0 + np.exp(-weights[BIAS + empty] - slope)) - 1.0
    return out


CONTROL = control_table(WEIGHTS)
TUNED_CONTROL = np.stack([control_table(weights) for weights in TUNED_WEIGHTS])


@inlined
def importance(state, seat, figure, weights):
    """Importance of one more figure of this kind to `seat`."""
    left = np.float64(popcount(state.figures[figure]) + np.uint64(state.pool[figure]))
    mine = state.captured[seat, figure]
    best = 0
    for other in range(state.hand.shape[0]):
        if other != seat:
            best = max(best, state.captured[other, figure])
    if mine > best + left or best > mine + left:
        return weights[DECIDED]
    return weights[OPEN] + weights[CLOSE] / (1.0 + abs(mine - best)) + weights[NEAR_END] / (1.0 + left)


@inlined
def importances_of(state, seat, weights):
    """`importance` of each kind of figure."""
    return importance(state, seat, 0, weights), importance(state, seat, 1, weights), importance(state, seat, 2, weights)


@inlined
def empty_around(state, settlement):
    """Number of empty land hexes around a settlement."""
    return np.int64(popcount(SETTLEMENT_LAND[settlement] & state.land_free))


@inlined
def fill_cells(state, seat, importances, cells):
    """Write all of `cells` but the gains: once for all kinds of tile and all hexes."""
    towns = state.influence.shape[1]
    rivals = scratch(CELLS, np.int8)
    for cell in range(3 * towns):
        rivals[cell] = 0
    for other in range(state.hand.shape[0]):
        if other != seat:
            for settlement in range(towns):
                for figure in range(3):
                    cell = 3 * settlement + figure
                    rivals[cell] = max(rivals[cell], state.influence[other, settlement, figure])
    for settlement in range(towns):
        empty = empty_around(state, settlement)
        cells.empty[settlement] = empty
        for figure in range(3):
            cell = 3 * settlement + figure
            lead = MAX_LEAD + np.int64(state.influence[seat, settlement, figure]) - np.int64(rivals[cell])
            cells.lead[cell] = lead
            cells.now[cell] = cells.control[empty, lead]
            cells.weight[cell] = importances[figure] if has(state.figures[figure], settlement) else 0.0


@inlined
def gain_at(settlement, kind, filled, sign, cells):
    """Gain at a settlement of so many land hexes `filled` and a tile's strength added (sign 1) or removed (-1)."""
    empty, total = max(cells.empty[settlement] - filled, 0), 0.0
    for figure in range(3):
        cell = 3 * settlement + figure
        after = cells.control[empty, cells.lead[cell] + sign * STRENGTH[kind, figure]]
        total += cells.weight[cell] * (after - cells.now[cell])
    return total if cells.empty[settlement] >= filled else 0.0


@inlined
def fill_gains(state, kind, filled, cells):
    """Write the gain beside each settlement of a tile that lies there and fills so many land hexes."""
    for settlement in range(state.influence.shape[1]):
        cells.gains[settlement] = gain_at(settlement, kind, filled, 1, cells)


@inlined
def gain_beside(settlements, cells):
    """Gain of a tile on a hex with these two settlements beside it; one out of play has 0 there."""
    return cells.gains[settlements[0]] + cells.gains[settlements[1]]


@inlined
def best_land(state, cells):
    """Best gain on land of the tile whose gains are in `cells`."""
    best, free = LOWEST, state.land_free
    while free != EMPTY:
        best = max(best, gain_beside(NEAR_LAND[np.int64(lowest(free))], cells))
        free &= free - np.uint64(1)
    return best


@inlined
def best_sea(state, cells):
    """Best gain of the ship whose gains are in `cells`."""
    best = LOWEST
    for sea in range(state.sea_tile.shape[0]):
        if state.sea_tile[sea] == 0:
            best = max(best, gain_beside(NEAR_SEA[sea], cells))
    return best


@jit
def token_exchanges(state, seat, cells, logits):
    """Best gain of a token exchange, the tile put where it gains most; writes that of each first hex."""
    called_on_gpu()
    best, left, towns = LOWEST, state.movable[seat], state.influence.shape[1]
    elsewhere = scratch(KINDS, np.float64)  # by kind of tile, the best gain on another hex
    for kind in range(KINDS):
        elsewhere[kind] = LOWEST
    while left != EMPTY:
        land = np.int64(lowest(left))
        left &= left - np.uint64(1)
        kind = np.int64(state.land_tile[land]) - 1 - KINDS * seat
        if elsewhere[kind] == LOWEST:  # the first of its kind
            fill_gains(state, kind, 1, cells)
            elsewhere[kind] = best_land(state, cells)
        loss = 0.0
        for i in range(2):
            if NEAR_LAND[land, i] < towns:
                loss += gain_at(NEAR_LAND[land, i], kind, 0, -1, cells)
        logits[LAND0 + land] = loss + elsewhere[kind]
        best = max(best, logits[LAND0 + land])
    return best


@jit
def figure_exchange_gain(figure, settlement, other, elsewhere, importances, cells):
    """Gain of exchanging `figure` on `settlement` for `other` on `elsewhere`."""
    one = cells.now[3 * elsewhere + figure] - cells.now[3 * settlement + figure]
    two = cells.now[3 * settlement + other] - cells.now[3 * elsewhere + other]
    return importances[figure] * one + importances[other] * two


@jit
def best_figure_exchange(state, figure, settlement, importances, cells):
    """Gain of exchanging a figure for the best partner."""
    called_on_gpu()
    best = LOWEST
    for other in range(3):
        if other == figure or has(state.figures[other], settlement):
            continue
        places = state.figures[other] & ~state.figures[figure]
        while places != EMPTY:
            elsewhere = np.int64(lowest(places))
            places &= places - np.uint64(1)
            best = max(best, figure_exchange_gain(figure, settlement, other, elsewhere, importances, cells))
    return best


@jit
def tile_gain(state, seat, kind, importances, cells, logits):
    """Best gain of playing a tile of this kind; `logits` of land hexes are scratch."""
    called_on_gpu()
    if kind == FIGURE_EXCHANGE:
        best = 0.0 if idle_exchange(state) else LOWEST
        for figure in range(2):  # either may be the first: the gain is the same
            for other in range(figure + 1, 3):
                ours = state.figures[figure] & ~state.figures[other]
                theirs = state.figures[other] & ~state.figures[figure]
                while ours != EMPTY:
                    settlement = np.int64(lowest(ours))
                    ours &= ours - np.uint64(1)
                    left = theirs
                    while left != EMPTY:
                        elsewhere = np.int64(lowest(left))
                        left &= left - np.uint64(1)
                        gain = figure_exchange_gain(figure, settlement, other, elsewhere, importances, cells)
                        best = max(best, gain)
        return best
    if kind == TOKEN_EXCHANGE:
        best = token_exchanges(state, seat, cells, logits)
        logits[LAND0 : LAND0 + state.land_tile.shape[0]] = LOWEST
        return best
    if SHIPS >> np.uint32(kind) & np.uint32(1):
        fill_gains(state, kind, 0, cells)
        return best_sea(state, cells)
    fill_gains(state, kind, 1, cells)
    return best_land(state, cells)


@jit
def write_logits(state, logits, parameters):
    """Write the logits of `heuristic_policy` with other parameters."""
    weights, control = parameters.weights, parameters.control
    n, seat, phase, towns = state.hand.shape[0], state.seat, state.phase, state.influence.shape[1]
    importances = importances_of(state, seat, weights)
    logits[:] = LOWEST
    lead, now, weight = scratch(CELLS, np.int16), scratch(CELLS, np.float64), scratch(CELLS, np.float64)
    empty, gains = scratch(TOWNS, np.int16), scratch(ROWS, np.float64)
    cells = Cells(empty, lead, now, weight, control, gains)
    for settlement in range(towns, ROWS):
        gains[settlement] = 0.0
    kinds = playable(state, seat) if phase == TILE else np.uint32(0)
    if phase != FIRST_HAND and phase != SETUP:
        fill_cells(state, seat, importances, cells)
    if phase == TILE:
        for kind in range(KINDS):
            if kinds >> np.uint32(kind) & np.uint32(1):
                gain = tile_gain(state, seat, kind, importances, cells, logits)
                logits[kind] = gain - weights[PRICE + kind]
        if state.may_end:
            logits[END] = 0.0
    elif phase == LAND or phase == TOKEN_TO:
        # In the second of these, the second hex of a token exchange, the tile has left the first.
        kind = state.tile if phase == LAND else state.land_tile[state.from_land] - 1 - KINDS * seat
        fill_gains(state, kind, 1, cells)
        free = state.land_free
        while free != EMPTY:
            land = np.int64(lowest(free))
            free &= free - np.uint64(1)
            logits[LAND0 + land] = gain_beside(NEAR_LAND[land], cells)
    elif phase == SEA:
        fill_gains(state, state.tile, 0, cells)
        for sea in range(state.sea_tile.shape[0]):
            if state.sea_tile[sea] == 0:
                logits[SEA0[n] + sea] = gain_beside(NEAR_SEA[sea], cells)
    elif phase == TOKEN_FROM:
        token_exchanges(state, seat, cells, logits)
    elif phase == FIGURE_FIRST:
        if idle_exchange(state):
            logits[IDLE] = 0.0
        for figure in range(3):
            places = first_spots(state, figure)
            while places != EMPTY:
                settlement = np.int64(lowest(places))
                places &= places - np.uint64(1)
                spot = SPOT0[n] + figure * (towns - 1) + settlement - 1
                logits[spot] = best_figure_exchange(state, figure, settlement, importances, cells)
    elif phase == FIGURE_SECOND:
        figure, settlement = state.from_spot // (towns - 1), state.from_spot % (towns - 1) + 1
        for other in range(3):
            if other == figure or has(state.figures[other], settlement):
                continue
            places = state.figures[other] & ~state.figures[figure]
            while places != EMPTY:
                elsewhere = np.int64(lowest(places))
                places &= places - np.uint64(1)
                spot = SPOT0[n] + other * (towns - 1) + elsewhere - 1
                logits[spot] = figure_exchange_gain(figure, settlement, other, elsewhere, importances, cells)
    elif phase == FIRST_HAND:
        kinds_left = pickable(state)
        for kind in range(KINDS):
            if has(kinds_left, kind):
                logits[kind] = weights[PRICE + kind] - state.hand[seat, kind]
    elif phase == SETUP:
        for figure in range(3):
            places = open_settlements(state, figure)
            while places != EMPTY:
                logits[SPOT0[n] + figure * (towns - 1) + np.int64(lowest(places)) - 1] = 0.0
                places &= places - np.uint64(1)


@jit
def prepare(weights):
    """The parameters that follow from weights (float64 (PARAMETERS,))."""
    return Parameters(weights, control_table(weights))


@jit
def weighted_policy(state, logits, weights):
    """Write the logits of `heuristic_policy` with other weights (float64 (PARAMETERS,))."""
    write_logits(state, logits, prepare(weights))


@jit
def heuristic_policy(state, logits):
    """Write the logit of each legal action of the seat to move (float64 (actions,)); illegal actions get `LOWEST`."""
    write_logits(state, logits, Parameters(WEIGHTS, CONTROL))


@jit
def tuned_policy(state, logits):
    """Write the logits of `heuristic_policy` with the weights tuned for the number of players."""
    row = state.hand.shape[0] - 2
    write_logits(state, logits, Parameters(TUNED_WEIGHTS[row], TUNED_CONTROL[row]))
