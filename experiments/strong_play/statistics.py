"""Statistics that grow game by game: values of each game, and their sums."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.evaluation.matches import Z95


class PerGame(NamedTuple):
    """A measurement in each of some games.

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
    """The sums of two sets of games.

    Raises:
        KeyError: other statistics or items were measured in one of them.
    """
    if not one:
        return other
    found: Sums = {}
    for name in {**one, **other}:
        mine, more = one[name], other[name]
        found[name] = {
            item: (mine[item][0] + more[item][0], mine[item][1] + more[item][1], mine[item][2] + more[item][2])
            for item in {**mine, **more}
        }
    return found


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
