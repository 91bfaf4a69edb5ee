"""The results files of `experiments.bench`: what each begins with, and how they are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict, TypeVar, cast

from samurai_env import parse_variant
from samurai_env.core.texts import one_line
from samurai_env.files.json_reader import read_json

T = TypeVar("T", bound=Mapping)


class Made(TypedDict):
    """By what a file was made."""

    machine: str
    version: str
    commit: str
    command: str


class Origin(Made):
    """The head of a file of one variant."""

    variant: str


def read(path: Path, form: type[T]) -> T:
    """Read a results file.

    Args:
        path: the file.
        form: its form, an `Origin` with more.

    Raises:
        ValueError: it is damaged, or there is no such variant.
    """
    found = read_json(path, form)
    try:
        parse_variant(cast(Origin, found)["variant"])
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {one_line(error, 200)}") from None
    return found


def origin(found: Made) -> str:
    """Describe the machine and the version that made a result."""
    changed = ", with uncommitted changes" if found["commit"].endswith("+") else ""
    return f"Version {found['version']}, commit {found['commit'].rstrip('+')}{changed}; {found['machine']}."


def amount(value: float) -> str:
    """A measured figure, to three digits; to two places below 1000, or to the first digit that is not 0."""
    rounded = float(f"{value:.3g}")
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if rounded >= size:
            digits = max(0, 3 - len(str(int(rounded / size))))
            return f"{rounded / size:.{digits}f}{letter}"
    return f"{value:.2f}" if value >= 0.01 or not value else f"{value:.1g}"
