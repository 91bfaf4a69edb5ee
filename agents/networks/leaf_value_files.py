"""Files of leaf values (`agents.leaf_values`): a .safetensors file with a card beside it."""

import hashlib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from agents.leaf_values import LeafValue, make_leaf_value, shapes
from agents.networks.cards import WIDEST
from agents.networks.weight_files import WeightsCard, load_weights, save_weights
from samurai_env.core.game import Game, Variant
from samurai_env.core.texts import shown

FORMAT = "samurai_env leaf value 1"
Width = Annotated[int, Meta(ge=1, le=WIDEST)]


class LeafValueCard(WeightsCard, frozen=True):
    """The card of a leaf value: also the units of its two hidden layers, and the digest of the columns it reads."""

    hidden: tuple[Width, Width]
    columns: str


def columns_digest(game: Game) -> str:
    """The first 16 digits of the SHA-256 of the names of what a leaf value reads: other columns, another value."""
    return hashlib.sha256("\n".join(game.value_columns).encode()).hexdigest()[:16]


def save_leaf_value(variant: Variant, tensors: dict[str, np.ndarray], path: Path, notes: dict[str, Any]) -> None:
    """Write a leaf value to `path` (.safetensors), in float16, and its card beside it."""
    hidden, columns = tensors["second"].shape, columns_digest(variant.game)
    save_weights(path, tensors, format=FORMAT, variant=variant.spec, hidden=hidden, columns=columns, notes=notes)


def load_leaf_value(path: Path, variant: Variant) -> LeafValue:
    """Load a leaf value for a variant; its game and number of players count, its options do not.

    Args:
        path: as for `weights_file`.
        variant: what is played.

    Raises:
        FileNotFoundError: no such file, or no card beside it.
        ValueError: a damaged or foreign file, one for another game or number of players, or one that reads other
            columns than this version writes.
    """

    def wanted(trained: Variant, card: LeafValueCard) -> dict[str, tuple[int, ...]]:
        now = columns_digest(trained.game)
        if card.columns != now:
            raise ValueError(f"it reads columns {shown(card.columns)}, this version writes {now}: learn it anew")
        return shapes(trained, card.hidden)

    _, tensors = load_weights(path, variant, "leaf value", FORMAT, LeafValueCard, wanted)
    return make_leaf_value(variant, tensors)
