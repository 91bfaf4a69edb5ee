"""When to end a matchup before all its deals are played, without biasing its interval."""

import math
from dataclasses import dataclass

import numpy as np

from experiments.evaluation.matches import Estimate, estimate, estimate_ratio

FIRST_LOOK, LOOK = 50, 10  # deals before an interval's width is looked at for the first time, and between two looks
ALPHA = 0.05
LIMIT = math.log(1.0 / ALPHA)  # of the logarithm of a wealth that is too great to be luck
GRID = np.linspace(0.0, 1.0, 2001)  # means that a confidence sequence may hold
LARGEST_BET = 0.5  # of what a deal could lose


@dataclass(frozen=True)
class StopRule:
    """When a matchup ends before all its deals are played; by default it does not.

    Attributes:
        width: once its interval is no wider, such as 0.06 for 3 points up and down.
        winner: once it is known who wins more than par.
        above: once it is known whether the first agent's share is above or below this one.
        leader: of a free-for-all, once it is known that one agent wins more than each other one.
    """

    width: float | None = None
    winner: bool = False
    above: float | None = None
    leader: bool = False

    @classmethod
    def of_table(cls, winner: bool, above: float | None, free_for_all: bool, width: float | None = None) -> "StopRule":
        """The rule of a table with these settings: who wins is another question in a free-for-all."""
        return cls(width, winner and not free_for_all, above, winner and free_for_all)

    def __post_init__(self) -> None:
        if self.width is not None and not 0.0 < self.width < 1.0:
            raise ValueError(f"--width must be between 0 and 1, not {self.width:g}")
        if self.above is not None and not 0.0 < self.above < 1.0:
            raise ValueError(f"--above must be between 0 and 1, not {self.above:g}")
        if self.winner + self.leader + (self.width is not None) + (self.above is not None) > 1:
            raise ValueError("--width, --winner and --above are ways to end a matchup: choose one")

    @property
    def sequential(self) -> bool:
        """Whether it looks after every deal at what is known, which ratings do not allow for."""
        return self.winner or self.leader or self.above is not None

    def after(self, shares: np.ndarray) -> int | None:
        """The number of deals at which the matchup ended; None as long as it has not.

        Args:
            shares: (deals, seats), in order of deals, in [0, 1]; of a free-for-all (deals, agents * games), those of
                the first agent first.
        """
        if self.leader:
            return leader_after(shares.reshape(len(shares), math.isqrt(shares.shape[1]), -1)) if len(shares) else None
        if self.sequential and len(shares):
            return known_after(shares, self.above or 1.0 / shares.shape[1])
        return None if self.width is None else narrow_after(shares, self.width)

    def estimate(self, shares: np.ndarray) -> Estimate:
        """The mean share with an interval that this rule leaves honest."""
        return confidence_sequence(shares) if self.sequential else estimate(shares)

    def estimate_ratio(self, won: np.ndarray, games: np.ndarray, most: int) -> Estimate:
        """The share of games won, as `matches.estimate_ratio`; a deal has `most` games at most."""
        return ratio_sequence(won, games, most) if self.sequential else estimate_ratio(won, games)

    def __str__(self) -> str:
        """Say it below a table."""
        if self.above is not None:
            return f"ended once known to be above or below {self.above:.0%}"
        if self.winner or self.leader:
            return "ended once a winner was known"
        return "" if self.width is None else f"ended at intervals of {self.width:.1%}"


ALL = StopRule()  # all deals count


def narrow_after(shares: np.ndarray, width: float) -> int | None:
    """The number of deals at the first look that finds the interval of `estimate` at most `width` wide.

    Stopping at a width keeps intervals honest (Chow and Robbins, 1965): how wide one is says little of where its
    middle lies. Stopping as soon as an interval leaves out par would not: who looks often enough sees every pair of
    equals differ sometime. `known_after` has an interval that one may look at.
    """
    for deals in range(FIRST_LOOK, len(shares) + 1, LOOK):
        found = estimate(shares[:deals])
        if found.high - found.low <= width:
            return deals
    return None


