"""The campaign on arguments: entry points with bad values, random play, forged games, all with bounds checks.

    python -m tests.torture arguments --long --seed 7
    python -m tests.torture arguments --long --seed 7 --first 3     # go on with the fourth round

The three parts of a round run in processes of their own, so that a crash is noticed, with compiled code that checks
every index, kept in a cache folder of its own. The first round compiles it, which takes many minutes.
"""

import argparse
import faulthandler
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(__file__).resolve().parent / "__pycache__" / "bounds"
LONGEST = 300  # characters of a refusal
DECISIONS, FORGED = 1_000_000, 600  # of random play; forged positions: of one round
LONG = 50  # rounds of the long form
SLOW = 600  # seconds that no call may take, its compilation included
HOURS = 12 * 3600


def run(long: bool, seed: int, first: int = 0) -> dict[str, int]:
    """Run the campaign; how often what was done.

    Args:
        long: 50 rounds in place of one.
        seed: another number, other values.
        first: how many rounds of this `seed` have been made already, by an earlier run.

    Raises:
        AssertionError: a fault, with what leads to it.
    """
    found: Counter[str] = Counter()
    for number in range(first, LONG if long else 1):
        for part in PARTS:  # one after another: at once each would compile the same
            with tempfile.TemporaryDirectory() as folder:
                child = _Child(part, 1000 * seed + number, Path(folder) / part)
                try:
                    counts = child.counts()
                finally:
                    child.process.kill()
            found.update(counts)
            print(f"arguments: nothing found in {part} of round {number}: {counts}", file=sys.stderr, flush=True)
        print(f"arguments: nothing found up to --first {number + 1}", file=sys.stderr, flush=True)
    return dict(found)


