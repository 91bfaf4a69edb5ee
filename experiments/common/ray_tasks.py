"""Tasks on a Ray cluster: what a killed worker or node was doing is done again by another."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before it is imported: no reports to its makers
os.environ.setdefault("RAY_worker_niceness", "0")  # workers started here take turns with others as processes do
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what it will do anyway, without a warning

import ray
from ray.exceptions import RayError, RayTaskError

from experiments.common.provenance import commit
from samurai_env import __version__
from samurai_env.core.texts import one_line

Task = TypeVar("Task")
Result = TypeVar("Result")
LOOK = 0.2  # seconds between two looks at whether to stop
CPUS_LOOK = 2.0  # seconds between two looks at how many CPUs the cluster has
PATIENCE = 10.0  # seconds to reach the cluster
HEALTH = 30.0  # seconds for the answer of its head, which a busy machine takes long to ask for
RETRIES = 20  # of a task whose worker or node was killed
STORE = 256 << 20  # bytes of the object store of a Ray started here


class Program(NamedTuple):
    """The program that hands out tasks; workers follow it."""

    host: str
    process: int
    folder: str
    """Its working directory, from which networks are named."""
    code: str
    """Version and commit."""


def start(cpus: int) -> None:
    """Join the cluster at RAY_ADDRESS, or start one of this machine alone, which ends with the process.

    Raises:
        ConnectionError: there is no such cluster.
    """
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address:
            _check_reachable(address)
            ray.init(address=address, **quiet)
        else:
            ray.init("local", num_cpus=cpus, include_dashboard=False, object_store_memory=STORE, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        where = f"RAY_ADDRESS={address}" if address else "this machine"
        raise ConnectionError(f"no Ray on {one_line(where, 80)}: {one_line(error, 150)}") from None


def _check_reachable(address: str) -> None:
    """Refuse an address at which no Ray answers, which Ray itself would try for minutes.

    Raises:
        OSError: nobody listens, or something else than Ray does.
    """
    host, _, port = address.rpartition("/")[2].rpartition(":")
    if not (host and port.isdecimal()):  # others are words, such as auto
        return
    socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    question = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", f"{host}:{port}"]
    try:
        healthy = subprocess.run(question, capture_output=True, timeout=HEALTH, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        healthy = False
    if not healthy:
        raise OSError("what listens there does not answer as the head of a Ray cluster does")


def results(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    cpus: int,
    stopped: Callable[[], bool],
    may_take: Callable[[], bool] = lambda: True,
) -> Generator[tuple[Task, Result], None, None]:
    """See `experiments.common.tasks.results`; `cpus` are those of a Ray that has to be started here."""
    start(cpus)
    tasks = iter(tasks)
    submit = ray.remote(num_cpus=1, max_retries=RETRIES)(_do).remote
    program = this_program()
    running: dict[Any, Task] = {}
    looked = limit = 0.0
    try:
        while not stopped():
            if time.monotonic() - looked > CPUS_LOOK:  # nodes come and go
                looked = time.monotonic()
                limit = _in_flight()
            while len(running) < limit and may_take() and (task := next(tasks, None)) is not None:
                running[submit(program, work, task)] = task
            if not running:
                return
            if ray.wait([*running], timeout=LOOK)[0]:
                for done in ray.wait([*running], num_returns=len(running), timeout=0)[0]:
                    yield running.pop(done), result_of(done)
    finally:
        for left in running:
            ray.cancel(left, force=True)


def _in_flight() -> int:
    """How many tasks to have submitted: more than there are CPUs, so that a cluster that can grow does."""
    cpus = int(ray.cluster_resources().get("CPU", 0))
    return cpus + max(1, cpus // 2)


def result_of(done: Any, who: str = "a task") -> Any:
    """The result of a call on Ray; `who` made it.

    Raises:
        ChildProcessError: it was given up, after its workers were killed.
        Exception: what it raised there.
    """
    try:
        return ray.get(done)
    except RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    except RayError as error:
        raise ChildProcessError(f"{who} was given up: its workers were killed; {one_line(error, 150)}") from None


def this_program() -> Program:
    """The running program: its machine, process, folder and code, which workers take on."""
    return Program(socket.gethostname(), os.getpid(), os.getcwd(), _code())


def _code() -> str:
    return f"version {__version__}, commit {commit()}"


def _do(program: Program, work: Callable[[Task], Result], task: Task) -> Result:
    """In a worker: do a task as the program would."""
    follow(program)
    return work(task)


@cache
def follow(program: Program) -> None:
    """Take on the program's folder, one thread, and its end.

    Raises:
        ValueError: this node has other code, with which results could be others, or no such folder.
    """
    host = socket.gethostname()
    if not Path(program.folder).is_dir():
        raise ValueError(f"node {host} has no folder {program.folder}: put the clone and its runs there")
    os.chdir(program.folder)
    if (here := _code()) != program.code:
        raise ValueError(f"node {host} has {here}, this program {program.code}: give all nodes the same commit")
    os.environ["OMP_NUM_THREADS"] = "1"  # for a torch that is still to be loaded
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    if host == program.host:  # Ray itself ends the workers of a lost program, here within seconds, elsewhere later
        threading.Thread(target=_end_with, args=(program.process,), daemon=True).start()


def _end_with(process: int) -> None:
    while True:
        time.sleep(LOOK)
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            os._exit(1)
        except PermissionError:  # another user's, and there
            continue
