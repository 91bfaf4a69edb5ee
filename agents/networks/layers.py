"""Layers that read parts of what a network sees with the same weights: things of a kind, places of a map, actions."""

import numpy as np
import torch
from torch import nn

from samurai_env.core.encoding import Encoding

HEADS = 4  # of attention


class SharedLayers(nn.Module):
    """Layers that read each of many things of one kind, and score its actions, with the same weights.

    Args:
        encoding: one that has `entities`.
        advised: whether the advice on a thing's actions is read with it.
        width: of these layers.
        known: width of what is known of the whole position when actions are scored.

    Raises:
        ValueError: the encoding has no things.
    """

    where: torch.Tensor  # int64 (things, entries): their inputs
    rest: torch.Tensor  # int64: all other inputs

    def __init__(self, encoding: Encoding, advised: bool, width: int, known: int) -> None:
        super().__init__()
        where = encoding.entity_rows()
        things = encoding.entities
        assert things is not None
        self.register_buffer("where", torch.from_numpy(where), persistent=False)
        rest = np.setdiff1d(np.arange(encoding.shape[0]), where)
        self.register_buffer("rest", torch.from_numpy(rest), persistent=False)
        self.actions = slice(things.action, things.action + things.count * things.actions)
        self.first = nn.Linear(where.shape[1] + things.actions * advised, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.known = nn.Linear(known, width, bias=False)
        self.score = nn.Linear(width, things.actions)
        nn.init.orthogonal_(self.score.weight, 0.01)
        nn.init.zeros_(self.score.bias)

    def read(self, inputs: torch.Tensor, advice: torch.Tensor | None = None) -> torch.Tensor:
        """Each thing as the layers see it, float (batch, things, width)."""
        rows = inputs[:, self.where]
        if advice is not None:
            rows = torch.cat([rows, advice[:, self.actions].unflatten(1, (len(self.where), -1))], 2)
        return self.second(self.first(rows).relu()).relu()

    def scores(self, seen: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What to add to the logits of the things' actions, float (batch, these actions)."""
        return self.score((self.third(seen) + self.known(hidden)[:, None]).relu()).flatten(1)


class OutlookLayers(nn.Module):
    """Layers that score each legal action by its features (`agents.networks.features`), with the same weights.

    Args:
        columns: of the outlook.
        width: of these layers.
        known: width of what is known of the whole position.
    """

    pace: torch.Tensor  # float (columns,): by what they are multiplied

    def __init__(self, columns: int, width: int, known: int) -> None:
        super().__init__()
        self.register_buffer("pace", torch.ones(columns))
        self.first = nn.Linear(2 * columns, width)
        self.known = nn.Linear(known, width, bias=False)
        self.second = nn.Linear(width, width)
        self.score = nn.Linear(width, 1)
        nn.init.zeros_(self.known.weight)
        nn.init.orthogonal_(self.score.weight, 0.01)
        nn.init.zeros_(self.score.bias)

    def scores(self, looks: torch.Tensor, row: torch.Tensor, known: torch.Tensor | None = None) -> torch.Tensor:
        """Score legal actions, each seen as it is and beside the mean of those of its position.

        Args:
            looks: float (legal actions of all positions, columns).
            row: int64 (legal actions of all positions,): to which position each belongs.
            known: float (positions, width), of the whole position.

        Returns:
            float (legal actions of all positions,).
        """
        looks = looks * self.pace
        count = torch.bincount(row)
        mean = torch.zeros((len(count), looks.shape[1]), dtype=looks.dtype, device=looks.device).index_add(
            0, row, looks
        )
        seen = self.first(torch.cat([looks, looks - (mean / count[:, None].clamp_min(1))[row]], 1))
        if known is not None:
            seen = seen + known[row]
        return self.score(self.second(seen.relu()).relu())[:, 0]

    def forward(self, looks: torch.Tensor, masks: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """What to add to the logits, float (batch, actions), 0 for illegal actions."""
        legal = masks > 0
        scores = self.scores(looks[legal], legal.nonzero()[:, 0], self.known(hidden))
        return torch.zeros(legal.shape, dtype=scores.dtype, device=scores.device).masked_scatter(legal, scores)


class Convolutions(nn.Module):
    """Two convolutions over planes. A map of hexes fits: the six neighbours of a hex lie in the square around it.

    Args:
        shape: (planes, rows, columns).
        width: planes that each makes.
    """

    def __init__(self, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(shape[0], width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.outputs = width * shape[1] * shape[2]

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """From float (batch, planes, rows, columns) to (batch, outputs)."""
        return self.second(self.first(planes).relu()).relu().flatten(1)


class Attention(nn.Module):
    """Two layers of attention among rows, which know their places (Vaswani et al., 2017).

    Args:
        shape: (rows, columns).
        width: what each row becomes.

    Raises:
        ValueError: the width is no multiple of the heads.
    """

    def __init__(self, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        if width % HEADS:
            raise ValueError(f"layers over tokens have {HEADS} heads: the width is a multiple of {HEADS}, not {width}")
        self.read = nn.Linear(shape[1], width)
        self.place = nn.Parameter(0.1 * torch.randn(shape[0], width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, HEADS, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(2)
        )
        self.outputs = width * shape[0]

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """From float (batch, rows, columns) to (batch, outputs)."""
        seen = self.read(rows) + self.place
        for layer in self.layers:
            seen = layer(seen)
        return seen.flatten(1)


def spatial_layers(encoding: Encoding, width: int) -> Convolutions | Attention:
    """Layers that fit an encoding: convolutions over planes, attention among rows.

    Raises:
        ValueError: the encoding is neither, or the width does not fit.
    """
    if len(encoding.shape) == 3:
        return Convolutions(encoding.shape, width)
    if len(encoding.shape) == 2:
        return Attention(encoding.shape, width)
    raise ValueError("spatial layers read places: they need the encoding planes or tokens; flat has none")
