"""A picture of a training curve."""

from pathlib import Path


def caption(name: str) -> str:
    """What an entry of a curve is called."""
    return name.replace("win_share_", "against ").replace("win_rate", "together")


def draw_curve(curve: list[dict[str, float]], title: str, path: Path) -> None:
    """Draw the win shares of an evaluated run over the decisions learned from, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name in [key for key in (curve[0] if curve else {}) if key.startswith("win_")]:
        shares = [p[name] for p in curve]
        axes.plot([p["steps"] / 1e6 for p in curve], shares, marker="o", markersize=3, label=caption(name))
        axes.legend()
    axes.set(xlabel="decisions learned from (millions)", ylabel="win share", ylim=(0, 1.02))
    axes.set_title(title, fontsize=8)  # a variant's spec is long
    axes.grid(alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
