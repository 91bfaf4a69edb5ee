"""A Ray that a program has started ends with it, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.common.processes import alive, all_end

pytest.importorskip("ray", reason="ray is not installed; make ray runs these tests with it")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_within_seconds_of_their_program(number, tmp_path):
    files = [tmp_path / "one", tmp_path / "two"]
    script = tmp_path / "parent.py"
    script.write_text(
        f"""if True:
        from contextlib import closing
        from experiments.common.interrupts import Interrupt
        from experiments.common.tasks import WorkerSettings, results
        from tests.ray.work import note_and_spin
        workers = WorkerSettings(processes=2, ray=True)
        tasks = {[str(file) for file in files]!r}
        with Interrupt() as stop, closing(results(note_and_spin, tasks, workers, lambda: stop.asked)) as found:
            list(found)
        print("stopped")
        """,
        encoding="utf-8",
    )
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    parent = subprocess.Popen(
        [sys.executable, script],
        env={**environment, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    while not all(file.exists() and file.read_text() for file in files):
        assert parent.poll() is None
        time.sleep(0.1)
    workers = [int(file.read_text()) for file in files]
    assert all(map(alive, workers))
    if number == signal.SIGINT:
        os.killpg(parent.pid, number)  # as a terminal does
        assert parent.communicate(timeout=30)[0] == "stopped\n"
        assert parent.returncode == 0
    else:
        parent.kill()
        parent.wait()
    assert all_end(workers)
