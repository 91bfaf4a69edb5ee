"""Pictures one after the other as one HTML file that needs nothing else: no server, no network, no library."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from samurai_env.display.palette import css_classes, css_variables
from samurai_env.display.scene import Scene
from samurai_env.display.vector import background_svg, shape_svg

TEMPLATE = Path(__file__).parent / "stepper.html"
HEIGHT = 620  # pixels of the frame in a notebook


@dataclass(frozen=True)
class Step:
    """One picture with the words beside it: who moved (None at the start) and what."""

    scene: Scene
    seat: int | None
    words: str


def page(title: str, steps: Iterable[Step]) -> str:
    """The steps as an HTML document with buttons, a slider and the list of moves; the arrow keys step."""
    known: dict[str, int] = {}
    before: list[int] = []
    frames = []
    for step in steps:
        scene = step.scene
        lines = [background_svg(scene), *(shape_svg(shape) for shape in scene.shapes)]
        now = [known.setdefault(line, len(known)) for line in lines]
        head, tail = _same(before, now), 0
        tail = min(_same(before[head:][::-1], now[head:][::-1]), len(now) - head)
        frames.append(
            {
                "size": [round(scene.width), round(scene.height)],
                "keep": [head, tail],  # of the picture before, at its beginning and its end
                "lines": now[head : len(now) - tail],
                "seat": step.seat,
                "words": step.words,
                "caption": scene.caption,
            }
        )
        before = now
    data = json.dumps({"lines": list(known), "frames": frames}, separators=(",", ":"))
    page = TEMPLATE.read_text(encoding="utf-8")
    for mark, css in (("LIGHT", css_variables()), ("DARK", css_variables(dark=True)), ("CLASSES", css_classes())):
        page = page.replace(mark, css)
    return page.replace("TITLE", escape(title)).replace('"DATA"', data.replace("<", "\\u003c"))


def notebook(title: str, steps: Iterable[Step]) -> str:
    """The page in a frame, which notebooks and documentation pages can hold."""
    inside = escape(page(title, steps), quote=True)
    style = f"width:100%;height:{HEIGHT}px;border:0"
    return f'<iframe title="{escape(title)}" style="{style}" sandbox="allow-scripts" srcdoc="{inside}"></iframe>'


def _same(one: Sequence[int], other: Sequence[int]) -> int:
    """How many entries at the beginning are equal."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
