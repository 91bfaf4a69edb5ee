"""Standings of a tournament: win shares, ratings, alpha-rank and the cost of a decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from experiments.evaluation.alpha_rank import alpha_rank
from experiments.evaluation.matches import Estimate
from experiments.evaluation.matchups import Lineup, Matchup, Pair, Results
from experiments.evaluation.ratings import Comparison, Matchups, one_among_others, rate, resampled_shares
from experiments.evaluation.stopping import ALL, StopRule
from samurai_env import parse_variant
from samurai_env.core.game import Variant

ANCHOR = "greedy"  # is rated 0 where it takes part, so that tables of one game can be compared
RESAMPLES = 400


@dataclass(frozen=True)
class Standings:
    """A tournament's outcome.

    Attributes:
        variant: what was played.
        agents: best first.
        shares: of one agent among copies of another; of free-for-alls the share of the one agent of what both won in
            the games of both.
        deals: on which these games were played.
        ratings: by agent: rating, low, high; none in a cooperative game or if pairs met in one direction only.
        masses: by agent: alpha-rank; none in a cooperative game or as long as a pair has not met.
        seconds: by agent: processor time of a decision.
        wins: by agent: win share in free-for-alls.
    """

    variant: Variant
    agents: tuple[str, ...]
    shares: dict[Pair, Estimate]
    deals: dict[Pair, int]
    ratings: dict[str, np.ndarray]
    masses: dict[str, float]
    seconds: dict[str, float]
    wins: dict[str, Estimate] = field(default_factory=dict)

    @property
    def one_way(self) -> bool:
        """Whether agents met at tables of three or more, and every pair only one among copies of the other."""
        met = {pair for pair in self.shares if pair[0] != pair[1]}
        return self.variant.num_players > 2 and bool(met) and not any(pair[::-1] in met for pair in met)

    def beaten(self) -> dict[str, list[str]]:
        """By agent: those that it is sure to beat, by the interval, and that do not beat it the other way round."""
        par = 0.5 if self.wins else 1 / self.variant.num_players
        sure = {pair for pair, share in self.shares.items() if share.low > par}
        return {
            agent: [other for other in self.agents if (agent, other) in sure and (other, agent) not in sure]
            for agent in self.agents
        }

    def head(self, columns: Sequence[str]) -> list[str]:
        """The names of what `row` tells."""
        return [
            "agent",
            *(["rating"] if self.ratings else []),
            *(["alpha-rank"] if self.masses else []),
            *(["win share"] if self.wins else []),
            *columns,
            "deals",
            "CPU time",
        ]

    def row(self, agent: str, columns: Sequence[str]) -> list[str]:
        """Make an agent's row, with its win share among copies of each agent in `columns`."""
        cells = [agent]
        if self.ratings:
            cells.append(rating_text(*self.ratings[agent]))
        if self.masses:
            cells.append(f"{self.masses[agent]:.0%}")
        if self.wins:
            cells.append(str(self.wins[agent]).strip() if agent in self.wins else "")
        for other in columns:
            share = self.shares.get((agent, other))
            cells.append("" if share is None else str(share).strip())
        deals = [count for pair, count in self.deals.items() if agent in pair]
        cells.append(span(deals))
        cells.append(duration(self.seconds[agent]) if agent in self.seconds else "")
        return cells


def rating_text(rating: float, low: float, high: float) -> str:
    """A rating with its interval; an open end is infinite."""
    if np.isnan(rating):
        return ""
    if low == high:
        return f"{rating:.0f}"
    return f"{rating:+.0f} [{low:+.0f}, {high:+.0f}]".replace("inf", "∞")


