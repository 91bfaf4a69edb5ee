"""The heuristic policy: how much control of figures a tile gains.

*Control* of a figure is between -1 (an opponent takes it) and 1 (the seat takes it), a sigmoid of the lead in influence
whose slope depends on the number of empty land hexes around. *Importance* of a kind of figure depends on how open its
majority still is. The logit of an action is the change in the sum of importance x control, less the price of the tile.
The weights come from self-play (`python -m samurai_env.games.board.heuristics.fit`).
"""

import json
from typing import NamedTuple

import numpy as np

from samurai_env.core.bits import EMPTY, has, lowest, popcount
from samurai_env.core.jit import jit, scratch
from samurai_env.games.board.actions import END, IDLE, LAND0, SEA0, SPOT0
from samurai_env.games.board.rules.kernels import first_spots, idle_exchange, playable
from samurai_env.games.board.rules.setup import open_settlements, pickable
from samurai_env.games.board.rules.tiles import FIGURE_EXCHANGE, KINDS, SHIPS, STRENGTH, TOKEN_EXCHANGE
from samurai_env.games.board.rules.topology import DATA, LAND_BESIDE, SEA_BESIDE, SETTLEMENT_LAND, SETTLEMENTS
from samurai_env.games.board.state import FIGURE_FIRST, FIGURE_SECOND, FIRST_HAND, LAND, SEA, SETUP, TILE, TOKEN_FROM

# Parameters, by position: BIAS + e and SLOPE + e give control as 2 * sigmoid(bias + slope * lead) - 1
# with e = 1 .. 6 empty hexes after the move; PRICE + kind is what a tile of that kind is worth in the hand.
BIAS, SLOPE, PRICE = 0, 7, 14
OPEN, DECIDED, CLOSE, NEAR_END = PRICE + KINDS, PRICE + KINDS + 1, PRICE + KINDS + 2, PRICE + KINDS + 3
PARAMETERS = NEAR_END + 1
LOWEST = -1e9

WEIGHTS = np.array(json.loads((DATA / "heuristic_policy.json").read_text(encoding="utf-8"))["weights"], np.float64)
MAX_LEAD = 64  # in influence, with the tile that is tried: more than six neighbours can give
TOWNS = int(SETTLEMENTS.max())
ROWS = TOWNS + 1
# As the tables that they come from, but no settlement is TOWNS: the last row of `table`, which holds no gain.
NEAR_LAND, NEAR_SEA = np.minimum(LAND_BESIDE, TOWNS), np.minimum(SEA_BESIDE, TOWNS)


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


@jit
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


@jit
def importances_of(state, seat, weights):
    """`importance` of each kind of figure."""
    return importance(state, seat, 0, weights), importance(state, seat, 1, weights), importance(state, seat, 2, weights)


@jit
def influence_lead(state, seat, settlement, figure):
    """The seat's influence less the best opponent's."""
    best = 0
    for other in range(state.hand.shape[0]):
        if other != seat:
            best = max(best, state.influence[other, settlement, figure])
    return state.influence[seat, settlement, figure] - best


@jit
def empty_around(state, settlement):
    """Number of empty land hexes around a settlement."""
    return np.int64(popcount(SETTLEMENT_LAND[settlement] & state.land_free))


@jit
def fill_controls(state, seat, control, everywhere, leads, table):
    """Write the seat's control of each figure as things stand into columns 0 to 2 of `table`, a row a settlement.

    Each is computed once instead of for every hex.

    Args:
        state: a game.
        seat: whose control.
        control: see `Parameters`.
        everywhere: also of figures that are not there, for exchanges.
        leads: int64 (settlements, 4), out: MAX_LEAD + the lead in influence by figure, and the empty land hexes around.
        table: float64 (ROWS, 4), out.
    """
    for settlement in range(state.influence.shape[1]):
        empty = empty_around(state, settlement)
        leads[settlement, 3] = empty
        for figure in range(3):
            if everywhere or has(state.figures[figure], settlement):
                leads[settlement, figure] = MAX_LEAD + influence_lead(state, seat, settlement, figure)
                table[settlement, figure] = control[empty, leads[settlement, figure]]


