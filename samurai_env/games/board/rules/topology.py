"""The map of Japan as index tables.

Land, sea and settlement hexes are numbered apart, those of the smaller boards first: with n players the
hexes in play are 0 .. LANDS[n]-1, 0 .. SEAS[n]-1 and 0 .. SETTLEMENTS[n]-1, so every table below serves
2, 3 and 4 players. Settlement 0 is Edo; within a board part, larger settlements come first.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"


@dataclass(frozen=True)
class Hex:
    """One hex of the map; `size` is the number of figures of a settlement, 0 for others."""

    col: int
    row: int
    terrain: str
    size: int
    name: str | None
    island: str | None
    min_players: int

    @property
    def label(self) -> str:
        """Name of the hex in moves and pictures, such as `c14r09`."""
        return f"c{self.col:02d}r{self.row:02d}"

    def neighbours(self) -> list[tuple[int, int]]:
        """(col, row) of the six hexes around; odd columns lie half a hex lower."""
        c, r, low = self.col, self.row, self.col & 1
        return [(c, r - 1), (c, r + 1), (c - 1, r - 1 + low), (c - 1, r + low), (c + 1, r - 1 + low), (c + 1, r + low)]


def _read_map() -> list[Hex]:
    rows = json.loads((DATA / "board.json").read_text(encoding="utf-8"))["hexes"]
    return [
        Hex(col, row, terrain, figures, name, island, least)
        for col, row, terrain, settlement, figures, name, island, least in rows
    ]


def _numbered(hexes: list[Hex]) -> list[Hex]:
    return sorted(hexes, key=lambda h: (h.min_players, -h.size, h.row, h.col))


HEXES = _read_map()
LAND = _numbered([h for h in HEXES if h.terrain == "land" and not h.size])
SEA = _numbered([h for h in HEXES if h.terrain == "sea"])
SETTLEMENT = _numbered([h for h in HEXES if h.size])
EDO = 0


def _in_play(hexes: list[Hex]) -> np.ndarray:
    """Number of hexes in play, indexed by number of players (0 to 4)."""
    return np.array([sum(h.min_players <= n for h in hexes) for n in range(5)], np.int64)


LANDS, SEAS, SETTLEMENTS = _in_play(LAND), _in_play(SEA), _in_play(SETTLEMENT)
FIGURES_EACH = np.array([0, 0, 7, 10, 13], np.int64)  # of each kind, by number of players

_settlement_at = {(h.col, h.row): i for i, h in enumerate(SETTLEMENT)}


def _beside(hexes: list[Hex], width: int) -> np.ndarray:
    """Settlements next to each hex, filled up with 99 (a settlement that is never in play)."""
    table = np.full((len(hexes), width), 99, np.int8)
    for i, h in enumerate(hexes):
        near = sorted(_settlement_at[at] for at in h.neighbours() if at in _settlement_at)
        table[i, : len(near)] = near
    return table


def _word(indices: list[int]) -> int:
    return sum(1 << i for i in indices)


LAND_BESIDE = _beside(LAND, 2)  # every open land hex borders exactly two settlements
SEA_BESIDE = _beside(SEA, 2)
SETTLEMENT_LAND = np.array(  # bit set of the open land hexes around each settlement
    [_word([i for i, h in enumerate(LAND) if (h.col, h.row) in s.neighbours()]) for s in SETTLEMENT], np.uint64
)
ALL_LAND = np.array([_word(list(range(n))) for n in LANDS], np.uint64)
ALL_SEA = np.array([[_word(list(range(min(n, 64)))), _word(list(range(n - 64)))] for n in SEAS], np.uint64)
CITIES = np.array([_word([i for i in range(n) if SETTLEMENT[i].size == 2]) for n in SETTLEMENTS], np.uint64)
VILLAGES = np.array([_word([i for i in range(n) if SETTLEMENT[i].size == 1]) for n in SETTLEMENTS], np.uint64)


@cache
def hexes_in_play(num_players: int) -> list[Hex]:
    """All hexes of the board for `num_players`: settlements, then open land, then sea, each by number."""
    n = num_players
    return SETTLEMENT[: SETTLEMENTS[n]] + LAND[: LANDS[n]] + SEA[: SEAS[n]]
