"""What is tried: the same settings, in the same order, for every learner."""

import json
import time
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch

from samurai_env.core.texts import one_line
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json


@dataclass(frozen=True)
class Settings:
    """Settings of PPO that every learner has.

    Attributes:
        opponents: who plays the other seats: random, greedy, or self for the learner's own policy, sampled.
        reward: as for `samurai_env.envs.learner.LearnerVectorEnv`.
        learning_rate: at the start; it falls to 0 with the time.
        ent_coef: weight of the entropy.
        num_steps: decisions of each game in a rollout.
        minibatch_size: decisions a gradient step.
        hidden: units of each of the two hidden layers.
    """

    opponents: str = "greedy"
    reward: str = "shaped"
    learning_rate: float = 1e-3
    ent_coef: float = 0.01
    num_steps: int = 32
    minibatch_size: int = 1024
    hidden: int = 256


# The rest is as the learners' own examples for one machine have it; ends of games are the only ends, so nothing is
# discounted.
NUM_ENVS, UPDATE_EPOCHS, GAMMA, GAE_LAMBDA = 128, 4, 1.0, 0.95
KEPT_EVERY = 20  # rollouts, after which the state of a run is written
CHOICES: dict[str, tuple[Any, ...]] = {
    "opponents": ("random", "greedy", "self"),
    "reward": ("shaped", "result"),
    "learning_rate": (3e-4, 1e-3, 2e-3),
    "ent_coef": (0.002, 0.01),
    "num_steps": (16, 64),
    "minibatch_size": (512, 2048),
    "hidden": (128, 256),
}


def drawn_settings(trials: int) -> list[Settings]:
    """The settings to try: the defaults, then random draws; longer lists begin with the shorter ones."""
    rng = np.random.default_rng(1)
    drawn = [{name: options[rng.integers(len(options))] for name, options in CHOICES.items()} for _ in range(trials)]
    return [Settings(), *(Settings(**each) for each in drawn)][:trials]


class Budget:
    """Seconds of processor time, spent over several starts of a run: what is spent stands in a file.

    Attributes:
        decisions: how many the learner has made, which the learner counts.
    """

    def __init__(self, seconds: float, path: Path) -> None:
        """Go on from what `path` says is spent; nothing if it does not exist.

        Raises:
            ValueError: the file is damaged.
        """
        self._seconds, self._path = seconds, path
        found = read_json(path, dict[str, float]) if path.exists() else {}
        self._before, self.decisions = found.get("seconds", 0.0), int(found.get("decisions", 0))
        self._start = time.process_time()

    @property
    def spent(self) -> float:
        """Seconds of processor time, of this start and those before."""
        return self._before + time.process_time() - self._start

    @property
    def left(self) -> float:
        """What is left, from 1 to 0."""
        return max(0.0, 1 - self.spent / self._seconds)

    def save(self) -> None:
        """Write what is spent; to be called once the learner's state is written."""
        text = json.dumps({"seconds": round(self.spent, 1), "decisions": self.decisions})
        write_atomically(self._path, text + "\n")


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write the state of a run, tensors in dicts, as `torch.load(path, weights_only=True)` reads it."""
    buffer = BytesIO()
    torch.save(state, buffer)
    write_atomically(path, buffer.getvalue())


def read_state(path: Path) -> dict[str, Any]:
    """Read what `write_state` wrote.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        state = torch.load(path, weights_only=True)
    except Exception as error:  # torch has many
        raise ValueError(f"{one_line(path, 120)} is damaged: {one_line(error, 150)}") from None
    if not isinstance(state, dict):
        raise ValueError(f"{one_line(path, 120)} is damaged: it is no state of a run")
    return state


def described(settings: Settings) -> str:
    """Settings in a line."""
    return " ".join(f"{name}={value}" for name, value in asdict(settings).items())
