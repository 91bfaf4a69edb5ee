"""What one thread of the GPU does for its game and its learner: `learner_step` for a batch of one game."""

from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from samurai_env.core import bits
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, inlined, scratch
from samurai_env.envs.compiled.one_learner import (
    BEGUN,
    FIXED,
    ROTATING,
    LearnerBuffers,
    one_learner_kernels,
)
from samurai_env.envs.cuda.compiled.all_seats import GO_ON, KEPT, SEEDED, Outcomes, scope_of
from samurai_env.envs.cuda.toolkit import Kernel

# Stand-ins, so that editors and linters know the names that `bind` replaces.
learner_step: Any = None
take_seats: Any = None
begin: Any = None
tell: Any = None
note_cut: Any = None
STATE: Any = None
WORDS: Any = None
PLAYERS: Any = None


class LearnerStepJob(NamedTuple):
    """A decision of each game's learner, and those of the other seats up to its next."""

    autoreset: int
    shaped: int
    seating: int
    buffers: LearnerBuffers
    outcomes: Outcomes


class LearnerResetJob(NamedTuple):
    """Games to be reset and brought to their learners' first decisions; see `all_seats.ResetJob`."""

    how: Any
    seeds: Any
    desynchronized: int
    sampled: Any
    autoreset: int
    shaped: int
    seating: int
    buffers: LearnerBuffers
    outcomes: Outcomes


@inlined
def one_game(buffers, last, i):
    """Make `LearnerBuffers` of one game out of those of all."""
    return LearnerBuffers(
        buffers.states[i : i + 1],
        buffers.actions[i : i + 1],
        buffers.done[i : i + 1],
        buffers.waiting[i : i + 1],
        buffers.decided[i : i + 1],
        buffers.learners[i : i + 1],
        buffers.streams[i : i + 1],
        buffers.potentials[i : i + 1],
        buffers.kinds,
        buffers.rewards[i : i + 1],
        buffers.payoffs[i : i + 1],
        buffers.words[i : i + 1],
        buffers.masks[i : i + 1],
        buffers.observations[i : i + 1],
        buffers.ended[i : i + 1],
        buffers.played[i : i + 1],
        last,
        buffers.final[i : i + 1],
    )


def learner_game(job, i):
    """Carry out a decision of the learner, and let the others play on."""
    last = scratch(1, STATE)
    one = one_game(job.buffers, last, i)
    if not (one.done[0] or bits.contains(one.words[0], one.actions[0])):
        job.outcomes.illegal[i] = True
        return
    learner_step(job.autoreset, job.shaped, job.seating, True, one)
    tell(job.autoreset, one.states, last, one.done[0], one.ended[0], job.outcomes, i)


def begin_learner_game(job, i):
    """Reset a game, or go on with one that has been put there, and bring it to its learner's first decision."""
    how = job.how[i]
    if how == KEPT:
        return
    one, words = one_game(job.buffers, job.buffers.states, i), scratch(WORDS, np.uint64)
    begun = begin(job.autoreset, how, job.seeds[i], job.desynchronized, one.states, words, job.sampled[i])
    seating = job.seating
    if seating == ROTATING:
        if begun == SEEDED:
            one.learners[0] = (i - 1) % PLAYERS
        elif begun == GO_ON:
            seating = FIXED
    rows = scratch(1, np.int64)
    rows[0] = 0
    take_seats(seating, one.states, rows, one.learners, one.streams, PLAYERS)
    one.done[0] = one.states[0].over
    note_cut(how, one.states, job.outcomes, i)
    one.decided[0] = False
    one.waiting[0] = BEGUN
    learner_step(job.autoreset, job.shaped, job.seating, False, one)


class CudaLearnerKernels(SimpleNamespace):
    """`learner_game` and `begin_learner_game` as kernels for one variant and encoding, by name."""


@cache
def cuda_learner_kernels(game: Game, num_players: int, encoding: str) -> CudaLearnerKernels:
    """The kernels of a game for a number of players and an encoding; each is compiled when it is first started."""
    kernels = one_learner_kernels(game, encoding)
    scope = scope_of(Variant(game, num_players, ()))
    scope.update(learner_step=kernels.learner_step, take_seats=kernels.take_seats, PLAYERS=num_players)
    owner = f"{game.name}.{num_players}.{encoding}"
    templates = (learner_game, begin_learner_game)
    return CudaLearnerKernels(**{t.__name__: Kernel(bind(t, owner, scope)) for t in templates})
