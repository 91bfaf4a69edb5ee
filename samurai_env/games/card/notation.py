"""Moves as text. A move is what the rulebook calls one, whatever the number of decisions:

B3 v4E                  a card and its cell: the east side of village 4
B3 v4E cell1            the same, and which of two places gets the top village card
"""

import numpy as np

from samurai_env.games.card.actions import names


def format_move(before: np.void, actions: list[int]) -> str:
    """The text of one move.

    Args:
        before: the state (one element) before the move.
        actions: the action ids of the move, in order.
    """
    return " ".join(names(before["hand"].shape[0])[action] for action in actions)


def parse_move(before: np.void, text: str) -> list[int]:
    """The action ids of a move written by `format_move`; legality is not looked at.

    Raises:
        ValueError: a word that names no action, or no word at all; the text says which.
    """
    ids = {name: i for i, name in enumerate(names(before["hand"].shape[0]))}
    words = text.split()
    for word in words:
        if word not in ids:
            raise ValueError(f"{word!r} in move {text!r} is no card, cell or choice of this game")
    if not words:
        raise ValueError(f"move {text!r} names no action")
    return [ids[word] for word in words]
