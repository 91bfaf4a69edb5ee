"""The first part of `graph_layers.GraphLayers`, compiled: from an observation to the embedded sites, and back.

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
from samurai_env.core.jit import bind, inlined

ZERO, ONE = np.float32(0.0), np.float32(1.0)
BOUND = "networks over a map"  # what is said to be compiled


class EmbedInputs(NamedTuple):
    """Where the inputs lie in an observation, and how they are normalised."""

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
    """(sites, width), with the bias of `first`."""
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
        t: of `GraphLayers`, by name; weights are transposed, (inputs, outputs).
        mean: float32 (entries,): is subtracted from all entries of an observation.
        scale: float32 (entries,): is then multiplied with them.
        rest: see `EmbedInputs`.
    """
    around = t["around.weight"] * scale[rest][:, None]
    return EmbedWeights(
        around=around,
        around_bias=t["around.bias"] - mean[rest] @ around,
        context=t["context.weight"],
        first=t["first.weight"],
        position=t["position"][:, 0] + t["first.bias"],
        second=t["second.weight"],
        second_bias=t["second.bias"],
        neighbours=t["neighbours.weight"],
        other_suits=t["other_suits.weight"],
        third=t["third.weight"],
        third_bias=t["third.bias"],
    )


class Embedded(NamedTuple):
    """What the layers make of observations.

    `first` and `second` are for the gradient alone: empty where there is none to be computed.
    """

    around: np.ndarray
    """float32 (batch, 2 * width)."""
    first: np.ndarray
    """float32 (batch, nodes, width)."""
    second: np.ndarray
    """float32 (batch, nodes, width), rectified."""
    nodes: np.ndarray
    """float32 (batch, nodes, width)."""
    mean: np.ndarray
    """float32 (batch, width), of the nodes."""
    most: np.ndarray
    """float32 (batch, width), their maxima."""


def new_embedded(batch: int, inputs: EmbedInputs, width: int, keep: bool) -> Embedded:
    """Memory for what `embed` makes of `batch` observations; `keep` for `embed_gradient`."""
    nodes, kept = len(inputs.rows), batch * keep
    shapes = [(batch, 2 * width), (kept, nodes, width), (kept, nodes, width), (batch, nodes, width)]
    return Embedded(*(np.empty(shape, np.float32) for shape in [*shapes, (batch, width), (batch, width)]))


@inlined
def read_nodes(obs, inputs, out):
    """Write the normalised inputs of a position's nodes, float32 (nodes, entries of one); `obs` is int8 (entries,)."""
    for node in range(out.shape[0]):
        for column in range(out.shape[1]):
            entry = inputs.rows[node, column]
            out[node, column] = (np.float32(obs[entry]) - inputs.mean[entry]) * inputs.scale[entry]


@inlined
def list_entries(obs, rest, factors, listed):
    """List which of the entries `rest` of an observation are not 0, and what they are; their number."""
    count = 0
    for row in range(rest.shape[0]):
        value = obs[rest[row]]
        factors[count], listed[count] = value, row
        count += value != 0
    return count


def _embed(obs, inputs, w, out):
    """Embed positions.

    Args:
        obs: int8 (batch, entries).
        inputs: `EmbedInputs`.
        w: `EmbedWeights`.
        out: `Embedded`, out.
    """
    nodes, width = out.nodes.shape[1:]
    sites = w.position.shape[0]
    suits = nodes // sites
    factors, listed = np.empty(inputs.rest.shape[0], np.float32), np.empty(inputs.rest.shape[0], np.int64)
    own = np.empty((nodes, inputs.rows.shape[1]), np.float32)
    context, ones = np.empty((1, suits * width), np.float32), np.ones((nodes, 1), np.float32)
    beside = np.empty((sites, suits * width), np.float32)
    means, others = np.empty((sites, width), np.float32), np.empty((sites, width), np.float32)
    scratch = np.empty((2, nodes, width), np.float32)
    third_bias = w.third_bias.reshape(1, -1)
    for i in range(obs.shape[0]):
        around, last = out.around[i : i + 1], out.nodes[i]
        first = out.first[i] if out.first.shape[0] else scratch[0]
        second = out.second[i] if out.second.shape[0] else scratch[1]
        copy(w.around_bias, around[0])
        add_listed_rows(factors, listed, list_entries(obs[i], inputs.rest, factors, listed), w.around, around)
        rectify(around)
        context.fill(ZERO)
        add_product(around, w.context, context)
        read_nodes(obs[i], inputs, own)
        for site in range(sites):
            for suit in range(suits):
                for k in range(width):
                    first[site * suits + suit, k] = w.position[site, k] + context[0, suit * width + k]
        add_product(own, w.first, first)
        rectify(first)
        average_suits(first, means)
        for site in range(sites):
            copy(w.second_bias, others[site])
        add_product(means, w.other_suits, others)
        for site in range(sites):
            for node in range(site * suits, (site + 1) * suits):
                copy(others[site], second[node])
        beside.fill(ZERO)
        add_product(inputs.near, first.reshape(sites, -1), beside)
        add_product(first, w.second, second)
        add_product(beside.reshape(nodes, -1), w.neighbours, second)
        rectify(second)
        copy(first.reshape(-1), last.reshape(-1))
        add_product(ones, third_bias, last)
        add_product(second, w.third, last)
        pool(last, out.mean[i], out.most[i])


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


