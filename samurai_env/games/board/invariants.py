"""Consistency checks between the fields of a state, which find forged states."""

from collections.abc import Iterator

import numpy as np

from samurai_env.core.layout import pack_bits
from samurai_env.games.board.rules.kernels import FIGURE_EXCHANGE_BIT, TOKEN_EXCHANGE_BIT
from samurai_env.games.board.rules.scoring import winners
from samurai_env.games.board.rules.setup import ALTERNATE
from samurai_env.games.board.rules.tiles import (
    COPIES,
    FIGURE_EXCHANGE,
    HAND,
    KINDS,
    MOVABLE,
    ON_LAND,
    QUICK,
    SHIPS,
    STRENGTH,
    TILES,
    TOKEN_EXCHANGE,
)
from samurai_env.games.board.rules.topology import (
    CITIES,
    EDO,
    FIGURES_EACH,
    LAND_BESIDE,
    SEA_BESIDE,
    SETTLEMENT,
    SETTLEMENT_LAND,
)
from samurai_env.games.board.state import (
    FIGURE_FIRST,
    FIGURE_SECOND,
    FIRST_HAND,
    LAND,
    SEA,
    SETUP,
    TILE,
    TOKEN_FROM,
    TOKEN_TO,
)

# What may be decided while a kind of tile is chosen and not yet placed.
DECIDED: dict[int, tuple[int, ...]] = {kind: (SEA,) if int(SHIPS) >> kind & 1 else (LAND,) for kind in range(KINDS)}
DECIDED |= {TOKEN_EXCHANGE: (TOKEN_FROM, TOKEN_TO), FIGURE_EXCHANGE: (FIGURE_FIRST, FIGURE_SECOND)}


