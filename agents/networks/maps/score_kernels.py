"""The second part of `graph_layers.GraphLayers`, compiled: from the embedded sites to logits, and back.

As `embed_kernels`, position by position.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from agents.networks.maps.products import add_product, add_transposed_product, larger
from agents.networks.maps.site_kernels import BOUND
from agents.networks.maps.tables import LARGEST, fixed_map, sites_beside, suits_and_likes, summed_scores
from samurai_env.core.encoding import Cells, Encoding, Graph
from samurai_env.core.jit import bind, inlined, jit

ZERO, ONE = np.float32(0.0), np.float32(1.0)
CLAMP = np.float32(LARGEST)
ROUNDING = np.float32(1.5 * 2**23)  # a float32 to which this has been added has no fraction


class ScoreInputs(NamedTuple):
    """Pieces and places.

    Each kind of places has a column for each piece that can be put there, one for the chosen piece, and some that fill
    the vectors up.
    """

    beside: tuple[np.ndarray, ...]
    """By kind: float32 (places, sites), 1 where they lie side by side."""
    sums: tuple[np.ndarray, ...]
    """By kind: float32 (suits * (likes + 1), columns), which of a site's scores are summed up for a column's piece."""
    sums_back: tuple[np.ndarray, ...]
    """The same, transposed."""
    pieces: tuple[np.ndarray, ...]
    """By kind: int64 (columns,), a column's piece; for the others the number of pieces."""
    entries: tuple[np.ndarray, ...]
    """By kind: int64 (places, entries of one), where they lie in an observation."""
    place_action: np.ndarray
    """int64 (kinds,): of the first place; the others follow."""
    chosen_column: np.ndarray
    """int64 (kinds,): the column of the chosen piece."""
    suit: np.ndarray
    """int64 (pieces,): a piece's suit, -1 for all."""
    like: np.ndarray
    """int64 (pieces,): pieces with the same number are alike but for their suit."""
    chosen: np.ndarray
    """int64 (pieces,): the entry of an observation that says that it is chosen."""
    piece_action: int
    """Of the first piece; the others follow."""
    site_actions: np.ndarray
    """int64 (sites, suits), -1 for none."""
    placeless: np.ndarray
    """float32 (pieces,): 1 for a piece that is put nowhere, otherwise nearly 0."""


class ScoreWeights(NamedTuple):
    """The weights, float32; or their gradients."""

    scores: np.ndarray
    """(width, likes + 1), the last for the sites' own actions."""
    scores_bias: np.ndarray
    piece_scale: np.ndarray
    """(pieces,)."""
    own: tuple[np.ndarray, ...]
    """By kind: (entries of a place,), what lies there already."""
    own_bias: tuple[np.ndarray, ...]
    """By kind: (1,)."""


def score_inputs(graph: Graph, encoding: Encoding) -> ScoreInputs:
    """The pieces and places of a map whose places are fixed."""
    places, pieces, sites = graph.places, graph.pieces, graph.sites.shape[0]
    assert not isinstance(places, Cells)
    sums = [summed_scores(graph, kind.pieces) for kind in places]
    columns = [(kind.pieces, table.shape[1]) for kind, table in zip(places, sums, strict=True)]
    suit, like = suits_and_likes(graph)
    block = encoding.slices()[graph.piece_block]
    return ScoreInputs(
        beside=tuple(np.ascontiguousarray(sites_beside(kind, sites).T) for kind in places),
        sums=tuple(sums),
        sums_back=tuple(np.ascontiguousarray(table.T) for table in sums),
        pieces=tuple(np.array([*own, *(width - len(own)) * [len(pieces)]]) for own, width in columns),
        entries=tuple(np.ascontiguousarray(kind.rows(encoding)) for kind in places),
        place_action=np.array([kind.action for kind in places]),
        chosen_column=np.array([len(kind.pieces) for kind in places]),
        suit=suit,
        like=like,
        chosen=np.arange(block.start, block.stop),
        piece_action=graph.piece_action,
        site_actions=np.array(graph.sites.actions),
        placeless=fixed_map(graph).placeless,
    )


