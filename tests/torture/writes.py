"""Let programs die, or the disk fill, at each write in turn, and let them go on: they end as if nothing had been.

python -m tests.torture writes --long --seed 0
python -m tests.torture writes --long --seed 0 --first 200   # go on there
"""

import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.torture.inputs import programs
from tests.torture.inputs.programs import PROGRAMS, Program

CALLS = ("fsync", "replace")
SHORT, DISKS = 1, 20  # faults of each kind and program in the short form; sizes of the disk in the long one
KNOWN = 10  # faults between two words on how far it has come

Fault = tuple[str, bool, Callable[[], None]]  # what happens, whether the program dies of it, and what makes it


def count_calls(name: str, folder: Path) -> Callable[[], None]:
    """Note in a file how often a function of `os` is called."""
    real, found = getattr(os, name), [0]

    def call(*given):
        found[0] += 1
        (folder.with_suffix(".calls")).write_text(str(found[0]), encoding="utf-8")
        return real(*given)

    return lambda: setattr(os, name, call)


def die_at(name: str, number: int, after: bool) -> Callable[[], None]:
    """End the process, without any cleaning up, before or after a call of a function of `os`."""
    real, count = getattr(os, name), [0]

    def call(*given):
        count[0] += 1
        if count[0] == number and not after:
            os._exit(9)
        result = real(*given)
        if count[0] == number:
            os._exit(9)
        return result

    return lambda: setattr(os, name, call)


def disturbed(program: Program, folder: Path, fault: Callable[[], None]) -> int:
    """Run the program with a fault; the exit status."""

    def work() -> None:
        fault()
        program.run(folder)

    return programs.end(programs.start(work, folder.with_suffix(".told")))


def faults_of(program: Program, name: str, place: Callable[[], Path], chance: random.Random, long: bool) -> list[Fault]:
    """What a program is to suffer, in turn; see `run`."""
    found: list[Fault] = []
    for call in CALLS:
        folder = place()
        assert disturbed(program, folder, count_calls(call, folder)) == 0
        calls = folder.with_suffix(".calls")
        number = int(calls.read_text(encoding="utf-8")) if calls.exists() else 0
        deaths = [(k, after) for k in range(1, number + 1) for after in (False, True)]
        for k, after in deaths if long else chance.sample(deaths, min(SHORT, len(deaths))):
            what = f"{name} dies {'after' if after else 'before'} {call} {k} of {number}"
            found.append((what, True, die_at(call, k, after)))
    for _ in range(DISKS if long else SHORT):
        size = int(10 ** chance.uniform(2.7, 5.0))
        what = f"{name} on a disk that is full after {size} bytes of a file"
        found.append((what, False, partial(programs.limit_files, size)))
    return found


def suffer(program: Program, folder: Path, fault: Fault) -> str:
    """Run the program with a fault; what was counted.

    Raises:
        AssertionError: it ended in another way than it should.
    """
    what, deadly, make = fault
    status = disturbed(program, folder, make)
    if deadly:
        assert status == 9, what
        return "deaths"
    told = folder.with_suffix(".told").read_text(encoding="utf-8", errors="replace")
    assert status in (0, 1), f"{what}: {told[-2000:]}"
    if not status:
        return "disks that were large enough"
    assert len(told) < 300 and told.count("\n") == 1 and told.startswith("error: "), f"{what}: {told}"
    return "full disks"


def run(long: bool, seed: int, first: int = 0) -> dict[str, int]:
    """Let every program die at its calls of fsync and replace, and fill the disk.

    Args:
        long: at every call, and 20 sizes of the disk; otherwise one drawn call of each kind and one size.
        seed: of what is drawn.
        first: how many of the faults of this `seed` programs have suffered already, in an earlier run.

    Returns:
        Numbers of deaths, of full disks that were told in a line, of disks with room enough, and of runs compared.

    Raises:
        AssertionError: a program cannot go on, ends otherwise, or tells of a full disk in another way.
    """
    chance, counts, done = random.Random(seed), Counter[str](), 0
    programs.warm_up()
    with programs.places() as place:
        for name, program in PROGRAMS.items():
            faults = faults_of(program, name, place, chance, long)
            if done + len(faults) > first:
                expected, _ = programs.undisturbed(program, place(), name)
            for fault in faults:
                if done >= first:
                    folder = place()
                    counts[suffer(program, folder, fault)] += 1
                    programs.go_on(program, folder, expected, fault[0])
                    counts["runs compared"] += 1
                done += 1
                if done > first and done % KNOWN == 0:
                    print(f"writes: nothing lost up to --first {done}", file=sys.stderr, flush=True)
    return dict(counts)
