"""Consistency checks between the fields of a state, which find forged states."""

from collections.abc import Iterator

import numpy as np

from samurai_env.core.layout import pack_bits
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.rules.cards import HAND, KINDS, STRENGTH, VILLAGE_KINDS
from samurai_env.games.card.rules.scoring import winners
from samurai_env.games.card.rules.topology import STEP_X, STEP_Y, VILLAGES
from samurai_env.games.card.state import CELL, VILLAGE


def broken_invariants(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where states (shape (count,)) say otherwise there than in others."""
    n = states["hand"].shape[1]
    hand, stack = states["hand"].astype(np.int64), states["stack"]
    yield "kinds", states["kinds"] != pack_bits(hand > 0)
    yield "drawn", (stack < 0) != (np.arange(stack.shape[2]) < states["drawn"][:, :, None])
    yield "unseen", states["unseen"] - hand != (stack[..., None] == np.arange(KINDS)).sum(2)
    villages = (states["village_stack"][..., None] == np.array(VILLAGE_KINDS)).sum(1)
    yield "village_stack", villages != states["village_copies"]

    side = states["side"].astype(np.int64)
    owner, kind = np.divmod(side - 1, KINDS)
    laid = np.arange(side.shape[1]) < states["villages"][:, None]
    yield "side", (side > 0) & ~laid[..., None]
    strength = STRENGTH[kind].astype(np.int64) * (side > 0)[..., None]
    influence = np.stack([(strength * (owner == seat)[..., None]).sum(2) for seat in range(n)], 1)
    best = influence.max(1)
    leads = (influence == best[:, None]) & ((influence == best[:, None]).sum(1, keepdims=True) == 1)
    symbols = (states["village_stack"][..., None] >> np.arange(3) & 1 == 1) & (laid & (side > 0).all(2))[..., None]
    yield "stones", states["stones"] != (leads & symbols[:, None]).sum(2)

    over, phase, seat = states["over"] > 0, states["phase"], states["seat"].astype(np.int64)
    chosen = states["card"].astype(np.int64)
    held = hand[np.arange(len(states)), seat, chosen]
    yield "card", ((chosen >= 0) != (phase == CELL)) & ~over
    yield "card", (chosen >= 0) & (held == 0)
    yield "laid", (states["laid"] >= 0) != (states["waiting"] > 0)
    yield "laid", states["laid"] >= 4 * states["villages"].astype(np.int64)
    yield "waiting", np.bitwise_count(states["waiting"]) != 2 * (phase == VILLAGE)
    yield "villages", (phase == VILLAGE) & (states["villages"] == VILLAGES)
    won = states["winners"].astype(np.int64)
    yield "winners", won != [winners(r["stones"]) if ended else 0 for r, ended in zip(states, over, strict=True)]

    # Everybody lays a card a turn and then draws one.
    moving, in_stack = np.arange(n) == seat[:, None], states["unseen"].sum(2, dtype=np.int64)
    first = states["first_seat"].astype(np.int64)
    before = (np.arange(n) - first[:, None]) % n < ((seat - first) % n)[:, None]
    has_laid = before | moving & (over | (phase == VILLAGE))[:, None]
    turns = states["copies"].sum(1, dtype=np.int64)[:, None] - in_stack - has_laid
    yield "unseen", turns.max(1) != turns.min(1)
    yield "hand", hand.sum(2) != np.minimum(HAND - (moving & (phase == VILLAGE)[:, None]), in_stack)
    yield from _cells(states, laid, owner, kind)


def _cells(
    states: np.ndarray, laid: np.ndarray, owner: np.ndarray, kind: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Each cell belongs to the first village beside it; a card lies there, or it is free."""
    x, y, side = states["village_x"], states["village_y"], states["side"]
    dx = (x[..., None] + STEP_X.astype(np.int8))[..., None] - x[:, None, None]
    dy = (y[..., None] + STEP_Y.astype(np.int8))[..., None] - y[:, None, None]
    older = np.tri(VILLAGES, k=-1, dtype=bool)[:, None]
    same_place = (x[:, :, None] == x[:, None]) & (y[:, :, None] == y[:, None]) & older[:, 0]
    yield "villages", same_place & laid[..., None]
    own = laid[..., None] & ~((abs(dx) + abs(dy) == 1) & older).any(3)
    place = (x[..., None] + STEP_X + 128) * 256 + y[..., None] + STEP_Y + 128
    place = np.where(laid[..., None], place, -1).reshape(len(states), -1)
    shared = (place[:, :, None] == place[:, None]) & (place >= 0)[:, None]
    flat = side.reshape(place.shape)
    yield "side", (shared & (flat[:, :, None] != flat[:, None])).any(2)
    free = np.zeros((len(states), 192), bool)
    free[:, CELL0 : CELL0 + 4 * VILLAGES] = (own & (side == 0)).reshape(len(states), -1)
    yield "free", states["free"] != pack_bits(free.reshape(-1, 3, 64))
    yield "free", ~free.any(1) & (states["over"] == 0) & (states["phase"] != VILLAGE)  # a village brings new ones
    mine = (own & (side > 0))[:, None] & (owner[:, None] == np.arange(states["hand"].shape[1])[:, None, None])
    counts = np.stack([(mine & (kind == k)[:, None]).sum((2, 3)) for k in range(KINDS)], 2)
    yield "unseen", states["unseen"] + counts != states["copies"][:, None]
