"""Kernels compile for a GPU, and take no more of it than they did."""

import json

import pytest

from tests.cuda.resources import RECORD, cases, jobs, missing, resources, worse


def test_what_counts_as_worse() -> None:
    kept = {"registers": 64, "stack": 1000, "spilled": 0}
    assert worse(kept, kept) == []
    assert worse({"registers": 64, "stack": 1100, "spilled": 8}, kept) == []
    assert worse({"registers": 73, "stack": 1101, "spilled": 9}, kept) == [
        "registers 73 instead of 64",
        "stack 1101 instead of 1000",
        "spilled 9 instead of 0",
    ]


def test_the_file_names_kernels_that_there_are() -> None:
    names = {f"{game} {players} {encoding}" for game, players, encoding in cases()}
    kept = json.loads(RECORD.read_text())
    assert kept
    assert {case.rpartition(" ")[0] for case in kept} <= names


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("name", ["sample", "play"])
def test_a_kernel_takes_what_it_took(name: str) -> None:
    """The others: `python -m tests.cuda.resources`."""
    kept = json.loads(RECORD.read_text())[f"samurai_card 2 flat {name}"]
    assert worse(resources(*jobs("samurai_card", 2, "flat")[name]), kept) == []
