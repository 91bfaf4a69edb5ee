"""Imports run downwards, package by package, and no files import each other in a circle; folders stay small."""

from functools import cache
from pathlib import Path

from docs.generate.architecture import arrows, imports, modules, upward


@cache
def graph() -> dict[str, frozenset[str]]:
    """By module, the modules that it imports."""
    return {module: frozenset(imports(module)) - {module} for module in modules()}


def test_imports_run_downwards() -> None:
    assert len(modules()) > 100
    assert not upward(arrows())


def test_no_circle_of_files() -> None:
    done: set[str] = set()
    path: list[str] = []

    def visit(module: str) -> None:
        if module in path:
            raise AssertionError("circle: " + " -> ".join([*path[path.index(module) :], module]))
        if module not in done:
            path.append(module)
            for other in sorted(graph()[module]):
                visit(other)
            path.pop()
            done.add(module)

    for module in modules():
        visit(module)


def test_rules_and_heuristics_do_not_import_the_display() -> None:
    for module, imported in graph().items():
        if module.startswith("samurai_env.games.") and {"rules", "heuristics"} & set(module.split(".")):
            wrong = [other for other in imported if "display" in other.split(".")]
            assert not wrong, f"{module} imports {wrong}"
    assert any("display" in other for other in graph()["samurai_env.games.board.game"])


def test_folders_are_small() -> None:
    """A folder holds about a dozen modules."""
    folders: dict[Path, int] = {}
    for path in modules().values():
        folders[path.parent] = folders.get(path.parent, 0) + (path.name != "__init__.py")
    assert not {str(folder): count for folder, count in folders.items() if count > 14}


def test_a_tournament_without_networks_does_not_import_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "from rich.console import Console\n"
        "from experiments.tournament import Config, play\n"
        "from pathlib import Path\n"
        f"play(Config(agents=('random', 'greedy', 'mcts:4'), deals=1, processes=1, output=Path({str(tmp_path)!r})),"
        " Console(quiet=True))\n"
        "assert 'torch' not in sys.modules\n"
    )
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
