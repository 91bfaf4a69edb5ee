"""The position as a picture: the grid, as large as it fits; beside it the sidebar."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samurai_env.display.palette import PAPER
from samurai_env.display.scene import Panel, Place, Scene, Text
from samurai_env.display.shapes import Shape, square
from samurai_env.games.card.actions import names
from samurai_env.games.card.display import player_view, shapes, sidebar, targets

GRID = 720  # width and height of the part with the grid, whatever lies there
MARGIN, GAP = 16, 13
LARGEST_STEP = 72.0  # from one place to the next
CARD_SHARE = 0.46  # half a card's width, in steps
FEWEST_COLUMNS = 6  # in the panel of the grid: on a phone a card is no larger than a sixth of the page


@dataclass(frozen=True)
class Frame:
    """The layout of the places in the picture."""

    step: float
    x: float
    y: float

    def center(self, place: player_view.Place) -> tuple[float, float]:
        """The middle of a place."""
        return self.x + self.step * place[0], self.y + self.step * place[1]


def frame(places: list[player_view.Place]) -> Frame:
    """The frame in which these places fill the grid's part of the picture."""
    xs, ys = [x for x, _ in places], [y for _, y in places]
    columns, rows = max(xs) - min(xs) + 1, max(ys) - min(ys) + 1
    step = min(LARGEST_STEP, GRID / max(columns, rows))
    middle = MARGIN + GRID / 2
    return Frame(step, middle - step * (min(xs) + max(xs)) / 2, middle - step * (min(ys) + max(ys)) / 2)


def panel(places: list[player_view.Place], where: Frame) -> Panel:
    """The part of the picture that shows these places, and not fewer than `FEWEST_COLUMNS`."""
    corners = [where.center(place) for place in places]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    top, bottom = min(y for _, y in corners), max(y for _, y in corners)
    wide = max(0.0, (FEWEST_COLUMNS - 1) * where.step - (right - left)) / 2
    half = where.step / 2 + GAP / 2
    return Panel(left - wide - half, top - half, right - left + 2 * (wide + half), bottom - top + 2 * half)


def scene(state: np.void, viewer: int | None = None, last: Sequence[int] = ()) -> Scene:
    """The position as a picture.

    Args:
        state: one element of an array of states.
        viewer: the seat that looks; the others' hands stay hidden. None sees everything.
        last: the action ids of the last move, to be marked.

    Raises:
        ValueError: no such seat.
    """
    players = player_view.players(state, viewer)
    side = sidebar.STATE_HEIGHT + len(players) * (sidebar.PLAYER_HEIGHT + GAP) + sidebar.LEGEND_HEIGHT
    picture = Scene(GRID + sidebar.WIDTH + 4 * MARGIN, max(GRID, side) + 2 * MARGIN, PAPER)
    grid = _add_grid(picture, state, last)
    x, y, legend = GRID + 3 * MARGIN, MARGIN, picture.height - sidebar.LEGEND_HEIGHT
    picture.add(*sidebar.summary(state, viewer, player_view.last_move(state, viewer, last), x, y))
    y += sidebar.STATE_HEIGHT
    for player in players:
        picture.add(*sidebar.player(player, viewer, int(state["winners"]).bit_count(), x, y))
        picture.targets |= sidebar.hand_targets(player, x, y)
        y += sidebar.PLAYER_HEIGHT + GAP
    picture.add(*sidebar.legend(x, legend))
    aside = GRID + 2 * MARGIN
    beside = picture.width - aside
    picture.panels = {
        "grid": grid,
        "players": Panel(aside, MARGIN + sidebar.STATE_HEIGHT - GAP / 2, beside, y - sidebar.STATE_HEIGHT - MARGIN),
        "state": Panel(aside, 0, beside, MARGIN + sidebar.STATE_HEIGHT - GAP / 2),
        "legend": Panel(aside, legend - GAP, beside, sidebar.LEGEND_HEIGHT + GAP),
    }
    picture.caption, picture.labels = player_view.decision(state, viewer), targets.labels(state)
    return picture


def _add_grid(picture: Scene, state: np.void, last: Sequence[int]) -> Panel:
    """Draw villages, cards, free cells and the last card's mark; the part of the picture that they take."""
    villages, cards, free = player_view.villages(state), player_view.cards(state), player_view.free_cells(state)
    waiting = {place: f"cell{number}" for number, place in enumerate(player_view.waiting_places(state))}
    taken = [*villages, *cards, *free, *waiting]
    where = frame(taken)
    half = CARD_SHARE * where.step
    ids = {name: action for action, name in enumerate(names(state["hand"].shape[0]))}
    picture.places = {ids[name]: Place(*where.center(place), half) for place, name in (free | waiting).items()}
    picture.targets |= targets.places(villages, cards, free | waiting, ids, where.center, half)
    drawn: list[Shape] = []
    for place, name in (free | waiting).items():
        x, y = where.center(place)
        fill = shapes.VILLAGE if place in waiting else "none"
        drawn.append(square(x, y, 0.9 * half, fill, shapes.FREE))
        drawn.append(Text(x, y, name, min(13.0, 0.55 * half), shapes.FREE_INK))
    for place, village in villages.items():
        drawn += shapes.village(village.shapes, *where.center(place), half, village.name, village.scored)
    for place, card in cards.items():
        drawn += shapes.card(card.kind, card.seat, *where.center(place), half, str(card.seat))
    cell = player_view.laid_cell(last)
    if cell is not None:
        drawn += shapes.ring(*where.center(player_view.place_of(state, cell)), half)
    picture.add(*drawn)
    return panel(taken, where)
