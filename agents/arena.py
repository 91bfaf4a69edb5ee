"""Playing many games at once between agents, deterministically."""

from collections.abc import Sequence

import numpy as np

from agents.api import Agent
from samurai_env.core.checks import checked_array, checked_count, checked_integers
from samurai_env.core.game import Variant
from samurai_env.game_batch import GameBatch
from samurai_env.position import IllegalActionError

# Odd multipliers that spread (deal, step, seat of the agent) over 64 bits.
A, B, C = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


def decision_keys(seeds: np.ndarray, steps: np.ndarray, salt: int) -> np.ndarray:
    """The key of each decision: a function of the deal, the step and the agent, whatever is played beside it.

    Args:
        seeds: uint64 (games,): the deals.
        steps: integers (games,): how many decisions each game has had.
        salt: from 0 on; another one, other keys: the agent, for example.

    Returns:
        uint64 (games,), as `Agent.act` takes them.

    Raises:
        TypeError: the seeds are no array, or the salt is not an integer.
        ValueError: another dtype or shape, or a negative salt.
    """
    seeds = checked_array("seeds", seeds, np.uint64, (None,))
    steps = checked_integers("steps", steps, seeds.shape).astype(np.uint64)
    keys = seeds * A + steps * B + np.array([checked_count("salt", salt) + 1], np.uint64) * C
    keys ^= keys >> np.uint64(29)
    return keys * A


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
                raise IllegalActionError(
                    f"agent {number} chose illegal action {actions[wrong]} in deal {deals[games[wrong]]}"
                )
            batch.apply(chosen, actions)
            states[games] = chosen
        running = running[states["over"][running] == 0]
    return states
