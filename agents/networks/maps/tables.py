"""A `Graph` as arrays, which layers read with torch and without."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from samurai_env.core.encoding import Cells, Encoding, Graph, Places

LARGEST = 15.0  # scores are clamped to this before they are exponentiated


def other_entries(graph: Graph, encoding: Encoding) -> np.ndarray:
    """The entries of an observation that describe no site, int64 (entries,), ascending."""
    return np.setdiff1d(np.arange(encoding.shape[0]), graph.sites.rows(encoding))


def pieces_by_like(graph: Graph) -> np.ndarray:
    """Sums a piece's scores over its suits: float32 (suits * kinds of alike pieces, pieces)."""
    likes = sorted({piece.like for piece in graph.pieces})
    table = np.zeros((graph.sites.shape[1], len(likes), len(graph.pieces)), np.float32)
    for number, piece in enumerate(graph.pieces):
        table[slice(None) if piece.suit is None else piece.suit, likes.index(piece.like), number] = 1.0
    return table.reshape(-1, len(graph.pieces))


def summed_scores(graph: Graph, pieces: Sequence[int]) -> np.ndarray:
    """Sums the scores of a site for some pieces: float32 (suits * (likes + 1), columns).

    A column for each piece, one for the chosen piece, and some that fill the vectors up, to a multiple of eight.
    """
    suits, count = graph.sites.shape[1], len(pieces)
    by_piece = pieces_by_like(graph)[:, list(pieces)].reshape(suits, -1, count)
    table = np.zeros((suits, by_piece.shape[1] + 1, 8 * -(-(count + 1) // 8)), np.float32)
    table[:, :-1, :count] = by_piece
    return table.reshape(-1, table.shape[2])


def suits_and_likes(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """By piece, its suit, -1 for all, and a number that it shares with pieces like it, int64 (pieces,) each."""
    likes = sorted({piece.like for piece in graph.pieces})
    suits = [-1 if piece.suit is None else piece.suit for piece in graph.pieces]
    return np.array(suits), np.array([likes.index(piece.like) for piece in graph.pieces])


def sites_beside(places: Places, sites: int) -> np.ndarray:
    """Whether a site and a place lie side by side, float32 (sites, places)."""
    table = np.zeros((sites, len(places.beside)), np.float32)
    for place, near in enumerate(places.beside):
        table[list(near), place] = 1.0
    return table


class FixedMap(NamedTuple):
    """A map whose places are fixed."""

    near: np.ndarray
    """float32 (sites, sites): by site, the shares of the sites that have places in common with it."""
    placeless: np.ndarray
    """float32 (pieces,): 1 for a piece that is put nowhere, otherwise nearly 0."""
    with_action: np.ndarray
    """int64: numbers of the pairs (site, suit) that have an action."""
    ids: np.ndarray
    """int64: actions by piece, by those pairs, by place."""


def fixed_map(graph: Graph) -> FixedMap:
    """The tables of a map whose places are fixed."""
    assert not isinstance(graph.places, Cells)
    sites, count = graph.sites.shape[0], len(graph.pieces)
    beside = np.concatenate([sites_beside(places, sites) for places in graph.places], 1)
    shared = beside @ beside.T
    placeless = np.ones(count, np.float32)
    placeless[[piece for places in graph.places for piece in places.pieces]] = 1e-6
    actions = np.array(graph.sites.actions).ravel()
    ids = [np.arange(graph.piece_action, graph.piece_action + count), actions[actions >= 0]]
    ids += [np.arange(places.action, places.action + len(places.beside)) for places in graph.places]
    near = shared / shared.sum(1, keepdims=True)
    return FixedMap(near, placeless, np.flatnonzero(actions >= 0), np.concatenate(ids))
