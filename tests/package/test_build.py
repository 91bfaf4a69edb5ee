"""What a wheel holds: agents, programs and networks inside of samurai_env, with nothing at top level."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from setup import files, long_description, rewritten

ROOT = Path(__file__).resolve().parents[2]
IMPORT_ALL = """
import sys
from importlib import import_module
from pathlib import Path
import samurai_env
root = Path(samurai_env.__file__).parent
assert root.parent == Path(sys.argv[1]), root
names = [path.relative_to(root.parent).with_suffix("").parts for path in sorted(root.rglob("*.py"))]
for parts in names:
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    try:
        assert Path(import_module(name).__file__).is_relative_to(root), name
    except ModuleNotFoundError as error:
        extras = {"mcp", "minari", "pyarrow", "ray", "textarena"}
        assert error.name in extras or ".adapters." in name, (name, error.name)
from samurai_env.agents import make_agent
assert make_agent("greedy", samurai_env.make_variant())
assert not {"agents", "experiments"} & sys.modules.keys()
from samurai_env.agents.networks.cards import read_card
print(len(names), read_card(Path("weights/samurai-2")).config.hidden)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a wheel is made of."""
    place = tmp_path_factory.mktemp("build")
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(place / "lib")]
    command += ["egg_info", "--egg-base", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return place / "lib"


def test_everything_in_the_wheel_can_be_imported(library: Path, tmp_path: Path) -> None:
    assert [path.name for path in library.iterdir()] == ["samurai_env"]
    command = [sys.executable, "-c", IMPORT_ALL, str(library)]
    environment = {"PYTHONPATH": str(library), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    modules, hidden = done.stdout.split(maxsplit=1)
    assert int(modules) > 150
    assert hidden.strip() == "(256, 256)"


def test_the_wheel_is_small_and_has_every_network(library: Path, tmp_path: Path) -> None:
    caches = shutil.ignore_patterns("__pycache__")  # of the test before
    shutil.copytree(library, tmp_path / "lib", ignore=caches)
    packed = shutil.make_archive(str(tmp_path / "wheel"), "zip", tmp_path / "lib")
    assert Path(packed).stat().st_size < 9e6
    networks = {path.name for path in (ROOT / "weights").iterdir()} - {"outside"}  # the leaderboard's alone
    assert {path.name for path in (library / "samurai_env" / "weights").iterdir()} == networks
    assert not (library / "samurai_env" / "agents.py").exists()


def test_imports_are_rewritten() -> None:
    source = "from agents import rollouts\nif x:\n    from agents.spec import AgentSpec\nimport agentsmith\n"
    wanted = "from samurai_env.agents import rollouts\nif x:\n    from samurai_env.agents.spec import AgentSpec\n"
    assert rewritten(source) == wanted + "import agentsmith\n"


def test_no_import_that_cannot_be_rewritten() -> None:
    """`import agents.spec` would leave the name `agents` unbound in a wheel."""
    for name in files():
        if name.suffix == ".py":
            lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
            assert not [line for line in lines if line.split()[:1] == ["import"] and "agents." in line], name


@pytest.mark.parametrize("name", ["agents.spec", "agents.search.tree", "experiments.common.markdown"])
def test_a_module_of_the_clone_is_one_under_both_names(name: str) -> None:
    module = import_module(name)
    assert import_module(f"samurai_env.{name}") is module
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__ == name


def test_agents_have_a_public_name() -> None:
    from agents.registry import make_agent
    from samurai_env import agents

    assert agents.make_agent is make_agent  # type: ignore[attr-defined, unused-ignore]


def test_links_of_the_long_description_are_absolute_or_text() -> None:
    for url in ("", "https://example.org/repo"):
        text = long_description(url)
        links = re.findall(r"\]\(([^)]+)\)", text)
        assert all(link.startswith(("https:", "#")) for link in links), links
        assert ("![" in text) == bool(url)
    assert "https://example.org/repo/raw/main/docs/images/board.png" in text
