"""Puts the pages at the root of the repository, such as LEADERBOARD.md, into the site (hooks of mkdocs)."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("LEADERBOARD", "CHANGELOG", "CONTRIBUTING")
HERE = re.compile(rf"\]\((?:\.\./)+({'|'.join(NAMES)})\.md")


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages to the site; in it `docs/` is the root."""
    from mkdocs.structure.files import File  # only when the site is built

    for name in NAMES:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, f"{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links from pages in `docs/` to the copies in the site."""
    up = "../" * page.file.src_uri.count("/")
    return HERE.sub(rf"]({up}\1.md", markdown)
