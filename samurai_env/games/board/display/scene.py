"""The position as a picture: the map with figures, tiles and the last move; beside it the sidebar."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from samurai_env.display.palette import MARK, MARK_EDGE, PAPER
from samurai_env.display.scene import Line, Panel, Place, Polygon, Scene, Text
from samurai_env.display.shapes import Shape
from samurai_env.games.board.actions import ACTIONS
from samurai_env.games.board.display import player_view, shapes, sidebar, targets
from samurai_env.games.board.rules.tiles import FIGURE_EXCHANGE, TOKEN_EXCHANGE
from samurai_env.games.board.rules.topology import SETTLEMENT, SETTLEMENTS, Hex, hexes_in_play

RADIUS = {2: 30.0, 3: 27.0, 4: 24.0}  # of a hex, by number of players
MARGIN, GAP = 16.0, 14.0
FREE_COLUMNS = {2: 5.5, 3: 10, 4: 10}  # in the north-west of the map
FIGURE_SIZE = {1: 0.46, 2: 0.38, 3: 0.29}  # half the width in radii, by the figures a settlement is for
FIGURE_STEP = {1: 0.0, 2: 0.84, 3: 0.57}
TOWN_LINE = {1: 1.2, 2: 2.2, 3: 3.4}


@dataclass(frozen=True)
class Frame:
    """The layout of the hexes in the picture."""

    radius: float
    col: int
    row: int
    width: float
    height: float

    def center(self, place: Hex) -> tuple[float, float]:
        """The middle of a hex."""
        x = 1 + 1.5 * (place.col - self.col)
        y = math.sqrt(3) / 2 * (1 + 2 * (place.row - self.row) + (place.col & 1))
        return MARGIN + self.radius * x, MARGIN + self.radius * y


@cache
def frame(num_players: int) -> Frame:
    """The frame of the board for that many players."""
    hexes, radius = hexes_in_play(num_players), RADIUS[num_players]
    col, row = min(h.col for h in hexes), min(h.row for h in hexes)
    width = radius * (2 + 1.5 * (max(h.col for h in hexes) - col))
    height = radius * math.sqrt(3) / 2 * max(2 + 2 * (h.row - row) + (h.col & 1) for h in hexes)
    return Frame(radius, col, row, width, height)


def scene(state: np.void, viewer: int | None = None, last: Sequence[int] = ()) -> Scene:
    """The position as a picture.

    Args:
        state: one element of an array of states.
        viewer: the seat that looks; the others' hands (and hidden captures) stay hidden. None sees everything.
        last: the action ids of the last move, to be marked.

    Raises:
        ValueError: no such seat.
    """
    players = player_view.players(state, viewer)
    where = frame(len(players))
    picture = Scene(round(where.width + sidebar.WIDTH + 3 * MARGIN), round(where.height + 2 * MARGIN), PAPER)
    picture.places = _places(len(players))
    picture.add(*_map(state, where), *_marks(state, [int(action) for action in last], where))
    words = player_view.last_move(state, viewer, last)
    free = 1.5 * where.radius * FREE_COLUMNS[len(players)]
    picture.add(*sidebar.summary(state, viewer, words, MARGIN, MARGIN, free))
    x, y, winners = where.width + 2 * MARGIN, MARGIN, sum(player.won for player in players)
    picture.targets = targets.hexes(state, where.center, where.radius)
    for player in players:
        picture.add(*sidebar.card(player, viewer, winners, x, y))
        picture.targets |= sidebar.hand_targets(player, x, y)
        y += sidebar.CARD_HEIGHT + GAP
    legend = picture.height - sidebar.LEGEND_HEIGHT
    picture.add(*sidebar.legend(x, legend))
    aside, beside = x - MARGIN / 2, picture.width - x + MARGIN / 2
    picture.panels = {
        "map": Panel(0, 0, aside, picture.height),
        "players": Panel(aside, 0, beside, y),
        "legend": Panel(aside, legend - 2 * MARGIN, beside, picture.height - legend + 2 * MARGIN),
    }
    picture.caption, picture.labels = player_view.decision(state), targets.labels(state)
    return picture


# --- The map ---


@cache
def _places(num_players: int) -> Mapping[int, Place]:
    """Locate the actions that name a hex, or a figure on one."""
    where = frame(num_players)
    centers = {place.label: where.center(place) for place in hexes_in_play(num_players)}
    labels = {action: player_view.hex_of(num_players, action) for action in range(int(ACTIONS[num_players]))}
    inside = math.sqrt(3) / 2 * where.radius
    return {action: Place(*centers[label], inside) for action, label in labels.items() if label}


def _map(state: np.void, where: Frame) -> list[Shape]:
    """The hexes and what lies on them."""
    n, radius = state["hand"].shape[0], where.radius
    drawn: list[Shape] = []
    for place in hexes_in_play(n):
        drawn += _ground(place, where.center(place), radius, _closed(state, place))
    for index, place in enumerate(SETTLEMENT[: SETTLEMENTS[n]]):
        drawn += _figures(state, index, place, where.center(place), radius)
    tiles = player_view.tiles_on_board(state)
    for place in hexes_in_play(n):
        if tile := tiles.get(place.label):
            drawn += shapes.tile(tile.kind, tile.seat, *where.center(place), 0.88 * radius, str(tile.seat))
    return drawn


def _closed(state: np.void, place: Hex) -> bool:
    """Whether a settlement has lost its figures."""
    if not place.size or player_view.waits_for_figures(state):
        return False
    return not player_view.figures_on(state, SETTLEMENT.index(place))


@cache
def _ground(place: Hex, center: tuple[float, float], radius: float, closed: bool) -> tuple[Shape, ...]:
    """A hex without what lies on it, with its column and row."""
    if closed:
        fill, edge, ink = shapes.CLOSED, shapes.CLOSED_EDGE, shapes.CLOSED_INK
    elif place.size:
        fill, edge, ink = shapes.TOWN[place.size], shapes.TOWN_EDGE, shapes.TOWN_INK
    elif place.terrain == "sea":
        fill, edge, ink = shapes.SEA, shapes.SEA_EDGE, shapes.SEA_INK
    else:
        fill, edge, ink = shapes.LAND, shapes.LAND_EDGE, shapes.LAND_INK
    x, y = center
    drawn: list[Shape] = [Polygon(shapes.hexagon(x, y, radius), fill, shapes.LAND_EDGE if place.size else edge, 1.0)]
    if place.size:
        drawn.append(Polygon(shapes.hexagon(x, y, 0.93 * radius), "none", edge, TOWN_LINE[place.size]))
    if place.name:
        size = min(0.33, 1.95 / len(place.name)) * radius
        drawn.append(Text(x, y - 0.55 * radius, place.name, size, ink, bold=True))
    drawn.append(Text(x, y + (0.56 if place.size else 0) * radius, place.label, 0.31 * radius, ink))
    return tuple(drawn)


def _figures(state: np.void, index: int, place: Hex, center: tuple[float, float], radius: float) -> list[Shape]:
    """The figures of a settlement, or their empty places while they are still to be put."""
    standing: list[int | None] = list(player_view.figures_on(state, index))
    if player_view.waits_for_figures(state):
        standing += [None] * (place.size - len(standing))
    size, step = FIGURE_SIZE[place.size] * radius, FIGURE_STEP[place.size] * radius
    drawn: list[Shape] = []
    for i, kind in enumerate(standing):
        x = center[0] + step * (i - (len(standing) - 1) / 2)
        y = center[1] + (0.04 if place.name else -0.12) * radius
        drawn += [shapes.slot(x, y, size)] if kind is None else shapes.figure(kind, x, y, size)
    return drawn


# --- The last move ---


def _marks(state: np.void, last: list[int], where: Frame) -> list[Shape]:
    """A ring around each hex of the last move, arrows where tiles or figures changed places."""
    n, radius = state["hand"].shape[0], where.radius
    centers = {place.label: where.center(place) for place in hexes_in_play(n)}
    places = [label for action in last if (label := player_view.hex_of(n, action))]
    drawn = [shape for label in places for shape in shapes.ring(*centers[label], radius)]
    if len(places) == 2 and places[0] != places[1]:
        one, two = (centers[label] for label in places)
        if last[0] == TOKEN_EXCHANGE:
            drawn += _arrow(_toward(one, two, 0.5 * radius), _toward(two, one, 0.5 * radius))
        elif last[0] == FIGURE_EXCHANGE:
            middle = ((one[0] + two[0]) / 2, (one[1] + two[1]) / 2)
            drawn += _arrow(middle, _toward(one, two, 0.5 * radius)) + _arrow(middle, _toward(two, one, 0.5 * radius))
    return drawn


def _toward(start: tuple[float, float], end: tuple[float, float], distance: float) -> tuple[float, float]:
    """The point at a distance from `start` on the way to `end`."""
    part = distance / math.dist(start, end)
    return start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> list[Shape]:
    return [Line((start, end), MARK, 6.0), Line((start, end), MARK_EDGE, 2.6, arrow=True)]
