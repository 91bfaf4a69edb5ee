"""A worker of pytest-xdist runs its tests in a child, and in a new one when that has grown.

Loaded code stays in numba's memory until the process ends: some 450 signatures, 1 GB, for the tests of agents alone.
The worker collects the tests and never runs one, so that each child begins as small and clean as the first. A test that
never ends is ended, too, and named: a run of hours that somebody stops says nothing of which test it was.
"""

import multiprocessing
import os
import resource
import signal
import time
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

LIMIT = 1100  # MB of memory in which no further test begins; one test adds up to about 150
LONGEST = 1200.0  # seconds in which a test must end; the slowest takes 220 on an idle machine


def resident() -> int:
    """The memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20


class Reporter:
    """In the child: sends what pytest reports to the worker."""

    def __init__(self, config: pytest.Config, worker: Connection) -> None:
        self.config, self.worker = config, worker

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.worker.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.worker.send(("pytest_runtest_logreport", data))

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self.worker.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        if when == "runtest":  # pytest repeats the others to each plugin that comes later
            found = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
            self.worker.send(("pytest_warning_recorded", found))


class Renewal:
    """In the worker: has each test run by the child, and reports what that reports."""

    def __init__(self, config: pytest.Config, limit: int = LIMIT, longest: float = LONGEST) -> None:
        self.config, self.limit, self.longest = config, limit, longest
        self.child: Connection | None = None
        self.process = 0
        self.size = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        if self.child is None:
            self.begin(item.session)
            assert self.child is not None
        last = nextitem is None or self.size > self.limit
        indices = self.indices
        try:
            self.child.send((indices[item], None if last else indices[nextitem]))
            begun = time.monotonic()
            while isinstance(found := self.receive(begun), tuple):
                self.report(*found)
        except (EOFError, ConnectionError):
            os._exit(1)  # the test has ended its process: xdist says so, and starts another worker
        self.size = found
        if last:
            self.end()
        return True

    def receive(self, begun: float) -> Any:
        """What the child sends next. EOFError where it has ended, or is made to end since its test does not."""
        assert self.child is not None
        if not self.child.poll(max(0, begun + self.longest - time.monotonic())):
            os.kill(self.process, signal.SIGABRT)  # pytest's faulthandler prints where each thread is
            os.waitpid(self.process, 0)
            raise EOFError
        return self.child.recv()

    def report(self, hook: str, found: dict[str, Any]) -> None:
        """Call a hook with what the child sent."""
        if hook == "pytest_runtest_logreport":
            found = {"report": self.config.hook.pytest_report_from_serializable(config=self.config, data=found)}
        if hook == "pytest_warning_recorded":
            self.config.hook.pytest_warning_recorded.call_historic(kwargs=found)
        else:
            getattr(self.config.hook, hook)(**found)

    def begin(self, session: pytest.Session) -> None:
        """Start a child, a copy of this process."""
        self.indices = {item: index for index, item in enumerate(session.items)}
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # one folder for all children
        here, there = multiprocessing.Pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # xdist's thread only waits
            self.process = os.fork()
        if self.process:
            there.close()
            self.child, self.size = here, 0
            return
        here.close()
        try:
            self.serve(session, there)
        finally:
            os._exit(0)

    def serve(self, session: pytest.Session, worker: Connection) -> None:
        """In the child: run tests until one is the last."""
        plugins = self.config.pluginmanager
        for plugin in (self, next(p for p in plugins.get_plugins() if type(p).__name__ == "WorkerInteractor")):
            plugins.unregister(plugin)
        plugins.register(Reporter(self.config, worker))
        following: int | None = 0
        while following is not None:
            index, following = worker.recv()
            nextitem = None if following is None else session.items[following]
            self.config.hook.pytest_runtest_protocol(item=session.items[index], nextitem=nextitem)
            worker.send(resident())

    def end(self) -> None:
        """Wait for the child to end."""
        assert self.child is not None
        self.child.close()
        os.waitpid(self.process, 0)
        self.child = None
