"""The position as a picture: the village on top, below it a board for each samurai."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from samurai_env.core.checks import check_viewer
from samurai_env.display.palette import FAINT_INK, FAINT_TEXT, INK, PAPER, TEXT
from samurai_env.display.scene import Circle, Panel, Polygon, Scene, Target, Text
from samurai_env.display.shapes import Points, Shape, box, highlight
from samurai_env.games.spirit.display import player_view, targets
from samurai_env.games.spirit.display.player_view import Card, Samurai
from samurai_env.games.spirit.rules.cards import SYMBOLS

MARGIN, GAP = 16.0, 12.0
BOARD_WIDTH, BOARD_HEIGHT, HEAD, LEGEND_HEIGHT = 520.0, 152.0, 150.0, 34.0
LEGEND_PART = 3  # signs in a panel
CARD_WIDTH, CARD_HEIGHT, CARD_STEP = 44.0, 62.0, 47.0
TRACK_STEP = 21.0
MOST_SHOWN = 7  # cards of a line; of longer ones the last are shown

BOARD = {False: "#fffdf7", True: "#f6dfb8"}  # human, animal
OUT = "#dcd8cf"
EDGE, MARK = "#8c8272", "#c8321e"
WOUND, FLAME, KIAI, MEEPLE = "#b3202a", "#e8762b", "#3f6fa8", "#2b2620"
SYMBOL_FILL = {"hat": "#d9b44a", "farm": "#8a5a3c", "doll": "#b0609a", "": "#cfc8ba"}
SHORT = {
    "fire": "fire",
    "wound": "wound",
    "ninja": "ninja",
    "no_defend": "no def.",
    "no_support": "no sup.",
    "left_draws": "left +1",
    "right_draws": "right +1",
    "must_pass": "pass",
    "recycle": "recycle",
    "no_talent": "no tal.",
    "discard_defender": "drop left",
}
LEGEND = (  # sign, meaning
    ("hat", "hat: else a wound"),
    ("farm", "farm: else a farmstead"),
    ("doll", "doll: else a family"),
    ("flame", "flames"),
    ("kiai", "Kiai"),
    ("meeple", "total of the line"),
    ("wound", "wound"),
    ("ring", "card of the last move"),
)


def scene(state: np.void, viewer: int | None = None, last: Sequence[int] = ()) -> Scene:
    """The position as a picture.

    Args:
        state: one element of an array of states.
        viewer: the seat that looks; all see the same.
        last: the action ids of the last move, to be told and its card to be marked.

    Raises:
        ValueError: no such seat.
    """
    check_viewer(viewer, int(state["players"]))
    everybody = player_view.samurai(state)
    columns = 1 if len(everybody) == 1 else 2
    rows = -(-len(everybody) // columns)
    width = max(2, columns) * (BOARD_WIDTH + GAP) - GAP + 2 * MARGIN
    height = HEAD + rows * (BOARD_HEIGHT + GAP) - GAP + LEGEND_HEIGHT + 2 * MARGIN
    marked = int(state["moved"]) if len(last) else -1
    picture = Scene(width, height, PAPER)
    picture.add(*_village(state, player_view.last_move(state, last), marked))
    for i, samurai in enumerate(everybody):
        x = MARGIN + (i % columns) * (BOARD_WIDTH + GAP)
        y = MARGIN + HEAD + (i // columns) * (BOARD_HEIGHT + GAP)
        picture.add(*_board(samurai, marked, x, y))
        picture.targets |= _board_targets(state, samurai, x, y)
        picture.panels[f"seat{i}"] = Panel(x - GAP / 2, y - GAP / 2, BOARD_WIDTH + GAP, BOARD_HEIGHT + GAP)
    picture.targets |= _opened_targets(state, MARGIN + BOARD_WIDTH + GAP, MARGIN)
    picture.caption, picture.labels = player_view.decision(state), targets.labels(state)
    half = MARGIN + BOARD_WIDTH + GAP / 2
    picture.panels = {
        "village": Panel(0, 0, half, MARGIN + HEAD - GAP / 2),
        "raiders": Panel(half, 0, half, MARGIN + HEAD - GAP / 2),
        **picture.panels,
        **_legend_panels(MARGIN + 8, height - MARGIN - LEGEND_HEIGHT, width),
    }
    picture.add(*_legend(MARGIN + 8, height - MARGIN - 7))
    return picture


# --- The village ---


def _village(state: np.void, last: str, marked: int) -> list[Shape]:
    """Title, decision, what stands, the last move, the card in hand and the opened raiders."""
    x, y = MARGIN, MARGIN
    shapes: list[Shape] = [
        Text(x, y + 12, "Samurai Spirit", 22, TEXT, "left", True),
        Text(x + 190, y + 14, f"{player_view.title(state)}, decision {int(state['steps'])}", 13, FAINT_TEXT, "left"),
        Text(x, y + 42, player_view.decision(state), 15, TEXT, "left", True),
    ]
    for i, (name, value) in enumerate(player_view.village(state)):
        shapes.append(Text(x, y + 66 + 17 * i, name, 12, FAINT_TEXT, "left"))
        shapes.append(Text(x + 84, y + 66 + 17 * i, value, 12, TEXT, "left", True))
    x = MARGIN + BOARD_WIDTH + GAP
    if last:
        shapes.append(Text(x, y + 14, f"Last: {last}", 13, TEXT, "left"))
    return shapes + _opened(state, marked, x, y)


def _legend_places(x: float) -> list[float]:
    """Where the signs of the legend stand, from `x` on, side by side."""
    widths = [42 + 6.3 * len(meaning) for _, meaning in LEGEND]
    return [*accumulate(widths[:-1], initial=x)]


def _legend_panels(x: float, top: float, width: float) -> dict[str, Panel]:
    """The legend in parts that can still be read when each is as wide as a phone."""
    inner = [place - 15 for place in _legend_places(x)[LEGEND_PART::LEGEND_PART]]
    edges = pairwise([0, *inner, width])
    return {f"legend{i}": Panel(a, top + 4, b - a, MARGIN + LEGEND_HEIGHT - 4) for i, (a, b) in enumerate(edges)}


def _legend(left: float, y: float) -> list[Shape]:
    """Draw the legend, side by side."""
    shapes: list[Shape] = []
    for (sign, meaning), x in zip(LEGEND, _legend_places(left), strict=True):
        if sign == "flame":
            shapes += _flame(x, y, 7)
        elif sign == "kiai":
            shapes.append(Circle(x, y, 7, KIAI, EDGE))
        elif sign == "meeple":
            shapes.append(Circle(x, y, 7, "none", TEXT, 2.5))
        elif sign == "wound":
            shapes.append(Circle(x, y, 7, WOUND, EDGE))
        elif sign == "ring":
            shapes += _ring(x - 5, y - 7, 10, 14)
        else:
            shapes += _symbol(sign, x, y, 7)
        shapes.append(Text(x + 13, y, meaning, 11, FAINT_TEXT, "left"))
    return shapes


def _opened(state: np.void, marked: int, x: float, y: float) -> list[Shape]:
    """The card in hand, then the raiders that lie open, with their place from the top."""
    shapes: list[Shape] = []
    if held := player_view.in_hand(state):
        shapes.append(Text(x, y + 46, "in hand", 11, FAINT_TEXT, "left"))
        shapes += _card(held, marked, x, y + 56)
        x += 1.5 * CARD_STEP
    for place, card in player_view.opened(state)[:4]:
        shapes.append(Text(x, y + 46, "top raider" if place == 1 else f"raider {place}", 11, FAINT_TEXT, "left"))
        shapes += _card(card, marked, x, y + 56)
        x += 1.4 * CARD_STEP
    return shapes


def _opened_targets(state: np.void, x: float, y: float) -> dict[str, Target]:
    """The card in hand and the opened raiders."""
    found: dict[str, Target] = {}
    if held := player_view.in_hand(state):
        found["card"] = Target(_outline(x, y + 56), f"card in hand: {targets.card_text(held)}")
        x += 1.5 * CARD_STEP
    for place, card in player_view.opened(state)[:4]:
        found[f"raider{place}"] = Target(_outline(x, y + 56), f"raider {place}: {targets.card_text(card)}")
        x += 1.4 * CARD_STEP
    return found


# --- Samurai ---


def _outline(x: float, y: float, width: float = CARD_WIDTH) -> Points:
    return box(x, y, width, CARD_HEIGHT, "none").points


def _board_targets(state: np.void, one: Samurai, x: float, y: float) -> dict[str, Target]:
    """The board of a samurai, the places on its left, and the combat line."""
    board = box(x, y, BOARD_WIDTH, BOARD_HEIGHT, "none").points
    found = {f"seat{one.seat}": Target(board, targets.samurai_text(one), targets.seat_actions(state, one.seat))}
    for i, (symbol, card) in enumerate(zip(SYMBOLS, one.left, strict=True)):
        label = f"{one.name}, {symbol}: {targets.card_text(card) if card else 'no card'}"
        outline = _outline(x + 10 + CARD_STEP * i, y + 82)
        found[f"left{one.seat}.{symbol}"] = Target(outline, label, targets.left_actions(state, one, i))
    outline = _outline(x + 10 + 3.5 * CARD_STEP, y + 82, BOARD_WIDTH - 20 - 3.5 * CARD_STEP)
    cards = ", ".join(targets.card_text(card) for card in one.line) or "no card"
    actions = targets.line_actions(one)
    found[f"line{one.seat}"] = Target(outline, f"combat line of {one.name}: {cards}", actions)
    return found


def _board(one: Samurai, marked: int, x: float, y: float) -> list[Shape]:
    """A samurai's board: name, track, the cards on the left and the combat line."""
    fill = OUT if one.passed else BOARD[one.animal]
    edge, line = (MARK, 3.0) if one.decides else (EDGE, 1.0)
    shapes: list[Shape] = [box(x, y, BOARD_WIDTH, BOARD_HEIGHT, fill, edge, line)]
    turn = "  (turn)" if one.active else "  (passed)" if one.passed else ""
    shapes.append(Text(x + 10, y + 16, f"{one.seat}  {one.name}{turn}", 15, INK, "left", True))
    side = ("animal" if one.animal else "human") + (", token lent" if not one.token_home else "")
    helped = f", helped by {', '.join(one.tokens)}" if one.tokens else ""
    shapes.append(Text(x + BOARD_WIDTH - 10 - 20 * one.wounded, y + 16, side + helped, 11, FAINT_INK, "right"))
    if one.wounded:
        shapes.append(Circle(x + BOARD_WIDTH - 16, y + 16, 7, WOUND, EDGE))
    shapes += _track(one, x + 20, y + 46)
    shapes.append(Text(x + 10, y + 72, "left: defends", 11, FAINT_INK, "left"))
    for i, (symbol, card) in enumerate(zip(SYMBOLS, one.left, strict=True)):
        at = x + 10 + CARD_STEP * i
        if card:
            shapes += _card(card, marked, at, y + 82)
        else:
            shapes.append(box(at, y + 82, CARD_WIDTH, CARD_HEIGHT, "none", EDGE, 0.7))
            shapes += _symbol(symbol, at + CARD_WIDTH / 2, y + 82 + CARD_HEIGHT / 2, 8)
    at = x + 10 + 3.5 * CARD_STEP
    hidden = max(0, len(one.line) - MOST_SHOWN)
    words = f"combat line, {hidden} more before these" if hidden else "combat line"
    shapes.append(Text(at, y + 72, words, 11, FAINT_INK, "left"))
    for i, card in enumerate(one.line[hidden:]):
        shapes += _card(card, marked, at + CARD_STEP * i, y + 82)
    return shapes


