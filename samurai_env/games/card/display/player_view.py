"""The part of a state that a viewer may see, as plain Python data and words, for pictures and text alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samurai_env.core.checks import check_viewer
from samurai_env.display.piece_lists import kinds_of
from samurai_env.games.card.actions import CELL0, CHOICE0, names
from samurai_env.games.card.rules.cards import KIND_NAMES, KINDS, STONES_EACH, VILLAGE_CODES
from samurai_env.games.card.rules.topology import CELLS, READING_ORDER, SIDES, STEP_X, STEP_Y, VILLAGES
from samurai_env.games.card.state import CARD, CELL, VILLAGE

Place = tuple[int, int]


@dataclass(frozen=True)
class Player:
    """One player as the viewer sees it.

    Attributes:
        seat: number of the seat.
        hand: kinds of the cards in the hand, None where they are hidden.
        held: number of cards in the hand.
        chosen: kind of the card in the hand that has been chosen to be laid, None if there is none or it is hidden.
        stack: number of cards in the stack.
        unseen: kinds of the cards in hand and stack together.
        stones: stones taken, by shape.
        to_move: whether the seat decides now.
        won: whether the seat has won or shares the win.
    """

    seat: int
    hand: tuple[int, ...] | None
    held: int
    chosen: int | None
    stack: int
    unseen: tuple[int, ...]
    stones: tuple[int, int, int]
    to_move: bool
    won: bool


@dataclass(frozen=True)
class Village:
    """A village on the table; `shapes` are the symbols on it, `name` is such as `v12`."""

    name: str
    shapes: tuple[int, ...]
    scored: bool


@dataclass(frozen=True)
class Card:
    """An influence card on the table."""

    seat: int
    kind: int


def players(state: np.void, viewer: int | None) -> list[Player]:
    """All players, as `viewer` sees them (None: all is seen)."""
    check_viewer(viewer, state["hand"].shape[0])
    seen = []
    for seat in range(state["hand"].shape[0]):
        hidden = viewer is not None and viewer != seat
        to_move = seat == state["seat"] and not state["over"]
        helmets, buddhas, rice = (int(count) for count in state["stones"][seat])
        seen.append(
            Player(
                seat=seat,
                hand=None if hidden else kinds_of(state["hand"][seat]),
                held=int(state["hand"][seat].sum()),
                chosen=int(state["card"]) if to_move and not hidden and state["phase"] == CELL else None,
                stack=state["stack"].shape[1] - int(state["drawn"][seat]),
                unseen=kinds_of(state["unseen"][seat]),
                stones=(helmets, buddhas, rice),
                to_move=to_move,
                won=bool(state["over"] and int(state["winners"]) >> seat & 1),
            )
        )
    return seen


# --- The table ---


def _shapes(village_card: int) -> tuple[int, ...]:
    return tuple(shape for shape in range(3) if village_card >> shape & 1)


def place_of(state: np.void, cell: int) -> Place:
    """Return the place of a cell: steps east and south of the first village."""
    village, side = divmod(cell, 4)
    return int(state["village_x"][village] + STEP_X[side]), int(state["village_y"][village] + STEP_Y[side])


def villages(state: np.void) -> dict[Place, Village]:
    """The villages on the table."""
    found = {}
    for i in range(int(state["villages"])):
        place = int(state["village_x"][i]), int(state["village_y"][i])
        scored = bool((state["side"][i] > 0).all())
        found[place] = Village(f"v{i}", _shapes(int(state["village_stack"][i])), scored)
    return found


def cards(state: np.void) -> dict[Place, Card]:
    """The influence cards on the table."""
    found = {}
    for cell in range(4 * int(state["villages"])):
        value = int(state["side"][cell // 4, cell % 4]) - 1
        if value >= 0:
            found[place_of(state, cell)] = Card(value // KINDS, value % KINDS)
    return found


def free_cells(state: np.void) -> dict[Place, str]:
    """The free cells beside a village, with their names."""
    words = [int(word) for word in state["free"]]
    actions = (action for action in range(CELL0, CELL0 + CELLS) if words[action >> 6] >> (action & 63) & 1)
    return {place_of(state, action - CELL0): names(state["hand"].shape[0])[action] for action in actions}


def waiting_places(state: np.void) -> list[Place]:
    """The places that wait for a village card, in the order of `cell0`, `cell1`."""
    if state["phase"] != VILLAGE:
        return []
    x, y = place_of(state, int(state["laid"]))
    sides = [int(side) for side in READING_ORDER if int(state["waiting"]) >> side & 1]
    return [(x + int(STEP_X[side]), y + int(STEP_Y[side])) for side in sides]


def visible_villages(state: np.void) -> list[tuple[int, ...]]:
    """The shapes on the open top card of the village stack, and on the next one while a place is chosen."""
    shown = 2 if state["phase"] == VILLAGE else 1
    first = int(state["villages"])
    return [_shapes(int(card)) for card in state["village_stack"][first : first + shown]]


def villages_left(state: np.void) -> tuple[int, ...]:
    """Cards in the village stack, the visible ones among them, by kind."""
    rest = state["village_stack"][int(state["villages"]) :].tolist()
    return tuple(rest.count(kind) for kind in range(1, len(VILLAGE_CODES) + 1))


def supply(state: np.void) -> tuple[int, int, int]:
    """Stones in the supply, by shape."""
    left = int(STONES_EACH[state["hand"].shape[0]])
    helmets, buddhas, rice = (max(0, left - int(taken)) for taken in state["stones"].sum(0))
    return helmets, buddhas, rice


# --- Words ---


def seats_text(seats: Sequence[int]) -> str:
    """Such as `seat 1` or `seats 0 and 2`."""
    *most, last = map(str, seats)
    return f"seats {', '.join(most)} and {last}" if most else f"seat {last}"


def kind_text(kind: int) -> str:
    """Such as `samurai 3`."""
    name, value = KIND_NAMES[kind]
    return f"{name} {value}"


def village_text(shapes: tuple[int, ...]) -> str:
    """Such as `HB`."""
    return VILLAGE_CODES[sum(1 << shape for shape in shapes) - 1]


def ending(state: np.void) -> str:
    """Why this is the last round, or nothing."""
    if state["villages"] == VILLAGES:
        return "last round: the village stack is used up"
    if min(supply(state)) == 0:
        return "last round: a shape of stones is used up"
    return ""


def decision(state: np.void, viewer: int | None = None) -> str:
    """Describe the decision that is due, or how the game ended."""
    n, seat, phase = state["hand"].shape[0], int(state["seat"]), state["phase"]
    if state["over"]:
        won = [seat for seat in range(n) if int(state["winners"]) >> seat & 1]
        return f"Game over: {seats_text(won)} {'share the win' if len(won) > 1 else 'wins'}"
    if phase == CARD:
        return f"Seat {seat} chooses a card"
    if phase == CELL:
        what = kind_text(int(state["card"])) if viewer in (None, seat) else "the chosen card"
        return f"Seat {seat} lays {what} on a free cell"
    top = village_text(visible_villages(state)[0])
    return f"Seat {seat} chooses the place for the village card {top}"


def laid_cell(last: Sequence[int]) -> int | None:
    """The cell among the actions of a move, if there is one."""
    return next((int(action) - CELL0 for action in last if action >= CELL0), None)


def last_move(state: np.void, viewer: int | None, last: Sequence[int]) -> str:
    """The last move in words, after it was made; of an opponent's choice no more than that a card was chosen."""
    if not last:
        return ""
    cell = laid_cell(last)
    if cell is None:
        seat = int(state["seat"])
        what = kind_text(int(last[0])) if viewer in (None, seat) else "a card (hidden)"
        return f"seat {seat}: chose {what}"
    card = cards(state)[place_of(state, cell)]
    words = f"seat {card.seat}: {kind_text(card.kind)} on v{cell // 4}{SIDES[cell % 4]}"
    chosen = [int(action) - CHOICE0 for action in last if CHOICE0 <= action < CELL0]
    return f"{words}, village on cell{chosen[0]}" if chosen else words
