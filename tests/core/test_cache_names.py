"""Names in numba's cache: code for different records must never be taken for one another, whoever cached it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from samurai_env.core.cache import Entries
from samurai_env.core.jit import jit

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
import sys
import numpy as np
from samurai_env.core.jit import jit

@jit
def size(state):
    return state.field.shape[0]

states = np.zeros(1, [("field", "i1", (int(sys.argv[1]),))])
assert size(states[0]) == int(sys.argv[1])
print(next(iter(size.overloads.values())).fndesc.mangled_name)
"""


def symbol(folder: Path, length: int, cache: str) -> str:
    """The symbol under which a new process compiles a function for a record with a field of that length."""
    (folder / "module.py").write_text(MODULE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / cache)}
    command = [sys.executable, str(folder / "module.py"), str(length)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_symbols_of_different_records_differ_between_processes(tmp_path: Path) -> None:
    two, three = symbol(tmp_path, 2, "a"), symbol(tmp_path, 3, "b")
    assert two != three
    assert symbol(tmp_path, 2, "c") == two


def test_two_signatures_never_share_a_file(tmp_path: Path) -> None:
    one, other = (Entries(tmp_path, "function", "stamp") for _ in range(2))
    one.save("first", "code of the first")
    other.save("second", "code of the second")
    assert len(list(tmp_path.glob("*.nbc"))) == 2
    assert other.load("first") == "code of the first"
    assert one.load("second") == "code of the second"


def test_the_names_of_records_follow_their_layout() -> None:
    @jit
    def size(state):
        return state.field.shape[0]

    for length in (2, 3):
        assert size(np.zeros(1, [("field", "i1", (length,))])[0]) == length
    assert len({result.fndesc.mangled_name for result in size.overloads.values()}) == 2
