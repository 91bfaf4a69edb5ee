"""The tables of speed in the README and docs/background/performance.md, from what `experiments.bench` has measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from experiments.benchmark.gpu_table import NO_GPU, Gpu, gpu_part
from experiments.benchmark.peer_table import with_ratios
from experiments.benchmark.peers import KINDS, Row
from experiments.benchmark.results import Origin, amount, origin, read
from experiments.benchmark.scaling import Memory, Point
from experiments.benchmark.timing import Figure
from experiments.common.markdown import table, variant_title
from experiments.common.provenance import RESULTS
from samurai_env import parse_variant
from samurai_env.files.json_reader import read_json

PAGE = "docs/background/performance.md"
STAR = "\\* other processes used the CPU, in spite of repetitions; figures of several threads suffer most from it."
NONE = "*No results are kept yet.* They come from `python -m experiments.bench --{}`."


# Shown as long as there are no results.
NO_SPEED = "*No results are kept yet.* They come from\n\n```sh\n{}\n```".format(
    "python -m experiments.bench --json experiments/results/bench-2.json"
)


class Report(Origin):
    """The form of `bench-NAME.json`."""

    figures: list[Figure]


class Peers(Origin):
    """The form of `peers.json`."""

    rows: list[Row]
    missing: list[str]


class Growth(Origin):
    """The form of `growth.json`."""

    games: Annotated[list[Point], Meta(min_length=1)]
    simulations: list[Point]
    memory: list[Memory]


def figure(found: Figure) -> str:
    """A figure of `experiments.bench`: median, range, and a star if other processes disturbed it."""
    median, low, high = (amount(value) for value in (found.median, found.low, found.high))
    star = "\\*" if found.disturbed else ""
    return f"**{median}**{star} ({low} to {high})"


# The rows of the README's table: beginnings of the names of figures. docs/background/performance.md has all.
ROWS = (
    *("core, random play, no outputs, steps/s", "vector env", "AEC env, last", "Position, observation"),
    *("mcts:1000, opening, default", "PPO", "first step"),
)


def speed(paths: Sequence[Path], rows: Sequence[str] = ()) -> str:
    """Measurements in one table: a column for each file, with the median and the range of each figure.

    Args:
        paths: files of `experiments.bench`.
        rows: beginnings of the names of figures; all if there are none.
    """
    reports = [read(path, Report) for path in paths]
    figures = [{f"{f.name}, {f.unit}": f for f in report["figures"]} for report in reports]
    lines = [
        [name, *(figure(found[name]) if name in found else "" for found in figures)]
        for name in dict.fromkeys(name for found in figures for name in found)
        if not rows or name.startswith(tuple(rows))
    ]
    notes = [f"- {variant_title(report['variant'])}. {origin(report)} `{report['command']}`" for report in reports]
    if rows:
        notes = sorted({origin(report) for report in reports})
    return "\n".join([table(["", *(variant_title(report["variant"]) for report in reports)], lines), "", *notes])


def peers_part(found: Peers) -> str:
    """A table for each kind of work, ours first."""
    rows = with_ratios(found["rows"])
    head = ["who", "game", "actions, inputs", "games at once", "threads", "median (range)", "unit", "ours / theirs"]
    blocks = []
    for kind in KINDS:
        lines = [
            [
                row.who,
                row.what,
                f"{row.actions}, {row.inputs or '-'}",
                row.batch,
                row.threads,
                figure(row.figure),
                row.figure.unit,
                "" if ratio is None else f"{amount(ratio)} x",
            ]
            for row, ratio in rows
            if row.kind == kind
        ]
        if lines:
            blocks.append(f"**{kind[0].upper()}{kind[1:]}**\n\n{table(head, lines)}")
    notes = [f"- {line}." for line in found["missing"]] + [f"- {origin(found)} `{found['command']}`"]
    if any(row.figure.disturbed for row, _ in rows):
        notes.append(f"- {STAR}")
    return "\n\n".join([*blocks, "\n".join(notes)])


def growth_part(found: Growth) -> str:
    """The pictures, and how they were made."""
    points = [*found["games"], *found["simulations"]]
    lines = [
        "![Steps a second against the number of games](../images/growth-games.png)",
        "![Simulations a second against their number](../images/growth-simulations.png)",
        f"Lines are medians, bands the range. {origin(found)} `{found['command']}`",
    ]
    disturbed = sum(point.figure.disturbed for point in points)
    if disturbed:
        lines.append(f"During {disturbed} of the {len(points)} points other processes used the CPU.")
    best = max(found["games"], key=lambda point: point.figure.median)
    lines.append(f"Fastest of the first picture: {best.curve}, {best.size:,} games, {figure(best.figure)} steps/s.")
    return "\n\n".join(lines)


def memory_part(found: Growth) -> str:
    """Bytes of a game."""
    rows = []
    for entry in found["memory"]:
        made = parse_variant(entry.variant)
        observations = ", ".join(f"{name} {size:,}" for name, size in entry.observations.items())
        rows.append(
            [
                f"{made.game.title}, {made.num_players} players",
                entry.record,
                entry.mask,
                observations,
                entry.environment,
            ]
        )
    head = ["bytes of one game", "state", "mask", "observation, by encoding", "vector environment, all in all"]
    return table(head, rows)


def pages(folder: Path = RESULTS) -> dict[str, dict[str, str]]:
    """The tables of speed, by page and name.

    Raises:
        ValueError: a results file is damaged.
    """
    measured = sorted(folder.glob("bench*.json"))
    made = {"speed": speed(measured) if measured else NO_SPEED, **_other_parts(folder)}
    return {"README.md": {"speed": speed(measured, ROWS) if measured else NO_SPEED}, PAGE: made}


def _other_parts(folder: Path) -> dict[str, str]:
    made = {"peers": NONE.format("peers"), "growth": NONE.format("growth"), "memory": NONE.format("growth")}
    gpu = folder / "gpu.json"
    made["gpu"] = gpu_part(read_json(gpu, Gpu)) if gpu.exists() else NO_GPU
    if (folder / "peers.json").exists():
        made["peers"] = peers_part(read(folder / "peers.json", Peers))
    if (folder / "growth.json").exists():
        found = read(folder / "growth.json", Growth)
        made |= {"growth": growth_part(found), "memory": memory_part(found)}
    return made
