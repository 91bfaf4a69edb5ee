"""Which campaigns there are, and how one is run in a process of its own."""

import importlib
import inspect
import multiprocessing
import traceback
from multiprocessing.connection import Connection
from pathlib import Path


def campaigns() -> list[str]:
    """The names of all campaigns: the modules of this folder that have `run`; others help them."""
    files = Path(__file__).parent.glob("*.py")
    return sorted(file.stem for file in files if "\ndef run(" in file.read_text(encoding="utf-8"))


def can_go_on(name: str) -> bool:
    """Whether a campaign can go on where an earlier run was stopped."""
    return "first" in inspect.signature(importlib.import_module(f"tests.torture.{name}").run).parameters


def work(name: str, long: bool, seed: int, first: int, answer: Connection) -> None:
    """Run a campaign in this process and send its counts, or a text that says what it found."""
    try:
        options = {"first": first} if first else {}
        answer.send(importlib.import_module(f"tests.torture.{name}").run(long, seed, **options))
    except Exception:
        answer.send(traceback.format_exc())


def carry_out(name: str, long: bool, seed: int, first: int = 0) -> dict[str, int] | str:
    """Run a campaign in a process of its own: its counts, or what it found.

    Args:
        name: of the campaign.
        long: hours in place of minutes.
        seed: what chance depends on.
        first: where an earlier run of this `seed` was stopped, for a campaign that `can_go_on`.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(name, long, seed, first, theirs), name=name)
    process.start()
    theirs.close()
    try:
        found = ours.recv()
    except EOFError:
        found = None
    except KeyboardInterrupt:
        process.kill()
        raise
    process.join()
    return f"the process died with exit status {process.exitcode}" if found is None else found
