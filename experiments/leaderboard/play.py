"""Plays what the tables of the leaderboard lack."""

from contextlib import chdir
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from experiments import cooperative, tournament
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import RESULTS, ROOT
from experiments.common.tasks import WorkerSettings
from experiments.evaluation.ladders import LIST, read_ladders
from experiments.leaderboard.configs import cooperative_config, tournament_config


@dataclass
class Config(WorkerSettings):
    """Settings of the leaderboard."""

    full: bool = False
    """Play the full form: more deals, and the slow agents too (hours)."""
    only: tuple[str, ...] = ()
    """Names of the tables to play; all if not given."""
    play: bool = True
    """Play what is missing; otherwise only write the pages."""
    check: bool = False
    """Neither play nor write; exit with 1 if a page is out of date."""


def play(
    config: Config, console: Console, folder: Path = RESULTS, file: Path = LIST, interrupt: Interrupt | None = None
) -> None:
    """Play what is missing, table by table; Ctrl-C (or `interrupt`, if given) stops and keeps what is done.

    Raises:
        ValueError: there is no table of a name given.
    """
    ladders, cooperative_ladders = read_ladders(file)
    names = [ladder.name for ladder in ladders + cooperative_ladders]
    if unknown := set(config.only) - set(names):
        raise ValueError(f"there is no table {min(unknown)!r}; the tables are {', '.join(names)}")
    with chdir(ROOT), interrupt or Interrupt() as interrupt:  # agents and output are named from there
        for ladder in ladders + cooperative_ladders:
            if interrupt.asked or (config.only and ladder.name not in config.only):
                continue
            if not (ladder.agents or config.full):
                if config.only:
                    console.print(f"{ladder.name}: the short form has nothing to play there; --full plays it")
                continue
            if ladder.needs and not find_spec(ladder.needs):
                console.print(f"{ladder.name}: left out, since {ladder.needs} is not installed")
                continue
            console.print(f"{ladder.name}:")
            if ladder in ladders:
                rated = config.given_to(tournament_config(ladder, folder, config.full))
                tournament.play(rated, console, interrupt)
            else:
                counted = config.given_to(cooperative_config(ladder, folder, config.full))
                cooperative.play(counted, console, interrupt)
