"""Layers over the sites of a map, compiled: of one position, from its inputs to the embedded sites, and back.

All layers of one position are computed in turn, in the processor's cache; a library takes one layer of all positions
at a time, and waits for memory. Nodes are the pairs (site, suit).
"""

from typing import Any, NamedTuple

import numpy as np

from agents.networks.maps.products import (
    add_listed_rows,
    add_product,
    add_to_listed_rows,
    add_transposed_product,
    larger,
)
from samurai_env.core.jit import inlined, jit

ZERO, ONE = np.float32(0.0), np.float32(1.0)
BOUND = "networks over a map"  # what is said to be compiled


class EmbedWeights(NamedTuple):
    """The weights, float32, by input and output; or their gradients."""

    around: np.ndarray
    """(others, 2 * width), for entries as they are: normalisation is a part of them."""
    around_bias: np.ndarray
    context: np.ndarray
    """(2 * width, suits * width)."""
    first: np.ndarray
    """(entries of one, width)."""
    position: np.ndarray
    """(sites, width), with the bias of `first`; (1, width) for sites without a place of their own."""
    second: np.ndarray
    """(width, width); so are the other weights below."""
    second_bias: np.ndarray
    neighbours: np.ndarray
    other_suits: np.ndarray
    third: np.ndarray
    third_bias: np.ndarray


class Transposed(NamedTuple):
    """Weights of `EmbedWeights`, transposed: for the way back."""

    context: np.ndarray
    second: np.ndarray
    neighbours: np.ndarray
    other_suits: np.ndarray
    third: np.ndarray


def transposed(w: EmbedWeights) -> Transposed:
    """The weights for the way back."""
    matrices = (w.context, w.second, w.neighbours, w.other_suits, w.third)
    return Transposed(*(np.ascontiguousarray(matrix.T) for matrix in matrices))


def embed_weights(t: dict[str, Any], mean: Any, scale: Any, rest: Any) -> EmbedWeights:
    """The weights, from tensors of torch or NumPy.

    Args:
        t: of `SiteLayers`, by name; weights are transposed, (inputs, outputs).
        mean: float32 (entries,): is subtracted from all entries of an observation.
        scale: float32 (entries,): is then multiplied with them.
        rest: the entries that describe no site.
    """
    around = t["around.weight"] * scale[rest][:, None]
    return EmbedWeights(
        around=around,
        around_bias=t["around.bias"] - mean[rest] @ around,
        context=t["context.weight"],
        first=t["first.weight"],
        position=t["position"][:, 0] + t["first.bias"] if "position" in t else t["first.bias"].reshape(1, -1),
        second=t["second.weight"],
        second_bias=t["second.bias"],
        neighbours=t["neighbours.weight"],
        other_suits=t["other_suits.weight"],
        third=t["third.weight"],
        third_bias=t["third.bias"],
    )


@inlined
def list_entries(obs, rest, factors, listed):
    """List which of the entries `rest` of an observation are not 0, and what they are; their number."""
    count = 0
    for row in range(rest.shape[0]):
        value = obs[rest[row]]
        factors[count], listed[count] = value, row
        count += value != 0
    return count