def score_weights(t: dict[str, Any], kinds: int) -> ScoreWeights:
    """The weights, from tensors of torch or NumPy by name; weights are transposed, (inputs, outputs)."""
    own, bias = (tuple(t[f"kinds.{kind}.own.{name}"] for kind in range(kinds)) for name in ("weight", "bias"))
    own = tuple(weights[:, 0] for weights in own)
    return ScoreWeights(t["scores.weight"], t["scores.bias"], t["piece_scale"], own, bias)


class Work(NamedTuple):
    """What is made of one position on the way to its logits; its places and columns are those of the kind at hand."""

    nodes: np.ndarray
    """float32 (nodes, width), rectified."""
    gated: np.ndarray
    """float32 (width, likes + 1): the weights of the scores, each row times its gate."""
    scores: np.ndarray
    """float32 (nodes, likes + 1)."""
    at_sites: tuple[np.ndarray, ...]
    """By kind: float32 (sites, columns), what each piece does at each site."""
    at_places: tuple[np.ndarray, ...]
    """By kind: float32 (places, columns), the same at the places."""
    powers: tuple[np.ndarray, ...]
    """By kind: float32 (places, columns), exp of these, clamped; 0 where a place is not free."""
    own: tuple[np.ndarray, ...]
    """By kind: float32 (places,), the score of what lies there."""
    by_column: np.ndarray
    """float32 (most columns,): sum of the powers."""
    total: np.ndarray
    """float32 (pieces + 1,): the same by piece; the last entry has those of columns without a piece."""


@intrinsic
def power_of_two(typing_context: Any, exponent: Any) -> Any:
    """2 to the power of a whole number, both float32: numba's own conversions go by int64, which takes no vectors."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.IntType(32)
        biased = builder.add(builder.fptosi(arguments[0], kind), kind(127))
        return builder.bitcast(builder.shl(biased, kind(23)), ir.FloatType())

    return types.float32(types.float32), generate


@inlined
def exponential(x):
    """The exponential of x, float32, at most 80 in size: to 3e-7 of it, and many at a time, unlike numba's own."""
    power = (x * np.float32(1.4426950408889634) + ROUNDING) - ROUNDING
    rest = x - power * np.float32(0.693359375) + power * np.float32(2.12194440e-4)  # ln 2 in two parts
    value = np.float32(1 / 720)
    for factor in (np.float32(1 / 120), np.float32(1 / 24), np.float32(1 / 6), np.float32(1 / 2), ONE, ONE):
        value = value * rest + factor
    return value * power_of_two(power)


def new_work(inputs: ScoreInputs, width: int) -> Work:
    """Memory for `Work`."""
    sites, suits = inputs.site_actions.shape
    at_places = [(len(beside), sums.shape[1]) for beside, sums in zip(inputs.beside, inputs.sums, strict=True)]
    likes = len(inputs.sums[0]) // suits - 1
    return Work(
        np.empty((sites * suits, width), np.float32),
        np.empty((width, likes + 1), np.float32),
        np.empty((sites * suits, likes + 1), np.float32),
        tuple(np.empty((sites, columns), np.float32) for _, columns in at_places),
        tuple(np.empty(shape, np.float32) for shape in at_places),
        tuple(np.empty(shape, np.float32) for shape in at_places),
        tuple(np.empty(places, np.float32) for places, _ in at_places),
        np.empty(max(columns for _, columns in at_places), np.float32),
        np.zeros(len(inputs.suit) + 1, np.float32),
    )


@inlined
def clamped(score):
    """A score, float32, within what is exponentiated."""
    return -larger(-larger(score, -CLAMP), -CLAMP)


@jit
def score_nodes(nodes, gate, w, rectified, gated, scores):
    """Score pieces at the nodes of a position.

    Args:
        nodes: float32 (nodes, width).
        gate: float32 (width,).
        w: weights that have `scores` and `scores_bias` as `ScoreWeights` has.
        rectified: float32 (nodes, width), out: the nodes, rectified.
        gated: float32 (width, likes + 1), out: the weights of the scores, each row times its gate.
        scores: float32 (nodes, likes + 1), out.
    """
    flat, flat_rectified = nodes.reshape(-1), rectified.reshape(-1)
    for k in range(flat.shape[0]):
        flat_rectified[k] = larger(flat[k], ZERO)
    for k in range(gated.shape[0]):
        for like in range(gated.shape[1]):
            gated[k, like] = w.scores[k, like] * (ONE + gate[k])
    for node in range(scores.shape[0]):
        for like in range(scores.shape[1]):
            scores[node, like] = w.scores_bias[like]
    add_product(rectified, gated, scores)


