"""Checks of arguments: they run at the public entry points, since compiled code checks nothing."""

import operator
from typing import Any

import numpy as np

from samurai_env.core.texts import shown

SEEDS = 2**63  # seeds are below


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of any kind (also NumPy's, also an array of no dimension), and not a bool."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, (bool, np.bool_))


def checked_integer(what: str, value: Any) -> int:
    """An integer of any kind as Python's, see `is_integer`.

    Raises:
        TypeError: not an integer, or a bool; names what it was for.
    """
    if not is_integer(value):
        raise TypeError(f"{what} must be an integer, not {shown(value)}")
    return operator.index(value)


def checked_seed(seed: Any) -> int:
    """A seed as a Python integer.

    Raises:
        TypeError: not an integer.
        ValueError: negative, or more than 63 bits.
    """
    number = checked_integer("a seed", seed)
    if not 0 <= number < SEEDS:
        raise ValueError(f"a seed must be an integer from 0 to 2**63 - 1, not {shown(number)}")
    return number


def checked_count(what: str, count: Any) -> int:
    """A number of things to make room for, as a Python integer.

    Raises:
        TypeError: not an integer.
        ValueError: negative, or more than 48 bits, which no memory holds.
    """
    number = checked_integer(what, count)
    if not 0 <= number < 2**48:
        raise ValueError(f"{what} must be from 0 to 2**48 - 1, not {shown(number)}")
    return number


def is_seat(seat: Any, num_players: int) -> bool:
    """Whether a value is an integer that names one of the seats."""
    return is_integer(seat) and 0 <= operator.index(seat) < num_players


def checked_seat(seat: Any, num_players: int, otherwise: str = "") -> int:
    """A seat as a Python integer.

    Args:
        seat: what the caller gave.
        num_players: seats are below.
        otherwise: what else was possible, for the error, such as ", and None sees all".

    Raises:
        ValueError: there is no such seat, or it is not an integer.
    """
    if not is_seat(seat, num_players):
        raise ValueError(f"there is no seat {shown(seat)}; seats are 0 to {num_players - 1}{otherwise}")
    return operator.index(seat)


def check_viewer(viewer: Any, num_players: int) -> None:
    """Check who looks at a position: a seat, or None for somebody who sees everything.

    Raises:
        ValueError: there is no such seat, or it is not an integer.
    """
    if viewer is not None:
        checked_seat(viewer, num_players, ", and None sees all hands")


def checked_buffer(what: str, array: Any, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array for compiled code to write into, as a plain `ndarray` of the same memory.

    Raises:
        TypeError: not a NumPy array.
        ValueError: another dtype or shape, or memory that is read-only, unaligned or not in C order.
    """
    _check_kind(what, array, np.dtype(dtype), shape)
    if not array.flags.carray:
        raise ValueError(f"{what} must be a writable, aligned array in C order; this one is not")
    return np.asarray(array)


def checked_array(what: str, array: Any, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """An array for compiled code to read, as a plain `ndarray` in C order: a copy only where needed.

    `shape` has None for a length that may be any. Code that reads may change the array on the way, so one that is
    read-only is copied, too.

    Raises:
        TypeError: not a NumPy array.
        ValueError: another dtype or shape.
    """
    _check_kind(what, array, np.dtype(dtype), shape)
    if type(array) is np.ndarray and array.flags.carray:
        return array
    return np.require(array, requirements=["C", "A", "W", "E"])


def _check_kind(what: str, array: Any, dtype: np.dtype, shape: tuple[int | None, ...]) -> None:
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} must be a NumPy array, not {shown(array)}")
    if array.dtype != dtype or not _fits(array, shape):
        raise ValueError(f"{what} must be {_form(dtype, shape)}, not {_form(array.dtype, array.shape)}")


def _fits(array: np.ndarray, shape: tuple[int | None, ...]) -> bool:
    """Whether an array has this shape, where None stands for any length."""
    if array.shape == shape:
        return True
    return len(array.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )


def _form(dtype: np.dtype | str, shape: tuple[int | None, ...]) -> str:
    """Dtype and shape in words; states have dozens of fields, which say nothing in an error."""
    name = f"states of {dtype.itemsize} bytes" if isinstance(dtype, np.dtype) and dtype.names else str(dtype)
    return f"{name} of shape {shown(shape).replace('None', 'any')}"


def checked_integers(what: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Integers of any kind (also a list of them) as int64 in C order; `shape` as for `checked_array`.

    Raises:
        ValueError: another shape, or not integers, or too large ones.
    """
    try:
        array = np.asarray(values)
    except Exception:  # such as a ragged list
        raise ValueError(f"{what} must be {_form('integers', shape)}, not {shown(values)}") from None
    integers = array.dtype.kind in "iu" or array.size == 0  # an empty list is float64
    if not integers or not _fits(array, shape):
        raise ValueError(f"{what} must be {_form('integers', shape)}, not {_form(array.dtype, array.shape)}")
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise ValueError(f"{what} must be below 2**63, not {array.max()}")
    return np.ascontiguousarray(array, np.int64)


def checked_games(states: Any, dtype: np.dtype) -> np.ndarray:
    """States (games,) of games that still run, as compiled code takes them.

    What the states hold is not looked at beyond that; `Variant.check` does so for states from elsewhere.

    Raises:
        TypeError: not a NumPy array.
        ValueError: another kind of states, or a game that is over.
    """
    states = checked_array("states", states, dtype, (None,))
    over = states["over"]
    if over.any():
        raise ValueError(f"game {int(over.argmax())} of {len(states)} is over: nobody is to act")
    return states


def checked_keys(keys: Any, games: int) -> np.ndarray:
    """The keys of decisions: uint64 (games,).

    Raises:
        TypeError: not a NumPy array.
        ValueError: another dtype or shape.
    """
    return checked_array("keys", keys, np.uint64, (games,))
