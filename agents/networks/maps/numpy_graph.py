"""Layers over the graph of a map with fixed places by NumPy, for play without torch."""

import numpy as np

from agents.networks.maps.tables import LARGEST, fixed_map, other_entries, pieces_by_like, sites_beside
from samurai_env.core.encoding import Cells, Encoding, Graph

Shapes = dict[str, tuple[int, ...]]


def linear_shapes(name: str, inputs: int, outputs: int, bias: bool = True) -> Shapes:
    """The shapes of the tensors of a linear layer."""
    return {f"{name}.weight": (outputs, inputs), **({f"{name}.bias": (outputs,)} if bias else {})}


def graph_shapes(graph: Graph, encoding: Encoding, width: int, hidden: int) -> Shapes:
    """The shapes of the tensors of `GraphLayers`, without the prefix `graph.`."""
    rows = graph.sites.rows(encoding)
    sites, suits = graph.sites.shape
    likes = len({piece.like for piece in graph.pieces})
    shapes = linear_shapes("around", len(other_entries(graph, encoding)), 2 * width)
    shapes |= linear_shapes("first", rows.shape[2], width) | {"position": (sites, 1, width)}
    shapes |= linear_shapes("context", 2 * width, suits * width, bias=False)
    for name, bias in (("second", True), ("neighbours", False), ("other_suits", False), ("third", True)):
        shapes |= linear_shapes(name, width, width, bias)
    shapes |= linear_shapes("gate", hidden, width) | linear_shapes("scores", width, likes + 1)
    shapes |= {"piece_scale": (len(graph.pieces),)}
    assert not isinstance(graph.places, Cells)
    for number, places in enumerate(graph.places):
        shapes |= linear_shapes(f"kinds.{number}.own", places.rows(encoding).shape[1], 1)
    return shapes


class NumPyGraph:
    """`graph_layers.GraphLayers` by NumPy, line by line.

    Args:
        graph: the map.
        encoding: a vector, with the blocks that the graph names.
        tensors: float32, by the names of `graph_shapes`; weights are transposed, (inputs, outputs).
    """

    def __init__(self, graph: Graph, encoding: Encoding, tensors: dict[str, np.ndarray]) -> None:
        assert not isinstance(graph.places, Cells)
        self._tensors, self._places = tensors, graph.places
        sites, self._suits = graph.sites.shape
        self._rows, self._rest = graph.sites.rows(encoding), other_entries(graph, encoding)
        self._chosen = encoding.slices()[graph.piece_block]
        self._beside = [sites_beside(places, sites) for places in graph.places]
        self._place_rows = [places.rows(encoding) for places in graph.places]
        self._by_piece = pieces_by_like(graph)
        self._near, self._placeless, self._with_action, self._ids = fixed_map(graph)

    def _layer(self, name: str, inputs: np.ndarray) -> np.ndarray:
        out = inputs @ self._tensors[f"{name}.weight"]
        bias = self._tensors.get(f"{name}.bias")
        return out if bias is None else out + bias

    def embed(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Embed sites in suits, float32 (batch, sites, suits, width), and sum up the position, (batch, 4 * width).

        Args:
            inputs: float32 (batch, entries), normalised observations.
        """
        around = np.maximum(self._layer("around", inputs[:, self._rest]), 0)
        context = self._layer("context", around).reshape(len(inputs), 1, self._suits, -1)
        nodes = self._layer("first", inputs[:, self._rows]) + self._tensors["position"]
        nodes = np.maximum(nodes + context, 0)
        flat = self._layer("neighbours", nodes).reshape(len(inputs), len(self._near), -1)
        mixed = self._layer("second", nodes) + (self._near @ flat).reshape(nodes.shape)
        mixed += self._layer("other_suits", nodes.mean(2, keepdims=True))
        nodes = nodes + self._layer("third", np.maximum(mixed, 0))
        every = nodes.reshape(len(inputs), -1, nodes.shape[3])
        return nodes, np.concatenate([around, every.mean(1), every.max(1)], 1)

    def add_logits(self, obs: np.ndarray, nodes: np.ndarray, hidden: np.ndarray, logits: np.ndarray) -> None:
        """Add what sites and places say to logits, float32 (batch, actions); `obs` is int8 (batch, entries)."""
        gate = np.expand_dims(self._layer("gate", hidden), (1, 2))
        scores = self._layer("scores", np.maximum(nodes, 0) * (np.float32(1.0) + gate))
        gains = scores[..., :-1].reshape(len(obs), len(self._near), -1) @ self._by_piece  # (batch, sites, pieces)
        chosen = (gains @ obs[:, self._chosen].astype(np.float32)[:, :, None])[:, :, 0]
        total = np.repeat(self._placeless[None], len(obs), 0)
        parts = [scores[..., -1].reshape(len(obs), -1)[:, self._with_action]]
        for number, places in enumerate(self._places):
            entries, beside, pieces = obs[:, self._place_rows[number]], self._beside[number], list(places.pieces)
            free = (~entries.any(2)).astype(np.float32)
            here = np.clip(gains.transpose(0, 2, 1)[:, pieces] @ beside, -LARGEST, LARGEST)
            total[:, pieces] += np.einsum("npq,nq->np", np.exp(here), free)
            own = self._layer(f"kinds.{number}.own", entries.astype(np.float32))[:, :, 0]
            parts.append(chosen @ beside + own)
        by_piece = np.log(total) * self._tensors["piece_scale"]
        logits[:, self._ids] += np.concatenate([by_piece, *parts], 1)  # no id comes twice
