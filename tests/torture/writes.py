"""Let programs die, or the disk fill, at each write in turn, and let them go on: they end as if nothing had been."""

import os
import random
from collections.abc import Callable
from pathlib import Path

from tests.torture.inputs import programs
from tests.torture.inputs.programs import PROGRAMS, Program

CALLS = ("fsync", "replace")
SHORT = 1  # faults of each kind and program in the short form


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


def run(long: bool, seed: int) -> dict[str, int]:
    """Let every program die at its calls of fsync and replace, and fill the disk.

    Args:
        long: at every call, and 20 sizes of the disk; otherwise one drawn call of each kind and one size.
        seed: of what is drawn.

    Returns:
        Numbers of deaths, of full disks that were told in a line, and of runs compared.

    Raises:
        AssertionError: a program cannot go on, ends otherwise, or tells of a full disk in another way.
    """
    chance, counts = random.Random(seed), {"deaths": 0, "full disks": 0, "runs compared": 0}
    programs.warm_up()
    with programs.places() as place:
        for name, program in PROGRAMS.items():
            expected, _ = programs.undisturbed(program, place(), name)

            for call in CALLS:
                folder = place()
                assert disturbed(program, folder, count_calls(call, folder)) == 0
                calls = folder.with_suffix(".calls")
                number = int(calls.read_text(encoding="utf-8")) if calls.exists() else 0
                faults = [(k, after) for k in range(1, number + 1) for after in (False, True)]
                for k, after in faults if long else chance.sample(faults, min(SHORT, len(faults))):
                    folder, what = place(), f"{name} dies {'after' if after else 'before'} {call} {k} of {number}"
                    assert disturbed(program, folder, die_at(call, k, after)) == 9, what
                    counts["deaths"] += 1
                    programs.go_on(program, folder, expected, what)
                    counts["runs compared"] += 1
            for _ in range(20 if long else SHORT):
                folder, size = place(), int(10 ** chance.uniform(2.7, 5.0))
                what = f"{name} on a disk that is full after {size} bytes of a file"
                status = disturbed(program, folder, lambda size=size: programs.limit_files(size))
                told = folder.with_suffix(".told").read_text(encoding="utf-8", errors="replace")
                assert status in (0, 1), f"{what}: {told[-2000:]}"
                if status:
                    assert len(told) < 300 and told.count("\n") == 1 and told.startswith("error: "), f"{what}: {told}"
                    counts["full disks"] += 1
                programs.go_on(program, folder, expected, what)
                counts["runs compared"] += 1
    return counts
