"""What a user's `import samurai_env` brings with it, what the wheel carries, and that public names are described."""

import ast
import json
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest
from setuptools import find_packages

import samurai_env
from samurai_env.core.game import find_game, game_names

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "samurai_env"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ALIASES = {"samurai_env.agents", "samurai_env.experiments"}  # other names of the clone's folders
ADAPTERS = ("samurai_env.language.textarena_env", "samurai_env.adapters.")  # for packages that only their users have
OPTIONAL = {  # by folder
    "display": {"aggdraw", "PIL", "pygame"},
    "language": {"mcp", "textarena"},
    "cuda": {"cuda"},  # what numba-cuda brings
    "adapters": {"open_spiel", "pyspiel", "ray", "stable_baselines3", "tensordict", "tianshou", "torch", "torchrl"},
}
FOUND = [module.name for module in walk_packages([str(PACKAGE)], "samurai_env.")]
MODULES = [name for name in FOUND if name not in ALIASES and not name.startswith(ADAPTERS)]

# Never needed by the library, and slow to import or not installed with it. (numba loads scipy where it finds it.)
FOREIGN = {
    *("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "tyro", "rich", "safetensors", "pandas", "pyspiel"),
    *("pygame", "PIL", "IPython", "pytest", "setuptools", "pkg_resources", "agents", "experiments", "tests"),
}
DRAWING = {"aggdraw", "PIL"}  # needed for pixels alone
NAMES = {"pillow": "PIL"}  # packages that are imported by another name
USES = {
    "import": ("import samurai_env", FOREIGN | DRAWING | {"pettingzoo.test", "pettingzoo.classic"}),
    "modules": (
        "from importlib import import_module\nfor name in sys.argv[1:]: import_module(name)",
        FOREIGN | DRAWING | {"pettingzoo.test", "pettingzoo.classic"},
    ),
    "play": (
        "import gymnasium, samurai_env\n"
        "from samurai_env.envs.aec import wrapped\n"
        "from samurai_env.games import GAMES\n"
        "for name, (_, env_id) in GAMES.items():\n"
        "    env = wrapped(name, render_mode='ansi')\n"
        "    env.reset(seed=1)\n"
        "    env.step(int(env.last()[4]['action_mask'].argmax()))\n"
        "    env.render()\n"
        "    env = gymnasium.make(env_id, opponents='greedy', num_players=2, render_mode='ansi')\n"
        "    env.reset(seed=1)\n"
        "    env.step(env.action_space.sample())\n"
        "    env.render()\n"
        "    env = gymnasium.make_vec(env_id, num_envs=2)\n"
        "    env.step(env.reset(seed=1)[0]['action_mask'].argmax(1))\n",
        FOREIGN | DRAWING,
    ),
    "pictures": (
        "from samurai_env.envs.aec import wrapped\n"
        "for mode in ('svg', 'rgb_array'):\n"
        "    env = wrapped('samurai', render_mode=mode)\n"
        "    env.reset(seed=1)\n"
        "    assert len(env.render()) > 100\n",
        (FOREIGN - {"PIL"}) | {"matplotlib", "tkinter"},
    ),
}


@pytest.mark.parametrize("use", USES)
def test_what_is_imported(use) -> None:
    """A process that uses the library has not loaded what it does not need."""
    code, unwanted = USES[use]
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", script, *MODULES], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert found.returncode == 0, found.stderr
    loaded = set(json.loads(found.stdout.splitlines()[-1]))
    assert "samurai_env" in loaded
    assert ("aggdraw" in loaded) == (use == "pictures")
    assert not loaded & unwanted


def test_games_are_loaded_when_they_are_asked_for() -> None:
    script = "import json, sys, samurai_env; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    loaded = json.loads(found.stdout)
    packages = {find_game(name).kernels.step.py_func.__module__.rsplit(".", 1)[0] for name in game_names()}
    assert len(packages) == len(game_names())
    assert not packages & set(loaded)


def imports_of(path: Path) -> set[str]:
    """Top-level names of all packages that a file imports anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(str(node.module).split(".")[0])
    return names


def test_the_library_needs_no_more_than_it_declares() -> None:
    """Every import in the source, those inside functions too, is of a declared dependency."""
    declared = {requirement.split(">")[0].split("[")[0] for requirement in SETTINGS["project"]["dependencies"]}
    allowed = {*declared, "samurai_env", *sys.stdlib_module_names}
    for path in (path for path in PACKAGE.rglob("*.py") if f"samurai_env.{path.stem}" not in ALIASES):
        parts = path.relative_to(PACKAGE).parts
        optional = {name for folder, names in OPTIONAL.items() if folder in parts for name in names}
        assert imports_of(path) <= allowed | optional, path
    render = {requirement.split(">")[0] for requirement in SETTINGS["project"]["optional-dependencies"]["render"]}
    assert {NAMES.get(name, name) for name in render} == DRAWING


# ---------------------------------------------------------------- the wheel


def packaged() -> list[str]:
    """The packages that the build takes along."""
    find = SETTINGS["tool"]["setuptools"]["packages"]["find"]
    return find_packages(str(ROOT), include=find.get("include", ["*"]), exclude=find.get("exclude", []))


def test_the_wheel_carries_the_library_alone() -> None:
    assert {name.split(".")[0] for name in packaged()} == {"samurai_env"}
    everything = {name.split(".")[0] for name in find_packages(str(ROOT))}
    assert {"agents", "experiments", "tests"} <= everything  # they are there to be left out


def test_the_wheel_carries_all_of_the_library() -> None:
    """Every module lies in a package that is found, every other file is named as package data."""
    folders = {ROOT / name.replace(".", "/") for name in packaged()}
    patterns = SETTINGS["tool"]["setuptools"]["package-data"]["samurai_env"]
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(files) > 20
    for path in files:
        if path.suffix == ".py":
            assert path.parent in folders, path
        else:
            assert any(fnmatch(path.relative_to(PACKAGE).as_posix(), pattern) for pattern in patterns), path


def test_type_hints_are_announced() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert "py.typed" in SETTINGS["tool"]["setuptools"]["package-data"]["samurai_env"]
    assert SETTINGS["tool"]["setuptools"]["dynamic"]["version"]["attr"] == "samurai_env.__version__"


# ---------------------------------------------------------------- descriptions


def test_what_the_package_offers() -> None:
    assert samurai_env.__version__
    for name in samurai_env.__all__:
        assert getattr(samurai_env, name).__doc__.strip(), name


def undescribed(tree: ast.AST, prefix: str) -> list[str]:
    """Public classes, functions and methods without a docstring; local functions are nobody's business."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                found.append(f"{prefix}.{node.name}")
            if isinstance(node, ast.ClassDef):
                found += undescribed(node, f"{prefix}.{node.name}")
    return found


@pytest.mark.parametrize("name", ["samurai_env", *MODULES])
def test_public_names_are_described(name) -> None:
    module = import_module(name)
    assert module.__doc__, name
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert undescribed(ast.parse(source), name) == []


def test_a_program_runs_under_the_name_that_it_has_in_the_wheel(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "samurai_env.experiments.tournament", "--help"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert "duplicate deals" in shown.stdout
