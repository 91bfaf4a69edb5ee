"""The second part of `grid_layers.GridLayers`, compiled: from the embedded sites to logits, and back."""

from typing import Any, NamedTuple

import numpy as np

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
from agents.networks.maps.tables import pieces_by_like
from samurai_env.core.encoding import Encoding, Graph
from samurai_env.core.jit import bind, inlined

LEAST = np.float32(1e-6)  # what stands for a sum of no exponentials


class LaidPieces(NamedTuple):
    """The pieces. Scores at sites and cells have a column for each, one for the chosen piece, and some that fill up."""

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


class LaidScoreWeights(NamedTuple):
    """The weights, float32; or their gradients."""

    scores: np.ndarray
    """(width, likes + 1), the last for the squares to choose."""
    scores_bias: np.ndarray
    piece_scale: np.ndarray
    """(pieces,)."""


def laid_pieces(graph: Graph, encoding: Encoding) -> LaidPieces:
    """The pieces of a map that is laid as the game goes on."""
    pieces, suits = graph.pieces, graph.sites.shape[1]
    likes = sorted({piece.like for piece in pieces})
    columns = 8 * -(-(len(pieces) + 1) // 8)
    sums = np.zeros((suits, len(likes) + 1, columns), np.float32)
    sums[:, :-1, : len(pieces)] = pieces_by_like(graph).reshape(suits, len(likes), -1)
    flat = sums.reshape(-1, columns)
    block = encoding.slices()[graph.piece_block]
    return LaidPieces(
        sums=flat,
        sums_back=np.ascontiguousarray(flat.T),
        suit=np.array([-1 if piece.suit is None else piece.suit for piece in pieces]),
        like=np.array([likes.index(piece.like) for piece in pieces]),
        chosen=np.arange(block.start, block.stop),
        piece_action=graph.piece_action,
    )


def laid_score_weights(t: dict[str, Any]) -> LaidScoreWeights:
    """The weights, from tensors of torch or NumPy by name; weights are transposed, (inputs, outputs)."""
    return LaidScoreWeights(t["scores.weight"], t["scores.bias"], t["piece_scale"])


@inlined
def score_cells(obs, scores, beside, pieces, at_sites, at_cells, powers, total):
    """Score pieces in the free cells of a position.

    Args:
        obs: int8 (entries,).
        scores: float32 (nodes, likes + 1).
        beside: int64 (cells, sides), as in `Tables`.
        pieces: `LaidPieces`.
        at_sites: float32 (sites, columns), out: what a piece does at a site.
        at_cells: float32 (cells, columns), out: the sum for the sites beside.
        powers: float32 (cells, columns), out: exp of these, clamped.
        total: float32 (columns,), out: their sums, and a little.
    """
    sites, columns = at_sites.shape
    at_sites.fill(ZERO)
    if sites > 0:
        add_product(scores.reshape(sites, -1), pieces.sums, at_sites)
        add_chosen(obs, pieces, pieces.sums.shape[0] // scores.shape[1], scores, at_sites, pieces.suit.shape[0])
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


def _add_laid_logits(obs, tables, nodes, gate, pieces, w, logits):
    """Add what pieces, cells and squares to choose say.

    Args:
        obs: int8 (batch, entries).
        tables: `Tables` of these.
        nodes: float32 (nodes of all, width), the embedded sites.
        gate: float32 (batch, width): by how much more than once each part of an embedding counts.
        pieces: `LaidPieces`.
        w: `LaidScoreWeights`.
        logits: float32 (batch, actions), in and out.
    """
    suits, width, columns = tables.entries.shape[1], nodes.shape[1], pieces.sums.shape[1]
    count, likes = pieces.suit.shape[0], w.scores.shape[1] - 1
    gated, total = np.empty((width, likes + 1), np.float32), np.empty(columns, np.float32)
    for i in range(obs.shape[0]):
        first, after = tables.first_site[i], tables.first_site[i + 1]
        cell, last_cell = tables.first_cell[i], tables.first_cell[i + 1]
        rectified = np.empty(((after - first) * suits, width), np.float32)
        scores = np.empty(((after - first) * suits, likes + 1), np.float32)
        score_nodes(nodes[first * suits : after * suits], gate[i], w, rectified, gated, scores)
        at_sites = np.empty((after - first, columns), np.float32)
        at_cells, powers = np.empty((2, last_cell - cell, columns), np.float32)
        score_cells(obs[i], scores, tables.beside[cell:last_cell], pieces, at_sites, at_cells, powers, total)
        for piece in range(count):
            logits[i, pieces.piece_action + piece] += np.log(total[piece]) * w.piece_scale[piece]
        for k in range(last_cell - cell):
            logits[i, tables.cell_action[cell + k]] += at_cells[k, count]
        for site in range(after - first):
            action = tables.site_action[first + site]
            if action >= 0:
                for suit in range(suits):
                    logits[i, action] += scores[site * suits + suit, likes]


def _laid_logits_gradient(obs, tables, nodes, gate, pieces, w, by_logits, by_nodes, by_gate, out):
    """Write the gradients by nodes and gate, and add to those by weights.

    Args:
        obs: as for `add_laid_logits`; so are the next five.
        tables: see there.
        nodes: see there.
        gate: see there.
        pieces: see there.
        w: see there.
        by_logits: float32 (batch, actions), the gradient by the logits.
        by_nodes: float32 (nodes of all, width), out.
        by_gate: float32 (batch, width), out.
        out: `LaidScoreWeights`, in and out.
    """
    suits, width, columns = tables.entries.shape[1], nodes.shape[1], pieces.sums.shape[1]
    count, likes = pieces.suit.shape[0], w.scores.shape[1] - 1
    gated, total = np.empty((width, likes + 1), np.float32), np.empty(columns, np.float32)
    d_total = np.zeros(columns, np.float32)
    for i in range(obs.shape[0]):
        first, after = tables.first_site[i], tables.first_site[i + 1]
        cell, last_cell = tables.first_cell[i], tables.first_cell[i + 1]
        rectified = np.empty(((after - first) * suits, width), np.float32)
        scores = np.empty(((after - first) * suits, likes + 1), np.float32)
        score_nodes(nodes[first * suits : after * suits], gate[i], w, rectified, gated, scores)
        at_sites = np.empty((after - first, columns), np.float32)
        at_cells, powers = np.empty((2, last_cell - cell, columns), np.float32)
        beside = tables.beside[cell:last_cell]
        score_cells(obs[i], scores, beside, pieces, at_sites, at_cells, powers, total)
        d_scores, d_sites = np.zeros(scores.shape, np.float32), np.zeros(at_sites.shape, np.float32)
        for piece in range(count):
            by_piece = by_logits[i, pieces.piece_action + piece]
            out.piece_scale[piece] += by_piece * np.log(total[piece])
            d_total[piece] = by_piece * w.piece_scale[piece] / total[piece]
        for k in range(last_cell - cell):
            for column in range(columns):
                inside = -CLAMP <= at_cells[k, column] <= CLAMP
                powers[k, column] = powers[k, column] * d_total[column] if inside else ZERO
            powers[k, count] = by_logits[i, tables.cell_action[cell + k]]
            for side in range(beside.shape[1]):
                if beside[k, side] >= 0:
                    for column in range(columns):
                        d_sites[beside[k, side], column] += powers[k, column]
        if after > first:
            add_product(d_sites, pieces.sums_back, d_scores.reshape(after - first, -1))
            add_chosen_gradient(obs[i], pieces, suits, d_sites, count, d_scores)
        for site in range(after - first):
            action = tables.site_action[first + site]
            if action >= 0:
                for suit in range(suits):
                    d_scores[site * suits + suit, likes] += by_logits[i, action]
        by_own = by_nodes[first * suits : after * suits]
        nodes_gradient(rectified, gated, gate[i], d_scores, w, by_own, by_gate[i], out)


add_laid_logits = bind(_add_laid_logits, BOUND, {})
laid_logits_gradient = bind(_laid_logits_gradient, BOUND, {})
