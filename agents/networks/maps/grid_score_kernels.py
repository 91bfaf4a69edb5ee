"""The second part of `grid_layers.GridLayers`, compiled: from the embedded sites to logits, and back."""

from typing import Any, NamedTuple

import numpy as np

from agents.networks.maps.grid_tables import Tables
from agents.networks.maps.products import add_product
from agents.networks.maps.score_kernels import (
    CLAMP,
    add_chosen,
    add_chosen_gradient,
    clamped,
    exponential,
    nodes_gradient,
    score_nodes,
)
from agents.networks.maps.site_kernels import BOUND, ZERO
from agents.networks.maps.tables import suits_and_likes, summed_scores
from samurai_env.core.encoding import Encoding, Graph
from samurai_env.core.jit import bind, jit

LEAST = np.float32(1e-6)  # what stands for a sum of no exponentials


class PieceColumns(NamedTuple):
    """The pieces; scores at sites and cells have the columns of `tables.summed_scores` for all of them."""

    sums: np.ndarray
    """float32 (suits * (likes + 1), columns), which of a site's scores are summed up for a column's piece."""
    sums_back: np.ndarray
    """The same, transposed."""
    suit: np.ndarray
    """int64 (pieces,): a piece's suit, -1 for all."""
    like: np.ndarray
    """int64 (pieces,): pieces with the same number are alike but for their suit."""
    chosen: np.ndarray
    """int64 (pieces,): the entry of an observation that says that it is chosen."""
    piece_action: int
    """Of the first piece; the others follow."""


class GridScoreInputs(NamedTuple):
    """What scores read beside the embedded sites."""

    tables: Tables
    pieces: PieceColumns


class GridScoreWeights(NamedTuple):
    """The weights, float32; or their gradients."""

    scores: np.ndarray
    """(width, likes + 1), the last for the squares to choose."""
    scores_bias: np.ndarray
    piece_scale: np.ndarray
    """(pieces,)."""


def piece_columns(graph: Graph, encoding: Encoding) -> PieceColumns:
    """The pieces of a map that is laid as the game goes on."""
    sums, block = summed_scores(graph, range(len(graph.pieces))), encoding.slices()[graph.piece_block]
    entries = np.arange(block.start, block.stop)
    return PieceColumns(sums, np.ascontiguousarray(sums.T), *suits_and_likes(graph), entries, graph.piece_action)


def grid_score_weights(t: dict[str, Any]) -> GridScoreWeights:
    """The weights, from tensors of torch or NumPy by name; weights are transposed, (inputs, outputs)."""
    return GridScoreWeights(t["scores.weight"], t["scores.bias"], t["piece_scale"])


@jit
def score_table(obs, i, nodes, gate, inputs, w):
    """Score pieces at the sites and in the free cells of a position.

    Args:
        obs: int8 (entries,).
        i: its number.
        nodes: float32 (nodes, width), the position's.
        gate: float32 (width,).
        inputs: `GridScoreInputs`.
        w: `GridScoreWeights`.

    Returns:
        Three arrays of `score_nodes`: float32 (nodes, width), (width, likes + 1) and scores, (nodes, likes + 1). Then
        what each column's piece does in each cell, (cells, columns), exp of this, clamped, and sums of these over the
        cells with a little added, (columns,).
    """
    tables, pieces = inputs
    sites, columns = tables.first_site[i + 1] - tables.first_site[i], pieces.sums.shape[1]
    beside = tables.beside[tables.first_cell[i] : tables.first_cell[i + 1]]
    rectified, gated = np.empty(nodes.shape, np.float32), np.empty(w.scores.shape, np.float32)
    scores = np.empty((nodes.shape[0], w.scores.shape[1]), np.float32)
    score_nodes(nodes, gate, w, rectified, gated, scores)
    at_sites, total = np.zeros((sites, columns), np.float32), np.empty(columns, np.float32)
    if sites > 0:
        add_product(scores.reshape(sites, -1), pieces.sums, at_sites)
        add_chosen(obs, pieces, tables.entries.shape[1], scores, at_sites, pieces.suit.shape[0])
    at_cells, powers = np.empty((2, beside.shape[0], columns), np.float32)
    total.fill(LEAST)
    for cell in range(beside.shape[0]):
        for k in range(columns):
            at_cells[cell, k] = ZERO
        for side in range(beside.shape[1]):
            site = beside[cell, side]
            if site >= 0:
                for k in range(columns):
                    at_cells[cell, k] += at_sites[site, k]
        for k in range(columns):
            powers[cell, k] = exponential(clamped(at_cells[cell, k]))
        for k in range(columns):
            total[k] += powers[cell, k]
    return rectified, gated, scores, at_cells, powers, total


