"""What a picture shows beside the grid: state of the game, a panel for each player, the legend."""

import textwrap

import numpy as np

from samurai_env.display.scene import Text
from samurai_env.games.card.display import player_view as view
from samurai_env.games.card.display import shapes as glyphs
from samurai_env.games.card.display.shapes import FAINT_INK, INK, Shape, box
from samurai_env.games.card.rules.cards import HAND, KIND_CODES, KINDS, SHAPES

WIDTH = 300
STATE_HEIGHT, PLAYER_HEIGHT, LEGEND_HEIGHT = 202, 124, 64
HEADER = 22
CARD_HALF, CARD_STEP = 19, 43


def _paragraph(words: str, x: float, y: float, size: float, color: str = INK, bold: bool = False) -> list[Shape]:
    """Lines of text no wider than the panel; `y` is the middle of the first."""
    lines = textwrap.wrap(words, int(WIDTH / (0.56 * size)))
    return [Text(x, y + 1.35 * size * i, line, size, color, "left", bold) for i, line in enumerate(lines)]


def state(record: np.void, viewer: int | None, last: str, x: float, y: float) -> list[Shape]:
    """Title, decision, last move, supply and the village cards that are open."""
    n = record["hand"].shape[0]
    who = "all hands open" if viewer is None else f"seen by seat {viewer}"
    shapes: list[Shape] = [Text(x, y + 11, "Samurai: The Card Game", 20, INK, "left", True)]
    shapes.append(Text(x, y + 33, f"{n} players, {who}, decision {int(record['steps'])}", 12, FAINT_INK, "left"))
    shapes += _paragraph(view.decision(record, viewer), x, y + 57, 14, bold=True)
    shapes += _paragraph(f"Last: {last}" if last else "", x, y + 93, 11)
    shapes.append(Text(x, y + 118, "stones in the supply", 11, FAINT_INK, "left"))
    shapes += glyphs.counts(view.supply(record), x + 11, y + 137, 10, 62)
    left = sum(view.villages_left(record))
    shapes.append(Text(x, y + 162, f"village stack: {left} cards", 11, FAINT_INK, "left"))
    if not record["over"]:
        shapes += _paragraph(view.ending(record), x, y + 182, 11, bold=True)
    for i, symbols in enumerate(view.visible_villages(record)):
        shapes += glyphs.village(symbols, x + WIDTH - 30 - 62 * i, y + 152, 28, ("open", "next")[i])
    return shapes


def player(seen: view.Player, viewer: int | None, winners: int, x: float, y: float) -> list[Shape]:
    """All about one player."""
    fill, ink = glyphs.SEATS[seen.seat]
    name = f"Seat {seen.seat}" + (" (viewer)" if seen.seat == viewer else "")
    note = "to move" if seen.to_move else "" if not seen.won else "wins" if winners == 1 else "shares the win"
    shapes: list[Shape] = []
    if seen.to_move or seen.won:
        for margin, color in ((6, INK), (5, glyphs.MARK)):
            shapes.append(box(x - margin, y - margin, WIDTH + 2 * margin, PLAYER_HEIGHT + 2 * margin, color))
    shapes += [
        box(x, y, WIDTH, PLAYER_HEIGHT, glyphs.PANEL, glyphs.PANEL_EDGE),
        box(x, y, WIDTH, HEADER, fill),
        Text(x + 10, y + HEADER / 2, name, 14, ink, "left", True),
        Text(x + WIDTH - 10, y + HEADER / 2, note, 13, ink, "right", True),
        *_hand(seen, x + 28, y + 45),
        Text(x + WIDTH - 10, y + 37, "stack", 11, FAINT_INK, "right"),
        Text(x + WIDTH - 10, y + 53, str(seen.stack), 16, INK, "right", True),
        Text(x + 10, y + 80, "stones", 11, FAINT_INK, "left"),
        *glyphs.counts(seen.stones, x + 72, y + 80, 10, 54),
        Text(x + WIDTH - 10, y + 80, f"total {sum(seen.stones)}", 11, FAINT_INK, "right"),
    ]
    return shapes + _paragraph("In hand and stack: " + _cards(seen.unseen), x + 10, y + 99, 9.5, FAINT_INK)


def _hand(seen: view.Player, x: float, y: float) -> list[Shape]:
    shapes: list[Shape] = []
    marked = False
    for i in range(HAND):
        at = x + CARD_STEP * i
        if i >= seen.held:
            shapes.append(glyphs.square(at, y, CARD_HALF, "none", glyphs.SCORED))
        elif seen.hand is None:
            shapes += glyphs.hidden_card(seen.seat, at, y, CARD_HALF)
        else:
            shapes += glyphs.card(seen.hand[i], seen.seat, at, y, CARD_HALF)
            if seen.hand[i] == seen.chosen and not marked:
                shapes += glyphs.ring(at, y, CARD_HALF)
                marked = True
    return shapes


def _cards(kinds: tuple[int, ...]) -> str:
    counts = [(KIND_CODES[kind], kinds.count(kind)) for kind in range(KINDS) if kind in kinds]
    return " ".join(code if count == 1 else f"{count}x{code}" for code, count in counts) or "none"


def legend(x: float, y: float) -> list[Shape]:
    """What the signs mean; `y` is the middle of the first line."""
    shapes: list[Shape] = []
    for shape, name in enumerate(SHAPES):
        shapes += glyphs.stone(shape, x + 10 + 96 * shape, y, 9)
        shapes.append(Text(x + 26 + 96 * shape, y, name, 11, INK, "left"))
    words = (
        "S samurai, for all shapes; small number: its seat",
        "grey village: scored; v4E: the cell east of village v4",
    )
    for i, line in enumerate(words):
        shapes.append(Text(x, y + 22 + 15 * i, line, 10.5, INK, "left"))
    return shapes
