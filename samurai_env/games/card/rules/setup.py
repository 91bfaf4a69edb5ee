"""Everything before the first turn ("Set-up"): shuffling and the first hands."""

import numpy as np

from samurai_env.core.jit import jit
from samurai_env.core.rng import below, shuffle
from samurai_env.games.card.rules.cards import HAND, KINDS
from samurai_env.games.card.state import CARD


@jit
def clear(state, seed):
    """An empty table; the settings stay as they are."""
    state.seed = seed
    state.rng[0] = seed
    if state.first_drawn:
        state.first_seat = below(state.rng, state.hand.shape[0])
    state.steps = 0
    state.seat = state.first_seat
    state.over = 0
    state.free[:] = 0
    state.kinds[:] = 0
    state.laid = -1
    state.villages = 0
    state.village_x[:] = 0
    state.village_y[:] = 0
    state.side[:] = 0
    state.hand[:] = 0
    state.drawn[:] = 0
    state.stones[:] = 0
    state.phase = CARD
    state.card = -1
    state.waiting = 0
    state.winners = 0


@jit
def fill(row, counts, first):
    """Fill a row with `counts[i]` times the number `first + i`, never beyond its end."""
    filled = 0
    for i in range(counts.shape[0]):
        for _ in range(min(counts[i], row.shape[0] - filled)):
            row[filled] = first + i
            filled += 1


@jit
def shuffle_stacks(state):
    """Shuffle the village cards and each player's cards, and draw the first hands."""
    fill(state.village_stack, state.village_copies, 1)
    shuffle(state.rng, state.village_stack)
    for seat in range(state.hand.shape[0]):
        for kind in range(KINDS):
            state.unseen[seat, kind] = state.copies[kind]
        fill(state.stack[seat], state.copies, 0)
        shuffle(state.rng, state.stack[seat])
        for _ in range(HAND):
            draw_card(state, seat)


@jit
def draw_card(state, seat):
    """Move the top card of a player's stack to the hand, if there is one."""
    drawn = state.drawn[seat]
    if drawn < state.stack.shape[1]:
        kind = state.stack[seat, drawn]
        state.stack[seat, drawn] = -1
        state.drawn[seat] = drawn + 1
        state.hand[seat, kind] += 1
        state.kinds[seat] |= np.uint32(1) << np.uint32(kind)


@jit
def hand_size(state, seat):
    """Number of cards in a hand."""
    held = 0
    for kind in range(KINDS):
        held += state.hand[seat, kind]
    return held
