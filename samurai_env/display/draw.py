"""Drawing a `Scene` with matplotlib's object-oriented interface: no pyplot, no settings left behind.

One pixel of the scene is one point at 72 dots per inch, so lengths, line widths and letters need no conversion.
The same scene always gives the same bytes: the user's matplotlib settings play no part, and nothing is dated.
"""

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from samurai_env.display.scene import Circle, Line, Polygon, Scene, Text

DPI = 72
BASELINE = 0.36  # of the size of the letters: puts capitals and digits in the middle
HEAD_LENGTH, HEAD_WIDTH = 4.0, 1.7  # of an arrow, in line widths; the width to either side


def svg(scene: Scene) -> str:
    """The scene as an SVG document; text stays text.

    Raises:
        ImportError: matplotlib is missing.
    """
    with _figure(scene) as figure:
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        buffer = io.StringIO()
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None})
    return buffer.getvalue()


def rgb_array(scene: Scene) -> np.ndarray:
    """The scene as pixels: uint8, shape (height, width, 3).

    Raises:
        ImportError: matplotlib is missing.
    """
    with _figure(scene) as figure:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


@contextmanager
def _figure(scene: Scene) -> Iterator[Any]:
    """A matplotlib figure of the scene, to be drawn within the context."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install samurai-env[render]") from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.fonttype"] = "none"
        matplotlib.rcParams["svg.hashsalt"] = "scene"
        # Rounded up by the last bit, lest the size in inches come out one pixel short.
        width, height = (math.nextafter(round(size) / DPI, math.inf) for size in (scene.width, scene.height))
        figure = Figure(figsize=(width, height), dpi=DPI, facecolor=scene.background)
        down = Affine2D().scale(1, -1).translate(0, round(scene.height))
        for order, shape in enumerate(scene.shapes):
            for artist in _artists(shape):
                artist.set(transform=down, zorder=order)
                figure.add_artist(artist)
        yield figure


def _artists(shape: Polygon | Circle | Line | Text) -> list[Any]:
    """The matplotlib artists of one shape."""
    from matplotlib import patches, text

    if isinstance(shape, Text):
        artist = text.Text(shape.x, shape.y + BASELINE * shape.size, shape.text, color=shape.color, parse_math=False)
        weight = "bold" if shape.bold else "normal"
        artist.set(fontsize=shape.size, fontweight=weight, ha=shape.anchor, va="baseline")
        return [artist]
    if isinstance(shape, Line):
        return _line(shape)
    colors: dict[str, Any] = {"facecolor": shape.fill, "edgecolor": shape.edge, "linewidth": shape.width}
    if isinstance(shape, Circle):
        return [patches.Circle((shape.x, shape.y), shape.radius, **colors)]
    return [patches.Polygon(np.array(shape.points), closed=True, joinstyle="round", **colors)]


def _line(line: Line) -> list[Any]:
    """A line, which an arrow head shortens."""
    from matplotlib import lines, patches

    points = np.array(line.points, float)
    heads = []
    if line.arrow:
        end, along = points[-1].copy(), points[-1] - points[-2]
        along /= max(float(np.hypot(*along)), 1e-9)
        back = end - HEAD_LENGTH * line.width * along
        side = HEAD_WIDTH * line.width * np.array([-along[1], along[0]])
        heads = [patches.Polygon(np.array([end, back + side, back - side]), facecolor=line.color, edgecolor="none")]
        points[-1] = back
    style: dict[str, Any] = {"solid_capstyle": "butt" if line.arrow else "round", "solid_joinstyle": "round"}
    return [lines.Line2D(points[:, 0], points[:, 1], color=line.color, linewidth=line.width, **style), *heads]
