"""Values and foreign texts in error messages: one line, short, whatever they hold."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

MAX_ERROR = 280  # characters of an error text
_MOST = 60  # of a value in it


def one_line(text: object, most: int = MAX_ERROR) -> str:
    """A text on one line, cut to at most `most` characters; what cannot be printed is escaped."""
    whole = str(text) if not isinstance(text, str) else text
    cut = " ".join(whole[: 4 * most].split())
    cut = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)
    if len(cut) <= most and len(whole) <= 4 * most:
        return cut
    return cut[: most - 3].rstrip() + "..."


def shown(value: Any, most: int = _MOST) -> str:
    """A value as `repr` writes it, cut to at most `most` characters on one line."""
    if isinstance(value, (str, bytes, bytearray)):
        return one_line(repr(value[: most + 1]), most)
    if isinstance(value, int) and value.bit_length() > 256:
        return f"a number of {value.bit_length():,} bits"
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > most:
        return f"a {type(value).__name__} of {len(value):,}"
    try:
        return one_line(repr(value), most)
    except Exception:  # a number of too many digits, nested too deep, or an object that cannot be written
        return f"a {type(value).__name__}"


def listed(values: Iterable[object], most: int = 160) -> str:
    """Values separated by commas, cut to at most `most` characters."""
    return one_line(", ".join(map(str, values)), most)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A hint to put behind an unknown name: " (did you mean 'greedy'?)", or nothing if no known one is close."""
    close = difflib.get_close_matches(name[:40], list(known), 1) if isinstance(name, str) else []
    return f" (did you mean {close[0]!r}?)" if close else ""


@contextmanager
def install_hint(packages: str) -> Iterator[None]:
    """Where an import below fails, name the packages to install, as pip takes them.

    Raises:
        ModuleNotFoundError: a module is missing; the text says how to install it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; install it: pip install {packages}", name=error.name) from None
