"""The generated parts of docs/performance.md, from what `experiments.bench --peers` and `--growth` have measured."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from experiments.benchmark.peer_table import with_ratios
from experiments.benchmark.peers import KINDS, Row
from experiments.benchmark.scaling import Memory, Point
from experiments.benchmark.timing import Figure
from experiments.common.markdown import RESULTS, Origin, amount, origin, read, table
from samurai_env import parse_variant

PAGE = "docs/performance.md"
STAR = "\\* other processes used the CPU, in spite of repetitions; figures of several threads suffer most from it."
NONE = "*No results are kept yet.* They come from `python -m experiments.bench --{}`."


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
        "![Steps a second against the number of games](images/growth-games.png)",
        "![Simulations a second against their number](images/growth-simulations.png)",
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


def page_parts(folder: Path = RESULTS) -> dict[str, str]:
    """The generated parts of the page.

    Raises:
        ValueError: a results file is damaged.
    """
    made = {"peers": NONE.format("peers"), "growth": NONE.format("growth"), "memory": NONE.format("growth")}
    if (folder / "peers.json").exists():
        made["peers"] = peers_part(read(folder / "peers.json", Peers))
    if (folder / "growth.json").exists():
        found = read(folder / "growth.json", Growth)
        made |= {"growth": growth_part(found), "memory": memory_part(found)}
    return made
