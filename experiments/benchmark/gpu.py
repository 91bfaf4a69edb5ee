"""Check and measure all that runs on a GPU, and keep it in one file: `make gpu` runs this.

    python -m experiments.benchmark.gpu --json runs/gpu.json

First `tests.cuda.check`, then `experiments.benchmark.on_gpu`, then pgx beside it. Each figure is written as it comes,
so a run that is cut off keeps its figures. The exit status is 1 if a game on the GPU differs from the CPU's or anything
could not be measured. Needs an NVIDIA GPU; `make gpu` makes the environments.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.benchmark.peer_table import FOLDER
from experiments.common.cli import command_line, run_program
from experiments.common.provenance import ROOT, commit, machine
from samurai_env import __version__
from samurai_env.core.texts import one_line
from samurai_env.files.atomic_write import write_atomically

PROGRAMS = {
    "check": (sys.executable, "-m", "tests.cuda.check"),
    "on_gpu": (sys.executable, "-m", "experiments.benchmark.on_gpu"),
    "pgx": (str(FOLDER / "pgx-gpu" / "bin" / "python"), "-m", "experiments.benchmark.peers.pgx_gpu"),
}
DIFFERS = 3  # exit status of a check that found differences
PARTS = ("checks", "steps", "threads", "ppo", "peers", "missing")
PACKAGES = ("numpy", "numba", "numba-cuda", "torch")
QUESTION = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")


@dataclass
class Config:
    """What to run, and where to keep it."""

    json: Path = Path("runs/gpu.json")
    """The file to write; experiments/results/gpu.json is what docs/background/performance.md shows."""
    programs: tuple[str, ...] = tuple(PROGRAMS)
    """Which of check, on_gpu and pgx to run."""
    check_games: int = 10_000
    """Games of each variant and form that are compared with the CPU's."""


def card() -> tuple[str, str]:
    """Name and driver of the first GPU.

    Raises:
        ValueError: there is none, or no driver.
    """
    try:
        done = subprocess.run(QUESTION, capture_output=True, text=True, check=False)
    except OSError:
        raise ValueError("nvidia-smi is not there: this needs an NVIDIA GPU and its driver") from None
    name, comma, driver = done.stdout.partition("\n")[0].partition(", ")
    if done.returncode or not comma:
        raise ValueError(f"nvidia-smi finds no GPU: {one_line(done.stdout + done.stderr, 150) or 'it names none'}")
    return name.strip(), driver.strip()


def figures(name: str, command: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The lines of JSON that a program prints, as they come; at last what is missing, if it ended badly."""
    count, differs = 0, False
    with tempfile.TemporaryFile("w+") as errors:
        try:
            running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
        except OSError:
            yield {"part": "missing", "text": f"{name} was not run: {command[0]} is not there"}
            return
        assert running.stdout is not None
        try:
            for line in running.stdout:
                if line.startswith("{") and line.endswith("}\n"):  # a killed program leaves half a line
                    try:
                        figure = {"part": "checks", **json.loads(line)}
                    except json.JSONDecodeError:
                        yield {"part": "missing", "text": f"{name} printed what is no figure: {one_line(line, 100)}"}
                        continue
                    yield figure
                    count, differs = count + 1, differs or bool(figure.get("wrong"))
        finally:
            running.stdout.close()
            status = running.wait()
        errors.seek(0)
        said = errors.read().strip().splitlines()
    if status and not (differs and status == DIFFERS):
        print("\n".join(said[-20:]), file=sys.stderr)
        last = one_line(said[-1], 150) if said else "no message"
        yield {"part": "missing", "text": f"{name} ended after {count} figures: {last}"}


def enter(report: dict[str, Any], figure: dict[str, Any]) -> None:
    """Put a figure into the report."""
    part = figure.pop("part")
    if part == "bandwidth":
        report |= figure
    else:
        report[part].append(figure["text"] if part == "missing" else figure)


def main(config: Config) -> None:
    """Run all, and keep it.

    Raises:
        ValueError: no GPU, or an unknown program.
    """
    if unknown := set(config.programs) - set(PROGRAMS):
        raise ValueError(f"--programs are {', '.join(PROGRAMS)}, not {', '.join(sorted(unknown))}")
    gpu, driver = card()
    report: dict[str, Any] = {
        **{"gpu": gpu, "driver": driver, "machine": machine(), "version": __version__, "commit": commit()},
        **{"command": command_line("experiments.benchmark.gpu", config)},
        **{"versions": {name: version(name) for name in PACKAGES}},
        **{part: [] for part in PARTS},
    }
    config.json.parent.mkdir(parents=True, exist_ok=True)
    for program in config.programs:
        more = ("--games", str(config.check_games)) if program == "check" else ()
        for figure in figures(program, (*PROGRAMS[program], *more)):
            print(json.dumps(figure), flush=True)
            enter(report, figure)
            write_atomically(config.json, json.dumps(report, indent=1) + "\n")
    wrong = sum(bool(check["wrong"]) for check in report["checks"])
    print(f"{config.json}: {wrong} forms differ from the CPU, {len(report['missing'])} figures are missing")
    if wrong or report["missing"]:
        raise SystemExit(1)


if __name__ == "__main__":
    run_program("experiments.benchmark.gpu", Config, main, __doc__)
