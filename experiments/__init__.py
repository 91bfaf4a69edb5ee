"""The programs that people run: `python -m experiments.NAME --help`."""

import os
import signal
import sys

# How long torch's threads wait awake for their next work: by default so long that a second busy process makes them
# many times slower. docs/performance.md has what was measured.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def end_quietly(number: int, frame: object) -> None:
    """End with the exit status of a program that Ctrl-C has stopped."""
    os._exit(128 + number)  # an exception may be turned into another by what is being imported


# A program of this package is being started: until it runs, Ctrl-C would be told with all that is then being imported.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, end_quietly)
