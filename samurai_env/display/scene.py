"""A drawing as data: a game says what is to be seen, `samurai_env.display` turns it into SVG or pixels.

Coordinates are in pixels of the finished picture, y downwards. Colours are CSS hex strings.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

SHARE, SHARE_EDGE = "#d9a5e6cc", "#6a1b7a"  # of circles that show shares
LEAST_SHARE = 0.005  # drawn
BASELINE = 0.36  # of the size of the letters, below the middle of capitals and digits
HEAD_LENGTH, HEAD_WIDTH = 4.0, 1.7  # of an arrow, in line widths; the width to either side

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Polygon:
    """A filled outline."""

    points: Points
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

    points: Points
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


Shape = Polygon | Circle | Line | Text


@dataclass(frozen=True)
class Target:
    """Something in the picture that can be pointed at or clicked.

    Attributes:
        points: its outline.
        label: what it is, in words.
        actions: ids of the actions that it stands for, when the seat to move looks; empty if there are none.
    """

    points: Points
    label: str
    actions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Panel:
    """A rectangle of the picture that can be shown by itself, such as on a phone."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Place:
    """A location in the picture: its middle, and the radius of a circle that fits in."""

    x: float
    y: float
    radius: float


@dataclass
class Scene:
    """A picture: shapes in drawing order on a background.

    Attributes:
        width, height: in pixels.
        background: colour.
        shapes: what is drawn.
        places: where actions are shown, by action id, those that name a place in the picture.
        targets: what can be clicked, by a name that stays the same while it lies there; later ones lie on top.
        panels: the parts of the picture, by name, in reading order; together they hold all of it.
        caption: who decides what, or how the game ended, in a line.
        labels: what each action does in words, by action id; others go by their names.
    """

    width: float
    height: float
    background: str = "#ffffff"
    shapes: list[Shape] = field(default_factory=list)
    places: Mapping[int, Place] = field(default_factory=dict)
    targets: dict[str, Target] = field(default_factory=dict)
    panels: dict[str, Panel] = field(default_factory=dict)
    caption: str = ""
    labels: Mapping[int, str] = field(default_factory=dict)

    def add(self, *shapes: Shape) -> None:
        """Draw these on top."""
        self.shapes.extend(shapes)

    def add_shares(self, shares: Mapping[int, float]) -> None:
        """Draw how shares, such as a policy's probabilities, lie on the picture.

        Each place gets a circle, whose area is the share, and the share in percent. Places below half a percent and
        actions without a place are left out.

        Args:
            shares: from 0 to 1, by action id; those of actions at the same place are added.
        """
        sums: dict[Place, float] = {}
        for action, share in shares.items():
            if place := self.places.get(action):
                sums[place] = sums.get(place, 0.0) + share
        for place, share in sums.items():
            if share >= LEAST_SHARE:
                radius = place.radius * math.sqrt(share)
                above = 0.0 if radius > 0.5 * place.radius else 0.5 * place.radius  # beside what else is written there
                self.add(Circle(place.x, place.y, radius, SHARE, SHARE_EDGE, 1.2))
                self.add(Text(place.x, place.y - above, f"{share:.0%}", 0.45 * place.radius, bold=True))


def arrow(line: Line) -> tuple[Points, Points]:
    """The points of a line without its arrow head, and the corners of the head; none if the line has no head."""
    if not line.arrow:
        return line.points, ()
    (x0, y0), (x1, y1) = line.points[-2:]
    length = max(math.hypot(x1 - x0, y1 - y0), 1e-9)
    dx, dy = line.width * (x1 - x0) / length, line.width * (y1 - y0) / length
    x, y = x1 - HEAD_LENGTH * dx, y1 - HEAD_LENGTH * dy
    head = (x1, y1), (x - HEAD_WIDTH * dy, y + HEAD_WIDTH * dx), (x + HEAD_WIDTH * dy, y - HEAD_WIDTH * dx)
    return (*line.points[:-1], (x, y)), head
