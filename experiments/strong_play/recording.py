"""Games with all their decisions, as arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from agents import arena
from samurai_env.agent_api import Agent
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch

PLAY_SEED = 3_000_000_000  # deals of this page, away from those of matches and of training


@dataclass(frozen=True)
class Games:
    """Finished games.

    Attributes:
        variant: what was played.
        states: states (decisions,) before each decision, game by game in order.
        actions: int64 (decisions,).
        starts: int64 (games + 1,): where each game begins in these, and the end.
        ends: states (games,) after the last decision.
        returns: float64 (games, seats).
        counted: bool (games, seats): whose play is measured.
    """

    variant: Variant
    states: np.ndarray
    actions: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    returns: np.ndarray
    counted: np.ndarray

    @property
    def game(self) -> np.ndarray:
        """The number of each decision's game, int64 (decisions,)."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.starts))

    @property
    def after(self) -> np.ndarray:
        """States (decisions,) after each decision."""
        after = np.empty_like(self.states)
        after[:-1] = self.states[1:]
        after[self.starts[1:] - 1] = self.ends
        return after

    @property
    def own(self) -> np.ndarray:
        """Whether the seat of each decision is counted, bool (decisions,)."""
        return self.counted[self.game, self.states["seat"]]


class SampledOpening:
    """A network whose first decisions are drawn with its own probabilities; later ones are its most probable."""

    def __init__(self, network: Any, decisions: int) -> None:
        self.network, self.decisions = network, decisions

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """See `samurai_env.agent_api.Agent.act`."""
        opening = states["steps"] < self.decisions
        actions = np.empty(len(states), np.int64)
        if opening.any():
            log_probs, _ = self.network.evaluate(states[opening])
            sums = np.exp(log_probs.astype(np.float64)).cumsum(1)
            drawn = (keys[opening] >> np.uint64(11)).astype(np.float64) / 2**53 * sums[:, -1]
            actions[opening] = (sums <= drawn[:, None]).sum(1)
        if not opening.all():
            actions[~opening] = self.network.act(states[~opening], keys[~opening])
        return actions


def record_games(
    variant: Variant, agent: Agent, against: Agent | None, first: int, games: int, sampled: int = 0
) -> Games:
    """Play games and keep every decision.

    Args:
        variant: what is played.
        agent: who is measured.
        against: who plays the other seats; None: `agent` plays all, and all are measured. Otherwise it has one seat,
            the next one with each deal.
        first: number of the first deal.
        games: how many.
        sampled: decisions at the beginning that networks draw with their probabilities.
    """
    players = [agent] if against is None else [agent, against]
    if sampled:
        players = [SampledOpening(each, sampled) if hasattr(each, "evaluate") else each for each in players]
    deals = np.arange(first, first + games)
    seating = np.zeros((games, variant.num_players), np.int64)
    if against is not None:
        seating[:] = 1
        seating[np.arange(games), deals % variant.num_players] = 0
    found = arena.record_games(variant, players, seating, deals + PLAY_SEED)
    starts = np.searchsorted(found.game, np.arange(games + 1))
    returns = GameBatch(variant).returns(found.ends)
    return Games(variant, found.states, found.actions, starts, found.ends, returns, seating == 0)
