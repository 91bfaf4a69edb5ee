"""How fast everything is, on this machine, now.

    python -m experiments.bench --num-players 2 --json runs/bench.json

Every figure is the median of several repetitions, with the smallest and largest beside it. Core, vector
and AEC figures use one thread. The load of the machine at the start and end is part of the result.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.arena import decision_keys
from agents.mcts import MCTSAgent, Settings
from experiments.common import at_least, command_line, commit, cpu_name, parse_options, run_program
from samurai_env import __version__, make_variant
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant
from samurai_env.core.loops import loops_of
from samurai_env.envs.aec import GameAEC, wrapped
from samurai_env.envs.vector import GameVectorEnv


@dataclass
class Config:
    """What to measure."""

    game: str = "samurai"
    """Name of the game."""
    num_players: int | None = None
    """Number of players; the game's smallest if not given."""
    options: tuple[str, ...] = ()
    """The game's options as name=value."""
    repetitions: int = 5
    """Measurements of each figure."""
    seconds: float = 0.5
    """About how long one measurement takes."""
    num_envs: int = 1024
    """Games in the vector environment."""
    simulations: int = 1000
    """Simulations a search."""
    train: bool = True
    """Also measure training (needs torch)."""
    start: bool = True
    """Also measure the first step in a new process, with a warm and with an empty cache (a minute or two)."""
    json: Path | None = None
    """File for the figures."""


@dataclass
class Figure:
    """One measured rate."""

    name: str
    unit: str
    median: float
    low: float
    high: float


def measure(name: str, unit: str, config: Config, run: Callable[[int], float]) -> Figure:
    """Rate of `run(amount) -> work done`, after a warm-up that also finds the right amount."""
    run(1)  # compiling, or loading what is compiled
    amount, spent = 1, 0.0
    while spent < 0.1 * config.seconds:
        amount *= 2
        started = time.perf_counter()
        run(amount)
        spent = time.perf_counter() - started
    amount = max(1, round(amount * config.seconds / spent))
    rates = []
    for _ in range(config.repetitions):
        started = time.perf_counter()
        work = run(amount)
        rates.append(work / (time.perf_counter() - started))
    return Figure(name, unit, statistics.median(rates), min(rates), max(rates))


def core(variant: Variant, config: Config) -> list[Figure]:
    """Random play inside one compiled call, and the small operations that search needs."""
    loops = loops_of(variant.game)
    states, words = variant.new(64), np.zeros(variant.num_words, np.uint64)
    rng = np.array([1], np.uint64)
    loops.begin(states, np.arange(64, dtype=np.uint64))
    games = [0, 0]

    def play(amount: int) -> float:
        games[0] += loops.play_random(states, rng, amount, words)
        games[1] += 64 * amount
        return 64.0 * amount

    steps = measure("core, random play, no outputs", "steps/s", config, play)
    share = games[0] / games[1]
    whole = Figure(
        "core, random play, no outputs", "games/s", *(x * share for x in (steps.median, steps.low, steps.high))
    )
    copies = variant.new(64)

    def clone(amount: int) -> float:
        loops.copy_many(states, copies, amount)
        return float(amount)

    def resample(amount: int) -> float:
        loops.resample_many(states, 0, rng, amount)
        return float(amount)

    return [
        steps,
        whole,
        measure("core, clone", "copies/s", config, clone),
        measure("core, redetermine", "draws/s", config, resample),
    ]


def vector(variant: Variant, config: Config) -> list[Figure]:
    """The vector environment, actions drawn from the mask by a compiled sampler, and the bare batch call."""
    env = GameVectorEnv(variant.game.name, config.num_envs, variant.num_players, **variant.options)
    observed, _ = env.reset(seed=0)
    actions, rng = np.zeros(config.num_envs, np.int64), np.array([1], np.uint64)

    def stepping(amount: int) -> float:
        for _ in range(amount):
            pick_legal(observed["action_mask"], rng, actions)
            env.step(actions)
        return float(amount * config.num_envs)

    return [measure(f"vector env, {config.num_envs} games, mask + observation", "steps/s", config, stepping)]


def aec(variant: Variant, config: Config) -> list[Figure]:
    """The PettingZoo environment: `last()`, the first legal action, `step()`."""

    def player(env: Any) -> Callable[[int], float]:
        env.reset(seed=0)

        def stepping(amount: int) -> float:
            done = 0
            while done < amount:
                _, _, terminated, _, info = env.last()
                if terminated:
                    env.reset()
                else:
                    env.step(int(info["action_mask"].argmax()))
                    done += 1
            return float(amount)

        return stepping

    name, players, options = variant.game.name, variant.num_players, variant.options
    return [
        measure("AEC raw_env, observe + step", "steps/s", config, player(GameAEC(name, players, **options))),
        measure("AEC env, observe + step", "steps/s", config, player(wrapped(name, num_players=players, **options))),
    ]


