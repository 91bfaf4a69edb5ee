"""Moves as text. A move is one decision, with those that name its target; samurai are called by their names:

fight                   a raider is drawn
attack, defend          where it goes
Kyuzo                   ... or who gets it
support Heihachi        the own support token goes there
kiai Kanbei Gorobei     Daisuke's Kiai: Kanbei's last card goes to Gorobei
kiai token.Kanbei Kyuzo Kyuzo's Kiai: Kanbei's support token goes to Kyuzo
first.wound             which of two icons comes first
none                    leave it at that
"""

from collections.abc import Sequence

import numpy as np

from samurai_env.games.spirit.actions import PLAYER0, names
from samurai_env.games.spirit.rules.cards import SAMURAI


def _samurai_from(state: np.void, seat: int) -> list[str]:
    """The names of the samurai, counted from a seat."""
    n = int(state["players"])
    return [SAMURAI[int(state["who"][(seat + i) % n])] for i in range(n)]


def move_text(state: np.void, seat: int, actions: Sequence[int]) -> str:
    """The text of a move that a seat makes or has made."""
    samurai, words = _samurai_from(state, seat), names(int(state["players"]))
    return " ".join(samurai[a - PLAYER0] if a >= PLAYER0 else words[a] for a in actions)


def format_move(before: np.void, actions: list[int]) -> str:
    """The text of one move.

    Args:
        before: the state (one element) before the move.
        actions: the action ids of the move, in order; one seat makes them all.
    """
    return move_text(before, int(before["seat"]), actions)


def parse_move(before: np.void, text: str) -> list[int]:
    """The action ids of a move written by `format_move`; legality is not looked at.

    Raises:
        ValueError: a word that names no action (the text says which), or no word at all.
    """
    ids = {name: i for i, name in enumerate(names(int(before["players"]))[:PLAYER0])}
    ids |= {name: PLAYER0 + i for i, name in enumerate(_samurai_from(before, int(before["seat"])))}
    words = text.split()
    for word in words:
        if word not in ids:
            raise ValueError(f"{word!r} in move {text!r} is no action and no samurai of this game")
    if not words:
        raise ValueError(f"move {text!r} names no action")
    return [ids[word] for word in words]
