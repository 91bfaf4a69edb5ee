"""Setting up positions of the card game: villages and influence cards on the grid, and hands."""

import re
from collections.abc import Mapping

import numpy as np

from samurai_env.core.layout import pack_bits
from samurai_env.editors.editor import Editor, Entry, checked_value, seats_label, unknown_entry
from samurai_env.games.card.actions import CELL0
from samurai_env.games.card.display import player_view
from samurai_env.games.card.rules.cards import HAND, KINDS, SHAPES, VILLAGE_KINDS
from samurai_env.games.card.rules.kernels import last_round, reset, score, surrounded
from samurai_env.games.card.rules.topology import REACH, STEP_X, STEP_Y, VILLAGES
from samurai_env.games.card.state import CARD

Place = tuple[int, int]
EMPTY = "empty"
PLAYERS = {"turn": "seat", "first": "first_seat"}  # entries and the fields that they set
TOWN = {", ".join(SHAPES[i] for i in range(3) if kind >> i & 1): kind for kind in VILLAGE_KINDS}
_PLACE = re.compile(r"place (-?[0-9]{1,2}) (-?[0-9]{1,2})")


def _name(place: Place) -> str:
    return f"place {place[0]} {place[1]}"


def _cards(n: int) -> dict[str, int]:
    """What can lie on a cell, with its number in the state."""
    texts = {f"seat {s}: {player_view.kind_text(k)}": 1 + KINDS * s + k for s in range(n) for k in range(KINDS)}
    return {EMPTY: 0} | texts


def _is_village(place: Place) -> bool:
    """Whether the place is one for villages: they alternate with cards as the squares of a chess board."""
    return (place[0] + place[1]) % 2 == 0


def _around(place: Place) -> list[Place]:
    return [(place[0] + int(dx), place[1] + int(dy)) for dx, dy in zip(STEP_X, STEP_Y, strict=True)]


def _others(state: np.void) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """By name, what is not on the grid: label, group and values."""
    n = state["hand"].shape[0]
    found = {"turn": ("Seat to move", "Turn", seats_label(n))}
    if state["first_drawn"]:  # else an option says it
        found["first"] = ("Seat that began", "Turn", seats_label(n))
    for seat in range(n):
        for kind in range(KINDS):
            values = seats_label(int(state["copies"][kind]) + 1)
            words = player_view.kind_text(kind)
            found[f"hand {seat} {words}"] = (words, f"Hand of seat {seat}", values)
    return found


def entries(state: np.void) -> list[Entry]:
    """Hands, what lies on the grid, and the places around it."""
    n = state["hand"].shape[0]
    found = [Entry(name, label, values, group) for name, (label, group, values) in _others(state).items()]
    villages, cards, free = player_view.villages(state), player_view.cards(state), player_view.free_cells(state)
    targets = {place: village.name for place, village in villages.items()} | free
    targets |= {(x, y): f"card{x}.{y}" for x, y in cards}
    near = {place for card in cards for place in _around(card)} - set(villages)
    for place in sorted({*targets, *near}, key=lambda p: (p[1], p[0])):
        values = (EMPTY, *TOWN) if _is_village(place) else tuple(_cards(n))
        words = f"{'village' if _is_village(place) else 'card'} at {place[0]}, {place[1]}"
        if place == (0, 0):
            values = tuple(TOWN)
        group = "On the table" if place in targets else "Free places for villages"
        found.append(Entry(_name(place), words, values, group, targets.get(place, "")))
    return found


def read(state: np.void) -> dict[str, str]:
    """The value of each entry that is not empty."""
    n = state["hand"].shape[0]
    values = {"turn": str(int(state["seat"]))}
    if state["first_drawn"]:
        values["first"] = str(int(state["first_seat"]))
    for seat in range(n):
        for kind in range(KINDS):
            values[f"hand {seat} {player_view.kind_text(kind)}"] = str(int(state["hand"][seat, kind]))
    for place, village in player_view.villages(state).items():
        values[_name(place)] = ", ".join(SHAPES[shape] for shape in village.shapes)
    for place, card in player_view.cards(state).items():
        values[_name(place)] = f"seat {card.seat}: {player_view.kind_text(card.kind)}"
    return values


def build(state: np.void, values: Mapping[str, str]) -> str | None:
    """Write the position into a state."""
    reset(state, state["seed"])
    state["hand"] = 0
    state["seat"] = 0
    if state["first_drawn"]:
        state["first_seat"] = 0
    n, others, cards = state["hand"].shape[0], _others(state), _cards(state["hand"].shape[0])
    villages: dict[Place, int] = {(0, 0): VILLAGE_KINDS[0]}
    laid: dict[Place, int] = {}
    for name, value in values.items():
        if name in others:
            index = checked_value(name, value, others[name][2])
            if name in PLAYERS:
                state[PLAYERS[name]] = index
            else:
                _, seat, words = name.split(" ", 2)
                kind = next(k for k in range(KINDS) if player_view.kind_text(k) == words)
                state["hand"][int(seat), kind] = index
            continue
        match = _PLACE.fullmatch(name)
        place = (int(match[1]), int(match[2])) if match else (REACH + 1, 0)
        if not match or max(map(abs, place)) > REACH or name != _name(place):
            raise unknown_entry(name)
        if value == EMPTY and place != (0, 0):
            continue
        if _is_village(place):
            checked_value(name, value, tuple(TOWN))
            villages[place] = TOWN[value]
        else:
            checked_value(name, value, tuple(cards))
            laid[place] = cards[value]
    if len(villages) > VILLAGES:
        raise ValueError(f"there are {VILLAGES} villages, not {len(villages)}")
    problem = _grid_problem(villages, laid, state)
    _derive(state, villages, laid)
    return problem or _cards_problem(state, n)


