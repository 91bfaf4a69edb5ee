"""Observations read and write rows 32 entries at a time: what lies behind a row is memory of the same state."""

import pytest

from samurai_env import make_variant

WIDTH = 32


def rounded(length: int) -> int:
    return -(-length // WIDTH) * WIDTH


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rows_end_within_the_state(players: int) -> None:
    dtype = make_variant("samurai", players).dtype
    assert dtype.fields is not None
    for row in ("land_tile", "sea_tile"):
        field, offset = dtype.fields[row][:2]
        assert offset + rounded(field.shape[0]) <= dtype.itemsize


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rows_end_within_the_observation(players: int) -> None:
    encoding = make_variant("samurai", players).encoding("flat")
    slices = encoding.slices()
    for name, rows in (("figures", 3), ("land_owner", players), ("land_movable", 1), ("sea_strength", players)):
        block = slices[name]
        length = (block.stop - block.start) // rows
        assert block.stop - length + rounded(length) <= encoding.shape[0]
