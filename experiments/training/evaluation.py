"""Points of a training curve: how often the network wins."""

from dataclasses import dataclass
from typing import Annotated

from agents.networks.agent import NetworkAgent
from agents.networks.network import PolicyValueNet, snapshot
from agents.registry import make_agent
from agents.settings import Range
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
