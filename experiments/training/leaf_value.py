"""Learn a value of leaves from games, for searches (`value=FILE`; `agents.leaf_values`).

    python -m experiments.training.leaf_value --run runs/leaf-value --game samurai players=4 --agents greedy_tuned

Agents, drawn anew for every seat, play games, a few of their decisions at random. A small network learns from a share
of the positions, hidden things included, who wins: the likelihood of the winners is maximised. The network of the epoch
with the greatest likelihood on the games held out is kept. Ctrl-C keeps the games played so far; the same command
resumes.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from rich.console import Console
from torch import nn

from agents.arena import play_to_end
from agents.leaf_values import WEIGHTS, describe_positions, shapes
from agents.networks.leaf_value_files import columns_digest, save_leaf_value
from agents.registry import make_agent
from agents.settings import Range
from agents.spec import split_agent_specs
from experiments.common import parts
from experiments.common.array_files import load_arrays
from experiments.common.cli import GameSpec, run_program
from experiments.common.ranges import Count, Seed, check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.training.supervised import Recorder, fit
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch

DEALS = 512  # played by a worker at a time
HELD_OUT = 10  # one part in so many is held out
FORMS = {"features": ("<f2", 3), "won": ("<f4", 2), "guessed": ("<f4", 2)}


@dataclass
class Config(WorkerSettings):
    """Settings of such a run."""

    run: Path = Path("runs/leaf-value")
    """Folder for the leaf value and the games."""
    game: GameSpec = "samurai players=4"
    """The game with its number of players and options."""
    agents: tuple[str, ...] = ("greedy",)
    """Specs of who plays, separated by blanks or commas: what the rollouts of the search play."""
    deals: Annotated[int, Range(2 * DEALS, 10**7)] = 60_000  # a part to learn from, one held out
    """Games to play."""
    share: Annotated[float, Range(0, 1, above=True)] = 0.05
    """Share of the decisions whose positions are kept, drawn at random."""
    random: Annotated[float, Range(0, 1)] = 0.03
    """Share of the decisions that are random."""
    hidden: tuple[Annotated[int, Range(1, 2**16)], Annotated[int, Range(1, 2**16)]] = (32, 16)
    """Units of the hidden layers."""
    epochs: Count = 8
    """Passes over the positions."""
    minibatch_size: Count = 1024
    """Positions in a gradient step."""
    learning_rate: Annotated[float, Range(1e-6, 1e6)] = 3e-3
    """AdamW's largest step size; it rises, and falls to nothing."""
    seed: Seed = 1
    """Seed of games and learning."""

    def __post_init__(self) -> None:
        self.agents = split_agent_specs(self.agents)


Task = tuple[str, tuple[str, ...], float, float, int, int]  # spec, agents, share, random, part, seed


def shares(returns: np.ndarray) -> np.ndarray:
    """The share of the win that returns (..., players) mean."""
    players = returns.shape[-1]
    return (returns * (players - 1) + 1) / players


def play(task: Task) -> dict[str, np.ndarray]:
    """Worker: positions of some deals.

    Returns:
        features: float16 (positions, players, columns), of `kernels.value_features`.
        won: float32 (positions, players), the share of each seat in the win.
        guessed: float32 (positions, players), what the heuristic value makes of it.
    """
    spec, names, share, random, part, seed = task
    variant, rng, kept = parse_variant(spec), np.random.default_rng((seed, part)), list[np.ndarray]()
    uniform = make_agent("random", variant)
    agents = [Recorder(make_agent(name, variant), share, rng, kept, uniform, random) for name in names]
    seating = rng.integers(len(agents), size=(DEALS, variant.num_players))
    ended = play_to_end(variant, agents, seating, rng.integers(2**62, size=DEALS))
    ended.sort(order="seed")
    states = np.concatenate(kept)
    features, guesses = describe_positions(variant, states)
    won = shares(GameBatch(variant).returns(ended))[np.searchsorted(ended["seed"], states["seed"])]
    return {
        "features": features.astype(np.float16),
        "won": won.astype(np.float32),
        "guessed": shares(guesses).astype(np.float32),
    }


class Positions:
    """Positions of many games."""

    def __init__(self, files: list[Path]) -> None:
        loaded = [load_arrays(file, FORMS) for file in files]
        self.features, self.won, self.guessed = (
            torch.from_numpy(np.concatenate([arrays[name] for arrays in loaded])) for name in FORMS
        )

    def __len__(self) -> int:
        return len(self.features)