def log_wealths(results: np.ndarray, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The logarithms of the wealths of two gamblers, one of whom bets that each candidate mean is too small.

    Both begin with 1; the other bets that it is too great (Waudby-Smith and Ramdas, 2024, with predictable plug-in
    bets). If the mean is the true one, a wealth ever reaches 1 / x with a chance of x at most, however often one looks.

    Args:
        results: (deals, means), or (deals, 1) for the same against all means, in [0, 1].
        means: (means,) in [0, 1].

    Returns:
        float64 (deals, means), twice.
    """
    number = np.arange(1, len(results) + 1)[:, None]
    centre = (0.5 + np.cumsum(results, 0)) / (number + 1)
    spread = (0.25 + np.cumsum((results - centre) ** 2, 0)) / (number + 1)
    known = np.concatenate([np.full_like(spread[:1], 0.25), spread[:-1]])  # a bet knows the deals before alone
    bets = np.sqrt(2.0 * math.log(2.0 / ALPHA) / (known * number * np.log1p(number)))
    with np.errstate(divide="ignore"):
        up, down = np.minimum(bets, LARGEST_BET / means), np.minimum(bets, LARGEST_BET / (1.0 - means))
    gain = results - means
    return np.log1p(up * gain).cumsum(0), np.log1p(-down * gain).cumsum(0)


def log_wealth(results: np.ndarray, means: np.ndarray) -> np.ndarray:
    """As `log_wealths`, of a gambler who bets half on either and counts the greater half ("hedged capital")."""
    return np.log(0.5) + np.maximum(*log_wealths(results, means))


def confidence_sequence(shares: np.ndarray) -> Estimate:
    """Mean share with a 95 % interval that holds after all numbers of deals at once, so that one may stop at will.

    It is widened to the grid, and to the mean in the rare case that earlier deals have excluded it.

    Args:
        shares: (deals, games of a deal), in order of deals, each in [0, 1]; one deal at least.
    """
    by_deal = shares.mean(1, keepdims=True)
    return _on_grid(by_deal, float(by_deal.mean()))


def ratio_sequence(won: np.ndarray, games: np.ndarray, most: int) -> Estimate:
    """As `confidence_sequence`, for the sum of `won` by that of `games`.

    A ratio r is held as long as won - r games may have the mean 0.

    Args:
        won: (deals,), in order of deals, at most `games`.
        games: (deals,), at most `most`, more than 0 in all.
        most: known before any deal is played.
    """
    own, all_games = won[:, None] / most, games[:, None] / most
    return _on_grid(own - GRID * all_games + GRID, float(won.sum() / games.sum()))


def _on_grid(results: np.ndarray, mean: float) -> Estimate:
    """The means that results, (deals, means of the grid) or (deals, 1), have never excluded."""
    held = np.flatnonzero((log_wealth(results, GRID) < LIMIT).all(0))
    first, last = (held[0], held[-1]) if len(held) else (0, len(GRID) - 1)
    low, high = GRID[max(first - 1, 0)], GRID[min(last + 1, len(GRID) - 1)]
    return Estimate(mean, min(float(low), mean), max(float(high), mean))


def known_after(shares: np.ndarray, share: float) -> int | None:
    """The number of deals after which `confidence_sequence` leaves out this share for the first time."""
    known = log_wealth(shares.mean(1, keepdims=True), np.array([share]))[:, 0] >= LIMIT
    return int(known.argmax()) + 1 if known.any() else None


def leader_after(shares: np.ndarray) -> int | None:
    """The number of deals after which one agent is known to win more than each other one.

    Whichever agent is the best, each of the others has only a part of ALPHA to be taken for it.

    Args:
        shares: (deals, agents, games of a deal), in order of deals, each in [0, 1].
    """
    by_agent = shares.mean(2)
    others = by_agent.shape[1] - 1
    ends = []
    for one in range(others + 1):
        ahead = (by_agent[:, [one]] - np.delete(by_agent, one, 1) + 1.0) / 2.0
        known = (log_wealths(ahead, np.full(others, 0.5))[0] >= math.log(others / ALPHA)).all(1)
        ends += [int(known.argmax()) + 1] if known.any() else []
    return min(ends, default=None)
