"""What a run of all tests with pytest-xdist does about compiling.

Each game and number of players has records of its own, for which numba compiles all kernels anew: most of a minute
and 300 MB. A run of everything first compiles all pairs (`samurai-env warmup`). Then one worker gets all tests of a
pair: workers that take tests as they come compile what is left at the same moment, and in the end each holds all of it.
"""

import re
import subprocess
import sys
from typing import Any

import pytest

PAIR = re.compile(r"\b(samurai(?:_card|_spirit)?)(?:-| players=)(\d)")


def runs_everything(config: pytest.Config) -> bool:
    """Whether this is the process that starts the workers of a run of all tests."""
    several = (getattr(config.option, "numprocesses", None) or 0) > 1
    chosen = config.option.keyword or config.option.markexpr or config.option.collectonly
    return several and not chosen and config.args_source == pytest.Config.ArgsSource.TESTPATHS


@pytest.hookimpl(tryfirst=True)  # before xdist starts its workers
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile first. Whatever is wrong with the code, a test says so better."""
    if runs_everything(session.config):
        processes = str(session.config.option.numprocesses)
        command = [sys.executable, "-m", "experiments.command.main", "warmup", "--processes", processes]
        subprocess.run(command, cwd=session.config.rootpath, check=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out the tests of a pair as one piece, the largest pieces first, then the other tests one by one."""
    from xdist.scheduler import LoadScopeScheduling

    class Pairs(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            found = PAIR.search(nodeid)
            return f"{found[1]}-{found[2]}" if found else nodeid

    return Pairs(config, log)
