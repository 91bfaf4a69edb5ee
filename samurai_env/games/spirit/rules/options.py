"""The options of a game, among them who sits where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samurai_env.core.game import Option
from samurai_env.core.texts import shown
from samurai_env.games.first_seat import RANDOM_SEAT, FirstSeat, first_settings
from samurai_env.games.spirit.rules.cards import LEVELS, MOST, SAMURAI
from samurai_env.games.spirit.state import RANDOM, TWO_PLAYER_RULES


@dataclass(frozen=True)
class Seating(Option):
    """The samurai on seat 0, 1, ...: `random` (drawn by the game's seed) or their names, one a seat."""

    def check(self, label: str, value: Any, num_players: int) -> Any:
        """`random` or a tuple of names.

        Raises:
            ValueError: not one name a seat, an unknown samurai, or one samurai twice.
        """
        if isinstance(value, str) and value == "random":
            return value
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise ValueError(f"{label} must be 'random' or a sequence of names, one a seat, not {shown(value)}")
        if len(value) != num_players:
            raise ValueError(f"{label} names {len(value)} samurai, there are {num_players} players")
        for i, name in enumerate(value):
            if not isinstance(name, str) or name not in SAMURAI:
                raise ValueError(f"{label} names {shown(name)}; the samurai are {', '.join(SAMURAI)}")
            if name in value[:i]:
                raise ValueError(f"{label} names {name} twice")
        return tuple(value)

    def text(self, value: Any) -> str:
        """`random`, or the names with commas between."""
        return value if value == "random" else ",".join(value)

    def parse(self, label: str, text: str) -> Any:
        """Read what `text` wrote; `check` looks at the names."""
        return text if text == "random" else tuple(text.split(","))


OPTIONS: Mapping[str, Option] = {
    "difficulty": Option(LEVELS, "normal", "level of difficulty"),
    "samurai": Seating(("random",), "random", "who sits where: random by the seed, or one name a seat"),
    "two_player_rules": Option(
        TWO_PLAYER_RULES, "auto", "open tokens of the absent samurai: with 1 or 2 samurai, or with up to 6"
    ),
    "first": FirstSeat((0, RANDOM_SEAT), 0, "the seat that begins; random: drawn by the seed, as the rulebook has it"),
}


def settings(num_players: int, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state fields that hold the number of samurai, who was chosen, and who begins."""
    chosen = np.full(MOST, RANDOM, np.int8)
    if options["samurai"] != "random":
        chosen[:num_players] = [SAMURAI.index(name) for name in options["samurai"]]
    return {"players": num_players, "chosen": chosen, **first_settings(options["first"])}


def forbid(num_players: int, options: Mapping[str, Any]) -> str | None:
    """Open tokens need absent samurai."""
    if num_players == MOST and options["two_player_rules"] == "on":
        return f"the two-player rules need absent samurai: with {MOST} there are none"
    return None
