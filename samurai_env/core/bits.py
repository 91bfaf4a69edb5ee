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


BYTES, SIGNS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
PAIRS, FOURS, EIGHTS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
DIAGONAL, SEVENS = np.uint64(0x8040201008040201), np.uint64(0x7F7F7F7F7F7F7F7F)


@inlined
def nth(word, n):
    """Index of the n-th (from 0) set bit of `word`, as int64: first its byte, then its place there."""
    counts = word - ((word >> ONE) & PAIRS)
    counts = (counts & FOURS) + ((counts >> np.uint64(2)) & FOURS)
    sums = ((counts + (counts >> np.uint64(4))) & EIGHTS) * BYTES  # byte k: set bits in the bytes 0 to k
    start = np.uint64(8) * not_above(sums, np.uint64(n))
    rest = np.uint64(n) - (((sums << np.uint64(8)) >> start) & np.uint64(255))
    byte = ((word >> start) & np.uint64(255)) * BYTES & DIAGONAL  # bit k alone in byte k
    return np.int64(start + not_above((((byte + SEVENS) >> np.uint64(7)) & BYTES) * BYTES, rest))


@inlined
def not_above(sums, n):
    """How many bytes of a word, each at most 128, are not above `n`."""
    return popcount(((np.uint64(128) + n) * BYTES - sums) & SIGNS)


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
    """A uniformly random set bit of a row of words, as int64; undefined if they are all zero."""
    rest = np.uint64(below(rng, count(words)))
    place, chosen, n = 0, EMPTY, EMPTY
    for index in range(words.shape[0]):  # a branch would be guessed wrong
        here = popcount(words[index])
        if rest < here:
            place, chosen, n = 64 * index, words[index], rest
        rest -= here  # behind the place: huge
    return place + nth(chosen, n)


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

    `count` is a literal, 8, 32 or 64: a few vector instructions. Where fewer bits are meant, write what follows later.
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


@intrinsic(prefer_literal=True)
def within(typing_context, row, start, count, first, number):
    """Find which entries of a contiguous row of int8 are one of the `number` values from `first` on, as bits.

    `count` entries from `start` on, a literal, 32 or 64. Where fewer are meant, ignore the bits behind them; there must
    be memory to read.
    """
    width = ir.IntType(count.literal_value)

    def code(context, builder, sig, args):
        _, found = _compared(context, builder, sig.args[0], args, width.width)
        return builder.zext(builder.bitcast(found, width), ir.IntType(64))

    return types.uint64(row, types.intp, count, types.int8, types.int8), code


@intrinsic(prefer_literal=True)
def rank(typing_context, row, start, count, first, number, out, place):
    """Write which of the values of `within` each entry is, from 1 on, 0 for none, into `out` (int8) from `place` on."""

    def code(context, builder, sig, args):
        above, found = _compared(context, builder, sig.args[0], args, count.literal_value)
        kind = above.type
        ranks = builder.select(found, builder.add(above, kind([ir.IntType(8)(1)] * kind.count)), kind(None))
        builder.store(ranks, _entry(context, builder, sig.args[5], args[5:], kind), align=1)
        return context.get_dummy_value()

    return types.void(row, types.intp, count, types.int8, types.int8, out, types.intp), code


def _compared(context, builder, row, args, count):
    """How far entries are above the first of the values, and whether they are one of them; `args` as of `within`."""
    kind, same = ir.VectorType(ir.IntType(8), count), ir.VectorType(ir.IntType(32), count)(None)

    def vector(value):
        alone = builder.insert_element(kind(ir.Undefined), value, ir.IntType(32)(0))
        return builder.shuffle_vector(alone, kind(ir.Undefined), same)

    entries = builder.load(_entry(context, builder, row, args[:2], kind), align=1)
    above = builder.sub(entries, vector(args[3]))
    return above, builder.icmp_unsigned("<", above, vector(args[4]))


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


@jit
def pick_each(rows, size, rng, actions, words):
    """The work of `pick_legal`; whether each row is zeros and ones with at least a one.

    `rows` lie one after another, `size` entries each, at least 64 in all; `words` (uint64, words of a row) is scratch.
    """
    for i in range(actions.shape[0]):
        legal, sound = EMPTY, ~EMPTY
        for index in range(words.shape[0]):
            place = i * size + 64 * index
            start = min(place, rows.shape[0] - 64)
            row = within(rows, start, 64, 1, 1) >> np.uint64(place - start)
            words[index] = row & (~EMPTY >> np.uint64(64 - min(64, size - 64 * index)))
            legal |= words[index]
            sound &= within(rows, start, 64, 0, 2)  # those of the next row, too
        if legal == EMPTY or sound != ~EMPTY:
            return False
        actions[i] = pick(words, rng)
    return True


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
    actions = checked_buffer("actions", actions, np.int64, (len(masks),))
    rows = masks.reshape(-1) if masks.size >= 64 else np.resize(masks, 64)
    size = masks.shape[1]
    if not pick_each(rows, size, rng, actions, np.empty(-(-size // 64), np.uint64)):
        row = np.flatnonzero((masks & ~1).any(1) | ~masks.any(1))[0]
        raise ValueError(f"row {row} of the masks is not zeros and ones with at least one legal action")