class Net(nn.Module):
    """The layers of a leaf value, in training; features are scaled to mean 0 and standard deviation 1."""

    mean: torch.Tensor
    scale: torch.Tensor  # 0 for what never changes: it is not read

    def __init__(self, variant: Variant, hidden: tuple[int, int], features: torch.Tensor) -> None:
        super().__init__()
        columns, (one, two) = shapes(variant, hidden)["first"][0], hidden
        rows = features[:: max(1, len(features) // 100_000)].float().flatten(0, 1)
        self.register_buffer("mean", rows.mean(0))
        self.register_buffer("scale", torch.where(rows.std(0) > 0, 1 / rows.std(0), 0.0))
        self.first, self.second, self.third = nn.Linear(columns, one), nn.Linear(one, two), nn.Linear(two, 1, False)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Logarithms of the chances to win, float32 (batch, players); `features` (batch, players, columns)."""
        rows = (features.float() - self.mean) * self.scale
        return self.third(self.second(self.first(rows).relu()).relu()).squeeze(-1).log_softmax(-1)

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors of a leaf value, the scaling in the first layer."""
        first = self.first.weight * self.scale
        bias = self.first.bias - first @ self.mean
        found = (first.T, bias, self.second.weight.T, self.second.bias, self.third.weight[0])
        return {name: tensor.detach().contiguous().numpy().copy() for name, tensor in zip(WEIGHTS, found, strict=True)}


def log_likelihood(log_chances: torch.Tensor, won: torch.Tensor) -> torch.Tensor:
    """Log-likelihood of the winners, float32 (batch,)."""
    return (won * log_chances).sum(-1)


def mean_log_likelihood(net: Net, positions: Positions, rows: torch.Tensor) -> torch.Tensor:
    """Of the winners of the positions of these rows, with gradients."""
    return log_likelihood(net(positions.features[rows]), positions.won[rows]).mean()


@torch.no_grad()
def judged(net: Net, positions: Positions, size: int) -> float:
    """Mean log-likelihood of the winners by the network, so many positions at a time."""
    rows = torch.arange(len(positions)).split(size)
    return sum(float(mean_log_likelihood(net, positions, part)) * len(part) for part in rows) / len(positions)


def learn(config: Config, console: Console) -> Path:
    """Play, fit, write; the file of the leaf value.

    Raises:
        ValueError: a setting is impossible, or the game has nothing that a value could be learned from.
        OSError: an agent's file does not exist, or the folder cannot be made.
    """
    check_ranges(config)
    if not config.agents:
        raise ValueError("--agents are one or more, such as greedy_tuned")
    variant = parse_variant(config.game)
    shapes(variant, config.hidden)  # fail before anything is played
    started = time.perf_counter()
    torch.manual_seed(config.seed)
    for name in config.agents:
        make_agent(name, variant)
    config.run.mkdir(parents=True, exist_ok=True)
    made = f"{variant.spec}; {' '.join(config.agents)}; share {config.share:g}; random {config.random:g}; "
    made += f"seed {config.seed}; columns {columns_digest(variant.game)}"
    tasks: list[Task] = [
        (variant.spec, config.agents, config.share, config.random, part, config.seed)
        for part in range(-(-config.deals // DEALS))
    ]
    files = parts.gather(play, tasks, DEALS, config.run, made, config, console)
    learned = Positions([file for number, file in enumerate(files) if number % HELD_OUT])
    held_out = Positions(files[::HELD_OUT])
    net = Net(variant, config.hidden, learned.features)
    found = fit(
        net,
        config,
        len(learned),
        lambda rows: mean_log_likelihood(net, learned, rows),
        lambda: judged(net, held_out, config.minibatch_size),
        console,
    )
    guessed = float(log_likelihood(held_out.guessed.clamp(min=1e-6).log(), held_out.won).mean())
    console.print(
        f"{len(held_out):,} positions held out: mean log-likelihood of the winners {found:.4f}, by the heuristic value "
        f"{guessed:.4f}, if all are equally likely to win {-np.log(variant.num_players):.4f}"
    )
    notes = parts.notes(
        "experiments.training.leaf_value",
        config,
        len(learned) + len(held_out),
        time.perf_counter() - started,
        log_likelihood={"leaf value": round(found, 4), "heuristic value": round(guessed, 4)},
    )
    path = config.run / "model.safetensors"
    save_leaf_value(variant, net.tensors(), path, notes)
    console.print(f"the leaf value is {path}")
    return path


if __name__ == "__main__":
    run_program("experiments.training.leaf_value", Config, lambda config: learn(config, Console()), __doc__)
