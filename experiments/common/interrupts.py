"""Ctrl-C: quiet while a program is still being imported, an orderly stop while it works."""

import os
import signal
import sys
from types import FrameType, TracebackType


def end_quietly(number: int, frame: object) -> None:
    """End with the exit status of a program that Ctrl-C has stopped."""
    os._exit(128 + number)  # an exception may be turned into another by what is being imported


def be_quiet_while_imported() -> None:
    """Until a program started by `python -m` runs, Ctrl-C would print a traceback of all that is being imported."""
    if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_quietly)


class Interrupt:
    """While this context lasts, Ctrl-C only sets `asked`; a second Ctrl-C stops at once.

    It may be entered again while it lasts: a program of several parts then stops as a whole.

    Attributes:
        asked: whether Ctrl-C was pressed in this context.
    """

    def __init__(self) -> None:
        self.asked = False
        self._depth = 0

    def __enter__(self) -> "Interrupt":
        if self._depth == 0:
            self._before = signal.signal(signal.SIGINT, self._note)
        self._depth += 1
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._depth -= 1
        if self._depth == 0:
            signal.signal(signal.SIGINT, self._before)

    def end(self, hint: str = "the same command resumes") -> None:
        """End the program if Ctrl-C was pressed, once what was done is written and shown.

        Raises:
            KeyboardInterrupt: it was; `run_program` prints the hint and exits with the status of a stopped program.
        """
        if self.asked:
            raise KeyboardInterrupt(f"stopped; {hint}")
