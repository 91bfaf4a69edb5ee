"""Determinization: draw all that a seat cannot know ("Hidden information")."""

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.rng import SEED_BITS, below, draw, shuffle
from samurai_env.games.board.rules.kernels import NO_KIND, playable
from samurai_env.games.board.rules.tiles import KINDS
from samurai_env.games.board.state import FIRST_HAND, TILE
from samurai_env.games.hands import UNIFORM, shuffle_hand


@jit
def determinize(state, seat, rng):
    """Replace what `seat` cannot know by a uniformly random alternative, in place.

    Hands and supplies are dealt again from each player's unseen tiles (own supply: order only), and the
    game's random stream is replaced. With `hide_captures` the others' captured figures are dealt again too, while the
    game runs: at its end the screens are removed.

    Args:
        state: a game.
        seat: the seat whose knowledge is kept.
        rng: uint64 array (1,), the stream to draw from; not the game's own.
    """
    determinize_by_odds(state, seat, UNIFORM, rng)


@jit
def determinize_by_odds(state, seat, odds, rng):
    """As `determinize`, with the others' hands dealt by `odds`, float64 (players, kinds), see `games.hands`."""
    state.rng[0] = draw(rng)
    state.seed = state.rng[0] & SEED_BITS
    for other in range(state.hand.shape[0]):
        if other == seat:
            order_supply(state, seat, rng)
        else:
            deal(state, other, odds[other], rng)
            # A seat that is choosing a tile holds one that it can play: that much has been seen.
            while other == state.seat and state.phase == TILE and not state.over and playable(state, other) == NO_KIND:
                deal(state, other, odds[other], rng)
        state.supply[other, : state.drawn[other]] = 0  # what lies there is what was drawn in truth
    if state.hide_captures and state.hand.shape[0] > 2 and not state.over:
        deal_captures(state, seat, rng)


@jit
def deal(state, seat, odds, rng):
    """Split a player's unseen tiles at random into a hand and a supply of the present sizes."""
    held = state.hand_size[seat]
    state.hand[seat] = 0
    state.kinds[seat] = NO_KIND
    row = state.supply[seat, 0 if picking(state, seat) else state.drawn[seat] - held :]
    fill(state, seat, row)
    shuffle_hand(row, held, odds, rng)
    for i in range(held):
        state.hand[seat, row[i]] += 1
        state.kinds[seat] |= np.uint32(1) << np.uint32(row[i])
    if picking(state, seat):
        fill(state, seat, row)  # the supply has no order yet


@jit
def order_supply(state, seat, rng):
    """Put the own supply into a random order, whatever order it has."""
    if picking(state, seat):
        return
    row = state.supply[seat, state.drawn[seat] :]
    for kind in range(KINDS):
        state.unseen[seat, kind] -= state.hand[seat, kind]
    fill(state, seat, row)
    for kind in range(KINDS):
        state.unseen[seat, kind] += state.hand[seat, kind]
    shuffle(rng, row)


@jit
def picking(state, seat):
    """Whether the seat's first hand is not complete: only then its supply is shuffled."""
    return state.phase == FIRST_HAND and state.drawn[seat] == 0


@jit
def fill(state, seat, row):
    """Write a player's unseen tiles into a row, by kind: what is drawn from it must not depend on what was hidden."""
    filled = 0
    for kind in range(KINDS):
        for _ in range(state.unseen[seat, kind]):
            row[filled] = kind
            filled += 1


@jit
def deal_captures(state, seat, rng):
    """Share out the figures that the others have captured among them at random."""
    n = state.hand.shape[0]
    for figure in range(3):
        taken = 0
        for other in range(n):
            if other != seat:
                taken += state.captured[other, figure]
                state.captured[other, figure] = 0
        for _ in range(taken):
            other = (seat + 1 + below(rng, n - 1)) % n
            state.captured[other, figure] += 1
