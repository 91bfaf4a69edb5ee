"""A game written down as text, read back and verified move by move.

    samurai_env game record 1
    variant: samurai players=2 edition=2016 first_hand=choose figure_setup=alternate hide_captures=false
    seed: 5
    tag player0: greedy

    1. 0 pick H4
    2. 0 pick S2
    ...
    87. 1 S3 c14r12
    result: 1 -1
    hash: 0123456789abcdef

A move is what the game's rulebook calls one, whatever the number of decisions; before it stand its number and
the seat that makes it. A game that went on from a position set up by hand has the header `start`, which is
`Position.to_text`. `result` is the return of each seat, `*` while the game runs. `hash` is that of the last
position, so a record also guards against a change of the rules. The seed gives all hidden information away.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_seed
from samurai_env.core.game import Variant
from samurai_env.core.texts import one_line, shown
from samurai_env.core.variant_spec import parse_variant
from samurai_env.files.atomic_write import write_atomically
from samurai_env.position import IllegalActionError, Position

if TYPE_CHECKING:
    from samurai_env.display.stepper import Step

TITLE = "samurai_env game record"
VERSION = 1
LARGEST = 2**20  # characters of a record; the longest games take a tenth
MOST_TAGS, LONGEST_TAG = 64, 10_000
_MOVE = re.compile(r"([1-9][0-9]{0,8})\. ([0-9]{1,2}) (\S.{0,999})")
_TAG_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class RecordError(ValueError):
    """A text that is not a record of a legal game; says so on one short line, whatever the text.

    Attributes:
        line: number of the line, from 1.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(one_line(f"line {line}: {reason}"))
        self.line = line


