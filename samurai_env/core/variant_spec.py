"""The text of a variant: `GAME [players=N] [preset=NAME] [OPTION=VALUE]...`, such as `samurai players=4 edition=2016`.

Programs take it after `--game`; saved games, records, results and the cards of networks have it. What is left out has
the game's default; a preset stands for several options. `Variant.spec` writes out every option, and
`Game.variant` checks the same values given as keywords.
"""

import re
from typing import Any, NamedTuple

from samurai_env.core.game import Game, Variant, find_game
from samurai_env.core.texts import MAX_ERROR, one_line, shown

MAX_SPEC = 1000  # characters
EXAMPLE = "samurai players=4 edition=2016"  # for messages


class VariantSpec(NamedTuple):
    """A spec taken apart."""

    game: Game
    num_players: int | None
    """None if the spec leaves it out."""
    options: dict[str, Any]
    """Those that the spec has, and those of its preset."""


def read_spec(spec: str) -> VariantSpec:
    """Take a spec apart; whether the game has such a variant is left to `Game.variant`.

    Raises:
        TypeError: not a text.
        ValueError: unknown game, option or value, or something twice; the text says which, on one short line.
    """
    if not isinstance(spec, str):
        raise TypeError(f"a spec must be a string, not {shown(spec)}")
    if len(spec) > MAX_SPEC:
        raise ValueError(f"a variant's spec may have at most {MAX_SPEC:,} characters, not {len(spec):,}")
    try:
        return _read(spec)
    except ValueError as error:
        hint = "; spaces, not commas, separate settings" if re.search(r",\s*\w+=", spec) else ""
        raise ValueError(one_line(error, MAX_ERROR - len(hint)) + hint) from None


def _read(spec: str) -> VariantSpec:
    name, *settings = spec.split() or [""]
    game = find_game(name)
    players, preset, options = None, None, dict[str, Any]()
    for setting in settings:
        key, separator, text = setting.partition("=")
        if not separator:
            raise ValueError(f"{shown(setting)} in {shown(spec)} is not of the form name=value")
        if key in options or (key == "players" and players is not None) or (key == "preset" and preset is not None):
            raise ValueError(f"{shown(key)} is given twice in {shown(spec)}")
        if key == "players":
            if not re.fullmatch("[0-9]{1,4}", text):
                raise ValueError(f"the number of players in {shown(spec)} is {shown(text)}, not a number")
            players = int(text)
        elif key == "preset":
            preset = game.preset(text)
        else:
            options[key] = game.option(key, ("players", "preset")).parse(game.label(key), text)
    return VariantSpec(game, players, {**(preset or {}), **options})


def parse_variant(spec: str) -> Variant:
    """The variant that a spec names.

    Raises:
        TypeError: not a text.
        ValueError: unknown game, option or value, an impossible number of players, or options that exclude each
            other; the text says which, on one short line.
    """
    game, players, options = read_spec(spec)
    try:
        return game.variant(players, **options)
    except ValueError as error:
        raise ValueError(one_line(error)) from None
