"""Work in other processes, which leave Ctrl-C to their parent and end with it, however it ends."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from typing import TypeVar

from samurai_env.core.notices import notice

Task = TypeVar("Task")
Result = TypeVar("Result")
LOOK = 0.2  # seconds between two looks at whether to stop
RETRIES = 2  # after killed workers, without a result in between

_handing_over = threading.Lock()  # in a worker: held but for the time of a task


def results(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    processes: int,
    stopped: Callable[[], bool],
    may_take: Callable[[], bool] = lambda: True,
) -> Generator[tuple[Task, Result], None, None]:
    """See `experiments.common.tasks.results`; one process is this one.

    Workers know the games of the package only; this process also knows others.
    """
    tasks = iter(tasks)
    if processes == 1:
        while not stopped() and (task := next(tasks, None)) is not None:
            yield task, work(task)
        return
    waiting: deque[Task] = deque()  # taken, and not with a worker: the next one, or what killed workers were doing
    killed = 0  # since the last result
    while not stopped():
        running: dict[Future, Task] = {}
        try:
            with _workers(processes) as submit:
                while not stopped():
                    while len(running) <= processes and (waiting or (may_take() and _take(tasks, waiting))):
                        future = submit(work, waiting[0])
                        running[future] = waiting.popleft()
                    if not running:
                        return
                    for future in wait(running, LOOK, FIRST_COMPLETED).done:
                        result, killed = future.result(), 0
                        yield running.pop(future), result
        except BrokenProcessPool:
            killed += 1
            waiting.extend(running.values())
            if killed > RETRIES:
                raise ChildProcessError("a worker process was killed; perhaps there is too little memory") from None
            notice("killed", "a worker process was killed; what it was doing is done again")


def _take(tasks: Iterator[Task], waiting: deque[Task]) -> bool:
    """Take a task, if there is one more."""
    if (task := next(tasks, None)) is not None:
        waiting.append(task)
    return task is not None


@contextmanager
def _workers(processes: int) -> Iterator[Callable[..., Future]]:
    """A way to give work to processes that take no notice of Ctrl-C; at the end, what they still do is broken off."""
    context = multiprocessing.get_context("spawn")
    ending, end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(processes, context, _begin, (ending,))

    def submit(work: Callable[[Task], Result], task: Task) -> Future:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a process that starts now inherits this
        try:
            return pool.submit(_do, work, task)
        finally:
            signal.signal(signal.SIGINT, before)

    try:
        yield submit
    finally:
        end.close()
        pool.shutdown(cancel_futures=True)
        ending.close()


def _begin(ending: connection.Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"  # for a torch that is still to be loaded
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    _handing_over.acquire()
    end_with_parent()
    threading.Thread(target=_end_with_pool, args=(ending,), daemon=True).start()


def end_with_parent() -> None:
    """Let this process end when the one that started it has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait_for_its_end() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait_for_its_end, daemon=True).start()


def _end_with_pool(ending: connection.Connection) -> None:
    """Break a task off. A worker without one ends as the pool tells it to.

    It may be sending a result, and half of one would keep the parent waiting for the other half; or it waits for a task
    with the lock of their queue, and the other workers would wait for that lock for ever.
    """
    ending.poll(None)
    with _handing_over:
        os._exit(0)


def _do(work: Callable[[Task], Result], task: Task) -> Result:
    _handing_over.release()
    try:
        return work(task)
    finally:
        _handing_over.acquire()
