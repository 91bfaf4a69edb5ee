"""Kill programs at random moments and let them go on: each ends bit by bit as the one that nobody killed."""

import os
import random
import signal
import sys
import time

from tests.torture.inputs import programs
from tests.torture.inputs.programs import PROGRAMS

KILLS = {False: 8, True: 300}


def run(long: bool, seed: int) -> dict[str, int]:
    """Kill and go on.

    Args:
        long: 300 kills; otherwise 8.
        seed: of the moments.

    Returns:
        Numbers of kills by program, of programs that had ended before, and of runs compared.

    Raises:
        AssertionError: a run could not go on, or ended otherwise; the text says which.
    """
    chance, counts = random.Random(seed), {"kills": 0, "ended before": 0, "runs compared": 0}
    programs.warm_up()
    with programs.places() as place:
        expected = {name: programs.undisturbed(program, place(), name) for name, program in PROGRAMS.items()}
        while counts["kills"] < KILLS[long]:
            for name, program in PROGRAMS.items():
                folder, delays = place(), []
                while not delays or chance.random() < 0.5:  # what goes on may be killed as well
                    delays.append(chance.uniform(0.0, expected[name][1]))
                    child = programs.start(lambda s=program, f=folder: s.run(f), folder.with_suffix(".told"))
                    time.sleep(delays[-1])
                    os.kill(child, signal.SIGKILL)
                    killed = programs.end(child) == -signal.SIGKILL
                    counts["kills" if killed else "ended before"] += 1
                    counts[name] = counts.get(name, 0) + killed
                reproducer = f"{name}, seed {seed}, killed after {', '.join(f'{delay:.3f} s' for delay in delays)}"
                programs.go_on(program, folder, expected[name][0], reproducer)
                counts["runs compared"] += 1
                programs.discard(folder)
            print(f"kills: {counts}", file=sys.stderr, flush=True)
    return counts
