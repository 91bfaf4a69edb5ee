"""Positions gathered part by part, each in a file of its own: what is there is not gathered again."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from experiments.common.array_files import load_arrays, save_arrays
from experiments.common.cli import command_line, progress_bar
from experiments.common.file_hashes import file_hash
from experiments.common.interrupts import Interrupt
from experiments.common.provenance import commit, machine
from experiments.common.tasks import Task, WorkerSettings, results
from samurai_env import __version__
from samurai_env.core.texts import shown


def part_file(run: Path, part: int) -> Path:
    """Return the file of the positions of a part."""
    return run / f"positions-{part:05}.npz"


def stamp(made: str) -> dict[str, np.ndarray]:
    """An array for the file of a part that says with what settings it was made."""
    return {"made": np.frombuffer(made.encode(), np.uint8)}


def is_there(run: Path, part: int, made: str) -> bool:
    """Whether a part has been gathered with these settings.

    Raises:
        ValueError: with other settings, or its file is damaged.
    """
    path = part_file(run, part)
    if not path.exists():
        return False
    found = load_arrays(path, {"made": ("|u1", 1)})["made"].tobytes().decode("utf-8", "replace")
    if found != made:
        raise ValueError(f"{path} was made with {shown(found, 160)}, not {made}; choose another --run")
    return True


def gather(
    work: Callable[[Task], dict[str, np.ndarray]],
    tasks: list[Task],
    size: int,
    run: Path,
    made: str,
    agents: Sequence[str],
    workers: WorkerSettings,
    console: Console,
) -> list[Path]:
    """Gather all parts that are not there yet; Ctrl-C keeps those that are done.

    Args:
        work: a worker's function: the arrays of a task.
        tasks: one for each part.
        size: deals of a part.
        run: folder of the files.
        made: all that a part depends on, beside its number and the files of the agents.
        agents: specs of those who play.
        workers: who works.
        console: where progress is shown.

    Returns:
        The files of all parts.

    Raises:
        ValueError: a part was made with other settings, or its file is damaged.
    """
    made = "; ".join((made, *(f"{spec} {digits}" for spec in agents if (digits := file_hash(spec)))))
    missing = {task: part for part, task in enumerate(tasks) if not is_there(run, part, made)}
    before = len(tasks) - len(missing)
    with (
        Interrupt() as interrupt,
        progress_bar(console, "deals", len(tasks) * size, before * size) as bar,
        closing(results(work, list(missing), workers, lambda: interrupt.asked)) as coming,
    ):
        for number, (task, found) in enumerate(coming, 1):
            save_arrays(part_file(run, missing[task]), found | stamp(made))
            bar((before + number) * size, "")
    interrupt.end()
    return [part_file(run, part) for part in range(len(tasks))]


def notes(program: str, config: Any, positions: int, seconds: float, **measured: Any) -> dict[str, Any]:
    """The notes on the card of what was learned from positions.

    Args:
        program: the module.
        config: its settings, a dataclass that is a `WorkerSettings` with a `run`; who did the work is left out.
        positions: how many were gathered.
        seconds: that the run took.
        **measured: what is to be told of the result.
    """
    settings = {**asdict(config), "run": str(config.run)}
    for name in vars(WorkerSettings()):
        del settings[name]
    return {
        "command": command_line(program, WorkerSettings().given_to(config)),
        "commit": commit(),
        "version": __version__,
        "machine": machine(),
        "positions": positions,
        "seconds": round(seconds, 1),
        **measured,
        "config": settings,
    }
