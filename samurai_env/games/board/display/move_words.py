"""Moves as phrases for readers: what the seat does, in the third person, without its number."""

import numpy as np

from samurai_env.games.board.actions import END, IDLE, SPOT0
from samurai_env.games.board.display import player_view
from samurai_env.games.board.rules.tiles import FIGURE_EXCHANGE, FIGURES, KINDS, TOKEN_EXCHANGE
from samurai_env.games.board.state import FIRST_HAND


def move_words(before: np.void, actions: list[int]) -> str:
    """What the seat to move does; of a half-made move as much as there is.

    Args:
        before: the state (one element) before the move.
        actions: the action ids of the move, in order.
    """
    n, first, rest = before["hand"].shape[0], actions[0], actions[1:]
    if first == END:
        return "ends the turn"
    if first >= SPOT0[n]:
        return f"puts {_figure(n, first, 'on')}"
    if first >= KINDS or (first == FIGURE_EXCHANGE and rest == [IDLE]):
        return "figure exchange that changes nothing"
    what = player_view.kind_text(first)
    if before["phase"] == FIRST_HAND:
        return f"takes {what} into the first hand"
    if not rest:
        return f"chooses {what}"
    if first == FIGURE_EXCHANGE:
        return f"{what}: {' and '.join(_figure(n, action, 'of') for action in rest)}"
    places = [_place(n, action) for action in rest]
    if first == TOKEN_EXCHANGE:
        tile = player_view.tiles_on_board(before).get(player_view.hex_of(n, rest[0]) or "")
        moved = player_view.kind_text(tile.kind) if tile else "the tile"
        return f"{what}: {moved} goes from {' to '.join(places)}"
    return f"lays {what} on {places[0]}"


def _place(num_players: int, action: int) -> str:
    """A hex by its label, a named city by its name."""
    label = player_view.hex_of(num_players, action) or ""
    return player_view.settlement_names(num_players).get(label, label)


def _figure(num_players: int, action: int, word: str) -> str:
    figure, _ = player_view.spot(num_players, action - int(SPOT0[num_players]))
    return f"the {FIGURES[figure]} {word} {_place(num_players, action)}"
