"""What of a record follows from its other fields, so that a forged one is found out."""

from collections.abc import Iterator

import numpy as np

from samurai_env.games.spirit.rules.cards import (
    CARDS,
    DOLL,
    EXTRA_OFFICERS,
    FIRST,
    MOST,
    PLUNDERERS_EACH,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
)
from samurai_env.games.spirit.rules.setup import ALWAYS, FEW, TWO_DOLLS
from samurai_env.games.spirit.state import (
    BOX,
    IN_HAND,
    INTRUDER_STACK,
    LEFT0,
    LINE0,
    PLACE_KNOWN,
    RAIDERS,
    RUNNING,
    UNSEEN,
)

NUMBERS = np.arange(CARDS)


def broken_invariants(records: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where records (shape (count,)) say otherwise there than in others."""
    where, seats = records["where"][:, None], np.arange(MOST)[:, None]
    who = records["who"]
    yield "who", (who < 0) != (seats[:, 0] >= records["players"][:, None])
    sits = who[:, None] == np.arange(len(SAMURAI))[:, None]
    yield "seat_of", records["seat_of"] != np.where(sits.any(2), sits.argmax(2), -1)

    for name, place in (("raiders", RAIDERS), ("intruders", INTRUDER_STACK)):
        used = records[f"{name}_left"][:, None] > NUMBERS
        times = (used[..., None] & (records[name][..., None] == NUMBERS)).sum(1)
        yield name, times != (records["where"] == place)
    yield "card", (records["card"][:, None] == NUMBERS) != (records["where"] == IN_HAND)
    for symbol in range(len(SYMBOLS)):
        lies = (where == LEFT0 + seats) & (symbol == SYMBOL)
        yield "left", (records["left"][:, :, symbol, None] == NUMBERS) != lies

    line = where == LINE0 + seats
    yield "total", records["total"] != (line * VALUE.astype(np.int64)).sum(2)
    # From the last card of a line each lies on the one before: all but the last have one card on them.
    beneath = (records["beneath"][:, :, None] == NUMBERS) & (records["where"][:, :, None] >= LINE0)
    yield "last", (records["last"] < 0) == line.any(2)
    last = (records["last"][..., None] == NUMBERS).sum(1)
    yield "beneath", beneath.sum(1) + last != line.any(1)
    yield "beneath", beneath.any(1) & (np.take_along_axis(records["where"], beneath.argmax(1), 1) != records["where"])

    yield "choices", (records["choices"] > 0) == records["over"]
    yield "result", (records["result"] != RUNNING) != records["over"]
    yield from _hidden(records)


def _hidden(records: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """As many cards of each kind are in the game as the level says, and each lies where what is known allows."""
    where, known, turn = records["where"], records["known"], records["round"].astype(np.int64)[:, None]
    box, level, players = where == BOX, records["difficulty"], records["players"].astype(np.int64)
    for i in range(3):
        joined = PLUNDERERS_EACH[level] * players if i == 0 else players + EXTRA_OFFICERS[level]
        in_game = (~box)[:, FIRST[i] : FIRST[i + 1]].sum(1)
        yield "where", in_game != joined * (turn[:, 0] > i)
    open_tokens = (players <= FEW) | (records["two_player_rules"] == ALWAYS)
    dolls = (~box & (SYMBOL == DOLL) & (FIRST[1] > NUMBERS)).sum(1)
    yield "where", open_tokens & (turn[:, 0] == 1) & (dolls < TWO_DOLLS)

    in_stack, placed = (where == RAIDERS) | (where == INTRUDER_STACK), known == PLACE_KNOWN
    yield "known", box & (known != UNSEEN)
    yield "known", ~box & (known == UNSEEN) & (~in_stack | (FIRST[turn - 1] > NUMBERS))
    yield "known", placed & ~in_stack
    yield "known", ~placed & (known > records["recycles"][:, None])
    arrived, used = records["arrived"], records["intruders_left"][:, None] > NUMBERS
    yield "arrived", used & (arrived > records["recycles"][:, None])
    yield "arrived", used[:, 1:] & (arrived[:, 1:] < arrived[:, :-1])
    of_place = np.take_along_axis(known, records["intruders"].astype(np.int64), 1)
    yield "arrived", used & (of_place != PLACE_KNOWN) & (of_place > arrived)
