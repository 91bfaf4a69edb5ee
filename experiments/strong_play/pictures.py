"""The pictures of the page: a map of the first tiles, tiles by turn, the course of a game."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.common.cli import save_picture
from experiments.strong_play.board_game import EARLY, GROUPS, TURNS
from experiments.strong_play.general import PARTS
from experiments.strong_play.page import Found, name
from experiments.strong_play.play import Measured, Played
from experiments.strong_play.statistics import mean
from samurai_env import parse_variant
from samurai_env.display.palette import PAPER, TEXT
from samurai_env.display.scene import Polygon, Scene, Text
from samurai_env.display.vector import svg
from samurai_env.games.board.display.scene import MARGIN, frame
from samurai_env.games.board.display.shapes import (
    LAND,
    LAND_EDGE,
    SEA,
    SEA_EDGE,
    TOWN,
    TOWN_EDGE,
    TOWN_INK,
    hexagon,
)
from samurai_env.games.board.rules.topology import hexes_in_play

MAP, TILES, COURSE = "play-map.svg", "play-tiles.png", "play-course.png"
DEEP = "#5b1a6e"  # of a hex on which a tile is laid in every game
LEAST = 0.025  # share that is written on a hex
COLOURS = ("#e69f00", "#0072b2", "#56b4e9", "#cc79a7", "#009e73")  # Okabe and Ito (2008)
LABELS = ("helmet, buddha, rice", "samurai", "ships", "ronin", "exchanges")
MARKS = ("o", "s", "^", "D", "v")


def _means(run: Played, statistic: str, items: Sequence[str]) -> list[float]:
    return [mean(*run.sums[statistic][item]).mean for item in items]


def _title(run: Played) -> str:
    return name(run.agent).strip("`")


def _mixed(colour: str, share: float) -> str:
    pairs = [(int(colour[i : i + 2], 16), int(DEEP[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in pairs)


def first_tiles(section: Measured) -> str:
    """Maps of where players lay tiles in their first turns, one for each run, two in a row; SVG."""
    n = parse_variant(section.variant).num_players
    where = frame(n)
    across, down = where.width + 2 * MARGIN, where.height + 2 * MARGIN
    rows = (len(section.runs) + 1) // 2
    picture = Scene(round(2 * across), round(rows * down), PAPER, caption=f"Tiles of the first {EARLY} turns")
    for number, run in enumerate(section.runs.values()):
        x0, y0 = number % 2 * across, number // 2 * down
        picture.add(Text(x0 + MARGIN, y0 + 2 * MARGIN, _title(run), 26, TEXT, "left", bold=True))
        for place in hexes_in_play(n):
            x, y = where.center(place)
            x, y = x + x0, y + y0
            corners = hexagon(x, y, where.radius)
            if place.size:
                picture.add(Polygon(corners, TOWN[place.size], TOWN_EDGE, 1.5))
                if place.name:
                    picture.add(Text(x, y - 7, place.name, 15, TOWN_INK, bold=True))
                picture.add(Text(x, y + (9 if place.name else 0), place.label, 11, TOWN_INK))
                continue
            plain, edge = (SEA, SEA_EDGE) if place.terrain == "sea" else (LAND, LAND_EDGE)
            share = mean(*run.sums["places"][place.label]).mean
            picture.add(Polygon(corners, _mixed(plain, share), edge))
            if share >= LEAST:
                ink = "#ffffff" if share > 0.4 else "#22262b"
                picture.add(Text(x, y, f"{share:.0%}", 16, ink, bold=True))
    return svg(picture)


def _figure(panels: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9.5, 3.6), layout="constrained")
    FigureCanvasAgg(picture)
    return picture, picture.subplots(1, panels, sharey=True)


def tiles_by_turn(section: Measured, path: Path) -> None:
    """Draw how many tiles of which sort a player lays in each turn, a panel for each run; PNG."""
    picture, panels = _figure(len(section.runs))
    turns = range(1, TURNS)  # the last item holds all later ones
    for axes, run in zip(panels, section.runs.values(), strict=True):
        below = [0.0] * len(turns)
        for group, colour, label in zip(GROUPS, COLOURS, LABELS, strict=True):
            values = _means(run, "by_turn", [f"{group} {turn}" for turn in turns])
            axes.bar(turns, values, bottom=below, color=colour, width=0.85, label=label)
            below = [one + other for one, other in zip(below, values, strict=True)]
        axes.set(title=_title(run), xlabel="turn of the player", xticks=list(turns)[::2])
    panels[0].set(ylabel="tiles played", ylim=(0, 3.2))
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(GROUPS), frameon=False)
    save_picture(picture, path)


def course(curves: Sequence[tuple[str, Played]], path: Path) -> None:
    """Draw agreement with `greedy` and the later winner's lead against the part of the game that is over; PNG.

    Args:
        curves: what each is called, and the run.
        path: the file.
    """
    picture, panels = _figure(2)
    parts = [f"{part}" for part in range(1, PARTS + 1)]
    ends = [part / PARTS for part in range(1, PARTS + 1)]
    for (label, run), colour, mark in zip(curves, COLOURS[1:] + COLOURS[:1], MARKS, strict=False):
        style = {"color": colour, "marker": mark, "markersize": 4, "label": label}
        agreed = [mean(*run.sums["agreement"][part]).mean for part in parts]
        panels[0].plot([end - 0.5 / PARTS for end in ends], agreed, **style)
        panels[1].plot(ends, _means(run, "ahead", parts), **style)
    panels[0].set(title="decisions that greedy could also make", xlabel="part of the game", ylabel="share")
    panels[1].set(title="the later winner is ahead (ties count one half)", xlabel="part of the game")
    for axes in panels:
        axes.set(xlim=(0, 1.02), ylim=(0, 1), xticks=[0, 0.2, 0.4, 0.6, 0.8, 1.0])
        axes.grid(alpha=0.3)
    picture.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    save_picture(picture, path)


def draw(found: Found, folder: Path) -> None:
    """Draw the pictures that are pixels; the map is part of the pages."""
    board = found["board-2"]
    tiles_by_turn(board, folder / TILES)
    curves = [(f"board game, {_title(board.runs[run])}", board.runs[run]) for run in ("strong", "second", "search")]
    curves.append(("board game, 4 players", found["board-4"].runs["strong"]))
    curves.append(("card game", found["card-2"].runs["strong"]))
    course(curves, folder / COURSE)
