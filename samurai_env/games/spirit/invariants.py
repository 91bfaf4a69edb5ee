"""What of a state follows from its other fields, so that a forged one is found out."""

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


def broken_invariants(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Names of fields, and where states (shape (count,)) say otherwise there than in others."""
    where, seats = states["where"][:, None], np.arange(MOST)[:, None]
    who = states["who"]
    yield "who", (who < 0) != (seats[:, 0] >= states["players"][:, None])
    sits = who[:, None] == np.arange(len(SAMURAI))[:, None]
    yield "seat_of", states["seat_of"] != np.where(sits.any(2), sits.argmax(2), -1)

    for name, place in (("raiders", RAIDERS), ("intruders", INTRUDER_STACK)):
        used = states[f"{name}_left"][:, None] > NUMBERS
        times = (used[..., None] & (states[name][..., None] == NUMBERS)).sum(1)
        yield name, times != (states["where"] == place)
    yield "card", (states["card"][:, None] == NUMBERS) != (states["where"] == IN_HAND)
    for symbol in range(len(SYMBOLS)):
        lies = (where == LEFT0 + seats) & (symbol == SYMBOL)
        yield "left", (states["left"][:, :, symbol, None] == NUMBERS) != lies

    line = where == LINE0 + seats
    yield "total", states["total"] != (line * VALUE.astype(np.int64)).sum(2)
    # From the last card of a line each lies on the one before: all but the last have one card on them.
    beneath = (states["beneath"][:, :, None] == NUMBERS) & (states["where"][:, :, None] >= LINE0)
    yield "last", (states["last"] < 0) == line.any(2)
    last = (states["last"][..., None] == NUMBERS).sum(1)
    yield "beneath", beneath.sum(1) + last != line.any(1)
    yield "beneath", beneath.any(1) & (np.take_along_axis(states["where"], beneath.argmax(1), 1) != states["where"])

    yield "choices", (states["choices"] > 0) == states["over"]
    yield "result", (states["result"] != RUNNING) != states["over"]
    yield from _hidden(states)


def _hidden(states: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """As many cards of each kind are in the game as the level says, and each lies where what is known allows."""
    where, known, turn = states["where"], states["known"], states["round"].astype(np.int64)[:, None]
    box, level, players = where == BOX, states["difficulty"], states["players"].astype(np.int64)
    for i in range(3):
        joined = PLUNDERERS_EACH[level] * players if i == 0 else players + EXTRA_OFFICERS[level]
        in_game = (~box)[:, FIRST[i] : FIRST[i + 1]].sum(1)
        yield "where", in_game != joined * (turn[:, 0] > i)
    open_tokens = (players <= FEW) | (states["two_player_rules"] == ALWAYS)
    dolls = (~box & (SYMBOL == DOLL) & (FIRST[1] > NUMBERS)).sum(1)
    yield "where", open_tokens & (turn[:, 0] == 1) & (dolls < TWO_DOLLS)

    in_stack, placed = (where == RAIDERS) | (where == INTRUDER_STACK), known == PLACE_KNOWN
    yield "known", box & (known != UNSEEN)
    yield "known", ~box & (known == UNSEEN) & (~in_stack | (FIRST[turn - 1] > NUMBERS))
    yield "known", placed & ~in_stack
    yield "known", ~placed & (known > states["recycles"][:, None])
    arrived, used = states["arrived"], states["intruders_left"][:, None] > NUMBERS
    yield "arrived", used & (arrived > states["recycles"][:, None])
    yield "arrived", used[:, 1:] & (arrived[:, 1:] < arrived[:, :-1])
    of_place = np.take_along_axis(known, states["intruders"].astype(np.int64), 1)
    yield "arrived", used & (of_place != PLACE_KNOWN) & (of_place > arrived)
