"""A picture of a training curve."""

from pathlib import Path

from experiments.common.cli import save_picture


def caption(name: str) -> str:
    """Name an entry of a curve."""
    return name.replace("win_share_", "against ").replace("win_rate", "together")


def draw_curve(curve: list[dict[str, float]], title: str, path: Path) -> None:
    """Draw the win shares of an evaluated run over the decisions learned from, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    names = dict.fromkeys(key for point in curve for key in point if key.startswith("win_"))
    for name in names:  # a run that goes on may have other opponents than before
        points = [(point["steps"] / 1e6, point[name]) for point in curve if name in point]
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=caption(name))
    if names:
        axes.legend()
    axes.set(xlabel="decisions learned from (millions)", ylabel="win share", ylim=(0, 1.02))
    axes.set_title(title, fontsize=8)  # a variant's spec is long
    axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_picture(figure, path)
