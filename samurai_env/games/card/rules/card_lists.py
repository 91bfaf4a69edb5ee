"""Card lists: how many cards there are of each kind. They reach compiled code in the state, never as constants.

The list of the printed game is not known in full, so it is data that can be replaced: `load_cards` reads another
file of the same form as `data/cards.json` and makes it a value of the option `cards`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct

from samurai_env.core.game import Option
from samurai_env.core.texts import listed, one_line, shown
from samurai_env.files.json_reader import read_json
from samurai_env.games.card.rules.cards import (
    CARDS,
    KIND_NAMES,
    KINDS,
    REMOVED_OF_FOUR,
    SHAPES,
    VILLAGE_KINDS,
    VILLAGES_BY_SYMBOLS,
)

DATA = Path(__file__).resolve().parents[1] / "data"
DEFAULT = "reconstruction"
LONGEST_NAME = 40  # characters; it is part of every spec


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
        """The fields of the state that hold the cards in play."""
        copies = np.array(self.influence, np.int8)
        if num_players == 4:
            for kind in REMOVED_OF_FOUR:
                copies[kind] -= 1
        return {"copies": copies, "village_copies": np.array(self.villages, np.int8)}


class InfluenceCard(Struct):
    """An influence card of the file."""

    type: str
    value: int


class VillageCard(Struct):
    """A kind of village card of the file."""

    symbols: Annotated[list[str], Meta(min_length=1, max_length=8)]
    count: Annotated[int, Meta(ge=0, le=100)]


class InfluenceCards(Struct):
    """The influence cards in the file."""

    cards: list[InfluenceCard]


class VillageCards(Struct):
    """The village cards in the file."""

    cards: list[VillageCard]


class CardFile(Struct):
    """The form of a card list; what else the file holds is for readers."""

    influence_cards: InfluenceCards
    village_cards: VillageCards


_lists: dict[str, CardList] = {}


class CardsOption(Option):
    """The option `cards`: the name of a list, the default one or one that `load_cards` has read."""

    def check(self, label: str, value: Any, num_players: int) -> Any:
        """The name of a known list, for any number of players.

        Raises:
            ValueError: no list of that name.
        """
        if not isinstance(value, str) or value not in _lists:
            raise ValueError(
                f"{label} must be one of {listed(_lists)}, not {shown(value)}; load_cards reads other lists"
            )
        return value

    def parse(self, label: str, text: str) -> Any:
        """Names are written as they are."""
        return text


def card_list(name: str) -> CardList:
    """The list of that name.

    Raises:
        ValueError: none was loaded here, as in another process than the one that has loaded it.
    """
    if name not in _lists:
        raise ValueError(f"the card list {shown(name)} is not loaded in this process: call load_cards first")
    return _lists[name]


def load_cards(path: str | Path, name: str) -> CardList:
    """Read a card list and make it a value of the option `cards`.

    The list is known in this process only: a program that restores such games or works in several processes
    loads it in each.

    Args:
        path: a JSON file of the form of `data/cards.json`.
        name: what the list is called in options, specs and saved games; letters, digits and `_-.`.

    Raises:
        OSError: the file cannot be read, such as one that is not there.
        ValueError: the file or the name cannot be used; the text says why.
    """
    try:
        data = read_json(path, CardFile, 2**20)
        cards = CardList(_influence(data.influence_cards.cards), _villages(data.village_cards.cards))
        return register_cards(cards, name)
    except ValueError as error:
        raise ValueError(f"card list {one_line(path, 80)}: {one_line(error, 180)}") from None


def register_cards(cards: CardList, name: str) -> CardList:
    """Make a checked list known by a name.

    Raises:
        ValueError: not a name, or the name of another list.
    """
    if not name or len(name) > LONGEST_NAME or not all(c.isalnum() or c in "_-." for c in name):
        raise ValueError(f"a list's name must be up to {LONGEST_NAME} letters, digits and _-., not {shown(name)}")
    if _lists.setdefault(name, cards) != cards:
        raise ValueError(f"there is another list of the name {shown(name)}")
    return cards


def _influence(cards: list[InfluenceCard]) -> tuple[int, ...]:
    copies = [0] * KINDS
    for number, card in enumerate(cards, 1):
        kind = (card.type, card.value)
        if kind not in KIND_NAMES:
            raise ValueError(
                f"influence card {number} is {shown(kind[0], 20)} {shown(kind[1], 20)}; "
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


def _villages(cards: list[VillageCard]) -> tuple[int, ...]:
    counts = dict.fromkeys(VILLAGE_KINDS, 0)
    for number, card in enumerate(cards, 1):
        symbols = card.symbols
        if any(symbol not in SHAPES for symbol in symbols):
            raise ValueError(f"village card {number} has the symbols {shown(symbols)}; there are {', '.join(SHAPES)}")
        if len(set(symbols)) < len(symbols):
            raise ValueError(f"village card {number} shows a symbol twice: {', '.join(symbols)}")
        counts[sum(1 << SHAPES.index(symbol) for symbol in symbols)] += card.count
    for symbols_on_card, expected in VILLAGES_BY_SYMBOLS.items():
        found = sum(count for kind, count in counts.items() if kind.bit_count() == symbols_on_card)
        if found != expected:
            raise ValueError(f"{found} village cards with {symbols_on_card} symbols, the game has {expected}")
    return tuple(counts.values())


load_cards(DATA / "cards.json", DEFAULT)
