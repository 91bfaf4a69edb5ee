"""Compiling with numba so that the on-disk cache can be trusted.

numba keys a cached function by the file that defines it. Two things that matter here are not in that key:
a change of a rule in *another* file (or of a data file frozen into the code), and which game's functions
a generic loop was bound to. `jit` answers the first by stamping every cache entry with a hash of all
compiled sources, `bind` the second by giving each bound copy a qualified name of its own.

A fault of numba's own is mended here as well, which runs wrong code without a word: the name of a record type in a
compiled symbol is a number that counts up in each process. Code for two kinds of record, cached by two processes, may
thus have the same symbols, and a third process that loads both runs one in place of the other. Here the number is a
hash of the record's layout. `core.cache` sees to the files.
"""

import hashlib
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core import types as numba_types

from samurai_env.core.cache import Cache

PACKAGE = Path(__file__).resolve().parent.parent
# Nothing in these folders is compiled, so editing them must not cost anybody a compilation.
NOT_COMPILED = {"envs", "render"}


def _record_name(record: numba_types.Record) -> tuple[str, tuple[int]]:
    """What stands for a record type in the symbols of compiled code: the same in every process."""
    return "Record", (int.from_bytes(hashlib.sha256(record.name.encode()).digest()[:7], "big"),)


numba_types.Record.mangling_args = property(_record_name)  # type: ignore[assignment, method-assign]


@cache
def _hash_folder(folder: Path) -> str:
    """SHA-256 over names and contents of the Python and JSON files in `folder` (not below it)."""
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("*.py"), *folder.glob("*.json")]):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def source_stamp(folders: frozenset[Path]) -> str:
    """Hash of everything that compiled code defined in these folders may depend on: they and the package."""
    everything = set(folders)
    for game in PACKAGE.iterdir():
        if game.is_dir() and game.name not in NOT_COMPILED and game.name != "__pycache__":
            everything.update((game, game / "data"))
    parts = [f"{f.name}:{_hash_folder(f)}" for f in sorted(everything)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def jit(function: Callable[..., Any], inline: bool = False, calls: Iterable[Any] = ()) -> Any:
    """Compile `function` with numba: cached on disk, without the GIL, without bounds checks.

    Args:
        function: free function over records, arrays and numbers.
        inline: put its code into its callers'. See `inlined`.
        calls: compiled functions that it may call and that lie neither in the package nor beside it.

    Returns:
        The numba dispatcher. Stale and damaged cache entries are ignored and then overwritten, so an edited
        rule is never run in its old form. Without a writable place for the cache it just compiles.
    """
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function)
    sources = [function, *(called.py_func for called in calls)]
    folders = frozenset(Path(source.__code__.co_filename).resolve().parent for source in sources)
    with suppress(RuntimeError):  # numba found no directory that it may write to
        dispatcher._cache = Cache(function, partial(source_stamp, folders))
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """`jit` for short functions on the hot path, whose code becomes a part of their callers'.

    A call that hands on a record or a row of an array otherwise counts a reference up and down, atomically, and keeps
    the compiler from making vectors of loops: half of the time of an observation. Callers take longer to compile.
    """
    return jit(function, inline=True)


def bind(template: Callable[..., Any], owner: str, functions: dict[str, Any], inline: bool = False) -> Any:
    """Compile a copy of `template` in which the global names of `functions` mean one game's functions.

    Args:
        template: a plain Python function that calls, for example, `step(state, action)` as a global.
        owner: the game's name; it becomes part of the copy's qualified name and so of its cache file.
        functions: the compiled functions that take the place of those names.
        inline: see `jit`.
    """
    scope = {**template.__globals__, **functions}
    copy = types.FunctionType(template.__code__, scope, template.__name__, template.__defaults__)
    copy.__qualname__ = f"{template.__qualname__}.{owner}"
    copy.__module__ = template.__module__
    copy.__doc__ = template.__doc__
    return jit(copy, inline, functions.values())
