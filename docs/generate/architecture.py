"""Draw which package of the code imports which, from the code.

    python -m docs.generate.architecture            # write its picture and table in docs/background/design.md
    python -m docs.generate.architecture --check    # only say what is stale or goes upward (exit status 1)

An arrow that follows from two others is left out of the picture; the table has them all. An import that goes upward is
drawn in red and printed.
"""

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from experiments.common.markdown import refresh, table
from experiments.common.provenance import ROOT
from samurai_env.files.atomic_write import write_atomically

PAGE = "docs/background/design.md"
PICTURE = Path("docs/images/architecture.svg")
FOLDERS = ("samurai_env", "agents", "experiments")

# Packages in rows, top to bottom; one may import what comes after it. A module belongs to its longest prefix here.
ROWS: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = (
    (
        ("experiments/clients", ("experiments.clients",)),
        ("experiments/outside", ("experiments.outside",)),
        ("experiments/examples", ("experiments.examples",)),
    ),
    (("experiments/*.py", ("experiments",)),),
    (
        ("experiments/datasets", ("experiments.datasets",)),
        ("experiments/benchmark", ("experiments.benchmark",)),
        ("experiments/strong_play", ("experiments.strong_play",)),
        ("experiments/web", ("experiments.web",)),
        ("experiments/training", ("experiments.training",)),
        ("experiments/evaluation", ("experiments.evaluation",)),
        ("experiments/common", ("experiments.common",)),
    ),
    (("agents/*.py", ("agents",)),),
    (
        ("agents/search", ("agents.search",)),
        ("agents/networks", ("agents.networks",)),
        ("agents/baselines", ("agents.baselines",)),
    ),
    (
        ("rollouts, heuristics", ("agents.rollouts", "agents.leaf_values", "agents.heuristics")),
        ("spec, settings", ("agents.spec", "agents.old_names", "agents.settings")),
    ),
    (("samurai_env/*.py", ("samurai_env",)),),
    (("samurai_env/adapters", ("samurai_env.adapters",)),),
    (
        ("samurai_env/envs", ("samurai_env.envs",)),
        ("samurai_env/language", ("samurai_env.language",)),
        ("samurai_env/editors", ("samurai_env.editors",)),
        (
            "position, game record, batch",
            (
                "samurai_env.agent_api",
                "samurai_env.position",
                "samurai_env.game_record",
                "samurai_env.game_batch",
                "samurai_env.perft",
                "samurai_env.state_dict",
            ),
        ),
    ),
    (("samurai_env/games", ("samurai_env.games",)), ("samurai_env/display", ("samurai_env.display",))),
    (("samurai_env/files", ("samurai_env.files",)),),
    (("samurai_env/core", ("samurai_env.core",)),),
)
PACKAGES = {package: prefixes for row in ROWS for package, prefixes in row}
ORDER = {package: place for place, package in enumerate(PACKAGES)}

Arrows = Mapping[tuple[str, str], Sequence[str]]


@cache
def modules() -> dict[str, Path]:
    """All modules of the project by dotted name."""
    found = {}
    for path in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def package_of(module: str) -> str:
    """The package of a module."""
    fits = [(len(p), name) for name, prefixes in PACKAGES.items() for p in prefixes if f"{module}.".startswith(f"{p}.")]
    return max(fits)[1]


