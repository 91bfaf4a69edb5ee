"""A picture of how much is won against an agent by the decisions of learning to exploit it: a panel for each target."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from experiments.common.cli import save_picture
from experiments.common.markdown import variant_title
from experiments.evaluation.best_responses import KeptShares
from experiments.evaluation.matches import estimate
from samurai_env import parse_variant

COLUMNS = 4


def panel_title(kept: KeptShares) -> str:
    """The game, and below it the target, without the folder and the kind of its file."""
    target = kept.settings["target"].removeprefix("ppo:weights/").replace(".safetensors", "")
    return f"{variant_title(parse_variant(kept.settings['variant']).spec)}\n{target}"


def draw(found: Sequence[KeptShares], path: Path) -> None:
    """Write the picture as PNG; nothing without matplotlib, or if nothing was learned.

    Args:
        found: the targets, in the order of their panels.
        path: the file.
    """
    found = [kept for kept in found if kept.curves]
    if not (found and find_spec("matplotlib")):
        return
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = -(-len(found) // COLUMNS)
    figure = Figure(figsize=(11, 2.4 * rows + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False).ravel()
    for axes in panels[len(found) :]:
        axes.remove()
    for axes, kept in zip(panels, found, strict=False):
        axes.axhline(100 / parse_variant(kept.settings["variant"]).num_players, color="0.7", linestyle="--")
        for number, (name, curve) in enumerate(sorted(kept.curves.items())):
            decisions, shares = np.array(curve).T
            color = f"C{number}"
            axes.plot(decisions / 1e6, 100 * shares, color=color, linewidth=1)
            if kept.shares.get(name):
                end = estimate(np.array(kept.shares[name]))
                bar = [[100 * (end.mean - end.low)], [100 * (end.high - end.mean)]]
                axes.errorbar(decisions[-1] / 1e6, 100 * end.mean, bar, fmt="o", markersize=4, color=color)
        for name, shares_by_deal in kept.shares.items():
            if name not in kept.curves and shares_by_deal:
                axes.axhline(100 * estimate(np.array(shares_by_deal)).mean, color="0.3", linestyle=":")
        axes.set_title(panel_title(kept), fontsize=8)
        axes.set_ylim(0, 100)
        axes.grid(color="0.93")
        axes.tick_params(labelsize=8)
    figure.supxlabel("million decisions of the exploiter", fontsize=9)
    figure.supylabel("win share against the agent, %", fontsize=9)
    save_picture(figure, path)
