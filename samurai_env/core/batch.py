"""Compiled functions over arrays of states, written once and bound to each game.

The functions below are templates: `step`, `legal`, ... are the game's kernels, bound by `batch_kernels`. Every array is
indexed by game first. Those with an index work on one game, since a call with a part of an array would cost a
microsecond. `samurai_env.game_batch` has the public interface.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from samurai_env.core import bits
from samurai_env.core.game import Game
from samurai_env.core.jit import bind, scratch
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
MOST_SEATS = 16  # as `seat` in the header of every state has it
OVER, ILLEGAL = -1, -2  # what `act` says instead of a seat


def reset_all(states, seeds):
    """Reset each state with its seed, uint64 (games,)."""
    for i in range(states.shape[0]):
        reset(states[i], seeds[i])


def apply(states, index, action, words):
    """Carry out `action` in one game if it is legal; whether it was. `words`, uint64 (words,), is scratch."""
    state = states[index]
    legal(state, words)
    if not bits.contains(words, action):
        return False
    step(state, action)
    return True


def act(states, action, words, mask, observation):
    """`apply` in the first game, then write what the seat to move needs: all of an environment's step in one call.

    Args:
        states: states (games,).
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
    """Write one game's legal actions into `mask`, int8 (actions,); `words`, uint64 (words,), is scratch."""
    legal(states[index], words)
    bits.expand(words, mask)


def write_returns(states, index, out):
    """Write one game's returns into `out`, float64 (seats,)."""
    returns(states[index], out)


def write_potential(states, index, out):
    """Write one game's potential into `out`, float64 (seats,)."""
    potential(states[index], out)


def write_observation(states, index, seat, out):
    """Write what `seat` sees in one game into `out`, int8 of the encoding's shape."""
    observe(states[index], seat, out)


def is_mid_move(states, index):
    """Whether one game is in the middle of a move."""
    return mid_move(states[index])


def determinize_one(states, index, seat, rng):
    """Determinize one game for `seat`; `rng` is uint64 (1,)."""
    determinize(states[index], seat, rng)


def write_policy(states, index, logits):
    """Write the heuristic policy's logits of one game's actions into `logits`, float64 (actions,)."""
    heuristic_policy(states[index], logits)


def perft(states, depth, words):
    """Number of sequences of up to `depth` decisions from `states[0]` that have length `depth` or end the game.

    Supplies lie in the order of the state: a chance event is not a branch. `states` has `depth` rows
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
    """Make `steps` uniformly random decisions in every game; a finished game is reset to a random seed.

    Args:
        states: states (games,), none of them over; changed in place.
        rng: uint64 (1,), the random stream, which moves on.
        steps: decisions in each game.
        words: uint64 (words,), scratch.

    Returns:
        How many games have ended.
    """
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
    """Find the first game whose action is illegal.

    Args:
        states: states (games,).
        actions: int64 (games,).
        skip: bool (games,): games that do not count.
        words: uint64 (words,), scratch.

    Returns:
        The game's index; -1 if there is none.
    """
    for i in range(states.shape[0]):
        if not skip[i]:
            legal(states[i], words)
            if not bits.contains(words, actions[i]):
                return i
    return -1


def step_all(states, actions):
    """Carry out one legal action in every game: `actions`, int64 (games,)."""
    for i in range(states.shape[0]):
        step(states[i], actions[i])


def legal_words(states, words):
    """Write every game's legal actions as bits into `words`, uint64 (games, words)."""
    for i in range(states.shape[0]):
        legal(states[i], words[i])


class StepBuffers(NamedTuple):
    """The arrays that `batch_step` works on, games first.

    Attributes:
        states: states, in and out.
        actions: int64, in; must be legal (see `legal_words` and `bits.first_missing`).
        done: bool, in and out: the game is over; all False with SAME_STEP.
        actors: int8, out: the seat that decided.
        own: float32 (games,), out: the reward of that seat.
        rewards: float32 (games, seats), out: the reward of each seat.
        payoffs: float32 (games, seats), out: the returns of a game just ended, 0 elsewhere.
        words: uint64 (games, words), out: the legal actions as bits.
        masks: int8 (games, actions), out.
        observations: int8 (games, ...), out: of the seat that decides next.
        seats: int8, out: the seat that decides next.
        ended: bool, out: the game has just ended.
        last: states, out with SAME_STEP: the games just ended, as they stood at their end.
        final: int8 (games, ...), out with SAME_STEP: the last observation of these.
    """

    states: np.ndarray
    actions: np.ndarray
    done: np.ndarray
    actors: np.ndarray
    own: np.ndarray
    rewards: np.ndarray
    payoffs: np.ndarray
    words: np.ndarray
    masks: np.ndarray
    observations: np.ndarray
    seats: np.ndarray
    ended: np.ndarray
    last: np.ndarray
    final: np.ndarray


