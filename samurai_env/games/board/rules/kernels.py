"""The rules of Samurai, compiled: what is legal, what a decision does, when the game ends.

Paragraph names refer to docs/games/board_game.md. The set-up is in `setup`, who wins in `scoring`.
Every function takes one state (`state`, see `state.py`) and changes it in place.
"""

import numpy as np

from samurai_env.core.bits import EMPTY, bit, has, lowest, popcount, put
from samurai_env.core.jit import inlined, jit
from samurai_env.core.payoffs import pay
from samurai_env.games.board.actions import END, IDLE, LAND0, SEA0, SPOT0
from samurai_env.games.board.rules import setup
from samurai_env.games.board.rules.scoring import winners
from samurai_env.games.board.rules.tiles import (
    EXCHANGES,
    FIGURE_EXCHANGE,
    HAND,
    KINDS,
    MOVABLE,
    ON_LAND,
    QUICK,
    SHIPS,
    STRENGTH,
    TILES,
    TOKEN_EXCHANGE,
)
from samurai_env.games.board.rules.topology import LAND_BESIDE, SEA_BESIDE, SETTLEMENT_LAND
from samurai_env.games.board.state import (
    FIGURE_FIRST,
    FIGURE_SECOND,
    FIRST_HAND,
    LAND,
    SEA,
    TILE,
    TOKEN_FROM,
    TOKEN_TO,
)

NO_KIND = np.uint32(0)
ONE_KIND = np.uint32(1)
TOKEN_EXCHANGE_BIT = np.uint32(1 << TOKEN_EXCHANGE)
FIGURE_EXCHANGE_BIT = np.uint32(1 << FIGURE_EXCHANGE)
EDITION_1998 = 0
AT_ONCE = 1  # index into ENDINGS


# --- What is legal ---


@inlined
def occupied(state):
    """Bit set of the settlements that hold a figure."""
    return state.figures[0] | state.figures[1] | state.figures[2]


@inlined
def two_or_more(state):
    """Bit set of the settlements that hold at least two (hence different) figures."""
    helmet, buddha, rice = state.figures[0], state.figures[1], state.figures[2]
    return (helmet & buddha) | (helmet & rice) | (buddha & rice)


@inlined
def playable(state, seat):
    """Bit set of the kinds of tile that `seat` could play now ("A turn"). Sea is never full."""
    kinds = state.kinds[seat]
    if state.plain_played:
        kinds &= QUICK
    if state.land_free == EMPTY:
        kinds &= ~ON_LAND
    if state.movable[seat] == EMPTY:
        kinds &= ~TOKEN_EXCHANGE_BIT
    if kinds & FIGURE_EXCHANGE_BIT != NO_KIND:
        # Any two figures admit an exchange: equal ones or two of one settlement an idle one.
        on_board = popcount(state.figures[0]) + popcount(state.figures[1]) + popcount(state.figures[2])
        if on_board < np.uint64(2):
            kinds &= ~FIGURE_EXCHANGE_BIT
    return kinds


@inlined
def first_spots(state, figure):
    """Settlements whose `figure` can change places with a different figure elsewhere ("Figure exchange")."""
    here = state.figures[figure]
    spots = EMPTY
    for other in range(3):
        there = state.figures[other]
        if there & ~here != EMPTY:
            spots |= here & ~there
    return spots


@inlined
def idle_exchange(state):
    """Whether two figures can be exchanged so that nothing changes."""
    if two_or_more(state) != EMPTY:
        return True
    for figure in range(3):
        if popcount(state.figures[figure]) >= np.uint64(2):
            return True
    return False


@inlined
def put_spots(words, state, figure, settlements):
    """Add the action ids of `figure` on each of a set of settlements (never Edo)."""
    n, towns = state.hand.shape[0], state.influence.shape[1]
    put(words, SPOT0[n] + figure * (towns - 1), settlements >> np.uint64(1))