@jit
def embed_position(obs, rest, own, near, w, around, first, second, last, mean, most):
    """Embed the sites of a position.

    Args:
        obs: int8 (entries,).
        rest: int64 (others,): its entries that describe no site.
        own: float32 (nodes, entries of one), the inputs of the nodes.
        near: float32 (sites, sites): by site, the shares of the sites that have places in common with it.
        w: `EmbedWeights`.
        around: float32 (1, 2 * width), out: what the rest says.
        first: float32 (nodes, width), out: the first layer.
        second: float32 (nodes, width), out: the second layer, rectified.
        last: float32 (nodes, width), out: the embedded sites.
        mean: float32 (width,), out: their mean, 0 without any.
        most: float32 (width,), out: their maximum, 0 without any.
    """
    (nodes, width), sites = first.shape, near.shape[0]
    suits = w.context.shape[1] // width
    factors, listed = np.empty(rest.shape[0], np.float32), np.empty(rest.shape[0], np.int64)
    copy(w.around_bias, around[0])
    add_listed_rows(factors, listed, list_entries(obs, rest, factors, listed), w.around, around)
    rectify(around)
    if sites == 0:
        mean.fill(ZERO)
        most.fill(ZERO)
        return
    context, ones = np.zeros((1, suits * width), np.float32), np.ones((nodes, 1), np.float32)
    beside, means = np.zeros((sites, suits * width), np.float32), np.empty((sites, width), np.float32)
    others = np.empty((sites, width), np.float32)
    add_product(around, w.context, context)
    for site in range(sites):
        place = site if w.position.shape[0] > 1 else 0
        for suit in range(suits):
            for k in range(width):
                first[site * suits + suit, k] = w.position[place, k] + context[0, suit * width + k]
    add_product(own, w.first, first)
    rectify(first)
    average_suits(first, means)
    for site in range(sites):
        copy(w.second_bias, others[site])
    add_product(means, w.other_suits, others)
    for site in range(sites):
        for node in range(site * suits, (site + 1) * suits):
            copy(others[site], second[node])
    add_product(near, first.reshape(sites, -1), beside)
    add_product(first, w.second, second)
    add_product(beside.reshape(nodes, -1), w.neighbours, second)
    rectify(second)
    copy(first.reshape(-1), last.reshape(-1))
    add_product(ones, w.third_bias.reshape(1, -1), last)
    add_product(second, w.third, last)
    pool(last, mean, most)


@inlined
def copy(row, out):
    """Copy a row of numbers."""
    for k in range(out.shape[0]):
        out[k] = row[k]


@inlined
def rectify(rows):
    """Make negative numbers 0, float32 (rows, width)."""
    flat = rows.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = larger(flat[k], ZERO)


@inlined
def average_suits(nodes, out):
    """Average a site's nodes: float32 (nodes, width) to (sites, width)."""
    suits = nodes.shape[0] // out.shape[0]
    share = ONE / np.float32(suits)
    for site in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[site, k] = nodes[site * suits, k] * share
        for node in range(site * suits + 1, (site + 1) * suits):
            for k in range(out.shape[1]):
                out[site, k] += nodes[node, k] * share


@inlined
def pool(nodes, mean, most):
    """Write the mean and the maximum of the nodes, float32 (nodes, width)."""
    copy(nodes[0], mean)
    copy(nodes[0], most)
    for node in range(1, nodes.shape[0]):
        for k in range(mean.shape[0]):
            mean[k] += nodes[node, k]
            most[k] = larger(most[k], nodes[node, k])
    for k in range(mean.shape[0]):
        mean[k] /= np.float32(nodes.shape[0])


@jit
def position_gradient(obs, rest, own, near, back, seen, by_output, out):
    """Add to the gradient of the weights.

    Args:
        obs: as for `embed_position`; so are the next three.
        rest: see there.
        own: see there.
        near: see there.
        back: `Transposed`.
        seen: `around`, `first`, `second`, `last` and `most` of `embed_position`.
        by_output: gradients by `around`, `last`, `mean` and `most`, of the shapes of those.
        out: `EmbedWeights`, in and out.
    """
    (around, first, second, last, most), (by_around, by_nodes, by_mean, by_most) = seen, by_output
    width, sites = first.shape[1], near.shape[0]
    suits = out.context.shape[1] // width
    d_around = np.empty((1, 2 * width), np.float32)
    copy(by_around[0], d_around[0])
    if sites > 0:
        d_context = np.zeros((1, suits * width), np.float32)
        sites_gradient(own, near, back, (first, second, last, most), (by_nodes, by_mean, by_most), d_context, out)
        add_product(d_context, back.context, d_around)
        add_transposed_product(around, d_context, out.context)
    keep_positive(around, d_around)
    for k in range(2 * width):
        out.around_bias[k] += d_around[0, k]
    factors, listed = np.empty(rest.shape[0], np.float32), np.empty(rest.shape[0], np.int64)
    add_to_listed_rows(factors, listed, list_entries(obs, rest, factors, listed), out.around, d_around)


