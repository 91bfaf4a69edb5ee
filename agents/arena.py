"""Playing many games at once between agents, deterministically."""

from collections.abc import Sequence

import numpy as np

from agents.api import Agent
from samurai_env.core.batch import batch_kernels
from samurai_env.core.checks import checked_count, checked_integers
from samurai_env.core.game import Variant
from samurai_env.core.texts import shown

# Multipliers that spread (deal, step, seat of the agent) over 64 bits; any odd numbers do.
A, B, C = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


def decision_keys(seeds: np.ndarray, steps: np.ndarray, salt: int) -> np.ndarray:
    """The key of each decision: a function of the deal, the step and the agent, whatever is played beside it.

    Args:
        seeds: uint64 (games,), of the deals.
        steps: integers (games,).
        salt: a number for the agent, from 0 on.

    Returns:
        uint64 (games,).

    Raises:
        TypeError: seeds or steps that are not arrays of integers, or a salt that is not an integer.
        ValueError: an impossible salt, or seeds and steps of different shapes.
    """
    for name, array in (("seeds", seeds), ("steps", steps)):
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
            raise TypeError(f"{name} is an array of integers, not {shown(array)}")
    salt = checked_count("salt", salt)
    keys = seeds.astype(np.uint64) * A + steps.astype(np.uint64) * B + np.array([salt + 1], np.uint64) * C
    keys ^= keys >> np.uint64(29)
    return keys * A


def play_games(variant: Variant, agents: Sequence[Agent], seating: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Play games to the end.

    Args:
        variant: what is played.
        agents: the players.
        seating: integers (games, seats): which agent sits where.
        seeds: integers (games,): the deals, 0 to 2**63 - 1.

    Returns:
        float64 (games, seats): the returns.

    Raises:
        IllegalActionError: an agent chose an illegal action.
        ValueError: seating or seeds of another shape or kind, an agent that there is not, or one that gave something
            other than one integer a game.
    """
    from samurai_env.position import IllegalActionError

    seeds = checked_integers("seeds", seeds, (None,))
    if (seeds < 0).any():
        raise ValueError(f"seeds are 0 or more, not {seeds.min()}")
    deals = seeds.astype(np.uint64)
    loops, count = batch_kernels(variant.game), len(deals)
    seating = checked_integers("the seating's agents", seating, (count, variant.num_players))
    if ((seating < 0) | (seating >= len(agents))).any():
        raise ValueError(f"the seating names agents from {seating.min()} to {seating.max()}; there are {len(agents)}")
    states = variant.new(count)
    loops.begin(states, deals)
    words, no_skip = np.zeros(variant.num_words, np.uint64), np.zeros(count, np.bool_)
    running = np.arange(count)
    while len(running):
        to_move = seating[running, states["seat"][running]]
        for number, agent in enumerate(agents):
            games = running[to_move == number]
            if not len(games):
                continue
            chosen = states[games]
            keys = decision_keys(deals[games], chosen["steps"], number)
            actions = checked_integers(f"actions of agent {number}", agent.act(chosen, keys), games.shape)
            wrong = loops.first_illegal(chosen, actions, no_skip, words)
            if wrong >= 0:
                raise IllegalActionError(
                    f"agent {number} chose illegal action {actions[wrong]} in deal {deals[games[wrong]]}"
                )
            loops.step_all(chosen, actions)
            states[games] = chosen
        running = running[states["over"][running] == 0]
    out = np.zeros((count, variant.num_players))
    for i in range(count):
        loops.write_returns(states, i, out[i])
    return out
