"""Measuring rates, with a guard against other processes on the machine.

The standard library alone: the peers' scripts use it in environments that have little else.
"""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
Clock = Callable[[], float]

STAT = "/proc/stat"
OTHERS = 0.1  # of one core: a measurement in which other processes used more is repeated
TICKS = 0.03  # seconds: the system counts in hundredths, so less than this cannot be told
MOMENT = 1.0  # seconds before the next attempt
SMALLEST, LARGEST = 1e-12, 1e15  # of a figure
AGAIN = 3  # repetitions of a disturbed measurement, before it is kept and marked


@dataclass
class Figure:
    """One measured rate or time: the median, smallest and largest of several measurements.

    `disturbed`: other processes used the CPU during one of them, however often it was repeated.
    """

    name: str
    unit: str
    median: float
    low: float
    high: float
    disturbed: bool = False

    def __post_init__(self) -> None:
        """Refuse what nobody can have measured.

        Raises:
            ValueError: a rate or time of zero, below it, or absurdly large.
        """
        if not all(SMALLEST <= value <= LARGEST for value in (self.median, self.low, self.high)):
            raise ValueError(
                f"a figure must be from {SMALLEST} to {LARGEST}, not {self.low}, {self.median} or {self.high}"
            )


def used_by_others() -> float:
    """Seconds of CPU time that all other processes have used since the machine started; nan if it does not tell."""
    try:
        with open(STAT, encoding="ascii") as file:
            user, nice, system, _idle, _wait, interrupts, soft, stolen = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return float("nan")
    busy = (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")
    return busy - sum(os.times()[:4])  # less this process and its children


def undisturbed(run: Callable[[], T], again: int = AGAIN) -> tuple[T, bool]:
    """Call `run`, again while other processes disturb it (at most `again` times); return its result and a flag."""
    for attempt in range(1 + again):
        if attempt:
            time.sleep(MOMENT)
        before, started = used_by_others(), time.perf_counter()
        result = run()
        spent = time.perf_counter() - started
        disturbed = used_by_others() - before > max(OTHERS * spent, TICKS)
        if not disturbed:
            break
    return result, disturbed


@dataclass(frozen=True)
class Meter:
    """The number of repetitions of a measurement and their length in seconds."""

    repetitions: int = 5
    seconds: float = 0.5

    def of(self, name: str, unit: str, measured: Callable[[], float]) -> Figure:
        """The figure whose single measurements `measured` gives."""
        values, disturbed = [], False
        for _ in range(self.repetitions):
            value, bad = undisturbed(measured, 0 if disturbed else AGAIN)  # once marked, repeating is in vain
            values.append(value)
            disturbed |= bad
        return Figure(name, unit, statistics.median(values), min(values), max(values), disturbed)

    def rate(self, name: str, unit: str, run: Callable[[int], float], clock: Clock = time.thread_time) -> Figure:
        """Rate of `run(amount) -> work done`, after a warm-up that also finds the right amount.

        Args:
            name: name of the figure.
            unit: its unit.
            run: what is measured.
            clock: gives seconds. The CPU time of this thread, for work that one thread does, is on a quiet machine the
                time on the wall, and suffers less on a busy one; work of several threads needs `time.perf_counter`.
        """
        run(1)  # compiling, or loading what is compiled
        amount, spent = 1, spent_on(run, 1, clock)
        while spent < 0.1 * self.seconds:
            amount *= 2
            spent = spent_on(run, amount, clock)
        amount = max(1, round(amount * self.seconds / spent))

        def measured() -> float:
            started = clock()
            work = run(amount)
            return work / (clock() - started)

        return self.of(name, unit, measured)


def spent_on(run: Callable[[int], float], amount: int, clock: Clock) -> float:
    """Seconds that a run takes."""
    started = clock()
    run(amount)
    return clock() - started
