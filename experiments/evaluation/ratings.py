"""Ratings of agents from the matchups of one among copies of another, and how sure they are.

The model is Bradley and Terry's (1952), with more players Plackett and Luce's for the winner: the chance that a seat
wins is its agent's strength over the sum of those at the table.

Intervals come from the Bayesian bootstrap over deals (Rubin, 1981): each resample gives the deals of a matchup random
weights. Every agent is given one imagined deal, won as often as by equals and spread over its matchups (if two agents
meet, Jeffreys' prior): one that never lost still leaves doubt, while the plain bootstrap would give its interval no
width. Where nothing played bounds a rating, because an agent never won (or never lost), the interval is open.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

ELO = 400.0 / np.log(10.0)
Matchups = Mapping[tuple[int, int], np.ndarray]  # (one, others) -> win shares of the one, (deals, games of a deal)


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


def imagined_deals(matchups: Matchups) -> float:
    """The imagined deals of each matchup: one for every agent, spread over the matchups that it has on average."""
    return len({agent for pair in matchups for agent in pair}) / (2.0 * len(matchups))


def resampled_shares(matchups: Matchups, players: int, rng: np.random.Generator, resamples: int) -> np.ndarray:
    """Win shares of each matchup as seen and as they might have been.

    Args:
        matchups: what was played.
        players: at a table.
        rng: for the weights.
        resamples: how many.

    Returns:
        float64 (1 + resamples, matchups); row 0 is what was seen, with the imagined deals.
    """
    prior = imagined_deals(matchups)
    par, columns = 1.0 / players, []
    for shares in matchups.values():
        deals = shares.mean(1)
        seen = (deals.sum() + prior * par) / (len(deals) + prior)
        weights = rng.standard_exponential((resamples, len(deals)))
        won, lost = rng.standard_gamma(prior * par, resamples), rng.standard_gamma(prior * (1.0 - par), resamples)
        drawn = (weights @ deals + won) / (weights.sum(1) + won + lost)
        columns.append(np.append(seen, drawn))
    return np.clip(np.stack(columns, axis=1), 1e-9, 1.0 - 1e-9)


def fit(pairs: np.ndarray, games: np.ndarray, shares: np.ndarray, comparison: Comparison) -> np.ndarray:
    """Log-strengths that make the shares most likely, by Newton's method; several sets of shares at once.

    One agent among n - 1 copies of another wins with the logistic function of the difference of their log-strengths
    less log(n - 1).

    Args:
        pairs: int (matchups, 2): the one and the others.
        games: float (matchups,): games of each.
        shares: float (sets, matchups): win shares of the one, neither 0 nor 1.
        comparison: who is compared; the anchor's log-strength is 0.

    Returns:
        float (sets, agents).
    """
    agents, anchor, players = comparison.agents, comparison.anchor, comparison.players
    design = np.zeros((len(pairs), agents))
    design[np.arange(len(pairs)), pairs[:, 0]] = 1.0
    design[np.arange(len(pairs)), pairs[:, 1]] = -1.0
    free = np.setdiff1d(np.unique(pairs), anchor)
    design = design[:, free]
    strength = np.zeros((len(shares), len(free)))
    for _ in range(100):
        chance = 1.0 / (1.0 + (players - 1) * np.exp(-strength @ design.T))
        slope = (games * (shares - chance)) @ design
        bend = np.einsum("sm,mi,mj->sij", games * chance * (1.0 - chance), design, design)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True))  # far from the goal the curve misleads
        strength += step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    out = np.zeros((len(shares), agents))
    out[:, free] = strength
    return out


def won_against(matchups: Matchups, agents: int) -> np.ndarray:
    """Whether the row's agent won games, or parts, from the column's or from one that did; bool (agents, agents)."""
    won = np.eye(agents, dtype=bool)
    for (one, other), shares in matchups.items():
        won[one, other] |= shares.max() > 0.0
        won[other, one] |= shares.min() < 1.0
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
    known = {pair: shares for pair, shares in matchups.items() if compared[pair[0], anchor]}
    table = np.full((agents, 3), np.nan)
    table[anchor] = 0.0
    if not known:
        return table
    games = np.array([shares.size for shares in known.values()]) + players * imagined_deals(known)
    shares = resampled_shares(known, players, rng, resamples)
    strengths = ELO * fit(np.array(list(known)), games, shares, comparison)
    low, high = np.percentile(strengths[1:], [2.5, 97.5], axis=0)
    found = compared[anchor]
    table[found] = np.stack([strengths[0], low, high], axis=1)[found]
    table[found & ~won[:, anchor], 1] = -np.inf
    table[found & ~won[anchor], 2] = np.inf
    return np.round(table, 6) + 0.0  # rounding differs between processors: equal ones stay equal, and 0 has no sign
