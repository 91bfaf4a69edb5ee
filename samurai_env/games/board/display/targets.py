"""Clickable targets on the map, and descriptions of the actions."""

from collections.abc import Callable

import numpy as np

from samurai_env.display.scene import Target
from samurai_env.games.board.actions import END, IDLE, LAND0, SPOT0, names
from samurai_env.games.board.display import player_view, shapes
from samurai_env.games.board.rules.tiles import FIGURES, KINDS
from samurai_env.games.board.rules.topology import SETTLEMENT, SETTLEMENTS, Hex, hexes_in_play
from samurai_env.games.board.state import FIRST_HAND, SETUP, TOKEN_FROM, TOKEN_TO

TOWNS = {1: "village", 2: "city", 3: "Edo"}


def hexes(state: np.void, center: Callable[[Hex], tuple[float, float]], radius: float) -> dict[str, Target]:
    """The hexes by their labels.

    Args:
        state: one element of an array of states.
        center: the middle of a hex in the picture.
        radius: of a hex.
    """
    n = state["hand"].shape[0]
    tiles = player_view.tiles_on_board(state)
    spots = {place.label: i for i, place in enumerate(SETTLEMENT[: SETTLEMENTS[n]])}
    towns = int(SETTLEMENTS[n]) - 1
    ids = {name: action for action, name in enumerate(names(n))}
    found: dict[str, Target] = {}
    for place in hexes_in_play(n):
        label = place.label
        if place.size:
            number = spots[label]
            standing = [FIGURES[figure] for figure in player_view.figures_on(state, number)]
            words = f"{place.name or TOWNS[place.size]} {label}: {', '.join(standing) or 'no figure'}"
            first = int(SPOT0[n]) + number - 1
            actions = tuple(first + figure * towns for figure in range(len(FIGURES))) if number else ()
        else:
            tile, actions = tiles.get(label), (ids[label],)
            what = f"{player_view.kind_text(tile.kind)} of seat {tile.seat}" if tile else "empty"
            words = f"{place.terrain} {label}: {what}"
        found[label] = Target(shapes.hexagon(*center(place), 0.97 * radius), words, actions)
    return found


def labels(state: np.void) -> dict[int, str]:
    """Describe each action in words, by id; those of illegal actions mean nothing."""
    n, phase, tile = state["hand"].shape[0], int(state["phase"]), int(state["tile"])
    verb = "pick" if phase == FIRST_HAND else "play"
    words = {kind: f"{verb} {player_view.kind_text(kind)}" for kind in range(KINDS)}
    words |= {END: "end the turn", IDLE: "exchange nothing"}
    what = f"put {player_view.kind_text(tile)} on" if tile >= 0 else "take"
    if phase in (TOKEN_FROM, TOKEN_TO):
        what = "replace the tile on" if phase == TOKEN_FROM else "move the tile to"
    for action in range(LAND0, int(SPOT0[n])):
        words[action] = f"{what} {player_view.hex_of(n, action)}"
    between = "on" if phase == SETUP else "of"
    verb = "put" if phase == SETUP else "exchange"
    for action in range(int(SPOT0[n]), len(names(n))):
        figure, label = player_view.spot(n, action - int(SPOT0[n]))
        words[action] = f"{verb} the {FIGURES[figure]} {between} {label}"
    return words
