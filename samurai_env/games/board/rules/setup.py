"""Everything before the first turn ("Set-up"): shuffling, first hands, placing the figures."""

import numpy as np

from samurai_env.core.bits import EMPTY, bit, has, lowest, popcount
from samurai_env.core.jit import inlined, jit, scratch
from samurai_env.core.rng import below, shuffle
from samurai_env.games.board.rules.tiles import ALL_TILES, COPIES, HAND, KINDS, TILES
from samurai_env.games.board.rules.topology import ALL_LAND, ALL_SEA, CITIES, EDO, FIGURES_EACH, VILLAGES
from samurai_env.games.board.state import FIRST_HAND, SETUP, TILE

RANDOM_HAND = 1  # index into FIRST_HANDS
ALTERNATE, RANDOM_FIGURES = 0, 2  # indices into FIGURE_SETUPS


@jit
def clear(state, seed):
    """An empty board, all figures in the pool; options stay as they are."""
    n = state.hand.shape[0]
    state.seed = seed
    state.rng[0] = seed
    if state.first_drawn:
        state.first_seat = below(state.rng, n)
    state.steps = 0
    state.seat = state.first_seat
    state.over = 0
    state.land_free = ALL_LAND[n]
    for word in range(state.sea_free.shape[0]):
        state.sea_free[word] = ALL_SEA[n, word]
    state.movable[:] = 0
    state.surrounded = EMPTY
    state.kinds[:] = 0
    state.land_tile[:] = 0
    state.sea_tile[:] = 0
    state.influence[:] = 0
    state.land_strength[:] = 0
    state.hand[:] = 0
    state.hand_size[:] = 0
    state.supply_size[:] = TILES
    state.drawn[:] = 0
    state.captured[:] = 0
    state.aside[:] = 0
    state.tile = -1
    state.from_land = -1
    state.from_spot = -1
    state.plain_played = 0
    state.may_end = 0
    state.winners = 0
    state.figures[:] = EMPTY
    state.pool[:] = FIGURES_EACH[n]


@jit
def deal_tiles(state):
    """Hand out the tiles: first hands and shuffled supplies if the option says so; else the first seat may choose."""
    for seat in range(state.hand.shape[0]):
        for kind in range(KINDS):
            state.unseen[seat, kind] = COPIES[kind]
        for i in range(TILES):
            state.supply[seat, i] = ALL_TILES[i]
        if state.first_hand == RANDOM_HAND:
            shuffle(state.rng, state.supply[seat])
            for i in range(HAND):
                give(state, seat, state.supply[seat, i])
            state.drawn[seat] = HAND
    if state.first_hand == RANDOM_HAND:
        after_hands(state)
    else:
        state.phase = FIRST_HAND


@inlined
def give(state, seat, kind):
    """Move a tile from a supply to its owner's hand."""
    state.hand[seat, kind] += 1
    state.hand_size[seat] += 1
    state.supply_size[seat] -= 1
    state.kinds[seat] |= np.uint32(1) << np.uint32(kind)


@jit
def after_hands(state):
    """All hands are complete: only now Edo gets its figures (Ruling); place the others, or let the seats place them."""
    state.seat = state.first_seat
    for figure in range(3):
        state.figures[figure] = bit(EDO)
        state.pool[figure] -= 1
    if state.figure_setup == RANDOM_FIGURES:
        place_figures_at_random(state)
        state.phase = TILE
    else:
        state.phase = SETUP


# --- The first hand ---


@inlined
def pickable(state):
    """Bit set of the kinds of which the seat to move has a tile that it has not yet picked."""
    kinds = EMPTY
    for kind in range(KINDS):
        if state.hand[state.seat, kind] < state.unseen[state.seat, kind]:
            kinds |= bit(kind)
    return kinds


@jit
def pick_tile(state, kind):
    """Add one of the five tiles of the first hand."""
    seat = state.seat
    give(state, seat, kind)
    if state.hand_size[seat] == HAND:
        shuffle_rest(state, seat)
        state.seat = (seat + 1) % state.hand.shape[0]
        if state.seat == state.first_seat:
            after_hands(state)


