"""Setting up positions of Samurai Spirit: the village, who is how wounded, and the cards beside the boards.

The samurai to move is at step B of the turn: the penalty of step A is behind it.
"""

from collections.abc import Mapping
from itertools import count

import numpy as np

from samurai_env.editors.editor import Editor, Entry, checked_value, seats_label, unknown_entry
from samurai_env.games.spirit.display import player_view, targets
from samurai_env.games.spirit.rules.cards import (
    BACKS,
    CARDS,
    DOLL,
    EXTRA_OFFICERS,
    FAMILIES,
    FARMSTEADS,
    FIRST,
    KIAI,
    MOST,
    NOTHING,
    PLUNDERERS_EACH,
    ROUNDS,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
)
from samurai_env.games.spirit.rules.kernels import reset, run_to_decision
from samurai_env.games.spirit.rules.setup import TWO_DOLLS, clear_boards, has_open_tokens
from samurai_env.games.spirit.rules.table import add_to_line, put_left
from samurai_env.games.spirit.rules.turn import start
from samurai_env.games.spirit.state import BOX, CHOICE, DISCARD_PILE, INTRUDER_STACK, RAIDERS, RANDOM, UNSEEN

NO_CARD = "none"
LINE = 8  # cards of a combat line that can be set
NO_YES = ("no", "yes")


def _card_names() -> tuple[str, ...]:
    """Each card in words; equal ones are told apart by a number."""
    seen: dict[str, count[int]] = {}
    names = []
    for number in range(CARDS):
        words = targets.card_text(player_view.card(number))
        which = next(seen.setdefault(words, count(1)))
        names.append(words if which == 1 else f"{words} #{which}")
    return tuple(names)


CARD_NAMES = (NO_CARD, *_card_names())


def _fields(state: np.void) -> dict[str, tuple[str, str, tuple[str, ...], str]]:
    """By name: label, group, values and target."""
    n = int(state["players"])
    found = {
        "round": ("Round", "Village", tuple(str(i + 1) for i in range(ROUNDS)), ""),
        "turn": ("Seat to move", "Village", seats_label(n), ""),
        "barricades": ("Barricades", "Village", seats_label(int(state["most_barricades"]) + 1), ""),
    }
    for back, most in zip(BACKS, FARMSTEADS, strict=True):
        found[f"farmsteads {back}"] = (f"Farmsteads {back}", "Village", seats_label(int(most) + 1), "")
    for family in FAMILIES:
        found[f"family {family}"] = (f"Family ({family})", "Village", NO_YES, "")
    found["intruders"] = ("Cards in the intruder stack", "Village", seats_label(CARDS), "")
    found["discarded"] = ("Discarded cards", "Village", seats_label(CARDS), "")
    for seat in range(n):
        group, board = f"Seat {seat}", f"seat{seat}"
        chosen = int(state["chosen"][seat])
        found[f"samurai {seat}"] = ("Samurai", group, SAMURAI if chosen == RANDOM else (SAMURAI[chosen],), board)
        found[f"side {seat}"] = ("Side", group, ("human", "animal"), board)
        found[f"wounded {seat}"] = ("Wounded", group, NO_YES, board)
        found[f"passed {seat}"] = ("Passed", group, NO_YES, board)
        for symbol in range(len(SYMBOLS)):
            fits = tuple(CARD_NAMES[1 + c] for c in range(CARDS) if SYMBOL[c] == symbol)
            words = f"Left, {SYMBOLS[symbol]}"
            found[f"left {seat} {SYMBOLS[symbol]}"] = (words, group, (NO_CARD, *fits), f"left{seat}.{SYMBOLS[symbol]}")
        for i in range(1, LINE + 1):
            found[f"line {seat} {i}"] = (f"Combat line, card {i}", group, CARD_NAMES, f"line{seat}")
    return found


