"""Sets of bits and rows of zeros and ones, against plain NumPy, for rows of every length."""

import numpy as np
import pytest

from samurai_env.core import bits
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


@pytest.mark.parametrize("size", [1, 7, 8, 20, 141])
@pytest.mark.parametrize("wrong", [-1, 2, -128, 0])
def test_rows_without_a_choice(size: int, wrong: int) -> None:
    for place in {0, size // 2, size - 1}:
        masks = np.ones((3, size), np.int8)
        masks[1] = 1 if wrong else 0
        masks[1, place] = wrong
        with pytest.raises(ValueError, match="row 1 of the masks"):
            bits.pick_legal(masks, np.zeros(1, np.uint64), np.zeros(3, np.int64))
