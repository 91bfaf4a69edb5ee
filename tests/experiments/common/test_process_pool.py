"""Worker processes: they leave Ctrl-C to their parent, end with it, and their end is noticed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from experiments.common.process_pool import results
from experiments.common.tasks import AHEAD, WorkerSettings, results_in_order
from samurai_env.core.notices import QUIET
from tests.common.processes import alive, all_end

ROOT = Path(__file__).resolve().parents[3]


def never():
    return False


@njit(nogil=True)
def compute_for_ever(count):
    while count >= 0:
        count += 1
        if count > 1_000_000:
            count = 0
    return count


def note_and_compute(path):
    Path(path).write_text(str(os.getpid()), encoding="utf-8")
    compute_for_ever(np.int64(0))


def interrupted(seconds):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(seconds)
    return multiprocessing.parent_process() is not None


def killed(_):
    os.kill(os.getpid(), signal.SIGKILL)


def large(number):
    return np.full(1_000_000, number, np.uint8)


@pytest.mark.parametrize("processes", [1, 2])
def test_each_task_comes_with_its_result(processes):
    taken = []
    tasks = (taken.append(number) or number for number in range(-6, 0))
    found = {}
    for task, result in results(abs, tasks, processes, never):
        found[task] = result
        assert len(taken) <= len(found) + processes  # a task may depend on the results before
    assert found == {number: -number for number in range(-6, 0)}
    assert not multiprocessing.active_children()


def wait_for_file(path):
    while path and not Path(path).exists():
        time.sleep(0.01)
    return path


def test_results_that_wait_for_a_slow_task_are_bounded(tmp_path):
    taken = []
    slow = str(tmp_path / "go")
    total, most = 100 * AHEAD, 5 * AHEAD

    def tasks():
        for number in range(total):
            taken.append(number)
            yield "" if number else slow

    def held_up():  # asked a few times a second: lets the slow task go when nothing is taken any more
        if len(taken) > 1 and held_up.before == len(taken) and time.monotonic() > held_up.at:
            assert len(taken) <= most
            Path(slow).touch()
        if held_up.before != len(taken):
            held_up.before, held_up.at = len(taken), time.monotonic() + 0.5
        return False

    held_up.before, held_up.at = 0, 0.0
    workers = WorkerSettings(processes=2, ray=False)
    found = [task for task, _ in results_in_order(wait_for_file, tasks(), workers, held_up)]
    assert found == [slow] + [""] * (total - 1)


def test_no_tasks_start_no_process():
    assert list(results(abs, [], 2, never)) == []


def test_workers_survive_ctrl_c_and_the_end_does_not_wait_for_their_tasks():
    handler = signal.getsignal(signal.SIGINT)
    coming = results(interrupted, [0.0, 0.0, 600, 600, 600], 2, never)
    for _ in range(2):
        task, in_a_worker = next(coming)
        assert signal.getsignal(signal.SIGINT) is handler
        assert in_a_worker
        assert task == 0.0
    begun = time.monotonic()
    coming.close()
    assert time.monotonic() < begun + 30
    assert not multiprocessing.active_children()


def test_stopping_while_large_results_are_on_their_way():
    coming = results(large, range(100), 2, never)
    assert len({len(next(coming)[1]) for _ in range(3)}) == 1
    coming.close()
    assert not multiprocessing.active_children()


def test_a_killed_worker_is_an_error_and_not_waited_for():
    with pytest.raises(ChildProcessError, match="a worker process was killed"):
        list(results(killed, range(3), 2, never))


def kill_once(folder):
    """Kill the worker where the folder is not there yet."""
    if not Path(folder).exists():
        Path(folder).mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return len(folder)


def test_what_a_killed_worker_was_doing_is_done_again(tmp_path, monkeypatch, capfd):
    monkeypatch.delenv(QUIET, raising=False)
    there, gone = str(tmp_path), str(tmp_path / "gone")
    tasks = [there, gone, there, there]
    assert sorted(results(kill_once, tasks, 2, never)) == sorted((task, len(task)) for task in tasks)
    assert capfd.readouterr().err == "samurai_env: a worker process was killed; what it was doing is done again\n"


def rest(seconds):
    time.sleep(seconds)
    return seconds


def test_workers_that_had_no_task_do_not_keep_the_others_from_ending(tmp_path):
    """The first worker does everything. Those that begin later wait for a task meanwhile, one with the queue's lock."""
    code = f"""if True:
        import os, time
        from experiments.common.process_pool import results
        from tests.experiments.common.test_process_pool import never, rest
        if __name__ == "__main__":
            print([seconds for _, seconds in results(rest, [0.0, 0.0, 0.0, 3.0], 3, never)])
        else:
            try:
                os.mkdir({str(tmp_path / "first")!r})
            except FileExistsError:
                time.sleep(1.5)
    """
    script = tmp_path / "parent.py"
    script.write_text(code, encoding="utf-8")
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], env=paths, capture_output=True, text=True, timeout=100)
    assert done.stdout == "[0.0, 0.0, 0.0, 3.0]\n", done.stderr


def test_what_a_task_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(results((1).__floordiv__, [1, 0], 1, never))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_workers_end_within_seconds_of_a_killed_parent(tmp_path):
    files = [tmp_path / "one", tmp_path / "two"]
    code = f"""if True:
        from experiments.common.process_pool import results
        from tests.experiments.common.test_process_pool import never, note_and_compute
        if __name__ == "__main__":
            list(results(note_and_compute, {[str(file) for file in files]!r}, 2, never))
    """
    script = tmp_path / "parent.py"
    script.write_text(code, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": str(ROOT)})
    while not all(file.exists() and file.read_text() for file in files):
        assert parent.poll() is None
        time.sleep(0.1)
    time.sleep(0.5)  # into compiled code that does not end
    workers = [int(file.read_text()) for file in files]
    assert all(map(alive, workers))
    parent.kill()
    parent.wait()
    assert all_end(workers)
