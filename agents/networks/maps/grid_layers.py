"""Layers over the graph of a map that is laid as the game goes on: sites and cells on a grid."""

import numpy as np
import torch
from torch import nn

from agents.networks.maps.compiled_layers import AddLogits, Embed
from agents.networks.maps.embed_kernels import GridEmbedInputs
from agents.networks.maps.grid_score_kernels import LEAST, GridScoreInputs, grid_score_weights, piece_columns
from agents.networks.maps.grid_tables import Tables, all_entries, entry_count, grid_entries, read_tables
from agents.networks.maps.site_kernels import embed_weights
from agents.networks.maps.site_layers import SiteLayers
from agents.networks.maps.tables import LARGEST
from samurai_env.core.encoding import Cells, Encoding, Graph

Seen = tuple[Tables, torch.Tensor]  # what lies on the tables, and the embedded sites


def padded(rows: np.ndarray, first: np.ndarray, value: int | float) -> torch.Tensor:
    """The rows of each position, filled up: (batch, most, ...); `first` as in `Tables`."""
    counts = np.diff(first)
    out = np.full((len(counts), max(1, counts.max(initial=0)), *rows.shape[1:]), value, rows.dtype)
    out[np.arange(out.shape[1]) < counts[:, None]] = rows
    return torch.from_numpy(out)


def places(first: np.ndarray) -> torch.Tensor:
    """Whether there is a site or cell, bool (batch, most), on the CPU; `first` as in `Tables`."""
    return padded(np.ones(first[-1], bool), first, False)


class GridLayers(SiteLayers):
    """Read a table: on a CPU by compiled kernels, in float32 also under autocast, on other devices by torch.

    Sites are those of `grid_tables.Tables`, which are read on the CPU.

    Args:
        graph: the map, with cells.
        encoding: one that is a vector, with the blocks that the graph names.
        width: embedding width of a site in a suit.
        hidden: width of the last hidden layer, which `logits` reads.
    """

    numbers: torch.Tensor  # int64: actions that choose a piece

    def __init__(self, graph: Graph, encoding: Encoding, width: int, hidden: int) -> None:
        cells = graph.places
        assert isinstance(cells, Cells)
        inputs = grid_entries(cells, encoding)
        super().__init__(graph, encoding, width, hidden, entry_count(*inputs.owner.shape[1:]), fixed=False)
        self.inputs, self.columns = inputs, piece_columns(graph, encoding)
        numbers = torch.arange(graph.piece_action, graph.piece_action + len(graph.pieces))
        self.register_buffer("numbers", numbers, persistent=False)

    def embed(self, obs: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor) -> tuple[Seen, torch.Tensor]:
        """Embed sites in suits, float (nodes of all positions, width), and sum up the position, (batch, `outputs`)."""
        tables = read_tables(obs.cpu().numpy(), self.inputs)
        compute = self._embed_compiled if obs.device.type == "cpu" else self._embed_by_torch
        nodes, position = compute(obs, tables, mean, scale)
        return (tables, nodes), position

    def logits(self, obs: torch.Tensor, seen: Seen, hidden: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """Add the scores of pieces, cells and squares to choose to the logits, float32 (batch, actions)."""
        compute = self._logits_compiled if obs.device.type == "cpu" else self._logits_by_torch
        return compute(obs, *seen, hidden, logits)

    def _embed_compiled(
        self, obs: torch.Tensor, tables: Tables, mean: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        weights = embed_weights(self.by_input(), mean, scale, self.rest)
        inputs = GridEmbedInputs(self.rest.numpy(), tables)
        around, nodes, average, most = Embed.apply(obs, inputs, torch.is_grad_enabled(), *weights)
        return nodes, torch.cat([around, average, most], 1)

    def _logits_compiled(
        self, obs: torch.Tensor, tables: Tables, nodes: torch.Tensor, hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        weights, gate = grid_score_weights(self.by_input()), self.gate(hidden).float()
        return AddLogits.apply(logits, obs, nodes, gate, GridScoreInputs(tables, self.columns), *weights)

    def _embed_by_torch(
        self, obs: torch.Tensor, tables: Tables, mean: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = padded(all_entries(tables), tables.first_site, 0.0).to(mean)
        beside = self._beside(tables)
        near = (torch.matmul(beside.mT, beside) > 0).float()
        near = near / near.sum(2, keepdim=True).clamp_min(1.0)
        around, nodes = self.first_layer(((obs.float() - mean) * scale)[:, self.rest], inputs)
        nodes = self.second_layer(nodes, near)
        here = self._here(tables.first_site).repeat_interleave(self.suits, 1)
        flat = nodes.flatten(1, 2)
        count = here.sum(1, keepdim=True)
        average = (flat * here[:, :, None]).sum(1) / count.clamp_min(1)
        most = flat.masked_fill(~here[:, :, None], -torch.inf).amax(1).masked_fill(count == 0, 0.0)
        listed = nodes.flatten(0, 1)[self._listed(tables.first_site)]
        return listed.flatten(0, 1), torch.cat([around, average, most], 1)

    def _logits_by_torch(
        self, obs: torch.Tensor, tables: Tables, nodes: torch.Tensor, hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        batch, most = self._here(tables.first_site).shape
        sites = nodes.new_zeros(batch * most, self.suits, nodes.shape[1])
        sites = sites.index_copy(0, self._listed(tables.first_site), nodes.unflatten(0, (-1, self.suits)))
        sites = sites.unflatten(0, (batch, most))
        gains, own = self.gains(sites, hidden)
        scores = torch.matmul(self._beside(tables), gains)  # (batch, free cells, pieces)
        exponents = scores.clamp(-LARGEST, LARGEST).exp() * self._here(tables.first_cell)[:, :, None]
        total = exponents.sum(1) + float(LEAST)
        logits = nn.functional.pad(logits.index_add(1, self.numbers, total.log() * self.piece_scale), (0, 1))
        cells = padded(tables.cell_action, tables.first_cell, logits.shape[1] - 1).to(obs.device)
        squares = padded(tables.site_action % logits.shape[1], tables.first_site, logits.shape[1] - 1).to(obs.device)
        logits = logits.scatter_add(1, cells, self.at_chosen(obs, scores))
        return logits.scatter_add(1, squares, own.sum(2))[:, :-1]

    def _here(self, first: np.ndarray) -> torch.Tensor:
        """Whether there is a site or cell, bool (batch, most); `first` as in `Tables`."""
        return places(first).to(self.rest.device)

    def _listed(self, first: np.ndarray) -> torch.Tensor:
        """The numbers of the sites among all of (batch, most), int64; `first` as in `Tables`."""
        return places(first).flatten().nonzero()[:, 0].to(self.rest.device)

    def _beside(self, tables: Tables) -> torch.Tensor:
        """Whether a piece in a cell counts for a site, float (batch, most cells, most sites)."""
        sites = int(np.diff(tables.first_site).max(initial=1))
        beside = padded(tables.beside, tables.first_cell, -1).to(self.rest.device)
        return (beside[..., None] == torch.arange(sites, device=beside.device)).any(2).float()
