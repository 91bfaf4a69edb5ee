"""How fast the core is beside a yardstick measured in the same process: a ratio, so that it holds on any machine.

    python -m tests.speed_guard        # measure, and record the ratios in tests/speed_guard.json

`tests/experiments/benchmark/test_speed_guard.py` fails below half of a recorded ratio. Record again, on a quiet
machine, after a change that is meant to make the core faster or slower.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numba import njit

from experiments.common.provenance import commit, cpu_name
from samurai_env.core.batch import batch_kernels
from samurai_env.core.bits import pick_legal
from samurai_env.core.game import Variant, find_game
from samurai_env.envs.vector import GameVectorEnv
from samurai_env.files.atomic_write import write_atomically
from samurai_env.games import GAMES

RECORD = Path(__file__).parent / "speed_guard.json"
ROUNDS = 8  # the best of so many counts
SECONDS = 0.02  # of CPU time that one takes
FLOOR = 0.5  # share of the recorded ratio below which something is wrong


@njit(cache=True)
def yardstick(words, mask, rng, amount):
    """Work like that of a game, but of no game: a random bit out of a few words, and the words written as a mask.

    It uses nothing of the project, so that no change of the project changes it.
    """
    one, state, chosen = np.uint64(1), rng[0], 0
    for _ in range(amount):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        rest = np.int64(state % np.uint64(words.shape[0] * 8))
        for index in range(words.shape[0]):
            word = words[index]
            while rest > 0 and word != np.uint64(0):
                word &= word - one
                rest -= 1
            chosen += np.int64(word & np.uint64(63))
        words[chosen % words.shape[0]] ^= state
        for index in range(mask.shape[0]):
            mask[index] = (words[index >> 6] >> np.uint64(index & 63)) & one
    rng[0] = state
    return chosen


def ruler() -> Callable[[int], float]:
    """The yardstick: units of work done."""
    words, mask, rng = np.arange(1, 5, dtype=np.uint64), np.zeros(256, np.int8), np.array([1], np.uint64)

    def run(amount: int) -> float:
        yardstick(words, mask, rng, amount)
        return amount

    return run


def random_play(variant: Variant) -> Callable[[int], float]:
    """Random play in compiled code: steps done."""
    kernels, states, words = batch_kernels(variant.game), variant.new(64), np.zeros(variant.num_words, np.uint64)
    rng = np.array([1], np.uint64)
    kernels.reset_all(states, np.arange(64, dtype=np.uint64))

    def run(amount: int) -> float:
        kernels.play_random(states, rng, amount, words)
        return 64 * amount

    return run


def vector_steps(variant: Variant) -> Callable[[int], float]:
    """The vector environment, with masks and observations: steps done."""
    env = GameVectorEnv(variant.game.name, 256, variant.num_players, autoreset_mode="SameStep")
    observed, _ = env.reset(seed=1)
    actions, rng = np.zeros(256, np.int64), np.array([1], np.uint64)

    def run(amount: int) -> float:
        for _ in range(amount):
            pick_legal(observed["action_mask"], rng, actions)
            env.step(actions)
        return 256 * amount

    return run


def subjects() -> dict[str, Callable[[int], float]]:
    """What is measured, by name."""
    made = {}
    for name in GAMES:
        variant = find_game(name).variant()
        made[f"{name}, random play"] = random_play(variant)
        made[f"{name}, vector environment"] = vector_steps(variant)
    return made


def rate(run: Callable[[int], float], amount: int) -> float:
    """Work done in a second of this thread's CPU time, whatever else the machine does."""
    started = time.thread_time()
    work = run(amount)
    return work / (time.thread_time() - started)


def ratios(rounds: int = ROUNDS) -> dict[str, float]:
    """The speed of each subject over that of the yardstick, both the best of several rounds taken in turn."""
    runs = {"yardstick": ruler(), **subjects()}
    amounts = {}
    for name, run in runs.items():
        run(1)  # compiles
        amounts[name] = max(1, round(SECONDS * rate(run, 8) / run(1)))
    best = dict.fromkeys(runs, 0.0)
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = max(best[name], rate(run, amounts[name]))
    unit = best.pop("yardstick")
    return {name: value / unit for name, value in best.items()}


def too_slow(measured: dict[str, float], recorded: dict[str, float]) -> dict[str, float]:
    """The subjects below the floor, with their share of what is recorded."""
    shares = {name: measured[name] / value for name, value in recorded.items()}
    return {name: share for name, share in shares.items() if share < FLOOR}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.speed_guard", description="Record how fast the core is beside a yardstick."
    )
    parser.parse_args(arguments)
    found = {name: round(value, 3) for name, value in ratios(4 * ROUNDS).items()}
    report = {
        "command": "python -m tests.speed_guard",
        "commit": commit(),
        "machine": f"{cpu_name()}, Python {platform.python_version()}",
        "ratios": found,
    }
    write_atomically(RECORD, json.dumps(report, indent=1) + "\n")
    for name, value in found.items():
        print(f"{value:8.3f}  {name}")


if __name__ == "__main__":
    main()
