"""Imports run downwards, room by room, and no files import each other in a circle."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# From the ground up: a module may import its own room and rooms before it. The longest prefix counts.
ROOMS = (
    "samurai_env.core",
    "samurai_env.display",
    "samurai_env.games",
    "samurai_env.position",
    "samurai_env.game_record",
    "samurai_env.game_batch",
    "samurai_env.perft",
    "samurai_env.envs",
    "samurai_env",
    "agents.api",
    "agents.settings",
    "agents.spec",
    "agents.heuristics",
    "agents.rollouts",
    "agents.baselines",
    "agents.networks",
    "agents.search",
    "agents",  # registry, external, arena
    "experiments.common",
    "experiments.evaluation",
    "experiments.training",
    "experiments.benchmark",
    "experiments",
)
HEADS = {name.partition(".")[0] for name in ROOMS}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for head in sorted(HEADS) for path in sorted((ROOT / head).rglob("*.py"))}


def imports_of(path: Path) -> set[str]:
    """The project's modules that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            while name and name not in MODULES:
                name = name.rpartition(".")[0]
            if name:
                found.add(name)
    return found - {module_of(path)}


def room_of(module: str) -> int:
    fitting = [room for room in ROOMS if module == room or module.startswith(room + ".")]
    return ROOMS.index(max(fitting, key=len))


GRAPH = {module: imports_of(path) for module, path in MODULES.items()}


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_downwards(module: str) -> None:
    upwards = sorted(other for other in GRAPH[module] if room_of(other) > room_of(module))
    assert not upwards, f"{module} ({ROOMS[room_of(module)]}) imports from rooms above it: {', '.join(upwards)}"


def test_no_circle_of_files() -> None:
    done: set[str] = set()
    path: list[str] = []

    def visit(module: str) -> None:
        if module in path:
            raise AssertionError("circle: " + " -> ".join([*path[path.index(module) :], module]))
        if module not in done:
            path.append(module)
            for other in sorted(GRAPH[module]):
                visit(other)
            path.pop()
            done.add(module)

    for module in MODULES:
        visit(module)


def test_the_rules_do_not_import_the_display() -> None:
    display = ("samurai_env.display", "samurai_env.games.board.display", "samurai_env.games.card.display")
    for module, imported in GRAPH.items():
        parts = module.split(".")
        if parts[:2] == ["samurai_env", "games"] and len(parts) > 3 and parts[3] in ("rules", "heuristics"):
            wrong = [other for other in imported if "display" in other.split(".")]
            assert not wrong, f"{module} imports {wrong}"
    assert any(set(display) & imported or "display" in module for module, imported in GRAPH.items())


def test_folders_are_small() -> None:
    """A folder holds about a dozen modules."""
    folders: dict[Path, int] = {}
    for path in MODULES.values():
        folders[path.parent] = folders.get(path.parent, 0) + (path.name != "__init__.py")
    crowded = {str(folder.relative_to(ROOT)): count for folder, count in folders.items() if count > 14}
    assert not crowded
