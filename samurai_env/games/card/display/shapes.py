"""Stones and cards: colours as data, shapes as outlines.

The stones have the shapes of the wooden ones: a triangle for helmets, a circle for buddhas, a square for rice. Nothing
depends on colour alone: cards carry the number of their seat and stones the letter of their shape.
"""

from samurai_env.display.palette import BLACK, FAINT_INK, GOLD, INK, PIECE_EDGE, SEATS, TEXT, WHITE
from samurai_env.display.scene import Circle, Polygon, Text
from samurai_env.display.shapes import Shape, highlight, square
from samurai_env.games.card.rules.cards import KIND_NAMES, SHAPE_LETTERS, SHAPES

VILLAGE, VILLAGE_EDGE, SCORED, SCORED_EDGE = "#e8d6a8", "#7d6a45", "#dcd8cf", "#b3ad9f"
FREE, FREE_INK = "#d9d0ba", "#8a8376"
STONES = ((BLACK, WHITE), (GOLD, INK), (WHITE, INK))  # fill, ink, by shape


def stone(shape: int, x: float, y: float, half: float, edge: str = INK) -> list[Shape]:
    """A stone with its letter."""
    fill, ink = STONES[shape]
    line = max(0.8, 0.1 * half)
    body: Shape
    if shape == 0:
        corners = ((x, y - half), (x + 1.05 * half, y + 0.85 * half), (x - 1.05 * half, y + 0.85 * half))
        body = Polygon(corners, fill, edge, line)
    elif shape == 1:
        body = Circle(x, y, half, fill, edge, line)
    else:
        body = square(x, y, 0.88 * half, fill, edge, line)
    return [body, Text(x, y + (0.24 * half if shape == 0 else 0), SHAPE_LETTERS[shape], 1.05 * half, ink, bold=True)]


def card(kind: int, seat: int, x: float, y: float, half: float, note: str = "") -> list[Shape]:
    """An influence card that lies open, with a short note."""
    fill, ink = SEATS[seat]
    name, value = KIND_NAMES[kind]
    middle = y - (0.16 * half if note else 0)
    shapes: list[Shape] = [square(x, y, half, fill, INK, max(1.0, 0.05 * half))]
    if name in SHAPES:
        shapes += stone(SHAPES.index(name), x - 0.38 * half, middle, 0.42 * half)
    else:
        shapes.append(Text(x - 0.36 * half, middle, "S", 0.85 * half, ink, bold=True))
    shapes.append(Text(x + 0.42 * half, middle, str(value), 0.95 * half, ink, bold=True))
    if note:
        shapes.append(Text(x, y + 0.66 * half, note, 0.45 * half, ink))
    return shapes


def hidden_card(seat: int, x: float, y: float, half: float) -> list[Shape]:
    """A card that lies face down."""
    fill, ink = SEATS[seat]
    return [square(x, y, half, fill, INK, max(1.0, 0.05 * half)), Text(x, y, "?", 0.95 * half, ink, bold=True)]


def village(
    shapes: tuple[int, ...], x: float, y: float, half: float, name: str = "", scored: bool = False
) -> list[Shape]:
    """A village card with its name; a scored one is grey."""
    fill, edge = (SCORED, SCORED_EDGE) if scored else (VILLAGE, VILLAGE_EDGE)
    drawn: list[Shape] = [square(x, y, half, fill, edge, max(1.0, 0.07 * half))]
    size = 0.42 * half if len(shapes) < 3 else 0.28 * half
    step = 2.2 * size
    middle = y - (0.12 * half if name else 0)
    for i, shape in enumerate(shapes):
        drawn += stone(shape, x + step * (i - (len(shapes) - 1) / 2), middle, size)
    if name:
        drawn.append(Text(x, y + 0.68 * half, name, 0.4 * half, FAINT_INK))
    return drawn


def ring(x: float, y: float, half: float) -> list[Shape]:
    """A bright frame around a card."""
    return highlight(square(x, y, half, "none").points)


def counts(amounts: tuple[int, ...], x: float, y: float, half: float, step: float) -> list[Shape]:
    """Stones of each shape and how many there are, side by side."""
    shapes: list[Shape] = []
    for shape, amount in enumerate(amounts):
        at = x + shape * step
        shapes += stone(shape, at, y, half, PIECE_EDGE)
        shapes.append(Text(at + 1.6 * half, y, str(amount), 1.5 * half, TEXT, "left", bold=True))
    return shapes
