"""Matches on duplicate deals, and how sure their results are."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from agents.arena import play_games
from agents.registry import make_agent
from samurai_env import parse_variant
from samurai_env.agent_api import Agent
from samurai_env.core.checks import checked_count, checked_integer
from samurai_env.core.game import Variant
from samurai_env.core.payoffs import win_shares
from samurai_env.core.texts import shown
from samurai_env.game_batch import GameBatch

Z95 = 1.959963984540054  # of the normal distribution
MATCH_SEED = 1_000_000_000  # deals of matches, away from those of training


class Timed:
    """An agent whose decisions are counted and timed, in processor time, which other programs do not lengthen.

    An agent that asks another process says in `waited` how long, and that counts as well.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent, self.seconds, self.decisions = agent, 0.0, 0

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        started = self._spent()
        actions = self.agent.act(states, keys)
        self.seconds += self._spent() - started
        self.decisions += len(states)
        return actions

    def _spent(self) -> float:
        return time.process_time() + getattr(self.agent, "waited", 0.0)


@cache
def warm_agent(spec: str, variant: str) -> Agent:
    """The agent of a spec, once for each process, after a first decision: what it compiles then is not timed."""
    made = parse_variant(variant)
    agent = make_agent(spec, made)
    agent.act(GameBatch(made).reset([0]), np.zeros(1, np.uint64))
    return agent


def rotations(num_players: int) -> np.ndarray:
    """Seatings of one agent (0) among others (1): row r has it in seat r."""
    return 1 - np.eye(checked_count("the number of players", num_players), dtype=np.int64)


def deal_seeds(first: int, deals: int) -> np.ndarray:
    """The seeds of some deals of matches, uint64 (deals,), from deal number `first` on.

    Raises:
        TypeError: not integers.
        ValueError: no deal, or a number that there is not.
    """
    first, deals = checked_integer("the first deal", first), checked_count("the number of deals", deals)
    if not 0 <= first < 2**62 or deals == 0:
        raise ValueError(f"matches have 1 deal or more, numbered from 0 on; not {deals} from {shown(first)} on")
    return np.arange(first, first + deals, dtype=np.uint64) + np.uint64(MATCH_SEED)


def one_against_others(variant: Variant, agents: Sequence[Agent], first: int, deals: int) -> np.ndarray:
    """Play `agents[0]` in each seat of every deal, `agents[1]` in the others.

    Args:
        variant: what is played.
        agents: two.
        first: number of the first deal.
        deals: how many.

    Returns:
        float64 (deals, seats): the win share of the one agent, 1 for a sole win, by deal and its seat. In a
        cooperative game the return itself.
    """
    n = variant.num_players
    seeds = deal_seeds(first, deals)
    returns = play_games(variant, agents, np.tile(rotations(n), (len(seeds), 1)), np.repeat(seeds, n))
    own = returns.reshape(len(seeds), n, n)[:, np.arange(n), np.arange(n)]
    return own if variant.game.cooperative else win_shares(own, n)


def free_for_all(variant: Variant, agents: Sequence[Agent], first: int, deals: int) -> np.ndarray:
    """Play as many agents as seats against each other, each once in every seat of every deal.

    Who sits after whom is drawn by deal.

    Args:
        variant: what is played; not cooperative.
        agents: as many as players.
        first: number of the first deal.
        deals: how many.

    Returns:
        float64 (deals, agents, games of a deal): the win share of each agent, 1 for a sole win.

    Raises:
        ValueError: more or fewer agents than seats.
    """
    n = variant.num_players
    if len(agents) != n:
        raise ValueError(f"a free-for-all of {variant.spec} has {n} agents, not {len(agents)}")
    seeds = deal_seeds(first, deals)
    around = np.array([np.random.default_rng(seed).permutation(n) for seed in seeds])
    at = (np.arange(n) + np.arange(n)[:, None]) % n  # row r: the place in the circle of seats 0, 1, ... in game r
    seating = around[:, at]
    returns = play_games(variant, agents, seating.reshape(-1, n), np.repeat(seeds, n)).reshape(seating.shape)
    own = np.take_along_axis(returns, np.argsort(seating, axis=2), axis=2).swapaxes(1, 2)
    return win_shares(own, n)


def win_share_against(variant: Variant, agents: Sequence[Agent], deals: int, first: int = 0) -> float:
    """Mean win share of `agents[0]` among copies of `agents[1]`, from deal number `first` on."""
    return float(one_against_others(variant, agents, first, deals).mean())


def cooperative_win_rate(variant: Variant, agent: Agent, deals: int, first: int = 0) -> float:
    """Mean return of a cooperative game with the agent in every seat, from deal number `first` on."""
    seeds = deal_seeds(first, deals)
    return float(play_games(variant, [agent], np.zeros((len(seeds), variant.num_players), np.int64), seeds).mean())


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:6.1%} [{self.low:.1%}, {self.high:.1%}]"


def wilson(mean: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share seen in `count` independent trials (Wilson, 1927)."""
    spread = Z95 * math.sqrt(mean * (1 - mean) / count + Z95**2 / (4 * count**2))
    centre = mean + Z95**2 / (2 * count)
    scale = 1 + Z95**2 / count
    return (centre - spread) / scale, (centre + spread) / scale


def estimate(shares: np.ndarray) -> Estimate:
    """Mean share with an interval over deals; see `estimate_ratio`.

    Args:
        shares: (deals, games of a deal), each in [0, 1].
    """
    return estimate_ratio(shares.sum(1), np.full(len(shares), shares.shape[1], float))


def estimate_ratio(won: np.ndarray, games: np.ndarray) -> Estimate:
    """Share of games won, with an interval over deals.

    The games of one deal are not independent, so the interval comes from the spread between deals; it is
    never narrower than Wilson's for as many independent games, which also serves results of 0 or 100 %.

    Args:
        won: (deals,), at most `games`.
        games: (deals,), more than 0 in all.
    """
    mean, deals = float(won.sum() / games.sum()), len(games)
    low, high = wilson(mean, float(games.sum()))
    if deals > 1:
        spread = float(np.square(won - mean * games).sum())
        half = Z95 * math.sqrt(spread * deals / (deals - 1)) / float(games.sum())
        low, high = min(low, mean - half), max(high, mean + half)
    return Estimate(mean, max(0.0, low), min(1.0, high))