@jit
def nodes_gradient(rectified, gated, gate, d_scores, w, by_nodes, by_gate, out):
    """Write the gradients by nodes and gate, of the shapes of those, and add to those by weights, for `score_nodes`."""
    width, columns = gated.shape
    for node in range(d_scores.shape[0]):
        for like in range(columns):
            out.scores_bias[like] += d_scores[node, like]
    d_gated, gated_back = np.zeros((width, columns), np.float32), np.empty((columns, width), np.float32)
    add_transposed_product(rectified, d_scores, d_gated)
    for k in range(width):
        by_gate[k] = ZERO
        for like in range(columns):
            out.scores[k, like] += d_gated[k, like] * (ONE + gate[k])
            by_gate[k] += d_gated[k, like] * w.scores[k, like]
            gated_back[like, k] = gated[k, like]
    flat, flat_rectified = by_nodes.reshape(-1), rectified.reshape(-1)
    for k in range(flat.shape[0]):
        flat[k] = ZERO
    add_product(d_scores, gated_back, by_nodes)
    for k in range(flat.shape[0]):
        flat[k] *= np.float32(flat_rectified[k] > ZERO)


@inlined
def add_chosen(obs, pieces, suits, scores, at_sites, column):
    """Add what the chosen piece does at each site to a column, float32 (sites, columns); scores by node and like."""
    for piece in range(pieces.suit.shape[0]):
        if obs[pieces.chosen[piece]] != 0:
            for site in range(at_sites.shape[0]):
                for suit in range(suits):
                    if suit == pieces.suit[piece] or pieces.suit[piece] < 0:
                        at_sites[site, column] += scores[site * suits + suit, pieces.like[piece]]


@inlined
def add_chosen_gradient(obs, pieces, suits, d_sites, column, d_scores):
    """Add the gradient by a column of `add_chosen` to that by scores."""
    for piece in range(pieces.suit.shape[0]):
        if obs[pieces.chosen[piece]] != 0:
            for site in range(d_sites.shape[0]):
                for suit in range(suits):
                    if suit == pieces.suit[piece] or pieces.suit[piece] < 0:
                        d_scores[site * suits + suit, pieces.like[piece]] += d_sites[site, column]


@jit
def score_position(obs, nodes, gate, inputs, w, work):
    """Fill `Work` for a position: `obs` int8 (entries,), `nodes` float32 (nodes, width), `gate` float32 (width,)."""
    sites, suits = inputs.site_actions.shape
    score_nodes(nodes, gate, w, work.nodes, work.gated, work.scores)
    total = work.total
    for piece in range(inputs.suit.shape[0]):
        total[piece] = inputs.placeless[piece]
    for kind in range(len(inputs.beside)):
        at_sites, at_places, powers, own = work.at_sites[kind], work.at_places[kind], work.powers[kind], work.own[kind]
        pieces, entries, beside = inputs.pieces[kind], inputs.entries[kind], inputs.beside[kind]
        column = inputs.chosen_column[kind]
        at_sites.fill(ZERO)
        add_product(work.scores.reshape(sites, -1), inputs.sums[kind], at_sites)
        add_chosen(obs, inputs, suits, work.scores, at_sites, column)
        at_places.fill(ZERO)
        add_product(beside, at_sites, at_places)
        flat, flat_powers = at_places.reshape(-1), powers.reshape(-1)
        for k in range(flat.shape[0]):
            flat_powers[k] = exponential(clamped(flat[k]))
        work.by_column.fill(ZERO)
        for place in range(beside.shape[0]):
            score, free = w.own_bias[kind][0], True
            for k in range(entries.shape[1]):
                value = obs[entries[place, k]]
                if value != 0:
                    free = False
                    score += np.float32(value) * w.own[kind][k]
            own[place] = score
            if free:
                for k in range(powers.shape[1]):
                    work.by_column[k] += powers[place, k]
            else:
                for k in range(powers.shape[1]):
                    powers[place, k] = ZERO
        for k in range(pieces.shape[0]):
            total[pieces[k]] += work.by_column[k]


