"""Setting up positions of the board game: tiles and figures on the map, hands, captured figures."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from samurai_env.core.layout import pack_bits
from samurai_env.editors.editor import Editor, Entry, checked_value, seats_label, unknown_entry
from samurai_env.games.board.display.player_view import kind_text, tiles_on_board
from samurai_env.games.board.display.targets import TOWNS
from samurai_env.games.board.rules.kernels import reset
from samurai_env.games.board.rules.tiles import (
    COPIES,
    FIGURE_EXCHANGE,
    FIGURES,
    HAND,
    KINDS,
    MOVABLE,
    QUICK,
    SHIPS,
    STRENGTH,
    TILES,
)
from samurai_env.games.board.rules.topology import (
    FIGURES_EACH,
    LAND,
    LAND_BESIDE,
    LANDS,
    SEA,
    SEA_BESIDE,
    SEAS,
    SETTLEMENT,
    SETTLEMENT_LAND,
    SETTLEMENTS,
    Hex,
)
from samurai_env.games.board.state import EDITIONS, ENDINGS, TILE

EMPTY, NONE = "empty", "none"
SHIP_KINDS = tuple(k for k in range(KINDS) if int(SHIPS) >> k & 1)
LAND_KINDS = tuple(k for k in range(KINDS) if k not in SHIP_KINDS and k != FIGURE_EXCHANGE)
PLAYED = ("no", "yes")
UNDER_WAY = {"nothing": (0, 0), "quick tiles": (0, 1), "a plain tile": (1, 1)}  # `plain_played` and `may_end`
MOMENTS = "Positions are those in which a seat chooses its next tile, at the beginning of a turn or within it."


def _tile(seat: int, kind: int) -> str:
    return f"seat {seat}: {kind_text(kind)}"


def _tiles(n: int, kinds: tuple[int, ...]) -> dict[str, int]:
    """What can lie on a hex, with its number in the state."""
    return {EMPTY: 0} | {_tile(seat, kind): 1 + KINDS * seat + kind for seat in range(n) for kind in kinds}


def _figures(place: Hex) -> dict[str, tuple[int, ...]]:
    """What can stand on a settlement, from as many figures as it is for to none."""
    sets = [some for size in range(place.size, 0, -1) for some in combinations(range(3), size)]
    return {_words(some): some for some in sets} | {NONE: ()}


def _words(figures: tuple[int, ...]) -> str:
    return " and ".join(FIGURES[figure] for figure in figures) or NONE


def _others(n: int) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """By name, what is not on the map: label, group and values."""
    found = {
        "turn": ("Seat to move", "Turn", seats_label(n)),
        "played": ("Played in this turn", "Turn", tuple(UNDER_WAY)),
    }
    for seat in range(n):
        group = f"Hand of seat {seat}"
        for kind in range(KINDS):
            found[f"hand {seat} {kind_text(kind)}"] = (kind_text(kind), group, seats_label(int(COPIES[kind]) + 1))
        found[f"exchanged {seat}"] = ("figure exchange already played", group, PLAYED)
    for seat in range(n):
        for figure in FIGURES:
            values = seats_label(int(FIGURES_EACH[n]) + 1)
            found[f"captured {seat} {figure}"] = (figure, f"Captured by seat {seat}", values)
    return found


def entries(state: np.void) -> list[Entry]:
    """The hexes, then what is beside the map."""
    n = state["hand"].shape[0]
    found = [Entry(name, label, values, group) for name, (label, group, values) in _others(n).items()]
    for place in SETTLEMENT[: SETTLEMENTS[n]]:
        what = f"{place.name or TOWNS[place.size]} {place.label}"
        found.append(Entry(place.label, what, tuple(_figures(place)), "Figures on the map", place.label))
    for places, kinds in ((LAND[: LANDS[n]], LAND_KINDS), (SEA[: SEAS[n]], SHIP_KINDS)):
        values = tuple(_tiles(n, kinds))
        found += [Entry(p.label, f"{p.terrain} {p.label}", values, "Tiles on the map", p.label) for p in places]
    return found


def read(state: np.void) -> dict[str, str]:
    """The value of each entry."""
    n = state["hand"].shape[0]
    flags = int(state["plain_played"]), int(state["may_end"])
    so_far = next((words for words, meant in UNDER_WAY.items() if meant == flags), "a plain tile")  # being laid
    values = {"turn": str(int(state["seat"])), "played": so_far}
    tiles = tiles_on_board(state)
    for place in (*LAND[: LANDS[n]], *SEA[: SEAS[n]]):
        tile = tiles.get(place.label)
        values[place.label] = _tile(tile.seat, tile.kind) if tile else EMPTY
    for i, place in enumerate(SETTLEMENT[: SETTLEMENTS[n]]):
        standing = tuple(f for f in range(3) if int(state["figures"][f]) >> i & 1)
        values[place.label] = _words(standing)
    laid = [(t.seat, t.kind) for t in tiles.values()]
    for seat in range(n):
        for kind in range(KINDS):
            values[f"hand {seat} {kind_text(kind)}"] = str(int(state["hand"][seat, kind]))
        unseen = int(state["unseen"][seat, FIGURE_EXCHANGE]) + laid.count((seat, FIGURE_EXCHANGE))
        values[f"exchanged {seat}"] = PLAYED[unseen == 0]
        for figure, name in enumerate(FIGURES):
            values[f"captured {seat} {name}"] = str(int(state["captured"][seat, figure]))
    return values


def build(state: np.void, values: Mapping[str, str]) -> str | None:
    """Write the position into a state."""
    n = state["hand"].shape[0]
    reset(state, state["seed"])
    for name in ("land_tile", "sea_tile", "hand", "captured", "figures"):
        state[name] = 0
    exchanged = np.zeros(n, np.int64)
    hexes = {place.label: ("land_tile", i, _tiles(n, LAND_KINDS)) for i, place in enumerate(LAND[: LANDS[n]])}
    hexes |= {place.label: ("sea_tile", i, _tiles(n, SHIP_KINDS)) for i, place in enumerate(SEA[: SEAS[n]])}
    towns = {place.label: (i, _figures(place)) for i, place in enumerate(SETTLEMENT[: SETTLEMENTS[n]])}
    others = _others(n)
    state["seat"] = 0
    for name, value in values.items():
        if name in hexes:
            field, index, tiles = hexes[name]
            checked_value(name, value, tuple(tiles))
            state[field][index] = tiles[value]
        elif name in towns:
            index, figures = towns[name]
            checked_value(name, value, tuple(figures))
            for figure in figures[value]:
                state["figures"][figure] |= np.uint64(1 << index)
        elif name in others:
            _write_other(state, exchanged, name, checked_value(name, value, others[name][2]))
        else:
            raise unknown_entry(name)
    problem = _tiles_problem(state, exchanged)
    _derive(state, exchanged)
    return problem or _figures_problem(state)


def _write_other(state: np.void, exchanged: np.ndarray, name: str, value: int) -> None:
    what, *rest = name.split(" ", 2)
    if what == "turn":
        state["seat"] = value
    elif what == "played":
        state["plain_played"], state["may_end"] = tuple(UNDER_WAY.values())[value]
    elif what == "exchanged":
        exchanged[int(rest[0])] = value
    elif what == "captured":
        state["captured"][int(rest[0]), FIGURES.index(rest[1])] = value
    else:
        kind = next(kind for kind in range(KINDS) if kind_text(kind) == rest[1])
        state["hand"][int(rest[0]), kind] = value


def _laid(state: np.void) -> np.ndarray:
    """Tiles on the map, by seat and kind."""
    tiles = np.concatenate([state["land_tile"], state["sea_tile"]]).astype(np.int64)
    counts = np.zeros(state["hand"].shape, np.int64)
    np.add.at(counts, tuple(np.divmod(tiles[tiles > 0] - 1, KINDS)), 1)
    return counts


def _tiles_problem(state: np.void, exchanged: np.ndarray) -> str | None:
    """Why these tiles cannot be where they are."""
    used = _laid(state)
    used[:, FIGURE_EXCHANGE] += exchanged
    for seat in range(len(used)):
        for kind in range(KINDS):
            count = int(used[seat, kind] + state["hand"][seat, kind])
            if count > COPIES[kind]:
                return f"seat {seat} has {kind_text(kind)} {count} times, its tiles have it {COPIES[kind]} times"
        held, left = int(state["hand"][seat].sum()), TILES - int(used[seat].sum())
        if seat == state["seat"] and state["may_end"]:
            if problem := _turn_problem(state, used[seat], held, left):
                return problem
        elif held != min(HAND, left):
            return f"seat {seat} holds {held} tiles; when a turn begins it holds {min(HAND, left)}"
    return None


def _turn_problem(state: np.void, used: np.ndarray, held: int, left: int) -> str | None:
    """Why the seat to move cannot have played tiles in this turn; `left` are those in its hand and supply."""
    seat, plain = int(state["seat"]), int(state["plain_played"])
    if held >= HAND:
        return f"seat {seat} holds {held} tiles; within a turn, before it draws, it holds at most {HAND - 1}"
    played = 1 if held == left else HAND - held  # at least
    quick = sum(int(used[kind]) for kind in range(KINDS) if int(QUICK) >> kind & 1)
    if quick < played - plain or int(used.sum()) - quick < plain:
        tiles = f"{played} tile{'s' if played > 1 else ''}"
        return f"seat {seat} has played {tiles} in this turn, not more than one of them plain; they are not on the map"
    if plain and not int(pack_bits(state["hand"][seat] > 0)) & int(QUICK):
        return f"seat {seat} has no quick tile left, so its turn would be over"
    return None


def _derive(state: np.void, exchanged: np.ndarray) -> None:
    """Fill the fields that follow from tiles, hands and figures, as well as an impossible position allows."""
    n, lands, towns = state["hand"].shape[0], state["land_tile"].shape[0], state["influence"].shape[1]
    hand, laid = state["hand"].astype(np.int64), _laid(state)
    laid[:, FIGURE_EXCHANGE] += exchanged
    unseen = np.maximum(hand, COPIES - laid)
    state["unseen"] = unseen
    state["hand_size"] = np.minimum(hand.sum(1), HAND)
    supply = unseen - hand
    state["supply_size"] = np.minimum(supply.sum(1), TILES)
    state["drawn"] = TILES - state["supply_size"]
    state["kinds"] = pack_bits(hand > 0)
    state["supply"] = 0
    rng = np.random.default_rng(int(state["seed"]))
    for seat in range(n):
        rest = rng.permutation(np.repeat(np.arange(KINDS), supply[seat]))[:TILES]
        state["supply"][seat, TILES - len(rest) :] = rest

    tiles = np.concatenate([state["land_tile"], state["sea_tile"]]).astype(np.int64)
    owner, kind = np.divmod(tiles - 1, KINDS)
    lies = (owner == np.arange(n)[:, None]) & (tiles > 0)
    strength = STRENGTH[kind].astype(np.int64) * (tiles > 0)[:, None]
    state["land_free"] = pack_bits(tiles[:lands] == 0)
    sea = tiles[lands:] == 0
    state["sea_free"] = [pack_bits(sea[:64]), pack_bits(sea[64:])]
    state["movable"] = pack_bits((lies & (int(MOVABLE[state["token_exchange"]]) >> kind & 1 == 1))[:, :lands])
    state["land_strength"] = strength[:lands]
    for i, beside in enumerate((*LAND_BESIDE[:lands], *SEA_BESIDE[: len(sea)])):
        for town in beside:
            if tiles[i] > 0 and town < towns:
                state["influence"][owner[i], town] += strength[i].astype(np.int8)
    standing = np.bitwise_count(state["figures"]).astype(np.int64)
    state["pool"] = 0
    full = pack_bits((SETTLEMENT_LAND[:towns] & state["land_free"]) == 0)
    state["surrounded"] = full & np.bitwise_or.reduce(state["figures"])
    state["aside"] = np.clip(FIGURES_EACH[n] - state["captured"].sum(0, dtype=np.int64) - standing, 0, 13)
    state["phase"], state["tile"], state["from_land"], state["from_spot"] = TILE, -1, -1, -1


def _figures_problem(state: np.void) -> str | None:
    """Why these figures cannot stand or be captured."""
    n, standing = state["hand"].shape[0], np.bitwise_count(state["figures"]).astype(np.int64)
    within, at_the_end = bool(state["may_end"]), bool(state["may_end"]) and EDITIONS[state["edition"]] == "2016"
    for figure, name in enumerate(FIGURES):
        count, most = int(standing[figure] + state["captured"][:, figure].sum(dtype=np.int64)), int(FIGURES_EACH[n])
        if count > most:
            return f"there are {count} figures of {name} on the map and captured, the game has {most}"
    for i, place in enumerate(SETTLEMENT[: SETTLEMENTS[n]]):
        closed = int(SETTLEMENT_LAND[i]) & int(state["land_free"]) == 0
        stand = sum(int(row) >> i & 1 for row in state["figures"])
        town = f"{place.name or TOWNS[place.size]} {place.label}"
        if closed and stand and not (at_the_end and stand == place.size):
            return f"{town} is surrounded, so its figures are captured"
        if not closed and stand != place.size:
            return f"{town} is not surrounded, so all its figures still stand there: {place.size}, not {stand}"
    if not within or at_the_end or ENDINGS[state["ending"]] == "at_once":  # else the last turn is played out
        for figure, name in enumerate(FIGURES):
            if not standing[figure]:
                return f"no {name} is left on the map, so the game would be over"
        tied = int(state["aside"].sum())
        if tied >= 4:
            return f"{tied} figures neither stand nor are captured; when 4 are set aside, the game is over"
    kinds = int(state["kinds"][state["seat"]])
    if not kinds:
        return f"seat {int(state['seat'])} is to move and has no tile"
    return None


EDITOR = Editor(MOMENTS, entries, read, build)