def entries(state: np.void) -> list[Entry]:
    """The village, then the samurai; of a combat line the cards that lie there and one more."""
    lines = [len(one.line) for one in player_view.samurai(state)]
    found = []
    for name, (label, group, values, target) in _fields(state).items():
        what, *rest = name.split()
        if what == "line" and int(rest[1]) > lines[int(rest[0])] + 1:
            continue
        found.append(Entry(name, label, values, group, target))
    return found


def read(state: np.void) -> dict[str, str]:
    """The value of each entry."""
    values = {"round": str(int(state["round"])), "turn": str(int(state["active"]))}
    values["barricades"] = str(int(state["barricades"]))
    for back, left in zip(BACKS, state["farmsteads"], strict=True):
        values[f"farmsteads {back}"] = str(int(left))
    for family, there in zip(FAMILIES, state["families"], strict=True):
        values[f"family {family}"] = NO_YES[int(there)]
    values["intruders"] = str(int(state["intruders_left"]))
    values["discarded"] = str(int((state["where"] == DISCARD_PILE).sum()))
    for one in player_view.samurai(state):
        values[f"samurai {one.seat}"] = one.name
        values[f"side {one.seat}"] = "animal" if one.animal else "human"
        values[f"wounded {one.seat}"] = NO_YES[one.wounded]
        values[f"passed {one.seat}"] = NO_YES[one.passed]
        for symbol, card in zip(SYMBOLS, one.left, strict=True):
            values[f"left {one.seat} {symbol}"] = CARD_NAMES[1 + card.number] if card else NO_CARD
        for i, card in enumerate(one.line[:LINE], 1):
            values[f"line {one.seat} {i}"] = CARD_NAMES[1 + card.number]
    return values


def build(state: np.void, values: Mapping[str, str]) -> str | None:
    """Write the position into a state."""
    reset(state, state["seed"])
    clear_boards(state)
    known = _fields(state)
    index = dict.fromkeys(known, 0)  # of the value of each field
    for name, value in values.items():
        if name not in known:
            raise unknown_entry(name)
        index[name] = checked_value(name, value, known[name][2])
    n = int(state["players"])
    state["round"] = index["round"] + 1
    state["barricades"] = index["barricades"]
    state["farmsteads"] = [index[f"farmsteads {back}"] for back in BACKS]
    state["families"] = [index[f"family {family}"] for family in FAMILIES]
    seat, lines = index["turn"], [[index[f"line {s} {i}"] - 1 for i in range(1, LINE + 1)] for s in range(n)]
    names = [SAMURAI.index(known[f"samurai {s}"][2][index[f"samurai {s}"]]) for s in range(n)]
    left = [[known[name][2][index[name]] for symbol in SYMBOLS for name in (f"left {s} {symbol}",)] for s in range(n)]
    on_left = [[CARD_NAMES.index(words) - 1 for words in row] for row in left]
    _seat(state, names, index)
    problem = _twice(names) or _place(state, on_left, lines, index["intruders"], index["discarded"])
    problem = problem or _village_problem(state, seat)
    start(state, seat)
    state["choices"] = 0
    state["stage"] = CHOICE
    state["seat"] = state["mover"] = seat
    if problem is None:
        run_to_decision(state)
    return problem


def _twice(names: list[int]) -> str | None:
    for seat, who in enumerate(names):
        if who in names[:seat]:
            return f"{SAMURAI[who]} sits on two seats"
    return None


def _seat(state: np.void, names: list[int], index: Mapping[str, int]) -> None:
    """Samurai, sides, wounds, and who has passed."""
    n = len(names)
    state["who"][:n] = names
    state["seat_of"] = NOTHING
    state["passed"] = 0
    for seat, who in enumerate(names):
        state["seat_of"][who] = seat
        state["animal"][seat] = index[f"side {seat}"]
        state["wounded"][seat] = index[f"wounded {seat}"]
        state["passed"] |= index[f"passed {seat}"] << seat
    absent = sum(1 << who for who in range(MOST) if who not in names)
    state["open_tokens"] = absent if has_open_tokens(state) else 0


