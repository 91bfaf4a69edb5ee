"""Moves as phrases for readers: what the seat does, in the third person, without its number."""

import numpy as np

from samurai_env.games.card.actions import CELL0, CHOICE0
from samurai_env.games.card.display import player_view
from samurai_env.games.card.display.targets import SIDE_WORDS
from samurai_env.games.card.rules.cards import KINDS
from samurai_env.games.card.rules.topology import SIDES


def move_words(before: np.void, actions: list[int]) -> str:
    """What the seat to move does; of a half-made move as much as there is.

    Args:
        before: the state (one element) before the move.
        actions: the action ids of the move, in order.
    """
    card = next((player_view.kind_text(action) for action in actions if action < KINDS), "")
    cell = player_view.laid_cell(actions)
    words = []
    if cell is not None:
        words.append(f"lays {card or 'the card'} {SIDE_WORDS[SIDES[cell % 4]]} of v{cell // 4}")
    elif card:
        words.append(f"chooses {card}")
    for action in actions:
        if CHOICE0 <= action < CELL0:
            words.append(f"the village card goes to the {('first', 'second')[action - CHOICE0]} of two places")
    return "; ".join(words)