class GameRecord:
    """The decisions of one game from its beginning, finished or not.

    Attributes:
        variant: the game, number of players and options.
        seed: seed of the game.
        actions: the action ids so far; add to them with `append` only.
        tags: free remarks by name, such as who played.
        start: the position from which the game went on, None if it began as `seed` deals.
    """

    def __init__(
        self,
        variant: Variant,
        seed: int = 0,
        tags: Mapping[str, str] | None = None,
        start: Position | None = None,
    ) -> None:
        """A record of no decision yet.

        Raises:
            TypeError: a seed that is not an integer.
            ValueError: an impossible seed, too many tags, or one that is too long or cannot be written in one line; a
                start of another variant or seed.
        """
        self.variant, self.seed = variant, checked_seed(seed)
        self.actions: list[int] = []
        self.tags = dict(tags or {})
        if start is not None and (start.variant, start.seed) != (variant, self.seed):
            raise ValueError(f"the start is a position of {start.variant.spec}, seed {start.seed}: not of this record")
        if start is not None and start.mid_move:
            raise ValueError("the start is in the middle of a move; a record begins before one")
        self.start = None if start is None else start.clone()
        self._last = self._first()
        _check_tags(self.tags)

    @classmethod
    def from_actions(
        cls,
        variant: Variant,
        seed: int,
        actions: Iterable[int],
        tags: Mapping[str, str] | None = None,
        start: Position | None = None,
    ) -> "GameRecord":
        """The record of these decisions.

        Raises:
            IllegalActionError: one of them is not legal.
            TypeError: one of them is not an integer.
        """
        record = cls(variant, seed, tags, start)
        for action in actions:
            record.append(action)
        return record

    @classmethod
    def play(
        cls,
        variant: Variant,
        seed: int,
        choose: Callable[[Position], int],
        tags: Mapping[str, str] | None = None,
    ) -> "GameRecord":
        """The record of a whole game in which `choose` makes every decision (it gets a copy of the position)."""
        record = cls(variant, seed, tags)
        while not record.over:
            record.append(choose(record.position))
        return record

    def _first(self) -> Position:
        """The position before the first decision."""
        return Position(self.variant, self.seed) if self.start is None else self.start.clone()

    def append(self, action: int) -> None:
        """Carry out and write down one decision.

        Raises:
            IllegalActionError: it is not legal; nothing has changed.
            TypeError: it is not an integer.
        """
        self._last.step(action)
        self.actions.append(int(action))

    @property
    def position(self) -> Position:
        """A copy of the last position."""
        return self._last.clone()

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._last.over

    def replay(self) -> Iterator[Position]:
        """The positions from the first to the last, one more than decisions, each a copy of its own."""
        position = self._first()
        yield position.clone()
        for action in self.actions:
            position.step(action)
            yield position.clone()

    def moves(self) -> Iterator[tuple[int, str]]:
        """The seat and the text of each move; the last may be half made."""
        return _texts(self.variant, self._states(), self.actions)

    def steps(self) -> Iterator["Step"]:
        """The pictures of the game, all hands open: the first position and that after each move, with its text."""
        from samurai_env.display.stepper import Step

        states, game = self._states(), self.variant.game
        yield Step(game.scene(states[0]), None, "start")
        for move in _moves(self.variant, states):
            before, after = states[move.start], states[move.stop]
            made = self.actions[move.start : move.stop]
            yield Step(game.scene(after, None, made), int(before["seat"]), game.format_move(before, made))

    def to_html(self) -> str:
        """The game as an HTML page that steps through it; it needs nothing else, so it can be mailed."""
        from samurai_env.display.stepper import page

        return page(self._title(), self.steps())

    def _repr_html_(self) -> str:
        from samurai_env.display.stepper import notebook

        return notebook(self._title(), self.steps())

    def _title(self) -> str:
        players = [self.tags[name] for i in range(self.variant.num_players) if (name := f"player{i}") in self.tags]
        return self.variant.game.title + (f": {', '.join(players)}" if players else "")

    def to_text(self) -> str:
        """The record as text, which `parse` reads.

        Raises:
            ValueError: `tags` have become too many, or hold what cannot be written in one line.
        """
        return record_text(self.variant, self.seed, self.tags, self._states(), self.actions, self.start)

    def _states(self) -> np.ndarray:
        """The states from the first to the last, one more than decisions."""
        position, rows = self._first(), [b""] * (len(self.actions) + 1)
        rows[0] = position.states.tobytes()
        for i, action in enumerate(self.actions, 1):
            position.step(action)
            rows[i] = position.states.tobytes()
        return np.frombuffer(bytearray().join(rows), self.variant.dtype)

    @classmethod
    def parse(cls, text: str) -> "GameRecord":
        """The record written in `text`, every move of it verified.

        Raises:
            RecordError: not such a record or a damaged one; the text names the line and what is wrong with it.
            TypeError: not a text.
        """
        if not isinstance(text, str):
            raise TypeError(f"a record must be a string, not {shown(text)}")
        return _Reader(text).read()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record to a file, all or nothing: an interruption leaves the file as it was.

        Raises:
            OSError: the file cannot be written.
            ValueError: as for `to_text`.
        """
        write_atomically(path, self.to_text())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "GameRecord":
        """The record in a file.

        Raises:
            RecordError: as for `parse`, and for bytes that are not UTF-8.
        """
        with Path(path).open("rb") as file:
            data = file.read(4 * LARGEST + 1)  # UTF-8 has up to four bytes a character
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            if len(data) > 4 * LARGEST:
                raise RecordError(1, f"a record has at most {LARGEST:,} characters; this file is larger") from None
            line = data.count(b"\n", 0, error.start) + 1
            raise RecordError(line, f"byte {data[error.start]:#04x} is not UTF-8 text") from None
        return cls.parse(text)


def _check_tags(tags: Mapping[str, str]) -> None:
    """Refuse too many tags, and those that cannot be written.

    Raises:
        ValueError: names what is wrong.
    """
    if len(tags) > MOST_TAGS:
        raise ValueError(f"a record may have at most {MOST_TAGS} tags, not {len(tags)}")
    for name, value in tags.items():
        _check_tag(name, value)


def _check_tag(name: object, value: object) -> None:
    """Refuse a tag that is too long or cannot be written in one line.

    Raises:
        ValueError: it is such a tag.
    """
    if not isinstance(name, str) or not _TAG_NAME.fullmatch(name):
        raise ValueError(f"a tag's name must be 1 to 100 letters, digits and _ . -, not {shown(name)}")
    if not isinstance(value, str) or not value.isprintable() or value != value.strip():
        raise ValueError(f"tag {shown(name)} must be one line without spaces around it, not {shown(value)}")
    if len(value) > LONGEST_TAG:
        raise ValueError(f"tag {name!r} may have at most {LONGEST_TAG:,} characters, not {len(value):,}")


def record_text(
    variant: Variant,
    seed: int,
    tags: Mapping[str, str],
    states: np.ndarray,
    actions: Sequence[int],
    start: Position | None = None,
) -> str:
    """The text of a record whose states are known, such as those of a game that was played in a batch.

    Args:
        variant: the game, number of players and options.
        seed: seed of the game.
        tags: as `GameRecord` takes them.
        states: states (decisions + 1,): before each decision, and the last. Nothing is checked.
        actions: the decisions.
        start: the position from which the game went on, None if it began as `seed` deals.

    Returns:
        What `GameRecord.to_text` of these decisions returns.

    Raises:
        ValueError: too many tags, or one that cannot be written.
    """
    _check_tags(tags)
    position = Position(variant, seed)
    position.states[0] = states[-1]
    lines = [f"{TITLE} {VERSION}", f"variant: {variant.spec}", f"seed: {seed}"]
    lines += [] if start is None else [f"start: {start.to_text()}"]
    lines += [f"tag {name}: {value}" for name, value in tags.items()]
    lines.append("")
    moves = _texts(variant, states, actions)
    lines += [f"{number}. {seat} {text}" for number, (seat, text) in enumerate(moves, 1)]
    lines += [f"result: {_result(position)}", f"hash: {position.hash()}", ""]
    return "\n".join(lines)


def move_ranges(mid_move: Sequence[bool]) -> list[range]:
    """Group decisions into moves.

    Args:
        mid_move: for each position after a decision, whether its move goes on.

    Returns:
        The decisions of each move, by number from 0; the last move may be half made.
    """
    ends = [number for number, goes_on in enumerate(mid_move, 1) if number == len(mid_move) or not goes_on]
    return [range(first, last) for first, last in pairwise([0, *ends])]


def _moves(variant: Variant, states: np.ndarray) -> list[range]:
    """The decisions of each move, from the states before each decision and the last."""
    half_made = batch_kernels(variant.game).is_mid_move
    return move_ranges([half_made(states, number) for number in range(1, len(states))])


def _texts(variant: Variant, states: np.ndarray, actions: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The seat and the text of each move; for arguments see `record_text`."""
    for move in _moves(variant, states):
        before = states[move.start]
        yield int(before["seat"]), variant.game.format_move(before, list(actions[move.start : move.stop]))