def _add_logits(obs, nodes, gate, inputs, w, work, logits):
    """Add what pieces, sites and places say.

    Args:
        obs: int8 (batch, entries).
        nodes: float32 (batch, nodes, width), the embedded sites.
        gate: float32 (batch, width): by how much more than once each part of an embedding counts.
        inputs: `ScoreInputs`.
        w: `ScoreWeights`.
        work: `Work`, scratch.
        logits: float32 (batch, actions), in and out.
    """
    sites, suits = inputs.site_actions.shape
    for i in range(obs.shape[0]):
        score_position(obs[i], nodes[i], gate[i], inputs, w, work)
        for piece in range(inputs.suit.shape[0]):
            logits[i, inputs.piece_action + piece] += np.log(work.total[piece]) * w.piece_scale[piece]
        for site in range(sites):
            for suit in range(suits):
                action = inputs.site_actions[site, suit]
                if action >= 0:
                    logits[i, action] += work.scores[site * suits + suit, work.scores.shape[1] - 1]
        for kind in range(len(inputs.beside)):
            first, column = inputs.place_action[kind], inputs.chosen_column[kind]
            for place in range(inputs.beside[kind].shape[0]):
                logits[i, first + place] += work.own[kind][place] + work.at_places[kind][place, column]


def _logits_gradient(obs, nodes, gate, inputs, w, by_logits, work, by_nodes, by_gate, out):
    """Write the gradients by nodes and gate, and add to those by weights.

    Args:
        obs: as for `add_logits`; so are the next four, and `work`.
        nodes: see there.
        gate: see there.
        inputs: see there.
        w: see there.
        by_logits: float32 (batch, actions), the gradient by the logits.
        work: see there.
        by_nodes: float32 (batch, nodes, width), out.
        by_gate: float32 (batch, width), out.
        out: `ScoreWeights`, in and out.
    """
    sites, suits = inputs.site_actions.shape
    likes = work.scores.shape[1] - 1
    pieces = inputs.suit.shape[0]
    d_scores, d_total = np.empty(work.scores.shape, np.float32), np.zeros(pieces + 1, np.float32)
    for i in range(obs.shape[0]):
        score_position(obs[i], nodes[i], gate[i], inputs, w, work)
        d_scores.fill(ZERO)
        for piece in range(pieces):
            by_piece = by_logits[i, inputs.piece_action + piece]
            out.piece_scale[piece] += by_piece * np.log(work.total[piece])
            d_total[piece] = by_piece * w.piece_scale[piece] / work.total[piece]
        for kind in range(len(inputs.beside)):
            entries, column, first = inputs.entries[kind], inputs.chosen_column[kind], inputs.place_action[kind]
            at_places, d_places, d_sites = work.at_places[kind], work.powers[kind], work.at_sites[kind]
            for place in range(d_places.shape[0]):
                by_place = by_logits[i, first + place]
                out.own_bias[kind][0] += by_place
                for k in range(entries.shape[1]):
                    out.own[kind][k] += np.float32(obs[i, entries[place, k]]) * by_place
                for k in range(d_places.shape[1]):
                    inside = -CLAMP <= at_places[place, k] <= CLAMP
                    d_places[place, k] = d_places[place, k] * d_total[inputs.pieces[kind][k]] if inside else ZERO
                d_places[place, column] = by_place
            d_sites.fill(ZERO)
            add_transposed_product(inputs.beside[kind], d_places, d_sites)
            add_product(d_sites, inputs.sums_back[kind], d_scores.reshape(sites, -1))
            add_chosen_gradient(obs[i], inputs, suits, d_sites, column, d_scores)
        for site in range(sites):
            for suit in range(suits):
                if inputs.site_actions[site, suit] >= 0:
                    d_scores[site * suits + suit, likes] += by_logits[i, inputs.site_actions[site, suit]]
        nodes_gradient(work.nodes, work.gated, gate[i], d_scores, w, by_nodes[i], by_gate[i], out)


add_logits = bind(_add_logits, BOUND, {})
logits_gradient = bind(_logits_gradient, BOUND, {})
