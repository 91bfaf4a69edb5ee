"""Determinization: draw all that a seat cannot know ("Hidden information")."""

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.rng import SEED_BITS, below, draw, shuffle
from samurai_env.games.card.rules.setup import draw_card, fill, hand_size
from samurai_env.games.card.state import CELL, VILLAGE
from samurai_env.games.hands import UNIFORM, shuffle_hand


@jit
def determinize(state, seat, rng):
    """Replace what `seat` cannot know by a uniformly random alternative, in place.

    Hands and stacks are dealt again from each player's unseen cards (own stack: order only), so is a card that
    another seat has chosen and not yet laid; the village cards below the visible ones are shuffled, and the game's
    random stream is replaced.

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
    visible = 2 if state.phase == VILLAGE else 1
    reshuffle(rng, state.village_stack[state.villages + visible :], 1 + state.village_copies.shape[0])
    for other in range(state.hand.shape[0]):
        if other == seat:
            reshuffle(rng, state.stack[seat, state.drawn[seat] :], state.hand.shape[1])
        else:
            deal(state, other, odds[other], rng)
    if state.phase == CELL and state.seat != seat:
        state.card = any_card(state, state.seat, rng)


@jit
def reshuffle(rng, row, kinds):
    """Shuffle a row of numbers below `kinds`, sorted first: the result must not depend on what was hidden."""
    sorted_up_to = 0
    for kind in range(kinds):
        for i in range(sorted_up_to, row.shape[0]):
            if row[i] == kind:
                row[i], row[sorted_up_to] = row[sorted_up_to], row[i]
                sorted_up_to += 1
    shuffle(rng, row)


@jit
def deal(state, seat, odds, rng):
    """Split a player's unseen cards at random into a hand and a stack of the present sizes."""
    held = hand_size(state, seat)
    state.drawn[seat] -= held
    row = state.stack[seat, state.drawn[seat] :]
    fill(row, state.unseen[seat], 0)
    shuffle_hand(row, held, odds, rng)
    state.hand[seat] = 0
    state.kinds[seat] = np.uint32(0)
    for _ in range(held):
        draw_card(state, seat)


@jit
def any_card(state, seat, rng):
    """The kind of a random card of a hand."""
    rest = below(rng, hand_size(state, seat))
    for kind in range(state.hand.shape[1]):
        rest -= state.hand[seat, kind]
        if rest < 0:
            return kind
    return -1  # an empty hand: not a legal call
