"""Layers over the graph of a map with fixed places, compiled, for play without torch."""

import numpy as np

from agents.networks.maps.embed_kernels import EmbedInputs, EmbedWeights, embed, embed_weights, new_embedded
from agents.networks.maps.score_kernels import add_logits, new_work, score_inputs, score_weights
from agents.networks.maps.tables import fixed_map, other_entries
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
    """`graph_layers.GraphLayers` without torch.

    Args:
        graph: the map.
        encoding: a vector, with the blocks that the graph names.
        tensors: float32, by the names of `graph_shapes`; weights are transposed, (inputs, outputs).
        mean: float32 (entries,): is subtracted from an observation.
        scale: float32 (entries,): is then multiplied with it.
    """

    def __init__(
        self, graph: Graph, encoding: Encoding, tensors: dict[str, np.ndarray], mean: np.ndarray, scale: np.ndarray
    ) -> None:
        assert not isinstance(graph.places, Cells)
        rows, rest = graph.sites.rows(encoding), other_entries(graph, encoding)
        flat = np.ascontiguousarray(rows.reshape(-1, rows.shape[2]))
        self._inputs = EmbedInputs(rest, flat, fixed_map(graph).near, mean, scale)
        self._weights = EmbedWeights(*map(np.ascontiguousarray, embed_weights(tensors, mean, scale, rest)))
        self._score_inputs = score_inputs(graph, encoding)
        scores = score_weights(tensors, len(graph.places))
        own = tuple(np.ascontiguousarray(weights) for weights in scores.own)
        self._score_weights, self._width = scores._replace(own=own), len(tensors["second.bias"])

    def embed(self, obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Embed sites in suits, float32 (batch, sites * suits, width), and sum up the position, (batch, 4 * width).

        Args:
            obs: int8 (batch, entries).
        """
        out = new_embedded(len(obs), self._inputs, self._width, False)
        embed(obs, self._inputs, self._weights, out)
        return out.nodes, np.concatenate([out.around, out.mean, out.most], 1)

    def add_logits(self, obs: np.ndarray, nodes: np.ndarray, gate: np.ndarray, logits: np.ndarray) -> None:
        """Add what sites and places say to logits, float32 (batch, actions).

        Args:
            obs: int8 (batch, entries).
            nodes: float32 (batch, sites * suits, width), from `embed`.
            gate: float32 (batch, width).
            logits: in and out.
        """
        work = new_work(self._score_inputs, self._width)  # not kept: threads may share a network
        add_logits(obs, nodes, gate, self._score_inputs, self._score_weights, work, logits)
