"""Sets of bits and rows of zeros and ones, against plain NumPy, for rows of every length."""

import numpy as np
import pytest

from samurai_env.core import bits
from samurai_env.core.jit import jit
from samurai_env.core.rng import below


@pytest.mark.parametrize("size", [*range(1, 18), 30, 36, 63, 64, 65, 127, 128, 129, 141, 190, 192, 258])
def test_rows_of_every_length(size: int) -> None:
    rng = np.random.default_rng(size)
    masks = (rng.random((50, size)) < np.linspace(0.02, 1, 50)[:, None]).astype(np.int8)
    masks[np.arange(50), rng.integers(size, size=50)] = 1
    padded = np.zeros((50, -(-size // 64) * 64), np.uint8)
    padded[:, :size] = masks
    words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    written = np.full((50, size + 2), 7, np.int8)
    for i in range(50):
        bits.expand(words[i], written[i, 1:-1])
    assert np.array_equal(written[:, 1:-1], masks)
    assert (written[:, [0, -1]] == 7).all()

    stream, same, actions = np.array([size], np.uint64), np.array([size], np.uint64), np.zeros(50, np.int64)
    bits.pick_legal(masks, stream, actions)
    for row, action in zip(masks, actions, strict=True):
        assert action == row.nonzero()[0][below(same, row.sum())]
    assert stream[0] == same[0]


@pytest.mark.parametrize(("first", "number"), [(0, 1), (1, 2), (-3, 9), (60, 17)])
def test_which_entries_are_within_and_their_ranks(first: int, number: int) -> None:
    @jit
    def both(row, first, number, out):
        bits.rank(row, 3, 32, first, number, out, 5)
        return bits.within(row, 3, 32, first, number), bits.within(row, 1, 64, first, number)

    row = np.random.default_rng(1).integers(first - 2, first + number + 2, 66).astype(np.int8)
    out = np.full(40, 9, np.int8)
    found = (row >= first) & (row < first + number)
    for word, flags in zip(both(row, first, number, out), (found[3:35], found[1:65]), strict=True):
        assert int(word) == sum(1 << i for i in flags.nonzero()[0].tolist())
    assert np.array_equal(out[5:37], np.where(found, row - first + 1, 0)[3:35])
    assert (out[[4, 37]] == 9).all()


def test_the_nth_bit() -> None:
    rng = np.random.default_rng(2)
    words = rng.integers(2**64, size=300, dtype=np.uint64) & rng.integers(2**64, size=300, dtype=np.uint64)
    for word in [*words.tolist(), 1, 2**63, 2**64 - 1]:
        places = [i for i in range(64) if word >> i & 1]
        assert [bits.nth(np.uint64(word), n) for n in range(len(places))] == places


@pytest.mark.parametrize("size", [1, 7, 8, 20, 141])
@pytest.mark.parametrize("wrong", [-1, 2, -128, 0])
def test_rows_without_a_choice(size: int, wrong: int) -> None:
    for place in {0, size // 2, size - 1}:
        masks = np.ones((3, size), np.int8)
        masks[1] = 1 if wrong else 0
        masks[1, place] = wrong
        with pytest.raises(ValueError, match="row 1 of the masks"):
            bits.pick_legal(masks, np.zeros(1, np.uint64), np.zeros(3, np.int64))
