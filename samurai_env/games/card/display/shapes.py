"""How stones and cards look: colours as data, shapes as outlines in a box from -1 to 1, y downwards.

The stones have the shapes of the wooden ones: a triangle for helmets, a circle for buddhas, a square for rice. The
seats have four colours of the colour-blind-safe palette of Okabe and Ito (2008). Nothing is told by colour alone:
cards carry the number of their seat and stones the letter of their shape.
"""

from samurai_env.display.scene import Circle, Line, Polygon, Text
from samurai_env.games.card.rules.cards import KIND_NAMES, SHAPE_LETTERS, SHAPES

Shape = Polygon | Circle | Line | Text

INK, FAINT_INK, PAPER, PANEL, PANEL_EDGE = "#22262b", "#6a6f76", "#f6f2e9", "#fffdf8", "#a9a294"
VILLAGE, VILLAGE_EDGE, SCORED, SCORED_EDGE = "#e8d6a8", "#7d6a45", "#dcd8cf", "#b3ad9f"
FREE, FREE_INK = "#d9d0ba", "#8a8376"
MARK, MARK_EDGE = "#f0e442", "#22262b"  # the last move
SEATS = (("#0072b2", "#ffffff"), ("#d55e00", "#ffffff"), ("#cc79a7", "#22262b"), ("#009e73", "#ffffff"))  # fill, ink
STONES = (("#2b2b2b", "#ffffff"), ("#e9b53a", "#22262b"), ("#ffffff", "#22262b"))  # fill, ink, by shape


def box(x: float, y: float, width: float, height: float, fill: str, edge: str = "none", line: float = 1.0) -> Polygon:
    """A rectangle by its upper left corner."""
    return Polygon(((x, y), (x + width, y), (x + width, y + height), (x, y + height)), fill, edge, line)


def square(x: float, y: float, half: float, fill: str, edge: str = "none", line: float = 1.0) -> Polygon:
    """A square by its middle and half its width."""
    return box(x - half, y - half, 2 * half, 2 * half, fill, edge, line)


def stone(shape: int, x: float, y: float, half: float) -> list[Shape]:
    """A stone with its letter."""
    fill, ink = STONES[shape]
    line = max(0.8, 0.1 * half)
    body: Shape
    if shape == 0:
        corners = ((x, y - half), (x + 1.05 * half, y + 0.85 * half), (x - 1.05 * half, y + 0.85 * half))
        body = Polygon(corners, fill, INK, line)
    elif shape == 1:
        body = Circle(x, y, half, fill, INK, line)
    else:
        body = square(x, y, 0.88 * half, fill, INK, line)
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
    return [square(x, y, half, "none", MARK_EDGE, 5.0), square(x, y, half, "none", MARK, 2.6)]


def counts(amounts: tuple[int, ...], x: float, y: float, half: float, step: float) -> list[Shape]:
    """Stones of each shape and how many there are, side by side."""
    shapes: list[Shape] = []
    for shape, amount in enumerate(amounts):
        at = x + shape * step
        shapes += stone(shape, at, y, half)
        shapes.append(Text(at + 1.6 * half, y, str(amount), 1.5 * half, INK, "left", bold=True))
    return shapes
