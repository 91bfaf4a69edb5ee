"""Run tasks and yield their results as they come, in processes of this machine or on a Ray cluster: one interface."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import TypeVar

from experiments.common import process_pool
from experiments.common.ranges import Processes

Task = TypeVar("Task")
Result = TypeVar("Result")
Settings = TypeVar("Settings", bound="WorkerSettings")
AHEAD = 8  # results that wait for their turn, at most, for each task in work
RAY_ADDRESS = "RAY_ADDRESS"  # environment variable of Ray: the cluster to work on


@dataclass(kw_only=True)
class WorkerSettings:
    """Who does the work of a program; its results do not depend on it."""

    processes: Processes = field(default_factory=lambda: os.cpu_count() or 1)
    """Worker processes; 1 works in the process itself."""
    ray: bool = field(default_factory=lambda: bool(os.environ.get(RAY_ADDRESS)))
    """Work on all CPUs of the Ray cluster at RAY_ADDRESS; without one, on a Ray started here with --processes CPUs."""

    def given_to(self, settings: Settings) -> Settings:
        """The settings of another program with these workers."""
        return replace(settings, processes=self.processes, ray=self.ray)


def results(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    workers: WorkerSettings,
    stopped: Callable[[], bool],
    may_take: Callable[[], bool] = lambda: True,
) -> Generator[tuple[Task, Result], None, None]:
    """Do tasks in workers; each task with its result as it comes, until `stopped` says so, or soon after.

    A task is taken when a worker will soon be free, so that it can depend on the results before, and no more than
    about two for each worker are in memory. When a worker is killed, what it was doing is done again. Close the
    generator (`contextlib.closing`): what the workers still do is then broken off.

    Args:
        work: a function of a module that workers can import. It must give the same for a task wherever it runs.
        tasks: taken one by one.
        workers: how many, and where.
        stopped: asked a few times a second.
        may_take: asked before a task is taken; while tasks are in work, it may say no.

    Raises:
        ChildProcessError: workers are killed again and again.
        ValueError: Ray is asked for and not installed, or a node has other code than this program.
        ConnectionError: there is no Ray cluster at the address.
        Exception: what a task raises.
    """
    if not workers.ray:
        return process_pool.results(work, tasks, workers.processes, stopped, may_take)
    if find_spec("ray") is None:
        raise ValueError("--ray (or RAY_ADDRESS) needs ray: pip install ray; --no-ray works without")
    from experiments.common import ray_tasks

    return ray_tasks.results(work, tasks, workers.processes, stopped, may_take)


def results_in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], workers: WorkerSettings, stopped: Callable[[], bool]
) -> Generator[tuple[Task, Result], None, None]:
    """As `results`, in the order of the tasks; what comes early is kept until its turn.

    No task is taken while very many results wait for a slow one.
    """
    early: dict[int, tuple[Task, Result]] = {}
    following = taken = 0

    def numbered() -> Iterator[tuple[int, Task]]:
        nonlocal taken
        for task in tasks:
            taken += 1
            yield taken - 1, task

    def may_take() -> bool:
        in_work = taken - following - len(early)
        return len(early) < AHEAD * max(1, in_work)

    coming = results(partial(_second, work), numbered(), workers, stopped, may_take)
    try:
        for (number, task), result in coming:
            early[number] = task, result
            while following in early:
                yield early.pop(following)
                following += 1
    finally:
        coming.close()


def _second(work: Callable[[Task], Result], numbered: tuple[int, Task]) -> Result:
    return work(numbered[1])
