"""The strongest agents by game and time of a decision, as a table."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from agents.best import Measured, strongest
from experiments.common.markdown import table, variant_title
from experiments.leaderboard.short_names import short_name
from samurai_env import parse_variant

TIMES = {"1 ms": 0.001, "10 ms": 0.01, "0.1 s": 0.1, "1 s": 1.0}


def by_time(variants: Mapping[str, Sequence[Measured]]) -> str:
    """What `best` stands for, by variant and time; with its rating, or in a cooperative game its win rate.

    Args:
        variants: the agents of each variant, by its spec. Those without times are left out.
    """
    rows = []
    for spec, agents in variants.items():
        variant = parse_variant(spec)
        chosen = [strongest(agents, seconds) for seconds in TIMES.values()]
        if not any(chosen):
            continue
        cells = ["" if agent is None else _cell(agent, variant.game.cooperative) for agent in chosen]
        repeated = [agent is not None and agent == faster for faster, agent in pairwise(chosen)]
        later = ["the same" if same else cell for same, cell in zip(repeated, cells[1:], strict=True)]
        rows.append([variant_title(spec), cells[0], *later])
    return table(["", *TIMES], rows)


def _cell(agent: Measured, cooperative: bool) -> str:
    return f"{short_name(agent.spec)}, " + (f"{agent.strength:.0%} won" if cooperative else f"{agent.strength:+.0f}")
