"""Which tests share a worker of pytest-xdist: those of one game and number of players.

Each such pair has records of its own, for which numba compiles all kernels anew: more than a minute and 100 MB.
Workers that take tests as they come compile the same code at the same moment, and in the end each holds all of it.
"""

import re
from typing import Any

import pytest

PAIR = re.compile(r"\b(samurai(?:_card|_spirit)?)(?:-| players=)(\d)")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out the tests of a pair as one piece, the largest pieces first, then the other tests one by one."""
    from xdist.scheduler import LoadScopeScheduling

    class Pairs(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            found = PAIR.search(nodeid)
            return f"{found[1]}-{found[2]}" if found else nodeid

    return Pairs(config, log)
