"""Results of long work, written while they come."""

import time
from collections.abc import Callable
from types import TracebackType

SECONDS = 20.0  # between two times that results are written


class PeriodicSave:
    """Within this context results are written every 20 seconds, in the end, and before an error is raised.

    An agent may fail after hours: what was done by then is kept. An error before anything was done writes nothing.
    """

    def __init__(self, write: Callable[[], object]) -> None:
        """Args: write: writes all results so far."""
        self._write = write
        self._pending = False

    def __enter__(self) -> "PeriodicSave":
        self._last = time.monotonic()
        return self

    def added(self) -> None:
        """Say that there is a new result."""
        self._pending = True
        if time.monotonic() - self._last > SECONDS:
            self._write()
            self._pending, self._last = False, time.monotonic()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None or self._pending:
            self._write()