@inlined
def legal(state, words):
    """Write the legal actions as bits into `words` (uint64, enough words for all action ids); none once over."""
    words[:] = EMPTY
    if state.over:
        return
    n, seat, phase = state.hand.shape[0], state.seat, state.phase
    if phase == TILE:
        words[0] = np.uint64(playable(state, seat))
        if state.may_end:
            words[0] |= bit(END)
    elif phase == LAND or phase == TOKEN_TO:
        put(words, LAND0, state.land_free)
    elif phase == SEA:
        put(words, SEA0[n], state.sea_free[0])
        if state.sea_free[1] != EMPTY:
            put(words, SEA0[n] + 64, state.sea_free[1])
    elif phase == TOKEN_FROM:
        put(words, LAND0, state.movable[seat])
    elif phase == FIGURE_FIRST:
        for figure in range(3):
            put_spots(words, state, figure, first_spots(state, figure))
        if idle_exchange(state):
            words[0] |= bit(IDLE)
    elif phase == FIGURE_SECOND:
        towns = state.influence.shape[1]
        figure, settlement = state.from_spot // (towns - 1), state.from_spot % (towns - 1) + 1
        for other in range(3):
            if other != figure and not has(state.figures[other], settlement):
                put_spots(words, state, other, state.figures[other] & ~state.figures[figure])
    elif phase == FIRST_HAND:
        words[0] = setup.pickable(state)
    else:
        for figure in range(3):
            put_spots(words, state, figure, setup.open_settlements(state, figure))


# --- What a decision does ---


@jit
def step(state, action):
    """Carry out one legal action of the seat to move."""
    state.steps += 1
    n, phase = state.hand.shape[0], state.phase
    if phase == TILE:
        if action == END:
            end_turn(state)
        else:
            choose_tile(state, action)
    elif phase == LAND:
        land = action - LAND0
        place_on_land(state, state.seat, state.tile, land)
        tile_played(state)
    elif phase == SEA:
        place_on_sea(state, action - SEA0[n])
        tile_played(state)
    elif phase == TOKEN_FROM:
        state.from_land = action - LAND0
        state.phase = TOKEN_TO
    elif phase == TOKEN_TO:
        exchange_token(state, action - LAND0)
        tile_played(state)
    elif phase == FIGURE_FIRST:
        if action == IDLE:
            figures_exchanged(state)
        else:
            state.from_spot = action - SPOT0[n]
            state.phase = FIGURE_SECOND
    elif phase == FIGURE_SECOND:
        exchange_figures(state, state.from_spot, action - SPOT0[n])
        figures_exchanged(state)
    elif phase == FIRST_HAND:
        setup.pick_tile(state, action)
        if state.phase == TILE:
            start_turn(state, state.first_seat)
    else:
        setup.place_figure(state, action - SPOT0[n])
        if state.phase == TILE:
            start_turn(state, state.first_seat)


@inlined
def choose_tile(state, kind):
    """Take the chosen tile out of the hand; from now on everybody sees it."""
    seat = state.seat
    state.hand[seat, kind] -= 1
    state.hand_size[seat] -= 1
    state.unseen[seat, kind] -= 1
    kind_bit = ONE_KIND << np.uint32(kind)
    if state.hand[seat, kind] == 0:
        state.kinds[seat] &= ~kind_bit
    if kind_bit & QUICK == NO_KIND:
        state.plain_played = 1
    state.tile = kind
    if kind_bit & EXCHANGES == NO_KIND:
        state.phase = SEA if kind_bit & SHIPS != NO_KIND else LAND
    else:
        state.phase = TOKEN_FROM if kind == TOKEN_EXCHANGE else FIGURE_FIRST


@inlined
def add_influence(state, seat, kind, settlement, sign):
    """Add a tile's strength to (sign 1) or take it from (sign -1) its owner's influence on a settlement."""
    if settlement < state.influence.shape[1]:
        for figure in range(3):
            state.influence[seat, settlement, figure] += sign * STRENGTH[kind, figure]


@inlined
def lay(state, seat, kind, land):
    """Let a tile lie on a land hex, in the place of what lay there."""
    state.land_tile[land] = 1 + KINDS * seat + kind
    for figure in range(3):
        state.land_strength[land, figure] = STRENGTH[kind, figure]


@inlined
def place_on_land(state, seat, kind, land):
    """Put a tile on an empty land hex and note which settlements that surrounds."""
    lay(state, seat, kind, land)
    state.land_free &= ~bit(land)
    if (ONE_KIND << np.uint32(kind)) & MOVABLE[state.token_exchange] != NO_KIND:
        state.movable[seat] |= bit(land)
    for i in range(2):
        settlement = LAND_BESIDE[land, i]
        add_influence(state, seat, kind, settlement, 1)
        if SETTLEMENT_LAND[settlement] & state.land_free == EMPTY:
            state.surrounded |= bit(settlement) & occupied(state)


@inlined
def place_on_sea(state, sea):
    """Put the chosen ship on an empty sea hex."""
    state.sea_tile[sea] = 1 + KINDS * state.seat + state.tile
    state.sea_free[sea >> 6] &= ~bit(sea & 63)
    for i in range(2):
        add_influence(state, state.seat, state.tile, SEA_BESIDE[sea, i], 1)


