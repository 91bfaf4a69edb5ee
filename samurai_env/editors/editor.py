"""The parts of every game's editor: entries with their values, read off a state, and a state built from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module

import numpy as np

from samurai_env.core.checks import checked_seed
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.position import Position

# By game: the module with its `EDITOR`.
EDITORS = {
    "samurai": "samurai_env.editors.board_game",
    "samurai_card": "samurai_env.editors.card_game",
    "samurai_spirit": "samurai_env.editors.spirit",
}
MOST_TRIED = 2000  # decisions of a random game in search of a position to start from
STARTS_KEPT = 64  # variants


@dataclass(frozen=True)
class Entry:
    """One thing that can be set by hand.

    Attributes:
        name: what it is called in a dictionary of values.
        label: what it is, in words.
        values: what it can be.
        group: heading under which it is listed.
        target: name of the `Scene` target that shows it, "" if none does.
    """

    name: str
    label: str
    values: tuple[str, ...]
    group: str
    target: str = ""


@dataclass(frozen=True)
class Editor:
    """How positions of a game are set up by hand.

    Attributes:
        moments: at which moments of a game such positions are, in a line for readers.
        entries: (state) -> what can be set in this position, in the order in which it is listed.
        read: (state) -> the value of each entry, and of entries that a larger position has.
        build: (state with options and seed set, values) -> None, or why the position is impossible. The state is
            overwritten; an impossible one, too, can be drawn. Values left out are those of an empty table. Raises
            ValueError for a name or value that no position has.
    """

    moments: str
    entries: Callable[[np.void], list[Entry]]
    read: Callable[[np.void], dict[str, str]]
    build: Callable[[np.void, Mapping[str, str]], str | None]


@dataclass(frozen=True)
class Draft:
    """A position as far as it is set up.

    Attributes:
        position: can be drawn; to be played on only if there is no problem.
        problem: why it cannot be reached in a game, in a line; None if it can be played.
    """

    position: Position
    problem: str | None


@cache
def _editor(game: str) -> Editor:
    editor: Editor = import_module(EDITORS[game]).EDITOR
    return editor


def editor_of(variant: Variant) -> Editor:
    """The editor of a variant's game.

    Raises:
        ValueError: the game has none.
    """
    if variant.game.name not in EDITORS:
        raise ValueError(f"positions of {variant.game.title} cannot be set up by hand")
    return _editor(variant.game.name)


def values_of(position: Position) -> dict[str, str]:
    """Read the entries of a position; secrets and what is half done are left out.

    Raises:
        ValueError: the game has no editor.
    """
    return editor_of(position.variant).read(position.state)


def draft(variant: Variant, values: Mapping[str, str], seed: int = 0) -> Draft:
    """Set up a position as far as possible.

    Args:
        variant: the game, number of players and options.
        values: texts by the names of entries; what is left out is as on an empty table.
        seed: decides what lies hidden.

    Raises:
        TypeError: the seed is not an integer.
        ValueError: the game has no editor, a name or value that no position has, or a bad seed.
    """
    editor = editor_of(variant)
    if not isinstance(values, Mapping) or not all(isinstance(t, str) for pair in values.items() for t in pair):
        raise ValueError("a position is set up from texts by name")
    position = Position(variant, checked_seed(seed))
    problem = editor.build(position.states[0], values)
    if problem is None:
        try:
            variant.check(position.states[0])
        except ValueError as error:
            problem = str(error)
    return Draft(position, None if problem is None else one_line(problem))


def set_up(variant: Variant, values: Mapping[str, str], seed: int = 0) -> Position:
    """The position with these values.

    Raises:
        TypeError, ValueError: as `draft`; ValueError also for an impossible position.
    """
    found = draft(variant, values, seed)
    if found.problem is not None:
        raise ValueError(found.problem)
    return found.position


def start(variant: Variant) -> dict[str, str]:
    """The values of the first position of a random game that can be set up by hand, of its last one if none can.

    Raises:
        ValueError: the game has no editor.
    """
    return dict(_start(variant))


@lru_cache(STARTS_KEPT)  # it takes up to a second
def _start(variant: Variant) -> dict[str, str]:
    position, rng = Position(variant), np.random.default_rng(0)
    for _ in range(MOST_TRIED):
        values = values_of(position)
        if draft(variant, values).problem is None or position.over:
            break
        position.step(int(rng.choice(position.legal_actions())))
    return values


def checked_value(entry_name: str, value: str, allowed: tuple[str, ...]) -> int:
    """The index of a value.

    Raises:
        ValueError: the entry has no such value.
    """
    if value not in allowed:
        raise ValueError(f"{entry_name} must be one of {', '.join(allowed[:20])}, not {shown(value)}")
    return allowed.index(value)


def unknown_entry(name: str) -> ValueError:
    """The error for a name that no position has."""
    return ValueError(f"there is no {shown(name)} to be set in this game")


def seats_label(count: int) -> tuple[str, ...]:
    """Numbers as values: "0", "1", ..."""
    return tuple(map(str, range(count)))
