"""What pyproject.toml cannot say: the links of the long description, and what a wheel holds beside the library.

In a clone `agents/`, `experiments/` and `weights/` are folders of their own. As top-level names in site-packages they
would collide with other people's, so the build copies them to `samurai_env/agents`, ... and rewrites their imports.
`samurai_env/source_folders.py` gives them the same names in a clone.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
INSIDE = ("agents", "experiments", "weights")
# Programs that keep the clone in order, and what they work on.
LEFT_OUT = (
    *(
        "experiments/results",
        "experiments/benchmark",
        "experiments/clients",
        "experiments/outside",
        "weights/outside",
        "experiments/strong_play",
        "experiments/bench.py",
        "experiments/leaderboard",
        "experiments/training/recipe.py",
    ),
    *("experiments/leaderboard.toml", "experiments/action_gaps.py"),
    *("experiments/distill_rollouts.py", "experiments/search_variants.py", "experiments/reproduce.py"),
)
KINDS = {".py", ".json", ".safetensors", ".html", ".js", ".css", ".svg"}
IMPORT = re.compile(r"^( *)(from|import) (agents|experiments)\b", re.MULTILINE)


def files() -> Iterator[Path]:
    """The files to copy, relative to the clone."""
    for folder in INSIDE:
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT)
            if path.suffix in KINDS and not any(name.is_relative_to(other) for other in LEFT_OUT):
                yield name


def rewritten(source: str) -> str:
    """Python source with `from agents.spec import ...` as `from samurai_env.agents.spec import ...`."""
    return IMPORT.sub(r"\1\2 samurai_env.\3", source)


class BuildWithFolders(build_py):
    """Copies the folders into the package; an editable install leaves them where they are."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib) / "samurai_env"
        for folder in INSIDE:
            (package / f"{folder}.py").unlink(missing_ok=True)  # the clone's alias
            shutil.rmtree(package / folder, ignore_errors=True)  # what an earlier build left
        for name in files():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            if name.suffix == ".py":
                (package / name).write_text(rewritten((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
            else:
                shutil.copyfile(ROOT / name, package / name)


def repository() -> str:
    """The address of the repository in CITATION.cff; "" as long as there is none."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(r"^repository-code: *[\"']?(https://[^\s\"']+)", text, re.MULTILINE)
    return found[1].rstrip("/") if found else ""


def long_description(url: str) -> str:
    """The README for an index of packages, where links into the repository lead nowhere: they become absolute.

    Without an address of the repository, pictures go and the text of links stays.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    picture, link = r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)", r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)"
    text = re.sub(picture, rf"![\1]({url}/raw/main/\2)" if url else "", text)
    return re.sub(link, rf"[\1]({url}/blob/main/\2)" if url else r"\1", text)


if __name__ == "__main__":
    setup(
        cmdclass={"build_py": BuildWithFolders},
        long_description=long_description(repository()),
        long_description_content_type="text/markdown",
        project_urls={"Repository": repository()} if repository() else {},
    )
