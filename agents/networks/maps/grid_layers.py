"""Layers over the graph of a map that is laid as the game goes on: sites and cells on a grid."""

from dataclasses import dataclass

import torch
from torch import nn

from agents.networks.maps.site_layers import SiteLayers
from agents.networks.maps.tables import LARGEST
from samurai_env.core.encoding import Cells, Encoding, Graph


@dataclass
class Table:
    """The sites and cells in a batch of observations. Sites that no game has laid yet are left out.

    Attributes:
        laid: bool (batch, sites).
        square: int16 (batch, sites): the number of each site's square.
        cell: int64 (batch, most): the free cells, by the number of the side that has the action; then one that is none.
        here: bool (batch, most): whether there is one.
        beside: bool (batch, most, sites, sides): whether the cell lies on that side of the site.
    """

    laid: torch.Tensor
    square: torch.Tensor
    cell: torch.Tensor
    here: torch.Tensor
    beside: torch.Tensor


class GridLayers(SiteLayers):
    """Read a table.

    Args:
        graph: the map, with cells.
        encoding: one that is a vector, with the blocks that the graph names.
        width: embedding width of a site in a suit.
        hidden: width of the last hidden layer, which `logits` reads.
    """

    pieces: torch.Tensor  # int64: ids of the actions that choose a piece
    steps: torch.Tensor  # int16 (sides,): the step to a side's cell, as a difference of squares

    def __init__(self, graph: Graph, encoding: Encoding, width: int, hidden: int) -> None:
        super().__init__(graph, encoding, width, hidden, fixed=False)
        cells = graph.places
        assert isinstance(cells, Cells)
        slices = encoding.slices()
        self.laid, self.at, self.free = (slices[name] for name in (cells.laid, cells.position, cells.free))
        reach = max(block.limits[1] for block in encoding.blocks if block.name == cells.position)
        self.line = 2 * reach + 3  # squares in a line: a cell lies one step beyond a site
        steps = torch.tensor([y * self.line + x for x, y in cells.steps], dtype=torch.int16)
        self.register_buffer("steps", steps, persistent=False)
        self.cells = graph.sites.shape[0] * len(cells.steps)
        self.action = cells.action
        pieces = torch.arange(graph.piece_action, graph.piece_action + len(graph.pieces))
        self.register_buffer("pieces", pieces, persistent=False)
        self.sides = nn.Linear(width, len(cells.steps))  # what a card on a side brings, whatever it is
        nn.init.orthogonal_(self.sides.weight, 0.05)
        nn.init.zeros_(self.sides.bias)

    def table(self, obs: torch.Tensor) -> Table:
        """Find what lies where; `obs` is int8 (batch, entries)."""
        laid = obs[:, self.laid] > 0
        laid = laid[:, : max(1, int(laid.sum(1).max()))]
        place = obs[:, self.at].short().unflatten(1, (-1, 2))[:, : laid.shape[1]]
        square = place[..., 1] * self.line + place[..., 0]

        free = obs[:, self.free] > 0
        number = free.cumsum(1, dtype=torch.int16).long()  # from 1 on
        most = max(1, int(number[:, -1].max()))
        cell = torch.full((len(obs), most + 1), self.cells, device=obs.device)
        every = torch.arange(self.cells, device=obs.device).expand(len(obs), -1)
        cell = cell.scatter_(1, number.masked_fill(~free, 0), every)[:, 1:]
        here = cell < self.cells
        known = cell.masked_fill(~here, 0)
        cell_square = square.gather(1, known // len(self.steps)) + self.steps[known % len(self.steps)]
        away = cell_square[:, :, None] - square[:, None]
        beside = (away[..., None] == self.steps) & laid[:, None, :, None] & here[:, :, None, None]
        return Table(laid, square, cell, here, beside)

    def near(self, obs: torch.Tensor, laid: torch.Tensor) -> torch.Tensor:
        """By site, the shares of itself and of the sites that have a cell in common with it (batch, sites, sites)."""
        place = obs[:, self.at].short().unflatten(1, (-1, 2))[:, : laid.shape[1]]
        x, y = (part[:, :, None] - part[:, None] for part in place.unbind(2))
        near = (x.abs() + y.abs() <= 2) & laid[:, :, None] & laid[:, None]
        return near / near.sum(2, keepdim=True).clamp_min(1)

    def embed(
        self, obs: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor
    ) -> tuple[tuple[torch.Tensor, Table], torch.Tensor]:
        """Embed sites in suits, float (batch, sites, suits, width), and sum up the position, (batch, `outputs`)."""
        table = self.table(obs)
        around, nodes = self.first_layer((obs.float() - mean) * scale, table.laid.shape[1])
        laid = table.laid.to(nodes.dtype)[:, :, None, None]
        nodes = self.second_layer(nodes * laid, self.near(obs, table.laid)) * laid
        flat = nodes.flatten(1, 2)
        mean = flat.sum(1) / (self.suits * laid.sum(1)[:, 0]).clamp_min(1.0)
        return (nodes, table), torch.cat([around, mean, flat.amax(1).relu()], 1)

    def logits(
        self, obs: torch.Tensor, seen: tuple[torch.Tensor, Table], hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        """Add the scores of pieces and cells to the logits, float32 (batch, actions)."""
        nodes, table = seen
        gains, _ = self.gains(nodes, hidden)
        sides = self.sides(nodes.mean(2)).float()
        scores = torch.matmul(table.beside.any(3).float(), gains)  # (batch, free cells, pieces)
        scores = scores + torch.matmul(table.beside.flatten(2).float(), sides.flatten(1)[:, :, None])
        exponents = scores.clamp(-LARGEST, LARGEST).exp() * table.here[:, :, None]
        total = exponents.sum(1).clamp_min(1e-6)
        at_cells = self.at_chosen(obs, scores).float()
        logits = nn.functional.pad(logits, (0, 1)).scatter_add(1, self.action + table.cell, at_cells)[:, :-1]
        return logits.index_add(1, self.pieces, total.log() * self.piece_scale)