@jit
def exchange_token(state, to_land):
    """Put the token exchange in the place of an own tile and that tile on another hex ("Token exchange")."""
    seat, from_land = state.seat, state.from_land
    moved = state.land_tile[from_land] - 1 - KINDS * seat
    for i in range(2):
        add_influence(state, seat, moved, LAND_BESIDE[from_land, i], -1)
    lay(state, seat, TOKEN_EXCHANGE, from_land)
    state.movable[seat] &= ~bit(from_land)
    place_on_land(state, seat, moved, to_land)


@inlined
def exchange_figures(state, first, second):
    """Let the figures on two spots change places ("Figure exchange")."""
    towns = state.influence.shape[1]
    both = bit(first % (towns - 1) + 1) | bit(second % (towns - 1) + 1)
    state.figures[first // (towns - 1)] ^= both
    state.figures[second // (towns - 1)] ^= both


@inlined
def tile_played(state):
    """After a tile (or the moved tile) lies: the compulsory tile is done."""
    state.may_end = 1
    continue_turn(state)


@inlined
def figures_exchanged(state):
    """After a figure exchange: in 1998 it is a turn by itself, in 2016 a tile must follow if one can."""
    if state.edition == EDITION_1998:
        state.may_end = 1
    continue_turn(state)


@jit
def continue_turn(state):
    """Capture at once (1998), then let the mover choose again, or end the turn if nothing can be played."""
    state.tile = -1
    state.from_land = -1
    state.from_spot = -1
    if state.edition == EDITION_1998 and state.surrounded != EMPTY:
        capture(state)
        if state.ending == AT_ONCE and end_reached(state):
            finish(state)
            return
    if playable(state, state.seat) == NO_KIND:
        end_turn(state)
    else:
        state.phase = TILE


@jit
def capture(state):
    """Take the figures off every surrounded settlement, each for itself ("Capture")."""
    n = state.hand.shape[0]
    while state.surrounded != EMPTY:
        settlement = np.int64(lowest(state.surrounded))
        here = bit(settlement)
        state.surrounded &= ~here
        for figure in range(3):
            if state.figures[figure] & here == EMPTY:
                continue
            state.figures[figure] &= ~here
            best, taker = state.influence[0, settlement, figure], 0
            for seat in range(1, n):
                strength = state.influence[seat, settlement, figure]
                if strength > best:
                    best, taker = strength, seat
                elif strength == best:
                    taker = -1
            if taker >= 0:
                state.captured[taker, figure] += 1
            else:
                state.aside[figure] += 1


@jit
def refill(state):
    """Draw back to a full hand, as far as the supply goes."""
    seat = state.seat
    while state.hand_size[seat] < HAND and state.drawn[seat] < TILES:
        setup.give(state, seat, state.supply[seat, state.drawn[seat]])
        state.drawn[seat] += 1


@inlined
def end_reached(state):
    """Whether a kind of figure has left the board, or four figures are set aside ("End of the game")."""
    tied = state.aside[0] + state.aside[1] + state.aside[2]
    return tied >= 4 or state.figures[0] == EMPTY or state.figures[1] == EMPTY or state.figures[2] == EMPTY


@jit
def end_turn(state):
    """Capture (2016), refill, see whether the game ends, and hand over the turn."""
    capture(state)
    refill(state)
    if end_reached(state):
        finish(state)
    else:
        start_turn(state, state.seat + 1)


@jit
def start_turn(state, seat):
    """Give the turn to the first seat from `seat` on that can play something; end the game if none can."""
    n = state.hand.shape[0]
    state.plain_played = 0
    state.may_end = 0
    state.phase = TILE
    for i in range(n):
        state.seat = (seat + i) % n
        if playable(state, state.seat) != NO_KIND:
            return
    finish(state)


@jit
def finish(state):
    """End the game and note who wins."""
    state.over = 1
    state.winners = winners(state.captured)


# --- Starting ---


@jit
def reset(state, seed):
    """Start the game of `seed` in a state whose option fields are set; everything else is overwritten."""
    setup.clear(state, seed)
    setup.deal_tiles(state)
    if state.phase == TILE:
        start_turn(state, state.first_seat)


@jit
def returns(state, out):
    """Write each seat's payoff (float64, n seats): zero-sum, +1 for a sole winner; all 0 while the game runs."""
    pay(state.winners if state.over else 0, state.hand.shape[0], out)
