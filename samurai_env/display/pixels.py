"""A `Scene` as pixels, drawn by Anti-Grain Geometry (the package aggdraw) with the fonts in `fonts/`.

The same scene gives the same pixels on every machine: no font and no setting of the machine plays a part.
"""

import io
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from samurai_env.display.scene import BASELINE, Circle, Line, Points, Scene, Text, arrow

FONTS = Path(__file__).parent / "fonts"
FONT_SIZE = 100  # of the letters that are drawn smaller; aggdraw knows whole sizes only
ASCENT = 0.93  # from the top of a line of letters to their baseline, in units of the size
CIRCLE_POINTS = 48


def rgb_array(scene: Scene, zoom: float = 1.0) -> np.ndarray:
    """The scene as pixels: uint8, shape (height, width, 3).

    Args:
        scene: what to draw.
        zoom: pixels of the picture for each of the scene.

    Raises:
        ImportError: aggdraw or pillow is missing.
    """
    return np.array(image(scene, zoom))


def png(scene: Scene, zoom: float = 1.0) -> bytes:
    """The scene as a PNG file; arguments and errors as for `rgb_array`."""
    file = io.BytesIO()
    image(scene, zoom).save(file, "PNG")
    return file.getvalue()


def gif(scenes: Iterable[Scene], seconds: float = 1.0) -> bytes:
    """The scenes as an animated GIF, each shown for some seconds; errors as for `rgb_array`."""
    first, *others = (image(scene).quantize(128, dither=0) for scene in scenes)
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others, duration=round(1000 * seconds), loop=0)
    return file.getvalue()


def image(scene: Scene, zoom: float = 1.0) -> Any:
    """The scene as an image of pillow; arguments as for `rgb_array`.

    Raises:
        ImportError: aggdraw or pillow is missing.
    """
    try:
        import aggdraw
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures as pixels need aggdraw and pillow: pip install aggdraw pillow") from error
    size = round(scene.width * zoom), round(scene.height * zoom)
    canvas = aggdraw.Draw("RGB", size, scene.background)
    canvas.settransform((zoom, 0.0, 0.0, 0.0, zoom, 0.0))
    for shape in scene.shapes:
        if isinstance(shape, Text):
            _draw_text(canvas, shape, zoom)
        elif isinstance(shape, Line):
            shaft, head = arrow(shape)
            canvas.line(_flat(shaft), _pen(shape.color, shape.width * zoom))
            if head:
                canvas.polygon(_flat(head), None, _brush(shape.color))
        else:
            brush = _brush(shape.fill) if shape.fill != "none" else None
            pen = _pen(shape.edge, shape.width * zoom) if shape.edge != "none" else None
            points = _circle(shape) if isinstance(shape, Circle) else _flat(shape.points)
            canvas.polygon(points, pen, brush)
    return Image.frombytes("RGB", size, canvas.tobytes())


def _draw_text(canvas: Any, text: Text, zoom: float) -> None:
    """Draw large letters through a transform, which puts them at fractions of a pixel and makes any size."""
    font, scale = _font(text.color, text.bold), text.size / FONT_SIZE
    width = {"left": 0.0, "center": 0.5, "right": 1.0}[text.anchor] * canvas.textsize(text.text, font)[0] * scale
    x, y = text.x - width, text.y + (BASELINE - ASCENT) * text.size
    canvas.settransform((scale * zoom, 0.0, x * zoom, 0.0, scale * zoom, y * zoom))
    canvas.text((0, 0), text.text, font)
    canvas.settransform((zoom, 0.0, 0.0, 0.0, zoom, 0.0))


def _flat(points: Points) -> list[float]:
    return list(chain.from_iterable(points))


def _circle(circle: Circle) -> list[float]:
    angles = np.linspace(0.0, 2 * np.pi, CIRCLE_POINTS, endpoint=False)
    points = circle.radius * np.stack([np.cos(angles), np.sin(angles)], 1) + (circle.x, circle.y)
    return list(points.ravel().tolist())


@cache
def _pen(color: str, width: float) -> Any:
    import aggdraw

    return aggdraw.Pen(color[:7], width, _opacity(color))


@cache
def _brush(color: str) -> Any:
    import aggdraw

    return aggdraw.Brush(color[:7], _opacity(color))


def _opacity(color: str) -> int:
    """What stands after `#rrggbb`, 0 to 255."""
    return int(color[7:] or "ff", 16)


@cache
def _font(color: str, bold: bool) -> Any:
    import aggdraw

    return aggdraw.Font(color, str(FONTS / f"DejaVuSans{'-Bold' if bold else ''}.ttf"), FONT_SIZE)
