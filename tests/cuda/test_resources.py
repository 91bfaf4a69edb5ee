"""Kernels compile for a GPU, and take no more of it than they did."""

import json

import numpy as np
import pytest

from samurai_env.core.jit import jit
from samurai_env.envs.cuda.toolkit import Kernel
from tests.cuda.resources import RECORD, cases, jobs, missing, ptx_of, resources, worse


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


@jit
def multiply_and_add(job, game):
    """A kernel whose product and sum a GPU would fuse."""
    job[0][game] = job[0][game] * job[0][game] + job[1]


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_products_and_sums_are_not_fused() -> None:
    """Neither in the code that is compiled nor when it is linked: the CPU rounds twice."""
    kernel = Kernel(multiply_and_add)
    ptx = ptx_of(kernel, (np.zeros(1), 0.5))
    assert "mul.rn.f64" in ptx
    assert "fma.rn.f64" not in ptx
    assert kernel._dispatcher.targetoptions["lto"] is False  # the linker would fuse them


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("name", ["sample", "play"])
def test_a_kernel_takes_what_it_took(name: str) -> None:
    """The others: `python -m tests.cuda.resources`."""
    kept = json.loads(RECORD.read_text())[f"samurai_card 2 flat {name}"]
    assert worse(resources(*jobs("samurai_card", 2, "flat")[name]), kept) == []
