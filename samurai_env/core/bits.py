"""Sets of small integers kept as the bits of `uint64` words: counting, picking, expanding to a mask."""

import numpy as np
from llvmlite import ir
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


@intrinsic(prefer_literal=True)
def spread(typing_context, word, count, row, start):
    """Write the lowest `count` bits of a `uint64` into a contiguous row of int8 from `start` on, as zeros and ones.

    `count` is a literal, 8 or 64: a few vector instructions. Where fewer bits are meant, write what follows later.
    """
    width = ir.IntType(count.literal_value)

    def code(context, builder, sig, args):
        flags = builder.bitcast(builder.trunc(args[0], width), ir.VectorType(ir.IntType(1), width.width))
        ones = ir.VectorType(ir.IntType(8), width.width)
        builder.store(builder.zext(flags, ones), _entry(context, builder, sig.args[2], args[2:], ones), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, count, row, types.intp), code


@intrinsic(prefer_literal=True)
def store(typing_context, word, count, row, start):
    """Write the lowest `count` (a literal: 1, 2, 4, 8) bytes of a `uint64` into a contiguous row of int8 at `start`."""
    width = ir.IntType(8 * count.literal_value)

    def code(context, builder, sig, args):
        part = args[0] if width.width == 64 else builder.trunc(args[0], width)
        builder.store(part, _entry(context, builder, sig.args[2], args[2:], width), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, count, row, types.intp), code


@intrinsic
def eight(typing_context, row, start):
    """Eight entries of a contiguous row of int8 from `start` on as a `uint64`, the first one lowest."""

    def code(context, builder, sig, args):
        return builder.load(_entry(context, builder, sig.args[0], args, ir.IntType(64)), align=1)

    return types.uint64(row, types.intp), code


def _entry(context, builder, row, args, kind):
    """The address of an entry of a row as one of another kind; `args` are row and index."""
    if not row.is_c_contig:
        raise TypeError(f"the row must be contiguous, not {row}")
    data = context.make_array(row)(context, builder, args[0]).data
    return builder.bitcast(builder.gep(data, [args[1]]), kind.as_pointer())


@inlined
def word_at(words, index):
    """The 64 bits of a row of words from bit `index` on; zeros where the row ends."""
    shift = np.uint64(index & 63)
    return words[index >> 6] >> shift | (words[(index + 63) >> 6] << ONE) << (np.uint64(63) - shift)


@inlined
def expand(words, mask):
    """Write a row of words as int8 zeros and ones: `mask[i] = 1` where bit `i` is set."""
    size = mask.shape[0]
    # The last block ends with the mask and overlaps the one before. Loops, not branches: after these numba counts
    # references to arrays.
    for index in range(0, size if size >= 64 else 0, 64):
        start = min(index, size - 64)
        spread(word_at(words, start), 64, mask, start)
    for index in range(0, size if 8 <= size < 64 else 0, 8):
        start = min(index, size - 8)
        spread(words[0] >> np.uint64(start), 8, mask, start)
    for index in range(size if size < 8 else 0):
        mask[index] = has(words[0], index)


BYTES, SIGNS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@inlined
def nth_byte(word, n):
    """Index of the n-th (from 0) byte that is 1 of a word whose bytes are 0 or 1."""
    sums = word * BYTES  # byte k: how many of the bytes 0 to k are 1
    return np.int64(popcount(((np.uint64(128) + n) * BYTES - sums) & SIGNS))


@jit
def pick_each(masks, rng, actions):
    """The work of `pick_legal`; the first row that is not zeros and ones with at least a one, or -1."""
    size = masks.shape[1]
    whole = size & ~7
    for i in range(masks.shape[0]):
        row = masks[i]
        end = EMPTY  # what lies behind the last eight
        for j in range(whole, size):
            end |= np.uint64(np.uint8(row[j])) << np.uint64(8 * (j - whole))
        legal, all_bits = popcount(end), end
        for j in range(0, whole, 8):
            legal += popcount(eight(row, j))
            all_bits |= eight(row, j)
        if legal == EMPTY or all_bits & ~BYTES != EMPTY:
            return i
        rest, j, word = np.uint64(below(rng, legal)), 0, end
        while j < whole:
            word = eight(row, j)
            if rest < popcount(word):
                break
            rest -= popcount(word)
            j += 8
            word = end
        actions[i] = j + nth_byte(word, rest)
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