class _Child:
    """A process that does a part of the campaign, and writes down what it is about to do."""

    def __init__(self, part: str, seed: int, notes: Path) -> None:
        settings = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(CACHE), "PYTHONFAULTHANDLER": "1"}
        command = [sys.executable, "-m", "tests.torture.arguments", "--part", part, "--notes", str(notes)]
        self.notes = notes
        self.process = subprocess.Popen(
            [*command, "--seed", str(seed)],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def counts(self) -> dict[str, int]:
        out, errors = self.process.communicate(timeout=HOURS)
        if self.process.returncode:
            last = self.notes.read_text(errors="replace") if self.notes.exists() else "nothing"
            raise AssertionError(
                f"exit status {self.process.returncode} in {' '.join(self.process.args)}\nat {last}\n{errors[-4000:]}"
            )
        return json.loads(out.splitlines()[-1])


def fuzz(seed: int, notes: Path) -> Counter[str]:
    """Call every entry point with bad values, one at a time and several.

    Raises:
        AssertionError: a call that ended in anything but a valid result or a short refusal.
    """
    from tests.torture.inputs.bad_values import Guarded
    from tests.torture.inputs.entry_points import all_entry_points

    counts: Counter[str] = Counter()
    rng = random.Random(seed)
    with notes.open("w", encoding="utf-8", errors="replace") as file:
        for entry_point in all_entry_points(rng):
            for names, draw in _replaced(entry_point, rng):
                guarded = Guarded()
                arguments = {name: make() for name, make in entry_point.right.items()}
                for name in names:
                    arguments[name] = draw(guarded, entry_point.right[name]())
                where = f"round of seed {seed}: {entry_point.name}({', '.join(names)}) with {_words(arguments, names)}"
                file.seek(0)
                file.write(where[:1000].ljust(1000))
                file.flush()
                counts[_one(entry_point, arguments, guarded, where)] += 1
                counts["calls"] += 1
    return counts


def _replaced(entry_point: Any, rng: random.Random) -> Any:
    """Which arguments to replace in one call after another, each with how to draw a bad value for it."""
    import numpy as np

    from tests.torture.inputs.bad_values import Guarded, plain

    def fixed(number: int) -> Any:
        def draw(guarded: Guarded, right: Any) -> Any:
            values = plain() if number < len(plain()) else list(guarded.like(right, rng))
            return values[number if number < len(plain()) else (number - len(plain())) % len(values)]

        return draw

    def any_value(guarded: Guarded, right: Any) -> Any:
        values = plain()
        if isinstance(right, np.ndarray) and rng.random() < 0.7:
            values = list(guarded.like(right, rng))
        return rng.choice(values)

    yield (), None  # as it should be
    for name in entry_point.fuzzed:
        right = entry_point.right[name]()
        more = len(list(Guarded().like(right, rng))) if isinstance(right, np.ndarray) else 0
        numbers = range(len(plain()) + more)
        if len(entry_point.fuzzed) > 6:  # many alike
            numbers = rng.sample(numbers, 12)
        for number in numbers:
            yield (name,), fixed(number)
    if len(entry_point.fuzzed) > 1:
        for _ in range(10):
            yield tuple(rng.sample(entry_point.fuzzed, 2)), any_value


def _words(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    import numpy as np

    from samurai_env.core.texts import shown

    def words(value: Any) -> str:
        if isinstance(value, np.ndarray):
            kind = "states" if value.dtype.names else str(value.dtype)
            return f"{type(value).__name__} {kind} {value.shape} {value.strides} writable={value.flags.writeable}"
        return shown(value)

    return ", ".join(f"{name}={words(arguments[name])}" for name in names)


def _one(entry_point: Any, arguments: dict[str, Any], guarded: Any, where: str) -> str:
    """Make a call; whether it was taken or refused."""
    from gymnasium.error import Error as GymnasiumError

    from samurai_env.core.texts import shown

    refusals = (
        TypeError,
        ValueError,
        IndexError,
        KeyError,
        GymnasiumError,
        *((MemoryError,) if entry_point.counts else ()),
    )
    before = entry_point.unchanged()
    faulthandler.dump_traceback_later(SLOW, exit=True)
    try:
        for name in entry_point.counts:  # large numbers are right there, and only take memory
            if isinstance(arguments.get(name), int) and 1000 < arguments[name] < 2**62:
                return "left out"
        given = entry_point.call(**arguments)
    except refusals as error:
        text, outcome = str(error), "refused"
    except BaseException as error:
        raise AssertionError(f"{where}: {type(error).__name__}: {shown(str(error)[:300])}") from error
    else:
        try:
            entry_point.check(given, arguments)
        except Exception as error:
            raise AssertionError(f"{where}: taken, but gave {shown(given)}: {error}") from error
        text, outcome = "", "taken"
    assert len(text) < LONGEST, f"{where}: {len(text)} characters: {text[:600]}"
    assert "\n" not in text, f"{where}: lines: {text}"
    assert outcome == "taken" or entry_point.unchanged() == before, f"{where}: refused, but something has changed"
    guarded.check()
    return outcome


def play(seed: int, notes: Path) -> Counter[str]:
    """Random play of every variant, with bounds checks."""
    from tests.common.variants import every_variant
    from tests.torture.bounds import play as play_variant

    counts: Counter[str] = Counter()
    variants = every_variant()
    for number, variant in enumerate(variants):
        notes.write_text(f"play({variant!r}, {DECISIONS // len(variants)}, {1000 * seed + number})")
        for what, count in play_variant(variant, DECISIONS // len(variants), 1000 * seed + number).items():
            counts[f"{variant.game.name}: {what}"] += count
        counts["variants"] += 1
    return counts


def forged(seed: int, notes: Path) -> Counter[str]:
    """Forged positions of all games, each played to its end, with bounds checks."""
    from tests.torture.forged import play_all

    notes.write_text(f"play_all({FORGED}, {1000 * seed})")
    return play_all(FORGED, 1000 * seed)


PARTS: dict[str, Callable[[int, Path], Counter[str]]] = {"decisions": play, "forged": forged, "calls": fuzz}


def main() -> None:
    """The command line of one part."""
    parser = argparse.ArgumentParser(description="one part of one round; see `python -m tests.torture arguments`")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default 0)")
    parser.add_argument("--part", choices=PARTS, required=True)
    parser.add_argument("--notes", type=Path, required=True, help="a file that says what is being done")
    given = parser.parse_args()
    print(json.dumps(PARTS[given.part](given.seed, given.notes)))


if __name__ == "__main__":
    main()
