"""A `Scene` as SVG text."""

from collections.abc import Iterable
from html import escape

from samurai_env.display.palette import Themed
from samurai_env.display.scene import BASELINE, Circle, Line, Scene, Shape, Target, Text, arrow

FAMILY = "DejaVu Sans, Verdana, sans-serif"  # letters of Verdana are as wide
ANCHORS = {"left": "start", "center": "middle", "right": "end"}


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
        return _text(shape)
    if isinstance(shape, Line):
        return _line(shape)
    edge = {} if shape.edge == "none" else {"stroke": shape.edge}
    paint = _paint(fill=shape.fill, **edge) + (f' stroke-width="{shape.width:g}"' if edge else "")
    if isinstance(shape, Circle):
        return f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.radius)}"{paint}/>'
    return f'<polygon points="{_points(shape.points)}"{paint}/>'


def target_svg(name: str, target: Target) -> str:
    """What can be clicked, as an invisible outline with a name for screen readers."""
    return (
        f'<polygon points="{_points(target.points)}" fill="#ffffff" fill-opacity="0" data-target="{escape(name)}">'
        f"<title>{escape(target.label)}</title></polygon>"
    )


def _text(text: Text) -> str:
    weight = ' font-weight="bold"' if text.bold else ""
    anchor = f' text-anchor="{ANCHORS[text.anchor]}"' if text.anchor != "left" else ""
    at = f'x="{_number(text.x)}" y="{_number(text.y + BASELINE * text.size)}" font-size="{_number(text.size)}"'
    return f"<text {at}{weight}{anchor}{_paint(fill=text.color)}>{escape(text.text, quote=False)}</text>"


def _line(line: Line) -> str:
    shaft, head = arrow(line)
    stroke = f'{_paint(stroke=line.color)} stroke-width="{line.width:g}" stroke-linecap="{"butt" if head else "round"}"'
    drawn = f'<polyline points="{_points(shaft)}" fill="none"{stroke}/>'
    return drawn + (f'<polygon points="{_points(head)}"{_paint(fill=line.color)}/>' if head else "")


def _paint(**colors: str) -> str:
    """The attributes `fill` and `stroke`; digits after `#rrggbb` are the opacity, a themed colour also has a class."""
    classes = " ".join(f"{name}-{color.name}" for name, color in colors.items() if isinstance(color, Themed))
    words = [f'class="{classes}"'] if classes else []
    for name, color in colors.items():
        words.append(f'{name}="{color[:7]}"')
        if len(color) == 9:
            words.append(f'{name}-opacity="{int(color[7:], 16) / 255:.2g}"')
    return " " + " ".join(words)


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    """Up to two digits after the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
