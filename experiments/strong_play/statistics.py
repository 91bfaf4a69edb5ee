"""Statistics that grow game by game: values of each game, and their sums."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.evaluation.matches import Z95


class PerGame(NamedTuple):
    """What was measured in each of some games.

    Attributes:
        items: a name for each column.
        values: float64 (games, items); NaN where there was nothing to measure.
    """

    items: Sequence[str]
    values: np.ndarray


# By statistic and item: games in which it was measured, sum of its values, sum of their squares.
Sums = dict[str, dict[str, tuple[int, float, float]]]


def sums(measured: Mapping[str, PerGame]) -> Sums:
    """The sums of what was measured."""
    found: Sums = {}
    for name, (items, values) in measured.items():
        counts = np.isfinite(values).sum(0).tolist()
        once, squares = np.nansum(values, 0).tolist(), np.nansum(values**2, 0).tolist()
        found[name] = {item: (counts[i], once[i], squares[i]) for i, item in enumerate(items)}
    return found


def added(one: Sums, other: Sums) -> Sums:
    """The sums of two sets of games."""
    if not one:
        return other
    return {
        name: {
            item: (count + more[0], once + more[1], squares + more[2])
            for item, (count, once, squares) in items.items()
            for more in [other[name][item]]
        }
        for name, items in one.items()
    }


class Mean(NamedTuple):
    """A mean over games and half the width of its 95 % interval (normal approximation)."""

    mean: float
    half: float


def mean(count: int, once: float, squares: float) -> Mean:
    """The mean of what was summed; NaN if nothing was measured."""
    if count == 0:
        return Mean(math.nan, math.nan)
    middle = once / count
    spread = max(0.0, squares / count - middle**2)
    return Mean(middle, Z95 * math.sqrt(spread / max(1, count - 1)))
