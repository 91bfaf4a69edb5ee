"""Compiled code on disk: damage is noticed before it is run, and nothing that happens to the files ends a run.

numba unpickles and runs whatever it finds in its cache, and raises what the disk raises. Here each signature of a
function has one file, without an index. It begins with a SHA-256 over what the code depends on and over the code,
checked before anything is unpickled. What does not pass is compiled again and overwritten.

The hash finds damage, not malice: whoever may write to the folder can run code.
"""

import gc
import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache
from numba.core.serialize import dumps

from samurai_env.core.notices import notice

HASH_SIZE = hashlib.sha256().digest_size
INSTALLED = {"site-packages", "dist-packages"}  # folders of installed packages
DURATION = "3 to 20 seconds"  # of the rules or the agents of a game, or of layers, on one idle core


class Entries:
    """The cache files of one function, one for each signature.

    Args:
        folder: where they are.
        base: how their names begin.
        stamp: hash of the sources; code with another stamp is not loaded.
    """

    def __init__(self, folder: Path, base: str, stamp: str) -> None:
        self._folder, self._base, self._stamp = folder, base, stamp

    def load(self, key: Any) -> Any:
        """The code of a signature; None if there is none that is whole and fresh."""
        name = _name(key)
        try:
            content = memoryview(self._path(name).read_bytes())
        except OSError:
            return None
        code = content[HASH_SIZE:]
        return pickle.loads(code) if content[:HASH_SIZE] == self._hash(name, code) else None

    def save(self, key: Any, data: Any) -> None:
        """Write the code of a signature.

        There is no temporary file: what is half-written does not pass the check. The file is always a new one, so
        that two processes never write into the same.
        """
        name, code = _name(key), dumps(data)
        path = self._path(name)
        path.unlink(missing_ok=True)
        with path.open("xb") as file:
            file.write(self._hash(name, code))
            file.write(code)

    def flush(self) -> None:
        """Remove the files of all signatures."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._base}.{name[:16]}.nbc"

    def _hash(self, name: str, code: bytes | memoryview) -> bytes:
        digest = hashlib.sha256(f"{numba.__version__} {self._stamp} {self._base} {name}\n".encode())
        digest.update(code)
        return digest.digest()


def _name(key: Any) -> str:
    """Name an entry: a hash of numba's key, which leaves bounds checks out."""
    checked = numba.config.BOUNDSCHECK  # type: ignore[attr-defined]
    return hashlib.sha256(repr((key, checked)).encode()).hexdigest()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no garbage while numba is loaded: its many lasting objects set off full collections that find nothing.

    One such collection took a twelfth of the time to the first step of a new process.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def notice_compiling(function: Callable[..., Any], kept: bool) -> None:
    """Say on stderr, once for the rules of a game and once for its agents, that code is about to be compiled.

    What is not bound (`core.jit.bind`) to a game, or to something in words, is a part of that, or takes less than a
    second by itself: not said.
    """
    owner = "".join(function.__qualname__.split(".")[1:2])
    if owner.isidentifier():
        part = "agents" if "agents" in function.__module__.split(".") else "rules"
        owner = f"the {part} of {owner}"
    elif " " not in owner:
        return
    then = "kept for later runs" if kept else "not kept, for want of a folder to write to"
    notice(f"compiling {owner}", f"compiling {owner}: {DURATION}, {then} (samurai-env warmup does it all)")


class NoCache(NullCache):
    """For a function whose code cannot be kept."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """There is none."""
        notice_compiling(self._function, kept=False)


class Cache(FunctionCache):
    """numba's cache of one function, with `Entries` for files.

    Args:
        function: the plain Python function.
        stamp: makes the hash of the sources.

    Raises:
        RuntimeError: there is no folder to write to.
    """

    def __init__(self, function: Callable[..., Any], stamp: Callable[[], str]) -> None:
        super().__init__(function)
        self._function = function
        self._leave_installed_folders()
        self._cache_file = Entries(Path(self.cache_path), self._impl.filename_base, stamp())

    def _leave_installed_folders(self) -> None:
        """Go to the user's cache folder if the source is an installed package.

        What pip does not know of stays there when it removes the package, and then passes for the package itself.
        """
        here = Path(self.cache_path)
        chosen = getattr(numba.config, "CACHE_LOCATOR_CLASSES", "")  # by the user
        if chosen or here.name != "__pycache__" or not INSTALLED & set(here.parts):
            return
        for kind in self._impl._locator_classes:
            if "UserWide" in kind.__name__:  # its name has changed between releases
                locator = kind.from_function(self._function, inspect.getfile(self._function))
                if locator is not None:  # the folder can be written to
                    self._impl._locator = locator
                    self._cache_path = locator.get_cache_path()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for a signature; None if it is to be compiled."""
        found = None
        # Such as a library whose new release cannot read what the old one wrote.
        with suppress(Exception), _no_collection():
            found = super().load_overload(sig, target_context)
        if found is None:
            notice_compiling(self._function, kept=True)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled code for a signature, if the disk lets us."""
        with suppress(OSError):  # full, read-only, a limit on file sizes, a folder that was deleted
            super().save_overload(sig, data._replace(type_annotation=""))
