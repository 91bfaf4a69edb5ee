"""One thread at a time: a guard that keeps others out while a call is under way."""

import threading
from typing import Any


class Guard:
    """A context that refuses a thread while another is inside.

    The same thread may enter again: an exit missed because of Ctrl-C locks nobody out. A copy is a new guard.

    Args:
        what: what is guarded, for the error.

    Raises:
        RuntimeError: another thread is inside.
    """

    def __init__(self, what: str = "environment") -> None:
        self._what, lock = what, threading.RLock()
        self.enter, self.leave = lock.acquire, lock.release

    def refusal(self) -> RuntimeError:
        """Return the error to raise where `enter(False)` is false."""
        return RuntimeError(f"another thread uses this {self._what} right now: give each thread one of its own")

    def __enter__(self) -> None:
        if not self.enter(False):
            raise self.refusal()

    def __exit__(self, *error: object) -> None:
        self.leave()

    def __reduce__(self) -> tuple[Any, ...]:
        return Guard, (self._what,)
