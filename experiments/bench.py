"""Measure speed on this machine.

    python -m experiments.bench --game samurai players=2 --json runs/bench.json    # every part of this project
    python -m experiments.bench --peers      # the same kind of work in other people's packages (first: make peers)
    python -m experiments.bench --growth     # against the number of games, players, threads and simulations

Every figure is the median of several measurements, with the smallest and largest beside it. A measurement during which
other processes used the CPU is repeated up to three times; if they still do, its figure is marked with a star. Figures
use one thread, and seconds of that thread's CPU time, unless they name threads or are times of a process: then seconds
are those on the wall. The last two forms write their results to
experiments/results, and tables and pictures to docs/background/performance.md, unless --json names another file.
"""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.table import Table

from agents.settings import Range
from experiments.benchmark import components, peer_table, replay, scaling
from experiments.benchmark.page import RESULTS, pages
from experiments.benchmark.peers import KINDS
from experiments.benchmark.timing import Figure, Meter
from experiments.common.cli import GameSpec, check_writable, command_line, run_program
from experiments.common.markdown import refresh
from experiments.common.provenance import ROOT, commit, machine
from experiments.common.ranges import Count, check_ranges
from samurai_env import __version__, parse_variant
from samurai_env.core.game import Variant
from samurai_env.files.atomic_write import write_atomically

IMAGES = ROOT / "docs" / "images"
PARTS_ALONE = ("num_envs", "simulations", "start")  # settings for the measurement of every part


@dataclass
class Config:
    """Settings of a measurement."""

    game: GameSpec = "samurai"
    """The game with its number of players and options."""
    repetitions: Count = 5
    """Measurements of each figure."""
    seconds: Annotated[float, Range(0.01, 1e6)] = 0.5
    """About how long one measurement takes."""
    num_envs: Count = 1024
    """Games in the vector environment."""
    simulations: Count = 1000
    """Simulations a search."""
    train: bool = True
    """Also measure training (needs torch)."""
    start: bool = True
    """Also measure the first step in a new process, with a warm and with an empty cache (a minute or two)."""
    peers: bool = False
    """Measure the same kind of work here and in other packages, instead of every part."""
    growth: bool = False
    """Measure how speed grows, instead of every part."""
    json: Path | None = None
    """File for the figures."""


def every_part(variant: Variant, meter: Meter, config: Config, console: Console) -> list[Figure]:
    """All figures of this project."""
    parts = {
        "the core": lambda: components.random_play(variant, meter) + components.copies(variant, meter),
        "the vector environment": lambda: components.vector(variant, meter, config.num_envs),
        "one learner": lambda: components.one_learner(variant, meter, config.num_envs),
        "wrapper and threads": lambda: replay.replayed(variant, meter, config.num_envs),
        "the AEC environment": lambda: components.aec(variant, meter),
        "single games": lambda: components.position(variant, meter),
        "tree search": lambda: components.search(variant, meter, config.simulations),
    }
    if config.train:
        parts["training"] = lambda: components.training(variant, meter)
    if config.start:
        parts["the start of a process"] = lambda: components.starting(variant, meter)
    figures: list[Figure] = []
    for name, part in parts.items():
        with console.status(f"measuring {name}"):
            figures += part()
    return figures


def show(console: Console, title: str, head: Sequence[str], rows: Sequence[tuple[Sequence[str], Figure]]) -> None:
    """Print figures, what they are before them."""
    table = Table(title=title)
    for column in (*head, "median", "smallest", "largest", "unit"):
        table.add_column(column, justify="left" if column in (*head, "unit") else "right")
    for cells, f in rows:
        shown = [f"{x:,.2f}" if x < 100 else f"{x:,.0f}" for x in (f.median, f.low, f.high)]
        table.add_row(*cells, shown[0] + "*" * f.disturbed, *shown[1:], f.unit)
    console.print(table)
    if any(f.disturbed for _, f in rows):
        console.print("[yellow]* other processes were using the machine: the figure may be too low[/yellow]")


def peers(variant: Variant, meter: Meter, config: Config, console: Console, folder: Path) -> dict[str, Any]:
    """Measure and show this project beside others; what to keep of it."""
    rows, missing = peer_table.side_by_side(variant, meter, console, config.train)
    for kind in KINDS:
        mine = [row for row in rows if row.kind == kind]
        show(console, kind, ("who", "what", "threads"), [((r.who, r.what, str(r.threads)), r.figure) for r in mine])
    for line in missing:
        console.print(f"[yellow]{line}[/yellow]")
    return {"rows": [asdict(row) for row in rows], "missing": missing}


def growth(variant: Variant, meter: Meter, config: Config, console: Console, folder: Path) -> dict[str, Any]:
    """Measure and show how speed grows, and draw it into `folder`; what to keep of it."""
    kept: dict[str, Any] = {}
    for name, (points, across) in scaling.growth(variant, meter, console).items():
        show(console, variant.game.title, ("curve", across), [((p.curve, f"{p.size:,}"), p.figure) for p in points])
        scaling.draw(points, across, variant.game.title, folder / f"growth-{name}.png")
        kept[name] = [asdict(point) for point in points]
    return kept | {"memory": [asdict(scaling.memory(made)) for made in scaling.smallest_and_largest()]}


def parts(variant: Variant, meter: Meter, config: Config, console: Console, folder: Path) -> dict[str, Any]:
    """Measure and show every part of this project; what to keep of it."""
    figures = every_part(variant, meter, config, console)
    show(console, variant.spec, ("what",), [((f.name,), f) for f in figures])
    return {"figures": [asdict(f) for f in figures]}


def check_effect(config: Config) -> None:
    """Refuse settings that a measurement does not read.

    Raises:
        ValueError: names the flags.
    """
    asked = "--peers" if config.peers else "--growth" if config.growth else None
    unread = {"--peers": PARTS_ALONE, "--growth": (*PARTS_ALONE, "train")}.get(asked or "", ())
    given = [f"--{name.replace('_', '-')}" for name in unread if getattr(config, name) != getattr(Config, name)]
    if given:
        raise ValueError(f"no effect of {' and '.join(given)} on {asked}")
    if config.growth and len(config.game.split()) > 1:
        raise ValueError(f"--growth measures every number of players: --game {config.game.split()[0]}, without options")


def main(config: Config) -> dict[str, Any]:
    """Measure, print, write; what is written."""
    check_ranges(config)
    if config.peers and config.growth:
        raise ValueError("--peers and --growth are two measurements: ask for one at a time")
    check_effect(config)
    variant = parse_variant(config.game)
    measure = peers if config.peers else growth if config.growth else parts
    path, folder = config.json, config.json.parent if config.json else IMAGES
    if path is None and measure is not parts:
        path = RESULTS / f"{measure.__name__}.json"
    if path is not None:
        check_writable(path)
    report = {
        "variant": variant.spec,
        "machine": f"{machine()}, Python {platform.python_version()}",
        "version": __version__,
        "commit": commit(),
        "command": command_line("experiments.bench", config),
    }
    report |= measure(variant, Meter(config.repetitions, config.seconds), config, Console(), folder)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(report, indent=1) + "\n")
        if config.json is None:
            refresh(pages(), write=True)
    return report


if __name__ == "__main__":
    run_program("experiments.bench", Config, main, __doc__)
