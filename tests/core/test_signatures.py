"""One compilation serves all compiled callers of a function, whatever whole numbers they hand on."""

import numpy as np

from samurai_env.core.jit import inlined, jit


@jit
def doubled(number):
    return number * 2


@inlined
def next_power(number):
    return number << 1


@jit
def caller(row):
    total = doubled(1) + doubled(-1) + doubled(row[0])
    power = 1
    for _ in range(3):
        power = next_power(power)
    return total, power


def test_constants_and_small_numbers_need_no_code_of_their_own() -> None:
    assert caller(np.array([-100], np.int8)) == (-200, 8)  # an int8 would hold no -200
    # None if `caller` comes from the cache of an earlier run.
    assert {len(function.signatures) for function in (doubled, next_power)} in ({0}, {1})


def test_other_numbers_keep_their_types() -> None:
    @jit
    def kind(number):
        return number

    @jit
    def kinds():
        return kind(np.uint8(255)), kind(0.5), kind(True)

    assert kinds() == (255, 0.5, True)
    assert len(kind.signatures) == 3


def test_types_of_variables_are_not_kept() -> None:
    doubled(3)
    assert [result.type_annotation for result in doubled.overloads.values()] == [None] * len(doubled.overloads)
