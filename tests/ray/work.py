"""What the workers of these tests do; also for `tests.torture.nodes`."""

import hashlib
import os
import signal
import socket
import time
from pathlib import Path

import numpy as np


def never():
    return False


def digest(task):
    """Take a while; the same for a task wherever it runs."""
    number, seconds = task
    time.sleep(seconds)
    return hashlib.sha256(np.arange(number, number + 100_000).tobytes()).hexdigest()


def note_and_spin(path):
    Path(path).write_text(str(os.getpid()), encoding="utf-8")
    while True:
        pass


def kill_once(folder):
    if not Path(folder).exists():
        Path(folder).mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    return folder


def meet(task):
    """Wait until two nodes work at once, for half a minute at most; what tells nodes of one machine apart.

    That is the process of the node that started this one.
    """
    folder, _ = task
    node = socket.gethostname(), os.getppid()
    Path(folder, "-".join(map(str, node))).touch()
    end = time.monotonic() + 30
    while len([*Path(folder).iterdir()]) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    return node


def large(number):
    return np.full(4 << 20, number, np.uint8)


def divide(number):
    return 1 // number
