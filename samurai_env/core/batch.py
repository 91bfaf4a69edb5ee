"""Loops over arrays of records, written once and bound to each game.

The functions below are templates: `step`, `legal`, ... are the game's functions, put in by `batch_kernels`.
Every array is indexed by game first. The index arguments keep a call from Python at half a microsecond.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from samurai_env.core import bits
from samurai_env.core.game import Game
from samurai_env.core.jit import bind
from samurai_env.core.rng import draw, next_seed
from samurai_env.core.spin_threads import keep_stepping

# Stand-ins, so that editors and linters know the names that `bind` replaces.
reset: Any = None
legal: Any = None
step: Any = None
returns: Any = None
potential: Any = None
determinize: Any = None
mid_move: Any = None
heuristic_policy: Any = None
observe: Any = None

SAME_STEP, NEXT_STEP, DISABLED = 0, 1, 2  # what a batch does with finished games
OVER, ILLEGAL = -1, -2  # what `act` says instead of a seat


def begin(states, seeds):
    """Reset each record with its seed (uint64)."""
    for i in range(states.shape[0]):
        reset(states[i], seeds[i])


def apply(states, index, action, words):
    """Carry out `action` in one game if it is legal; whether it was. `words` is scratch."""
    state = states[index]
    legal(state, words)
    if not bits.contains(words, action):
        return False
    step(state, action)
    return True


def act(states, action, words, mask, observation):
    """`apply` in the first game, then write what the seat to move needs: all of an environment's step in one call.

    Args:
        states: records.
        action: id of an action.
        words: uint64 scratch.
        mask: int8 (actions,), out: the legal actions after it.
        observation: int8, out: what the seat sees that decides next.

    Returns:
        The seat that decides next; OVER if the game has ended; ILLEGAL, with nothing changed, if the action is. In
        these two cases nothing is written.
    """
    state = states[0]
    legal(state, words)
    if not bits.contains(words, action):
        return ILLEGAL
    step(state, action)
    if state.over:
        return OVER
    write_outputs(state, mask, observation, words)
    return np.int64(state.seat)


def write_legal(states, index, words, mask):
    """Write one game's legal actions as int8 zeros and ones."""
    legal(states[index], words)
    bits.expand(words, mask)


def write_returns(states, index, out):
    """Write one game's returns."""
    returns(states[index], out)


def write_potential(states, index, out):
    """Write one game's shaped measure."""
    potential(states[index], out)


def write_observation(states, index, seat, out):
    """Write what `seat` sees in one game."""
    observe(states[index], seat, out)


def is_mid_move(states, index):
    """Whether one game stands in the middle of a move."""
    return mid_move(states[index])


def determinize_one(states, index, seat, rng):
    """Resample in one game all that `seat` cannot know."""
    determinize(states[index], seat, rng)


def copy_many(states, copies, amount):
    """Copy records over and over, going round the games; a measure of its speed."""
    for i in range(amount):
        copies[i % states.shape[0]] = states[i % states.shape[0]]


def determinize_many(states, seat, rng, amount):
    """`determinize_one` over and over, going round the games; a measure of its speed."""
    for i in range(amount):
        determinize(states[i % states.shape[0]], seat, rng)


def write_advice(states, index, scores):
    """Write the built-in player's scores of one game's actions."""
    heuristic_policy(states[index], scores)


def perft(states, depth, words):
    """Number of sequences of up to `depth` decisions from `states[0]` that have length `depth` or end the game.

    Supplies lie in the order of the record: a chance event is not a branch. `states` has `depth` rows
    of scratch after the first, `words` (uint64) has `depth` rows.
    """
    total, level = 0, 0
    legal(states[0], words[0])
    while level >= 0:
        action = -1
        for i in range(words.shape[1]):
            if words[level, i] != np.uint64(0):
                action = 64 * i + np.int64(bits.lowest(words[level, i]))
                words[level, i] &= words[level, i] - bits.ONE
                break
        if action < 0:
            level -= 1
            continue
        states[level + 1] = states[level]
        step(states[level + 1], action)
        if states[level + 1].over or level + 1 == depth:
            total += 1
        else:
            level += 1
            legal(states[level], words[level])
    return total


def play_random(states, rng, steps, words):
    """Make `steps` uniformly random decisions in every game, starting finished ones anew; number of games finished."""
    finished = 0
    for i in range(states.shape[0]):
        state = states[i]
        for _ in range(steps):
            legal(state, words)
            step(state, bits.pick(words, rng))
            if state.over:
                finished += 1
                reset(state, draw(rng))
    return finished


def first_illegal(states, actions, skip, words):
    """Index of the first game whose action is illegal, -1 if there is none; games with `skip` do not count."""
    for i in range(states.shape[0]):
        if not skip[i]:
            legal(states[i], words)
            if not bits.contains(words, actions[i]):
                return i
    return -1


def step_all(states, actions):
    """Carry out one legal action in every game."""
    for i in range(states.shape[0]):
        step(states[i], actions[i])


def list_legal(states, words):
    """Write every game's legal actions as a row of words."""
    for i in range(states.shape[0]):
        legal(states[i], words[i])


