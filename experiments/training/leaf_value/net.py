"""A leaf value in training: the positions that it learns from, its layers, how likely it makes what happened."""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from agents.leaf_values import WEIGHTS, shapes
from experiments.common.array_files import load_arrays
from samurai_env.core.game import Variant
from samurai_env.core.payoffs import win_shares

SMALLEST = 0.1  # standard deviation that a feature is divided by: what hardly ever changes does not count for more
FORMS = {"features": ("<f2", 3), "won": ("<f4", 2), "guessed": ("<f4", 2)}


def shares(returns: np.ndarray, cooperative: bool) -> np.ndarray:
    """The share of the win that returns (..., players) mean; in a cooperative game whether it is won, and lost."""
    players = returns.shape[-1]
    if cooperative:
        return np.stack([returns[..., 0], 1 - returns[..., 0]], -1)
    return win_shares(returns, players)


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
    """The layers of a leaf value, in training; features are scaled to mean 0 and standard deviation 1 at most."""

    mean: torch.Tensor
    scale: torch.Tensor  # 0 for what never changes: it is not read

    def __init__(self, variant: Variant, hidden: tuple[int, int], features: torch.Tensor) -> None:
        super().__init__()
        columns, (one, two) = shapes(variant, hidden)["first"][0], hidden
        rows = features[:: max(1, len(features) // 100_000)].float().flatten(0, 1)
        self.register_buffer("mean", rows.mean(0))
        self.register_buffer("scale", torch.where(rows.std(0) > 0, 1 / rows.std(0).clamp(min=SMALLEST), 0.0))
        self.first, self.second, self.third = nn.Linear(columns, one), nn.Linear(one, two), nn.Linear(two, 1, False)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Logarithms of the chances to win, float32 as `won` of `play`; `features` (batch, rows, columns)."""
        rows = (features.float() - self.mean) * self.scale
        scores = self.third(self.second(self.first(rows).relu()).relu()).squeeze(-1)
        if scores.shape[-1] == 1:
            scores = torch.cat([scores, torch.zeros_like(scores)], -1)
        return scores.log_softmax(-1)

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