def span(counts: Sequence[int]) -> str:
    """Smallest and largest of some counts."""
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def duration(seconds: float) -> str:
    """A time, to two digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.995 * size or unit == "µs":
            number = seconds / size
            return f"{number:.0f} {unit}" if number >= 9.95 else f"{number:.1f} {unit}"
    raise AssertionError


def pay_off(results: Results, agents: Sequence[str], deals: int | None, rule: StopRule) -> dict[Pair, np.ndarray]:
    """Win shares, (deals, seats), of the first agent's one seat among copies of the second.

    With two players a matchup is played once and read from both sides.
    """
    together = parse_variant(results.variant).game.cooperative
    found = {}
    for one in agents:
        for other in agents:
            shares = results.matchups.get((one, other), Matchup()).shares(deals, rule)
            if len(shares):
                found[one, other] = shares
                if shares.shape[1] == 2 and one != other:
                    found[other, one] = shares if together else 1.0 - shares
    return found


def free_for_alls(
    results: Results, agents: Sequence[str], deals: int | None, rule: StopRule = ALL
) -> dict[Lineup, np.ndarray]:
    """Win shares, (deals, agents, games of a deal), of as many different agents as seats."""
    players = parse_variant(results.variant).num_players
    return {
        lineup: shares.reshape(len(shares), players, players)
        for lineup, matchup in results.matchups.items()
        if len(lineup) > 2 and set(lineup) <= set(agents) and len(shares := matchup.shares(deals, rule))
    }


def wins_of(together: Mapping[Lineup, np.ndarray], one: str, other: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """What an agent won in free-for-alls, by deal, over all line-ups.

    Returns:
        Its wins, float64 (deals,), and of how many: of all its games, or of those that it or the other has won where
        both took part.
    """
    met = {lineup: shares for lineup, shares in together.items() if one in lineup and (other or one) in lineup}
    won = np.zeros(max(map(len, met.values()), default=0))
    games = np.zeros_like(won)
    for lineup, shares in met.items():
        own = shares[:, lineup.index(one)].sum(1)
        won[: len(own)] += own
        games[: len(own)] += shares.shape[2] if other is None else own + shares[:, lineup.index(other)].sum(1)
    return won, games


def masses(matchups: Matchups, agents: int, players: int) -> np.ndarray:
    """Alpha-rank, averaged over bootstrap resamples of the win shares: a lead that may be luck counts half.

    Returns:
        float64 (agents,): the share of time of each agent; the sum is 1.
    """
    drawn = [rows[1:, 0] for rows in resampled_shares(matchups, players, np.random.default_rng(1), RESAMPLES)]
    total = np.zeros(agents)
    for row in zip(*drawn, strict=True):
        shares = np.zeros((agents, agents))
        for (one, other), share in zip(matchups, row, strict=True):
            shares[one, other] = share
            if players == 2:
                shares[other, one] = 1.0 - share
        total += alpha_rank(shares, players)
    return total / RESAMPLES


def decision_seconds(results: Results, agents: Sequence[str]) -> dict[str, float]:
    """Mean processor time of a decision, of those agents that made any."""
    seconds = {}
    for agent in agents:
        time, count = 0.0, 0
        for lineup, matchup in results.matchups.items():
            for name, spent, made in zip(lineup, matchup.seconds, matchup.decisions, strict=bool(matchup.seconds)):
                if name == agent:
                    time, count = time + spent, count + made
        if count:
            seconds[agent] = time / count
    return seconds


def standings(results: Results, agents: Sequence[str], deals: int | None = None, rule: StopRule = ALL) -> Standings:
    """The outcome of what has been played between these agents.

    Args:
        results: what was played.
        agents: who counts.
        deals: only this many deals of each matchup; None for all.
        rule: how matchups end: only as many deals count as it wants.
    """
    variant = parse_variant(results.variant)
    players = variant.num_players
    played = pay_off(results, agents, deals, rule)
    shares = {pair: rule.estimate(rows) for pair, rows in played.items()}
    counts = {pair: len(rows) for pair, rows in played.items()}
    seconds = decision_seconds(results, agents)
    ratings: dict[str, np.ndarray] = {}
    mass: dict[str, float] = {}
    wins: dict[str, Estimate] = {}
    if not variant.game.cooperative:
        number = {agent: i for i, agent in enumerate(agents)}
        met = {pair: one_among_others(rows) for pair, rows in played.items() if pair[0] != pair[1]}
        pairs = len(met)
        if players == 2:
            met = {pair: found for pair, found in met.items() if number[pair[0]] < number[pair[1]]}
        together = free_for_alls(results, agents, deals, rule)
        known: Matchups = {
            tuple(number[agent] for agent in lineup): found for lineup, found in [*met.items(), *together.items()]
        }
        comparison = Comparison(len(agents), number.get(ANCHOR, 0), players)
        table = rate(known, comparison, np.random.default_rng(0), RESAMPLES)
        ratings = dict(zip(agents, table, strict=True))
        if pairs == len(agents) * (len(agents) - 1) and met:
            known = {pair: rows for pair, rows in known.items() if len(pair) == 2}
            mass = dict(zip(agents, masses(known, len(agents), players), strict=True))
        for one in agents:
            won, games = wins_of(together, one)
            if len(games):
                wins[one] = rule.estimate_ratio(won, games, players * len(together))
            for other in agents:
                won, games = wins_of(together, one, other)
                if one != other and games.any():
                    shares[one, other] = rule.estimate_ratio(won, games, players * len(together))
                    counts[one, other] = len(games)
        agents = sorted(agents, key=lambda agent: -np.nan_to_num(ratings[agent][0], nan=-np.inf))
    found = Standings(variant, tuple(agents), shares, counts, ratings, mass, seconds, wins)
    # What the only newcomer won says too little of the others' strength.
    return replace(found, ratings={}) if found.one_way else found
