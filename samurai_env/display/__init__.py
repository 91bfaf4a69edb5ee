"""Pictures: any `Scene` as SVG text or as pixels. Needs matplotlib, which is imported when something is drawn."""

from samurai_env.display.draw import rgb_array, svg

__all__ = ["rgb_array", "svg"]
