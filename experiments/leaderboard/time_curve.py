"""A picture of strength against the time of a decision, one panel for each game, from what `best` chooses from."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.cli import save_picture
from experiments.common.markdown import variant_title
from experiments.leaderboard.short_names import short_name

WEAKEST = -100.0  # ratings below are left out: random play would squeeze all others together
FASTEST, SLOWEST = 1e-6, 10.0  # seconds
WIDEST = 300.0  # an interval that is wider does not order agents
# Of a name from its point, in points of a font, nearest first: for one on the line above and to the left first.
NAME_OFFSETS = [
    (side * (5 + away // 3), lift) for away in range(0, 90, 15) for lift in (4 + away, -4 - away) for side in (-1, 1)
]


def frontier(rows: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corners of the best strength by time: (seconds, strength) of agents that no faster one equals."""
    corners: list[tuple[float, float]] = []
    for seconds, strength in sorted(rows):
        if not corners or strength > corners[-1][1]:
            corners.append((seconds, strength))
    return corners


def timed(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the agents to be drawn."""
    return [
        row for row in rows if row["seconds"] is not None and row["seconds"] <= SLOWEST and row["strength"] >= WEAKEST
    ]


def error_bar(row: Mapping[str, Any]) -> list[list[float]] | None:
    """How far the ends of the interval lie below and above the strength; None if nothing bounds it."""
    low, high = row.get("interval") or (None, None)
    return None if low is None or high is None else [[row["strength"] - low], [high - row["strength"]]]


def known(row: Mapping[str, Any]) -> bool:
    """Whether the strength is known well enough for the line."""
    low, high = row.get("interval") or (None, None)
    return low is not None and high is not None and high - low <= WIDEST


def draw(variants: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """Write the picture as PNG; nothing without matplotlib.

    Args:
        variants: rows of `agents/best.json` by spec of the variant, those with ratings.
        path: the file.
    """
    if not find_spec("matplotlib"):
        return
    variants = {spec: rows for spec, rows in variants.items() if timed(rows)}
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.6 * ((len(variants) + 1) // 2)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots((len(variants) + 1) // 2, 2, sharex=True, squeeze=False).ravel()
    for axes in panels[len(variants) :]:
        axes.remove()
    for axes, spec in zip(panels, variants, strict=False):
        found = timed(variants[spec])
        corners = frontier([(row["seconds"], row["strength"]) for row in found if known(row)])
        if corners:
            times, best = zip(*corners, strict=True)
            axes.step([*times, SLOWEST], [*best, best[-1]], where="post", color="0.75", linewidth=2, zorder=1)
        for row in found:
            seconds, strength = row["seconds"], row["strength"]
            on_line = (seconds, strength) in corners
            color = "tab:blue" if on_line else "0.55"
            style = {} if known(row) else {"markerfacecolor": "white", "alpha": 0.5}
            axes.errorbar(seconds, strength, error_bar(row), fmt="o", color=color, elinewidth=1.2, zorder=2, **style)
        axes.set_title(variant_title(spec), fontsize=10)
        axes.set_xscale("log")
        axes.set_xlim(FASTEST, SLOWEST)
        axes.margins(y=0.2)
        axes.set_ylabel("rating (greedy: 0)")
        axes.grid(color="0.93")
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("seconds of a decision, one core")
    figure.canvas.draw()  # finds the layout, and with it where names have room
    figure.set_layout_engine("none")
    for axes, spec in zip(panels, variants, strict=False):
        add_names(axes, timed(variants[spec]))
    save_picture(figure, path)


def add_names(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write each agent's name at the nearest place where it covers no other name, point or error bar, if any."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    corners = frontier([(row["seconds"], row["strength"]) for row in rows if known(row)])
    taken = []
    for row in rows:
        (low,), (high,) = error_bar(row) or ([0.0], [0.0])
        ends = ((row["seconds"], row["strength"] - low), (row["seconds"], row["strength"] + high))
        taken.append(Bbox(axes.transData.transform(ends)).padded(4))
    for row in sorted(rows, key=lambda row: -row["strength"]):
        point = (row["seconds"], row["strength"])
        name = axes.annotate(
            short_name(row["spec"]).partition(" + ")[0],  # all of it has no room
            point,
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8,
            color="black" if point in corners else "0.4",
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3},
        )
        size = Text.get_window_extent(name)  # without the line to the point
        start = axes.transData.transform(point)
        for x, y in NAME_OFFSETS if point in corners else [(-x, -y) for x, y in NAME_OFFSETS]:
            left, bottom = start + np.array((x, y)) * axes.figure.dpi / 72
            left, bottom = left - size.width * (x < 0), bottom - size.height * (y < 0)
            box = Bbox.from_bounds(left, bottom, size.width, size.height)
            inside = axes.bbox.x0 < box.x0 and box.x1 < axes.bbox.x1
            if inside and axes.bbox.y0 < box.y0 and box.y1 < axes.bbox.y1 and not any(map(box.overlaps, taken)):
                break
        name.set(position=(x, y), ha="right" if x < 0 else "left", va="top" if y < 0 else "bottom")
        taken.append(box)
