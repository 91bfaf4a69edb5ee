"""Damaged files of compiled code, full disks and folders that are gone cost a compilation and nothing else."""

import importlib.util
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import pytest

from samurai_env.core.jit import jit

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "def triple(x):\n    return 3 * x\n\n\ndef double(x):\n    return 2 * x\n"


class Function:
    """Kernels functions of a module in a folder of its own, made again at each call like those of a new process."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "module.py"
        self.path.write_text(SOURCE)
        specification = importlib.util.spec_from_file_location("module", self.path)
        self.module = sys.modules["module"] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.module)
        self.cache = folder / "cache"

    def from_cache(self, name: str = "triple") -> bool:
        """Call a function and say whether its code came from the cache."""
        function = jit(getattr(self.module, name))
        assert function(14) == {"triple": 42, "double": 28}[name]
        return bool(sum(function.stats.cache_hits.values()))

    def files(self, name: str = "") -> list[Path]:
        return sorted(self.cache.rglob(f"module.{name}*.nb[ic]"))


@contextmanager
def setting(name: str, value: str) -> Iterator[None]:
    """A setting of numba for a while."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, value)
        numba.config.reload_config()
        yield
    numba.config.reload_config()


@pytest.fixture
def function(tmp_path: Path) -> Iterator[Function]:
    with setting("NUMBA_CACHE_DIR", str(tmp_path / "cache")):
        function = Function(tmp_path)
        assert not function.from_cache()
        assert function.from_cache()
        yield function
        del sys.modules["module"]


def flip(content: bytes, position: int) -> bytes:
    changed = bytearray(content)
    changed[position] ^= 16
    return bytes(changed)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "one byte": lambda content: content[:1],
    "half": lambda content: content[: len(content) // 2],
    "but for the last byte": lambda content: content[:-1],
    "longer": lambda content: content + b"\0",
    "text": lambda content: b"no code at all\n" * 100,
    "zeros": lambda content: bytes(len(content)),
    "first bit": lambda content: flip(content, 0),
    "a bit in the middle": lambda content: flip(content, len(content) // 2),
    "last bit": lambda content: flip(content, -1),
    "a plain pickle": lambda content: b"\x80\x04K*.",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again(function: Function, damage: str):
    for path in function.files():
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
        assert not function.from_cache()
        assert function.from_cache(), "the entry is written again"


@pytest.mark.parametrize("position", [1 / 8, 1 / 4, 1 / 2, 3 / 4, 7 / 8])
def test_changed_machine_code_is_not_run(function: Function, position: float):
    for path in function.files():
        content = path.read_bytes()
        start = int(position * len(content))
        path.write_bytes(content[:start] + b"\xcc" * 64 + content[start + 64 :])
        assert not function.from_cache()


def test_the_file_of_another_function_is_not_run(function: Function):
    assert not function.from_cache("double")
    for mine, other in zip(function.files("triple"), function.files("double"), strict=True):
        shutil.copy(other, mine)
    assert not function.from_cache()
    assert function.from_cache()


def test_a_file_of_other_sources_under_this_name_is_not_run(function: Function, monkeypatch: pytest.MonkeyPatch):
    """As when a process that still runs the old sources is killed after its file of code and before the rest."""
    with monkeypatch.context() as patch:
        patch.setattr("samurai_env.core.jit.source_stamp", lambda folders: "other sources")
        assert not function.from_cache()
    stale = {path: path.read_bytes() for path in function.files() if path.suffix == ".nbc"}
    assert not function.from_cache()
    for path, content in stale.items():
        path.write_bytes(content)
    assert not function.from_cache()
    assert function.from_cache()


def test_code_without_bounds_checks_is_not_taken_for_code_with_them(function: Function):
    with setting("NUMBA_BOUNDSCHECK", "1"):
        assert not function.from_cache()
        assert function.from_cache()
    assert function.from_cache()


def test_files_that_are_gone(function: Function):
    for path in function.files():
        path.unlink()
        function.from_cache()
    assert function.from_cache()
    shutil.rmtree(function.cache)
    assert not function.from_cache()
    assert function.from_cache()


def test_a_folder_deleted_between_import_and_call(function: Function):
    late = jit(function.module.double)
    shutil.rmtree(function.cache)
    assert late(2) == 4
    late = jit(function.module.triple)
    shutil.rmtree(function.cache)
    function.cache.write_text("not a folder")
    assert late(2) == 6


def test_a_folder_a_loop_of_links_and_a_file_nobody_may_read_in_the_place_of_a_file(function: Function):
    for path in function.files():
        path.chmod(0)
        function.from_cache()
        path.unlink()
        path.symlink_to(path)
        assert not function.from_cache()
        assert function.from_cache()
    for path in function.files():
        path.unlink()
        path.mkdir()
        assert not function.from_cache()
        assert not function.from_cache()


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process grows beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 1, 100, 4096])
def test_a_limit_on_file_sizes(function: Function, size: int):
    shutil.rmtree(function.cache)
    with largest_file(size):
        assert not function.from_cache()
        assert not function.from_cache()
    assert not function.from_cache()
    assert function.from_cache()
    assert not [path for path in function.cache.rglob("*") if path.is_file() and path.suffix != ".nbc"]


def test_recompile_forgets_the_files(function: Function):
    compiled = jit(function.module.triple)
    compiled(1)
    compiled.recompile()
    assert not sum(jit(function.module.double).stats.cache_hits.values())
    assert compiled(14) == 42


def test_a_game_is_played_without_room_for_a_byte(tmp_path: Path):
    """The first step of an environment, from an empty cache, with a limit on file sizes."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from samurai_env.core.payoffs import most\n"
        "import numpy as np\n"
        "print(most(np.array([1, 3]), np.uint64(3)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr
