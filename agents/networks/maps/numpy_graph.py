"""Layers over the graph of a map, compiled, for play without torch."""

from typing import Any, Protocol

import numpy as np

from agents.networks.maps.embed_kernels import FixedEmbedInputs, GridEmbedInputs, embed_fixed, embed_grid, new_embedded
from agents.networks.maps.grid_score_kernels import GridScoreInputs, add_grid_logits, grid_score_weights, piece_columns
from agents.networks.maps.grid_tables import Tables, entry_count, grid_entries, read_tables
from agents.networks.maps.score_kernels import add_logits, new_work, score_inputs, score_weights
from agents.networks.maps.site_kernels import EmbedWeights, embed_weights
from agents.networks.maps.tables import fixed_map, other_entries
from samurai_env.core.encoding import Cells, Encoding, Graph

Shapes = dict[str, tuple[int, ...]]


def linear_shapes(name: str, inputs: int, outputs: int, bias: bool = True) -> Shapes:
    """The shapes of the tensors of a linear layer."""
    return {f"{name}.weight": (outputs, inputs), **({f"{name}.bias": (outputs,)} if bias else {})}


def graph_shapes(graph: Graph, encoding: Encoding, width: int, hidden: int) -> Shapes:
    """The shapes of the tensors of `GraphLayers` or `GridLayers`, without the prefix `graph.`."""
    sites, suits = graph.sites.shape
    shapes = linear_shapes("around", len(other_entries(graph, encoding)), 2 * width)
    if isinstance(graph.places, Cells):
        shapes |= linear_shapes("first", entry_count(*grid_entries(graph.places, encoding).owner.shape[1:]), width)
    else:
        shapes |= linear_shapes("first", graph.sites.rows(encoding).shape[2], width) | {"position": (sites, 1, width)}
        for number, places in enumerate(graph.places):
            shapes |= linear_shapes(f"kinds.{number}.own", places.rows(encoding).shape[1], 1)
    shapes |= linear_shapes("context", 2 * width, suits * width, bias=False)
    for name, bias in (("second", True), ("neighbours", False), ("other_suits", False), ("third", True)):
        shapes |= linear_shapes(name, width, width, bias)
    likes = len({piece.like for piece in graph.pieces})
    shapes |= linear_shapes("gate", hidden, width) | linear_shapes("scores", width, likes + 1)
    return shapes | {"piece_scale": (len(graph.pieces),)}


class NumPyMap(Protocol):
    """Layers over a map without torch."""

    def embed(self, obs: np.ndarray) -> tuple[Any, np.ndarray]:
        """Embed sites, and sum up the position, float32 (batch, 4 * width).

        Args:
            obs: int8 (batch, entries).

        Returns:
            What `add_logits` reads of the sites, and the sum.
        """
        ...

    def add_logits(self, obs: np.ndarray, seen: Any, gate: np.ndarray, logits: np.ndarray) -> None:
        """Add what sites and places say to logits, float32 (batch, actions).

        Args:
            obs: int8 (batch, entries).
            seen: of the sites, from `embed`.
            gate: float32 (batch, width).
            logits: in and out.
        """
        ...


def numpy_map(
    graph: Graph, encoding: Encoding, tensors: dict[str, np.ndarray], mean: np.ndarray, scale: np.ndarray
) -> NumPyMap:
    """Make the layers over a map.

    Args:
        graph: the map.
        encoding: a vector, with the blocks that the graph names.
        tensors: float32, by the names of `graph_shapes`; weights are transposed, (inputs, outputs).
        mean: float32 (entries,): is subtracted from an observation.
        scale: float32 (entries,): is then multiplied with it.
    """
    rest = other_entries(graph, encoding)
    weights = EmbedWeights(*map(np.ascontiguousarray, embed_weights(tensors, mean, scale, rest)))
    if isinstance(graph.places, Cells):
        return NumPyGrid(graph, encoding, tensors, weights, rest)
    rows = graph.sites.rows(encoding)
    flat = np.ascontiguousarray(rows.reshape(-1, rows.shape[2]))
    return NumPyGraph(
        graph, encoding, tensors, weights, FixedEmbedInputs(rest, flat, fixed_map(graph).near, mean, scale)
    )


class NumPyGraph:
    """`graph_layers.GraphLayers` without torch, see `numpy_map`."""

    def __init__(
        self,
        graph: Graph,
        encoding: Encoding,
        tensors: dict[str, np.ndarray],
        weights: EmbedWeights,
        inputs: FixedEmbedInputs,
    ) -> None:
        assert not isinstance(graph.places, Cells)
        self._inputs, self._weights, self._width = inputs, weights, len(weights.second)
        self._score_inputs = score_inputs(graph, encoding)
        scores = score_weights(tensors, len(graph.places))
        self._score_weights = scores._replace(own=tuple(np.ascontiguousarray(own) for own in scores.own))

    def embed(self, obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `NumPyMap`; sites in suits are float32 (batch, sites * suits, width)."""
        out = new_embedded(len(obs), len(obs) * len(self._inputs.rows), self._width, False)
        embed_fixed(obs, self._inputs, self._weights, out)
        nodes = out.nodes.reshape(len(obs), -1, self._width)
        return nodes, np.concatenate([out.around, out.mean, out.most], 1)

    def add_logits(self, obs: np.ndarray, seen: np.ndarray, gate: np.ndarray, logits: np.ndarray) -> None:
        """See `NumPyMap`."""
        work = new_work(self._score_inputs, self._width)  # not kept: threads may share a network
        add_logits(obs, seen, gate, self._score_inputs, self._score_weights, work, logits)


class NumPyGrid:
    """`grid_layers.GridLayers` without torch, see `numpy_map`."""

    def __init__(
        self, graph: Graph, encoding: Encoding, tensors: dict[str, np.ndarray], weights: EmbedWeights, rest: np.ndarray
    ) -> None:
        assert isinstance(graph.places, Cells)
        self._inputs, self._rest, self._weights = grid_entries(graph.places, encoding), rest, weights
        self._pieces, self._score_weights = piece_columns(graph, encoding), grid_score_weights(tensors)

    def embed(self, obs: np.ndarray) -> tuple[tuple[Tables, np.ndarray], np.ndarray]:
        """See `NumPyMap`; what is seen are the tables and float32 (nodes of all positions, width)."""
        tables = read_tables(obs, self._inputs)
        out = new_embedded(len(obs), tables.nodes, len(self._weights.second), False)
        embed_grid(obs, GridEmbedInputs(self._rest, tables), self._weights, out)
        return (tables, out.nodes), np.concatenate([out.around, out.mean, out.most], 1)

    def add_logits(
        self, obs: np.ndarray, seen: tuple[Tables, np.ndarray], gate: np.ndarray, logits: np.ndarray
    ) -> None:
        """See `NumPyMap`."""
        tables, nodes = seen
        inputs = GridScoreInputs(tables, self._pieces)
        add_grid_logits(obs, nodes, gate, inputs, self._score_weights, logits)
