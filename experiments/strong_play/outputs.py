"""The files that the command writes."""

from pathlib import Path

from experiments.common.provenance import ROOT
from experiments.strong_play.page import measured, page
from experiments.strong_play.pictures import MAP, first_tiles

PAGE = ROOT / "docs" / "background" / "strong_play.md"
IMAGES = ROOT / "docs" / "images"


def texts() -> dict[Path, str]:
    """The contents of the page and its map, by file.

    Raises:
        ValueError: something has not been measured yet, or does not bear out what the page says.
    """
    found = measured()
    return {PAGE: page(found), IMAGES / MAP: first_tiles(found["board-2"])}
