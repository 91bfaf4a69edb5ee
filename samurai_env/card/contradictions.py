"""What of a record follows from its other fields, so that a forged one is found out."""

from collections.abc import Iterator

import numpy as np

from samurai_env.card.cards import KINDS, STRENGTH, VILLAGE_KINDS
from samurai_env.card.state import CELL
from samurai_env.core.record import as_word


def contradictions(records: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where records (shape (count,)) say otherwise there than in others."""
    n = records["hand"].shape[1]
    hand, stack = records["hand"].astype(np.int64), records["stack"]
    yield "kinds", records["kinds"] != as_word(hand > 0)
    yield "drawn", (stack < 0) != (np.arange(stack.shape[2]) < records["drawn"][:, :, None])
    yield "unseen", records["unseen"] - hand != (stack[..., None] == np.arange(KINDS)).sum(2)
    villages = (records["village_stack"][..., None] == np.array(VILLAGE_KINDS)).sum(1)
    yield "village_stack", villages != records["village_copies"]

    side = records["side"].astype(np.int64)
    owner, kind = np.divmod(side - 1, KINDS)
    laid = np.arange(side.shape[1]) < records["villages"][:, None]
    yield "side", (side > 0) & ~laid[..., None]
    strength = STRENGTH[kind].astype(np.int64) * (side > 0)[..., None]
    influence = np.stack([(strength * (owner == seat)[..., None]).sum(2) for seat in range(n)], 1)
    best = influence.max(1)
    leads = (influence == best[:, None]) & ((influence == best[:, None]).sum(1, keepdims=True) == 1)
    symbols = (records["village_stack"][..., None] >> np.arange(3) & 1 == 1) & (laid & (side > 0).all(2))[..., None]
    yield "stones", records["stones"] != (leads & symbols[:, None]).sum(2)

    yield "card", ((records["card"] >= 0) != (records["phase"] == CELL)) & (records["over"] == 0)
    yield "laid", (records["laid"] >= 0) != (records["waiting"] > 0)
    yield "winners", (records["winners"] > 0) != records["over"]
