"""Other processes, seen from outside (Linux)."""

import time
from collections.abc import Sequence
from pathlib import Path


def alive(process: int) -> bool:
    """Whether a process of that number runs; one that has ended and was not waited for does not."""
    try:
        return "zombie" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def all_end(processes: Sequence[int], seconds: float = 5.0) -> bool:
    """Wait for processes to end; whether all have within these seconds."""
    end = time.monotonic() + seconds
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.1)
    return not any(map(alive, processes))