def _track(one: Samurai, x: float, y: float) -> list[Shape]:
    """The spaces up to the Kiai and the flame space, with the meeple."""
    shapes: list[Shape] = []
    for value in range(one.kiai + 1):
        at = x + TRACK_STEP * value
        kiai = value == one.kiai
        shapes.append(Circle(at, y, 9.5, KIAI if kiai else "#ffffff", EDGE))
        shapes.append(Text(at, y, str(value), 11, "#ffffff" if kiai else INK, bold=kiai))
    shapes += _flame(x + TRACK_STEP * (one.kiai + 1) + 3, y, 9)
    at = x + TRACK_STEP * min(one.total, one.kiai + 1) + (3 if one.total > one.kiai else 0)
    shapes.append(Circle(at, y, 12.0, "none", MEEPLE, 3.0))
    if one.total > one.kiai:
        shapes.append(Text(at + 20, y, str(one.total), 13, MARK, "left", True))
    return shapes


# --- Cards and signs ---


def _card(card: Card, marked: int, x: float, y: float) -> list[Shape]:
    """A raider card, with a ring around it if it is the marked one."""
    shapes: list[Shape] = [
        box(x, y, CARD_WIDTH, CARD_HEIGHT, "#ffffff", INK, 1.0),
        Text(x + 11, y + 14, str(card.value), 19, INK, bold=True),
    ]
    if card.symbol:
        shapes += _symbol(card.symbol, x + CARD_WIDTH - 13, y + 14, 8)
    for i, icon in enumerate(card.icons):
        shapes.append(Text(x + CARD_WIDTH / 2, y + 33 + 12 * i, SHORT[icon], 9.5, MARK))
    if card.flames:
        shapes += _flame(x + CARD_WIDTH - 9, y + CARD_HEIGHT - 9, 6)
    if card.number == marked:
        shapes += _ring(x, y, CARD_WIDTH, CARD_HEIGHT)
    return shapes


