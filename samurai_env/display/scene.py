"""A drawing as data: a game says what is to be seen, `samurai_env.display` turns it into SVG or pixels.

Coordinates are in pixels of the finished picture, y downwards. Colours are CSS hex strings.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

SHARE, SHARE_EDGE = "#d9a5e6cc", "#6a1b7a"  # of circles that show shares
LEAST_SHARE = 0.005  # drawn


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


@dataclass(frozen=True)
class Place:
    """Where something lies in the picture: its middle, and the radius of a circle that fits in."""

    x: float
    y: float
    radius: float


@dataclass
class Scene:
    """A picture: shapes in drawing order on a background.

    `places` says where actions are shown, by action id, those that name a place in the picture.
    """

    width: float
    height: float
    background: str = "#ffffff"
    shapes: list[Polygon | Circle | Line | Text] = field(default_factory=list)
    places: Mapping[int, Place] = field(default_factory=dict)

    def add(self, *shapes: Polygon | Circle | Line | Text) -> None:
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
