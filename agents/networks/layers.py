"""Layers with shared weights: over entities of one kind, over the places of a map, over actions."""

import numpy as np
import torch
from torch import nn

from samurai_env.core.encoding import Encoding

HEADS = 4  # of attention


class EntityLayers(nn.Module):
    """Read each of many entities of one kind, and score its actions, with the same weights.

    Args:
        encoding: one that has `entities`.
        heuristic_prior: whether the heuristic policy for an entity's actions is read with it.
        width: of these layers.
        context: width of what is known of the whole position when actions are scored.

    Raises:
        ValueError: the encoding has no entities.
    """

    rows: torch.Tensor  # int64 (entities, entries): their inputs
    rest: torch.Tensor  # int64: all other inputs

    def __init__(self, encoding: Encoding, heuristic_prior: bool, width: int, context: int) -> None:
        super().__init__()
        rows = encoding.entity_rows()
        entities = encoding.entities
        assert entities is not None
        self.register_buffer("rows", torch.from_numpy(rows), persistent=False)
        rest = np.setdiff1d(np.arange(encoding.shape[0]), rows)
        self.register_buffer("rest", torch.from_numpy(rest), persistent=False)
        self.actions = slice(entities.action, entities.action + entities.count * entities.actions)
        self.first = nn.Linear(rows.shape[1] + entities.actions * heuristic_prior, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.context = nn.Linear(context, width, bias=False)
        self.score = nn.Linear(width, entities.actions)
        nn.init.orthogonal_(self.score.weight, 0.01)
        nn.init.zeros_(self.score.bias)

    def embed(self, inputs: torch.Tensor, prior: torch.Tensor | None = None) -> torch.Tensor:
        """Embed each entity, float (batch, entities, width)."""
        rows = inputs[:, self.rows]
        if prior is not None:
            rows = torch.cat([rows, prior[:, self.actions].unflatten(1, (len(self.rows), -1))], 2)
        return self.second(self.first(rows).relu()).relu()

    def logits(self, entities: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Logits to add for the entities' actions, float (batch, these actions)."""
        return self.score((self.third(entities) + self.context(hidden)[:, None]).relu()).flatten(1)


class ActionLayers(nn.Module):
    """Score each legal action by its features (`agents.heuristics`), with the same weights.

    Args:
        columns: number of features.
        width: of these layers.
        context: width of what is known of the whole position.
    """

    scale: torch.Tensor  # float (columns,): features are multiplied by it

    def __init__(self, columns: int, width: int, context: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(columns))
        self.first = nn.Linear(2 * columns, width)
        self.context = nn.Linear(context, width, bias=False)
        self.second = nn.Linear(width, width)
        self.score = nn.Linear(width, 1)
        nn.init.zeros_(self.context.weight)
        nn.init.orthogonal_(self.score.weight, 0.01)
        nn.init.zeros_(self.score.bias)

    def standardize(self, features: torch.Tensor) -> None:
        """Divide features by their deviation, at least a fifth, over these legal actions, float (actions, columns)."""
        self.scale.copy_(1.0 / features.std(0).clamp_min(0.2))

    def scores(self, features: torch.Tensor, row: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
        """Score legal actions, each by its features and their difference to the mean of its position.

        Args:
            features: float (legal actions of all positions, columns).
            row: int64 (legal actions of all positions,): the position of each.
            context: float (positions, width), of the whole position.

        Returns:
            float (legal actions of all positions,).
        """
        features = features * self.scale
        count = torch.bincount(row)
        mean = torch.zeros((len(count), features.shape[1]), dtype=features.dtype, device=features.device).index_add(
            0, row, features
        )
        hidden = self.first(torch.cat([features, features - (mean / count[:, None].clamp_min(1))[row]], 1))
        if context is not None:
            hidden = hidden + context[row]
        return self.score(self.second(hidden.relu()).relu())[:, 0]

    def forward(self, features: torch.Tensor, masks: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Logits to add, float (batch, actions), 0 for illegal actions."""
        legal = masks > 0
        scores = self.scores(features[legal], legal.nonzero()[:, 0], self.context(hidden))
        return torch.zeros(legal.shape, dtype=scores.dtype, device=scores.device).masked_scatter(legal, scores)


class Convolutions(nn.Module):
    """Two convolutions over planes. A map of hexes fits: the six neighbours of a hex lie in the square around it.

    Args:
        shape: (planes, rows, columns).
        width: output channels of each.
    """

    def __init__(self, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(shape[0], width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.outputs = width * shape[1] * shape[2]

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Map float (batch, planes, rows, columns) to (batch, outputs)."""
        return self.second(self.first(planes).relu()).relu().flatten(1)


class Attention(nn.Module):
    """Two layers of attention among rows with learned positions (Vaswani et al., 2017).

    Args:
        shape: (rows, columns).
        width: embedding width of a row.

    Raises:
        ValueError: the width is not a multiple of the heads.
    """

    def __init__(self, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        if width % HEADS:
            raise ValueError(
                f"layers over tokens have {HEADS} heads: the width must be a multiple of {HEADS}, not {width}"
            )
        self.embed = nn.Linear(shape[1], width)
        self.position = nn.Parameter(0.1 * torch.randn(shape[0], width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, HEADS, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(2)
        )
        self.outputs = width * shape[0]

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Map float (batch, rows, columns) to (batch, outputs)."""
        seen = self.embed(rows) + self.position
        for layer in self.layers:
            seen = layer(seen)
        return seen.flatten(1)


def spatial_layers(encoding: Encoding, width: int) -> Convolutions | Attention:
    """The layers for an encoding: convolutions over planes, attention among rows.

    Raises:
        ValueError: the encoding is neither, or the width does not fit.
    """
    if len(encoding.shape) == 3:
        return Convolutions(encoding.shape, width)
    if len(encoding.shape) == 2:
        return Attention(encoding.shape, width)
    raise ValueError("spatial layers read places: they need the encoding planes or tokens; flat has none")