@jit
def fill_gains(state, kind, filled, sign, importances, control, leads, table):
    """Write into column 3 the gain beside each settlement of so many land hexes `filled` and the tile's strength.

    `sign`: 1 if the strength is added, -1 if it is removed.
    """
    for settlement in range(state.influence.shape[1]):
        total, empty = 0.0, leads[settlement, 3]
        if empty >= filled:
            for figure in range(3):
                if has(state.figures[figure], settlement):
                    after = control[empty - filled, leads[settlement, figure] + sign * STRENGTH[kind, figure]]
                    total += importances[figure] * (after - table[settlement, figure])
        table[settlement, 3] = total


@jit
def gain_beside(settlements, table):
    """Gain of a tile on a hex with these two settlements beside it; one out of play has 0 in the table."""
    return table[settlements[0], 3] + table[settlements[1], 3]


@jit
def best_land(state, table):
    """Best gain on land of the tile whose gains are in `table`."""
    best, free = LOWEST, state.land_free
    while free != EMPTY:
        best = max(best, gain_beside(NEAR_LAND[np.int64(lowest(free))], table))
        free &= free - np.uint64(1)
    return best


@jit
def best_sea(state, table):
    """Best gain of the ship whose gains are in `table`."""
    best = LOWEST
    for sea in range(state.sea_tile.shape[0]):
        if state.sea_tile[sea] == 0:
            best = max(best, gain_beside(NEAR_SEA[sea], table))
    return best


@jit
def token_exchanges(state, seat, importances, control, leads, table, logits):
    """Best gain of a token exchange, the tile put where it gains most; writes that of each first hex."""
    best = LOWEST
    for kind in range(KINDS):
        elsewhere, tile = LOWEST, kind + 1 + KINDS * seat
        for land in range(state.land_tile.shape[0]):
            if state.land_tile[land] == tile and has(state.movable[seat], land):
                if elsewhere == LOWEST:  # the first of its kind
                    fill_gains(state, kind, 1, 1, importances, control, leads, table)
                    elsewhere = best_land(state, table)
                    fill_gains(state, kind, 0, -1, importances, control, leads, table)
                logits[LAND0 + land] = gain_beside(NEAR_LAND[land], table) + elsewhere
                best = max(best, logits[LAND0 + land])
    return best


@jit
def figure_exchange_gain(figure, settlement, other, elsewhere, importances, table):
    """Gain of exchanging `figure` on `settlement` for `other` on `elsewhere`."""
    one = table[elsewhere, figure] - table[settlement, figure]
    two = table[settlement, other] - table[elsewhere, other]
    return importances[figure] * one + importances[other] * two


@jit
def best_figure_exchange(state, figure, settlement, importances, table):
    """Gain of exchanging a figure for the best partner."""
    best = LOWEST
    for other in range(3):
        if other == figure or has(state.figures[other], settlement):
            continue
        places = state.figures[other] & ~state.figures[figure]
        while places != EMPTY:
            elsewhere = np.int64(lowest(places))
            places &= places - np.uint64(1)
            best = max(best, figure_exchange_gain(figure, settlement, other, elsewhere, importances, table))
    return best


