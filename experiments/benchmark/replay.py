"""The same steps of many games made in several ways, in turn: what the wrapper costs, what a second thread brings."""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.benchmark.timing import Clock, Figure, Meter
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.envs.vector import GameVectorEnv

MANY_GAMES = 4096  # for the comparison of threads


class Replay:
    """The same steps of many games over and over, so that ways to make them can be measured without a sampler.

    Args:
        variant: what is played.
        num_envs: number of games.
        meter: a replay takes about half as long as one of its measurements.
    """

    def __init__(self, variant: Variant, num_envs: int, meter: Meter) -> None:
        self.variant, env = variant, self.environment(num_envs, variant)
        observed, _ = env.reset(seed=0)
        self.states, rng = env.states.copy(), np.array([1], np.uint64)
        self.actions = np.zeros((max(20, round(2e6 * meter.seconds / num_envs)), num_envs), np.int64)
        for row in self.actions:
            pick_legal(observed["action_mask"], rng, row)
            env.step(row)

    @staticmethod
    def environment(num_envs: int, variant: Variant, threads: int = 1) -> GameVectorEnv:
        """Make the vector environment of a game that `gymnasium.make_vec` makes, without its checks of the id."""
        return GameVectorEnv(
            variant.game.name,
            num_envs,
            variant.num_players,
            autoreset_mode="SameStep",
            threads=threads,
            **variant.options,
        )

    def seconds(self, step: Callable[[np.ndarray], Any], clock: Clock) -> float:
        """Time `step(actions)` over all the steps."""
        started = clock()
        for row in self.actions:
            step(row)
        return clock() - started

    def by_environment(self, env: GameVectorEnv, clock: Clock) -> float:
        """Seconds that the steps of an environment take."""
        env.restore(self.states)
        return self.seconds(env.step, clock)

    def by_batch_call(self, env: GameVectorEnv) -> float:
        """Seconds that the compiled call behind these steps takes, on the arrays of an environment with one thread."""
        env.restore(self.states)
        batch_step, (mode, shaped, buffers) = env._observing.batch_step, env._job
        return self.seconds(
            lambda actions: batch_step(mode, shaped, buffers._replace(actions=actions)), time.thread_time
        )


def replayed(variant: Variant, meter: Meter, num_envs: int) -> list[Figure]:
    """Measure the cost of the wrapper and the gain of a second thread: the same steps made in two ways, in turn."""
    few, env = Replay(variant, num_envs, meter), Replay.environment(num_envs, variant)
    name = f"make_vec's env.step over the bare batch call, {num_envs} games"
    figures = [meter.of(name, "x", lambda: few.by_environment(env, time.thread_time) / few.by_batch_call(env))]
    if (os.cpu_count() or 1) > 1:
        many, one = Replay(variant, MANY_GAMES, meter), Replay.environment(MANY_GAMES, variant)
        two = Replay.environment(MANY_GAMES, variant, threads=2)
        name = f"two threads over one, {MANY_GAMES} games, env.step alone"
        clock = time.perf_counter
        many.by_environment(two, clock)  # what its thread compiles or loads is not part of a step
        figures.append(meter.of(name, "x", lambda: many.by_environment(one, clock) / many.by_environment(two, clock)))
        two.close()
    return figures
