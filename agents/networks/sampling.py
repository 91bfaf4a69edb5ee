"""Sampling of actions, compiled: for many small rows torch takes ten times as long."""

import numpy as np

from samurai_env.core.checks import checked_array, checked_buffer
from samurai_env.core.jit import inlined, jit
from samurai_env.core.rng import uniform


@inlined
def action_at(weights, rest):
    """The action in whose share of the weights, laid end to end, `rest` falls; -1 if all are 0."""
    found = -1
    for action in range(weights.shape[0]):
        if weights[action] > 0.0:
            found = action  # the last of them, should rounding leave a rest
            rest -= weights[action]
            if rest < 0.0:
                break
    return found


@jit
def sample_each(probabilities, rng, actions):
    """Do the work of `sample`; the first row without a possible action, or -1."""
    for i in range(probabilities.shape[0]):
        actions[i] = action_at(probabilities[i], uniform(rng))
        if actions[i] < 0:
            return i
    return -1


@jit
def sample_each_by_key(log_probs, temperature, keys, actions):
    """Do the work of `sample_by_keys`."""
    rng, weights = np.zeros(1, np.uint64), np.zeros(log_probs.shape[1])
    for i in range(log_probs.shape[0]):
        rng[0] = keys[i]
        weights[:] = np.exp((log_probs[i] - log_probs[i].max()) / temperature)
        actions[i] = action_at(weights, uniform(rng) * weights.sum())


def sample_by_keys(log_probs: np.ndarray, temperature: float, keys: np.ndarray) -> np.ndarray:
    """Sample an action for each row, int64 (batch,), with probabilities to the power of 1 / `temperature`.

    Args:
        log_probs: float32 (batch, actions); those of illegal actions are about -1e9.
        temperature: above 0, at most 100.
        keys: uint64 (batch,): the same row and key give the same action.
    """
    actions = np.zeros(len(log_probs), np.int64)
    sample_each_by_key(log_probs, temperature, keys, actions)
    return actions


def sample(probabilities: np.ndarray, rng: np.ndarray, actions: np.ndarray) -> None:
    """Sample an action for each row; an action of probability 0 is never drawn.

    Args:
        probabilities: float32 (batch, actions), about summing to 1.
        rng: uint64 (1,), the stream to draw from.
        actions: int64 (batch,), out.

    Raises:
        TypeError: an argument is not an array.
        ValueError: another dtype or shape, an array that cannot be written, or a row without a possible action.
    """
    probabilities = checked_array("probabilities", probabilities, np.float32, (None, None))
    rng = checked_buffer("rng", rng, np.uint64, (1,))
    row = sample_each(probabilities, rng, checked_buffer("actions", actions, np.int64, (len(probabilities),)))
    if row >= 0:
        raise ValueError(f"row {row} of the probabilities has no action of more than 0")
