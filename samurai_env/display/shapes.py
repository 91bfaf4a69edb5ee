"""Shapes that the pictures of several games have."""

import textwrap

from samurai_env.display.palette import INK, MARK, MARK_EDGE, TEXT
from samurai_env.display.scene import Points, Polygon, Shape, Text

__all__ = ["Points", "Shape", "box", "highlight", "highlighted_box", "paragraph", "square"]
LETTER_WIDTH = 0.56  # mean width of a letter, in units of its size


def box(x: float, y: float, width: float, height: float, fill: str, edge: str = "none", line: float = 1.0) -> Polygon:
    """A rectangle by its upper left corner."""
    return Polygon(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), fill, edge, line)


def square(x: float, y: float, half: float, fill: str, edge: str = "none", line: float = 1.0) -> Polygon:
    """A square by its middle and half its width."""
    return box(x - half, y - half, 2 * half, 2 * half, fill, edge, line)


def highlight(corners: Points) -> list[Shape]:
    """A bright frame along an outline."""
    return [Polygon(corners, "none", MARK_EDGE, 5.0), Polygon(corners, "none", MARK, 2.6)]


def highlighted_box(x: float, y: float, width: float, height: float) -> list[Shape]:
    """A bright frame behind a panel."""
    return [box(x - d, y - d, width + 2 * d, height + 2 * d, color) for d, color in ((6, INK), (5, MARK))]


def paragraph(
    words: str, x: float, y: float, width: float, size: float, color: str = TEXT, bold: bool = False
) -> list[Shape]:
    """Lines of text no wider than `width`; `y` is the middle of the first."""
    lines = textwrap.wrap(words, max(8, int(width / (LETTER_WIDTH * size * (1.12 if bold else 1)))))
    return [Text(x, y + 1.35 * size * i, line, size, color, "left", bold) for i, line in enumerate(lines)]
