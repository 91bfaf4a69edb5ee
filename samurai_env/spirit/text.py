"""The position as text for a terminal."""

import numpy as np

from samurai_env.spirit import view
from samurai_env.spirit.cards import SYMBOLS

LEGEND = (
    "Cards    3D(wound)* is value 3, doll, penalty wound, flames   H hat   F farm   D doll   - no symbol",
    "         left: what defends against the end of the round   line: fought, from the first card on",
    "Backs    A a family   B another farmstead   C a barricade   D a wound",
)


def text(record: np.void, viewer: int | None = None) -> str:
    """The position as lines of text.

    Args:
        record: one element of an array of records.
        viewer: the seat that looks; all see the same.

    Raises:
        ValueError: no such seat.
    """
    view.check_viewer(record, viewer)
    lines = [f"Samurai Spirit, {view.title(record)}, decision {int(record['steps'])}", ""]
    lines += [f"{name:12} {value}" for name, value in view.village(record)]
    if opened := view.opened(record):
        lines.append(f"{'Open raiders':12} " + "  ".join(f"{place}. {card.word}" for place, card in opened))
    lines.append("")
    for samurai in view.samurai(record):
        lines += _samurai(samurai)
    if card := view.in_hand(record):
        lines += ["", f"In hand      {card.word}"]
    lines += ["", view.decision(record), "", *LEGEND]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _samurai(one: view.Samurai) -> list[str]:
    """Two lines: the samurai, and the cards."""
    marks = [
        "animal" if one.animal else "human",
        "wounded" if one.wounded else "",
        "beyond the Kiai" if one.total > one.kiai else "",
        "passed" if one.passed else "",
        "token lent" if not one.token_home else "",
        f"helped by {', '.join(one.tokens)}" if one.tokens else "",
    ]
    pointer = ">" if one.decides else "*" if one.active else " "
    left = "  ".join(f"{s} {card.word if card else '.'}" for s, card in zip(SYMBOLS, one.left, strict=True))
    line = " ".join(card.word for card in one.line) or "."
    return [
        f"{pointer} {one.seat} {one.name:10} {one.total:2} of {one.kiai:2}   {', '.join(filter(None, marks))}",
        f"      left  {left}   line  {line}",
    ]
