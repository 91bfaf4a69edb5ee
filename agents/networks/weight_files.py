"""Small networks of a search, as files: a .safetensors file, and a card (.json) beside it that says what it is."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from safetensors import SafetensorError
from safetensors.numpy import load, save

from agents.networks.cards import CARD_BYTES, check_weights, damaged
from agents.networks.paths import weights_file
from samurai_env import parse_variant
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import in_form, read_json


class WeightsCard(Struct, frozen=True):
    """What the cards have in common: the variant, the checksum of the weights, and how they were made."""

    format: str
    variant: str
    sha256: str
    notes: dict[str, Any]


AnyCard = TypeVar("AnyCard", bound=WeightsCard)


def save_weights(path: Path, tensors: dict[str, np.ndarray], **card: Any) -> None:
    """Write weights to `path` (.safetensors), in float16, and the card beside them; `card` is all but the checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = save({name: tensor.astype(np.float16) for name, tensor in tensors.items()})
    write_atomically(path, weights)
    card["sha256"] = hashlib.sha256(weights).hexdigest()
    write_atomically(path.with_suffix(".json"), json.dumps(card, indent=1) + "\n")


def load_weights(
    path: Path,
    variant: Variant,
    what: str,
    form: str,
    card_type: type[AnyCard],
    shapes_of: Callable[[Variant, AnyCard], dict[str, tuple[int, ...]]],
) -> tuple[AnyCard, dict[str, np.ndarray]]:
    """Load weights for a variant.

    Args:
        path: as for `weights_file`.
        variant: what they are for.
        what: the word for them in errors, such as `belief`.
        form: `format` of the card.
        card_type: of the card.
        shapes_of: gives the shapes of the tensors by name, from the variant of the card and the card; ValueError where
            that is impossible.

    Returns:
        The card, and the tensors by name, float32.

    Raises:
        FileNotFoundError: no such file, or no card beside it.
        ValueError: a damaged or foreign file, or one for another game or number of players.
    """
    path = weights_file(path)
    card_path = path.with_suffix(".json")
    for each, name in ((path, what), (card_path, f"card of a {what}")):
        if not each.is_file():
            raise FileNotFoundError(f"there is no {name} at {one_line(each, 100)}")
    found = read_json(card_path, dict[str, Any], CARD_BYTES)
    if found.get("format") != form:
        raise ValueError(f"{one_line(card_path, 100)} is not the card of a {what} of samurai_env ({form})")
    try:
        card = in_form(found, card_type)
        trained = parse_variant(card.variant)
        wanted = shapes_of(trained, card)
    except ValueError as error:
        raise ValueError(f"{one_line(card_path, 100)} describes no {what}: {one_line(error, 150)}") from None
    if (trained.game, trained.num_players) != (variant.game, variant.num_players):
        raise ValueError(f"the {what} {one_line(path, 100)} is about {card.variant}, not {variant.spec}")
    data = path.read_bytes()
    check_weights(path, data, card.sha256, wanted)
    try:
        tensors = {name: tensor.astype(np.float32) for name, tensor in load(data).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(path, error) from None
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError(f"{one_line(path, 100)} holds numbers that are not finite")
    return card, tensors
