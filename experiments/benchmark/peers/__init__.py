"""Other people's games, measured by the same clock: one short script a peer.

Each script runs in that peer's own environment (`make peers`) and prints one line of JSON a figure. Nothing else in
the project needs the peers. Here is what the scripts and `experiments.benchmark.peer_table` share; the standard
library alone.
"""

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from experiments.benchmark.timing import Figure, Meter

# The kinds of work that are set side by side.
COMPILED = "random games, loop in compiled code, no outputs"
BATCH = "batch of games: step, mask, observation, random legal action, new games"
LOOP = "one game, loop in Python: legal actions, step"
OBSERVED = "one game, loop in Python: observation, mask, step"
RAW = "PettingZoo raw_env(): last() and step()"
WRAPPED = "PettingZoo env(): last() and step()"
SEARCH = "tree search from the opening, 1,000 simulations a decision, random rollouts"
TRAINING = "PPO on the board game for 2 players, 256x256, all of the loop"
KINDS = (COMPILED, BATCH, LOOP, OBSERVED, RAW, WRAPPED, SEARCH, TRAINING)


@dataclass
class Row:
    """A figure with what one has to know to compare it.

    Attributes:
        kind: the kind of work.
        who: the package, with its version.
        what: the game, and how it was used where that differs.
        actions: size of the action space.
        inputs: numbers in an observation; 0 where none was written.
        batch: games at once.
        threads: threads that compute.
        figure: what was measured.
    """

    kind: str
    who: str
    what: str
    actions: int
    inputs: int
    batch: int
    threads: int
    figure: Figure


def named(*packages: str) -> str:
    """Packages with their versions."""
    return ", ".join(f"{package} {version(package)}" for package in packages)


def one_core() -> None:
    """Keep this process on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def meter_from_command_line() -> Meter:
    """Read the arguments that `experiments.bench` gives each script."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    return Meter(**vars(parser.parse_args()))


def tell(row: Row) -> None:
    """Print a row for `experiments.benchmark.peer_table`."""
    print(json.dumps(asdict(row)), flush=True)


def by_last(env: Any) -> Callable[[int], float]:
    """Plays a PettingZoo environment: `last()`, the first legal action of the mask, `step()`."""
    env.reset(seed=0)

    def play(steps: int) -> float:
        done = 0
        while done < steps:
            observed, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
            else:
                env.step(int(observed["action_mask"].argmax()))
                done += 1
        return float(done)

    return play