@jit
def shuffle_rest(state, seat):
    """Shuffle the fifteen tiles that a complete first hand leaves into the supply."""
    write = HAND
    for kind in range(KINDS):
        for _ in range(state.unseen[seat, kind] - state.hand[seat, kind]):
            state.supply[seat, write] = kind
            write += 1
    shuffle(state.rng, state.supply[seat, HAND:])
    state.drawn[seat] = HAND


# --- The figures ---


@inlined
def open_settlements(state, figure):
    """Bit set of the settlements on which the seat to move may put `figure`."""
    n = state.hand.shape[0]
    if state.pool[figure] == 0:
        return EMPTY
    helmet, buddha, rice = state.figures[0], state.figures[1], state.figures[2]
    full = (helmet & buddha) | (helmet & rice) | (buddha & rice)
    cities = CITIES[n] & ~full
    villages = VILLAGES[n] & ~(helmet | buddha | rice)
    if state.figure_setup == ALTERNATE:  # cities first; there the pool can always be placed (Ruling)
        return cities & ~state.figures[figure] if cities != EMPTY else villages
    open_ = EMPTY
    rest = cities & ~state.figures[figure]
    while rest != EMPTY:
        city = rest & (~rest + np.uint64(1))
        rest ^= city
        if can_finish(state, figure, city):
            open_ |= city
    if villages != EMPTY and can_finish(state, figure, villages & (~villages + np.uint64(1))):
        open_ |= villages
    return open_


@inlined
def can_finish(state, figure, place):
    """Whether the pool can still be placed legally after `figure` is put on the settlement with bit `place`.

    Hall's condition: every set of kinds must have room for its figures, a city taking one of a kind.
    """
    n = state.hand.shape[0]
    state.figures[figure] |= place
    state.pool[figure] -= 1
    empty_villages = np.int64(popcount(VILLAGES[n] & ~(state.figures[0] | state.figures[1] | state.figures[2])))
    fits = True
    for kinds in range(1, 8):
        need, room = 0, empty_villages
        for k in range(3):
            if kinds >> k & 1:
                need += state.pool[k]
        cities = CITIES[n]
        while cities != EMPTY:
            city = np.int64(lowest(cities))
            cities &= cities - np.uint64(1)
            holds, lacking = 0, 0
            for k in range(3):
                if has(state.figures[k], city):
                    holds += 1
                elif kinds >> k & 1:
                    lacking += 1
            room += min(2 - holds, lacking)
        if need > room:
            fits = False
    state.figures[figure] &= ~place
    state.pool[figure] += 1
    return fits


@jit
def place_figure(state, spot):
    """Put a figure from the pool on a settlement; the next seat goes on."""
    n, towns = state.hand.shape[0], state.influence.shape[1]
    figure = spot // (towns - 1)
    state.figures[figure] |= bit(spot % (towns - 1) + 1)
    state.pool[figure] -= 1
    if state.pool[0] + state.pool[1] + state.pool[2] == 0:
        state.phase = TILE
    else:
        state.seat = (state.seat + 1) % n


@jit
def place_figures_at_random(state):
    """Draw one of all legal set-ups, each equally likely.

    The pool in random order is laid on city, city, ..., village, ...; orders that put two of a kind on a
    city are drawn again. Every legal set-up comes from equally many orders.
    """
    n = state.hand.shape[0]
    cities, villages = CITIES[n], VILLAGES[n]
    slots = 2 * np.int64(popcount(cities))
    size = slots + np.int64(popcount(villages))
    bag = scratch(36, np.int8)
    filled = 0
    for figure in range(3):
        for _ in range(state.pool[figure]):
            bag[filled] = figure
            filled += 1
        state.pool[figure] = 0
    legal = False
    while not legal:
        legal = True
        for i in range(slots):
            j = i + below(state.rng, size - i)
            bag[i], bag[j] = bag[j], bag[i]
            if i & 1 and bag[i] == bag[i - 1]:
                legal = False
                break
    for i in range(slots, size - 1):
        j = i + below(state.rng, size - i)
        bag[i], bag[j] = bag[j], bag[i]
    for i in range(size):
        if i < slots:
            place = np.int64(lowest(cities))
            if i & 1:
                cities &= cities - np.uint64(1)
        else:
            place = np.int64(lowest(villages))
            villages &= villages - np.uint64(1)
        state.figures[bag[i]] |= bit(place)
