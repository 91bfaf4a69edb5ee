"""The first part of layers over a map, compiled: from observations to the embedded sites, and back.

For maps with fixed places (`graph_layers`) and for those that are laid as the game goes on (`grid_layers`), position by
position. The sites of all positions stand one after the other.
"""

from typing import Any, NamedTuple

import numpy as np

from agents.networks.maps.grid_tables import Tables, read_entries, shares_near
from agents.networks.maps.site_kernels import BOUND, embed_position, position_gradient
from samurai_env.core.jit import bind, inlined

# Bound to those of one kind of map.
node_range: Any = None
read_nodes: Any = None
read_near: Any = None


class FixedEmbedInputs(NamedTuple):
    """Where the inputs lie in an observation of a map with fixed places, and how they are normalised."""

    rest: np.ndarray
    """int64 (others,): the entries that describe no site."""
    rows: np.ndarray
    """int64 (nodes, entries of one)."""
    near: np.ndarray
    """float32 (sites, sites): by site, the shares of the sites that have places in common with it."""
    mean: np.ndarray
    """float32 (entries,): is subtracted from the entries of `rows`."""
    scale: np.ndarray
    """float32 (entries,): is then multiplied with them."""


class GridEmbedInputs(NamedTuple):
    """What lies on the tables of observations."""

    rest: np.ndarray
    """int64 (others,): the entries that describe no site."""
    tables: Tables


class Embedded(NamedTuple):
    """What the layers make of observations.

    `first` and `second` are for the gradient alone: empty where there is none to be computed.
    """

    around: np.ndarray
    """float32 (batch, 2 * width)."""
    first: np.ndarray
    """float32 (nodes of all, width)."""
    second: np.ndarray
    """float32 (nodes of all, width), rectified."""
    nodes: np.ndarray
    """float32 (nodes of all, width)."""
    mean: np.ndarray
    """float32 (batch, width), of a position's nodes."""
    most: np.ndarray
    """float32 (batch, width), their maxima."""


def new_embedded(batch: int, nodes: int, width: int, keep: bool) -> Embedded:
    """Memory for what is made of `batch` observations with `nodes` nodes in all; `keep` for the gradient."""
    kept = nodes * keep
    shapes = [(batch, 2 * width), (kept, width), (kept, width), (nodes, width), (batch, width), (batch, width)]
    return Embedded(*(np.empty(shape, np.float32) for shape in shapes))


@inlined
def fixed_range(inputs, i):
    """The first node of position `i`, and that after its last."""
    return i * inputs.rows.shape[0], (i + 1) * inputs.rows.shape[0]


@inlined
def read_fixed_nodes(obs, inputs, i, out):
    """Write the normalised inputs of a position's nodes, float32 (nodes, entries of one); `obs` is int8 (entries,)."""
    for node in range(out.shape[0]):
        for column in range(out.shape[1]):
            entry = inputs.rows[node, column]
            out[node, column] = (np.float32(obs[entry]) - inputs.mean[entry]) * inputs.scale[entry]


@inlined
def read_fixed_near(inputs, i):
    """By site, the shares of the sites near it, float32 (sites, sites)."""
    return inputs.near


@inlined
def grid_range(inputs, i):
    """As `fixed_range`."""
    suits = inputs.tables.entries.shape[1]
    return inputs.tables.first_site[i] * suits, inputs.tables.first_site[i + 1] * suits


@inlined
def read_grid_nodes(obs, inputs, i, out):
    """As `read_fixed_nodes`."""
    read_entries(inputs.tables, i, out)


@inlined
def read_grid_near(inputs, i):
    """As `read_fixed_near`."""
    return shares_near(inputs.tables, i)


def _embed(obs, inputs, w, out):
    """Embed positions.

    Args:
        obs: int8 (batch, entries).
        inputs: `FixedEmbedInputs` or `GridEmbedInputs`.
        w: `EmbedWeights`.
        out: `Embedded`, out.
    """
    width = out.nodes.shape[1]
    for i in range(obs.shape[0]):
        start, end = node_range(inputs, i)
        own = np.empty((end - start, w.first.shape[0]), np.float32)
        read_nodes(obs[i], inputs, i, own)
        near = read_near(inputs, i)
        if out.first.shape[0]:
            first, second = out.first[start:end], out.second[start:end]
        else:
            first, second = np.empty((end - start, width), np.float32), np.empty((end - start, width), np.float32)
        last, around = out.nodes[start:end], out.around[i : i + 1]
        embed_position(obs[i], inputs.rest, own, near, w, around, first, second, last, out.mean[i], out.most[i])


def _embed_gradient(obs, inputs, back, seen, by_output, out):
    """Add to the gradient of the weights.

    Args:
        obs: int8 (batch, entries).
        inputs: as for `embed`.
        back: `Transposed`.
        seen: `Embedded`, kept by `embed`.
        by_output: gradients by `around`, `nodes`, `mean` and `most`, of the shapes of those.
        out: `EmbedWeights`, in and out.
    """
    by_around, by_nodes, by_mean, by_most = by_output
    for i in range(obs.shape[0]):
        start, end = node_range(inputs, i)
        own = np.empty((end - start, out.first.shape[0]), np.float32)
        read_nodes(obs[i], inputs, i, own)
        near = read_near(inputs, i)
        parts = seen.around[i : i + 1], seen.first[start:end], seen.second[start:end], seen.nodes[start:end]
        by_parts = by_around[i : i + 1], by_nodes[start:end], by_mean[i], by_most[i]
        position_gradient(obs[i], inputs.rest, own, near, back, (*parts, seen.most[i]), by_parts, out)


FIXED = {"node_range": fixed_range, "read_nodes": read_fixed_nodes, "read_near": read_fixed_near}
GRID = {"node_range": grid_range, "read_nodes": read_grid_nodes, "read_near": read_grid_near}
embed_fixed, embed_fixed_gradient = (bind(f, BOUND, FIXED) for f in (_embed, _embed_gradient))
embed_grid, embed_grid_gradient = (bind(f, "networks over a grid", GRID) for f in (_embed, _embed_gradient))
