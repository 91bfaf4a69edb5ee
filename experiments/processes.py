"""Worker processes that leave Ctrl-C to their parent."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.pool import IMapIterator, Pool
from typing import TypeVar

Result = TypeVar("Result")
LOOK = 0.2  # seconds between two looks at whether to stop


def _begin() -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


@contextmanager
def workers(processes: int) -> Iterator[Pool]:
    """A pool of processes that take no notice of Ctrl-C, also while they start; ended with the context.

    They know the games of the package only.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a process that starts now inherits this
    try:
        pool = multiprocessing.get_context("spawn").Pool(processes, _begin)
    finally:
        signal.signal(signal.SIGINT, before)
    with pool:
        yield pool


def until(stopped: Callable[[], bool], coming: "IMapIterator[Result]") -> Iterator[Result]:
    """The results of a pool's `imap`, until there are no more or `stopped` says so, soon after it does."""
    while not stopped():
        try:
            yield coming.next(timeout=LOOK)
        except multiprocessing.TimeoutError:
            continue
        except StopIteration:
            return
