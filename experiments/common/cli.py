"""The command line and the terminal of the programs."""

import errno
import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from tyro.constructors import PrimitiveConstructorSpec

from experiments.common.interrupts import end_quietly
from samurai_env.core.variant_spec import EXAMPLE
from samurai_env.files.atomic_write import write_atomically

INTERRUPTED = 128 + signal.SIGINT  # the exit status that shells give to a program stopped by Ctrl-C


# A variant's spec on the command line, in quotes or as words: `--game samurai players=4 edition=2016`.
GameSpec = Annotated[
    str,
    PrimitiveConstructorSpec(
        nargs="*",
        metavar="NAME [players=N] [OPTION=VALUE ...]",
        instance_from_str=" ".join,
        is_instance=lambda value: isinstance(value, str),
        str_from_instance=str.split,
    ),
]
_PART_OF_GAME = dict.fromkeys(("num_players", "options"), f"is now part of --game: --game {EXAMPLE}")


def check_writable(path: Path) -> None:
    """Make the folder of a file that is written at the end of a program, and refuse what can be no such file.

    Raises:
        OSError: the folder cannot be made, or nothing can be written there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    written = path.parent if path.is_file() or not path.exists() else path  # files are replaced, devices are not
    if not os.access(written, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def refuse_old_flags(words: Iterable[str], hints: Mapping[str, str]) -> None:
    """Refuse flags that a program had once.

    Args:
        words: of the command line.
        hints: what to say of each, by its field's name.

    Raises:
        ValueError: names the flag, and the one in its place.
    """
    for word in words:
        flag = word.partition("=")[0]
        hint = hints.get(flag.removeprefix("--").removeprefix("no-").replace("-", "_"))
        if hint and flag.startswith("--"):
            raise ValueError(f"{flag} {hint}")


def report_unless_raised_again(error: threading.ExceptHookArgs) -> None:
    """Print the traceback of a thread that died, but not of TensorBoard's: its writer raises the error once more."""
    if not type(error.thread).__module__.startswith("tensorboard."):
        threading.__excepthook__(error)


def run_program(
    name: str,
    settings: type[Any],
    main: Callable[[Any], Any],
    about: str | None,
    old_flags: Mapping[str, str] | None = None,
) -> None:
    """Run `main` with settings from the command line; what is wrong is reported in a line, and the exit status is 1.

    `name` is a module for `python -m`, or a command of `samurai-env`.

    After Ctrl-C it is 130, also where the program came to an orderly stop (`Interrupt.end`), so that a script does not
    go on as if all had been done.
    """
    threading.excepthook = report_unless_raised_again
    try:
        if signal.getsignal(signal.SIGINT) is end_quietly:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        hints = {**(old_flags or {}), **(_PART_OF_GAME if "game" in {each.name for each in fields(settings)} else {})}
        refuse_old_flags(sys.argv[1:], hints)
        package = __name__.partition("experiments.")[0]  # in the wheel the programs lie below samurai_env
        main(tyro.cli(settings, prog=name if " " in name else f"python -m {package}{name}", description=about))
    except OSError as error:  # by itself it begins with its number
        named = error.filename is not None and error.strerror
        raise SystemExit(f"error: {error.filename}: {error.strerror}" if named else f"error: {error}") from None
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or re.search("allocate memory|out of memory", str(error))):
            raise
        raise SystemExit(f"error: there is too little memory: {' '.join(str(error).split())[-150:]}") from None
    except EOFError:
        raise SystemExit("\nstopped") from None
    except KeyboardInterrupt as stop:
        print(str(stop) or "\nstopped", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def make_folder(path: Path) -> None:
    """Make the folder that `--output` names, unless it is there.

    Raises:
        OSError: there is a file of that name, or it cannot be made.
    """
    if path.is_file():
        raise FileExistsError(f"--output is a folder, but {path} is a file")
    path.mkdir(parents=True, exist_ok=True)


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib as PNG."""
    image = BytesIO()
    figure.savefig(image, format="png", dpi=120)
    write_atomically(path, image.getvalue())


def command_line(program: str, config: Any) -> str:
    """The command that runs a program with these settings (a dataclass); what has its default is left out.

    Values are quoted for a shell, but for a game, which may be several words.
    """
    words = ["python -m", program]
    for field in fields(config):
        value = getattr(config, field.name)
        standard = field.default_factory() if field.default_factory is not MISSING else field.default
        if value == standard:
            continue
        option = field.name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            values = map(str, value if isinstance(value, tuple) else (value,))
            words += [f"--{option}", *(values if field.name == "game" else map(shlex.quote, values))]
    return " ".join(words)


LINES = 10.0  # seconds between two lines of progress where there is no terminal
SOON = 10.0  # seconds that remain and are not worth telling


@contextmanager
def progress_bar(console: Console, name: str, total: int, done: int = 0) -> Iterator[Callable[[int, str], None]]:
    """A bar with the time that remains; call what it gives with (done, text to show).

    Where the output is no terminal, it prints a line at the start and then at most one every ten seconds.
    """
    if not console.is_terminal:
        yield _lines(console, name, total, done)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(name, total=total, completed=done, note="")
        yield lambda now, note: progress.update(task, completed=now, note=note)


def _in_words(remains: float | None) -> str:
    """The seconds that remain, roughly; nothing if they are not known or few."""
    if remains is None or remains < SOON:
        return ""
    number, unit = next(
        (remains / size, unit)
        for unit, size in (("h", 3600), ("min", 60), ("s", 1))
        if remains >= 2 * size or size == 1
    )
    return f", about {number:.0f} {unit} left"


def _lines(console: Console, name: str, total: int, done: int) -> Callable[[int, str], None]:
    """Progress as lines, with the time that remains; rich writes each out at once, also into a pipe."""
    begun = last = time.monotonic()

    def update(now: int, note: str) -> None:
        nonlocal last
        if time.monotonic() - last >= LINES:
            last = time.monotonic()
            remains = (last - begun) * (total - now) / (now - done) if now > done else None
            line = f"{name}: {now:,} of {total:,}{_in_words(remains)}  {note}".rstrip()
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    console.print(f"{name}: {done:,} of {total:,}", markup=False, highlight=False)
    return update
