"""Layers over the graph of a map: sites and suits with shared weights, and pieces scored place by place.

What a piece is worth in a place is the sum of what it does at the sites beside. So the embedding of a site in a suit
scores every piece, and a place adds up its neighbours. The logit of a piece to choose is the logsumexp over the free
places where it can go; the logits of the places are the scores of the piece that was chosen.
"""

import numpy as np
import torch
from torch import nn

from samurai_env.core.encoding import Encoding, Graph, Places

LARGEST = 15.0  # scores are clamped to this before they are exponentiated


class GraphLayers(nn.Module):
    """Read a map.

    Args:
        graph: the map.
        encoding: one that is a vector, with the blocks that the graph names.
        width: embedding width of a site in a suit.
        hidden: width of the last hidden layer, which `logits` reads.
    """

    rows: torch.Tensor  # int64 (sites, suits, entries): their inputs
    rest: torch.Tensor  # int64: all other inputs
    near: torch.Tensor  # float (sites, sites): by site, the shares of the sites that have places in common with it
    by_piece: torch.Tensor  # float (suits * likes, pieces): sums a piece's scores over its suits
    placeless: torch.Tensor  # float (pieces,): 1 for a piece that is put nowhere, otherwise nearly 0
    with_action: torch.Tensor  # int64: numbers of the pairs (site, suit) that have an action
    ids: torch.Tensor  # int64: of the actions that `logits` scores

    def __init__(self, graph: Graph, encoding: Encoding, width: int, hidden: int) -> None:
        super().__init__()
        sites, self.suits = graph.sites.shape
        rows = graph.sites.rows(encoding)
        likes = sorted({piece.like for piece in graph.pieces})
        self.chosen = encoding.slices()[graph.piece_block]
        self.kinds = nn.ModuleList(PlaceLayer(places, encoding, sites) for places in graph.places)
        for name, array in _constants(graph, likes).items():
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.register_buffer("rows", torch.from_numpy(rows), persistent=False)
        rest = np.setdiff1d(np.arange(encoding.shape[0]), rows)
        self.register_buffer("rest", torch.from_numpy(rest), persistent=False)

        self.around = nn.Linear(len(rest), 2 * width)
        self.first = nn.Linear(rows.shape[2], width)
        self.position = nn.Parameter(0.1 * torch.randn(sites, 1, width))
        self.context = nn.Linear(2 * width, self.suits * width, bias=False)
        self.second = nn.Linear(width, width)
        self.neighbours = nn.Linear(width, width, bias=False)
        self.other_suits = nn.Linear(width, width, bias=False)
        self.third = nn.Linear(width, width)
        self.outputs = 4 * width
        self.gate = nn.Linear(hidden, width)
        self.scores = nn.Linear(width, len(likes) + 1)  # the last is that of the site's own action
        nn.init.orthogonal_(self.scores.weight, 0.05)
        nn.init.zeros_(self.scores.bias)
        self.piece_scale = nn.Parameter(torch.ones(len(graph.pieces)))

    def embed(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Embed sites in suits, float (batch, sites, suits, width), and sum up the position, (batch, `outputs`)."""
        around = self.around(inputs[:, self.rest]).relu()
        context = self.context(around).unflatten(1, (1, self.suits, -1))
        nodes = (self.first(inputs[:, self.rows]) + self.position + context).relu()
        near = torch.matmul(self.near.to(nodes.dtype), self.neighbours(nodes).flatten(2)).view_as(nodes)
        mixed = self.second(nodes) + near + self.other_suits(nodes.mean(2, keepdim=True))
        nodes = nodes + self.third(mixed.relu())
        flat = nodes.flatten(1, 2)
        return nodes, torch.cat([around, flat.mean(1), flat.amax(1)], 1)

    def logits(
        self, obs: torch.Tensor, nodes: torch.Tensor, hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        """Add what sites and places say to logits, float (batch, actions); `obs` is int8 (batch, entries)."""
        scores = self.scores(nodes.relu() * (1.0 + self.gate(hidden))[:, None, None]).float()
        by_site = scores[..., -1].flatten(1)[:, self.with_action]
        gains = torch.matmul(scores[..., :-1].flatten(2), self.by_piece)  # (batch, sites, pieces)
        chosen = torch.matmul(gains, obs[:, self.chosen].float()[:, :, None])[:, :, 0]
        total = self.placeless.expand(len(gains), -1).clone()
        places = []
        for kind in self.kinds:
            assert isinstance(kind, PlaceLayer)
            at_places, at_pieces = kind(obs, gains, chosen)
            places.append(at_places)
            total[:, kind.pieces] += at_pieces
        return logits.index_add(1, self.ids, torch.cat([total.log() * self.piece_scale, by_site, *places], 1))


class PlaceLayer(nn.Module):
    """Score the places of one kind: by the sites beside, and by what lies there already."""

    rows: torch.Tensor  # int64 (places, entries): their inputs
    beside: torch.Tensor  # float (sites, places): 1 where they lie side by side

    def __init__(self, places: Places, encoding: Encoding, sites: int) -> None:
        super().__init__()
        self.pieces = list(places.pieces)
        rows = places.rows(encoding)
        self.register_buffer("rows", torch.from_numpy(rows), persistent=False)
        self.register_buffer("beside", torch.from_numpy(_beside(places, sites)), persistent=False)
        self.own = nn.Linear(rows.shape[1], 1)
        nn.init.orthogonal_(self.own.weight, 0.05)
        nn.init.zeros_(self.own.bias)

    def forward(
        self, obs: torch.Tensor, gains: torch.Tensor, chosen: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Score by place and by piece.

        Args:
            obs: int8 (batch, entries).
            gains: float (batch, sites, all pieces): what each piece does at each site.
            chosen: float (batch, sites): that of the chosen piece.

        Returns:
            Scores of the places for the chosen piece, float (batch, places), and for each piece that can be put here
            the sum of exp(score) over the free places, float (batch, these pieces).
        """
        entries = obs[:, self.rows].float()
        free = (entries.abs().amax(2) == 0).float()
        here = torch.matmul(gains.mT[:, self.pieces], self.beside)  # (batch, pieces, places)
        total = torch.matmul(here.clamp(-LARGEST, LARGEST).exp(), free[:, :, None])[:, :, 0]
        return torch.matmul(chosen, self.beside) + self.own(entries)[:, :, 0].float(), total


def _beside(places: Places, sites: int) -> np.ndarray:
    """Whether a site and a place lie side by side, float32 (sites, places)."""
    table = np.zeros((sites, len(places.beside)), np.float32)
    for place, near in enumerate(places.beside):
        table[list(near), place] = 1.0
    return table


def _constants(graph: Graph, likes: list[int]) -> dict[str, np.ndarray]:
    """The graph as arrays, see the attributes of `GraphLayers`."""
    sites, suits = graph.sites.shape
    count = len(graph.pieces)
    beside = np.concatenate([_beside(places, sites) for places in graph.places], 1)
    shared = beside @ beside.T
    by_piece = np.zeros((suits, len(likes), count), np.float32)
    for number, piece in enumerate(graph.pieces):
        by_piece[slice(None) if piece.suit is None else piece.suit, likes.index(piece.like), number] = 1.0
    placed = [piece for places in graph.places for piece in places.pieces]
    placeless = np.ones(count, np.float32)
    placeless[placed] = 1e-6
    actions = np.array(graph.sites.actions).ravel()
    ids = [np.arange(graph.piece_action, graph.piece_action + count), actions[actions >= 0]]
    ids += [np.arange(places.action, places.action + len(places.beside)) for places in graph.places]
    return {
        "near": shared / shared.sum(1, keepdims=True),
        "by_piece": by_piece.reshape(-1, count),
        "placeless": placeless,
        "with_action": np.flatnonzero(actions >= 0),
        "ids": np.concatenate(ids),
    }
