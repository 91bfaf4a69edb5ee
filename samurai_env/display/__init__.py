"""Pictures: any `Scene` as SVG text or as pixels. Pixels need aggdraw and pillow, imported when they are asked for."""

from samurai_env.display.pixels import png, rgb_array
from samurai_env.display.vector import svg

__all__ = ["png", "rgb_array", "svg"]
