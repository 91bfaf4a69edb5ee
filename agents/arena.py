"""Playing many games at once between agents, deterministically."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from samurai_env.agent_api import Agent, decision_keys
from samurai_env.core.checks import checked_integers
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch
from samurai_env.position import IllegalActionError


@dataclass(frozen=True)
class Decisions:
    """Games that were played, with all their decisions, game by game and in order.

    Attributes:
        states: states (decisions,) before each decision.
        actions: int64 (decisions,).
        game: int64 (decisions,): the number of the game.
        ends: states (games,): the games as they ended.
    """

    states: np.ndarray
    actions: np.ndarray
    game: np.ndarray
    ends: np.ndarray


def play_games(variant: Variant, agents: Sequence[Agent], seating: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Play games to the end; their returns, float64 (games, seats). Arguments and errors as for `play_to_end`."""
    return GameBatch(variant).returns(play_to_end(variant, agents, seating, seeds))


def play_to_end(variant: Variant, agents: Sequence[Agent], seating: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Play games to the end.

    Args:
        variant: what is played.
        agents: the players.
        seating: integers (games, seats): which agent sits where.
        seeds: integers (games,): the deals, 0 to 2**63 - 1.

    Returns:
        states (games,): the games as they ended.

    Raises:
        IllegalActionError: an agent chose an illegal action.
        ValueError: seating or seeds of another shape or kind, an agent that does not exist, or one that returned
            something other than one integer a game.
    """
    return _play(variant, agents, seating, seeds, lambda games, states, actions: None)


def record_games(variant: Variant, agents: Sequence[Agent], seating: np.ndarray, seeds: np.ndarray) -> Decisions:
    """Play one game or more to the end and keep every decision. Arguments and errors as for `play_to_end`."""
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def keep(games: np.ndarray, states: np.ndarray, actions: np.ndarray) -> None:
        kept.append((games, as_bytes(states).copy(), actions.copy()))

    ends = _play(variant, agents, seating, seeds, keep)
    game, states, actions = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    order = np.argsort(game, kind="stable")  # the decisions of a game are kept in order
    return Decisions(states[order].view(variant.dtype), actions[order], game[order], ends)


def as_bytes(states: np.ndarray) -> np.ndarray:
    """States as raw bytes, of the same shape: NumPy copies structured arrays field by field, ten times as slowly."""
    return np.ascontiguousarray(states).view(np.void)


def _play(
    variant: Variant,
    agents: Sequence[Agent],
    seating: np.ndarray,
    seeds: np.ndarray,
    keep: Callable[[np.ndarray, np.ndarray, np.ndarray], None],
) -> np.ndarray:
    """See `play_to_end`; `keep` gets the games of each call of an agent, their states, and what it chose there."""
    batch = GameBatch(variant)
    states = batch.reset(seeds)
    deals = states["seed"].copy()
    seating = checked_integers("the seating's agents", seating, (len(states), variant.num_players))
    if ((seating < 0) | (seating >= len(agents))).any():
        raise ValueError(f"the seating names agents from {seating.min()} to {seating.max()}; there are {len(agents)}")
    running = np.arange(len(states))
    while len(running):
        to_move = seating[running, states["seat"][running]]
        for number, agent in enumerate(agents):
            games = running[to_move == number]
            if not len(games):
                continue
            chosen = states[games]
            keys = decision_keys(deals[games], chosen["steps"], number)
            actions = checked_integers(f"actions of agent {number}", agent.act(chosen, keys), games.shape)
            wrong = batch.first_illegal(chosen, actions)
            if wrong >= 0:
                why = batch.why_illegal(chosen[wrong], actions[wrong])
                raise IllegalActionError(f"agent {number} in deal {deals[games[wrong]]}: {why}")
            keep(games, chosen, actions)
            batch.apply(chosen, actions)
            states[games] = chosen
        running = running[states["over"][running] == 0]
    return states
