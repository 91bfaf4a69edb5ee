"""Distill rollouts: a new network learns the value of each action from rollouts, as a start for PPO.

    python -m experiments.distill_rollouts --run runs/played-out --game samurai_card

The heuristic policy plays many games on from every action of many positions (`agents.baselines.rollout`). The
layers that read action features learn the value of each action from that, and the network chooses by it: one step of
fitted policy iteration (Lagoudakis and Parr, 2003). The rest of the network stays at its start. Ctrl-C keeps the
positions computed so far; the same command resumes.
"""

import time
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from rich.console import Console
from torch import nn

from agents.baselines.rollout import RolloutAgent
from agents.heuristics import ActionFeatures
from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet, new_network
from agents.networks.network_files import save_network
from agents.registry import make_agent
from agents.settings import Range
from experiments.common import gathered_positions
from experiments.common.array_files import load_arrays
from experiments.common.cli import GameSpec, progress_bar, run_program
from experiments.common.ranges import Count, Seed, check_ranges
from experiments.common.tasks import WorkerSettings
from experiments.training.init_network import random_play
from samurai_env import parse_variant
from samurai_env.agent_api import decision_keys
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch

DEALS = 16  # played by a worker at a time
# Shares of random moves, and of those that rollouts value highest; the others follow the heuristic policy.
RANDOM, TRIED = 0.1, 0.3
HELD_OUT = 10  # one part in so many is held out


@dataclass
class Config(WorkerSettings):
    """Settings of such a run."""

    run: Path = Path("runs/played-out")
    """Folder for the network and the positions measured."""
    game: GameSpec = "samurai_card"
    """The game, which needs action features, with its number of players and options."""
    rollouts: str = "rollout:16,potential_weight=4"
    """How actions are tried."""
    deals: Annotated[int, Range(2 * DEALS, 10**7)] = 4000  # a part to learn from, one held out
    """Games whose positions are measured."""
    encoding: str | None = None
    """Encoding of observations; the game's default if not given."""
    hidden: Annotated[tuple[int, ...], Range(1, 2**16)] = (256, 256)
    """Widths of the hidden layers, which do not learn here."""
    action_width: Annotated[int, Range(1, 2**16)] = 64
    """Width of the layers that read action features."""
    softness: Annotated[float, Range(1e-6, 1e6)] = 0.05
    """An action worth so much less than another becomes e times less probable."""
    epochs: Count = 12
    """Passes over the positions."""
    minibatch_size: Count = 2048
    """Positions in a gradient step."""
    learning_rate: Annotated[float, Range(1e-6, 1e6)] = 2e-3
    """Adam's largest step size; it rises, and falls to nothing."""
    seed: Seed = 1
    """Seed of games, rollouts and learning."""


def look_at(task: tuple[str, str, int, int]) -> dict[str, np.ndarray]:
    """Worker: the positions of some deals with more than one legal action, by the number of the part and a seed.

    Returns:
        features: float32 (legal actions of all positions, columns), see `agents.heuristics`.
        values: float32 (legal actions of all positions,).
        counts: int64 (positions,): legal actions of each.
    """
    spec, rollouts, part, seed = task
    variant = parse_variant(spec)
    batch, heuristic, agent = GameBatch(variant), ActionFeatures(variant), make_agent(rollouts, variant)
    assert isinstance(agent, RolloutAgent)
    rng, found = np.random.default_rng((seed, part)), []
    states = batch.reset(rng.integers(2**62, size=DEALS))
    while len(states := states[states["over"] == 0]):
        values = agent.action_values(states, decision_keys(states["seed"], states["steps"], 0))
        features, legal = heuristic.compute(states), np.isfinite(values)
        choice = legal.sum(1) > 1
        chosen = legal & choice[:, None]
        found.append((features[chosen], values[chosen], legal.sum(1)[choice]))
        by_chance = np.where(legal, rng.random(legal.shape), -1.0).argmax(1)
        by_heuristic = np.where(legal, features[:, :, 0], np.inf).argmin(1)
        kind = rng.random(len(states))
        batch.step(
            states, np.where(kind < RANDOM, by_chance, np.where(kind < RANDOM + TRIED, values.argmax(1), by_heuristic))
        )
    features, values, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return {"features": features, "values": values.astype(np.float32), "counts": counts}


def made(config: Config, variant: Variant) -> str:
    """Everything that the positions of a part depend on, beside its number."""
    return f"{variant.spec}; {config.rollouts}; seed {config.seed}"


