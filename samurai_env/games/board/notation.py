"""Moves as text. A move is what the rulebook calls one, whatever the number of decisions:

pick H4                 a tile of the first hand
set c14r09.B            a figure placed in the set-up
S3 c14r12               a tile and its hex (ships alike)
TX c14r12 c13r11        token exchange: the tile on the first hex goes to the second
FX c14r11.B c12r12.R    figure exchange: the two figures change places
FX idle                 a figure exchange that changes nothing
end                     the end of the turn
"""

import numpy as np

from samurai_env.games.board.actions import names
from samurai_env.games.board.state import FIRST_HAND, SETUP


def format_move(before: np.void, actions: list[int]) -> str:
    """The text of one move.

    Args:
        before: the state (one element) before the move.
        actions: the action ids of the move, in order.
    """
    words = [names(before["hand"].shape[0])[action] for action in actions]
    prefix = {FIRST_HAND: ["pick"], SETUP: ["set"]}.get(int(before["phase"]), [])
    return " ".join(prefix + words)


def parse_move(before: np.void, text: str) -> list[int]:
    """The action ids of a move written by `format_move`; legality is not looked at.

    Raises:
        ValueError: a word that names no action, or a wrong first word; the text says which.
    """
    words = text.split()
    expected = {FIRST_HAND: "pick", SETUP: "set"}.get(int(before["phase"]))
    begun = bool(expected and words and words[0] == expected)
    words = words[begun:]
    ids = {name: i for i, name in enumerate(names(before["hand"].shape[0]))}
    for word in words:
        if word not in ids:
            raise ValueError(f"{word!r} in move {text!r} is no tile, hex or figure of this board")
    if expected and not begun:
        raise ValueError(f"move {text!r} should begin with {expected!r} here")
    if not words:
        raise ValueError(f"move {text!r} names no action")
    return [ids[word] for word in words]
