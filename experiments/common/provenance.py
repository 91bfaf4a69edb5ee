"""With what a result was made: the commit of the code, and the machine."""

import os
import platform
import subprocess
from functools import cache
from pathlib import Path

from llvmlite import binding

ROOT = Path(__file__).resolve().parents[2]  # of the clone
RESULTS = ROOT / "experiments" / "results"


def commit() -> str:
    """The commit of the clone this runs from, with a + if code was changed or added; "unknown" outside one."""
    code = ["samurai_env", "agents", "experiments/*.py", ":(exclude)agents/best.json"]  # written from results

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != ROOT:
            return "unknown"  # installed below somebody's own repository
        return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "--", *code) else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def cpu_name() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def instruction_set() -> str:
    """The widest vector instructions that compiled code and torch use here, such as "AVX-512, bfloat16" or "AVX2"."""
    features = binding.get_host_cpu_features()
    known = {"avx512bw": "AVX-512", "avx2": "AVX2", "avx": "AVX", "sve": "SVE", "neon": "NEON"}
    widest = next((name for feature, name in known.items() if features.get(feature)), "no vector instructions known")
    return widest + (", bfloat16" if features.get("avx512bf16") else "")


@cache
def machine() -> str:
    """Name, number of cores and vector instructions of the processor."""
    return f"{cpu_name()}, {os.cpu_count()} cores, {instruction_set()}"


def as_list(kept: str | list[str]) -> list[str]:
    """Commits or machines of a file; older files have a string, the last one."""
    return [kept] * bool(kept) if isinstance(kept, str) else list(kept)


def add_new(kept: list[str], now: str) -> None:
    """Add the commit or machine of a run, unless it is there."""
    if now not in kept:
        kept.append(now)
