"""The agents that `best` chooses from, by variant, with strength and time of a decision."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

from agents.spec import parse_agent_spec
from experiments.common.provenance import RESULTS
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import LIST, read_ladders, results_of, rule_of
from experiments.evaluation.matches import Estimate
from experiments.evaluation.matchups import Lineup, Matchup, Results
from experiments.evaluation.standings import ANCHOR, decision_seconds, standings
from experiments.evaluation.stopping import ALL, StopRule
from samurai_env import parse_variant

DEFAULT = "mcts:1000"  # where nothing has been measured: it plays every game with any number of players

Row = dict[str, Any]


class Table(NamedTuple):
    """A tournament.

    Attributes:
        results: of its games.
        agents: those that count.
        one_deal_at_a_time: as who asks `best` decides; in several games at once, a decision takes less.
        rule: when its matchups end; what was played after that does not count.
    """

    results: Results
    agents: Sequence[str]
    one_deal_at_a_time: bool
    rule: StopRule = ALL


def best_agents(tables: Iterable[Table], rates: Mapping[str, Mapping[str, tuple[Estimate, float | None]]]) -> str:
    """Make the text of `agents/best.json`.

    Args:
        tables: tournaments. Those of a variant are rated together, as one tournament: each measures what fits into its
            time, and some agents are on several.
        rates: of cooperative games: win rate, and seconds of a decision, by spec of the variant and agent.

    Agents that cheat are left out, those that no games connect with the anchor, and those whose few games bound their
    rating on neither side.
    """
    by_variant: dict[str, list[Table]] = {}
    for table in tables:
        by_variant.setdefault(table.results.variant, []).append(table)
    lists = {variant: _rated(found) for variant, found in by_variant.items()}
    for variant, by_agent in rates.items():
        lists[variant] = [
            _row(agent, [rate.mean, rate.low, rate.high], 4, seconds)
            for agent, (rate, seconds) in by_agent.items()
            if not parse_agent_spec(agent).cheats
        ]
    ordered = {variant: sorted(rows, key=lambda row: -row["strength"]) for variant, rows in sorted(lists.items())}
    return json.dumps({"default": DEFAULT, "variants": ordered}, indent=1) + "\n"


def _rated(tables: Sequence[Table]) -> list[Row]:
    """The agents of the tables of one variant."""
    agents = sorted({agent for table in tables for agent in table.agents}, key=lambda agent: (agent != ANCHOR, agent))
    if ANCHOR not in agents:
        return []
    together = standings(merged(tables), agents)
    times: dict[bool, dict[str, float]] = {False: {}, True: {}}
    for table in tables:  # the least is what a decision takes where the machine does little else
        known = times[table.one_deal_at_a_time]
        for agent, taken in decision_seconds(table.results, table.agents).items():
            known[agent] = min(taken, known.get(agent, taken))
    seconds = times[False] | times[True]
    return [
        _row(agent, rating.tolist(), 1, seconds.get(agent))
        for agent, rating in together.ratings.items()
        if math.isfinite(rating[0]) and any(map(math.isfinite, rating[1:])) and not parse_agent_spec(agent).cheats
    ]


def merged(tables: Sequence[Table]) -> Results:
    """The deals of tournaments of one variant, as one; with two players a matchup may stand in either order.

    A deal that a line-up has played in several counts once.
    """
    whole = copy(tables[0].results)
    whole.matchups = dict[Lineup, Matchup]()
    seen: set[tuple[frozenset[str] | Lineup, int]] = set()
    for results, _, _, rule in tables:
        for lineup, matchup in results.matchups.items():
            shares = matchup.shares(rule=rule)
            if shares.shape[1:] == (2,) and lineup[::-1] in whole.matchups and lineup not in whole.matchups:
                lineup, shares = lineup[::-1], 1.0 - shares
            deals = whole.matchups.setdefault(lineup, Matchup()).deals
            for deal, row in enumerate(shares.tolist()):
                one = frozenset(lineup) if shares.shape[1:] == (2,) or len(lineup) > 2 else lineup
                if (one, results.seed_of(deal)) not in seen:
                    seen.add((one, results.seed_of(deal)))
                    deals[len(deals)] = row
    return whole


def _row(spec: str, estimate: Sequence[float], digits: int, seconds: float | None) -> Row:
    """An agent's row; `estimate` is mean, low end and high end."""
    strength, *interval = [round(number, digits) if math.isfinite(number) else None for number in estimate]
    rounded = None if seconds is None else float(f"{seconds:.3g}")
    return {"spec": spec, "strength": strength, "interval": interval, "seconds": rounded}


def best(folder: Path = RESULTS, file: Path = LIST) -> str:
    """The text of `agents/best.json`, which says what the agent `best` stands for.

    Raises:
        ValueError: a file is damaged.
    """
    ladders, cooperative_ladders = read_ladders(file)
    rates: dict[str, dict[str, tuple[Estimate, float | None]]] = {}
    most: dict[tuple[str, str], int] = {}  # games, by variant and agent: the table with most of them counts
    for ladder in cooperative_ladders:
        if (path := folder / ladder.name / "wins.json").exists():
            wins = CooperativeResults(path)
            for agent, variant in wins.returns:
                rate, games = wins.rate(agent, parse_variant(variant)) or (None, 0)
                kept, seconds = rates.setdefault(variant, {}).get(agent, (rate, None))
                if games > most.get((variant, agent), 0):
                    kept, most[variant, agent] = rate, games
                if kept:  # of the times the least, as in `_rated`
                    times = [time for time in (seconds, wins.seconds(agent, variant)) if time is not None]
                    rates[variant][agent] = kept, min(times, default=None)
    found = [(ladder, results_of(ladder, folder)) for ladder in ladders]
    tables = [Table(known[0], known[1].agents, ladder.chunk == 1, rule_of(ladder)) for ladder, known in found if known]
    return best_agents(tables, rates)
