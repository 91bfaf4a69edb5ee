"""Which campaigns there are, and how one is run in a process of its own."""

import importlib
import multiprocessing
import traceback
from multiprocessing.connection import Connection
from pathlib import Path


def campaigns() -> list[str]:
    """The names of all campaigns: the modules of this folder that have `run`; others help them."""
    files = Path(__file__).parent.glob("*.py")
    return sorted(file.stem for file in files if "\ndef run(" in file.read_text(encoding="utf-8"))


def work(name: str, long: bool, seed: int, answer: Connection) -> None:
    """Run a campaign in this process and send its counts, or a text that says what it found."""
    try:
        answer.send(importlib.import_module(f"tests.torture.{name}").run(long, seed))
    except Exception:
        answer.send(traceback.format_exc())


def carry_out(name: str, long: bool, seed: int) -> dict[str, int] | str:
    """Run a campaign in a process of its own: its counts, or what it found."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(name, long, seed, theirs), name=name)
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