def broken_invariants(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where states (shape (count,)) say otherwise there than in others."""
    n, lands, towns = states["hand"].shape[1], states["land_tile"].shape[1], states["influence"].shape[2]
    hand, unseen = states["hand"].astype(np.int64), states["unseen"].astype(np.int64)
    choosing, seat = states["phase"] == FIRST_HAND, states["seat"].astype(np.int64)
    picking = choosing[:, None] & (states["drawn"] == 0)
    yield "hand_size", states["hand_size"] != hand.sum(2)
    first = states["first_seat"].astype(np.int64)
    still_to_pick = (np.arange(n) - first[:, None]) % n >= ((seat - first) % n)[:, None]
    yield "drawn", choosing[:, None] & (picking != still_to_pick)
    picked = states["hand_size"]
    yield "hand_size", choosing & (picked[np.arange(len(picked)), seat] >= HAND)
    yield "kinds", states["kinds"] != pack_bits(hand > 0)
    yield "supply_size", states["supply_size"] != (unseen - hand).sum(2)
    to_draw = np.arange(TILES) >= states["drawn"][:, :, None]
    supply = (to_draw[..., None] & (states["supply"][..., None] == np.arange(KINDS))).sum(2)
    yield "supply", supply != unseen - hand * ~picking[..., None]

    tiles = np.concatenate([states["land_tile"], states["sea_tile"]], 1).astype(np.int64)
    owner, kind = np.divmod(tiles - 1, KINDS)
    lies = owner[:, None, :] == np.arange(n)[:, None]
    yield "land_free", states["land_free"] != pack_bits(tiles[:, :lands] == 0)
    sea = tiles[:, lands:] == 0
    yield "sea_free", states["sea_free"] != np.stack([pack_bits(sea[:, :64]), pack_bits(sea[:, 64:])], 1)
    laid = np.stack([(lies & (kind == k)[:, None, :]).sum(2) for k in range(KINDS)], 2)
    chosen = (states["seat"][:, None, None] == np.arange(n)[:, None]) & (
        states["tile"][:, None, None] == np.arange(KINDS)
    )
    used = COPIES - unseen - laid - chosen
    used[..., FIGURE_EXCHANGE] *= used[..., FIGURE_EXCHANGE] != 1  # leaves the game
    yield "unseen", used != 0
    moves = MOVABLE[states["token_exchange"]].astype(np.int64)[:, None] >> kind & 1 == 1
    yield "movable", states["movable"] != pack_bits((lies & moves[:, None, :])[:, :, :lands])
    strength = STRENGTH[kind].astype(np.int64) * (tiles > 0)[..., None]
    yield "land_strength", states["land_strength"] != strength[:, :lands]
    next_to = np.concatenate([LAND_BESIDE[:lands], SEA_BESIDE[: tiles.shape[1] - lands]])
    beside = (next_to[..., None] == np.arange(towns)).sum(1)
    laid_strength = lies[..., None] * strength[:, None].astype(np.float64)  # BLAS multiplies no integers
    influence = laid_strength.swapaxes(2, 3) @ beside.astype(np.float64)
    yield "influence", states["influence"] != influence.swapaxes(2, 3)

    yield from _figures(states, n, towns)
    standing = np.bitwise_count(states["figures"]).astype(np.int64)
    taken = states["captured"].sum(1, dtype=np.int64) + states["aside"]
    yield "captured", taken + standing + states["pool"] != FIGURES_EACH[n]
    full = pack_bits((SETTLEMENT_LAND[:towns] & states["land_free"][:, None]) == 0)
    yield "surrounded", states["surrounded"] != full & np.bitwise_or.reduce(states["figures"], 1)

    phase, running = states["phase"], states["over"] == 0
    fits = np.zeros(len(states), np.bool_)
    for k, phases in DECIDED.items():
        fits |= (states["tile"] == k) & np.isin(phase, phases)
    yield "tile", np.where(phase >= LAND, ~fits, states["tile"] >= 0) & running
    yield "from_land", ((states["from_land"] >= 0) != (phase == TOKEN_TO)) & running
    yield "from_spot", ((states["from_spot"] >= 0) != (phase == FIGURE_SECOND)) & running
    won = states["winners"].astype(np.int64)
    yield "winners", won != [0 if runs else winners(r["captured"]) for r, runs in zip(states, running, strict=True)]
    yield from _decisions(states, seat, standing.sum(1), running)


def _figures(states: np.ndarray, n: int, towns: int) -> Iterator[tuple[str, np.ndarray]]:
    """Figures come out of the pool in the set-up, and no settlement holds more than it has room for."""
    stand = (states["figures"][:, :, None] >> np.arange(towns, dtype=np.uint64) & np.uint64(1)).sum(1, dtype=np.int64)
    room = np.array([place.size for place in SETTLEMENT[:towns]]) - stand
    pool, phase = states["pool"].sum(1, dtype=np.int64), states["phase"]
    yield "figures", room < 0
    yield "figures", (phase == FIRST_HAND) & stand.any(1)
    yield "figures", (phase == SETUP) & (states["figures"] >> np.uint64(EDO) & np.uint64(1) == 0).any(1)
    yield "hand_size", (phase == SETUP)[:, None] & (states["hand_size"] != HAND)
    setting_up = (phase == FIRST_HAND) | (phase == SETUP)
    yield "pool", pool != setting_up * room.sum(1)
    yield "pool", (pool == 0) & setting_up
    cities = (CITIES[n] >> np.arange(towns, dtype=np.uint64) & np.uint64(1)).astype(bool)
    cities_first = (phase == SETUP) & (states["figure_setup"] == ALTERNATE)
    yield "figures", cities_first & (room[:, cities] > 0).any(1) & (stand[:, 1:] * ~cities[1:]).any(1)


def _decisions(
    states: np.ndarray, seat: np.ndarray, standing: np.ndarray, running: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Check that a seat at its choice of tile can play one, and that what an exchange began with is there."""
    rows, phase, full = np.arange(len(states)), states["phase"], states["land_free"] == 0
    kinds, movable = states["kinds"][rows, seat], states["movable"][rows, seat]
    kinds = np.where(states["plain_played"] > 0, kinds & QUICK, kinds)
    kinds = np.where(full, kinds & ~ON_LAND, kinds)
    kinds = np.where(movable == 0, kinds & ~TOKEN_EXCHANGE_BIT, kinds)
    kinds = np.where(standing < 2, kinds & ~FIGURE_EXCHANGE_BIT, kinds)
    yield "hand", running & (phase == TILE) & (kinds == 0)
    yield "phase", running & full & np.isin(phase, (LAND, TOKEN_FROM, TOKEN_TO))
    moved = movable >> states["from_land"].astype(np.uint64) & np.uint64(1)  # -1 elsewhere means nothing
    yield "from_land", running & (phase == TOKEN_TO) & (moved == 0)
    figure, place = np.divmod(states["from_spot"].astype(np.int64), states["influence"].shape[2] - 1)
    there = states["figures"][rows, figure] >> (place + 1).astype(np.uint64) & np.uint64(1)
    yield "from_spot", running & (phase == FIGURE_SECOND) & (there == 0)
