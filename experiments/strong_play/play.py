"""Playing the sections of the page, and the file of each."""

import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct
from rich.console import Console

from agents.registry import make_agent
from experiments.common.cli import make_folder, progress_bar
from experiments.common.file_hashes import check_file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.periodic_save import PeriodicSave
from experiments.common.provenance import RESULTS, add_new, commit, machine
from experiments.common.tasks import WorkerSettings, results_in_order
from experiments.evaluation.matches import warm_agent
from experiments.strong_play import board_game, general
from experiments.strong_play.recording import PLAY_SEED, Games, record_games
from experiments.strong_play.statistics import PerGame, Sums, added, sums
from samurai_env import __version__, parse_variant
from samurai_env.core.texts import one_line
from samurai_env.files.atomic_write import write_atomically
from samurai_env.files.json_reader import read_json

LIST = Path(__file__).with_name("sections.toml")
FOLDER = RESULTS / "strong-play"
CHUNK = 50  # games that a worker plays at a time
OF_GAME: dict[str, Callable[[Games], dict[str, PerGame]]] = {"samurai": board_game.measure}  # beside `general`


Number = Annotated[int, Meta(ge=1, le=10**6)]  # of games


class Run(Struct, forbid_unknown_fields=True):
    """Who plays: `agent` in every seat, or in one among copies of `against`; `games` in place of the section's."""

    agent: str
    against: str | None = None
    games: Number | None = None


class Section(Struct, forbid_unknown_fields=True):
    """Some runs of one game, see `sections.toml`."""

    name: str
    game: str
    games: Number
    runs: dict[str, Run]
    sampled: Annotated[int, Meta(ge=0, le=1000)] = 0


class Sections(Struct, forbid_unknown_fields=True):
    """The form of the file."""

    section: list[Section]


def read_sections(path: Path = LIST) -> list[Section]:
    """The sections of the page.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Sections).section
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {one_line(error, 150)}") from None


Count = Annotated[int, Meta(ge=0, le=10**9)]
Sum = Annotated[float, Meta(ge=-1e15, le=1e15)]


class Played(Struct):
    """The measurements of a run: the games in order of deals, from the first on."""

    agent: str
    against: str | None
    games: Count
    commits: list[str]
    machines: list[str]
    sums: dict[str, dict[str, tuple[Count, Sum, Sum]]]


class Measured(Struct):
    """The form of a section's file."""

    variant: str
    sampled: int
    version: str
    deal_seeds: str
    networks: dict[str, str]
    runs: dict[str, Played]


class Task(NamedTuple):
    """Games for a worker."""

    variant: str
    agent: str
    against: str | None
    first: int
    games: int
    sampled: int


def measure_games(task: Task) -> tuple[Sums, str]:
    """Worker: play games and measure them; also the machine."""
    variant = parse_variant(task.variant)
    agent = warm_agent(task.agent, task.variant)
    against = warm_agent(task.against, task.variant) if task.against else None
    games = record_games(variant, agent, against, task.first, task.games, task.sampled)
    measured = general.measure(games)
    if variant.game.name in OF_GAME:
        measured |= OF_GAME[variant.game.name](games)
    return sums(measured), machine()


def file_of(section: Section, folder: Path = FOLDER) -> Path:
    """The file of a section."""
    return folder / f"{section.name}.json"


def load(section: Section, folder: Path = FOLDER) -> Measured:
    """The measurements of a section; empty runs if it has no file yet.

    Raises:
        ValueError: the file is damaged, or holds other games than the section names, or those of another network.
    """
    variant, path = parse_variant(section.game).spec, file_of(section, folder)
    found = Measured(variant, section.sampled, __version__, f"{PLAY_SEED} + number of the game", {}, {})
    if path.exists():
        found = read_json(path, Measured)
    for name, run in section.runs.items():
        kept = found.runs.setdefault(name, Played(run.agent, run.against, 0, [], [], {}))
        before = found.variant, found.sampled, kept.agent, kept.against
        if before != (variant, section.sampled, run.agent, run.against):
            raise ValueError(f"{one_line(path, 120)} holds other games than the section {section.name}: move it away")
        for spec in filter(None, (run.agent, run.against)):
            check_file_hash(spec, found.networks, path)
    found.runs = {name: found.runs[name] for name in section.runs} | found.runs  # in the section's order
    return found


def save(measured: Measured, path: Path) -> None:
    """Write a section's file."""
    write_atomically(path, json.dumps(msgspec.to_builtins(measured), indent=1) + "\n")


def play(
    sections: list[Section],
    workers: WorkerSettings,
    console: Console,
    folder: Path = FOLDER,
    interrupt: Interrupt | None = None,
) -> None:
    """Play what the files lack; Ctrl-C (or `interrupt`, if given) stops and keeps what is done."""
    make_folder(folder)
    with interrupt or Interrupt() as interrupt:
        for section in sections:
            path, measured = file_of(section, folder), load(section, folder)
            for name, run in section.runs.items():
                games = run.games or section.games
                if interrupt.asked or measured.runs[name].games >= games:
                    continue
                for spec in filter(None, (run.agent, run.against)):
                    make_agent(spec, parse_variant(measured.variant))  # fail before anything is played
                console.print(f"{section.name}, {name}:")
                _play_run(measured, name, games, path, workers, console, interrupt)


def _play_run(
    measured: Measured,
    name: str,
    games: int,
    path: Path,
    workers: WorkerSettings,
    console: Console,
    interrupt: Interrupt,
) -> None:
    played, now = measured.runs[name], commit()

    def tasks() -> Iterator[Task]:
        for first in range(played.games, games, CHUNK):
            count = min(CHUNK, games - first)
            yield Task(measured.variant, played.agent, played.against, first, count, measured.sampled)

    with (
        PeriodicSave(lambda: save(measured, path)) as saving,
        progress_bar(console, "games", games, played.games) as bar,
        closing(results_in_order(measure_games, list(tasks()), workers, lambda: interrupt.asked)) as coming,
    ):
        for task, (found, where) in coming:
            try:
                played.sums = added(played.sums, found)
            except KeyError:
                raise ValueError(
                    f"{one_line(path, 120)} holds other statistics than are measured: move it away"
                ) from None
            played.games = task.first + task.games
            for kept, value in ((played.commits, now), (played.machines, where)):
                add_new(kept, value)
            bar(played.games, "")
            saving.added()
