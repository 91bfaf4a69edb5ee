"""Card lists: how many cards there are of each kind. They reach compiled code in the record, never as constants.

The list of the printed game is not known in full, so it is data that can be replaced: `load_cards` reads another
file of the same form as `data/cards.json` and makes it a value of the option `cards`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samurai_env.card.cards import (
    CARDS,
    KIND_NAMES,
    KINDS,
    REMOVED_OF_FOUR,
    SHAPES,
    VILLAGE_KINDS,
    VILLAGES_BY_SYMBOLS,
)
from samurai_env.core.checks import shown
from samurai_env.core.game import Option

DATA = Path(__file__).parent / "data"
DEFAULT = "reconstruction"


@dataclass(frozen=True)
class CardList:
    """The cards of the game.

    Attributes:
        influence: copies of each kind of influence card in a player's set.
        villages: number of village cards of each kind (entry 0 is kind 1).
    """

    influence: tuple[int, ...]
    villages: tuple[int, ...]

    def settings(self, num_players: int) -> dict[str, np.ndarray]:
        """The fields of the record that hold the cards in play."""
        copies = np.array(self.influence, np.int8)
        if num_players == 4:
            for kind in REMOVED_OF_FOUR:
                copies[kind] -= 1
        return {"copies": copies, "village_copies": np.array(self.villages, np.int8)}


_lists: dict[str, CardList] = {}


class CardsOption(Option):
    """The option `cards`: the name of a list, the default one or one that `load_cards` has read."""

    def check(self, label: str, value: Any, num_players: int) -> Any:
        """The name of a known list, for any number of players."""
        if not isinstance(value, str) or value not in _lists:
            raise ValueError(f"{label} is one of {', '.join(_lists)}, not {shown(value)}; load_cards reads other lists")
        return value

    def parse(self, name: str, text: str) -> Any:
        """Names are written as they are."""
        return self.check(f"option {name}", text, 0)


def card_list(name: str) -> CardList:
    """The list of that name."""
    return _lists[name]


def load_cards(path: str | Path, name: str) -> CardList:
    """Read a card list and make it a value of the option `cards`.

    The list is known in this process only: a program that restores such games or works in several processes
    loads it in each.

    Args:
        path: a JSON file of the form of `data/cards.json`.
        name: what the list is called in options, specs and saved games; letters, digits and `_-.`.

    Raises:
        ValueError: the file or the name cannot be used; the text says why.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    try:
        return register_cards(CardList(_influence(data), _villages(data)), name)
    except ValueError as error:
        raise ValueError(f"card list {path}: {error}") from error


def register_cards(cards: CardList, name: str) -> CardList:
    """Make a checked list known by a name.

    Raises:
        ValueError: not a name, or the name of another list.
    """
    if not name or not all(c.isalnum() or c in "_-." for c in name):
        raise ValueError(f"a list's name is made of letters, digits and _-., not {name!r}")
    if _lists.setdefault(name, cards) != cards:
        raise ValueError(f"there is another list of the name {name!r}")
    return cards


def _entries(data: Any, part: str) -> list[Mapping[str, Any]]:
    """The entries of a part of the file."""
    cards = data.get(part) if isinstance(data, dict) else None
    entries = cards.get("cards") if isinstance(cards, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{part}.cards should be a list of objects")
    return entries


def _influence(data: Any) -> tuple[int, ...]:
    copies = [0] * KINDS
    for number, entry in enumerate(_entries(data, "influence_cards"), 1):
        kind = (entry.get("type"), entry.get("value"))
        if kind not in KIND_NAMES or isinstance(kind[1], bool):
            raise ValueError(
                f"influence card {number} is {kind[0]!r} {kind[1]!r}; "
                f"there are {', '.join(f'{name} {value}' for name, value in KIND_NAMES)}"
            )
        copies[KIND_NAMES.index(kind)] += 1
    if sum(copies) != CARDS:
        raise ValueError(f"{sum(copies)} influence cards, a player has {CARDS}")
    for kind_index in REMOVED_OF_FOUR:
        if not copies[kind_index]:
            name, value = KIND_NAMES[kind_index]
            raise ValueError(f"there is no {name} {value}, of which four players remove one each")
    return tuple(copies)


def _villages(data: Any) -> tuple[int, ...]:
    counts = dict.fromkeys(VILLAGE_KINDS, 0)
    for number, entry in enumerate(_entries(data, "village_cards"), 1):
        symbols, count = entry.get("symbols"), entry.get("count")
        if not isinstance(symbols, list) or not symbols or any(symbol not in SHAPES for symbol in symbols):
            raise ValueError(f"village card {number} has the symbols {symbols!r}; there are {', '.join(SHAPES)}")
        if len(set(symbols)) < len(symbols):
            raise ValueError(f"village card {number} shows a symbol twice: {', '.join(symbols)}")
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise ValueError(f"village card {number} has the count {count!r}")
        counts[sum(1 << SHAPES.index(symbol) for symbol in symbols)] += count
    for symbols_on_card, expected in VILLAGES_BY_SYMBOLS.items():
        found = sum(count for kind, count in counts.items() if kind.bit_count() == symbols_on_card)
        if found != expected:
            raise ValueError(f"{found} village cards with {symbols_on_card} symbols, the game has {expected}")
    return tuple(counts.values())


load_cards(DATA / "cards.json", DEFAULT)
