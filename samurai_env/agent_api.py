"""The interface of an agent, and the keys that make its decisions repeatable."""

from typing import Protocol

import numpy as np

from samurai_env.core.checks import checked_array, checked_count, checked_integers

# Odd multipliers that spread (seed, step, agent) over 64 bits.
A, B, C = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03), np.uint64(0x8CB92BA72F3D8DD7)


class Agent(Protocol):
    """A player of one variant.

    An agent receives whole states, but its choice must be a function of what the seat to move may know (`observe`,
    `determinize`, the legal actions) and of the key. The tests hold every agent to that. It is asked by one thread at a
    time: a search refuses a second one with RuntimeError.
    """

    def act(self, states: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Choose an action for the seat to move in each of several games.

        Args:
            states: states (games,) of the agent's variant, none of them over. Not to be changed.
            keys: uint64 (games,), the randomness of each decision: same state and key, same action.

        Returns:
            int64 (games,), legal action ids.
        """
        ...


def decision_keys(seeds: np.ndarray, steps: np.ndarray, salt: int = 0) -> np.ndarray:
    """The key of each decision: a function of the deal, the step and the agent, whatever is played beside it.

    Args:
        seeds: uint64 (games,): the deals, `states["seed"]`.
        steps: integers (games,): how many decisions each game has had, `states["steps"]`.
        salt: from 0 on; another one, other keys: the number of the agent, for example.

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
