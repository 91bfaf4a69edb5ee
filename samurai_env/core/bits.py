"""Sets of small integers kept as the bits of `uint64` words: counting, picking, expanding to a mask."""

import numpy as np
from numba import types
from numba.extending import intrinsic

from samurai_env.core.checks import checked_array, checked_buffer
from samurai_env.core.jit import inlined, jit
from samurai_env.core.rng import below

EMPTY, ONE = np.uint64(0), np.uint64(1)


@intrinsic
def popcount(typing_context, word):
    """Number of set bits of a `uint64` (one machine instruction)."""
    return types.uint64(types.uint64), lambda context, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def lowest(typing_context, word):
    """Index of the lowest set bit of a non-zero `uint64`."""

    def code(context, builder, sig, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), code


@inlined
def bit(index):
    """The word in which only bit `index` (0 to 63) is set."""
    return ONE << np.uint64(index)


@inlined
def has(word, index):
    """Whether bit `index` of `word` is set."""
    return (word >> np.uint64(index)) & ONE != np.uint64(0)


@inlined
def nth(word, n):
    """Index of the n-th (from 0) set bit of `word`, as int64; by halving, not by walking."""
    index = np.uint64(0)
    rest = np.uint64(n)
    for half in (32, 16, 8, 4, 2, 1):
        width = np.uint64(half)
        low = popcount(word & ((ONE << width) - ONE))
        if rest >= low:
            rest -= low
            word >>= width
            index += width
    return np.int64(index)


@inlined
def put(words, offset, bits):
    """Set in `words` (one long row of bits) the set bits of `bits`, bit 0 of it landing at `offset`."""
    index = offset >> 6
    shift = np.uint64(offset & 63)
    words[index] |= bits << shift
    if shift > np.uint64(0):
        spill = bits >> (np.uint64(64) - shift)
        if spill != np.uint64(0):
            words[index + 1] |= spill


@inlined
def count(words):
    """Number of set bits in a row of words, as int64."""
    total = np.uint64(0)
    for word in words:
        total += popcount(word)
    return np.int64(total)


@inlined
def pick(words, rng):
    """A uniformly random set bit of a row of words that is not all zero, as int64."""
    rest = below(rng, count(words))
    for index in range(words.shape[0]):
        here = np.int64(popcount(words[index]))
        if rest < here:
            return 64 * index + nth(words[index], rest)
        rest -= here
    return -1  # all zero: not a legal call


@inlined
def contains(words, index):
    """Whether `index` is a set bit of a row of words."""
    return 0 <= index < 64 * words.shape[0] and has(words[index >> 6], index & 63)


@jit
def first_missing(words, indices, skip):
    """The first row of which its index is not a set bit, -1 if there is none.

    Args:
        words: uint64 (rows, words).
        indices: int64 (rows,).
        skip: bool (rows,), rows that do not count.
    """
    for row in range(words.shape[0]):
        if not (contains(words[row], indices[row]) or skip[row]):
            return row
    return -1


@inlined
def spread(word, out):
    """Write the lowest bits of a word as int8 zeros and ones, as many as `out` has entries (at most 64)."""
    for i in range(out.shape[0]):  # the compiler vectorizes this
        out[i] = (word >> np.uint64(i)) & ONE


@inlined
def expand(words, mask):
    """Write a row of words as int8 zeros and ones: `mask[i] = 1` where bit `i` is set."""
    for index in range(words.shape[0]):
        spread(words[index], mask[64 * index : 64 * index + 64])


@jit
def pick_each(masks, rng, actions):
    """The work of `pick_legal`; the first row that is not zeros and ones with at least a one, or -1."""
    for i in range(masks.shape[0]):
        row = masks[i]
        legal, other = 0, False
        for j in range(row.shape[0]):
            legal += row[j]
            other |= row[j] & ~1 != 0
        if legal < 1 or other:
            return i
        rest = below(rng, legal)
        j = -1
        while rest >= 0:
            j += 1
            rest -= row[j]
        actions[i] = j
    return -1


def pick_legal(masks, rng, actions):
    """Write a uniformly random legal action for each row of masks.

    Args:
        masks: int8 (games, actions), zeros and ones.
        rng: uint64 (1,), the stream to draw from.
        actions: int64 (games,), out.

    Raises:
        TypeError: one of them is not an array.
        ValueError: another dtype or shape, an array that cannot be written into, or a row without a legal action.
    """
    masks = checked_array("masks", masks, np.int8, (None, None))
    rng = checked_buffer("rng", rng, np.uint64, (1,))
    row = pick_each(masks, rng, checked_buffer("actions", actions, np.int64, (len(masks),)))
    if row >= 0:
        raise ValueError(f"row {row} of the masks is not zeros and ones with at least one legal action")
