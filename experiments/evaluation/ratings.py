"""Ratings of agents from games of one among copies of another or of as many agents as seats, and how sure they are.

The model is Bradley and Terry's (1952), with more players Plackett and Luce's for the winner: the chance that a seat
wins is its agent's strength over the sum of those at the table.

Intervals come from the Bayesian bootstrap over deals (Rubin, 1981): each resample gives the deals of a matchup random
weights, as if matchups had nothing to do with each other. Every agent is given one imagined deal, won as often as by
equals and spread over its matchups (if two agents meet, Jeffreys' prior): one that never lost still leaves doubt, while
the plain bootstrap would give its interval no width. Where nothing played bounds a rating, because an agent never won
(or never lost), the interval is open.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

ELO = 400.0 / np.log(10.0)
# By the agents of a matchup, (deals, agents, games of a deal): the win shares of each, a sum of 1 in each game. Two
# agents at a larger table are one among copies of the other, whose shares are added up.
Matchups = Mapping[tuple[int, ...], np.ndarray]


@dataclass(frozen=True)
class Comparison:
    """The agents that are compared.

    Attributes:
        agents: their number.
        anchor: the agent rated 0.
        players: at a table.
    """

    agents: int
    anchor: int
    players: int


def one_among_others(shares: np.ndarray) -> np.ndarray:
    """Win shares (deals, 2, games) of one among copies of another, from those of the one, (deals, games)."""
    return np.stack([shares, 1.0 - shares], axis=1)


def seats(lineup: tuple[int, ...], players: int) -> np.ndarray:
    """Seats of each agent of a matchup at a table of so many players, int64."""
    return np.array([1, players - 1]) if len(lineup) == 2 else np.ones(len(lineup), np.int64)


def imagined_deals(matchups: Matchups) -> float:
    """The imagined deals of each matchup: one for every agent, spread over the matchups that it has on average."""
    return len({agent for lineup in matchups for agent in lineup}) / sum(map(len, matchups))


def resampled_shares(matchups: Matchups, players: int, rng: np.random.Generator, resamples: int) -> list[np.ndarray]:
    """Win shares of each matchup as seen and as they might have been.

    Args:
        matchups: what was played.
        players: at a table.
        rng: for the weights.
        resamples: how many.

    Returns:
        For each matchup float64 (1 + resamples, agents); row 0 is what was seen, with the imagined deals.
    """
    prior = imagined_deals(matchups)
    found = []
    for lineup, shares in matchups.items():
        deals, imagined = shares.mean(2), prior * seats(lineup, players) / players
        seen = (deals.sum(0) + imagined) / (len(deals) + prior)
        weights = rng.standard_exponential((resamples, len(deals)))
        drawn = np.stack([rng.standard_gamma(part, resamples) for part in imagined], axis=1)
        total = weights.sum(1) + drawn.sum(1)
        found.append(np.concatenate([seen[None], (weights @ deals + drawn) / total[:, None]]))
    return [np.clip(shares, 1e-9, 1.0 - 1e-9) for shares in found]


def fit(
    lineups: list[tuple[int, ...]], games: list[float], shares: list[np.ndarray], comparison: Comparison
) -> np.ndarray:
    """Log-strengths that make the shares most likely, by Newton's method; several sets of shares at once.

    Args:
        lineups: the agents of each matchup.
        games: of each.
        shares: float (sets, agents) of each: neither 0 nor 1, with a sum of 1.
        comparison: who is compared; the anchor's log-strength is 0.

    Returns:
        float (sets, agents).
    """
    agents, sets = comparison.agents, len(shares[0])
    free = np.setdiff1d(np.unique(np.concatenate(lineups)), comparison.anchor)
    strength = np.zeros((sets, agents))
    for _ in range(100):
        slope, bend = np.zeros((sets, agents)), np.zeros((sets, agents, agents))
        for lineup, weight, share in zip(lineups, games, shares, strict=True):
            at = np.array(lineup)
            odds = seats(lineup, comparison.players) * np.exp(strength[:, at] - strength[:, at].max(1, keepdims=True))
            chance = odds / odds.sum(1, keepdims=True)
            slope[:, at] += weight * (share - chance)
            bend[:, at, at] += weight * chance
            bend[:, at[:, None], at] -= weight * chance[:, :, None] * chance[:, None]
        step = np.linalg.solve(bend[:, free[:, None], free], slope[:, free, None])[:, :, 0]
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))  # far from the goal the curve misleads
        strength[:, free] += step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return strength


def won_against(matchups: Matchups, agents: int) -> np.ndarray:
    """Whether the row's agent won games, or parts, from the column's or from one that did; bool (agents, agents)."""
    won = np.eye(agents, dtype=bool)
    for lineup, shares in matchups.items():
        for agent, best in zip(lineup, shares.max(axis=(0, 2)), strict=True):
            won[agent, list(lineup)] |= best > 0.0
    for middle in range(agents):
        won |= won[:, [middle]] & won[[middle]]
    return won


def rate(matchups: Matchups, comparison: Comparison, rng: np.random.Generator, resamples: int) -> np.ndarray:
    """Elo-scaled ratings with 95 % intervals.

    Args:
        matchups: between different agents, at least one deal each; together they connect all agents that play.
        comparison: who is compared.
        rng: for the intervals.
        resamples: for the intervals.

    Returns:
        float (agents, 3): rating, low, high; low is -inf or high is inf where nothing bounds them. NaN for agents
        whose games do not connect them with the anchor.
    """
    agents, anchor, players = comparison.agents, comparison.anchor, comparison.players
    won = won_against(matchups, agents)
    compared = won | won.T
    for middle in range(agents):
        compared |= compared[:, [middle]] & compared[[middle]]
    known = {lineup: shares for lineup, shares in matchups.items() if compared[lineup[0], anchor]}
    table = np.full((agents, 3), np.nan)
    table[anchor] = 0.0
    if not known:
        return table
    games = [len(shares) * shares.shape[2] + players * imagined_deals(known) for shares in known.values()]
    shares = resampled_shares(known, players, rng, resamples)
    strengths = ELO * fit(list(known), games, shares, comparison)
    low, high = np.percentile(strengths[1:], [2.5, 97.5], axis=0)
    found = compared[anchor]
    table[found] = np.stack([strengths[0], low, high], axis=1)[found]
    table[found & ~won[:, anchor], 1] = -np.inf
    table[found & ~won[anchor], 2] = np.inf
    return np.round(table, 6) + 0.0  # rounding differs between processors: equal ones stay equal, and 0 has no sign
