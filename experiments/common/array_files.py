"""Arrays in .npz files, read within limits: no pickles, no more memory than the file may ask for."""

import re
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from math import prod
from pathlib import Path

import numpy as np

from samurai_env.core.texts import one_line, shown
from samurai_env.files.atomic_write import write_atomically

LARGEST = 2**27  # bytes of an array
# The errors of a damaged archive; an OSError is one of seeking, or of a decompressor.
BROKEN = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
)
# Before the numbers: NumPy's own reader takes the header for a program and fails in many ways.
_HEADER = re.compile(
    rb"\x93NUMPY\x01\0..\{'descr': '([^'\n]{1,9})', 'fortran_order': False, 'shape': \(([0-9, ]{0,60})\), \} *\n",
    re.DOTALL,
)


def load_arrays(path: Path, wanted: Mapping[str, tuple[str, int]]) -> dict[str, np.ndarray]:
    """The arrays of an .npz file.

    Args:
        path: the file.
        wanted: by name: the kind of its numbers as NumPy writes it, such as "<f4", and its number of axes.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged, too large, or lacks an array of that kind; the text names the file.
    """
    with path.open("rb") as opened:
        try:
            with zipfile.ZipFile(opened) as file:
                return {name: _array(file, name, *form) for name, form in wanted.items()}
        except BROKEN as error:
            raise ValueError(f"{one_line(path, 120)} is damaged: {one_line(error, 150)}") from None


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to a file of exactly this name.

    Raises:
        ValueError: one is too large for `load_arrays`.
    """
    most = LARGEST - 2**16  # beside its header
    for name, array in arrays.items():
        if array.nbytes > most:
            raise ValueError(
                f"{one_line(path, 120)}: array {name} has {array.nbytes:,} bytes, at most {most:,} are read"
            )
    packed = BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    write_atomically(path, packed.getvalue())


def _array(file: zipfile.ZipFile, name: str, kind: str, axes: int) -> np.ndarray:
    with file.open(f"{name}.npy") as member:
        data = member.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"the array {name} has more than {LARGEST:,} bytes")
    head = _HEADER.match(data)
    if not head:
        raise ValueError(f"the array {name} does not begin as version 1 of the format does")
    shape = tuple(int(size) for size in head[2].split(b",") if size.strip())
    if head[1].decode() != kind or len(shape) != axes:
        raise ValueError(f"the array {name} is {shown(head[1])} {shown(shape)}, not {kind} of {axes} axes")
    found = np.frombuffer(data, kind, offset=head.end())
    if found.size != prod(shape):
        raise ValueError(f"the array {name} has {found.size:,} numbers, not {shown(shape)}")
    return found.reshape(shape)
