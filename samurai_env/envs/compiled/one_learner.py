"""The compiled step of many games with one learner each: the other seats play on until the learner is to move.

Templates as in `samurai_env.core.batch`; `one_learner_kernels` binds them to a game and an encoding.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from samurai_env.core import bits
from samurai_env.core.batch import MOST_SEATS, NEXT_STEP, SAME_STEP
from samurai_env.core.game import Game
from samurai_env.core.jit import bind, scratch
from samurai_env.core.rng import below, mix, next_seed
from samurai_env.core.spin_threads import keep_stepping

# Stand-ins, so that editors and linters know the names that `bind` replaces.
reset: Any = None
legal: Any = None
step: Any = None
returns: Any = None
potential: Any = None
heuristic_policy: Any = None
observe: Any = None
begin: Any = None
greedy: Any = None
MOST_ACTIONS: Any = None

RANDOM, GREEDY, ASKED = 0, 1, 2  # who plays a seat; ASKED is answered outside of compiled code
FIXED, DRAWN, ROTATING = 0, 1, 2  # how the learner's seat is chosen
TO_LEARNER, BEGUN = 0, -1  # in `waiting`; above 0: the distance of the asked opponent's seat from the learner's
OPPONENTS_STREAM = np.uint64(0x6F70706F6E656E74)  # keeps opponents' random numbers apart from the game's


class LearnerBuffers(NamedTuple):
    """The arrays that `learner_step` works on, games first.

    Attributes:
        states: states, in and out.
        actions: int64, in: of the seat to move, the learner's or an asked opponent's; must be legal.
        done: bool, in and out: the game is over; all False with SAME_STEP.
        waiting: int8, in and out: TO_LEARNER, BEGUN (nobody has acted yet), or which opponent is to be asked.
        decided: bool, in and out: the learner has acted in this game.
        learners: int8, in and out: the learner's seat.
        streams: uint64 (games, 1), in and out: randomness of the random and greedy opponents.
        potentials: float64, in and out: the learner's potential at its last decision.
        kinds: int8 (seats - 1,), in: who plays the other seats, clockwise from the learner.
        rewards: float32 (games,), out: what has come to the learner.
        payoffs: float32 (games, seats), out: the returns of a game just ended, 0 elsewhere.
        words: uint64 (games, words), out: the learner's legal actions as bits.
        masks: int8 (games, actions), out.
        observations: int8 (games, ...), out: of the learner.
        ended: bool, out: the game has just ended.
        played: int8, out: the learner's seat in the game just ended.
        last: states, out with SAME_STEP: the games just ended, as they stood at their end.
        final: int8 (games, ...), out with SAME_STEP: the learner's last observation of these.
    """

    states: np.ndarray
    actions: np.ndarray
    done: np.ndarray
    waiting: np.ndarray
    decided: np.ndarray
    learners: np.ndarray
    streams: np.ndarray
    potentials: np.ndarray
    kinds: np.ndarray
    rewards: np.ndarray
    payoffs: np.ndarray
    words: np.ndarray
    masks: np.ndarray
    observations: np.ndarray
    ended: np.ndarray
    played: np.ndarray
    last: np.ndarray
    final: np.ndarray


def take_seat(seating, seed, learners, index, stream, players):
    """Choose the learner's seat for a game that begins, and begin its opponents' stream."""
    stream[0] = mix(seed ^ OPPONENTS_STREAM)
    if seating == DRAWN:
        learners[index] = below(stream, players)
    elif seating == ROTATING:
        learners[index] = (learners[index] + 1) % players


def take_seats(seating, states, rows, learners, streams, players):
    """`take_seat` for the games of these rows."""
    for row in rows:
        take_seat(seating, states[row].seed, learners, row, streams[row], players)


def greedy_choice(state, words, logits, stream):
    """A legal action of highest logit, ties broken at random; `logits` is scratch."""
    heuristic_policy(state, logits)
    best, count = -np.inf, 0
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            action = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            if logits[action] > best:
                best, count = logits[action], 0
            count += logits[action] == best
    skip = below(stream, count)
    for i in range(words.shape[0]):
        word = words[i]
        while word != np.uint64(0):
            action = 64 * i + np.int64(bits.lowest(word))
            word &= word - bits.ONE
            if logits[action] == best:
                if skip == 0:
                    return action
                skip -= 1
    return -1  # nothing is legal: not a legal call


def learner_step(autoreset, shaped, seating, first, buffers):
    """Step every game until its learner decides, is over, or has to wait for an opponent outside of compiled code.

    Args:
        autoreset: SAME_STEP, NEXT_STEP or DISABLED.
        shaped: add the change of the learner's `potential` to its rewards.
        seating: FIXED, DRAWN or ROTATING.
        first: the first call of a step, on all games; later ones go on with those that wait.
        buffers: `LearnerBuffers`.

    Returns:
        How many games have ended.
    """
    states, learners, streams, payoffs = buffers.states, buffers.learners, buffers.streams, buffers.payoffs
    players, actions = payoffs.shape[1], buffers.masks.shape[1]
    logits, values = scratch(MOST_ACTIONS, np.float64)[:actions], scratch(MOST_SEATS, np.float64)[:players]
    count = 0
    for i in range(states.shape[0]):
        state, words = states[i], buffers.words[i]
        if first:
            buffers.ended[i] = False
            buffers.rewards[i] = 0.0
            for seat in range(players):
                payoffs[i, seat] = 0.0
            if not buffers.done[i]:
                buffers.decided[i] = True
                step(state, buffers.actions[i])
            elif autoreset == NEXT_STEP:
                reset(state, next_seed(state.seed))
                take_seat(seating, state.seed, learners, i, streams[i], players)
                buffers.done[i] = buffers.decided[i] = False
        elif buffers.waiting[i] == TO_LEARNER:
            continue
        elif buffers.waiting[i] != BEGUN:
            step(state, buffers.actions[i])
        buffers.waiting[i] = TO_LEARNER
        while not buffers.done[i]:
            learner = learners[i]
            if state.over:
                if buffers.decided[i]:
                    count += 1
                    buffers.ended[i] = True
                    buffers.played[i] = learner
                    returns(state, values)
                    for seat in range(players):
                        payoffs[i, seat] = values[seat]
                    reward = values[learner]
                    if shaped:
                        potential(state, values)
                        reward += values[learner] - buffers.potentials[i]
                    buffers.rewards[i] = reward
                    if autoreset != SAME_STEP:
                        buffers.done[i] = True
                        break
                    observe(state, learner, buffers.final[i])
                    buffers.last[i] = state
                # Here also where a game is over before its learner has decided: it never gets to see it.
                reset(state, next_seed(state.seed))
                take_seat(seating, state.seed, learners, i, streams[i], players)
                buffers.decided[i] = False
                continue
            if state.seat == learner:
                if shaped:
                    potential(state, values)
                    if buffers.decided[i]:
                        buffers.rewards[i] = values[learner] - buffers.potentials[i]
                    buffers.potentials[i] = values[learner]
                break
            distance = (state.seat - learner) % players
            kind = buffers.kinds[distance - 1]
            if kind == ASKED:
                buffers.waiting[i] = distance
                break
            legal(state, words)
            if kind == GREEDY:
                step(state, greedy(state, words, logits, streams[i]))
            else:
                step(state, bits.pick(words, streams[i]))
        if buffers.waiting[i] == TO_LEARNER:
            legal(state, words)
            bits.expand(words, buffers.masks[i])
            observe(state, learners[i], buffers.observations[i])
    return count


def desynchronize(states, words):
    """Bring each game, just begun, to a random point of a random game: uniformly many decisions of all that it has."""
    stream = scratch(1, np.uint64)
    for i in range(states.shape[0]):
        state = states[i]
        seed, length = state.seed, 0
        stream[0] = mix(seed ^ ~OPPONENTS_STREAM)
        start = stream[0]
        while not state.over:
            legal(state, words)
            step(state, bits.pick(words, stream))
            length += 1
        steps = below(stream, length)
        reset(state, seed)
        stream[0] = start
        for _ in range(steps):
            legal(state, words)
            step(state, bits.pick(words, stream))


class OneLearnerKernels(SimpleNamespace):
    """`learner_step`, its threads' `keep_stepping`, and `take_seats`, compiled for one game and encoding, by name."""


@cache
def one_learner_kernels(game: Game, encoding: str) -> OneLearnerKernels:
    """The kernels of a game and one of its encodings; numba compiles each when it is first called."""
    k = game.kernels
    owner = f"{game.name}.{encoding}"
    seat = bind(take_seat, game.name, {})
    functions = {
        **{"reset": k.reset, "legal": k.legal, "step": k.step, "returns": k.returns, "potential": k.potential},
        "observe": k.observe[encoding],
        "take_seat": seat,
        "greedy": bind(greedy_choice, game.name, {"heuristic_policy": k.heuristic_policy}),
        "MOST_ACTIONS": max(len(game.action_names(n)) for n in game.players),
    }
    stepping = bind(learner_step, owner, functions)
    return OneLearnerKernels(
        learner_step=stepping,
        keep_stepping=bind(keep_stepping, f"{owner}.one_learner", {"batch_step": stepping}),
        take_seats=bind(take_seats, game.name, {"take_seat": seat}),
    )


@cache
def desynchronizing(game: Game) -> Any:
    """`desynchronize` of a game."""
    k = game.kernels
    return bind(desynchronize, game.name, {"reset": k.reset, "legal": k.legal, "step": k.step})