def _ring(x: float, y: float, width: float, height: float) -> list[Shape]:
    """A bright frame."""
    return highlight(box(x, y, width, height, "none").points)


def _symbol(symbol: str, x: float, y: float, size: float) -> list[Shape]:
    """Hat, farm or doll."""
    fill = SYMBOL_FILL[symbol]
    if symbol == "hat":
        return [Polygon(((x - size, y + 0.6 * size), (x, y - 0.8 * size), (x + size, y + 0.6 * size)), fill, INK, 0.7)]
    if symbol == "farm":
        roof = ((x - size, y), (x, y - size), (x + size, y))
        return [box(x - 0.7 * size, y, 1.4 * size, 0.8 * size, fill, INK, 0.7), Polygon(roof, fill, INK, 0.7)]
    body = ((x - 0.7 * size, y + size), (x, y - 0.4 * size), (x + 0.7 * size, y + size))
    return [Polygon(body, fill, INK, 0.7), Circle(x, y - 0.45 * size, 0.5 * size, fill, INK, 0.7)]


def _flame(x: float, y: float, size: float) -> list[Shape]:
    """A flame."""
    outline = ((-0.7, 0.5), (-0.5, -0.2), (-0.2, 0.1), (0.1, -1.0), (0.5, -0.1), (0.7, 0.5), (0.3, 1.0), (-0.3, 1.0))
    return [Polygon(tuple((x + size * dx, y + size * dy) for dx, dy in outline), FLAME, "#a8451a", 0.7)]
