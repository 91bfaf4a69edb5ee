"""A run of all tests with pytest-xdist: what is compiled first, and which tests share a worker.

Each game and number of players has states of its own, for which numba compiles all kernels again: most of a minute and
300 MB. So a run of everything first compiles each pair in a process of its own, whose memory goes with it. Workers that
compile as they come to it compile the same code at the same moment, and in the end each has the memory of all of it.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.common.renewal import Renewal

PAIR = re.compile(r"\b(samurai(?:_card|_spirit)?)(?:-| players=)(\d)")
# Folders whose files have fixtures that take seconds, or programs that use a processor alone: a file is one piece.
WHOLE_FILES = ("tests/docs", "tests/experiments", "tests/mini", "tests/package", "tests/web")
SLOWEST = "tests/cuda/test_simulator.py::test_in_the_simulator"  # minutes; as the last one it has a worker alone


if "PYTEST_XDIST_WORKER" in os.environ:  # before torch is loaded: threads of several workers wait for one another
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Bound the memory of a worker (Linux tells how much a process has)."""
    if hasattr(config, "workerinput") and sys.platform == "linux":  # not a pytest that a test starts
        config.pluginmanager.register(Renewal(config))


def runs_everything(config: pytest.Config) -> bool:
    """Whether this is the process that starts the workers of a run of all tests."""
    several = (getattr(config.option, "numprocesses", None) or 0) > 1
    chosen = config.option.keyword or config.option.markexpr or config.option.collectonly
    return several and not chosen and config.args_source == pytest.Config.ArgsSource.TESTPATHS


@pytest.hookimpl(tryfirst=True)  # before xdist starts its workers
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile first. Whatever is wrong with the code, a test says so better."""
    if not runs_everything(session.config):
        return
    from tests.common.compile import tasks

    def run(task: tuple[str, ...]) -> None:
        command = [sys.executable, "-m", "tests.common.compile", *task]
        subprocess.run(command, cwd=session.config.rootpath, capture_output=True, check=False)

    with ThreadPoolExecutor(session.config.option.numprocesses) as pool:
        list(pool.map(run, tasks()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out the tests of a pair or file as one piece, the largest pieces first, then the other tests one by one.

    The slowest test comes right after the first pieces, whatever their size.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        def schedule(self) -> None:
            super().schedule()
            if SLOWEST in self.workqueue:
                self.workqueue.move_to_end(SLOWEST, last=False)

        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(WHOLE_FILES):
                return nodeid.partition("::")[0]
            found = PAIR.search(nodeid)
            return f"{found[1]}-{found[2]}" if found else nodeid

    return Pieces(config, log)
