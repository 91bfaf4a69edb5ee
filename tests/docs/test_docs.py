"""What the pages say is so: examples run, tables follow the code, links lead somewhere, commands exist."""

import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from itertools import chain
from pathlib import Path
from runpy import run_module

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rich.console import Console

import samurai_env
from docs.generate import architecture, root_pages, tables
from experiments import train_ppo
from experiments.benchmark import page as speed_page
from experiments.benchmark.timing import Figure
from experiments.clients import page as clients_page
from experiments.common import markdown
from experiments.common.markdown import anchor, fill, refresh, table
from experiments.leaderboard.page import readme_part
from samurai_env.games.card.rules import card_lists

ROOT = Path(__file__).resolve().parents[2]
TOP = ["README.md", "LEADERBOARD.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"python -m ((?:experiments|samurai_env|docs|tests)[\w.]*)([^`\n#|]*)")
SUBCOMMAND = re.compile(r"samurai-env ([a-z]+)([^`\n#|]*)")
BLOCKS = [
    pytest.param(match[1], id=f"{name}-{number}")
    for name, text in TEXTS.items()
    for number, match in enumerate(BLOCK.finditer(text), 1)
]


# --- Examples ---


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_runs_without_a_warning(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_lists, "_lists", dict(card_lists._lists))  # a list that an example loads goes with it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(block, "<example>", "exec"), {"__name__": "__main__"})


def test_the_readme_shows_four_short_examples() -> None:
    blocks = BLOCK.findall(TEXTS["README.md"])
    assert len(blocks) == 4
    assert all(len(block.strip().split("\n")) <= 20 for block in blocks)


# --- Commands ---


def help_of(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What `python -m MODULE [COMMAND] --help` prints; run here, since a process for each loads torch for seconds."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", [*words, "--help"])
    monkeypatch.delitem(sys.modules, words[0], raising=False)  # `run_module` warns of one that is loaded
    with pytest.raises(SystemExit) as end:
        run_module(words[0], run_name="__main__", alter_sys=True)
    assert end.value.code in (0, None)
    return capsys.readouterr().out


def commands() -> dict[str, set[str]]:
    """The flags with which modules, and commands of `samurai-env`, are called in the pages and the Makefile."""
    found: dict[str, set[str]] = {}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(PY)", "python")
    for text in [*TEXTS.values(), makefile]:
        joined = text.replace("\\\n", " ")
        called = COMMAND.findall(joined)
        called += [(f"experiments.command.main {name}", rest) for name, rest in SUBCOMMAND.findall(joined)]
        for words, rest in called:
            found.setdefault(words, set()).update(re.findall(r"(?<!\S)--[a-z][a-z-]*", rest))
    return found


@pytest.mark.parametrize("words", sorted(commands()))
def test_a_command_exists_and_has_the_flags_that_are_shown(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = help_of(words.split(), monkeypatch, capsys)
    assert "usage" in shown.lower()
    for flag in commands()[words]:
        assert re.search(rf"(?<![\w-]){flag}(?![\w-])", shown), f"{words} has no {flag}"


def test_make_has_the_targets_that_are_shown() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z%-]+):.*## ", makefile, re.MULTILINE))
    shown = {name for text in TEXTS.values() for name in re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE)}
    shown = {re.sub("^(weights|outside)-.*", r"\1-%", name) for name in shown}
    assert {"train", "test"} <= shown <= targets


# --- Generated parts ---


def test_the_tables_follow_the_code() -> None:
    stale = refresh(tables.pages(), write=False)
    assert stale == [], "run: python -m docs.generate.tables"


def test_the_tables_of_results_follow_the_results() -> None:
    assert refresh(speed_page.pages(), write=False) == [], "run: python -m experiments.benchmark.tables"
    assert refresh(clients_page.pages(), write=False) == [], "run: python -m experiments.clients.page"


def test_the_picture_of_the_rooms_follows_the_code() -> None:
    assert refresh(architecture.pages(), write=False) == [], "run: python -m docs.generate.architecture"
    picture = (ROOT / architecture.PICTURE).read_text(encoding="utf-8")
    assert picture == architecture.picture(architecture.arrows()), "run: python -m docs.generate.architecture"


def test_no_generated_part_is_forgotten() -> None:
    marked = {(name, mark) for name, text in TEXTS.items() for mark in re.findall(r"<!-- ([\w-]+) -->", text)}
    made_by = (tables.pages, speed_page.pages, readme_part, architecture.pages, clients_page.pages)
    sources = [pages() for pages in made_by]
    made = [(page, part) for source in sources for page, parts in source.items() for part in parts]
    assert marked == set(made)
    assert len(made) == len(set(made)), "a part has two owners"


def test_fill_wants_its_marks_once() -> None:
    page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    filled = fill(page, {"x": "new \\1"})
    assert filled == "a\n<!-- x -->\n\nnew \\1\n\n<!-- /x -->\nb\n"
    assert fill(filled, {"x": "new \\1"}) == filled
    for bad in ("", page + page):
        with pytest.raises(ValueError, match="pairs of marks"):
            fill(bad, {"x": "new"})


def test_a_table_escapes_bars_and_aligns_numbers() -> None:
    assert table(["a", "b"], [["x|y", 1], ["z", 2]]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n| z | 2 |"


def test_stale_pages_are_found_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text("<!-- x -->\n<!-- /x -->\n", encoding="utf-8")
    wanted = {"page.md": {"x": "text"}}
    assert refresh(wanted, write=False) == ["page.md"]
    assert refresh(wanted, write=True) == ["page.md"]
    assert refresh(wanted, write=False) == []
    (tmp_path / "bare.md").write_text("no marks", encoding="utf-8")
    before = (tmp_path / "page.md").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="0 pairs of marks"):
        refresh({"page.md": {"x": "other"}, "bare.md": {"x": "text"}}, write=True)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == before  # all pages or none


def test_results_become_tables(tmp_path: Path) -> None:
    origin = {"version": "0.1.0", "commit": "abc1234+", "machine": "a machine"}
    variant = "samurai players=3 edition=1998 first_hand=choose figure_setup=alternate hide_captures=false"
    figures = [
        Figure("vector env, 9 games", "steps/s", 12_345_678.0, 1e6, 123_456_789.0),
        Figure("first step", "s", 1.5, 1.25, 2.0),
        Figure("a detail", "s", 1.0, 1.0, 1.0),
    ]
    bench = {**origin, "variant": variant, "command": "bench 3", "figures": [vars(f) for f in figures]}
    (tmp_path / "bench-3.json").write_text(json.dumps(bench), encoding="utf-8")
    (tmp_path / "bench-4.json").write_text(json.dumps(bench | {"figures": bench["figures"][:1]}), encoding="utf-8")
    made, page = (speed_page.pages(tmp_path)[name]["speed"] for name in ("README.md", speed_page.PAGE))
    assert "| vector env, 9 games, steps/s | **12.3 M** (1.00 M to 123 M) | **12.3 M** (1.00 M to 123 M) |" in made
    assert "| first step, s | **1.50** (1.25 to 2.00) |  |" in made
    assert "a detail" not in made and "a detail" in page
    assert "`bench 3`" in page


def test_damaged_results_are_refused(tmp_path: Path) -> None:
    for content in ("{", "[]", "{}"):
        (tmp_path / "bench.json").write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=r"bench\.json"):
            speed_page.pages(tmp_path)


