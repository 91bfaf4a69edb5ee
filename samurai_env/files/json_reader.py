"""JSON files, from anybody: read within limits and checked against the form they should have.

A form is a type for `msgspec.convert`: a struct, a dataclass, `dict[str, float]` and so on.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec
import numpy as np

from samurai_env.core.texts import one_line, shown

T = TypeVar("T")

LARGEST = 16 * 2**20  # bytes of a file
DEEPEST = 32  # lists and objects within one another
MOST = 2_000_000  # lists and objects

_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_TOO_LARGE = re.compile(
    rb"(?<![.0-9])[0-9]{20,}|[0-9][eE]\+?[0-9]{3,}"
)  # of numbers: json would make infinity of 1e999
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def read_json(path: str | os.PathLike[str], form: type[T], largest: int = LARGEST) -> T:
    """Read a JSON file as a value of a type.

    Args:
        path: the file.
        form: the type of its contents.
        largest: bytes that it may have.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, foreign, too large or too deep; one short line that names the file.
    """
    try:
        with Path(path).open("rb") as file:
            return in_form(parse_json(file.read(largest + 1), largest), form)
    except ValueError as error:
        raise ValueError(f"{one_line(path, 120)} is damaged: {one_line(error, 150)}") from None


def parse_json(data: bytes, largest: int = LARGEST) -> Any:
    """Parse JSON text: objects, lists, strings, finite numbers, True, False and None.

    Args:
        data: the text, UTF-8.
        largest: bytes that it may have.

    Raises:
        ValueError: it is not JSON, too large or too deep, has a key twice in an object, or a number that is not finite,
            has 20 digits or more before the point, or an exponent of three.
    """
    if len(data) > largest:
        raise ValueError(f"it has more than {largest:,} bytes")
    bare = _STRINGS.sub(b"", data)
    brackets = np.frombuffer(bare.translate(None, _OTHERS), np.uint8)
    begins = (brackets & 0b110) == 0b010  # of "[" and "{", not of "]" and "}"
    depths = np.cumsum(np.where(begins, np.int8(1), np.int8(-1)), dtype=np.int32)
    if depths.size and depths.max() > DEEPEST:
        raise ValueError(f"its lists and objects are nested more than {DEEPEST} deep")
    if int(begins.sum()) > MOST:
        raise ValueError(f"it has more than {MOST:,} lists and objects")
    if large := _TOO_LARGE.search(bare):
        _no_number(large[0].decode())
    del bare, brackets, begins, depths
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error.msg}, line {error.lineno}, column {error.colno}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}") from None


def in_form(found: Any, form: type[T]) -> T:
    """Convert the result of `parse_json` to a type, without coercion.

    Raises:
        ValueError: it does not have that form; the text says where.
    """
    try:
        return msgspec.convert(found, form, str_keys=True)
    except msgspec.ValidationError as error:
        raise ValueError(one_line(error, 150)) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {shown(twice)} is given twice in an object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{one_line(text, 40)} is no number for a file, or too large")