def batch_step(autoreset, shaped, buffers):
    """Step every game and write all that a learner needs, each game while it is in the cache.

    Args:
        autoreset: SAME_STEP, NEXT_STEP or DISABLED.
        shaped: add the change of `potential` to the rewards.
        buffers: `StepBuffers`.

    Returns:
        How many games have just ended.
    """
    states, rewards, payoffs = buffers.states, buffers.rewards, buffers.payoffs
    done, ended, actors = buffers.done, buffers.ended, buffers.actors
    seats = rewards.shape[1]
    before, after = scratch(MOST_SEATS, np.float64)[:seats], scratch(MOST_SEATS, np.float64)[:seats]
    growth = scratch(MOST_SEATS, np.float64)
    growth[:] = 0.0
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
            step(state, buffers.actions[i])
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
                    observe(state, state.seat, buffers.final[i])
                    buffers.last[i] = state
                    reset(state, next_seed(state.seed))
                else:
                    done[i] = True
        buffers.own[i] = rewards[i, actors[i]]
        write_outputs(state, buffers.masks[i], buffers.observations[i], buffers.words[i])
        buffers.seats[i] = state.seat
    return count


def write_outputs(state, mask, observation, words):
    """Write mask, int8 (actions,), observation and `words`, uint64 (words,), of the seat to move."""
    legal(state, words)
    bits.expand(words, mask)
    observe(state, state.seat, observation)


def batch_observe(states, masks, observations, seats, words):
    """Write masks, int8 (games, actions), observations, int8 (games, ...), and seats, int8 (games,), of all games."""
    for i in range(states.shape[0]):
        write_outputs(states[i], masks[i], observations[i], words)
        seats[i] = states[i].seat


def batch_observe_all(states, out):
    """Write what every seat sees, the seat to move first, into `out`, int8 (games, seats, ...)."""
    for i in range(states.shape[0]):
        for player in range(out.shape[1]):
            observe(states[i], (states[i].seat + player) % out.shape[1], out[i, player])


def legal_masks(states, masks, words):
    """Write every game's legal actions into `masks`, int8 (games, actions); `words`, uint64 (words,), is scratch."""
    for i in range(states.shape[0]):
        legal(states[i], words)
        bits.expand(words, masks[i])


def returns_all(states, out):
    """Write every game's returns into `out`, float64 (games, seats)."""
    for i in range(states.shape[0]):
        returns(states[i], out[i])


def potential_all(states, out):
    """Write every game's potential into `out`, float64 (games, seats)."""
    for i in range(states.shape[0]):
        potential(states[i], out[i])


def policy_all(states, out):
    """Write the heuristic policy's logits of every game's actions into `out`, float64 (games, actions)."""
    for i in range(states.shape[0]):
        heuristic_policy(states[i], out[i])


def determinize_all(states, seats, rngs):
    """Determinize each game for its seat, int64 (games,); `rngs`, uint64, is one stream (1,) or one for each."""
    for i in range(states.shape[0]):
        first = i if rngs.shape[0] > 1 else 0
        determinize(states[i], seats[i], rngs[first : first + 1])


def observe_seats(states, seats, out):
    """Write what a seat, int64 (games,), sees in each game into `out`, int8 (games, ...)."""
    for i in range(states.shape[0]):
        observe(states[i], seats[i], out[i])


# Templates bound to a game; those below to a game and one of its encodings.
GAME_TEMPLATES = (
    *(reset_all, apply, step_all, first_illegal, legal_words, legal_masks, write_legal, returns_all, write_returns),
    *(potential_all, write_potential, is_mid_move, determinize_all, determinize_one, write_policy, policy_all),
    *(perft, play_random),
)
ENCODING_TEMPLATES = (write_observation, observe_seats, act, batch_step, batch_observe, batch_observe_all)


class EncodingKernels(SimpleNamespace):
    """`ENCODING_TEMPLATES` and `keep_stepping`, compiled for one game and encoding, by name."""


class BatchKernels(SimpleNamespace):
    """`GAME_TEMPLATES`, compiled for one game, by name; `by_encoding` has the `EncodingKernels`."""


@cache
def batch_kernels(game: Game) -> BatchKernels:
    """The batch kernels of a game; numba compiles each for a number of players when it is first called."""
    k = game.kernels
    names = ("reset", "legal", "step", "returns", "potential", "determinize", "mid_move", "heuristic_policy")
    functions = {name: getattr(k, name) for name in names}
    by_encoding = {}
    for name, function in k.observe.items():
        owner, scope = f"{game.name}.{name}", {**functions, "observe": function}
        scope["write_outputs"] = bind(write_outputs, owner, scope, inline=True)
        bound = {template.__name__: bind(template, owner, scope) for template in ENCODING_TEMPLATES}
        bound["keep_stepping"] = bind(keep_stepping, owner, {"batch_step": bound["batch_step"]})
        by_encoding[name] = EncodingKernels(**bound)
    bound = {template.__name__: bind(template, game.name, functions) for template in GAME_TEMPLATES}
    return BatchKernels(by_encoding=by_encoding, **bound)