def test_files_that_the_pages_name_exist() -> None:
    named = re.compile(r"`((?:samurai_env|agents|experiments|tests|docs)/[\w/.]+\.(?:py|toml|json|md))`")
    for page, text in TEXTS.items():
        if not page.startswith(("docs/background/research_log/", "CHANGELOG.md")):  # these tell of what was
            missing = [name for name in named.findall(text) if not (ROOT / name).exists()]
            assert missing == [], page


# --- Rulings ---


@pytest.mark.parametrize("game", ["board", "card", "spirit"])
def test_every_ruling_names_functions_that_exist(game: str) -> None:
    page = TEXTS["docs/games/spirit.md" if game == "spirit" else f"docs/games/{game}_game.md"]
    rulings, code = page.split("## Rulings\n")[1].split("\n## ")[0].split("| Ruling | Functions |")
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", code, re.MULTILINE)
    assert [number for number, _ in rows] == re.findall(r"^(\d+)\. ", rulings, re.MULTILINE)
    for number, cell in rows:
        for part in cell.split("; "):
            file, *functions = re.findall(r"`([^`]+)`", part)
            text = (ROOT / "samurai_env" / "games" / game / file).read_text(encoding="utf-8")
            missing = [name for name in functions if f"\ndef {name}(" not in text]
            assert functions and not missing, f"ruling {number}: {file} has no {missing}"


@pytest.mark.parametrize("game", ["board", "card", "spirit"])
def test_docstrings_quote_headings_of_the_rules_page(game: str) -> None:
    page = TEXTS["docs/games/spirit.md" if game == "spirit" else f"docs/games/{game}_game.md"]
    headings = {
        text.rstrip(".") for text in re.findall(r"^#+ (.+)$|\*\*(.+?)\*\*", page, re.MULTILINE) for text in text
    }
    folder = ROOT / "samurai_env" / "games" / game
    files = [*sorted((folder / "rules").glob("*.py")), folder / "determinize.py"]
    docstrings = [text for file in files for text in re.findall(r'"""(.+)', file.read_text(encoding="utf-8"))]
    quoted = {heading for text in docstrings for heading in re.findall(r'[(,] ?"([A-Z][^"]+)"(?=[,)])', text)}
    assert len(quoted) > 3
    assert quoted <= headings


# --- Links ---


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {anchor(head) for head in heads}


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for target in re.findall(r"\]\(([^)\s]+)\)", TEXTS[name]):
        if target.startswith("https://"):
            continue
        file, _, place = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{name} links to {target}"
        # The site has docs/ and some pages of the root.
        in_site = there.is_relative_to(ROOT / "docs") or there in {ROOT / f"{page}.md" for page in root_pages.NAMES}
        assert not name.startswith("docs/") or in_site, f"{name} links to {target}"
        if place:
            assert place in anchors(there.read_text(encoding="utf-8")), f"{name} links to {target}"


def test_the_pages_build(tmp_path: Path) -> None:
    # Without --quiet, which hides warnings from --strict as well.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "games" / "board_game" / "index.html").exists()
    assert not list(tmp_path.rglob("*.py"))


# --- Facts that stand in several places ---


@pytest.mark.slow
def test_every_metric_of_training_is_explained(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = train_ppo.Config(
        run=tmp_path, total_timesteps=256, num_envs=8, num_steps=32, minibatch_size=128, update_epochs=1, hidden=(8,)
    )
    config.eval_every, config.eval_deals, config.device = 1, 2, "cpu"
    train_ppo.train(config, Console(quiet=True))
    log = EventAccumulator(str(tmp_path))
    log.Reload()
    for tag in log.Tags()["scalars"]:
        assert f"`{tag}`" in TEXTS["docs/guides/training.md"], tag


def test_the_version_is_the_same_everywhere() -> None:
    version = samurai_env.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version}" in TEXTS["CHANGELOG.md"]


def test_the_constraints_fit_the_requirements() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    versions = {canonicalize_name(name): version for name, version in pins.items()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for text in chain(project["dependencies"], *extras):
        requirement = Requirement(text)
        if requirement.name != project["name"]:
            assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), text
