"""The cache of compiled code: never stale, never mixed up, and not needed. Each test has a package of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import samurai_env

pytestmark = pytest.mark.slow

# Each function of the script answers with what compiled code did; it is called from a file of its own.
SCRIPT = '''
import json
import sys
from dataclasses import replace

import numpy as np

from samurai_env.games.board.rules import kernels as rules
from samurai_env.core.jit import bind, jit
from samurai_env.core.game import find_game
from samurai_env.core.batch import batch_kernels

GAME = find_game("samurai")
USED = []


def from_here(states):
    called(states[0])


def call(function, states):
    USED.append(bind(from_here, function.__name__, {"called": function}))
    USED[-1](states)


def tie(states):
    """Two equal influences on a surrounded helmet: who gets it, how many are set aside."""
    states["figures"][0, 0] = states["surrounded"][0] = 2
    states["influence"][0, :, 1, 0] = 2
    call(rules.capture, states)
    return [states["captured"][0, :, 0].tolist(), int(states["aside"][0, 0])]


def from_further(states):
    called(states)


def tie_behind_two(states):
    """As `tie`, called through two bound functions."""
    states["figures"][0, 0] = states["surrounded"][0] = 2
    states["influence"][0, :, 1, 0] = 2
    inner = bind(from_here, "inner", {"called": rules.capture})
    USED.append(bind(from_further, "outer", {"called": inner}))
    USED[-1](states)
    return [states["captured"][0, :, 0].tolist(), int(states["aside"][0, 0])]


def winner(states):
    """Who wins with one majority each and equal others (rules.finish calls scoring.winners)."""
    states["captured"][0] = [[3, 2, 0], [2, 4, 0]]
    call(rules.finish, states)
    return int(states["winners"][0])


@jit
def lay(state):
    rules.place_on_land(state, 0, 0, 0)


def strength(states):
    """The influence of the first kind of tile, which comes from a data file."""
    call(lay, states)
    return int(states["influence"][0, 0, :, 0].max())


def returns(states):
    states["over"] = states["winners"] = 1
    out = np.zeros(2)
    USED.append(batch_kernels(GAME).write_returns)
    USED[-1](states, 0, out)
    return out.tolist()


@jit
def other_returns(state, out):
    out[:] = 7.0


def twin_returns(states):
    """The same loop bound to another game with the same records."""
    twin = replace(GAME, name="twin", kernels=replace(GAME.kernels, returns=other_returns))
    out = np.zeros(2)
    USED.append(batch_kernels(twin).write_returns)
    USED[-1](states, 0, out)
    return out.tolist()


answers = [globals()[name](GAME.variant(2).new()) for name in sys.argv[1:]]
hits = sum(sum(function.stats.cache_hits.values()) for function in USED)
misses = sum(sum(function.stats.cache_misses.values()) for function in USED)
print(json.dumps([answers, hits, misses]))
'''


class Copy:
    """A copy of the package, without its cache, that can be edited and run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "samurai_env"
        shutil.copytree(Path(samurai_env.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "elsewhere").mkdir()
        (folder / "home").mkdir()
        self.script = folder / "elsewhere" / "script.py"
        self.script.write_text(SCRIPT, encoding="utf-8")

    def run(self, *names: str) -> tuple[list, int, int]:
        """Answers of functions of the script, and how much of what it called came from the cache, and how much not."""
        home = str(self.folder / "home")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "PYTHON"))}
        environment |= {"PYTHONPATH": str(self.folder), "HOME": home, "XDG_CACHE_HOME": home, "LOCALAPPDATA": home}
        command = [sys.executable, str(self.script), *names]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        answers, hits, misses = json.loads(done.stdout)
        return answers, hits, misses

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that stands in a file once."""
        path = self.package / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def make_read_only(self) -> None:
        """Nobody, not even an administrator, can put a file into the cache folders beside the sources."""
        for folder in [self.script.parent, self.package, *[p for p in self.package.rglob("*") if p.is_dir()]]:
            if folder.name != "__pycache__":
                shutil.rmtree(folder / "__pycache__", ignore_errors=True)
                (folder / "__pycache__").write_text("not a folder")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


TIE, OTHER_TIE = ("                    taker = -1\n", "                    taker = 1\n")


def test_an_edited_rule_in_another_file_is_noticed(copy: Copy) -> None:
    assert copy.run("tie", "returns") == ([[[0, 0], 1], [1.0, -1.0]], 0, 2)  # set aside
    copy.edit("games/board/rules/kernels.py", TIE, OTHER_TIE)
    assert copy.run("tie", "returns") == ([[[0, 1], 0], [1.0, -1.0]], 0, 2)  # the last of the tied takes it
    copy.edit("core/payoffs.py", "(n * share - 1.0) / (n - 1.0)", "n * share")
    assert copy.run("tie", "returns") == ([[[0, 1], 0], [2.0, 0.0]], 0, 2)


def test_an_edit_behind_two_bound_functions_is_noticed(copy: Copy) -> None:
    assert copy.run("tie_behind_two")[0] == [[[0, 0], 1]]
    copy.edit("games/board/rules/kernels.py", TIE, OTHER_TIE)
    assert copy.run("tie_behind_two")[0] == [[[0, 1], 0]]


def test_an_edit_two_files_away_is_noticed(copy: Copy) -> None:
    """The script calls `rules.finish`, which calls `scoring.winners`."""
    assert copy.run("winner")[0] == [2]  # others 2 and 2, totals 5 and 6
    copy.edit(
        "games/board/rules/scoring.py", "return most(total, most(others, eligible))", "return most(others, eligible)"
    )
    assert copy.run("winner")[0] == [3]


def test_an_edited_data_file_is_noticed(copy: Copy) -> None:
    file = copy.package / "games" / "board" / "data" / "tiles.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    assert copy.run("strength")[0] == [data["tiles"][0][1]]
    data["tiles"][0][1] = 9
    file.write_text(json.dumps(data), encoding="utf-8")
    assert copy.run("strength")[0] == [9]


def test_a_second_process_compiles_nothing(copy: Copy) -> None:
    cold = copy.run("tie", "returns")
    assert cold[1:] == (0, 2)
    files = {file: file.stat().st_mtime_ns for file in copy.folder.rglob("*.nb[ic]")}
    assert files
    warm = copy.run("tie", "returns")
    assert warm == (cold[0], 2, 0)
    copy.edit("games/board/display/shapes.py", "#e0cb97", "#e0cb98")  # a colour costs no compilation
    copy.edit("games/card/rules/scoring.py", "import numpy as np", "import numpy as np  # edited")  # nor another game
    assert copy.run("tie", "returns")[1:] == (2, 0)
    assert {file: file.stat().st_mtime_ns for file in copy.folder.rglob("*.nb[ic]")} == files


def test_a_read_only_installation_works_and_is_cached_in_the_home_folder(copy: Copy) -> None:
    copy.make_read_only()
    assert copy.run("tie", "returns") == ([[[0, 0], 1], [1.0, -1.0]], 0, 2)
    assert copy.run("tie", "returns") == ([[[0, 0], 1], [1.0, -1.0]], 2, 0)
    assert list((copy.folder / "home").rglob("*.nbc"))
    copy.edit("games/board/rules/kernels.py", TIE, OTHER_TIE)
    assert copy.run("tie") == ([[[0, 1], 0]], 0, 1)


def test_an_installed_package_is_cached_in_the_home_folder_as_pip_would_leave_the_files(tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    copy = Copy(tmp_path / "site-packages")
    assert copy.run("tie", "returns")[1:] == (0, 2)
    assert copy.run("tie", "returns")[1:] == (2, 0)
    assert list((copy.folder / "home").rglob("*.nbc"))
    assert not list(copy.package.rglob("*.nbc"))


def test_without_any_writable_folder_it_just_compiles(copy: Copy) -> None:
    copy.make_read_only()
    (copy.folder / "home").rmdir()
    (copy.folder / "home").write_text("not a folder")
    for _ in range(2):
        answers, hits, _ = copy.run("tie", "returns")
        assert answers == [[[0, 0], 1], [1.0, -1.0]]
        assert hits == 0
    assert not list(copy.folder.rglob("*.nb[ic]"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="an administrator may write anywhere")
def test_a_folder_without_write_permission(copy: Copy) -> None:
    folders = [path for path in [copy.package, *copy.package.rglob("*")] if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    assert copy.run("returns")[0] == [[1.0, -1.0]]
    for folder in folders:
        folder.chmod(0o755)


def test_two_games_on_the_same_loops_do_not_share_code(copy: Copy) -> None:
    assert copy.run("returns", "twin_returns") == ([[1.0, -1.0], [7.0, 7.0]], 0, 2)
    assert copy.run("twin_returns", "returns") == ([[7.0, 7.0], [1.0, -1.0]], 2, 0)
    assert copy.run("twin_returns") == ([[7.0, 7.0]], 1, 0)


def test_scratch_arrays_are_apart_and_forgotten(tmp_path: Path) -> None:
    """Each call has its own; many calls in a loop do not fill the stack."""
    import numba
    import numpy as np

    from samurai_env.core.jit import scratch

    @numba.njit
    def digits(number):
        first, table = scratch(4, np.int64), scratch((2, 3), np.float64)
        for i in range(4):
            first[i] = number % 10
            number //= 10
        table[:] = 0.5
        table[1, 2] = first[3]
        return first[0] + 10 * first[1], table.sum(), table.shape

    @numba.njit
    def often():
        total = 0.0
        for i in range(1_000_000):
            total += digits(i)[1]
        return total

    assert digits(1234) == (34, 2.5 + 1.0, (2, 3))
    assert often() == 1_000_000 * 2.5 + sum(i // 1000 % 10 for i in range(1_000_000))
