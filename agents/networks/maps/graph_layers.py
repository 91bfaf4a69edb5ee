"""Layers over the graph of a map with fixed places."""

import torch
from torch import nn

from agents.networks.maps.compiled_layers import AddLogits, Embed
from agents.networks.maps.embed_kernels import FixedEmbedInputs
from agents.networks.maps.score_kernels import score_inputs, score_weights
from agents.networks.maps.site_kernels import embed_weights
from agents.networks.maps.site_layers import SiteLayers
from agents.networks.maps.tables import LARGEST, fixed_map, sites_beside
from samurai_env.core.encoding import Cells, Encoding, Graph, Places


class GraphLayers(SiteLayers):
    """Read a map: on a CPU by compiled kernels, in float32 also under autocast, on other devices by torch.

    Args:
        graph: the map.
        encoding: one that is a vector, with the blocks that the graph names.
        width: embedding width of a site in a suit.
        hidden: width of the last hidden layer, which `logits` reads.
    """

    near: torch.Tensor  # float (sites, sites): by site, the shares of the sites that have places in common with it
    placeless: torch.Tensor  # float (pieces,): 1 for a piece that is put nowhere, otherwise nearly 0
    with_action: torch.Tensor  # int64: numbers of the pairs (site, suit) that have an action
    ids: torch.Tensor  # int64: of the actions that `logits` scores

    def __init__(self, graph: Graph, encoding: Encoding, width: int, hidden: int) -> None:
        assert not isinstance(graph.places, Cells)
        kinds = [PlaceLayer(places, encoding, graph.sites.shape[0]) for places in graph.places]
        super().__init__(graph, encoding, width, hidden, graph.sites.rows(encoding).shape[2], fixed=True)
        self.kinds = nn.ModuleList(kinds)
        for name, array in fixed_map(graph)._asdict().items():
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.score_inputs = score_inputs(graph, encoding)

    def embed(self, obs: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Embed sites in suits, float (batch, sites, suits, width), and sum up the position, (batch, `outputs`)."""
        compute = self._embed_compiled if obs.device.type == "cpu" else self._embed_by_torch
        return compute(obs, mean, scale)

    def logits(
        self, obs: torch.Tensor, nodes: torch.Tensor, hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        """Add the scores of pieces, sites' own actions and places to the logits, float32 (batch, actions)."""
        compute = self._logits_compiled if obs.device.type == "cpu" else self._logits_by_torch
        return compute(obs, nodes, hidden, logits)

    def _embed_by_torch(
        self, obs: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = (obs.float() - mean) * scale
        around, nodes = self.first_layer(inputs[:, self.rest], inputs[:, self.rows])
        nodes = self.second_layer(nodes, self.near)
        flat = nodes.flatten(1, 2)
        return nodes, torch.cat([around, flat.mean(1), flat.amax(1)], 1)

    def _logits_by_torch(
        self, obs: torch.Tensor, nodes: torch.Tensor, hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        gains, own = self.gains(nodes, hidden)
        chosen = self.at_chosen(obs, gains)
        total = self.placeless.expand(len(gains), -1).clone()
        places = []
        for kind in self.kinds:
            assert isinstance(kind, PlaceLayer)
            at_places, at_pieces = kind(obs, gains, chosen)
            places.append(at_places)
            total[:, kind.pieces] += at_pieces
        by_site = own.flatten(1)[:, self.with_action]
        return logits.index_add(1, self.ids, torch.cat([total.log() * self.piece_scale, by_site, *places], 1))

    def _embed_compiled(
        self, obs: torch.Tensor, mean: torch.Tensor, scale: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        rows, near = self.rows.flatten(0, 1).numpy(), self.near.numpy()
        inputs = FixedEmbedInputs(self.rest.numpy(), rows, near, mean.numpy(), scale.numpy())
        weights = embed_weights(self.by_input(), mean, scale, self.rest)
        around, nodes, average, most = Embed.apply(obs, inputs, torch.is_grad_enabled(), *weights)
        return nodes.view(len(obs), -1, self.suits, nodes.shape[1]), torch.cat([around, average, most], 1)

    def _logits_compiled(
        self, obs: torch.Tensor, nodes: torch.Tensor, hidden: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        w = score_weights(self.by_input(), len(self.kinds))
        weights = [w.scores, w.scores_bias, w.piece_scale, *w.own, *w.own_bias]
        gate, flat = self.gate(hidden).float(), nodes.flatten(1, 2)
        return AddLogits.apply(logits, obs, flat, gate, self.score_inputs, *weights)


class PlaceLayer(nn.Module):
    """Score the places of one kind: by the sites beside, and by what lies there already."""

    rows: torch.Tensor  # int64 (places, entries): their inputs
    beside: torch.Tensor  # float (sites, places): 1 where they lie side by side

    def __init__(self, places: Places, encoding: Encoding, sites: int) -> None:
        super().__init__()
        self.pieces = list(places.pieces)
        rows = places.rows(encoding)
        self.register_buffer("rows", torch.from_numpy(rows), persistent=False)
        self.register_buffer("beside", torch.from_numpy(sites_beside(places, sites)), persistent=False)
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
