"""Worker processes and Ctrl-C."""

import multiprocessing
import os
import signal
import time

from experiments.processes import until, workers


def test_a_worker_survives_ctrl_c_from_its_start_on():
    handler = signal.getsignal(signal.SIGINT)
    with workers(1) as pool:
        assert signal.getsignal(signal.SIGINT) is handler
        pid = multiprocessing.active_children()[0].pid
        os.kill(pid, signal.SIGINT)
        assert pool.apply(os.getpid) == pid
        os.kill(pid, signal.SIGINT)
        assert pool.apply(os.getpid) == pid


def test_results_come_until_there_are_no_more_or_it_is_time_to_stop():
    with workers(1) as pool:
        assert list(until(lambda: False, pool.imap(abs, [-1, 2, -3]))) == [1, 2, 3]
        begun = time.monotonic()
        assert list(until(lambda: time.monotonic() > begun + 0.3, pool.imap(time.sleep, [600]))) == []
        assert time.monotonic() < begun + 60  # a task that still runs is not waited for