def batch_step(
    autoreset,
    shaped,
    states,
    actions,
    done,
    actors,
    own,
    rewards,
    payoffs,
    words,
    masks,
    observations,
    seats,
    ended,
    last,
    final,
):
    """Step every game and write all that a learner needs, each game while it is in the cache.

    Args:
        autoreset: SAME_STEP, NEXT_STEP or DISABLED.
        shaped: add the growth of `potential` to the rewards.
        states: records.
        actions: int64; must be legal (see `list_legal` and `bits.first_missing`).
        done: bool, in and out: the game is over; all False with SAME_STEP.
        actors: int8, out: the seat that decided.
        own: float32 (games,), out: what the step brought that seat.
        rewards: float32 (games, seats), out: what the step brought each seat.
        payoffs: float32 (games, seats), out: the returns of a game just ended, 0 elsewhere.
        words: uint64 (games, words), out: the legal actions as bits.
        masks: int8 (games, actions), out.
        observations: int8 (games, ...), out: of the seat that decides next.
        seats: int8, out: the seat that decides next.
        ended: bool, out: the game has just ended.
        last: records, out with SAME_STEP: the games just ended, as they stood at their end.
        final: int8 (games, ...), out with SAME_STEP: the last observation of these.

    Returns:
        How many games have just ended.
    """
    before, after, growth = np.zeros(rewards.shape[1]), np.zeros(rewards.shape[1]), np.zeros(rewards.shape[1])
    count = 0
    for i in range(states.shape[0]):
        state = states[i]
        actors[i] = state.seat
        ended[i] = False
        for seat in range(rewards.shape[1]):
            rewards[i, seat] = 0.0
            payoffs[i, seat] = 0.0
        if done[i]:
            if autoreset == NEXT_STEP:
                reset(state, next_seed(state.seed))
                done[i] = False
        else:
            if shaped:
                potential(state, before)
            step(state, actions[i])
            if shaped:
                potential(state, after)
                for seat in range(rewards.shape[1]):
                    growth[seat] = after[seat] - before[seat]
                    rewards[i, seat] = growth[seat]
            if state.over:
                count += 1
                ended[i] = True
                returns(state, after)
                for seat in range(rewards.shape[1]):
                    payoffs[i, seat] = after[seat]
                    rewards[i, seat] = growth[seat] + after[seat]  # rounded once
                if autoreset == SAME_STEP:
                    observe(state, state.seat, final[i])
                    last[i] = state
                    reset(state, next_seed(state.seed))
                else:
                    done[i] = True
        own[i] = rewards[i, actors[i]]
        write_outputs(state, masks[i], observations[i], words[i])
        seats[i] = state.seat
    return count


def write_outputs(state, mask, observation, words):
    """Mask and observation of the seat to move."""
    legal(state, words)
    bits.expand(words, mask)
    observe(state, state.seat, observation)


def batch_observe(states, masks, observations, seats, words):
    """Write masks, observations and seats of all games as they stand."""
    for i in range(states.shape[0]):
        write_outputs(states[i], masks[i], observations[i], words)
        seats[i] = states[i].seat


def batch_observe_all(states, out):
    """Write what every seat sees, the seat to move first: `out` is int8 (games, seats, ...)."""
    for i in range(states.shape[0]):
        for player in range(out.shape[1]):
            observe(states[i], (states[i].seat + player) % out.shape[1], out[i, player])


@dataclass(frozen=True)
class BatchKernels:
    """The loops bound to one game; those that observe are in `by_encoding`, by encoding."""

    begin: Any
    apply: Any
    write_legal: Any
    write_returns: Any
    write_potential: Any
    is_mid_move: Any
    determinize: Any
    determinize_many: Any
    copy_many: Any
    write_advice: Any
    perft: Any
    play_random: Any
    first_illegal: Any
    list_legal: Any
    step_all: Any
    by_encoding: dict[str, "ObservationKernels"]


@dataclass(frozen=True)
class ObservationKernels:
    """The loops bound to one game and one encoding."""

    write_observation: Any
    act: Any
    batch_step: Any
    keep_stepping: Any
    batch_observe: Any
    batch_observe_all: Any


@cache
def batch_kernels(game: Game) -> BatchKernels:
    """The loops of a game; numba compiles each for a number of players when it is first called."""
    c = game.kernels
    functions = {
        "reset": c.reset,
        "legal": c.legal,
        "step": c.step,
        "returns": c.returns,
        "potential": c.potential,
        "determinize": c.determinize,
        "mid_move": c.mid_move,
        "heuristic_policy": c.heuristic_policy,
    }

    def made(template: Any, **more: Any) -> Any:
        return bind(template, game.name, {**functions, **more})

    observing = {}
    for name, function in c.observe.items():
        owner, scope = f"{game.name}.{name}", {**functions, "observe": function}
        scope["write_outputs"] = bind(write_outputs, owner, scope, inline=True)
        batch = bind(batch_step, owner, scope)
        observing[name] = ObservationKernels(
            bind(write_observation, owner, scope),
            bind(act, owner, scope),
            batch,
            bind(keep_stepping, owner, {"batch_step": batch}),
            bind(batch_observe, owner, scope),
            bind(batch_observe_all, owner, scope),
        )
    return BatchKernels(
        made(begin),
        made(apply),
        made(write_legal),
        made(write_returns),
        made(write_potential),
        made(is_mid_move),
        made(determinize_one),
        made(determinize_many),
        made(copy_many),
        made(write_advice),
        made(perft),
        made(play_random),
        made(first_illegal),
        made(list_legal),
        made(step_all),
        observing,
    )
