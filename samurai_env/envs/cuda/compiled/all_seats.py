"""What one thread of the GPU does for its game: the CPU's compiled functions, called for a batch of one game.

Templates as in `samurai_env.core.batch`. Every job holds the arrays of all games.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from samurai_env.core import bits
from samurai_env.core.batch import SAME_STEP, StepBuffers, batch_kernels
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, inlined, jit, scratch
from samurai_env.core.rng import mix, next_seed
from samurai_env.envs.compiled.one_learner import desynchronizing
from samurai_env.envs.cuda.toolkit import Kernel

# Stand-ins, so that editors and linters know the names that `bind` replaces.
batch_step: Any = None
batch_observe: Any = None
legal_words: Any = None
desynchronize: Any = None
play_random: Any = None
cut_off: Any = None
observe: Any = None
reset: Any = None
STATE: Any = None
WORDS: Any = None

KEPT, SEEDED, NEXT, GO_ON = 0, 1, 2, 3  # what a reset does with a game
SAMPLES_STREAM = np.uint64(0x73616D706C657300)  # keeps the stream of sampled actions apart from the game's


class Outcomes(NamedTuple):
    """What a step says of each game beside `StepBuffers` or `LearnerBuffers`; bool (games,), out.

    Attributes:
        illegal: its action was illegal, and the game stays as it was; set, never cleared.
        cut: the game that was last over was cut off at its limit of decisions; in and out.
        terminated: it is over by the rules.
        truncated: it is over because it was cut off.
    """

    illegal: Any
    cut: Any
    terminated: Any
    truncated: Any


class StepJob(NamedTuple):
    """One decision in every game; `buffers.last` is not used."""

    autoreset: int
    shaped: int
    buffers: StepBuffers
    outcomes: Outcomes


class ResetJob(NamedTuple):
    """Games to be reset.

    Attributes:
        how: int8 (games,): KEPT, SEEDED, NEXT, or GO_ON for states that have been put there.
        seeds: uint64 (games,), for those SEEDED.
        desynchronized: bring them to a random point.
        streams: uint64 (games, 1), out: of actions sampled on the GPU.
        buffers: as in `StepJob`.
        outcomes: as in `StepJob`.
    """

    how: Any
    seeds: Any
    desynchronized: int
    streams: Any
    autoreset: int
    buffers: StepBuffers
    outcomes: Outcomes


class SampleJob(NamedTuple):
    """Uniformly random legal actions, 0 where a game has none."""

    words: Any
    streams: Any
    actions: Any


class PlayJob(NamedTuple):
    """Random play within one kernel: so many decisions, without outputs; `finished` (int64) counts games."""

    states: Any
    streams: Any
    steps: int
    finished: Any


class SeeJob(NamedTuple):
    """What every seat sees: `out` is int8 (games, seats, ...), seat 0 first."""

    states: Any
    out: Any


@inlined
def one_game(buffers, last, i):
    """Make `StepBuffers` of one game out of those of all."""
    return StepBuffers(
        buffers.states[i : i + 1],
        buffers.actions[i : i + 1],
        buffers.done[i : i + 1],
        buffers.actors[i : i + 1],
        buffers.own[i : i + 1],
        buffers.rewards[i : i + 1],
        buffers.payoffs[i : i + 1],
        buffers.words[i : i + 1],
        buffers.masks[i : i + 1],
        buffers.observations[i : i + 1],
        buffers.seats[i : i + 1],
        buffers.ended[i : i + 1],
        last,
        buffers.final[i : i + 1],
    )


def tell(autoreset, states, last, done, ended, outcomes, i):
    """Write whether a game is over, and why."""
    if ended:
        outcomes.cut[i] = cut_off(last[0] if autoreset == SAME_STEP else states[0])
    over = ended if autoreset == SAME_STEP else done
    outcomes.truncated[i] = over and outcomes.cut[i]
    outcomes.terminated[i] = over and not outcomes.cut[i]


def note_cut(how, states, outcomes, i):
    """Note whether a game that is over where it is gone on with was cut off."""
    if how == GO_ON and states[0].over:
        outcomes.cut[i] = cut_off(states[0])


def step_game(job, i):
    """Carry out one decision."""
    last = scratch(1, STATE)
    one = one_game(job.buffers, last, i)
    if not (one.done[0] or bits.contains(one.words[0], one.actions[0])):
        job.outcomes.illegal[i] = True
        return
    batch_step(job.autoreset, job.shaped, one)
    tell(job.autoreset, one.states, last, one.done[0], one.ended[0], job.outcomes, i)


def begin_game(job, i):
    """Reset a game, or go on with one that has been put there, and write what the seat to move needs."""
    how = job.how[i]
    if how == KEPT:
        return
    one, words = one_game(job.buffers, job.buffers.states, i), scratch(WORDS, np.uint64)
    begin(job.autoreset, how, job.seeds[i], job.desynchronized, one.states, words, job.streams[i])
    one.done[0] = one.states[0].over
    note_cut(how, one.states, job.outcomes, i)
    legal_words(one.states, one.words)
    batch_observe(one.states, one.masks, one.observations, one.seats, words)


def begin(autoreset, how, seed, desynchronized, states, words, stream):
    """Reset a state, unless it is to be gone on with, and the stream of its sampled actions; how it was begun."""
    if how == GO_ON and states[0].over and autoreset == SAME_STEP:
        how = NEXT
    if how == NEXT:
        seed = next_seed(states[0].seed)
    if how != GO_ON:
        reset(states[0], seed)
        if desynchronized:
            desynchronize(states, words)
    stream[0] = mix(states[0].seed ^ SAMPLES_STREAM)
    return how


def sample_game(job, i):
    """Pick a uniformly random legal action."""
    job.actions[i] = bits.pick(job.words[i], job.streams[i]) if bits.count(job.words[i]) > 0 else 0


def see_game(job, i):
    """Write what every seat sees."""
    for seat in range(job.out.shape[1]):
        observe(job.states[i], seat, job.out[i, seat])


def play_game(job, i):
    """Play at random."""
    words = scratch(WORDS, np.uint64)
    job.finished[i] += play_random(job.states[i : i + 1], job.streams[i], job.steps, words)


@jit
def never(state):
    """Say that a game has no limit of decisions."""
    return False


class CudaKernels(SimpleNamespace):
    """`step_game`, `begin_game`, `sample_game`, `see_game`, `play_game` as kernels of one variant and encoding."""


def scope_of(variant: Variant) -> dict[str, Any]:
    """What stands in for the names above, as far as the encoding does not matter."""
    game = variant.game
    k, batch = game.kernels, batch_kernels(game)
    owner = f"{game.name}.{variant.num_players}"
    scope = {
        **{"reset": k.reset, "desynchronize": desynchronizing(game), "play_random": batch.play_random},
        **{"legal_words": batch.legal_words, "cut_off": k.cut_off or never},
        **{"STATE": from_dtype(variant.dtype), "WORDS": variant.num_words},
    }
    scope["begin"] = bind(begin, owner, scope, inline=True)
    scope["tell"] = bind(tell, owner, scope, inline=True)
    scope["note_cut"] = bind(note_cut, owner, scope, inline=True)
    return scope


@cache
def cuda_kernels(game: Game, num_players: int, encoding: str) -> CudaKernels:
    """The kernels of a game for a number of players and an encoding; each is compiled when it is first started."""
    variant = Variant(game, num_players, ())
    observing = batch_kernels(game).by_encoding[encoding]
    scope = scope_of(variant)
    scope.update(batch_step=observing.batch_step, batch_observe=observing.batch_observe)
    scope["observe"] = game.kernels.observe[encoding]
    owner = f"{game.name}.{num_players}.{encoding}"
    templates = (step_game, begin_game, sample_game, see_game, play_game)
    return CudaKernels(**{t.__name__: Kernel(bind(t, owner, scope)) for t in templates})
