"""The layout of a game's state: a list of fields that becomes a NumPy structured dtype.

Every state starts with the same header, which is all that the generic kernels look at.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Field:
    """One field of a state.

    Attributes:
        name: name of the field in compiled code (`state.name`).
        kind: NumPy code of the elements, without byte order ("i1", "u8", ...).
        shape: () for a single number.
        limits: smallest and largest value that a legal state can hold.
        meaning: one line for readers.
        beside_steps: stored beside the header's `steps`, in the upper half of its four bytes: at most two u1 fields.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    limits: tuple[int, int]
    meaning: str
    beside_steps: bool = False


HEADER = [
    Field("seed", "u8", (), (0, 2**64 - 1), "the seed this game was reset with"),
    Field("rng", "u8", (1,), (0, 2**64 - 1), "state of the game's random stream"),
    Field("steps", "i4", (), (0, 2**31 - 1), "decisions made so far"),
    Field("seat", "i1", (), (0, 15), "the seat that decides now"),
    Field("over", "u1", (), (0, 1), "the game has ended"),
]


_types: dict[np.dtype, np.dtype] = {}


def state_dtype(fields: list[Field]) -> np.dtype:
    """Structured dtype of the header and `fields`, little-endian, padded at the end to 8 bytes.

    Fields are stored by falling element size, so that each is aligned without gaps. The same fields give the same
    object: for an equal one numba compares all fields in every call, some microseconds.
    """
    ordered = sorted([*HEADER, *(f for f in fields if not f.beside_steps)], key=lambda f: -int(f.kind[1:]))
    stored = [(f.name, "<" + f.kind, f.shape) for f in ordered]
    if beside := [(f.name, f.kind, f.shape) for f in fields if f.beside_steps]:
        at = [f.name for f in ordered].index("steps")
        stored[at : at + 1] = [("steps", "<i2", ()), *beside]
    packed = np.dtype(stored)
    padding = -packed.itemsize % 8
    padded = np.dtype([*packed.descr, ("padding", "u1", (padding,))]) if padding else packed
    return _types.setdefault(padded, padded)


def check_state(state: np.ndarray | np.void, fields: list[Field]) -> None:
    """Check that the fields of states are within their limits, so that compiled code never indexes out of bounds.

    Args:
        state: structured array of any shape, or element of one.
        fields: the game's fields (the header's are added).

    Raises:
        ValueError: a field is outside its limits; the text names field, value and limits.
    """
    for field in [*HEADER, *fields]:
        values = np.asarray(state[field.name])
        low, high = field.limits
        if values.size and (int(values.min()) < low or int(values.max()) > high):
            raise ValueError(
                f"field {field.name!r} of the saved game holds values from {values.min()} to {values.max()}, "
                f"a legal game has {low} to {high}"
            )


def pack_bits(bits: np.ndarray) -> np.ndarray:
    """Pack bools (..., at most 64) into bit sets, uint64 (...): bit i is entry i of the last axis."""
    return (bits.astype(np.uint64) << np.arange(bits.shape[-1], dtype=np.uint64)).sum(-1, dtype=np.uint64)