def imports(module: str) -> Iterator[str]:
    """The project's modules that a module imports, in functions too; not those under TYPE_CHECKING."""
    waiting: list[ast.AST] = [ast.parse(modules()[module].read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in modules() else node.module for name in inner]
        yield from (name for name in names if name in modules())


def arrows() -> Arrows:
    """For each pair of packages, which modules of the first import which of the second, as "module -> module"."""
    found: dict[tuple[str, str], list[str]] = {}
    for module in modules():
        for target in imports(module):
            pair = package_of(module), package_of(target)
            if pair[0] != pair[1]:
                found.setdefault(pair, []).append(f"{module} -> {target}")
    return {pair: sorted(set(found[pair])) for pair in sorted(found, key=lambda p: (ORDER[p[0]], ORDER[p[1]]))}


def upward(found: Arrows) -> list[str]:
    """Imports that go from a lower package to a higher one; there should be none."""
    return [text for (package, target), texts in found.items() if ORDER[target] < ORDER[package] for text in texts]


def reduced(found: Arrows) -> list[tuple[str, str]]:
    """The arrows that do not follow from others, and those that go upward."""
    down = {pair for pair in found if ORDER[pair[0]] < ORDER[pair[1]]}
    reach: dict[str, set[str]] = {}
    for package in reversed(PACKAGES):
        next_packages = {b for a, b in down if a == package}
        reach[package] = next_packages.union(*(reach[b] for b in next_packages))
    needed = {(a, b) for a, b in down if not any((a, c) in down and b in reach[c] for c in PACKAGES)}
    return sorted(needed | (set(found) - down))


WIDTH, HEIGHT, GAP, STEP = 190, 34, 24, 78


def picture(found: Arrows) -> str:
    """The packages and their arrows as SVG."""
    across = max(len(row) for row in ROWS) * (WIDTH + GAP) + GAP
    place: dict[str, tuple[float, float]] = {}
    for y, row in enumerate(ROWS):
        left = (across - len(row) * (WIDTH + GAP) + GAP) / 2
        for x, (package, _) in enumerate(row):
            place[package] = left + x * (WIDTH + GAP), GAP + y * STEP
    size = f'width="{across}" height="{STEP * len(ROWS)}" viewBox="0 0 {across} {STEP * len(ROWS)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">',
        f'<rect width="{across}" height="{STEP * len(ROWS)}" rx="8" fill="#ffffff"/>',
    ]
    for colour in ("#5b6b8c", "#c62828"):
        head = f'<path d="M0 0 8 4 0 8z" fill="{colour}"/>'
        size = 'markerWidth="8" markerHeight="8" refX="8" refY="4" orient="auto"'
        lines.append(f'<defs><marker id="head{colour[1:]}" {size}>{head}</marker></defs>')
    for package, target in reduced(found):
        (x1, y1), (x2, y2) = place[package], place[target]
        if y1 == y2:  # neighbours by a line, others in an arc below the boxes
            apart = abs(x1 - x2) > WIDTH + GAP
            edge, far = (x1 + WIDTH, x2) if x1 < x2 else (x1, x2 + WIDTH)
            middle = (x1 + x2 + WIDTH) / 2
            path = f"M{edge:g} {y1 + HEIGHT / 2:g} L{far:g} {y2 + HEIGHT / 2:g}"
            if apart:
                edge, far = x1 + WIDTH * (0.75 if x1 < x2 else 0.25), x2 + WIDTH * (0.25 if x1 < x2 else 0.75)
                path = f"M{edge:g} {y1 + HEIGHT:g} Q{middle:g} {y1 + HEIGHT + 32:g} {far:g} {y2 + HEIGHT:g}"
        else:
            start, end = (y1 + HEIGHT, y2) if y1 < y2 else (y1, y2 + HEIGHT)
            bend = (end - start) / 2
            x1, x2 = x1 + WIDTH / 2, x2 + WIDTH / 2
            path = f"M{x1:g} {start:g} C{x1:g} {start + bend:g} {x2:g} {end - bend:g} {x2:g} {end:g}"
        colour = "#5b6b8c" if ORDER[package] < ORDER[target] else "#c62828"
        lines.append(f'<path d="{path}" fill="none" stroke="{colour}" marker-end="url(#head{colour[1:]})"/>')
    for package, (left, top) in place.items():
        box = f'x="{left:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}" rx="6"'
        lines.append(f'<rect {box} fill="#e8ecf6" stroke="#5b6b8c"/>')
        words = f'x="{left + WIDTH / 2:g}" y="{top + HEIGHT / 2 + 5:g}" text-anchor="middle" fill="#1c2333"'
        lines.append(f"<text {words}>{package}</text>")
    return "\n".join([*lines, "</svg>", ""])


def part(found: Arrows) -> str:
    """The generated part of the page: the picture, and who imports whom."""
    rows = []
    for package in PACKAGES:
        targets = ", ".join(f"`{b}`" for a, b in found if a == package)
        rows.append([f"`{package}`", targets or "–"])
    lines = table(["package", "imports"], rows)
    return f"![The packages of the code and their imports](../images/{PICTURE.name})\n\n{lines}"


def pages() -> dict[str, dict[str, str]]:
    """The generated part, by page and mark."""
    return {PAGE: {"architecture": part(arrows())}}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.generate.architecture", description="Draw imports between packages."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something is out of date")
    check = parser.parse_args(arguments).check
    found = arrows()
    stale, drawn = refresh(pages(), write=not check), picture(found)
    path = ROOT / PICTURE
    if not path.exists() or path.read_text(encoding="utf-8") != drawn:
        stale.append(str(PICTURE))
        if not check:
            write_atomically(path, drawn)
    for name in stale:
        print(f"{name} {'is out of date' if check else 'written'}")
    wrong = upward(found)
    for text in wrong:
        print(f"upward: {text}")
    return int(check and bool(stale or wrong))


if __name__ == "__main__":
    sys.exit(main())
