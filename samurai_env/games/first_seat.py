"""The seat that begins: one of the table's, or drawn by the game's seed. An option that every game of the family has.

A game that takes it lists `FirstSeat` under its options as `first`, adds `first_fields` to its state and
`first_settings` to its settings; its `reset` draws `first_seat` from the game's stream if `first_drawn` is set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from samurai_env.core.checks import is_seat
from samurai_env.core.game import Option
from samurai_env.core.layout import Field
from samurai_env.core.texts import shown

RANDOM_SEAT = "random"


@dataclass(frozen=True)
class FirstSeat(Option):
    """The option `first`: any seat at the table, or `random` (`values` lists the usual seat and that word)."""

    def check(self, label: str, value: Any, num_players: int) -> Any:
        """A seat at the table, or `random`.

        Raises:
            ValueError: neither.
        """
        if isinstance(value, str) and value == RANDOM_SEAT:
            return value
        if not is_seat(value, num_players):
            raise ValueError(f"{label} must be a seat, 0 to {num_players - 1}, or {RANDOM_SEAT!r}, not {shown(value)}")
        return int(value)

    def parse(self, label: str, text: str) -> Any:
        """The seat, or the word, that is written `text`.

        Raises:
            ValueError: neither a number nor `random`.
        """
        if text == RANDOM_SEAT:
            return text
        if not (text.isascii() and text.isdigit()):
            raise ValueError(f"{label} must be the number of a seat or {RANDOM_SEAT}, not {shown(text)}")
        return int(text)


def first_fields(num_players: int) -> list[Field]:
    """The two fields of a state that the option needs.

    They lie beside `steps`, in bytes that were always 0: positions saved before the option was there still load.
    """
    return [
        Field("first_seat", "u1", (), (0, num_players - 1), "the seat that begins", beside_steps=True),
        Field("first_drawn", "u1", (), (0, 1), "setting: that seat is drawn by the seed", beside_steps=True),
    ]


def first_settings(first: int | str) -> Mapping[str, int]:
    """The fields that the option sets: whether the seat is drawn and, if it is not, the seat."""
    return {"first_drawn": 1} if first == RANDOM_SEAT else {"first_drawn": 0, "first_seat": int(first)}