@jit
def sites_gradient(own, near, back, seen, by_output, d_context, out):
    """The part of `position_gradient` that is about sites; `d_context`, float32 (1, suits * width), is out."""
    (first, second, last, most), (by_nodes, by_mean, by_most) = seen, by_output
    (nodes, width), sites = first.shape, near.shape[0]
    suits = nodes // sites
    ones, share = np.ones((nodes, 1), np.float32), ONE / np.float32(suits)
    means, totals = np.empty((sites, width), np.float32), np.empty((sites, width), np.float32)
    by_means, pooled = np.zeros((sites, width), np.float32), np.empty((1, width), np.float32)
    d_last, d_second = np.empty((nodes, width), np.float32), np.zeros((nodes, width), np.float32)
    d_beside = np.zeros((nodes, width), np.float32)
    copy(by_nodes.reshape(-1), d_last.reshape(-1))
    for k in range(width):
        pooled[0, k] = by_mean[k] / np.float32(nodes)
    add_product(ones, pooled, d_last)
    add_most_gradient(last, most, by_most, pooled[0], d_last)
    add_transposed_product(second, d_last, out.third)
    add_transposed_product(ones, d_last, out.third_bias.reshape(1, -1))
    add_product(d_last, back.third, d_second)
    keep_positive(second, d_second)
    add_transposed_product(first, d_second, out.second)
    add_transposed_product(ones, d_second, out.second_bias.reshape(1, -1))
    add_transposed_product(near, d_second.reshape(sites, -1), d_beside.reshape(sites, -1))
    add_transposed_product(first, d_beside, out.neighbours)
    average_suits(first, means)
    average_suits(d_second, totals)
    for site in range(sites):
        for k in range(width):
            totals[site, k] *= np.float32(suits)
    add_transposed_product(means, totals, out.other_suits)
    add_product(totals, back.other_suits, by_means)
    d_first = d_last  # that of the sum
    add_product(d_second, back.second, d_first)
    add_product(d_beside, back.neighbours, d_first)
    for site in range(sites):
        for node in range(site * suits, (site + 1) * suits):
            for k in range(width):
                d_first[node, k] += by_means[site, k] * share
    keep_positive(first, d_first)
    add_transposed_product(own, d_first, out.first)
    add_transposed_product(ones[:sites], d_first.reshape(sites, -1), d_context)
    for site in range(sites):
        place = site if out.position.shape[0] > 1 else 0
        for suit in range(suits):
            for k in range(width):
                out.position[place, k] += d_first[site * suits + suit, k]


@inlined
def add_most_gradient(nodes, most, by_most, count, out):
    """Add the gradient by the maximum over the nodes to that of the nodes that have it, in equal shares.

    Args:
        nodes: float32 (nodes, width).
        most: float32 (width,), their maximum.
        by_most: float32 (width,).
        count: float32 (width,), scratch.
        out: float32 (nodes, width), in and out.
    """
    for k in range(count.shape[0]):
        count[k] = ZERO
    for node in range(nodes.shape[0]):
        for k in range(count.shape[0]):
            count[k] += np.float32(nodes[node, k] == most[k])
    for k in range(count.shape[0]):
        count[k] = by_most[k] / count[k]
    for node in range(nodes.shape[0]):
        for k in range(count.shape[0]):
            out[node, k] += np.float32(nodes[node, k] == most[k]) * count[k]


@inlined
def keep_positive(outputs, gradient):
    """Let the gradient of a rectified layer pass where its output is above 0; float32 (rows, width)."""
    flat, flat_gradient = outputs.reshape(-1), gradient.reshape(-1)
    for k in range(flat.shape[0]):
        flat_gradient[k] *= np.float32(flat[k] > ZERO)