def _result(position: Position) -> str:
    return " ".join(f"{value + 0.0:.6g}" for value in position.returns()) if position.over else "*"


class _Reader:
    """Reads one record, line by line."""

    def __init__(self, text: str) -> None:
        if len(text) > LARGEST:
            raise RecordError(1, f"a record may have at most {LARGEST:,} characters, not {len(text):,}")
        self.lines = [line.removesuffix("\r") for line in text.split("\n")]
        if self.lines[-1] == "":  # what follows the last newline
            self.lines.pop()
        self.number = 0  # of the line last taken

    def error(self, reason: str) -> RecordError:
        return RecordError(max(self.number, 1), reason)

    def take(self, expected: str) -> str:
        """The next line."""
        if self.number == len(self.lines):
            self.number += 1
            raise self.error(f"the record is cut off: {expected} is missing")
        self.number += 1
        return self.lines[self.number - 1]

    def read(self) -> GameRecord:
        """The whole record."""
        self.title(self.take("the first line"))
        record = self.header()
        self.moves(record)
        found = self.take("the line `hash:`")
        if found != f"hash: {record.position.hash()}":
            if not re.fullmatch("hash: [0-9a-f]{16}", found):
                raise self.error(f"expected `hash:` and 16 hexadecimal digits, found {shown(found)}")
            raise self.error(
                f"{found!r} is not the hash of the position reached, which is {record.position.hash()}: "
                "the record was altered, or written by another version of the rules"
            )
        if self.number < len(self.lines):
            raise self.error(f"the record ends here, but more text follows: {shown(self.lines[self.number])}")
        return record

    def title(self, line: str) -> None:
        """Check the first line."""
        if line == f"{TITLE} {VERSION}":
            return
        if re.fullmatch(re.escape(TITLE) + " [0-9]+", line):
            raise self.error(
                f"format version {one_line(line.split()[-1], 40)} is unknown; this program reads version {VERSION}"
            )
        raise self.error(f"not a game record: the first line should be `{TITLE} {VERSION}`, not {shown(line)}")

    def header(self) -> GameRecord:
        """Read up to the empty line."""
        variant, seed, start, start_line = None, None, None, 0
        tags: dict[str, str] = {}
        while line := self.take("an empty line after the header"):
            key, separator, value = line.partition(": ")
            if not separator:
                raise self.error(f"expected a header `name: value` or an empty line, found {shown(line)}")
            if key == "variant" and variant is None:
                try:
                    variant = parse_variant(value)
                except ValueError as error:
                    raise self.error(f"bad variant: {error}") from None
            elif key == "seed" and seed is None:
                if not re.fullmatch("[0-9]{1,19}", value) or int(value) >= 2**63:
                    raise self.error(f"a seed must be an integer from 0 to 2**63 - 1, not {shown(value)}")
                seed = int(value)
            elif key == "start" and start is None:
                try:
                    start, start_line = Position.from_text(value), self.number
                except ValueError as error:
                    raise self.error(f"bad start: {error}") from None
            elif key.startswith("tag ") and key[4:] not in tags:
                try:
                    _check_tag(key[4:], value)
                except ValueError as error:
                    raise self.error(str(error)) from None
                tags[key[4:]] = value
            elif key in ("variant", "seed", "start") or key.startswith("tag "):
                raise self.error(f"header {shown(key)} stands here a second time")
            else:
                raise self.error(f"unknown header {shown(key)}; headers are variant, seed, start and `tag <name>`")
        for key, setting in (("variant", variant), ("seed", seed)):
            if setting is None:
                raise self.error(f"the header ends without `{key}:`")
        assert variant is not None
        assert seed is not None
        try:
            return GameRecord(variant, seed, tags, start)
        except ValueError as error:  # too many tags, or a start that does not belong to the variant and seed
            self.number = start_line if start_line and len(tags) <= MOST_TAGS else self.number
            raise self.error(str(error)) from None

    def moves(self, record: GameRecord) -> None:
        """Read the moves and the result."""
        number = 1
        while not (line := self.take("a move or the line `result:`")).startswith("result:"):
            match = _MOVE.fullmatch(line)
            if not match:
                raise self.error(f"expected `<number>. <seat> <move>` or `result:`, found {shown(line)}")
            if int(match[1]) != number:
                raise self.error(f"this should be move {number}, not {match[1]}")
            self.move(record, int(match[2]), match[3])
            number += 1
        expected = f"result: {_result(record.position)}"
        if line != expected:
            raise self.error(f"the moves lead to `{expected}`, not {shown(line)}")

    def move(self, record: GameRecord, seat: int, text: str) -> None:
        """Make one move."""
        before = record.position
        if before.over:
            raise self.error(f"move {shown(text)} after the end of the game")
        if before.mid_move:
            raise self.error(f"the move before is only half made, so {shown(text)} cannot follow")
        if seat != before.seat:
            raise self.error(f"seat {before.seat} is to move, not {seat}")
        try:
            actions = record.variant.game.parse_move(before.states[0], text)
        except ValueError as error:
            raise self.error(f"bad move: {error}") from None
        for i, action in enumerate(actions):
            if i and not record._last.mid_move:
                raise self.error(f"{shown(text)} is more than one move")
            try:
                record.append(action)
            except IllegalActionError as error:
                raise self.error(f"illegal move {shown(text)}: {error}") from None
