"""The part of a state that a viewer may see, as plain Python data and words, for pictures and text alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from samurai_env.core.checks import check_viewer
from samurai_env.display.piece_lists import kinds_of
from samurai_env.games.board.actions import END, IDLE, LAND0, SEA0, SPOT0, names
from samurai_env.games.board.rules.tiles import (
    FIGURE_EXCHANGE,
    FIGURES,
    HAND,
    KIND_NAMES,
    KINDS,
    STRENGTH,
    TOKEN_EXCHANGE,
)
from samurai_env.games.board.rules.topology import FIGURES_EACH, LANDS, SETTLEMENT, SETTLEMENTS, hexes_in_play
from samurai_env.games.board.rules.topology import LAND as LAND_HEX
from samurai_env.games.board.rules.topology import SEA as SEA_HEX
from samurai_env.games.board.state import (
    EDITIONS,
    FIGURE_FIRST,
    FIGURE_SECOND,
    FIRST_HAND,
    LAND,
    SEA,
    SETUP,
    TILE,
    TOKEN_FROM,
    TOKEN_TO,
)


@dataclass(frozen=True)
class Player:
    """One player as the viewer sees it.

    Attributes:
        seat: number of the seat.
        hand: kinds of the tiles in the hand, None where they are hidden.
        held: number of tiles in the hand.
        supply: number of tiles in the supply.
        unplayed: kinds of the tiles in hand and supply together.
        chosen: kind of the tile that has been chosen and is not yet played, None otherwise.
        captured: figures taken, by kind; None where they are hidden.
        to_move: whether the seat decides now.
        won: whether the seat has won or shares the win.
    """

    seat: int
    hand: tuple[int, ...] | None
    held: int
    supply: int
    unplayed: tuple[int, ...]
    chosen: int | None
    captured: tuple[int, int, int] | None
    to_move: bool
    won: bool


@dataclass(frozen=True)
class Tile:
    """A tile on the board."""

    seat: int
    kind: int


def players(state: np.void, viewer: int | None) -> list[Player]:
    """All players, as `viewer` sees them (None: all is seen)."""
    check_viewer(viewer, state["hand"].shape[0])
    n = state["hand"].shape[0]
    seen, screens = [], n > 2 and state["hide_captures"] and not state["over"]
    for seat in range(n):
        other = viewer is not None and viewer != seat
        helmets, buddhas, rice = (int(count) for count in state["captured"][seat])
        seen.append(
            Player(
                seat=seat,
                hand=None if other else kinds_of(state["hand"][seat]),
                held=int(state["hand_size"][seat]),
                supply=int(state["supply_size"][seat]),
                unplayed=kinds_of(state["unseen"][seat]),
                chosen=int(state["tile"]) if seat == state["seat"] and state["tile"] >= 0 else None,
                captured=None if other and screens else (helmets, buddhas, rice),
                to_move=seat == state["seat"] and not state["over"],
                won=bool(state["over"] and int(state["winners"]) >> seat & 1),
            )
        )
    return seen


def figures_on(state: np.void, settlement: int) -> tuple[int, ...]:
    """Kinds of the figures on a settlement."""
    return tuple(figure for figure in range(3) if int(state["figures"][figure]) >> settlement & 1)


def figures_left(state: np.void) -> list[int]:
    """Figures on the board, by kind."""
    return [int(state["figures"][figure]).bit_count() for figure in range(3)]


def waits_for_figures(state: np.void) -> bool:
    """Whether figures are still to be placed, so that an empty settlement is not yet a closed one."""
    return int(state["pool"].sum()) > 0


def tile_at(value: int) -> Tile | None:
    """The tile that an entry of `land_tile` or `sea_tile` stands for."""
    return Tile((value - 1) // KINDS, (value - 1) % KINDS) if value > 0 else None


def tiles_on_board(state: np.void) -> dict[str, Tile]:
    """Every tile on the board, by the label of its hex."""
    placed = [*zip(LAND_HEX, state["land_tile"], strict=False), *zip(SEA_HEX, state["sea_tile"], strict=False)]
    return {place.label: tile for place, value in placed if (tile := tile_at(int(value)))}


def spot(num_players: int, index: int) -> tuple[int, str]:
    """Kind of figure and label of the settlement of a figure spot."""
    towns = int(SETTLEMENTS[num_players]) - 1
    return index // towns, SETTLEMENT[index % towns + 1].label


@cache
def hex_of(num_players: int, action: int) -> str | None:
    """The label of the hex or settlement that an action names."""
    n = num_players
    if action < LAND0:
        return None
    if action < LAND0 + LANDS[n]:
        return LAND_HEX[action - LAND0].label
    if action < SPOT0[n]:
        return SEA_HEX[action - SEA0[n]].label
    return spot(n, action - int(SPOT0[n]))[1]


def settlement_names(num_players: int) -> dict[str, str]:
    """Names of the settlements in play that have one, by label."""
    return {place.label: place.name for place in hexes_in_play(num_players) if place.name}


# --- Words ---


def seats_text(seats: Sequence[int]) -> str:
    """Such as `seat 1` or `seats 0 and 2`."""
    *most, last = map(str, seats)
    return f"seats {', '.join(most)} and {last}" if most else f"seat {last}"


def title(state: np.void) -> str:
    """Number of players and edition."""
    return f"{state['hand'].shape[0]} players, {EDITIONS[int(state['edition'])]} edition"


def kind_text(kind: int) -> str:
    """Such as `samurai 3` or `token exchange`."""
    alone = KIND_NAMES[kind] in ("token exchange", "ronin", "figure exchange")
    return KIND_NAMES[kind] if alone else f"{KIND_NAMES[kind]} {int(STRENGTH[kind].max())}"


def _spot_text(state: np.void, action: int, word: str = "of") -> str:
    n = state["hand"].shape[0]
    figure, label = spot(n, action - int(SPOT0[n]))
    return f"the {FIGURES[figure]} {word} {label}"


def decision(state: np.void) -> str:
    """Describe the decision that is due, or how the game ended."""
    if state["over"]:
        won = [seat for seat in range(state["hand"].shape[0]) if int(state["winners"]) >> seat & 1]
        return f"Game over: {seats_text(won)} {'share the win' if len(won) > 1 else 'wins'}"
    return f"Seat {int(state['seat'])} {_task(state)}"


def _task(state: np.void) -> str:
    phase, tile = int(state["phase"]), int(state["tile"])
    if phase == FIRST_HAND:
        return f"picks tile {int(state['hand'][state['seat']].sum()) + 1} of {HAND} for the first hand"
    if phase == SETUP:
        return "puts a figure on a settlement"
    if phase == TILE:
        which = "a quick tile" if state["plain_played"] else "a tile"
        return f"plays {which} or ends the turn" if state["may_end"] else f"plays {which}"
    if phase in (LAND, SEA):
        return f"puts {kind_text(tile)} on an empty {'land' if phase == LAND else 'sea'} hex"
    if phase == TOKEN_FROM:
        return "picks the own tile that the token exchange replaces"
    if phase == TOKEN_TO:
        label = LAND_HEX[int(state["from_land"])].label
        moved = tile_at(int(state["land_tile"][state["from_land"]]))
        return f"moves {kind_text(moved.kind) if moved else 'the tile'} from {label} to an empty land hex"
    if phase == FIGURE_FIRST:
        return "picks the first figure to exchange"
    assert phase == FIGURE_SECOND
    first = int(SPOT0[state["hand"].shape[0]]) + int(state["from_spot"])
    return f"picks the figure that changes places with {_spot_text(state, first)}"


def last_move(state: np.void, viewer: int | None, last: Sequence[int]) -> str:
    """The last move in words, after it was made; of an opponent's first hand no more than that a tile was picked."""
    n, ids = state["hand"].shape[0], [int(action) for action in last]
    if not ids:
        return ""
    if state["tile"] < 0 and all(action < KINDS for action in ids):
        return _picked(state, viewer, ids)
    words = _move_words(state, ids)
    tile = tiles_on_board(state).get(hex_of(n, ids[1]) or "") if len(ids) > 1 else None
    return f"seat {tile.seat}: {words}" if tile else words


