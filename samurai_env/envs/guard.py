"""One thread at a time: a guard that keeps others out of an environment while a call is under way."""

import threading
from typing import Any


class Guard:
    """A context that refuses a thread while another is inside.

    The same thread may enter again: an exit missed because of Ctrl-C locks nobody out. A copy is a new guard.

    Raises:
        RuntimeError: another thread is inside.
    """

    def __init__(self) -> None:
        lock = threading.RLock()
        self.enter, self.leave = lock.acquire, lock.release

    @staticmethod
    def refusal() -> RuntimeError:
        """Return the error to raise where `enter(False)` is false."""
        return RuntimeError("another thread uses this environment right now: give each thread one of its own")

    def __enter__(self) -> None:
        if not self.enter(False):
            raise self.refusal()

    def __exit__(self, *error: object) -> None:
        self.leave()

    def __reduce__(self) -> tuple[Any, ...]:
        return Guard, ()
