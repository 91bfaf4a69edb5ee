"""Learned values of leaves: a small network in place of the game's heuristic value, at the end of a rollout.

It reads all of a determinization, hands included: `kernels.value_features` writes a row of numbers for each seat. Two
hidden layers, the same for all seats, give each a score; a softmax of the scores is the chance to win. In a cooperative
game there is one row and one score, the log odds to win.
`experiments.training.leaf_value` learns one from games, `agents.networks.leaf_value_files` reads it.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from samurai_env.core.checks import checked_games
from samurai_env.core.game import Game, Variant
from samurai_env.core.jit import bind, jit

# Bound to each game's kernels.
value_features: Any = None
heuristic_value: Any = None


class LeafValue(NamedTuple):
    """A leaf value for compiled code: the weights, and scratch memory. Without columns it stands for none.

    Attributes:
        first, first_bias: float32 (columns, hidden), (hidden,).
        second, second_bias: float32 (hidden, more hidden), (more hidden,).
        third: float32 (more hidden,).
        features: float32 (rows, columns), scratch: a row a player, one in a cooperative game.
        hidden: float32 (hidden,), scratch.
        more_hidden: float32 (more hidden,), scratch.
    """

    first: np.ndarray
    first_bias: np.ndarray
    second: np.ndarray
    second_bias: np.ndarray
    third: np.ndarray
    features: np.ndarray
    hidden: np.ndarray
    more_hidden: np.ndarray


WEIGHTS = LeafValue._fields[:5]


def shapes(variant: Variant, hidden: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of a leaf value's tensors by name.

    Raises:
        ValueError: the game writes nothing that a value could learn from.
    """
    columns = len(variant.game.value_columns)
    if variant.game.kernels.value_features is None:
        raise ValueError(f"{variant.game.title} has no value features: no leaf value can be learned for it")
    one, two = hidden
    return dict(zip(WEIGHTS, ((columns, one), (one,), (one, two), (two,), (two,)), strict=True))


def rows(variant: Variant) -> int:
    """How many rows the value features of a position have."""
    return 1 if variant.game.cooperative else variant.num_players


def make_leaf_value(variant: Variant, tensors: dict[str, np.ndarray]) -> LeafValue:
    """Make a leaf value of its tensors, float32 by name, as `shapes` says."""
    one, two = tensors["second"].shape
    scratch = [np.zeros(shape, np.float32) for shape in ((rows(variant), len(tensors["first"])), one, two)]
    return LeafValue(*(np.ascontiguousarray(tensors[name]) for name in WEIGHTS), *scratch)


def no_leaf_value() -> LeafValue:
    """A leaf value without columns: searches then ask the heuristic value."""
    return LeafValue(*(np.zeros(shape, np.float32) for shape in ((0, 0), 0, (0, 0), 0, 0, (0, 0), 0, 0)))


@jit
def score(row, value):
    """Score of a seat (float32) by its row of `value.features` (float32 (columns,))."""
    hidden, more = value.hidden, value.more_hidden
    for unit in range(hidden.shape[0]):
        hidden[unit] = value.first_bias[unit]
    for column in range(row.shape[0]):
        x = row[column]
        if x != np.float32(0.0):  # most are 0
            for unit in range(hidden.shape[0]):
                hidden[unit] += x * value.first[column, unit]
    for unit in range(more.shape[0]):
        more[unit] = value.second_bias[unit]
    for inner in range(hidden.shape[0]):
        x = hidden[inner]
        if x > np.float32(0.0):
            for unit in range(more.shape[0]):
                more[unit] += x * value.second[inner, unit]
    total = np.float32(0.0)
    for unit in range(more.shape[0]):
        total += max(more[unit], np.float32(0.0)) * value.third[unit]
    return total


def leaf_value(state, value, out):
    """Write each seat's expected return (float64 (n,)) by a leaf value: they sum to 0, or are the chance to win."""
    n = out.shape[0]
    value_features(state, value.features)
    if value.features.shape[0] == 1:
        out[:] = 1.0 / (1.0 + np.exp(-np.float64(score(value.features[0], value))))
        return
    best, total = -np.inf, 0.0
    for seat in range(n):
        out[seat] = score(value.features[seat], value)
        best = max(best, out[seat])
    for seat in range(n):
        out[seat] = np.exp(out[seat] - best)
        total += out[seat]
    for seat in range(n):
        out[seat] = (n * out[seat] / total - 1.0) / (n - 1.0)


@jit
def nothing_learned(state, value, out):
    """Stand in where a game has no value features: no leaf value is ever made."""
    out[:] = 0.0


@cache
def bound(game: Game) -> Any:
    """`leaf_value` of a game."""
    features = game.kernels.value_features
    return bind(leaf_value, game.name, {"value_features": features}) if features else nothing_learned


def describe(states, features, guesses):
    """Do the work of `describe_positions`."""
    for i in range(states.shape[0]):
        value_features(states[i], features[i])
        heuristic_value(states[i], guesses[i])


@cache
def _describer(game: Game) -> Any:
    kernels = {name: getattr(game.kernels, name) for name in ("value_features", "heuristic_value")}
    return bind(describe, game.name, kernels)


def describe_positions(variant: Variant, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a leaf value reads of positions, and what the heuristic value makes of them.

    Args:
        variant: of the game; it has value features.
        states: states (positions,), none of them over.

    Returns:
        float32 (positions, rows, columns), and expected returns, float64 (positions, players).
    """
    features = np.zeros((len(states), rows(variant), len(variant.game.value_columns)), np.float32)
    guesses = np.zeros((len(states), variant.num_players))
    _describer(variant.game)(checked_games(states, variant.dtype), features, guesses)
    return features, guesses
