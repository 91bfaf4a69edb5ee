"""Measurements of this project: core, environments, search, training, start of a process."""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from agents.search.mcts import MCTSAgent, MCTSConfig
from experiments.benchmark.kernels import bound_loops
from experiments.benchmark.peers import by_last
from experiments.benchmark.timing import Figure, Meter, undisturbed
from samurai_env.agent_api import decision_keys
from samurai_env.core.batch import batch_kernels
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.envs.aec import GameAEC, wrapped
from samurai_env.envs.learner import LearnerVectorEnv
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.games import GAMES
from samurai_env.position import Position

GAMES_IN_CACHE = 64  # for measurements of the core
COUNTED_GAMES = 256  # to count decisions
NANOSECONDS = 1e9


def random_play(variant: Variant, meter: Meter) -> list[Figure]:
    """Random play inside one compiled call, which writes nothing for a player."""
    kernels = batch_kernels(variant.game)
    states, words = variant.new(GAMES_IN_CACHE), np.zeros(variant.num_words, np.uint64)
    rng = np.array([1], np.uint64)
    kernels.reset_all(states, np.arange(GAMES_IN_CACHE, dtype=np.uint64))
    games = [0, 0]

    def play(amount: int) -> float:
        games[0] += kernels.play_random(states, rng, amount, words)
        games[1] += GAMES_IN_CACHE * amount
        return float(GAMES_IN_CACHE * amount)

    steps = meter.rate("core, random play, no outputs", "steps/s", play)
    share = games[0] / games[1]
    whole = replace(steps, unit="games/s", median=share * steps.median, low=share * steps.low, high=share * steps.high)
    return [steps, whole]


def copies(variant: Variant, meter: Meter) -> list[Figure]:
    """The small operations that search needs."""
    kernels, (copy_many, determinize_many) = batch_kernels(variant.game), bound_loops(variant.game)
    states, rng = variant.new(GAMES_IN_CACHE), np.array([1], np.uint64)
    kernels.reset_all(states, np.arange(GAMES_IN_CACHE, dtype=np.uint64))
    targets = variant.new(GAMES_IN_CACHE)

    def clone(amount: int) -> float:
        copy_many(states, targets, amount)
        return float(amount)

    def resample(amount: int) -> float:
        determinize_many(states, 0, rng, amount)
        return float(amount)

    return [
        in_nanoseconds(meter.rate(f"core, {n}", "", run)) for n, run in (("clone", clone), ("determinize", resample))
    ]


def in_nanoseconds(rate: Figure) -> Figure:
    """A rate as the time of each."""
    median, low, high = (NANOSECONDS / x for x in (rate.median, rate.high, rate.low))
    return Figure(rate.name, "ns", median, low, high, rate.disturbed)


def random_steps(env: VectorEnv, masks: np.ndarray) -> Callable[[int], float]:
    """Steps of a vector environment that writes its masks into `masks`; actions drawn by a compiled sampler."""
    actions, rng = np.zeros(env.num_envs, np.int64), np.array([1], np.uint64)

    def stepping(amount: int) -> float:
        for _ in range(amount):
            pick_legal(masks, rng, actions)
            env.step(actions)
        return float(amount * env.num_envs)

    return stepping


def vector(variant: Variant, meter: Meter, num_envs: int, threads: int = 1) -> list[Figure]:
    """The vector environment, played at random."""
    settings = {"autoreset_mode": "SameStep", "threads": threads, **variant.options}
    env = GameVectorEnv(variant.game.name, num_envs, variant.num_players, **settings)
    observed, _ = env.reset(seed=0)
    name = f"vector env, {num_envs} games, mask + observation" + f", {threads} threads" * (threads > 1)
    clock = time.thread_time if threads == 1 else time.perf_counter
    found = meter.rate(name, "steps/s", random_steps(env, observed["action_mask"]), clock)
    env.close()
    return [found]


def one_learner(variant: Variant, meter: Meter, num_envs: int) -> list[Figure]:
    """The vector environment for one learner against greedy: its own decisions, and those of all seats."""
    settings = {"autoreset_mode": "SameStep", "opponents": "greedy", "seat": "rotate", **variant.options}
    env = LearnerVectorEnv(variant.game.name, num_envs, variant.num_players, **settings)
    observed, _ = env.reset(seed=0, options={"desynchronize": True})
    name = f"vector env, {num_envs} games, one learner against greedy"
    own = meter.rate(name, "steps/s", random_steps(env, observed["action_mask"]))
    env.close()
    seats = decisions_a_step(variant)
    median, low, high = (seats * rate for rate in (own.median, own.low, own.high))
    every = replace(own, name=f"{name}, steps of all seats", median=median, low=low, high=high)
    return [own, every]