def gather(config: Config, variant: Variant, console: Console) -> list[Path]:
    """Measure all positions that are not there yet; the files of all parts."""
    tasks = [(variant.spec, config.rollouts, part, config.seed) for part in range(-(-config.deals // DEALS))]
    return gathered_positions.gather(
        look_at, tasks, DEALS, config.run, made(config, variant), [config.rollouts], config, console
    )


def load_positions(path: Path) -> dict[str, np.ndarray]:
    """Load from a file what `look_at` returned.

    Raises:
        ValueError: it is damaged; delete it, and its positions are computed again.
    """
    found = load_arrays(path, {"features": ("<f4", 2), "values": ("<f4", 1), "counts": ("<i8", 1)})
    features, values, counts = found["features"], found["values"], found["counts"]
    fits = len(features) == len(values) == counts.sum() and counts.min(initial=2) > 1
    if not fits or not np.isfinite(features).all() or not np.isfinite(values).all():
        raise ValueError(f"{path} is damaged: its arrays do not fit together; delete it to compute them again")
    return found


class Positions:
    """Legal actions of many positions, one after the other."""

    def __init__(self, files: list[Path]) -> None:
        loaded = [load_positions(file) for file in files]
        self.features, self.values, self.counts = (
            torch.from_numpy(np.concatenate([arrays[name] for arrays in loaded]))
            for name in ("features", "values", "counts")
        )
        self.starts = self.counts.cumsum(0) - self.counts

    def __len__(self) -> int:
        return len(self.counts)

    def rows(self, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Select the legal actions of some positions.

        Args:
            chosen: int64 (chosen,), numbers of positions.

        Returns:
            Of these actions one after the other: features, float32 (rows, columns), values, float32 (rows,), and the
            index into `chosen` that each belongs to, int64 (rows,).
        """
        counts = self.counts[chosen]
        row = torch.arange(len(chosen)).repeat_interleave(counts)
        within = torch.arange(len(row)) - (counts.cumsum(0) - counts)[row]
        where = self.starts[chosen][row] + within
        return self.features[where], self.values[where], row


def centred(values: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    """Values less their mean in each position; `row` is the position of each, int64 (rows,), as `values`."""
    count = torch.bincount(row)
    return values - (torch.zeros(len(count)).index_add(0, row, values) / count)[row]


def logits(net: PolicyValueNet, features: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    """The network's logits of actions by their features alone, float32 (rows,); see `PolicyValueNet.forward_hidden`."""
    return net.actions.scores(features, row) + net.prior_weight * net.heuristic_logits(features[:, 0])


def minibatches(config: Config, positions: int) -> Iterator[torch.Tensor]:
    """Yield numbers of positions, int64 (at most `minibatch_size`,), all of them `epochs` times in random order."""
    shuffler = torch.Generator().manual_seed(config.seed)
    for _ in range(config.epochs):
        yield from torch.randperm(positions, generator=shuffler).split(config.minibatch_size)


def fit(net: PolicyValueNet, config: Config, positions: Positions, console: Console) -> None:
    """Fit the action layers and the prior weight to the values of the actions."""
    learning = [*net.actions.parameters(), net.prior_weight]
    optimizer = torch.optim.Adam(learning, config.learning_rate)
    steps = config.epochs * -(-len(positions) // config.minibatch_size)
    pace = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.learning_rate, steps)
    with progress_bar(console, "gradient steps", steps) as bar:
        for number, chosen in enumerate(minibatches(config, len(positions))):
            features, values, row = positions.rows(chosen)
            missed = config.softness * centred(logits(net, features, row), row) - centred(values, row)
            loss = missed.square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pace.step()
            bar(number + 1, f"error {loss.item():.4f}")


@torch.no_grad()
def worth_of_choices(positions: Sized, scores: torch.Tensor, row: torch.Tensor, values: torch.Tensor) -> float:
    """By how much the action of highest score is worth more than the mean of the legal ones.

    The mean over positions; actions with the same score count by their mean.
    """
    best = torch.full((len(positions),), -torch.inf).scatter_reduce(0, row, scores, "amax")
    chosen = (scores == best[row]).float()
    tied = torch.zeros(len(positions)).index_add(0, row, chosen)
    return float((centred(values, row) * chosen / tied[row]).sum() / len(positions))


def learn(config: Config, console: Console) -> PolicyValueNet:
    """Gather, fit, write.

    Raises:
        ValueError: a setting is impossible, or the game has no action features.
    """
    check_ranges(config)
    variant = parse_variant(config.game)
    if variant.game.kernels.action_features is None:
        raise ValueError(f"{variant.game.title} has no action features to learn from")
    if not isinstance(make_agent(config.rollouts, variant), RolloutAgent):
        raise ValueError(f"--rollouts must look like rollout:16,potential_weight=4, not {config.rollouts!r}")
    started = time.perf_counter()
    torch.manual_seed(config.seed)
    form = NetworkConfig(
        variant.spec,
        variant.encoding_name(config.encoding),
        tuple(config.hidden),
        True,
        action_width=config.action_width,
    )
    net = new_network(form)  # fail before anything is played
    config.run.mkdir(parents=True, exist_ok=True)
    files = gather(config, variant, console)
    net.standardize(*random_play(variant, form, config.seed))
    nn.init.zeros_(net.policy.weight)
    learned = Positions([file for number, file in enumerate(files) if number % HELD_OUT])
    fit(net, config, learned, console)
    held_out = Positions(files[::HELD_OUT])
    features, values, row = held_out.rows(torch.arange(len(held_out)))
    scores = {"heuristic": -features[:, 0], "network": logits(net, features, row)}
    worth = {name: round(worth_of_choices(held_out, score, row, values), 4) for name, score in scores.items()}
    told = ", ".join(f"{value} by the {name}" for name, value in worth.items())
    console.print(f"{len(held_out):,} positions held out: choices are worth {told} more than chance")
    notes = gathered_positions.notes(
        "experiments.distill_rollouts",
        config,
        len(learned) + len(held_out),
        time.perf_counter() - started,
        worth_of_choices=worth,
    )
    save_network(net.eval(), config.run / "model.safetensors", notes)
    console.print(f"the network is {config.run / 'model.safetensors'}")
    return net


if __name__ == "__main__":
    run_program("experiments.distill_rollouts", Config, lambda config: learn(config, Console()), __doc__)
