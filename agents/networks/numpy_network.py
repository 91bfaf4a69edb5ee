"""Networks by NumPy and compiled layers, for play: without torch, and mostly faster.

Multi-layer perceptrons with a heuristic prior, action layers and layers over a graph. The shipped networks are of these
forms, and choose as by torch; see `network.PolicyValueNet`, `layers.ActionLayers`, `maps.graph_layers.GraphLayers` and
`maps.grid_layers.GridLayers`, which these functions follow.
"""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from safetensors import SafetensorError, deserialize
from threadpoolctl import ThreadpoolController

from agents.networks.cards import damaged, read_card, read_weights
from agents.networks.config import MASKED, NetworkConfig, graph_of, prior_variant, supports_bfloat16
from agents.networks.dense import add_action_scores, add_prior, dense, log_softmax, observed, prior_logits
from agents.networks.maps.numpy_graph import NumPyMap, Shapes, graph_shapes, linear_shapes, numpy_map
from agents.networks.paths import weights_file
from agents.old_names import current_tensor
from samurai_env import parse_variant
from samurai_env.core.texts import one_line

FEW = 16  # positions up to which compiled layers are faster than NumPy's products
BLAS = ThreadpoolController()  # of NumPy's products; its threads wait for these small ones by spinning
_LIMITED: dict[str, Any] = {"users": 0, "limit": None}
_LOCK = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy's products take one thread meanwhile, also if several threads ask for that at overlapping times.

    The limit is one of the whole process: it is set by the first and lifted by the last. Products by another number of
    threads differ in their last bits.
    """
    with _LOCK:
        if not _LIMITED["users"]:
            _LIMITED["limit"] = BLAS.limit(limits=1, user_api="blas")
        _LIMITED["users"] += 1
    try:
        yield
    finally:
        with _LOCK:
            _LIMITED["users"] -= 1
            if not _LIMITED["users"]:
                _LIMITED["limit"].restore_original_limits()


def expected_shapes(config: NetworkConfig) -> Shapes:
    """The shapes of a network's tensors.

    Raises:
        ValueError: there is no such network.
    """
    variant = parse_variant(config.variant)
    prior_variant(config, variant)  # refuses a policy that there is not
    encoding = variant.encoding(config.encoding)
    inputs = int(np.prod(encoding.shape))
    shapes: Shapes = {"mean": (inputs,), "scale": (inputs,)}
    if config.heuristic_prior:
        shapes |= {"prior_temperature": (), "prior_weight": ()}
        inputs += variant.num_actions
    if config.graph_width:
        graph = graph_of(variant, config.encoding)
        width = (inputs, *config.hidden)[-1]
        found = graph_shapes(graph, encoding, config.graph_width, width)
        shapes |= {f"graph.{name}": shape for name, shape in found.items()}
        inputs += 4 * config.graph_width - encoding.shape[0]
    widths = [inputs, *config.hidden]
    for layer, (before, after) in enumerate(pairwise(widths)):
        shapes |= linear_shapes(f"body.{2 * layer}", before, after)
    if width := config.action_width:
        columns = len(variant.game.action_features)
        shapes |= {"actions.scale": (columns,), "actions.context.weight": (width, widths[-1])}
        shapes |= linear_shapes("actions.first", 2 * columns, width) | linear_shapes("actions.second", width, width)
        shapes |= linear_shapes("actions.score", width, 1)
    shapes |= linear_shapes("policy", widths[-1], variant.num_actions)
    return shapes | linear_shapes("value", widths[-1], variant.num_players)


class NumPyNetwork:
    """A network that plays and does not learn.

    Args:
        config: a form without entity and spatial layers.
        tensors: float32, by the names of `expected_shapes`.
    """

    def __init__(self, config: NetworkConfig, tensors: dict[str, np.ndarray]) -> None:
        self.config = config
        # Transposed in memory: the weights of an input lie together.
        self._tensors = {n: np.ascontiguousarray(t.T) if n.endswith(".weight") else t for n, t in tensors.items()}
        t, names = self._tensors, [f"body.{2 * layer}" for layer in range(len(config.hidden))]
        names += ["graph.gate"] * (config.graph_width > 0) + ["policy", "value"]
        self._layers = [(t[f"{name}.weight"], t[f"{name}.bias"]) for name in names]
        self._graph: NumPyMap | None = None
        if config.graph_width:
            variant = parse_variant(config.variant)
            own = {name.removeprefix("graph."): tensor for name, tensor in t.items() if name.startswith("graph.")}
            graph, encoding = graph_of(variant, config.encoding), variant.encoding(config.encoding)
            self._graph = numpy_map(graph, encoding, own, t["mean"], t["scale"])
        elif config.hidden:  # the first layer reads observations as they are: it does the normalisation, too
            entries = len(t["mean"])
            weights, bias = self._layers[0]
            scaled = weights[:entries] * t["scale"][:, None]
            self._first = scaled, bias - t["mean"] @ scaled, weights[entries:]
        if config.action_width:
            scale, weights = t["actions.scale"][:, None], t["actions.first.weight"]
            of_mean = scale * weights[len(scale) :]
            score = np.append(t["actions.score.weight"][:, 0], t["actions.score.bias"])
            self._of_actions = scale * weights[: len(scale)] + of_mean, of_mean, score

    def evaluate(
        self, observations: np.ndarray, masks: np.ndarray, features: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `agents.networks.agent.Network.evaluate`."""
        with one_blas_thread() if len(observations) > FEW else nullcontext():
            return self._forward(observations, masks, features)

    def _forward(
        self, observations: np.ndarray, masks: np.ndarray, features: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The work of `evaluate`."""
        t, obs = self._tensors, observations.reshape(len(observations), math.prod(observations.shape[1:]))
        prior: np.ndarray | None = None
        if features is not None:
            prior = np.empty(masks.shape, np.float32)
            prior_logits(features, t["prior_temperature"][()], prior)
        seen_sites: Any = None
        if self._graph is None and self.config.hidden:
            hidden = self._read(obs, masks, prior)
        else:
            if self._graph is not None:
                seen_sites, seen = self._graph.embed(obs)
            else:
                seen = (obs - t["mean"]) * t["scale"]
            parts = [seen]
            if prior is not None:
                parts.append(np.exp(prior) * masks)
            hidden = np.concatenate(parts, 1)
            hidden = self._dense(0, hidden, True) if self.config.hidden else hidden
        for layer in range(1, len(self.config.hidden)):
            hidden = self._dense(layer, hidden, True)
        logits = self._dense(-2, hidden, False)
        if self._graph is not None:
            self._graph.add_logits(obs, seen_sites, self._dense(-3, hidden, False), logits)
        if prior is not None:
            if self.config.action_width:
                assert features is not None
                self._add_action_scores(features, masks, hidden, logits)
            logits += t["prior_weight"] * prior
        log_softmax(logits, masks, np.float32(MASKED))
        return logits, self._dense(-1, hidden, False)

    def _read(self, obs: np.ndarray, masks: np.ndarray, prior: np.ndarray | None) -> np.ndarray:
        """The first hidden layer."""
        weights, bias, of_prior = self._first
        if len(obs) > FEW:
            out = obs.astype(np.float32) @ weights + bias
            if prior is not None:
                out += (np.exp(prior) * masks) @ of_prior
            return np.maximum(out, 0, out=out)
        out = np.empty((len(obs), len(bias)), np.float32)
        observed(obs, weights, bias, out)
        if prior is not None:
            add_prior(prior, masks, of_prior, out)
        return np.maximum(out, 0, out=out)

    def _dense(self, layer: int, inputs: np.ndarray, rectified: bool) -> np.ndarray:
        weights, bias = self._layers[layer]
        if len(inputs) > FEW:
            out = inputs @ weights + bias
            return np.maximum(out, 0, out=out) if rectified else out
        out = np.empty((len(inputs), len(bias)), np.float32)
        dense(inputs, weights, bias, rectified, out)
        return out

    def _add_action_scores(
        self, features: np.ndarray, masks: np.ndarray, hidden: np.ndarray, logits: np.ndarray
    ) -> None:
        """Add what `layers.ActionLayers` says of the legal actions."""
        t, (first, of_mean, score) = self._tensors, self._of_actions
        second, bias = t["actions.second.weight"], t["actions.second.bias"]
        context = hidden @ t["actions.context.weight"] + t["actions.first.bias"]
        if len(features) <= FEW:
            work = np.empty((3, max(first.shape)), np.float32)
            add_action_scores(features, masks, context, first, of_mean, second, bias, score, work, logits)
            return
        legal = masks > 0
        rows, count = features[legal], legal.sum(1)
        mean = np.add.reduceat(rows, np.cumsum(count) - count) / count[:, None].astype(np.float32)
        context -= mean @ of_mean
        scores = np.maximum(rows @ first + np.repeat(context, count, 0), 0)
        scores = np.maximum(scores @ second + bias, 0)
        logits[legal] += scores @ score[:-1] + score[-1]

    def rounding(self, batch_size: int) -> AbstractContextManager[None]:
        """See `agents.networks.agent.Network.rounding`; nothing is rounded."""
        return nullcontext()


def needs_torch(config: NetworkConfig) -> bool:
    """Whether a network has layers that are computed by torch alone."""
    return bool(config.entity_width or config.spatial_width)


def faster_without_torch(config: NetworkConfig) -> bool:
    """Whether a network plays faster on this CPU without torch: compiled layers do, others unless torch can round."""
    return not needs_torch(config) and (config.graph_width > 0 or not supports_bfloat16())


def _as_array(dtype: str, shape: list[int], data: bytes) -> np.ndarray:
    """A tensor of a .safetensors file, float32."""
    kind = {"BF16": "<u2", "F16": "<f2", "F32": "<f4", "F64": "<f8"}[dtype]
    array = np.frombuffer(data, kind).reshape(shape)
    if dtype == "BF16":  # the upper half of a float32; NumPy has no such type
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return array.astype(np.float32)


def load_network(path: Path) -> NumPyNetwork:
    """Load a network; `path` is as for `weights_file`.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, or a form that needs torch.
    """
    path = weights_file(path)
    if path.exists() and needs_torch(read_card(path).config):
        raise ValueError(f"{one_line(path, 100)} has layers that need torch, which is not installed: pip install torch")
    card, data = read_weights(path, expected_shapes)
    try:
        tensors = {current_tensor(name): _as_array(**tensor) for name, tensor in deserialize(data)}
    except (SafetensorError, ValueError) as error:
        raise damaged(path, error) from None
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError(f"{one_line(path, 100)} holds numbers that are not finite")
    return NumPyNetwork(card.config, tensors)
