"""Beside the grid: state of the game, a panel for each player, the legend."""

import numpy as np

from samurai_env.display.palette import FAINT_TEXT, PANEL, PANEL_EDGE, PIECE_EDGE, SEATS, TEXT
from samurai_env.display.piece_lists import counted
from samurai_env.display.scene import Target, Text
from samurai_env.display.shapes import Shape, box, highlighted_box, paragraph, square
from samurai_env.games.card.display import player_view, shapes
from samurai_env.games.card.display.shapes import SCORED
from samurai_env.games.card.rules.cards import HAND, KIND_CODES, SHAPES

WIDTH = 300
STATE_HEIGHT, PLAYER_HEIGHT, LEGEND_HEIGHT = 202, 124, 64
HEADER = 22
CARD_HALF, CARD_STEP = 19, 43


def summary(state: np.void, viewer: int | None, last: str, x: float, y: float) -> list[Shape]:
    """Title, decision, last move, supply and the village cards that are open."""
    n = state["hand"].shape[0]
    who = "all hands open" if viewer is None else f"seen by seat {viewer}"
    drawn: list[Shape] = [Text(x, y + 11, "Samurai: The Card Game", 20, TEXT, "left", True)]
    drawn.append(Text(x, y + 33, f"{n} players, {who}, decision {int(state['steps'])}", 12, FAINT_TEXT, "left"))
    drawn += paragraph(player_view.decision(state, viewer), x, y + 57, WIDTH, 14, bold=True)
    drawn += paragraph(f"Last: {last}" if last else "", x, y + 93, WIDTH, 11)
    drawn.append(Text(x, y + 118, "stones in the supply", 11, FAINT_TEXT, "left"))
    drawn += shapes.counts(player_view.supply(state), x + 11, y + 137, 10, 62)
    left = sum(player_view.villages_left(state))
    drawn.append(Text(x, y + 162, f"village stack: {left} cards", 11, FAINT_TEXT, "left"))
    if not state["over"]:
        drawn += paragraph(player_view.ending(state), x, y + 182, WIDTH, 11, bold=True)
    for i, symbols in enumerate(player_view.visible_villages(state)):
        drawn += shapes.village(symbols, x + WIDTH - 30 - 62 * i, y + 152, 28, ("open", "next")[i])
    return drawn


def player(seen: player_view.Player, viewer: int | None, winners: int, x: float, y: float) -> list[Shape]:
    """All about one player."""
    fill, ink = SEATS[seen.seat]
    name = f"Seat {seen.seat}" + (" (viewer)" if seen.seat == viewer else "")
    note = "to move" if seen.to_move else "" if not seen.won else "wins" if winners == 1 else "shares the win"
    drawn: list[Shape] = highlighted_box(x, y, WIDTH, PLAYER_HEIGHT) if seen.to_move or seen.won else []
    drawn += [
        box(x, y, WIDTH, PLAYER_HEIGHT, PANEL, PANEL_EDGE),
        box(x, y, WIDTH, HEADER, fill),
        Text(x + 10, y + HEADER / 2, name, 14, ink, "left", True),
        Text(x + WIDTH - 10, y + HEADER / 2, note, 13, ink, "right", True),
        *_hand(seen, x + 28, y + 45),
        Text(x + WIDTH - 10, y + 37, "stack", 11, FAINT_TEXT, "right"),
        Text(x + WIDTH - 10, y + 53, str(seen.stack), 16, TEXT, "right", True),
        Text(x + 10, y + 80, "stones", 11, FAINT_TEXT, "left"),
        *shapes.counts(seen.stones, x + 72, y + 80, 10, 54),
        Text(x + WIDTH - 10, y + 80, f"total {sum(seen.stones)}", 11, FAINT_TEXT, "right"),
    ]
    unseen = "In hand and stack: " + (counted(seen.unseen, KIND_CODES) or "none")
    return drawn + paragraph(unseen, x + 10, y + 99, WIDTH, 9.5, FAINT_TEXT)


def _hand(seen: player_view.Player, x: float, y: float) -> list[Shape]:
    drawn: list[Shape] = []
    marked = False
    for i in range(HAND):
        at = x + CARD_STEP * i
        if i >= seen.held:
            drawn.append(square(at, y, CARD_HALF, "none", SCORED))
        elif seen.hand is None:
            drawn += shapes.hidden_card(seen.seat, at, y, CARD_HALF)
        else:
            drawn += shapes.card(seen.hand[i], seen.seat, at, y, CARD_HALF)
            if seen.hand[i] == seen.chosen and not marked:
                drawn += shapes.ring(at, y, CARD_HALF)
                marked = True
    return drawn


def hand_targets(seen: player_view.Player, x: float, y: float) -> dict[str, Target]:
    """The cards of a hand that lies open; x and y are those of the panel."""
    found: dict[str, Target] = {}
    for i, kind in enumerate(seen.hand or ()):
        outline = square(x + 28 + CARD_STEP * i, y + 45, CARD_HALF, "none").points
        label = f"{player_view.kind_text(kind)} in the hand of seat {seen.seat}"
        actions = (kind,) if seen.to_move and seen.chosen is None else ()
        found[f"hand{seen.seat}.{i}"] = Target(outline, label, actions)
    return found


def legend(x: float, y: float) -> list[Shape]:
    """Draw the legend; `y` is the middle of the first line."""
    drawn: list[Shape] = []
    for shape, name in enumerate(SHAPES):
        drawn += shapes.stone(shape, x + 10 + 96 * shape, y, 9, PIECE_EDGE)
        drawn.append(Text(x + 26 + 96 * shape, y, name, 11, TEXT, "left"))
    words = (
        "S samurai, for all shapes; small number: its seat",
        "grey village: scored; v4E: the cell east of village v4",
    )
    for i, line in enumerate(words):
        drawn.append(Text(x, y + 22 + 15 * i, line, 10.5, TEXT, "left"))
    return drawn
