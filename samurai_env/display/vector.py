"""A `Scene` as SVG text."""

from functools import lru_cache
from html import escape

from samurai_env.display.palette import Themed
from samurai_env.display.scene import BASELINE, Circle, Line, Points, Scene, Shape, Target, Text, arrow

FAMILY = "DejaVu Sans, Verdana, sans-serif"  # letters of Verdana are as wide
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
# Most of a picture is in the one before, too. `typed` tells a themed colour from the same plain one.
remembered = lru_cache(2**14, typed=True)


def svg(scene: Scene) -> str:
    """The scene as an SVG document; text stays text.

    Each of `scene.targets` is an invisible outline on top, an element with the attribute `data-target`. Colours of the
    palette that a page may replace, such as in a dark theme, have a class named after them.
    """
    width, height = round(scene.width), round(scene.height)
    title = f"<title>{escape(scene.caption)}</title>" if scene.caption else ""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' font-family="{FAMILY}" stroke-linejoin="round">',
            title + background_svg(scene),
            *(shape_svg(shape) for shape in scene.shapes),
            *(target_svg(name, target) for name, target in scene.targets.items()),
            "</svg>\n",
        ]
    )


def background_svg(scene: Scene) -> str:
    """The background as an SVG element."""
    return f'<rect width="{round(scene.width)}" height="{round(scene.height)}"{_paint(fill=scene.background)}/>'


def shape_svg(shape: Shape) -> str:
    """One shape as an SVG element, in one line."""
    if isinstance(shape, Text):
        return _text(shape.x, shape.y, shape.text, shape.size, shape.color, shape.anchor, shape.bold)
    if isinstance(shape, Line):
        return _line(shape)
    if isinstance(shape, Circle):
        return _circle(shape.x, shape.y, shape.radius, shape.fill, shape.edge, shape.width)
    return _polygon(shape.points, shape.fill, shape.edge, shape.width)


def target_svg(name: str, target: Target) -> str:
    """A clickable target as an invisible outline with a name for screen readers."""
    return _target(name, target.points, target.label)


@remembered
def _target(name: str, points: Points, label: str) -> str:
    return (
        f'<polygon points="{_points(points)}" fill="#ffffff" fill-opacity="0" data-target="{escape(name)}">'
        f"<title>{escape(label)}</title></polygon>"
    )


@remembered
def _polygon(points: Points, fill: str, edge: str, width: float) -> str:
    return f'<polygon points="{_points(points)}"{_fill_and_edge(fill, edge, width)}/>'


@remembered
def _circle(x: float, y: float, radius: float, fill: str, edge: str, width: float) -> str:
    paint = _fill_and_edge(fill, edge, width)
    return f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(radius)}"{paint}/>'


@remembered
def _text(x: float, y: float, text: str, size: float, color: str, anchor: str, bold: bool) -> str:
    weight = ' font-weight="bold"' if bold else ""
    place = f' text-anchor="{ANCHORS[anchor]}"' if anchor != "left" else ""
    at = f'x="{_number(x)}" y="{_number(y + BASELINE * size)}" font-size="{_number(size)}"'
    return f"<text {at}{weight}{place}{_paint(fill=color)}>{escape(text, quote=False)}</text>"


def _line(line: Line) -> str:
    shaft, head = arrow(line)
    stroke = f'{_paint(stroke=line.color)} stroke-width="{line.width:g}" stroke-linecap="{"butt" if head else "round"}"'
    drawn = f'<polyline points="{_points(shaft)}" fill="none"{stroke}/>'
    return drawn + (f'<polygon points="{_points(head)}"{_paint(fill=line.color)}/>' if head else "")


def _fill_and_edge(fill: str, edge: str, width: float) -> str:
    if edge == "none":
        return _paint(fill=fill)
    return f'{_paint(fill=fill, stroke=edge)} stroke-width="{width:g}"'


def _paint(**colors: str) -> str:
    """The attributes `fill` and `stroke`; digits after `#rrggbb` are the opacity, a themed colour also has a class."""
    classes = " ".join(f"{name}-{color.name}" for name, color in colors.items() if isinstance(color, Themed))
    words = [f'class="{classes}"'] if classes else []
    for name, color in colors.items():
        words.append(f'{name}="{color[:7]}"')
        if len(color) == 9:
            words.append(f'{name}-opacity="{int(color[7:], 16) / 255:.2g}"')
    return " " + " ".join(words)


def _points(points: Points) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    """Up to two digits after the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