@jit
def tile_gain(state, seat, kind, importances, control, leads, table, logits):
    """Best gain of playing a tile of this kind; `logits` of land hexes are scratch."""
    if kind == FIGURE_EXCHANGE:
        best = 0.0 if idle_exchange(state) else LOWEST
        for figure in range(3):
            places = first_spots(state, figure)
            while places != EMPTY:
                settlement = np.int64(lowest(places))
                places &= places - np.uint64(1)
                best = max(best, best_figure_exchange(state, figure, settlement, importances, table))
        return best
    if kind == TOKEN_EXCHANGE:
        best = token_exchanges(state, seat, importances, control, leads, table, logits)
        logits[LAND0 : LAND0 + state.land_tile.shape[0]] = LOWEST
        return best
    if SHIPS >> np.uint32(kind) & np.uint32(1):
        fill_gains(state, kind, 0, 1, importances, control, leads, table)
        return best_sea(state, table)
    fill_gains(state, kind, 1, 1, importances, control, leads, table)
    return best_land(state, table)


@jit
def write_logits(state, logits, parameters):
    """Write the logits of `heuristic_policy` with other parameters."""
    weights, control = parameters.weights, parameters.control
    n, seat, phase, towns = state.hand.shape[0], state.seat, state.phase, state.influence.shape[1]
    importances = importances_of(state, seat, weights)
    logits[:] = LOWEST
    table, leads = scratch((ROWS, 4), np.float64), scratch((TOWNS, 4), np.int64)  # see `fill_controls`
    for settlement in range(towns, ROWS):
        table[settlement, 3] = 0.0
    kinds = playable(state, seat) if phase == TILE else np.uint32(0)
    if phase != FIRST_HAND and phase != SETUP:
        exchange = phase in (FIGURE_FIRST, FIGURE_SECOND) or kinds >> np.uint32(FIGURE_EXCHANGE) & np.uint32(1) != 0
        fill_controls(state, seat, control, exchange, leads, table)
    if phase == TILE:
        for kind in range(KINDS):
            if kinds >> np.uint32(kind) & np.uint32(1):
                gain = tile_gain(state, seat, kind, importances, control, leads, table, logits)
                logits[kind] = gain - weights[PRICE + kind]
        if state.may_end:
            logits[END] = 0.0
    elif phase == LAND:
        fill_gains(state, state.tile, 1, 1, importances, control, leads, table)
        for land in range(state.land_tile.shape[0]):
            if state.land_tile[land] == 0:
                logits[LAND0 + land] = gain_beside(NEAR_LAND[land], table)
    elif phase == SEA:
        fill_gains(state, state.tile, 0, 1, importances, control, leads, table)
        for sea in range(state.sea_tile.shape[0]):
            if state.sea_tile[sea] == 0:
                logits[SEA0[n] + sea] = gain_beside(NEAR_SEA[sea], table)
    elif phase == TOKEN_FROM:
        token_exchanges(state, seat, importances, control, leads, table, logits)
    elif phase == FIGURE_FIRST:
        if idle_exchange(state):
            logits[IDLE] = 0.0
        for figure in range(3):
            places = first_spots(state, figure)
            while places != EMPTY:
                settlement = np.int64(lowest(places))
                places &= places - np.uint64(1)
                spot = SPOT0[n] + figure * (towns - 1) + settlement - 1
                logits[spot] = best_figure_exchange(state, figure, settlement, importances, table)
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
                logits[spot] = figure_exchange_gain(figure, settlement, other, elsewhere, importances, table)
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
    else:  # the second hex of a token exchange: the tile has left the first
        kind = state.land_tile[state.from_land] - 1 - KINDS * seat
        fill_gains(state, kind, 1, 1, importances, control, leads, table)
        for land in range(state.land_tile.shape[0]):
            if state.land_tile[land] == 0:
                logits[LAND0 + land] = gain_beside(NEAR_LAND[land], table)


@jit
def weighted_policy(state, logits, weights):
    """Write the logits of `heuristic_policy` with other weights (float64 (PARAMETERS,))."""
    write_logits(state, logits, Parameters(weights, control_table(weights)))


@jit
def heuristic_policy(state, logits):
    """Write the logit of each legal action of the seat to move (float64 (actions,)); illegal actions get `LOWEST`."""
    write_logits(state, logits, Parameters(WEIGHTS, CONTROL))
