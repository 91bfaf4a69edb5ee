"""The position as text for a terminal: no colours, one line is half the height of a hex."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from samurai_env.display.piece_lists import counted
from samurai_env.games.board.display import player_view
from samurai_env.games.board.rules.tiles import FIGURE_LETTERS, KIND_CODES, QUICK
from samurai_env.games.board.rules.topology import SETTLEMENT, SETTLEMENTS, Hex, hexes_in_play

PITCH = 3  # characters from one column to the next; a cell may use twice as many
MARGIN = 6
BRACKETS = {1: ("(", ")"), 2: ("[", "]"), 3: ("<", ">")}  # by the number of figures that a settlement is for
CODES = [code + "*" * (int(QUICK) >> kind & 1) for kind, code in enumerate(KIND_CODES)]  # `*`: quick
TERRAIN = {"sea": "~", "land": "."}
LEGEND = (
    "Hexes    ~ sea   . land   (H) village   [HB] city   <HBR> Edo",
    "         _ figure still to be placed   ( ) closed: its figures are gone",
    "         c14r09 is column 14, row 09; lines with ' hold a row's odd columns",
    "Figures  H helmet   B buddha   R rice",
    "Tiles    0H4 on the map: seat 0, helmet 4   S samurai   SH ship   RO ronin",
    "         TX token exchange   FX figure exchange   * quick: any number a turn",
)


def text(state: np.void, viewer: int | None = None) -> str:
    """The position as lines of text.

    Args:
        state: one element of an array of states.
        viewer: the seat that looks; the others' hands (and hidden captures) stay hidden. None sees everything.

    Raises:
        ValueError: no such seat.
    """
    players = player_view.players(state, viewer)
    who = "all hands open" if viewer is None else f"seen by seat {viewer}"
    head = f"Samurai, {player_view.title(state)}, {who}, decision {int(state['steps'])}"
    lines = [
        head,
        "",
        *_map(state),
        "",
        *_players(players),
        *_table(state),
        "",
        player_view.decision(state),
        "",
        *LEGEND,
        _named(state),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


# --- The map ---


def _map(state: np.void) -> list[str]:
    """The map with column numbers above and below, row numbers left and right."""
    hexes = hexes_in_play(state["hand"].shape[0])
    left, right = min(h.col for h in hexes), max(h.col for h in hexes)
    width = 2 * MARGIN + PITCH * (right - left)
    columns = _line(width, {MARGIN + PITCH * (col - left): f"{col:02d}" for col in range(left, right + 1)})
    cells = _cells(state)
    rows: dict[tuple[int, int], dict[int, str]] = {}
    for h in hexes:
        rows.setdefault((h.row, h.col & 1), {})[MARGIN + PITCH * (h.col - left)] = cells[h.label]
    lines = [columns]
    for (row, odd), placed in sorted(rows.items()):
        name = f"{row:02d}{chr(39) if odd else ' '}"
        lines.append(name + _line(width, placed)[len(name) :] + name)
    return [*lines, columns]


def _line(width: int, words: dict[int, str]) -> str:
    """Words centred on positions of a line."""
    line = [" "] * width
    for middle, word in words.items():
        start = middle - (len(word) - 1) // 2
        line[start : start + len(word)] = word
    return "".join(line)


def _cells(state: np.void) -> dict[str, str]:
    """Write the contents of each hex in play, by its label."""
    n = state["hand"].shape[0]
    cells = {h.label: TERRAIN[h.terrain] for h in hexes_in_play(n)}
    for index, place in enumerate(SETTLEMENT[: SETTLEMENTS[n]]):
        cells[place.label] = _settlement(state, index, place)
    for label, tile in player_view.tiles_on_board(state).items():
        cells[label] = f"{tile.seat}{KIND_CODES[tile.kind]}"
    return cells


def _settlement(state: np.void, index: int, place: Hex) -> str:
    """The figures of a settlement in brackets; `_` for one still to come."""
    figures = "".join(FIGURE_LETTERS[figure] for figure in player_view.figures_on(state, index))
    empty = "_" if player_view.waits_for_figures(state) else ""
    opening, closing = BRACKETS[place.size]
    return opening + (figures.ljust(place.size, empty) if empty else figures or " ") + closing


# --- Beside the map ---


def _named(state: np.void) -> str:
    """List the hexes of the named cities."""
    names = player_view.settlement_names(state["hand"].shape[0])
    return "Cities   " + "   ".join(f"{name} {label}" for label, name in names.items())


def _players(players: list[player_view.Player]) -> list[str]:
    """A table of the players, then what each has not yet played."""
    lines = ["  seat  hand                       supply  captured"]
    for player in players:
        mark = ">" if player.to_move else " "
        hand = f"{player.held} hidden" if player.hand is None else counted(player.hand, CODES) or "-"
        captured = _by_kind(player.captured or "???")
        lines.append(f"{mark} {player.seat}     {hand:25}  {player.supply:4}    {captured}")
    lines.append("In hand and supply together:")
    return lines + [f"  {player.seat}     {counted(player.unplayed, CODES) or '-'}" for player in players]


def _table(state: np.void) -> list[str]:
    """Figures by kind: on the board, to be placed, set aside."""
    rows = {"On the board": player_view.figures_left(state), "Set aside": state["aside"]}
    if player_view.waits_for_figures(state):
        rows["To be placed"] = state["pool"]
    return ["", *(f"{name + ':':14}{_by_kind(row)}" for name, row in rows.items())]


def _by_kind(values: Iterable[object]) -> str:
    return "  ".join(f"{letter} {value}" for letter, value in zip(FIGURE_LETTERS, values, strict=True))


def rules_summary() -> str:
    """The rules on one page, with the notation of moves."""
    return Path(__file__).with_name("rules.md").read_text("utf-8")
