"""What of a record follows from its other fields, so that a forged one is found out."""

from collections.abc import Iterator

import numpy as np

from samurai_env.board.state import FIGURE_FIRST, FIGURE_SECOND, LAND, SEA, TOKEN_FROM, TOKEN_TO
from samurai_env.board.tiles import COPIES, FIGURE_EXCHANGE, KINDS, MOVABLE, SHIPS, STRENGTH, TILES, TOKEN_EXCHANGE
from samurai_env.board.topology import FIGURES_EACH, LAND_BESIDE, SEA_BESIDE, SETTLEMENT_LAND
from samurai_env.core.record import as_word

# What may be decided while a kind of tile is chosen and not yet placed.
DECIDED: dict[int, tuple[int, ...]] = {kind: (SEA,) if int(SHIPS) >> kind & 1 else (LAND,) for kind in range(KINDS)}
DECIDED |= {TOKEN_EXCHANGE: (TOKEN_FROM, TOKEN_TO), FIGURE_EXCHANGE: (FIGURE_FIRST, FIGURE_SECOND)}


def contradictions(records: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where records (shape (count,)) say otherwise there than in others."""
    n, lands, towns = records["hand"].shape[1], records["land_tile"].shape[1], records["influence"].shape[2]
    hand, unseen = records["hand"].astype(np.int64), records["unseen"].astype(np.int64)
    yield "hand_size", records["hand_size"] != hand.sum(2)
    yield "kinds", records["kinds"] != as_word(hand > 0)
    yield "supply_size", records["supply_size"] != (unseen - hand).sum(2)
    to_draw = np.arange(TILES) >= records["drawn"][:, :, None]
    supply = (to_draw[..., None] & (records["supply"][..., None] == np.arange(KINDS))).sum(2)
    yield "supply", (supply != unseen - hand).any(2) & (records["drawn"] > 0)

    tiles = np.concatenate([records["land_tile"], records["sea_tile"]], 1).astype(np.int64)
    owner, kind = np.divmod(tiles - 1, KINDS)
    lies = owner[:, None, :] == np.arange(n)[:, None]
    yield "land_free", records["land_free"] != as_word(tiles[:, :lands] == 0)
    sea = tiles[:, lands:] == 0
    yield "sea_free", records["sea_free"] != np.stack([as_word(sea[:, :64]), as_word(sea[:, 64:])], 1)
    laid = np.stack([(lies & (kind == k)[:, None, :]).sum(2) for k in range(KINDS)], 2)
    chosen = (records["seat"][:, None, None] == np.arange(n)[:, None]) & (
        records["tile"][:, None, None] == np.arange(KINDS)
    )
    used = COPIES - unseen - laid - chosen
    used[..., FIGURE_EXCHANGE] *= used[..., FIGURE_EXCHANGE] != 1  # leaves the game
    yield "unseen", used != 0
    yield "movable", records["movable"] != as_word((lies & (int(MOVABLE) >> kind & 1 == 1)[:, None, :])[:, :, :lands])
    strength = STRENGTH[kind].astype(np.int64) * (tiles > 0)[..., None]
    yield "land_strength", records["land_strength"] != strength[:, :lands]
    next_to = np.concatenate([LAND_BESIDE[:lands], SEA_BESIDE[: tiles.shape[1] - lands]])
    beside = (next_to[..., None] == np.arange(towns)).sum(1)
    yield "influence", records["influence"] != np.einsum("gph,ghf,ht->gptf", lies, strength, beside, optimize=True)

    standing = np.bitwise_count(records["figures"]).astype(np.int64)
    taken = records["captured"].sum(1, dtype=np.int64) + records["aside"]
    yield "captured", taken + standing + records["pool"] != FIGURES_EACH[n]
    full = as_word((SETTLEMENT_LAND[:towns] & records["land_free"][:, None]) == 0)
    yield "surrounded", records["surrounded"] != full & np.bitwise_or.reduce(records["figures"], 1)

    phase, running = records["phase"], records["over"] == 0
    fits = np.zeros(len(records), np.bool_)
    for k, phases in DECIDED.items():
        fits |= (records["tile"] == k) & np.isin(phase, phases)
    yield "tile", np.where(phase >= LAND, ~fits, records["tile"] >= 0) & running
    yield "from_land", ((records["from_land"] >= 0) != (phase == TOKEN_TO)) & running
    yield "from_spot", ((records["from_spot"] >= 0) != (phase == FIGURE_SECOND)) & running
    yield "winners", (records["winners"] > 0) == running
