"""The strongest agents by game and time of a decision, as a table."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from agents.best import Measured, strongest
from experiments.common.markdown import table, variant_title
from experiments.evaluation.standings import duration, rating_text
from experiments.leaderboard.short_names import short_name
from experiments.leaderboard.time_curve import known
from samurai_env import parse_variant

TIMES = {
    "1 ms: `best:0.001s`": 0.001,
    "10 ms: `best:0.01s`": 0.01,
    "0.1 s: `best`": 0.1,
    "1 s: `best:1s`": 1.0,
}


def by_time(variants: Mapping[str, Sequence[Measured]]) -> str:
    """What `best` stands for, by variant and time: with time and rating, or in a cooperative game the games won.

    Args:
        variants: the agents of each variant, by its spec. Those without times are left out, and so are variants with
            other options than a game's defaults, such as the levels of a cooperative game.
    """
    rows = []
    for spec, agents in variants.items():
        variant = parse_variant(spec)
        chosen = [strongest(agents, seconds) for seconds in TIMES.values()]
        if not any(chosen) or variant != variant.game.variant(variant.num_players):
            continue
        cells = ["" if agent is None else _cell(agent, variant.game.cooperative) for agent in chosen]
        repeated = [agent is not None and agent == faster for faster, agent in pairwise(chosen)]
        later = ["the same" if same else cell for same, cell in zip(repeated, cells[1:], strict=True)]
        rows.append([variant_title(spec), cells[0], *later])
    return table(["", *TIMES], rows)


def _cell(agent: Measured, cooperative: bool) -> str:
    """Its name, strength with interval, and time."""
    if cooperative:
        low, high = (end or 0.0 for end in agent.interval)
        strength = f"{agent.strength:.0%} [{low:.0%}, {high:.0%}] won"
    else:
        low, high = (math.nan if end is None else end for end in agent.interval)
        strength = rating_text(agent.strength, low, high)
    rough = "" if cooperative or known({"interval": agent.interval}) else " (roughly)"
    return f"{short_name(agent.spec)}: {strength}{rough}, {duration(agent.seconds or 0.0)}"
