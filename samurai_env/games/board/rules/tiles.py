"""The 17 kinds of tile and the 20 tiles of each player, from `data/tiles.json`."""

import json

import numpy as np

from samurai_env.games.board.rules.topology import DATA

FIGURES = ("helmet", "buddha", "rice")  # the kinds of figure, in the order of every table
FIGURE_LETTERS = "HBR"

_ROWS = json.loads((DATA / "tiles.json").read_text(encoding="utf-8"))["tiles"]
_PREFIX = {"helmet": "H", "buddha": "B", "rice": "R", "samurai": "S", "ship": "SH"}
_NAMED = {"token exchange": "TX", "ronin": "RO", "figure exchange": "FX"}

KINDS = len(_ROWS)
KIND_NAMES = tuple(row[0] for row in _ROWS)
KIND_CODES = tuple(_NAMED.get(name) or f"{_PREFIX[name]}{strength}" for name, strength, *_ in _ROWS)
COPIES = np.array([copies for _, _, copies, *_ in _ROWS], np.int8)
TILES = int(COPIES.sum())  # 20
HAND = 5
ALL_TILES = np.repeat(np.arange(KINDS, dtype=np.int8), COPIES)  # the kind of each of a player's tiles

# What a tile adds to its owner's influence on each kind of figure.
STRENGTH = np.array(
    [[(power or 0) * (name == figure or name not in FIGURES) for figure in FIGURES] for name, power, *_ in _ROWS],
    np.int8,
)
TOKEN_EXCHANGE = KIND_CODES.index("TX")
FIGURE_EXCHANGE = KIND_CODES.index("FX")


def _kinds(*names: str) -> np.uint32:
    """Bit set of the kinds with these names."""
    return np.uint32(sum(1 << i for i, name in enumerate(KIND_NAMES) if name in names))


ALL_KINDS = np.uint32((1 << KINDS) - 1)
QUICK = np.uint32(sum(1 << i for i, row in enumerate(_ROWS) if row[3] == "quick"))
PLAIN = ALL_KINDS & ~QUICK
SHIPS = _kinds("ship")
EXCHANGES = _kinds("token exchange", "figure exchange")
ON_LAND = ALL_KINDS & ~SHIPS & ~_kinds("figure exchange")
# What a token exchange may move, by option `token_exchange`: the plain tiles, or all that lie on land.
MOVABLE = np.array([PLAIN & ~EXCHANGES, ON_LAND & ~EXCHANGES], np.uint32)
