"""Compiling with numba so that the on-disk cache can be trusted.

numba keys a cached function by the file that defines it. Two things that matter here are not in that key:
a change of a rule in *another* file (or of a data file frozen into the code), and which game's functions
a generic loop was bound to. `jit` answers the first by stamping every cache entry with a hash of all
compiled sources, `bind` the second by giving each bound copy a qualified name of its own.
"""

import hashlib
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).resolve().parent.parent
# Nothing in these folders is compiled, so editing them must not cost anybody a compilation.
NOT_COMPILED = {"envs", "render"}


@cache
def _hash_folder(folder: Path) -> str:
    """SHA-256 over names and contents of the Python and JSON files in `folder` (not below it)."""
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("*.py"), *folder.glob("*.json")]):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def source_stamp(folder: Path) -> str:
    """Hash of everything that compiled code defined in `folder` may depend on."""
    folders = {folder}
    for game in PACKAGE.iterdir():
        if game.is_dir() and game.name not in NOT_COMPILED and game.name != "__pycache__":
            folders.update((game, game / "data"))
    parts = [f"{f.name}:{_hash_folder(f)}" for f in sorted(folders)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def jit(function: Callable[..., Any]) -> Any:
    """Compile `function` with numba: cached on disk, without the GIL, without bounds checks.

    Returns:
        The numba dispatcher. Stale cache entries are ignored and then overwritten, so an edited rule
        is never run in its old form. Without a writable place for the cache it just compiles.
    """
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # numba found no directory that it may write to
        return dispatcher
    # The stamp numba would use is the modification time of one file.
    stamp = source_stamp(Path(function.__code__.co_filename).resolve().parent)
    dispatcher._cache._cache_file._source_stamp = stamp
    return dispatcher


def bind(template: Callable[..., Any], owner: str, functions: dict[str, Any]) -> Any:
    """Compile a copy of `template` in which the global names of `functions` mean one game's functions.

    Args:
        template: a plain Python function that calls, for example, `step(state, action)` as a global.
        owner: the game's name; it becomes part of the copy's qualified name and so of its cache file.
        functions: the compiled functions that take the place of those names.
    """
    scope = {**template.__globals__, **functions}
    copy = types.FunctionType(template.__code__, scope, template.__name__, template.__defaults__)
    copy.__qualname__ = f"{template.__qualname__}.{owner}"
    copy.__module__ = template.__module__
    copy.__doc__ = template.__doc__
    return jit(copy)
