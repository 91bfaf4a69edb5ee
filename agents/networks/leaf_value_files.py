"""Files of leaf values (`agents.leaf_values`): a .safetensors file with a card beside it."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from agents.leaf_values import LeafValue, make_leaf_value, shapes
from agents.networks.cards import WIDEST
from agents.networks.weight_files import Card, load_weights, save_weights
from samurai_env.core.game import Variant

FORMAT = "samurai_env leaf value 1"
Width = Annotated[int, Meta(ge=1, le=WIDEST)]


class LeafValueCard(Card, frozen=True):
    """The card of a leaf value: also the units of its two hidden layers."""

    hidden: tuple[Width, Width]


def save_leaf_value(variant: Variant, tensors: dict[str, np.ndarray], path: Path, notes: dict[str, Any]) -> None:
    """Write a leaf value to `path` (.safetensors), in float16, and its card beside it."""
    hidden = tensors["second"].shape
    save_weights(path, tensors, format=FORMAT, variant=variant.spec, hidden=hidden, notes=notes)


def load_leaf_value(path: Path, variant: Variant) -> LeafValue:
    """Load a leaf value for a variant; arguments and errors as for `weight_files.load_weights`."""

    def wanted(trained: Variant, card: LeafValueCard) -> dict[str, tuple[int, ...]]:
        return shapes(trained, card.hidden)

    _, tensors = load_weights(path, variant, "leaf value", FORMAT, LeafValueCard, wanted)
    return make_leaf_value(variant, tensors)
