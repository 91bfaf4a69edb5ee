"""Beside the map: state of the game, a panel for each player, the legend."""

import numpy as np

from samurai_env.display.palette import FAINT_TEXT, PANEL, PANEL_EDGE, PIECE_EDGE, SEATS, TEXT
from samurai_env.display.piece_lists import counted
from samurai_env.display.scene import Polygon, Target, Text
from samurai_env.display.shapes import Shape, box, highlighted_box, paragraph
from samurai_env.games.board.display import player_view, shapes
from samurai_env.games.board.display.shapes import CLOSED
from samurai_env.games.board.rules.tiles import FIGURES, HAND, KIND_CODES

WIDTH = 300  # of a card
HEADER, CARD_HEIGHT, LEGEND_HEIGHT = 26, 142, 212
TILE_RADIUS, TILE_STEP = 20, 43
LEGEND_TILES = (  # example, meaning
    ("H4", "helmet 4, for helmets only; B, R likewise"),
    ("S2", "samurai 2, for all kinds of figure"),
    ("SH2", "ship 2 (SH2), at sea, for all kinds"),
    ("RO", "ronin 1, for all kinds"),
)
LEGEND_WORDS = (
    "TX token exchange, FX figure exchange",
    "inner ring: quick tile, any number a turn",
    "small number on a tile: its seat",
    "grey: closed, the figures are gone",
)


# --- State of the game ---


def summary(state: np.void, viewer: int | None, last: str, x: float, y: float, width: float) -> list[Shape]:
    """Title, decision, last move and the figures by kind; the letters grow with the width."""
    unit = min(1.25, width / 250)
    who = "all hands open" if viewer is None else f"seen by seat {viewer}"
    drawn: list[Shape] = [Text(x, y + 13 * unit, "Samurai", 25 * unit, TEXT, "left", True)]
    for i, words in enumerate((player_view.title(state), f"{who}, decision {int(state['steps'])}")):
        drawn.append(Text(x, y + (38 + 16 * i) * unit, words, 12 * unit, FAINT_TEXT, "left"))
    y += 84 * unit
    now = paragraph(player_view.decision(state), x, y, width, 14 * unit, bold=True)
    drawn += now
    y += (19 * len(now) + 6) * unit
    before = paragraph(f"Last: {last}" if last else "", x, y, width, 12 * unit)
    y += (16.2 * len(before) + 10) * unit
    rows = [("on the board", player_view.figures_left(state)), ("set aside", state["aside"])]
    if player_view.waits_for_figures(state):
        rows.append(("to be placed", state["pool"]))
    for name, amounts in rows:
        drawn.append(Text(x, y, name, 12 * unit, FAINT_TEXT, "left"))
        figures = tuple(int(amount) for amount in amounts)
        drawn += shapes.counts(figures, x + 11 * unit, y + 21 * unit, 11 * unit, 56 * unit)
        y += 46 * unit
    return drawn + before


# --- Players ---


def card(player: player_view.Player, viewer: int | None, winners: int, x: float, y: float) -> list[Shape]:
    """All about one player."""
    fill, ink = SEATS[player.seat]
    marked = player.to_move or player.won
    name = f"Seat {player.seat}" + (" (viewer)" if player.seat == viewer else "")
    note = "to move" if player.to_move else "" if not player.won else "wins" if winners == 1 else "shares the win"
    drawn: list[Shape] = [
        *(highlighted_box(x, y, WIDTH, CARD_HEIGHT) if marked else ()),
        box(x, y, WIDTH, CARD_HEIGHT, PANEL, PANEL_EDGE),
        box(x, y, WIDTH, HEADER, fill),
        Text(x + 10, y + HEADER / 2, name, 14, ink, "left", True),
        Text(x + WIDTH - 10, y + HEADER / 2, note, 13, ink, "right", True),
    ]
    drawn += _hand(player, x + 28, y + 49)
    drawn.append(Text(x + WIDTH - 10, y + 41, "supply", 11, FAINT_TEXT, "right"))
    drawn.append(Text(x + WIDTH - 10, y + 58, str(player.supply), 16, TEXT, "right", True))
    drawn += _captured(player, x, y + 88)
    unplayed = "In hand and supply: " + (counted(player.unplayed, KIND_CODES) or "none")
    return drawn + paragraph(unplayed, x + 10, y + 112, WIDTH - 16, 10, FAINT_TEXT)


def _hand(player: player_view.Player, x: float, y: float) -> list[Shape]:
    drawn: list[Shape] = []
    for i in range(HAND):
        at = x + TILE_STEP * i
        if i == player.held and player.chosen is not None:
            drawn += shapes.tile(player.chosen, player.seat, at, y, TILE_RADIUS)
            drawn += shapes.ring(at, y, TILE_RADIUS)
        elif i >= player.held:
            drawn.append(Polygon(shapes.hexagon(at, y, TILE_RADIUS), "none", CLOSED, 1.0))
        elif player.hand is None:
            drawn += shapes.hidden_tile(player.seat, at, y, TILE_RADIUS)
        else:
            drawn += shapes.tile(player.hand[i], player.seat, at, y, TILE_RADIUS)
    return drawn


def hand_targets(player: player_view.Player, x: float, y: float) -> dict[str, Target]:
    """The tiles of a hand that lies open; x and y are those of the card."""
    found: dict[str, Target] = {}
    for i, kind in enumerate(player.hand or ()):
        outline = shapes.hexagon(x + 28 + TILE_STEP * i, y + 49, TILE_RADIUS)
        label = f"{player_view.kind_text(kind)} in the hand of seat {player.seat}"
        actions = (kind,) if player.to_move and player.chosen is None else ()
        found[f"hand{player.seat}.{i}"] = Target(outline, label, actions)
    return found


def _captured(player: player_view.Player, x: float, y: float) -> list[Shape]:
    amounts = player.captured or (None, None, None)
    total = "?" if player.captured is None else str(sum(player.captured))
    return [
        Text(x + 10, y, "captured", 11, FAINT_TEXT, "left"),
        *shapes.counts(amounts, x + 84, y, 11, 54),
        Text(x + WIDTH - 10, y, f"total {total}", 11, FAINT_TEXT, "right"),
    ]


# --- Legend ---


def legend(x: float, y: float) -> list[Shape]:
    """Draw the legend; `y` is the middle of the first line."""
    drawn: list[Shape] = []
    for kind, name in enumerate(FIGURES):
        drawn += shapes.figure(kind, x + 12 + 96 * kind, y, 10, PIECE_EDGE)
        drawn.append(Text(x + 28 + 96 * kind, y, name, 11, TEXT, "left"))
    for i, (code, meaning) in enumerate(LEGEND_TILES):
        at = y + 29 + 27 * i
        drawn += shapes.tile(KIND_CODES.index(code), 0, x + 12, at, 13)
        drawn.append(Text(x + 32, at, meaning, 10.5, TEXT, "left"))
    y += 29 + 27 * len(LEGEND_TILES) - 4
    for i, words in enumerate(LEGEND_WORDS):
        drawn.append(Text(x, y + 15 * i, words, 10.5, TEXT, "left"))
    return drawn