def _place(state: np.void, left: list[list[int]], lines: list[list[int]], intruders: int, discarded: int) -> str | None:
    """Lay the cards that are named, draw the others of the round, and share them out over the stacks."""
    named: list[int] = []
    for seat, row in enumerate(left):
        for symbol, card in enumerate(row):
            if card >= 0:
                if card in named:
                    return f"the card `{CARD_NAMES[card + 1]}` lies in two places"
                named.append(card)
                put_left(state, seat, symbol, card)
    for seat, line in enumerate(lines):
        for card in line:
            if card >= 0:
                if card in named:
                    return f"the card `{CARD_NAMES[card + 1]}` lies in two places"
                named.append(card)
                add_to_line(state, seat, card)
    rng = np.random.default_rng(int(state["seed"]))
    rest: list[int] = []
    for i in range(ROUNDS):
        group = range(int(FIRST[i]), int(FIRST[i + 1]))
        level = int(state["difficulty"])
        players = int(state["players"])
        joined = int(PLUNDERERS_EACH[level]) * players if i == 0 else players + int(EXTRA_OFFICERS[level])
        joined *= state["round"] > i
        here = [card for card in group if card in named]
        if len(here) > joined:
            words = f"cards of value {('1 to 4', '5', '6')[i]}"
            return f"{len(here)} {words} lie on the table, the game has {joined} of them in round {int(state['round'])}"
        others = [int(card) for card in rng.permutation([card for card in group if card not in named])]
        dolls = TWO_DOLLS - sum(SYMBOL[card] == DOLL for card in here)
        if i == 0 and state["round"] == 1 and has_open_tokens(state) and dolls > 0:
            others.sort(key=lambda card: SYMBOL[card] != DOLL)  # with few samurai two dolls are among the raiders
        rest += others[: joined - len(here)]
    if intruders + discarded >= len(rest):
        return f"{intruders} intruders and {discarded} discarded of {len(rest)} cards leave no raider"
    rest = [int(card) for card in rng.permutation(rest)]
    state["where"] = np.where(np.isin(np.arange(CARDS), named), state["where"], BOX)
    # What lies on the table is seen, and so is what was collected after an earlier round.
    earlier = np.arange(CARDS) < FIRST[int(state["round"]) - 1]
    state["known"] = UNSEEN
    for pile, where in (
        (rest[:intruders], INTRUDER_STACK),
        (rest[intruders : intruders + discarded], DISCARD_PILE),
        (rest[intruders + discarded :], RAIDERS),
    ):
        state["where"][pile] = where
    seen = (state["where"] != BOX) & (earlier | ~np.isin(state["where"], (INTRUDER_STACK, RAIDERS)))
    state["known"][seen] = 0
    state["intruders"] = 0
    state["intruders"][:intruders] = rest[:intruders]
    state["intruders_left"] = intruders
    raiders = rest[intruders + discarded :]
    state["raiders"] = 0
    state["raiders"][: len(raiders)] = raiders
    state["raiders_left"] = len(raiders)
    return None


def _village_problem(state: np.void, seat: int) -> str | None:
    """Why the game would be over, or the turn not begin."""
    if not state["farmsteads"].any():
        return "no farmstead is left, so the game would be over"
    if not state["families"].any():
        return "no family is left, so the game would be over"
    if int(state["passed"]) >> seat & 1:
        return f"seat {seat} has passed, so it is not to move"
    for s in range(int(state["players"])):
        name, kiai = SAMURAI[int(state["who"][s])], int(KIAI[state["who"][s], state["animal"][s]])
        if s == seat and state["total"][s] > kiai:
            return f"the combat line of {name} makes {int(state['total'][s])}, more than its Kiai: it can only pass"
        if state["total"][s] == kiai:
            return f"the combat line of {name} makes {int(state['total'][s])}, its Kiai: then the first card goes"
    return None


MOMENTS = "Positions are those at step B of a turn: the penalty of step A is behind the samurai to move."
EDITOR = Editor(MOMENTS, entries, read, build)
