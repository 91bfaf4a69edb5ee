"""A drawing as data: a game says what is to be seen, `samurai_env.render` turns it into SVG or pixels.

Coordinates are in pixels of the finished picture, y downwards. Colours are CSS hex strings.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Polygon:
    """A filled outline."""

    points: tuple[tuple[float, float], ...]
    fill: str
    edge: str = "none"
    width: float = 1.0


@dataclass(frozen=True)
class Circle:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str
    edge: str = "none"
    width: float = 1.0


@dataclass(frozen=True)
class Line:
    """An open line, with an arrow head at its end if wanted."""

    points: tuple[tuple[float, float], ...]
    color: str
    width: float = 1.0
    arrow: bool = False


@dataclass(frozen=True)
class Text:
    """One line of text; `size` is the height of its letters in pixels, `anchor` left, center or right."""

    x: float
    y: float
    text: str
    size: float
    color: str = "#202020"
    anchor: str = "center"
    bold: bool = False


@dataclass
class Scene:
    """A picture: shapes in drawing order on a background."""

    width: float
    height: float
    background: str = "#ffffff"
    shapes: list[Polygon | Circle | Line | Text] = field(default_factory=list)

    def add(self, *shapes: Polygon | Circle | Line | Text) -> None:
        """Draw these on top."""
        self.shapes.extend(shapes)
