"""Learning from recorded positions: who plays is watched, a small network is fitted, its best epoch kept."""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from rich.console import Console
from torch import nn

from agents.settings import Range
from experiments.common.cli import progress_bar
from experiments.common.ranges import Count, Seed
from samurai_env.agent_api import Agent


class Recorder:
    """Plays as an agent, and keeps a share of the positions that it decides in.

    Args:
        agent: who plays.
        share: of the positions.
        rng: chooses them, and the decisions at random.
        kept: states (decisions,), added here.
        uniform: who decides at random, where that is asked for.
        random: share of the decisions at random.
    """

    def __init__(
        self,
        agent: Agent,
        share: float,
        rng: np.random.Generator,
        kept: list[np.ndarray],
        uniform: Agent | None = None,
        random: float = 0.0,
    ) -> None:
        self.agent, self.share, self.rng, self.kept = agent, share, rng, kept
        self.uniform, self.random = uniform, random

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        self.kept.append(states[self.rng.random(len(states)) < self.share])
        actions = self.agent.act(states, keys)
        if self.uniform is not None:
            strays = self.rng.random(len(states)) < self.random
            if strays.any():
                actions[strays] = self.uniform.act(states[strays], keys[strays])
        return actions


@dataclass
class FitSettings:
    """How a network is fitted."""

    epochs: Count = 8
    """Passes over the positions."""
    minibatch_size: Count = 1024
    """Positions in a gradient step."""
    learning_rate: Annotated[float, Range(1e-6, 1e6)] = 3e-3
    """AdamW's largest step size; it rises, and falls to nothing."""
    seed: Seed = 1
    """Seed of games and learning."""


def check_positions(learned: Sized, held_out: Sized, flag: str = "--share") -> None:
    """Check that there are positions to learn from, and held out.

    Raises:
        ValueError: there are none.
    """
    if not (len(learned) and len(held_out)):
        raise ValueError(
            f"{len(learned):,} positions to learn from, {len(held_out):,} held out: use a larger {flag} or more deals"
        )


def fit(
    net: nn.Module,
    config: FitSettings,
    positions: int,
    log_likelihood: Callable[[torch.Tensor], torch.Tensor],
    held_out: Callable[[], float],
    console: Console,
) -> float:
    """Maximise a likelihood with AdamW, and leave the network as it was after its best epoch.

    Args:
        net: what is fitted.
        config: how.
        positions: how many there are to learn from.
        log_likelihood: mean over the positions of these rows (int64), with gradients.
        held_out: mean over positions that are not learned from.
        console: where progress is shown.

    Returns:
        What `held_out` says then.

    Raises:
        ValueError: learning has diverged.
    """
    optimizer = torch.optim.AdamW(net.parameters(), config.learning_rate, weight_decay=0.01)
    steps = config.epochs * -(-positions // config.minibatch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.learning_rate, steps)
    shuffler = torch.Generator().manual_seed(config.seed)
    best, kept, done = -np.inf, {}, 0
    with progress_bar(console, "gradient steps", steps) as bar:
        for _ in range(config.epochs):
            for rows in torch.randperm(positions, generator=shuffler).split(config.minibatch_size):
                loss = -log_likelihood(rows)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                done += 1
                bar(done, f"log-likelihood {-loss.item():.3f}, held out {best:.3f}")
            found = held_out()
            if found > best:
                best, kept = found, {name: tensor.clone() for name, tensor in net.state_dict().items()}
    if not kept:
        raise ValueError(
            f"learning has diverged: what was held out has likelihood {found}; try a lower --learning-rate"
        )
    net.load_state_dict(kept)
    return best
