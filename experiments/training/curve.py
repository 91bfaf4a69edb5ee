"""The curve of a training run: how often the network wins, as points and as a picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from agents.networks.agent import NetworkAgent
from agents.networks.network import PolicyValueNet, snapshot
from agents.registry import make_agent
from agents.settings import Range
from experiments.common.cli import save_picture
from experiments.evaluation.matches import cooperative_win_rate, win_share_against
from experiments.training.opponents import PAST
from samurai_env.core.game import Variant

CURVE_DEALS = 1_000_000  # the first deal of a curve: whoever picks a run by its curve is to be measured on others


@dataclass
class EvaluationSettings:
    """Evaluations during the run."""

    eval_every: Annotated[int | None, Range(0, 10**7)] = None
    """Updates between two evaluations, by default a tenth of the run; there is one at both ends; 0 for none."""
    eval_opponents: tuple[str, ...] = ("random", "greedy")
    """Agents that the network plays in an evaluation; in a cooperative game it plays in every seat instead."""
    eval_deals: Annotated[int, Range(1, 10**5)] = 100
    """Deals of an evaluation, each played from every seat (cooperative: once)."""


def check_evaluation(settings: EvaluationSettings, variant: Variant) -> None:
    """Make each agent once.

    Raises:
        FileNotFoundError: a file that a spec names does not exist.
        ValueError: names the flag or the spec.
    """
    for spec in settings.eval_opponents:
        if spec == PAST:
            raise ValueError(f"{PAST} is an opponent in training (--opponents), not in an evaluation")
        make_agent(spec, variant)
    given = settings.eval_opponents != EvaluationSettings.eval_opponents
    if settings.eval_every == 0 and (given or settings.eval_deals != EvaluationSettings.eval_deals):
        raise ValueError("--eval-opponents and --eval-deals have no effect with --eval-every 0")
    if variant.game.cooperative and given:
        raise ValueError("--eval-opponents have no effect in a cooperative game, where the network plays in every seat")


def evaluate(settings: EvaluationSettings, net: PolicyValueNet, variant: Variant) -> dict[str, float]:
    """Play the network's most probable actions against each opponent, or in every seat of a cooperative game.

    Returns:
        `win_rate` of a cooperative game, else `win_share_SPEC` of each opponent.
    """
    agent, deals = NetworkAgent(variant, snapshot(net)), settings.eval_deals
    if variant.game.cooperative:
        return {"win_rate": cooperative_win_rate(variant, agent, deals, CURVE_DEALS)}
    return {
        f"win_share_{spec}": win_share_against(variant, [agent, make_agent(spec, variant)], deals, CURVE_DEALS)
        for spec in settings.eval_opponents
    }


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
