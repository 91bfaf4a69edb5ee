"""The heuristic policy: how much one tile play improves the prospects of winning figures.

Every figure on the board has a prospect between -1 (an opponent will take it) and 1 (mine), read off the
lead in influence and the number of empty land hexes around it, and a worth, read off how open the
majority of its kind still is. A play scores the change it makes to the sum of worth x prospect, less the
price of the tile. The parameters come from self-play (`python -m samurai_env.games.board.heuristics.fit`).
"""

import json

import numpy as np

from samurai_env.core.bits import has, lowest, popcount
from samurai_env.core.jit import jit
from samurai_env.games.board.actions import END, IDLE, LAND0, SEA0, SPOT0
from samurai_env.games.board.rules.kernels import NONE, first_spots, idle_exchange, playable
from samurai_env.games.board.rules.setup import open_settlements, pickable
from samurai_env.games.board.rules.tiles import FIGURE_EXCHANGE, KINDS, SHIPS, STRENGTH, TOKEN_EXCHANGE
from samurai_env.games.board.rules.topology import DATA, LAND_BESIDE, SEA_BESIDE, SETTLEMENT_LAND
from samurai_env.games.board.state import FIGURE_FIRST, FIGURE_SECOND, FIRST_HAND, LAND, SEA, SETUP, TILE, TOKEN_FROM

# Parameters, by position: LEAN + e and SLOPE + e give the prospect 2 * sigmoid(lean + slope * lead) - 1
# with e = 1 .. 6 empty hexes after the move; PRICE + kind is what a tile of that kind is worth in the hand.
LEAN, SLOPE, PRICE = 0, 7, 14
OPEN, DECIDED, CLOSE, NEAR_END = PRICE + KINDS, PRICE + KINDS + 1, PRICE + KINDS + 2, PRICE + KINDS + 3
PARAMETERS = NEAR_END + 1
NEVER = -1e9

WEIGHTS = np.array(json.loads((DATA / "advice.json").read_text(encoding="utf-8"))["weights"], np.float64)


@jit
def prospect(empty, lead, w):
    """How surely a figure falls to the seat with this lead (over the best other), from -1 to 1."""
    if empty == 0:
        return np.float64(lead > 0) - np.float64(lead < 0)
    return 2.0 / (1.0 + np.exp(-w[LEAN + empty] - w[SLOPE + empty] * lead)) - 1.0


@jit
def worth(state, seat, figure, w):
    """How much one more figure of this kind matters to `seat`."""
    left = np.float64(popcount(state.figures[figure]) + np.uint64(state.pool[figure]))
    mine = state.captured[seat, figure]
    best = 0
    for other in range(state.hand.shape[0]):
        if other != seat:
            best = max(best, state.captured[other, figure])
    if mine > best + left or best > mine + left:
        return w[DECIDED]
    return w[OPEN] + w[CLOSE] / (1.0 + abs(mine - best)) + w[NEAR_END] / (1.0 + left)


@jit
def lead_of(state, seat, settlement, figure):
    """Own influence less the best other's."""
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
def change(state, seat, settlement, kind, filled, sign, worths, w):
    """What a tile beside one settlement changes: `filled` land hexes fewer, its strength added or taken (`sign`)."""
    if settlement >= state.influence.shape[1]:
        return 0.0
    total = 0.0
    for figure in range(3):
        if has(state.figures[figure], settlement):
            lead = lead_of(state, seat, settlement, figure)
            empty = empty_around(state, settlement)
            after = prospect(empty - filled, lead + sign * STRENGTH[kind, figure], w)
            total += worths[figure] * (after - prospect(empty, lead, w))
    return total


@jit
def land_gain(state, seat, kind, land, worths, w):
    """What a tile on an empty land hex changes."""
    return change(state, seat, LAND_BESIDE[land, 0], kind, 1, 1, worths, w) + change(
        state, seat, LAND_BESIDE[land, 1], kind, 1, 1, worths, w
    )


@jit
def sea_gain(state, seat, kind, sea, worths, w):
    """What a ship on an empty sea hex changes."""
    return change(state, seat, SEA_BESIDE[sea, 0], kind, 0, 1, worths, w) + change(
        state, seat, SEA_BESIDE[sea, 1], kind, 0, 1, worths, w
    )


@jit
def best_land(state, seat, kind, worths, w):
    """The best that a tile of this kind can change on land."""
    best, free = NEVER, state.land_free
    while free != NONE:
        best = max(best, land_gain(state, seat, kind, np.int64(lowest(free)), worths, w))
        free &= free - np.uint64(1)
    return best


@jit
def best_sea(state, seat, kind, worths, w):
    """The best that a ship of this kind can change."""
    best = NEVER
    for sea in range(state.sea_tile.shape[0]):
        if state.sea_tile[sea] == 0:
            best = max(best, sea_gain(state, seat, kind, sea, worths, w))
    return best


@jit
def lift_gain(state, seat, land, worths, w):
    """What a token exchange from this hex changes where the tile is taken and where it goes."""
    kind = state.land_tile[land] - 1 - KINDS * seat
    taken = 0.0
    for i in range(2):
        taken += change(state, seat, LAND_BESIDE[land, i], kind, 0, -1, worths, w)
    return taken + best_land(state, seat, kind, worths, w)


