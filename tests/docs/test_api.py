"""The Python reference has an entry for every module that somebody else's code may use."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What only this project's own code uses.
INTERNAL = {
    *(f"samurai_env.core.{name}" for name in ("batch", "cache", "checks", "notices", "spin_threads", "texts")),
    *(f"samurai_env.envs.{name}" for name in ("guard", "cuda.toolkit")),
    *(f"samurai_env.files.{name}" for name in ("atomic_write", "json_reader")),
    *(f"samurai_env.editors.{name}" for name in ("board_game", "card_game", "spirit")),
    *(f"samurai_env.{name}" for name in ("agents", "experiments", "source_folders", "display.palette")),
    *(f"samurai_env.{name}_v0" for name in ("samurai", "samurai_card", "samurai_spirit")),  # envs.modules makes them
    *(f"agents.{name}" for name in ("old_names", "networks.dense", "networks.sampling", "networks.weight_files")),
    *(f"agents.networks.maps.{name}" for name in ("compiled_layers", "numpy_graph", "products", "tables")),
    *(f"agents.networks.maps.{name}" for name in ("site_kernels", "embed_kernels", "score_kernels")),
    *(f"agents.networks.maps.{name}" for name in ("grid_tables", "grid_score_kernels")),
}


def modules() -> set[str]:
    """All modules but those of the games and templates of compiled code."""
    paths = [path.relative_to(ROOT) for folder in ("samurai_env", "agents") for path in (ROOT / folder).rglob("*.py")]
    kept = [path for path in paths if path.name != "__init__.py" and not {"games", "compiled"} & set(path.parts)]
    return {".".join(path.with_suffix("").parts) for path in kept}


def listed() -> list[str]:
    """The modules on the page."""
    lines = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("::: ") for line in lines if line.startswith("::: ")]


def test_every_module_is_on_the_page_or_internal() -> None:
    missing = modules() - set(listed()) - INTERNAL
    assert not missing, f"name these in docs/reference/api.md, or here as internal: {sorted(missing)}"
    assert not INTERNAL - modules(), "these are internal and not there"
    assert len(set(listed())) == len(listed())


def public(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Public functions and classes with their methods."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{prefix}.{node.name}")


@pytest.mark.parametrize("module", listed())
def test_every_public_name_has_a_docstring(module: str) -> None:
    path = ROOT / (module.replace(".", "/") + ".py")
    path = path if path.exists() else ROOT / module.replace(".", "/") / "__init__.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    bare = [name for name, node in public(tree.body, module) if not ast.get_docstring(node)]
    assert not bare


@pytest.mark.parametrize("module", listed())
def test_what_a_function_raises_is_in_its_docstring(module: str) -> None:
    path = ROOT / (module.replace(".", "/") + ".py")
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.parse("")
    silent = []
    for name, node in public(tree.body, module):
        text = ast.get_docstring(node) or ""
        if isinstance(node, ast.FunctionDef) and not name.endswith("main"):
            inner = [n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not node]
            hidden = {id(n) for f in inner for n in ast.walk(f)}
            raised = [n for n in ast.walk(node) if isinstance(n, ast.Raise) and n.exc and id(n) not in hidden]
            raised = [n for n in raised if "NotImplementedError" not in ast.dump(n)]
            if raised and "aises" not in text and "See `" not in text:
                silent.append(name)
    assert not silent
