"""Values that nobody should hand in, for the campaign on arguments."""

import decimal
import enum
import fractions
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

GUARD, MARGIN = 0x5A, 256  # what lies before and behind each array, and how many bytes of it
LONG_TEXT = "x" * 5000
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u8", ">i8", ">u8", "f4", "f8", "?", "c16", "O", "S3", "U3", "M8[s]", "i8,u1"]


class Number(enum.IntEnum):
    """A subclass of int."""

    ONE = 1


class Liar:
    """Says that it is an integer, and is none; has words of many lines for itself."""

    def __index__(self) -> int:
        raise TypeError("no\nnumber")

    def __repr__(self) -> str:
        return "many\nlines " * 500


def plain() -> list[Any]:
    """Values of every kind but arrays."""
    integers = [0, 1, -1, 7, 300, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**30, 10**5000]
    numbers = [3.9, -0.0, 1.0, float("nan"), float("inf"), 1e300, 2j, decimal.Decimal("1.5"), fractions.Fraction(1, 2)]
    scalars = [np.int8(-1), np.uint64(2**64 - 1), np.float32("nan"), np.bool_(True), np.datetime64(1, "s")]
    texts = ["", "5", "-1", "nan", "player_0", "flat", "\n", "\0", "\ud800", "ü" * 9, LONG_TEXT, np.str_("1")]
    others = [None, True, False, ..., b"", b"5", bytearray(3), object(), int, len, Liar(), [[1], [1, 2]], [10**30]]
    holders = [[], [1], [None], (), (1, 2), {}, {"a": 1}, {3}, range(3), iter([1]), Number.ONE]
    deep: list[Any] = []
    deep.append(deep)
    return [*integers, *numbers, *scalars, *texts, *others, *holders, deep]


class Guarded:
    """Arrays between guards that tell whether somebody wrote beside them."""

    def __init__(self) -> None:
        self._all: list[tuple[np.ndarray, int, int]] = []

    def array(self, shape: tuple[int, ...], dtype: Any, shift: int = 0) -> np.ndarray:
        """Zeros between guards, `shift` bytes away from where they would be aligned."""
        dtype = np.dtype(dtype)
        if dtype.hasobject:
            return np.zeros(shape, dtype)
        size = int(np.prod(shape)) * dtype.itemsize
        memory = np.full(size + 2 * MARGIN, GUARD, np.uint8)
        start = MARGIN + shift
        memory[start : start + size] = 0
        self._all.append((memory, start, size))
        return np.ndarray(shape, dtype, memory.data, start)

    def check(self) -> None:
        """Say if a guard has changed."""
        for memory, start, size in self._all:
            assert (memory[:start] == GUARD).all(), "written before the beginning of an array"
            assert (memory[start + size :] == GUARD).all(), "written past the end of an array"

    def like(self, valid: np.ndarray, rng: random.Random) -> Iterator[np.ndarray]:
        """Arrays that are nearly like a valid one; and some like it with other contents."""
        shape, dtype = valid.shape, valid.dtype
        for other in DTYPES:
            yield self.array(shape, other)
        plain = [self.array(lengths, dtype) for lengths in self._shapes(shape)]
        if shape:
            plain.append(self.array((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2])
            plain.append(self.array(shape, dtype)[..., ::-1])
            plain.append(self.array(shape[::-1], dtype).T)
        plain.append(self.array(shape, dtype, shift=1))
        for array in plain:
            if dtype.names:  # what states hold is not for these entry points to check
                array[...] = valid.flat[0]
            yield array
        still = self.array(shape, dtype)
        still[...] = valid
        still.flags.writeable = False
        yield still
        if not dtype.names:
            yield np.ma.masked_array(self.array(shape, dtype), mask=True)
        if dtype.names:
            yield valid.copy().view(np.recarray)
        elif valid.ndim == 2:
            yield self.array(shape, dtype).view(np.matrix)
        for fill in (0, 1, -1, 127, np.iinfo(np.int64).max, rng.randrange(2**62)):
            if dtype.kind in "iu":
                filled = self.array(shape, dtype)
                filled[...] = np.array(fill).astype(dtype)
                yield filled
        for fill in (np.nan, np.inf, -1.0, 1e30):
            if dtype.kind == "f":
                filled = self.array(shape, dtype)
                filled[...] = fill
                yield filled
        yield valid.tolist()  # type: ignore[misc]

    def _shapes(self, shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        yield ()
        yield (0,)
        yield (1, *shape)
        yield (*shape, 1)
        for axis, length in enumerate(shape):
            for other in {0, 1, length - 1, length + 1, 3 * length} - {length, -1}:
                yield (*shape[:axis], other, *shape[axis + 1 :])
