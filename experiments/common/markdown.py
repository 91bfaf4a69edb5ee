"""Parts of Markdown pages that programs write: what stands between `<!-- name -->` and `<!-- /name -->`."""

import re
from collections.abc import Mapping, Sequence

from experiments.common.provenance import ROOT
from samurai_env import parse_variant
from samurai_env.files.atomic_write import write_atomically


def variant_title(spec: str) -> str:
    """A variant in a few words: its number of players and the options that are not the default."""
    made = parse_variant(spec)
    standard = made.game.variant(made.num_players).options
    special = [f"{name}={value}" for name, value in made.options.items() if value != standard[name]]
    people = f"{made.num_players} player{'s' * (made.num_players != 1)}"
    return ", ".join([f"{made.game.title}, {people}", *special])


def fill(page: str, parts: Mapping[str, str]) -> str:
    """The page with the text between each pair of marks replaced.

    Args:
        page: Markdown.
        parts: by name: what is to stand between `<!-- name -->` and `<!-- /name -->`.

    Raises:
        ValueError: the page lacks a pair of marks, or has it twice.
    """
    for name, part in parts.items():
        marks = re.compile(rf"(?<=<!-- {re.escape(name)} -->\n).*?(?=<!-- /{re.escape(name)} -->)", re.DOTALL)
        text = "\n" + part.replace("\\", "\\\\") + "\n\n"
        page, count = marks.subn(text, page)
        if count != 1:
            raise ValueError(f"the page has {count} pairs of marks <!-- {name} --> ... <!-- /{name} -->, not one")
    return page


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it of text without links."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; numbers stand to the right."""
    right = [all(type(row[i]) in (int, float) for row in rows) for i in range(len(header))]
    lines = [header, [("---:" if r else "---") for r in right], *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def refresh(pages: Mapping[str, Mapping[str, str]], write: bool) -> list[str]:
    """Bring pages up to date.

    Args:
        pages: by path from the root of the clone: the parts of the page.
        write: write those that change; otherwise only look.

    Returns:
        The paths of the pages that were out of date.

    Raises:
        ValueError: a page lacks the marks of a part; no page is written.
    """
    stale = {}
    for path, parts in pages.items():
        before = (ROOT / path).read_text(encoding="utf-8")
        after = fill(before, parts)
        if after != before:
            stale[path] = after
    if write:  # all or, if one lacks its marks, none
        for path, after in stale.items():
            write_atomically(ROOT / path, after)
    return list(stale)
