"""Ratings from who won which games: Plackett-Luce for the winner, which with two players is Bradley-Terry."""

import numpy as np

ELO = 400.0 / np.log(10.0)


def fit_strengths(
    lineups: np.ndarray, wins: np.ndarray, games: np.ndarray, agents: int, rounds: int = 500
) -> np.ndarray:
    """Log-strengths that make the wins most likely, by Hunter's MM algorithm (2004).

    The chance that a seat wins is its agent's strength over the sum of those at the table. Every agent gets
    half a win and half a loss against an average one, so that ratings stay finite.

    Args:
        lineups: int (kinds, seats): the agents at a table.
        wins: float (kinds, agents): wins (shares of shared ones) of each agent in games of this kind.
        games: float (kinds,): games of this kind.
        agents: number of agents.
        rounds: iterations.

    Returns:
        float (agents,), mean 0.
    """
    strength = np.ones(agents)
    for _ in range(rounds):
        at_table = strength[lineups].sum(1)
        exposure = np.zeros(agents)
        for seat in range(lineups.shape[1]):
            np.add.at(exposure, lineups[:, seat], games / at_table)
        mean = np.exp(np.log(strength).mean())
        strength = (wins.sum(0) + 0.5) / (exposure + 1.0 / (strength + mean))
        strength /= np.exp(np.log(strength).mean())
    return np.log(strength)


def rate(
    lineups: np.ndarray, deal_wins: list[np.ndarray], agents: int, rng: np.random.Generator, resamples: int = 200
) -> np.ndarray:
    """Elo-scaled ratings (mean 0) with 95 % bootstrap intervals over deals.

    Args:
        lineups: int (kinds, seats).
        deal_wins: for each kind, float (deals, agents): wins of each agent, summed over the deal's games.
        agents: number of agents.
        rng: for the bootstrap.
        resamples: bootstrap samples.

    Returns:
        float (agents, 3): rating, low, high.
    """
    games = np.array([wins.sum() for wins in deal_wins])
    point = fit_strengths(lineups, np.array([w.sum(0) for w in deal_wins]), games, agents)
    drawn = []
    for _ in range(resamples):
        sums = np.array([w[rng.integers(len(w), size=len(w))].sum(0) for w in deal_wins])
        drawn.append(fit_strengths(lineups, sums, games, agents))
    low, high = np.percentile(np.array(drawn), [2.5, 97.5], axis=0)
    return ELO * np.stack([point, low, high], axis=1)