def _embed_gradient(obs, inputs, back, seen, by_output, out):
    """Add to the gradient of the weights.

    Args:
        obs: int8 (batch, entries).
        inputs: `EmbedInputs`.
        back: `Transposed`.
        seen: `Embedded`, kept by `embed`.
        by_output: gradients by `around`, `nodes`, `mean` and `most`, of the shapes of those.
        out: `EmbedWeights`, in and out.
    """
    by_around, by_nodes, by_mean, by_most = by_output
    nodes, width = seen.nodes.shape[1:]
    sites = out.position.shape[0]
    suits = nodes // sites
    factors, listed = np.empty(inputs.rest.shape[0], np.float32), np.empty(inputs.rest.shape[0], np.int64)
    own, ones = np.empty((nodes, inputs.rows.shape[1]), np.float32), np.ones((nodes, 1), np.float32)
    means, totals = np.empty((sites, width), np.float32), np.empty((sites, width), np.float32)
    by_means, pooled = np.empty((sites, width), np.float32), np.empty((1, width), np.float32)
    d_last, d_second = np.empty((nodes, width), np.float32), np.empty((nodes, width), np.float32)
    d_beside, d_context = np.empty((nodes, width), np.float32), np.empty((1, suits * width), np.float32)
    d_around = np.empty((1, 2 * width), np.float32)
    share = ONE / np.float32(suits)
    third_bias, second_bias = out.third_bias.reshape(1, -1), out.second_bias.reshape(1, -1)
    for i in range(obs.shape[0]):
        first, second = seen.first[i], seen.second[i]
        copy(by_nodes[i].reshape(-1), d_last.reshape(-1))
        for k in range(width):
            pooled[0, k] = by_mean[i, k] / np.float32(nodes)
        add_product(ones, pooled, d_last)
        add_most_gradient(seen.nodes[i], seen.most[i], by_most[i], pooled[0], d_last)
        add_transposed_product(second, d_last, out.third)
        add_transposed_product(ones, d_last, third_bias)
        d_second.fill(ZERO)
        add_product(d_last, back.third, d_second)
        keep_positive(second, d_second)
        add_transposed_product(first, d_second, out.second)
        add_transposed_product(ones, d_second, second_bias)
        d_beside.fill(ZERO)
        add_transposed_product(inputs.near, d_second.reshape(sites, -1), d_beside.reshape(sites, -1))
        add_transposed_product(first, d_beside, out.neighbours)
        average_suits(first, means)
        average_suits(d_second, totals)
        for site in range(sites):
            for k in range(width):
                totals[site, k] *= np.float32(suits)
        add_transposed_product(means, totals, out.other_suits)
        by_means.fill(ZERO)
        add_product(totals, back.other_suits, by_means)
        d_first = d_last  # that of the sum
        add_product(d_second, back.second, d_first)
        add_product(d_beside, back.neighbours, d_first)
        for site in range(sites):
            for node in range(site * suits, (site + 1) * suits):
                for k in range(width):
                    d_first[node, k] += by_means[site, k] * share
        keep_positive(first, d_first)
        read_nodes(obs[i], inputs, own)
        add_transposed_product(own, d_first, out.first)
        d_context.fill(ZERO)
        add_transposed_product(ones[:sites], d_first.reshape(sites, -1), d_context)
        for site in range(sites):
            for suit in range(suits):
                for k in range(width):
                    out.position[site, k] += d_first[site * suits + suit, k]
        copy(by_around[i], d_around[0])
        add_product(d_context, back.context, d_around)
        keep_positive(seen.around[i : i + 1], d_around)
        add_transposed_product(seen.around[i : i + 1], d_context, out.context)
        for k in range(2 * width):
            out.around_bias[k] += d_around[0, k]
        add_to_listed_rows(factors, listed, list_entries(obs[i], inputs.rest, factors, listed), out.around, d_around)


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


embed = bind(_embed, BOUND, {})
embed_gradient = bind(_embed_gradient, BOUND, {})
