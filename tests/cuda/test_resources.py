"""Kernels compile for a GPU, and take no more of it than they did."""

import json
import re

import numpy as np
import pytest

from samurai_env.core.jit import called_on_gpu, jit
from samurai_env.envs.cuda.toolkit import Kernel, missing_libraries
from samurai_env.games.elementary import exp, log, power
from tests.cuda.resources import INEXACT, RECORD, SAMPLE, faults, jobs, missing, names, ptx_of, resources, worse


def test_what_counts_as_worse() -> None:
    kept = {"registers": 64, "stack": 1000, "spilled": 0}
    assert worse(kept, kept) == []
    assert worse({"registers": 64, "stack": 1100, "spilled": 8}, kept) == []
    assert worse({"registers": 73, "stack": 1101, "spilled": 9}, kept) == [
        "registers 73 instead of 64",
        "stack 1101 instead of 1000",
        "spilled 9 instead of 0",
    ]


def test_the_file_has_each_kernel() -> None:
    """Whoever adds a game or an encoding: python -m tests.cuda.resources --record --missing."""
    assert set(json.loads(RECORD.read_text())) == set(names())
    assert set(SAMPLE) <= set(names())


def test_a_kernel_that_is_not_in_the_file_fails() -> None:
    found = {"registers": 64, "stack": 0, "spilled": 0}
    assert faults("one", "", found, {"one": found}) == []
    assert faults("one", "", found, {}) == ["not in resources.json: python -m tests.cuda.resources --record --missing"]


def test_what_rounds_otherwise_is_found() -> None:
    found = {"registers": 64, "stack": 0, "spilled": 0}
    assert faults("one", "add.f64 %a; mul.rn.f64 %b; div.rn.f64 %c", found, {"one": found}) == []
    for wrong in ("fma.rn.f64", "ex2.approx.ftz.f32", "div.full.f32", "rcp.approx.ftz.f64"):
        assert faults("one", f"    {wrong} %a, %b", found, {"one": found}) == [f"{wrong} rounds otherwise than a CPU"]


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


@jit
def elementary(job, game):
    """A kernel with all of `games.elementary`."""
    job[0][game] = log(exp(job[0][game])) + power(job[0][game], game)


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_exponentials_are_those_of_the_cpu() -> None:
    assert INEXACT.findall(ptx_of(Kernel(elementary), (np.zeros(1),))) == []


@jit
def small(job, game):
    called_on_gpu()
    job[0][game] += 1.0


@jit
def calling(job, game):
    """A kernel that calls."""
    small(job, game)
    small(job, game)


def test_on_a_cpu_it_is_as_if_nothing_was_said() -> None:
    numbers = np.zeros(2)
    calling((numbers,), 1)
    assert numbers.tolist() == [0.0, 2.0]


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_what_is_called_on_a_gpu_is_not_copied() -> None:
    ptx = ptx_of(Kernel(calling), (np.zeros(2),))
    assert len(re.findall(r"^\.weak \.func .*small.*\($", ptx, re.MULTILINE)) > 0
    assert ptx.count("add.f64") + ptx.count("add.rn.f64") == 1


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_the_compiler_is_found() -> None:
    assert missing_libraries() == []


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("name", ["sample", "play"])
def test_a_kernel_takes_what_it_took(name: str) -> None:
    """The others: `python -m tests.cuda.resources`."""
    kept = json.loads(RECORD.read_text())[f"samurai_card 2 flat {name}"]
    assert worse(resources(ptx_of(*jobs("samurai_card", 2, "flat")[name])), kept) == []
