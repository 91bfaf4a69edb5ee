"""Layers over the sites of a map, with shared weights: what maps with fixed places and with laid cells have in common.

What a piece is worth in a place is the sum of what it does at the sites beside. So the embedding of a site in a suit
scores every piece, and a place adds up its neighbours. The logit of a piece to choose is the logsumexp over the free
places where it can go; the logits of the places are the scores of the piece that was chosen.
"""

from typing import Any

import torch
from torch import nn

from agents.networks.maps.tables import other_entries, pieces_by_like
from samurai_env.core.encoding import Encoding, Graph


class SiteLayers(nn.Module):
    """Embed sites in suits and score pieces at them.

    Args:
        graph: the map.
        encoding: one that is a vector, with the blocks that the graph names.
        width: embedding width of a site in a suit.
        hidden: width of the last hidden layer, which the scores read.
        entries: number of inputs of a site in a suit.
        fixed: whether the sites have fixed places, so that each has an embedding of its own.
    """

    rows: torch.Tensor  # int64 (sites, suits, entries): those of the observation that describe them
    rest: torch.Tensor  # int64: all other inputs
    by_piece: torch.Tensor  # float (suits * likes, pieces): sums a piece's scores over its suits

    def __init__(self, graph: Graph, encoding: Encoding, width: int, hidden: int, entries: int, fixed: bool) -> None:
        super().__init__()
        self.fixed = fixed
        sites, self.suits = graph.sites.shape
        rows = graph.sites.rows(encoding)
        self.chosen = encoding.slices()[graph.piece_block]
        self.register_buffer("rows", torch.from_numpy(rows), persistent=False)
        rest = other_entries(graph, encoding)
        self.register_buffer("rest", torch.from_numpy(rest), persistent=False)
        self.register_buffer("by_piece", torch.from_numpy(pieces_by_like(graph)), persistent=False)

        self.around = nn.Linear(len(rest), 2 * width)
        self.first = nn.Linear(entries, width)
        if fixed:
            self.position = nn.Parameter(0.1 * torch.randn(sites, 1, width))
        self.context = nn.Linear(2 * width, self.suits * width, bias=False)
        self.second = nn.Linear(width, width)
        self.neighbours = nn.Linear(width, width, bias=False)
        self.other_suits = nn.Linear(width, width, bias=False)
        self.third = nn.Linear(width, width)
        self.outputs = 4 * width
        self.gate = nn.Linear(hidden, width)
        likes = len({piece.like for piece in graph.pieces})
        self.scores = nn.Linear(width, likes + 1)  # the last is that of the site's own action
        nn.init.orthogonal_(self.scores.weight, 0.05)
        nn.init.zeros_(self.scores.bias)
        self.piece_scale = nn.Parameter(torch.ones(len(graph.pieces)))

    def embed(self, obs: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor) -> tuple[Any, torch.Tensor]:
        """Embed sites in suits, and sum up the position.

        Args:
            obs: int8 (batch, entries).
            mean: float32 (entries,): is subtracted from the observations.
            scale: float32 (entries,): is then multiplied with them.

        Returns:
            What `logits` reads of the sites, and float (batch, `outputs`).
        """
        raise NotImplementedError

    def logits(self, obs: torch.Tensor, seen: Any, hidden: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """Add what pieces, sites and places say to logits, float (batch, actions).

        Args:
            obs: int8 (batch, entries).
            seen: of the sites, from `embed`.
            hidden: float (batch, hidden), the last hidden layer.
            logits: float (batch, actions).
        """
        raise NotImplementedError

    def by_input(self) -> dict[str, torch.Tensor]:
        """The parameters by name, weights transposed: (inputs, outputs)."""
        return {name: p.T if name.endswith(".weight") else p for name, p in self.named_parameters()}

    def first_layer(self, rest: torch.Tensor, sites: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The first layers.

        Args:
            rest: float (batch, others), the inputs that describe no site.
            sites: float (batch, sites, suits, entries), those of the sites.

        Returns:
            What the rest says, float (batch, 2 * width), and the embedded sites, (batch, sites, suits, width).
        """
        around = self.around(rest).relu()
        nodes = self.first(sites) + self.context(around).unflatten(1, (1, self.suits, -1))
        return around, (nodes + self.position if self.fixed else nodes).relu()

    def second_layer(self, nodes: torch.Tensor, near: torch.Tensor) -> torch.Tensor:
        """Add to each site what lies around it.

        Args:
            nodes: float (batch, sites, suits, width).
            near: float ([batch,] sites, sites): by site, the shares of the sites beside it.
        """
        beside = torch.matmul(near.to(nodes.dtype), self.neighbours(nodes).flatten(2)).view_as(nodes)
        mixed = self.second(nodes) + beside + self.other_suits(nodes.mean(2, keepdim=True))
        return nodes + self.third(mixed.relu())

    def gains(self, nodes: torch.Tensor, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores of each piece at each site, float (batch, sites, pieces), and of the sites' own actions."""
        scores = self.scores(nodes.relu() * (1.0 + self.gate(hidden))[:, None, None]).float()
        return torch.matmul(scores[..., :-1].flatten(2), self.by_piece), scores[..., -1]

    def at_chosen(self, obs: torch.Tensor, gains: torch.Tensor) -> torch.Tensor:
        """Scores of the chosen piece at each site, float (batch, sites)."""
        return torch.matmul(gains, obs[:, self.chosen].float()[:, :, None])[:, :, 0]