def _picked(state: np.void, viewer: int | None, ids: list[int]) -> str:
    seat, n = int(state["seat"]), state["hand"].shape[0]
    if state["phase"] != FIRST_HAND:
        seat = (int(state["first_seat"]) - 1) % n  # the last to pick
    elif state["hand"][seat].sum() == 0:  # the seat before has just picked its fifth
        seat = (seat - 1) % n
    known = viewer is None or viewer == seat
    return f"seat {seat}: picked {', '.join(map(kind_text, ids)) if known else 'a tile (hidden)'}"


def _move_words(state: np.void, ids: list[int]) -> str:
    n, first = state["hand"].shape[0], ids[0]
    rest = [hex_of(n, action) or "" for action in ids[1:]]
    if first == END:
        return "end of the turn"
    if first >= SPOT0[n]:
        put = 3 * (int(FIGURES_EACH[n]) - 1) - int(state["pool"].sum())
        seat = (int(state["first_seat"]) + put - 1) % n
        return f"seat {seat}: put {_spot_text(state, first, 'on')}"
    if first >= KINDS:
        return " ".join(names(n)[action] for action in ids)
    if not rest:
        return f"chose {kind_text(first)}"
    if first == TOKEN_EXCHANGE:
        return ", ".join([f"token exchange on {rest[0]}", *(f"the tile there to {label}" for label in rest[1:])])
    if first == FIGURE_EXCHANGE:
        return _exchange_words(state, ids[1:])
    return f"{kind_text(first)} on {rest[0]}"


def _exchange_words(state: np.void, ids: list[int]) -> str:
    if ids[0] == IDLE:
        return "idle figure exchange"
    spots = [_spot_text(state, action) for action in ids]
    return f"{spots[0]} and {spots[1]} changed places" if len(spots) > 1 else f"figure exchange: {spots[0]}"
