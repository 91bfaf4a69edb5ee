"""Networks by NumPy, for play without torch: multi-layer perceptrons with a heuristic prior and action layers.

The shipped networks are of these forms, and choose as by torch; see `network.PolicyValueNet` and `layers.ActionLayers`,
which these functions follow line by line.
"""

from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from agents.networks.cards import current_tensor_name, damaged, read_card, read_weights
from agents.networks.config import MASKED, NetworkConfig
from agents.networks.paths import weights_file
from samurai_env import parse_variant
from samurai_env.core.texts import one_line

Shapes = dict[str, tuple[int, ...]]


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def expected_shapes(config: NetworkConfig) -> Shapes:
    """The shapes of a network's tensors.

    Raises:
        ValueError: there is no such network.
    """
    variant = parse_variant(config.variant)
    inputs = int(np.prod(variant.encoding(config.encoding).shape))
    shapes: Shapes = {"mean": (inputs,), "scale": (inputs,)}
    if config.heuristic_prior:
        shapes |= {"prior_temperature": (), "prior_weight": ()}
        inputs += variant.num_actions
    widths = [inputs, *config.hidden]
    for layer, (before, after) in enumerate(pairwise(widths)):
        shapes |= _linear(f"body.{2 * layer}", before, after)
    if width := config.action_width:
        columns = len(variant.game.action_features)
        shapes |= {"actions.scale": (columns,), "actions.context.weight": (width, widths[-1])}
        shapes |= _linear("actions.first", 2 * columns, width) | _linear("actions.second", width, width)
        shapes |= _linear("actions.score", width, 1)
    return (
        shapes | _linear("policy", widths[-1], variant.num_actions) | _linear("value", widths[-1], variant.num_players)
    )


class NumPyNetwork:
    """A network that plays and does not learn.

    Args:
        config: a form without entity, spatial and graph layers.
        tensors: float32, by the names of `expected_shapes`.
    """

    def __init__(self, config: NetworkConfig, tensors: dict[str, np.ndarray]) -> None:
        self.config = config
        # Transposed in memory: a single position is multiplied faster by rows that lie together.
        self._tensors = {n: np.ascontiguousarray(t.T) if n.endswith(".weight") else t for n, t in tensors.items()}

    def _layer(self, name: str, inputs: np.ndarray) -> np.ndarray:
        return inputs @ self._tensors[f"{name}.weight"] + self._tensors[f"{name}.bias"]

    def evaluate(
        self, observations: np.ndarray, masks: np.ndarray, features: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `agents.networks.agent.Network.evaluate`."""
        t = self._tensors
        hidden = (observations.reshape(len(observations), -1) - t["mean"]) * t["scale"]
        if features is not None:
            prior = np.maximum(-features[:, :, 0] / t["prior_temperature"], np.float32(-20.0))
            hidden = np.concatenate([hidden, np.exp(prior) * masks], 1)
        for layer in range(len(self.config.hidden)):
            hidden = np.maximum(self._layer(f"body.{2 * layer}", hidden), 0)
        logits = self._layer("policy", hidden)
        if features is not None:
            if self.config.action_width:
                logits[masks > 0] += self._action_scores(features, masks > 0, hidden)
            logits += t["prior_weight"] * prior
        logits[masks == 0] = MASKED
        logits -= logits.max(1, keepdims=True)
        return logits - np.log(np.exp(logits).sum(1, keepdims=True)), self._layer("value", hidden)

    def _action_scores(self, features: np.ndarray, legal: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """What `layers.ActionLayers` adds for the legal actions of all positions, float32 (these actions,)."""
        rows = features[legal] * self._tensors["actions.scale"]
        count = legal.sum(1)
        row = np.repeat(np.arange(len(count)), count)
        mean = np.add.reduceat(rows, np.cumsum(count) - count) / count[:, None].astype(np.float32)
        scores = self._layer("actions.first", np.concatenate([rows, rows - mean[row]], 1))
        scores += (hidden @ self._tensors["actions.context.weight"])[row]
        scores = np.maximum(self._layer("actions.second", np.maximum(scores, 0)), 0)
        return self._layer("actions.score", scores)[:, 0]

    def rounding(self, batch_size: int) -> AbstractContextManager[None]:
        """See `agents.networks.agent.Network.rounding`; nothing is rounded."""
        return nullcontext()


def load_network(path: Path) -> NumPyNetwork:
    """Load a network; `path` is as for `weights_file`.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file, or a form that needs torch.
    """
    path = weights_file(path)
    if path.exists():
        config = read_card(path).config
        if config.entity_width or config.spatial_width or config.graph_width:
            raise ValueError(
                f"{one_line(path, 100)} has layers that need torch, which is not installed: pip install torch"
            )
    card, data = read_weights(path, expected_shapes)
    try:
        tensors = {current_tensor_name(name): tensor.astype(np.float32) for name, tensor in load(data).items()}
    except (SafetensorError, TypeError, KeyError, AttributeError) as error:  # bfloat16, which NumPy has not
        raise damaged(path, error) from None
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError(f"{one_line(path, 100)} holds numbers that are not finite")
    return NumPyNetwork(card.config, tensors)
