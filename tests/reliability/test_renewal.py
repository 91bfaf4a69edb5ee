"""Workers of the tests themselves: a child that has grown is replaced, and what happens in one is reported."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere workers run their tests themselves")

CONFTEST = """
from tests.common.renewal import Renewal, resident

def pytest_configure(config):
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Renewal(config, limit=resident() + 100))
"""
TESTS = """
import os, warnings
import pytest

HELD = []

@pytest.fixture(scope="module", autouse=True)
def note():
    with open("notes", "a") as file:
        print("begin", os.getpid(), os.getppid(), file=file)
    yield
    with open("notes", "a") as file:
        print("end", os.getpid(), os.getppid(), file=file)

@pytest.mark.parametrize("number", range(6))
def test_it_grows(number, tmp_path):
    assert len(HELD) == number % 3, "in a child of its own"
    HELD.append(b"1" * (60 << 20))

def test_it_warns():
    warnings.warn("look here")

def test_it_fails():
    assert "left" == "right"
"""


def run(folder: Path, tests: str, conftest: str = CONFTEST) -> tuple[int, str]:
    """A run with one worker: its exit status, and what it printed."""
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_it.py").write_text(tests)
    paths = {"PYTHONPATH": str(Path(__file__).parents[2])}
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | paths
    command = [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def test_what_has_grown_is_replaced_and_all_is_reported(tmp_path):
    status, printed = run(tmp_path, TESTS)
    assert status == 1
    assert "1 failed, 7 passed, 1 warning" in printed
    assert "assert 'left' == 'right'" in printed
    assert "UserWarning: look here" in printed
    notes = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
    assert [what for what, *_ in notes] == ["begin", "end"] * (len(notes) // 2), "fixtures are torn down"
    assert len({child for _, child, _ in notes}) == len(notes) // 2 == 3
    assert len({worker for *_, worker in notes}) == 1


def test_a_test_that_ends_its_process_is_named_and_the_next_ones_run(tmp_path):
    status, printed = run(tmp_path, "import os\n\ndef test_end(): os.kill(os.getpid(), 9)\n\ndef test_next(): pass\n")
    assert status == 1
    assert re.search(r"worker 'gw0' crashed while running 'test_it.py::test_end'", printed)
    assert "1 failed, 1 passed" in printed


def test_a_test_that_does_not_end_is_ended_and_its_place_printed(tmp_path):
    conftest = CONFTEST.replace("limit=resident() + 100", "longest=2")
    tests = "import time\n\ndef test_waits():\n    time.sleep(60)\n\ndef test_next(): pass\n"
    begun = time.monotonic()
    status, printed = run(tmp_path, tests, conftest)
    assert status == 1
    assert time.monotonic() < begun + 50
    assert re.search(r"worker 'gw0' crashed while running 'test_it.py::test_waits'", printed)
    assert re.search(r'test_it.py", line 4 in test_waits', printed)
    assert "1 failed, 1 passed" in printed
