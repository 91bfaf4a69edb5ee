"""Other processes, seen from outside (Linux)."""

from pathlib import Path


def alive(process: int) -> bool:
    """Whether a process of that number runs; one that has ended and was not waited for does not."""
    try:
        return "zombie" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False
