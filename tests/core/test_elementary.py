"""Exponential, logarithm and powers: close to those of the C library, and the same bits everywhere."""

import hashlib
import math

import numpy as np
import pytest

from samurai_env.games.elementary import exp, log, power

RNG = np.random.default_rng(20261125)
EXPONENTS = np.concatenate([RNG.uniform(-700, 700, 3_000), RNG.uniform(-40, 1, 3_000), RNG.uniform(-1e-3, 1e-3, 1_000)])
NUMBERS = np.concatenate(
    [np.ldexp(RNG.uniform(1, 2, 3_000), RNG.integers(-1000, 1000, 3_000)), RNG.uniform(1e-3, 1, 3_000)]
)


def bits(values: list[float]) -> str:
    """A digest of each bit of so many numbers."""
    return hashlib.sha256(np.array(values, "<f8").tobytes()).hexdigest()[:16]


def test_exp_is_close_to_that_of_the_c_library() -> None:
    for x in EXPONENTS.tolist():
        assert abs(exp(x) - math.exp(x)) <= math.ulp(math.exp(x))
    assert exp(0.0) == exp(-0.0) == 1.0
    assert exp(-709.0) == exp(-math.inf) == 0.0
    assert exp(710.0) == exp(math.inf) == math.inf


def test_log_is_close_to_that_of_the_c_library() -> None:
    for x in [*NUMBERS.tolist(), 1.0 - 2**-53, 1.0 + 2**-52, 2**0.5, 0.5**0.5, 2.0**-1022]:
        assert abs(log(x) - math.log(x)) <= math.ulp(math.log(x))
    assert log(1.0) == 0.0


def test_powers() -> None:
    assert power(0.0, 0) == 1.0
    assert power(0.5, 10) == 2.0**-10
    for exponent in range(70):
        assert power(0.9, exponent) == pytest.approx(0.9**exponent, rel=1e-14)


def test_every_bit_is_the_same_on_every_processor() -> None:
    assert bits([exp(x) for x in EXPONENTS.tolist()]) == "695f5404515e8333"
    assert bits([log(x) for x in NUMBERS.tolist()]) == "b795720c9a0643da"
    assert bits([power(x, 13) for x in NUMBERS[3_000:].tolist()]) == "c8bfff38c406b6e3"
