"""The agents that `best` chooses from, by variant, with strength and time of a decision."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from agents.spec import parse_agent_spec
from experiments.evaluation.standings import ANCHOR, Standings

DEFAULT = "mcts:1000"  # where nothing has been measured: it plays every game with any number of players

Row = dict[str, Any]


def best_agents(found: Iterable[Standings], rates: Mapping[str, Mapping[str, tuple[float, float | None]]]) -> str:
    """Make the text of `agents/best.json`.

    Args:
        found: the boards with ratings. Of an agent on several boards the first counts. Where the anchor did not play
            ratings have another zero: they are shifted so that an agent known from a board before keeps its rating,
            and left out if there is none. Agents that cheat are left out.
        rates: of cooperative games: win rate, and seconds of a decision, by spec of the variant and agent.
    """
    variants: dict[str, dict[str, Row]] = {}
    for board in found:
        rows = variants.setdefault(board.variant.spec, {})
        ratings = {agent: float(row[0]) for agent, row in board.ratings.items() if math.isfinite(row[0])}
        shift = 0.0
        if ANCHOR not in ratings:
            common = [agent for agent in ratings if agent in rows]
            if not common:
                continue
            shift = rows[common[0]]["strength"] - ratings[common[0]]
        for agent, rating in ratings.items():
            if agent not in rows and not parse_agent_spec(agent).cheats:
                rows[agent] = _row(agent, round(rating + shift, 1), board.seconds.get(agent))
    for variant, by_agent in rates.items():
        rows = variants.setdefault(variant, {})
        for agent, (rate, seconds) in by_agent.items():
            if not parse_agent_spec(agent).cheats:
                rows.setdefault(agent, _row(agent, round(rate, 4), seconds))
    lists = {
        variant: sorted(rows.values(), key=lambda row: -row["strength"]) for variant, rows in sorted(variants.items())
    }
    return json.dumps({"default": DEFAULT, "variants": lists}, indent=1) + "\n"


def _row(spec: str, strength: float, seconds: float | None) -> Row:
    return {"spec": spec, "strength": strength, "seconds": None if seconds is None else float(f"{seconds:.3g}")}
