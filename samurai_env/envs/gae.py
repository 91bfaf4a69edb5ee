"""Generalised advantage estimation over a rollout in which several seats decide in turn."""

from typing import Any

import numpy as np

from samurai_env.core.checks import checked_integers
from samurai_env.core.texts import one_line, shown


def _real(name: str, values: Any) -> np.ndarray:
    """Real numbers of any kind as float64.

    Raises:
        ValueError: something else.
    """
    try:
        array = np.asarray(values)
    except Exception as error:  # such as a ragged list
        raise ValueError(f"{name} are no array: {one_line(error, 150)}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, not {shown(values)}")
    return array.astype(np.float64)


def _share(name: str, value: float) -> float:
    """A number from 0 to 1.

    Raises:
        ValueError: something else.
    """
    number = _real(name, value)
    if number.ndim or not 0 <= number <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, not {shown(value)}")
    return float(number)


def gae_by_seat(
    rewards: np.ndarray,
    dones: np.ndarray,
    seats: np.ndarray,
    values: np.ndarray,
    next_values: np.ndarray,
    *,
    gamma: float = 1.0,
    gae_lambda: float = 0.95,
    ignored: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the advantages of the decisions of a rollout of `GameVectorEnv`.

    The trajectory of a seat in a game consists of its own decisions: what follows one is that seat's next decision,
    whoever acts between, with the rewards that the seat has got on the way. So each value is bootstrapped from a value
    of the same seat, and a seat that does not make the last move gets its result (Schulman et al., 2016, for one
    agent).

    Args:
        rewards: float (steps, games, seats): each step's `info["rewards"]`.
        dones: bool (steps, games): the step has ended the game: `terminations | truncations`. A game that is cut off at
            its own limit of decisions counts as ended, since its returns are final.
        seats: integers (steps, games): who decided: each step's `info["actor"]`.
        values: float (steps, games): the value of the observation decided on, for the seat that decided.
        next_values: float (games, seats): the value of each seat after the last step, such as that of each row of
            `GameVectorEnv.state()`; of games that have just ended they do not count.
        gamma: discount from a decision of a seat to its next.
        gae_lambda: lambda.
        ignored: bool (steps, games): the environment ignored the action, as in NEXT_STEP after the end of a game; the
            advantage there is 0 and the return the value. None if there are no such steps, as in SAME_STEP.

    Returns:
        Advantages and returns (advantage + value), float64 (steps, games).

    Raises:
        ValueError: arrays of other shapes or kinds, seats that do not exist, or a discount that is not from 0 to 1.
    """
    rewards, values = _real("rewards", rewards), _real("values", values)
    gamma, gae_lambda = _share("gamma", gamma), _share("gae_lambda", gae_lambda)
    if rewards.ndim != 3:
        raise ValueError(f"rewards must have shape (steps, games, seats), not {rewards.shape}")
    steps, games, players = rewards.shape
    seats = checked_integers("seats", seats, (steps, games))
    if ((seats < 0) | (seats >= players)).any():
        raise ValueError(f"seats must be 0 to {players - 1}, not {seats.min()} to {seats.max()}")
    dones = np.asarray(dones, np.bool_)
    counted = np.ones((steps, games), np.bool_) if ignored is None else ~np.asarray(ignored, np.bool_)
    next_value = _real("next_values", next_values)
    shaped = {"dones": dones, "values": values, "ignored": ~counted}
    for name, array in shaped.items():
        if array.shape != (steps, games):
            raise ValueError(f"{name} must have shape {(steps, games)} like the rewards, not {array.shape}")
    if next_value.shape != (games, players):
        raise ValueError(f"next_values must have shape {(games, players)} like the rewards, not {next_value.shape}")
    advantages = np.zeros((steps, games))
    next_advantage, gathered = np.zeros((games, players)), np.zeros((games, players))  # since each seat's next decision
    for t in reversed(range(steps)):
        for array in (next_value, next_advantage, gathered):
            array[dones[t]] = 0.0  # nothing comes after the end
        gathered += rewards[t]
        rows = np.flatnonzero(counted[t])
        actors = seats[t, rows]
        delta = gathered[rows, actors] + gamma * next_value[rows, actors] - values[t, rows]
        advantages[t, rows] = delta + gamma * gae_lambda * next_advantage[rows, actors]
        next_advantage[rows, actors] = advantages[t, rows]
        next_value[rows, actors] = values[t, rows]
        gathered[rows, actors] = 0.0
    return advantages, advantages + values
