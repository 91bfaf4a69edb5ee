"""The position as text for a terminal: no colours, one line a row of the grid."""

from pathlib import Path

import numpy as np

from samurai_env.display.piece_lists import counted
from samurai_env.games.card.display import player_view
from samurai_env.games.card.rules.cards import KIND_CODES, SHAPE_LETTERS, VILLAGE_CODES

PITCH = 6  # characters from one column to the next
LEGEND = (
    "Grid     [HB] village   (HB) scored village   0H3 card: seat 0, helmet 3   v4E free cell",
    "Symbols  H helmet   B buddha   R rice   S samurai (counts for all)",
)


def text(state: np.void, viewer: int | None = None) -> str:
    """The position as lines of text.

    Args:
        state: one element of an array of states.
        viewer: the seat that looks; the others' hands stay hidden. None sees everything.

    Raises:
        ValueError: no such seat.
    """
    players = player_view.players(state, viewer)
    who = "all hands open" if viewer is None else f"seen by seat {viewer}"
    lines = [
        f"Samurai: The Card Game, {len(players)} players, {who}, decision {int(state['steps'])}",
        "",
        *_grid(state),
        "",
        *_players(players),
        "",
        *_table(state),
        "",
        player_view.decision(state, viewer),
        "",
        *LEGEND,
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _grid(state: np.void) -> list[str]:
    """All places on which something lies or can be laid."""
    words = player_view.free_cells(state)
    for place, card in player_view.cards(state).items():
        words[place] = f"{card.seat}{KIND_CODES[card.kind]}"
    for place, village in player_view.villages(state).items():
        symbols = player_view.village_text(village.shapes)
        words[place] = f"({symbols})" if village.scored else f"[{symbols}]"
    for number, place in enumerate(player_view.waiting_places(state)):
        words[place] = f"cell{number}"
    xs, ys = [x for x, _ in words], [y for _, y in words]
    rows = range(min(ys), max(ys) + 1)
    return ["".join(words.get((x, y), "").center(PITCH) for x in range(min(xs), max(xs) + 1)) for y in rows]


def _players(players: list[player_view.Player]) -> list[str]:
    """A table of the players, then what each has not yet laid."""
    lines = ["  seat  hand                    stack  stones"]
    for player in players:
        mark = ">" if player.to_move else "*" if player.won else " "
        hand = f"{player.held} hidden" if player.hand is None else counted(player.hand, KIND_CODES) or "-"
        lines.append(f"{mark} {player.seat}     {hand:22}  {player.stack:5}  {_by_shape(player.stones)}")
    lines.append("In hand and stack together:")
    return lines + [f"  {player.seat}     {counted(player.unseen, KIND_CODES) or '-'}" for player in players]


def _table(state: np.void) -> list[str]:
    """Stones and village cards."""
    shown = [player_view.village_text(shapes) for shapes in player_view.visible_villages(state)]
    left = player_view.villages_left(state)
    below = " ".join(f"{count}x{code}" for code, count in zip(VILLAGE_CODES, left, strict=True) if count)
    lines = [
        f"Stones in the supply:  {_by_shape(player_view.supply(state))}",
        f"Village stack:         {sum(left)} cards" + (f", open: {', then '.join(shown)}" if shown else ""),
    ]
    if below:
        lines.append(f"  all of them:         {below}")
    ending = "" if state["over"] else player_view.ending(state)
    return [*lines, ending] if ending else lines


def _by_shape(values: tuple[int, ...]) -> str:
    return "  ".join(f"{letter} {value}" for letter, value in zip(SHAPE_LETTERS, values, strict=True))


def rules_summary() -> str:
    """The rules on one page, with the notation of moves."""
    return Path(__file__).with_name("rules.md").read_text("utf-8")