def search(variant: Variant, config: Config) -> list[Figure]:
    """Simulations of the tree search from the first decision after the set-up."""
    states = variant.new(1)
    loops = loops_of(variant.game)
    loops.begin(states, np.array([1], np.uint64))
    figures = []
    settings = {
        "default": Settings(config.simulations),
        "random roll-outs": Settings(config.simulations, widening=0.0, bias=0.0, depth=-1),
    }
    for name, setting in settings.items():
        agent = MCTSAgent(variant, setting)
        calls = [0]

        def searching(amount: int, agent: MCTSAgent = agent, calls: list[int] = calls) -> float:
            for _ in range(amount):
                calls[0] += 1
                agent.act(states, decision_keys(states["seed"], states["steps"], calls[0]))
            return float(amount * config.simulations)

        figures.append(measure(f"mcts:{config.simulations}, opening, {name}", "simulations/s", config, searching))
    return figures


def training(variant: Variant, config: Config) -> list[Figure]:
    """Collecting and learning of the PPO learner with its default settings."""
    import torch

    from experiments import train_ppo

    options = tuple(f"{name}={str(value).lower()}" for name, value in variant.options.items())
    learner = train_ppo.Learner(
        train_ppo.Config(game=variant.game.name, num_players=variant.num_players, options=options)
    )

    def learning(amount: int) -> float:
        for _ in range(amount):
            learner.collect()
            learner.update()
        return float(amount * learner.config.num_steps * learner.config.num_envs)

    return [measure(f"PPO, whole loop, {torch.get_num_threads()} threads", "steps/s", config, learning)]


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


def starting(variant: Variant, config: Config) -> list[Figure]:
    """Seconds from the start of a new process' imports to its first step, with a warm and an empty cache."""
    import tempfile

    from samurai_env.games import GAMES

    code = FIRST_STEP.format(env_id=GAMES[variant.game.name][1], players=variant.num_players)

    def run(environment: dict[str, str]) -> tuple[float, float]:
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        imported, stepped = map(float, done.stdout.split()[-2:])
        return imported, stepped

    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty}
        cold = run(environment)[1]
        warm = [run(environment) for _ in range(config.repetitions)]
    figures = [Figure("first step, empty cache", "s", cold, cold, cold)]
    for name, index in (("first step, warm cache", 1), ("import samurai_env", 0)):
        values = [times[index] for times in warm]
        figures.append(Figure(name, "s", statistics.median(values), min(values), max(values)))
    return figures


def main(config: Config) -> list[Figure]:
    """Measure, print, write."""
    at_least(config, 1, "repetitions", "num_envs", "simulations")
    console = Console()
    variant = make_variant(config.game, config.num_players, **parse_options(config.game, config.options))
    load = os.getloadavg()[0]
    parts = [core, vector, aec, search] + [training] * config.train + [starting] * config.start
    figures: list[Figure] = []
    for part in parts:
        with console.status(f"measuring: {(part.__doc__ or '').splitlines()[0]}"):
            figures += part(variant, config)
    table = Table(title=f"{variant.spec} ({cpu_name()}, {os.cpu_count()} cores)")
    for column in ("what", "median", "smallest", "largest", "unit"):
        table.add_column(column, justify="left" if column in ("what", "unit") else "right")
    for f in figures:
        table.add_row(f.name, *(f"{x:,.2f}" if x < 100 else f"{x:,.0f}" for x in (f.median, f.low, f.high)), f.unit)
    console.print(table)
    if max(load, os.getloadavg()[0]) > 1.5:
        console.print("[yellow]other processes were using the machine: figures are too low[/yellow]")
    if config.json:
        report = {
            "variant": variant.spec,
            "machine": f"{cpu_name()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "version": __version__,
            "commit": commit(),
            "command": command_line("experiments.bench", config),
            "load_before": load,
            "load_after": os.getloadavg()[0],
            "figures": [asdict(f) for f in figures],
        }
        config.json.parent.mkdir(parents=True, exist_ok=True)
        config.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return figures


if __name__ == "__main__":
    run_program("experiments.bench", Config, main, __doc__)
