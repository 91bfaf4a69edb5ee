"""Ctrl-C while a program is still being imported."""

import os
import signal
import sys


def end_quietly(number: int, frame: object) -> None:
    """End with the exit status of a program that Ctrl-C has stopped."""
    os._exit(128 + number)  # an exception may be turned into another by what is being imported


def be_quiet_while_imported() -> None:
    """Until a program started by `python -m` runs, Ctrl-C would print a traceback of all that is being imported."""
    if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_quietly)