def _add_grid_logits(obs, nodes, gate, inputs, w, logits):
    """Add what pieces, cells and squares to choose say.

    Args:
        obs: int8 (batch, entries).
        nodes: float32 (nodes of all, width), the embedded sites.
        gate: float32 (batch, width): by how much more than once each part of an embedding counts.
        inputs: `GridScoreInputs`.
        w: `GridScoreWeights`.
        logits: float32 (batch, actions), in and out.
    """
    tables, pieces = inputs
    suits, count, likes = tables.entries.shape[1], pieces.suit.shape[0], w.scores.shape[1] - 1
    for i in range(obs.shape[0]):
        first, after = tables.first_site[i], tables.first_site[i + 1]
        own = nodes[first * suits : after * suits]
        _, _, scores, at_cells, _, total = score_table(obs[i], i, own, gate[i], inputs, w)
        for piece in range(count):
            logits[i, pieces.piece_action + piece] += np.log(total[piece]) * w.piece_scale[piece]
        for cell in range(at_cells.shape[0]):
            logits[i, tables.cell_action[tables.first_cell[i] + cell]] += at_cells[cell, count]
        for site in range(after - first):
            action = tables.site_action[first + site]
            if action >= 0:
                for suit in range(suits):
                    logits[i, action] += scores[site * suits + suit, likes]


def _grid_logits_gradient(obs, nodes, gate, inputs, w, by_logits, by_nodes, by_gate, out):
    """Write the gradients by nodes and gate, and add to those by weights.

    Args:
        obs: as for `add_grid_logits`; so are the next four.
        nodes: see there.
        gate: see there.
        inputs: see there.
        w: see there.
        by_logits: float32 (batch, actions), the gradient by the logits.
        by_nodes: float32 (nodes of all, width), out.
        by_gate: float32 (batch, width), out.
        out: `GridScoreWeights`, in and out.
    """
    tables, pieces = inputs
    suits, count, likes = tables.entries.shape[1], pieces.suit.shape[0], w.scores.shape[1] - 1
    d_total = np.zeros(pieces.sums.shape[1], np.float32)
    for i in range(obs.shape[0]):
        first, after = tables.first_site[i], tables.first_site[i + 1]
        own, by_own = nodes[first * suits : after * suits], by_nodes[first * suits : after * suits]
        rectified, gated, scores, at_cells, powers, total = score_table(obs[i], i, own, gate[i], inputs, w)
        cells, columns = at_cells.shape
        d_scores, d_sites = np.zeros(scores.shape, np.float32), np.zeros((after - first, columns), np.float32)
        for piece in range(count):
            by_piece = by_logits[i, pieces.piece_action + piece]
            out.piece_scale[piece] += by_piece * np.log(total[piece])
            d_total[piece] = by_piece * w.piece_scale[piece] / total[piece]
        for cell in range(cells):
            number = tables.first_cell[i] + cell
            for k in range(columns):
                inside = -CLAMP <= at_cells[cell, k] <= CLAMP
                powers[cell, k] = powers[cell, k] * d_total[k] if inside else ZERO
            powers[cell, count] = by_logits[i, tables.cell_action[number]]
            for side in range(tables.beside.shape[1]):
                site = tables.beside[number, side]
                if site >= 0:
                    for k in range(columns):
                        d_sites[site, k] += powers[cell, k]
        if after > first:
            add_product(d_sites, pieces.sums_back, d_scores.reshape(after - first, -1))
            add_chosen_gradient(obs[i], pieces, suits, d_sites, count, d_scores)
        for site in range(after - first):
            action = tables.site_action[first + site]
            if action >= 0:
                for suit in range(suits):
                    d_scores[site * suits + suit, likes] += by_logits[i, action]
        nodes_gradient(rectified, gated, gate[i], d_scores, w, by_own, by_gate[i], out)


add_grid_logits = bind(_add_grid_logits, BOUND, {})
grid_logits_gradient = bind(_grid_logits_gradient, BOUND, {})