def _derive(state: np.void, villages: dict[Place, int], laid: dict[Place, int]) -> None:
    """Fill the fields that follow from the grid and the hands, as well as an impossible position allows."""
    n, rng = state["hand"].shape[0], np.random.default_rng(int(state["seed"]))
    order = sorted(villages, key=lambda p: (abs(p[0]) + abs(p[1]), p[1], p[0]))
    for field in ("side", "village_x", "village_y", "stones", "free"):
        state[field] = 0
    state["villages"] = len(order)
    state["phase"], state["card"], state["laid"], state["waiting"] = CARD, -1, -1, 0
    free, named = np.zeros(192, bool), set()
    for i, place in enumerate(order):
        state["village_x"][i], state["village_y"][i] = place
        for side, cell in enumerate(_around(place)):
            state["side"][i, side] = laid.get(cell, 0)
            if cell not in named and cell not in laid:
                free[CELL0 + 4 * i + side] = True
            named.add(cell)
    state["free"] = pack_bits(free.reshape(3, 64))
    first = [villages[place] for place in order]
    rest = state["village_copies"].astype(np.int64) - np.bincount(first, minlength=len(VILLAGE_KINDS) + 1)[1:]
    stack = rng.permutation(np.repeat(np.array(VILLAGE_KINDS), np.maximum(rest, 0)))
    state["village_stack"][: len(first)] = first
    state["village_stack"][len(first) :] = stack[: VILLAGES - len(first)]
    for i in range(len(order)):
        if surrounded(state, i):
            score(state, i)
    hand = state["hand"].astype(np.int64)
    counts = _laid_counts(laid, n)
    unseen = np.maximum(hand, state["copies"] - counts)
    state["unseen"] = unseen
    state["kinds"] = pack_bits(hand > 0)
    length = state["stack"].shape[1]
    state["stack"] = -1
    for seat in range(n):
        cards = rng.permutation(np.repeat(np.arange(KINDS), (unseen - hand)[seat]))[:length]
        state["drawn"][seat] = length - len(cards)
        state["stack"][seat, length - len(cards) :] = cards


def _laid_counts(laid: dict[Place, int], n: int) -> np.ndarray:
    counts = np.zeros((n, KINDS), np.int64)
    for number in laid.values():
        counts[divmod(number - 1, KINDS)] += 1
    return counts


def _grid_problem(villages: dict[Place, int], laid: dict[Place, int], state: np.void) -> str | None:
    """Why villages and cards cannot lie so."""
    n = state["hand"].shape[0]
    for kind, copies in zip(VILLAGE_KINDS, state["village_copies"], strict=True):
        count = list(villages.values()).count(kind)
        if count > copies:
            words = next(text for text, number in TOWN.items() if number == kind)
            return f"there are {count} villages with {words}, the game has {int(copies)}"
    for place in laid:
        if not any(cell in villages for cell in _around(place)):
            return f"the card at {place[0]}, {place[1]} lies beside no village"
    reached, coming = set(), [(0, 0)]
    while coming:  # from village to village, since each came from one that was there before
        place = coming.pop()
        reached.add(place)
        coming += [corner for corner in _corners(place, laid) if corner in villages and corner not in reached]
    for x, y in villages:
        if (x, y) not in reached:
            return f"no rivals meet at the village at {x}, {y}; a village comes where two players' cards meet"
    for x, y in _corners((0, 0), laid):  # the first village is older than all cards
        if (x, y) not in villages and len(villages) < VILLAGES:
            return f"two players' cards meet at {x}, {y}: a village lies there"
    counts = _laid_counts(laid, n).sum(1)
    mover, first = int(state["seat"]), int(state["first_seat"])
    for seat in range(n):
        expected = int(counts[mover]) + ((seat - first) % n < (mover - first) % n)
        if counts[seat] != expected:
            words = f"seat {seat} has laid {counts[seat]} cards; before the turn of seat {mover}"
            return f"{words}, who has laid {counts[mover]}, it has laid {expected}"
    return None


def _corners(village: Place, laid: dict[Place, int]) -> list[Place]:
    """Where cards of two players at a right angle on a village call for another village."""
    x, y = village
    sides = [(laid.get(cell, 0), cell) for cell in _around(village)]
    found = []
    for side in range(4):
        (one, (ax, ay)), (other, (bx, by)) = sides[side], sides[(side + 1) % 4]
        if one and other and (one - 1) // KINDS != (other - 1) // KINDS:
            found.append((ax + bx - x, ay + by - y))
    return found


def _cards_problem(state: np.void, n: int) -> str | None:
    """Why the cards cannot be shared out so, or the game would be over."""
    cards = player_view.cards(state)
    for seat in range(n):
        for kind in range(KINDS):
            count = int(state["hand"][seat, kind]) + sum(c.seat == seat and c.kind == kind for c in cards.values())
            if count > state["copies"][kind]:
                words, copies = player_view.kind_text(kind), int(state["copies"][kind])
                return f"seat {seat} has {words} {count} times, its cards have it {copies} times"
        held, left = int(state["hand"][seat].sum()), int(state["unseen"][seat].sum())
        if held != min(HAND, left):
            return f"seat {seat} holds {held} cards; when a turn begins it holds {min(HAND, left)}"
    if not state["free"].any():
        return "no cell is free, so the game would be over"
    if state["seat"] == state["first_seat"] and last_round(state):
        return "the villages, cards or stones of a shape have run out, so the game would be over"
    if not state["hand"][state["seat"]].any():
        return f"seat {int(state['seat'])} is to move and has no card"
    return None


EDITOR = Editor("Positions are those at the beginning of a turn.", entries, read, build)