@jit
def swap_gain(state, seat, figure, settlement, other, elsewhere, worths, w):
    """What it changes that `figure` on `settlement` and `other` on `elsewhere` change places."""
    here, there = empty_around(state, settlement), empty_around(state, elsewhere)
    one = prospect(there, lead_of(state, seat, elsewhere, figure), w)
    one -= prospect(here, lead_of(state, seat, settlement, figure), w)
    two = prospect(here, lead_of(state, seat, settlement, other), w)
    two -= prospect(there, lead_of(state, seat, elsewhere, other), w)
    return worths[figure] * one + worths[other] * two


@jit
def best_swap(state, seat, figure, settlement, worths, w):
    """The best partner's change for a figure that is exchanged."""
    best = NEVER
    for other in range(3):
        if other == figure or has(state.figures[other], settlement):
            continue
        places = state.figures[other] & ~state.figures[figure]
        while places != NONE:
            elsewhere = np.int64(lowest(places))
            places &= places - np.uint64(1)
            best = max(best, swap_gain(state, seat, figure, settlement, other, elsewhere, worths, w))
    return best


@jit
def tile_gain(state, seat, kind, worths, w):
    """The best that playing a tile of this kind can change."""
    if kind == FIGURE_EXCHANGE:
        best = 0.0 if idle_exchange(state) else NEVER
        for figure in range(3):
            places = first_spots(state, figure)
            while places != NONE:
                settlement = np.int64(lowest(places))
                places &= places - np.uint64(1)
                best = max(best, best_swap(state, seat, figure, settlement, worths, w))
        return best
    if kind == TOKEN_EXCHANGE:
        best, places = NEVER, state.movable[seat]
        while places != NONE:
            best = max(best, lift_gain(state, seat, np.int64(lowest(places)), worths, w))
            places &= places - np.uint64(1)
        return best
    if SHIPS >> np.uint32(kind) & np.uint32(1):
        return best_sea(state, seat, kind, worths, w)
    return best_land(state, seat, kind, worths, w)


@jit
def weighted_policy(state, scores, w):
    """`heuristic_policy` with given parameters (float64, shape (PARAMETERS,))."""
    n, seat, phase, towns = state.hand.shape[0], state.seat, state.phase, state.influence.shape[1]
    worths = (worth(state, seat, 0, w), worth(state, seat, 1, w), worth(state, seat, 2, w))
    scores[:] = NEVER
    if phase == TILE:
        kinds = playable(state, seat)
        for kind in range(KINDS):
            if kinds >> np.uint32(kind) & np.uint32(1):
                scores[kind] = tile_gain(state, seat, kind, worths, w) - w[PRICE + kind]
        if state.may_end:
            scores[END] = 0.0
    elif phase == LAND:
        for land in range(state.land_tile.shape[0]):
            if state.land_tile[land] == 0:
                scores[LAND0 + land] = land_gain(state, seat, state.tile, land, worths, w)
    elif phase == SEA:
        for sea in range(state.sea_tile.shape[0]):
            if state.sea_tile[sea] == 0:
                scores[SEA0[n] + sea] = sea_gain(state, seat, state.tile, sea, worths, w)
    elif phase == TOKEN_FROM:
        for land in range(state.land_tile.shape[0]):
            if has(state.movable[seat], land):
                scores[LAND0 + land] = lift_gain(state, seat, land, worths, w)
    elif phase == FIGURE_FIRST:
        if idle_exchange(state):
            scores[IDLE] = 0.0
        for figure in range(3):
            places = first_spots(state, figure)
            while places != NONE:
                settlement = np.int64(lowest(places))
                places &= places - np.uint64(1)
                spot = SPOT0[n] + figure * (towns - 1) + settlement - 1
                scores[spot] = best_swap(state, seat, figure, settlement, worths, w)
    elif phase == FIGURE_SECOND:
        figure, settlement = state.from_spot // (towns - 1), state.from_spot % (towns - 1) + 1
        for other in range(3):
            if other == figure or has(state.figures[other], settlement):
                continue
            places = state.figures[other] & ~state.figures[figure]
            while places != NONE:
                elsewhere = np.int64(lowest(places))
                places &= places - np.uint64(1)
                spot = SPOT0[n] + other * (towns - 1) + elsewhere - 1
                scores[spot] = swap_gain(state, seat, figure, settlement, other, elsewhere, worths, w)
    elif phase == FIRST_HAND:
        kinds_left = pickable(state)
        for kind in range(KINDS):
            if has(kinds_left, kind):
                scores[kind] = w[PRICE + kind] - state.hand[seat, kind]
    elif phase == SETUP:
        for figure in range(3):
            places = open_settlements(state, figure)
            while places != NONE:
                scores[SPOT0[n] + figure * (towns - 1) + np.int64(lowest(places)) - 1] = 0.0
                places &= places - np.uint64(1)
    else:  # where a token exchange puts the tile: it has left its hex by then
        kind = state.land_tile[state.from_land] - 1 - KINDS * seat
        for land in range(state.land_tile.shape[0]):
            if state.land_tile[land] == 0:
                scores[LAND0 + land] = land_gain(state, seat, kind, land, worths, w)


@jit
def heuristic_policy(state, scores):
    """Score every legal action of the seat to move (float64, one an action id; illegal ones very low)."""
    weighted_policy(state, scores, WEIGHTS)
