"""Standings of a tournament: win shares, ratings, alpha-rank and the cost of a decision."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.evaluation.alpha_rank import alpha_rank
from experiments.evaluation.matches import Estimate
from experiments.evaluation.matchups import Matchup, Pair, Results
from experiments.evaluation.ratings import Comparison, Matchups, rate, resampled_shares
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
        shares: of one agent among copies of another.
        deals: played in that matchup.
        ratings: by agent: rating, low, high; none in a cooperative game.
        masses: by agent: alpha-rank; none in a cooperative game or as long as a pair has not met.
        seconds: by agent: processor time of a decision.
    """

    variant: Variant
    agents: tuple[str, ...]
    shares: dict[Pair, Estimate]
    deals: dict[Pair, int]
    ratings: dict[str, np.ndarray]
    masses: dict[str, float]
    seconds: dict[str, float]

    def head(self, columns: Sequence[str]) -> list[str]:
        """The names of what `row` tells."""
        return [
            "agent",
            *(["rating"] if self.ratings else []),
            *(["alpha-rank"] if self.masses else []),
            *columns,
            "deals",
            "a decision",
        ]

    def row(self, agent: str, columns: Sequence[str]) -> list[str]:
        """Make an agent's row, with its win share among copies of each agent in `columns`."""
        cells = [agent]
        if self.ratings:
            cells.append(rating_text(*self.ratings[agent]))
        if self.masses:
            cells.append(f"{self.masses[agent]:.0%}")
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


def masses(matchups: Matchups, agents: int, players: int) -> np.ndarray:
    """Alpha-rank, averaged over bootstrap resamples of the win shares: a lead that may be luck counts half.

    Returns:
        float64 (agents,): the share of time of each agent; the sum is 1.
    """
    rows = resampled_shares(matchups, players, np.random.default_rng(1), RESAMPLES)[1:]
    total = np.zeros(agents)
    for row in rows:
        shares = np.zeros((agents, agents))
        for (one, other), share in zip(matchups, row, strict=True):
            shares[one, other] = share
            if players == 2:
                shares[other, one] = 1.0 - share
        total += alpha_rank(shares, players)
    return total / len(rows)


def decision_seconds(results: Results, agents: Sequence[str]) -> dict[str, float]:
    """Mean processor time of a decision, of those agents that made any."""
    seconds = {}
    for agent in agents:
        time, count = 0.0, 0
        for pair, matchup in results.matchups.items():
            for who in (0, 1):
                if pair[who] == agent:
                    time, count = time + matchup.seconds[who], count + matchup.decisions[who]
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
    seconds = decision_seconds(results, agents)
    ratings: dict[str, np.ndarray] = {}
    mass: dict[str, float] = {}
    if not variant.game.cooperative:
        number = {agent: i for i, agent in enumerate(agents)}
        met = {(number[one], number[other]): shares for (one, other), shares in played.items() if one != other}
        pairs = len(met)
        if players == 2:
            met = {(i, j): shares for (i, j), shares in met.items() if i < j}
        anchor = number.get(ANCHOR, 0)
        table = rate(met, Comparison(len(agents), anchor, players), np.random.default_rng(0), RESAMPLES)
        ratings = dict(zip(agents, table, strict=True))
        if pairs == len(agents) * (len(agents) - 1) and met:
            mass = dict(zip(agents, masses(met, len(agents), players), strict=True))
        agents = sorted(agents, key=lambda agent: -np.nan_to_num(ratings[agent][0], nan=-np.inf))
    shares = {pair: rule.estimate(rows) for pair, rows in played.items()}
    counts = {pair: len(rows) for pair, rows in played.items()}
    return Standings(variant, tuple(agents), shares, counts, ratings, mass, seconds)
