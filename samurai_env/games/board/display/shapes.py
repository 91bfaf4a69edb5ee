"""Figures and tiles: colours as data, shapes as outlines in a box from -1 to 1, y downwards.

Figures differ in lightness and outline as well (black helmet, golden buddha, white bowl of rice). Nothing depends on
colour alone: tiles carry the number of their seat and figures the letter of their kind.
"""

import math
from functools import lru_cache

from samurai_env.display.palette import BLACK, GOLD, PIECE_EDGE, SEATS, TEXT, WHITE
from samurai_env.display.scene import Circle, Polygon, Text
from samurai_env.display.shapes import Points, Shape, highlight
from samurai_env.games.board.rules.tiles import FIGURE_LETTERS, FIGURES, KIND_CODES, KIND_NAMES, QUICK, STRENGTH

SEA, SEA_EDGE, SEA_INK = "#cfe3ef", "#b4d0e2", "#8fb2c9"
LAND, LAND_EDGE, LAND_INK = "#f3e6c0", "#d9c793", "#b7a36c"
TOWN_EDGE, TOWN_INK = "#7d6a45", "#5d4d2e"
TOWN = {1: "#e0cb97", 2: "#d3b77c", 3: "#c9a566"}  # by the number of figures that the settlement is for
CLOSED, CLOSED_EDGE, CLOSED_INK = "#d8d3c8", "#a9a294", "#8a8376"
OUTLINE = BLACK
remembered = lru_cache(2**12, typed=True)  # what lies on the map is drawn again in each picture


def _arc(x: float, y: float, rx: float, ry: float, start: float, end: float, steps: int = 16) -> Points:
    """Points on an ellipse, angles in degrees, clockwise from the right."""
    angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
    return tuple((x + rx * math.cos(a), y + ry * math.sin(a)) for a in angles)


_HORN: Points = ((0.04, -0.28), (0.42, -0.4), (0.76, -0.66), (0.88, -1.05), (0.56, -0.78), (0.3, -0.68), (0.04, -0.66))
_DOME: Points = (*_arc(0, 0.25, 0.72, 0.8, 180, 360), (1.0, 0.86), (0.62, 0.7), (-0.62, 0.7), (-1.0, 0.86))
_SEATED: Points = ((0.3, -0.28), (0.58, -0.1), (0.66, 0.35), (1.0, 0.68), (0.9, 0.92))  # the right half
_HEAD = _arc(0, -0.58, 0.36, 0.4, 0, 360, 24)
_MOUND = _arc(0, -0.1, 0.74, 0.72, 180, 360)
_BOWL = _arc(0, -0.1, 1.0, 0.86, 0, 180)
_FOOT: Points = ((-0.4, 0.72), (0.4, 0.72), (0.46, 0.95), (-0.46, 0.95))


def _mirrored(points: Points) -> Points:
    return tuple((-x, y) for x, y in reversed(points))


OUTLINES: tuple[tuple[tuple[Points, str], ...], ...] = (  # by figure: parts with their fill
    ((_DOME, BLACK), (_HORN, GOLD), (_mirrored(_HORN), GOLD)),
    ((_HEAD, GOLD), ((*_SEATED, *_mirrored(_SEATED)), GOLD)),
    ((_MOUND, WHITE), (_FOOT, WHITE), (_BOWL, WHITE)),
)
LETTERS = ((WHITE, 0.28, 0.84), (BLACK, 0.42, 0.92), (BLACK, 0.3, 0.8))  # by figure: ink, height, size
_HULL: Points = ((-1.0, 0.25), (1.0, 0.25), (0.62, 0.85), (-0.62, 0.85))
_SAIL: Points = ((-0.05, -1.0), (-0.05, 0.08), (-0.85, 0.08))
_JIB: Points = ((0.12, -0.75), (0.12, 0.08), (0.7, 0.08))


def placed(points: Points, x: float, y: float, size: float) -> Points:
    """Points of the box from -1 to 1 in a box of half-width `size` around (x, y)."""
    return tuple((x + size * px, y + size * py) for px, py in points)


@remembered
def hexagon(x: float, y: float, radius: float) -> Points:
    """The corners of a flat-topped hex."""
    return _arc(x, y, radius, radius, 0, 300, 5)


@remembered
def figure(kind: int, x: float, y: float, size: float, edge: str = OUTLINE) -> tuple[Shape, ...]:
    """A figure with its letter; `size` is half its width."""
    ink, height, letter = LETTERS[kind]
    line = max(0.8, 0.08 * size)
    parts = (Polygon(placed(part, x, y, size), fill, edge, line) for part, fill in OUTLINES[kind])
    return (*parts, Text(x, y + height * size, FIGURE_LETTERS[kind], letter * size, ink, bold=True))


def slot(x: float, y: float, size: float) -> Shape:
    """The place of a figure that is still to be put."""
    return Circle(x, y, 0.7 * size, WHITE, TOWN_EDGE, 1.0)


@remembered
def tile(kind: int, seat: int, x: float, y: float, radius: float, note: str = "") -> tuple[Shape, ...]:
    """A tile that lies open: what it works on and how strongly, an inner ring if it is quick, and a short note."""
    fill, ink = SEATS[seat]
    shapes: list[Shape] = [Polygon(hexagon(x, y, radius), fill, OUTLINE, max(1.0, 0.05 * radius))]
    shapes += _face(kind, x, y - (0.12 * radius if note else 0), radius, ink)
    if int(QUICK) >> kind & 1:
        shapes.append(Polygon(hexagon(x, y, 0.88 * radius), "none", ink, max(1.0, 0.04 * radius)))
    if note:
        shapes.append(Text(x, y + 0.5 * radius, note, 0.4 * radius, ink))
    return tuple(shapes)


def _face(kind: int, x: float, y: float, radius: float, ink: str) -> list[Shape]:
    """The middle of a tile: a code, or a ship and its strength."""
    if KIND_NAMES[kind] != "ship":
        return [Text(x, y, KIND_CODES[kind], 0.72 * radius, ink, bold=True)]
    shapes: list[Shape] = [
        Polygon(placed(part, x - 0.2 * radius, y, 0.36 * radius), ink) for part in (_HULL, _SAIL, _JIB)
    ]
    return [*shapes, Text(x + 0.45 * radius, y, str(int(STRENGTH[kind].max())), 0.72 * radius, ink, bold=True)]


def hidden_tile(seat: int, x: float, y: float, radius: float) -> list[Shape]:
    """A tile that lies face down."""
    fill, ink = SEATS[seat]
    return [
        Polygon(hexagon(x, y, radius), fill, OUTLINE, max(1.0, 0.05 * radius)),
        Text(x, y, "?", 0.72 * radius, ink, bold=True),
    ]


def ring(x: float, y: float, radius: float) -> list[Shape]:
    """A bright ring around a hex or tile."""
    return highlight(hexagon(x, y, 0.95 * radius))


def count(kind: int, amount: int | None, x: float, y: float, size: float) -> list[Shape]:
    """A figure and how many there are of it, None for unknown."""
    words = "?" if amount is None else str(amount)
    return [*figure(kind, x, y, size, PIECE_EDGE), Text(x + 1.5 * size, y, words, 1.35 * size, TEXT, "left", bold=True)]


def counts(amounts: tuple[int | None, ...], x: float, y: float, size: float, step: float) -> list[Shape]:
    """Draw the number of figures of each kind, side by side."""
    return [shape for kind in range(len(FIGURES)) for shape in count(kind, amounts[kind], x + kind * step, y, size)]
