"""Networks on disk: weights as .safetensors, and beside them a card in JSON. Files may come from strangers."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from agents.networks.cards import FORMAT, damaged, read_weights
from agents.networks.config import NetworkConfig
from agents.networks.network import PolicyValueNet
from agents.networks.paths import weights_file
from agents.old_names import current_tensor
from samurai_env.core.texts import one_line
from samurai_env.files.atomic_write import write_atomically


def save_network(net: PolicyValueNet, path: Path, notes: dict[str, Any]) -> None:
    """Write weights to `path` (.safetensors), and config, checksum and `notes` to the card beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = save({name: tensor.contiguous() for name, tensor in net.state_dict().items()})
    write_atomically(path, weights)
    write_card(path, weights, net.config, notes)


def write_card(path: Path, weights: bytes, config: NetworkConfig, notes: dict[str, Any]) -> None:
    """Write the card beside a file of weights, whose contents are `weights`."""
    card = {"format": FORMAT, **asdict(config), "sha256": hashlib.sha256(weights).hexdigest(), "notes": notes}
    write_atomically(path.with_suffix(".json"), json.dumps(card, indent=1) + "\n")


def expected_shapes(config: NetworkConfig) -> dict[str, tuple[int, ...]]:
    """The shapes of a network's tensors, without any memory for them.

    Raises:
        ValueError: there is no such network.
    """
    with torch.device("meta"):
        return {name: tuple(tensor.shape) for name, tensor in PolicyValueNet(config).state_dict().items()}


def load_network(path: Path, device: str = "cpu") -> PolicyValueNet:
    """Load a network; `path` is as for `weights_file`.

    Nothing is built before the shapes in the file are those of its card.

    Raises:
        FileNotFoundError: no such file.
        ValueError: a damaged or foreign file; the text says which and why.
    """
    card, data = read_weights(path, expected_shapes)
    path = weights_file(path)
    try:
        tensors = load(data)
    except SafetensorError as error:
        raise damaged(path, error) from None
    net = PolicyValueNet(card.config)
    net.load_state_dict({current_tensor(name): tensor for name, tensor in tensors.items()})
    if not all(bool(tensor.isfinite().all()) for tensor in net.state_dict().values()):
        raise ValueError(f"{one_line(path, 100)} holds numbers that are not finite")
    return net.to(device).eval()
