"""The rules of Samurai Spirit, compiled: how decisions and all that happens by itself follow one another.

Paragraph names refer to docs/games/spirit.md. The subjects are in files of their own: `turn`, `penalties` (step A),
`fight`, `kiai`, `round_end`, `village`, `setup`. Every function takes one state (`state`, see `state.py`) and changes
it in place. What is open is offered as a set of actions; a set of one is carried out without asking.
"""

import numpy as np

from samurai_env.core.bits import EMPTY, lowest
from samurai_env.core.jit import jit
from samurai_env.games.spirit.rules import kiai, round_end, setup, turn
from samurai_env.games.spirit.rules.cards import MOST, NOTHING
from samurai_env.games.spirit.rules.village import end_game
from samurai_env.games.spirit.state import HATS, OFFER, SUPPORT_TO, TRUNCATED, WON

# A game of n samurai is cut off after MAX_STEPS[n] decisions: far more than any ordinary game takes.
MAX_STEPS = np.array([0] + [500 + 500 * n for n in range(1, MOST + 1)], np.int64)


@jit
def legal(state, words):
    """Write the legal actions as bits into `words` (uint64, enough words for all action ids); none once over."""
    words[:] = EMPTY
    words[0] = state.choices


@jit
def answer(state, action):
    """Carry out a decision, asked or forced."""
    if state.phase >= OFFER:
        kiai.answer(state, action)
    else:
        turn.answer(state, action)


@jit
def run_to_decision(state):
    """Let everything happen up to the next real decision, or to the end of the game."""
    while not state.over:
        if state.card != NOTHING:
            state.moved = state.card
        if state.choices != EMPTY:  # a question that the last answer has led to
            pass
        elif state.nested > 0:
            kiai.advance(state)
        elif state.stage < HATS:
            turn.advance(state)
        else:
            round_end.advance(state)
        choices = state.choices
        if choices != EMPTY:
            if choices & (choices - np.uint64(1)) != EMPTY:
                return
            state.choices = EMPTY
            answer(state, lowest(choices))


@jit
def step(state, action):
    """Carry out one legal action of the seat to move."""
    state.steps += 1
    seat = state.seat
    state.mover = seat
    state.moved = state.card
    state.choices = EMPTY
    answer(state, action)
    run_to_decision(state)
    state.half_made = 0
    if not state.over:
        phase = state.phase
        state.half_made = state.seat == seat and (phase > OFFER or phase == SUPPORT_TO)
        if state.steps >= MAX_STEPS[state.players]:
            end_game(state, TRUNCATED)


@jit
def reset(state, seed):
    """Start the game of `seed` in a state whose options are set; everything else is overwritten."""
    setup.clear(state, seed)
    setup.seat_samurai(state)
    setup.first_raiders(state)
    turn.start(state, state.first_seat)
    run_to_decision(state)


@jit
def returns(state, out):
    """Write the return of all seats (float64): 1 each for a victory, 0 otherwise and while the game runs."""
    for seat in range(state.players):
        out[seat] = 1.0 if state.result == WON else 0.0


@jit
def mid_move(state):
    """Whether the seat to move is in the middle of what it has begun with the decision before."""
    return state.half_made != 0


@jit
def cut_off(state):
    """Whether the game was cut off after `MAX_STEPS` decisions."""
    return state.result == TRUNCATED