def decisions_a_step(variant: Variant) -> float:
    """How many decisions of all seats go with one of a learner that plays at random against greedy."""
    settings = {"autoreset_mode": "Disabled", "opponents": "greedy", "seat": "rotate", **variant.options}
    env = LearnerVectorEnv(variant.game.name, COUNTED_GAMES, variant.num_players, **settings)
    env.reset(seed=0)
    rng, over, own = np.random.default_rng(0), np.zeros(COUNTED_GAMES, bool), 0
    while not over.all():
        own += int((~over).sum())
        masks = env.action_masks()
        _, _, terminated, truncated, _ = env.step((rng.random(masks.shape) * masks).argmax(1))
        over = terminated | truncated
    env.close()
    return float(env.states["steps"].sum()) / own


def aec(variant: Variant, meter: Meter) -> list[Figure]:
    """The PettingZoo environment with the first legal action: by `last()` and by `observe()`, bare and wrapped."""

    def by_observe(env: Any) -> Callable[[int], float]:
        env.reset(seed=0)

        def stepping(amount: int) -> float:
            for _ in range(amount):
                agent = env.agent_selection
                env.step(int(env.observe(agent)["action_mask"].argmax()))
                if env.terminations[agent] or env.truncations[agent]:
                    env.reset()
            return float(amount)

        return stepping

    name, players, options = variant.game.name, variant.num_players, variant.options
    return [
        meter.rate("AEC raw_env, last() + step()", "steps/s", by_last(GameAEC(name, players, **options))),
        meter.rate("AEC raw_env, observe() + step()", "steps/s", by_observe(GameAEC(name, players, **options))),
        meter.rate("AEC env, last() + step()", "steps/s", by_last(wrapped(name, num_players=players, **options))),
    ]


def position(variant: Variant, meter: Meter) -> list[Figure]:
    """One game as a Python object, a random legal action at each step."""
    game, draw = Position(variant), random.Random(1).random

    def playing(observed: bool) -> Callable[[int], float]:
        def play(amount: int) -> float:
            for number in range(amount):
                if game.over:
                    game.reset(number)
                if observed:
                    game.observe(game.seat)
                    actions = game.legal_mask().nonzero()[0].tolist()
                else:
                    actions = game.legal_actions()
                game.step(actions[int(draw() * len(actions))])
            return float(amount)

        return play

    return [
        meter.rate("Position, legal actions + step", "steps/s", playing(False)),
        meter.rate("Position, observation + mask + step", "steps/s", playing(True)),
    ]


def search(variant: Variant, meter: Meter, simulations: int) -> list[Figure]:
    """Simulations of the tree search from the first decision: as the agent plays, and with random rollouts."""
    states = variant.new(1)
    batch_kernels(variant.game).reset_all(states, np.array([1], np.uint64))
    settings = {
        "default": MCTSConfig(simulations),
        "random rollouts": MCTSConfig(simulations, prior_temperature=np.inf, rollout_depth=-1),
    }

    def searching(agent: MCTSAgent) -> Callable[[int], float]:
        calls = [0]

        def decide(amount: int) -> float:
            for _ in range(amount):
                calls[0] += 1
                agent.search(states, decision_keys(states["seed"], states["steps"], calls[0]))  # all simulations
            return float(amount * simulations)

        return decide

    return [
        meter.rate(f"mcts:{simulations}, opening, {name}", "simulations/s", searching(MCTSAgent(variant, setting)))
        for name, setting in settings.items()
    ]


def training(variant: Variant, meter: Meter) -> list[Figure]:
    """Collecting and learning of the PPO learner with its default settings."""
    import torch

    from experiments.training.config import Config
    from experiments.training.learner import Learner

    config = Config(game=variant.spec, device="cpu")
    learner = Learner(config)

    def learning(amount: int) -> float:
        for _ in range(amount):
            learner.collect()
            learner.update()
        return float(amount * config.num_steps * config.num_envs)

    return [meter.rate(f"PPO, whole loop, {torch.get_num_threads()} threads", "steps/s", learning, time.perf_counter)]


FIRST_STEP = """
import time; started = time.perf_counter()
import samurai_env
imported = time.perf_counter()
import gymnasium
env = gymnasium.make({env_id!r}, num_players={players})
_, info = env.reset(seed=0)
env.step(int(info["action_mask"].argmax()))
print(imported - started, time.perf_counter() - started)
"""


def starting(variant: Variant, meter: Meter) -> list[Figure]:
    """Seconds from the start of a new process' imports to its first step, with a warm and an empty cache."""
    code = FIRST_STEP.format(env_id=GAMES[variant.game.name][1], players=variant.num_players)

    def run(environment: dict[str, str]) -> tuple[float, float]:
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        imported, stepped = map(float, done.stdout.split()[-2:])
        return imported, stepped

    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty}
        (_, cold), noisy = undisturbed(lambda: run(environment), again=0)  # a second run would find the cache filled
        warm = [undisturbed(lambda: run(environment)) for _ in range(meter.repetitions)]
    figures = [Figure("first step, empty cache", "s", cold, cold, cold, noisy)]
    for name, index in (("first step, warm cache", 1), ("import samurai_env", 0)):
        values = [times[index] for times, _ in warm]
        disturbed = any(bad for _, bad in warm)
        figures.append(Figure(name, "s", statistics.median(values), min(values), max(values), disturbed))
    return figures
