"""Show a saved game, move by move.

    samurai-env replay game.txt --move 40
    samurai-env replay game.txt --html game.html
    samurai-env replay game.txt --gif game.gif

Without --move it lists all moves. Records are written by `samurai-env watch --record FILE` and by `save FILE` in
`samurai-env play`. Everything is shown unless --seat is given.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from agents.settings import Range
from experiments.common.ranges import check_ranges
from experiments.common.records import read_record
from samurai_env.display.pixels import gif
from samurai_env.files.atomic_write import write_atomically
from samurai_env.game_record import GameRecord, move_ranges
from samurai_env.position import Position


@dataclass
class Config:
    """What to show."""

    file: tyro.conf.Positional[Path]
    """A game record."""
    move: Annotated[int | None, Range(1, 10**9)] = None
    """Number of a move: shows the position before it."""
    boards: bool = False
    """Show the position after every move."""
    seat: int | None = None
    """Show positions as this seat sees them and, while the game runs, neither others' secret moves nor the seed."""
    html: Path | None = None
    """Write a page to this file that steps through the game; it needs nothing else and shows everything."""
    gif: Path | None = None
    """Write the game as a moving picture to this file, a move a second; it shows everything."""


def moves(record: GameRecord) -> list[tuple[Position, list[int]]]:
    """The moves of a record: the position before each, and its decisions."""
    positions = list(record.replay())
    ranges = move_ranges([position.mid_move for position in positions[1:]])
    return [(positions[move.start], record.actions[move.start : move.stop]) for move in ranges]


def find_move(record: GameRecord, number: int) -> tuple[Position, list[int]]:
    """The position before a move and the move's decisions, none for the move that comes next in a running game.

    Raises:
        ValueError: the game has fewer moves.
    """
    found = moves(record)
    comes_next = not record.over and not record.position.mid_move  # the move that has not been made yet
    last = len(found) + comes_next
    if not 1 <= number <= last:
        raise ValueError(f"the game has moves 1 to {last}, not {number}")
    return found[number - 1] if number <= len(found) else (record.position, [])


def check_flags(config: Config, record: GameRecord) -> None:
    """Refuse a seat that the game does not have, flags without effect, and an output that is the record or another.

    Raises:
        ValueError: names it.
    """
    written = [path for path in (config.html, config.gif) if path is not None]
    given = {"--seat": config.seat is not None, "--move": config.move is not None, "--boards": config.boards}
    if written and any(given.values()):
        flags = " and ".join(flag for flag, is_given in given.items() if is_given)
        raise ValueError(f"no effect of {flags} on --html and --gif, which show everything")
    if config.move is not None and config.boards:
        raise ValueError("no effect of --boards on --move, which shows the board before the move")
    if any(path.resolve() == config.file.resolve() for path in written):
        raise ValueError(f"{config.file} is the record itself: give --html or --gif another file")
    if len(written) > 1 and written[0].resolve() == written[1].resolve():
        raise ValueError(f"--html and --gif both name {written[0]}: give one of them another file")
    if config.seat is not None and not 0 <= config.seat < record.variant.num_players:
        raise ValueError(f"--seat must be a number from 0 to {record.variant.num_players - 1}, not {config.seat}")


def main(config: Config, console: Console | None = None) -> None:
    """Print the game."""
    check_ranges(config)
    console = console or Console()
    record = read_record(config.file)
    check_flags(config, record)
    if config.html is not None:
        write_atomically(config.html, record.to_html())
    if config.gif is not None:
        try:
            write_atomically(config.gif, gif(step.scene for step in record.steps()))
        except ImportError as error:
            raise ValueError(str(error)) from None
    if written := [path for path in (config.html, config.gif) if path is not None]:
        for path in written:
            console.print(f"{path}: {len(record.actions)} decisions", markup=False, highlight=False)
        return
    game = record.variant.game
    found = moves(record)
    hides = config.seat is not None and not record.over
    unfinished = len(found) if record.position.mid_move else None  # what has been chosen of it is still hidden

    def told(number: int, before: Position, actions: list[int]) -> str:
        if hides and before.seat != config.seat:
            if game.secret(before.state):
                return "a move that this seat does not see"
            if number == unfinished:
                return "has not moved yet"
        return game.format_move(before.state, actions)

    def show(position: Position) -> None:
        console.print(game.text(position.state, config.seat), markup=False, highlight=False)

    if config.move is not None:
        before, actions = find_move(record, config.move)
        show(before)
        text = told(config.move, before, actions) if actions else "not made yet"
        console.print(f"{config.move}. seat {before.seat}: {text}", markup=False, highlight=False)
        return
    seed = "" if hides else f", seed {record.seed}"
    console.print(f"{record.variant.spec}{seed}", markup=False, highlight=False)
    for name, value in record.tags.items():
        console.print(f"{name}: {value}", markup=False, highlight=False)
    for number, (before, actions) in enumerate(found, 1):
        console.print(f"{number}. seat {before.seat}: {told(number, before, actions)}", markup=False, highlight=False)
        if config.boards and not (hides and number == unfinished and before.seat != config.seat):
            after = before.clone()
            for action in actions:
                after.step(action)
            show(after)
    result = record.position.returns().tolist() if record.over else "the game runs"
    console.print(f"returns by seat: {result}")
