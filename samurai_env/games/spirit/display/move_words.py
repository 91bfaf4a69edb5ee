"""Moves as phrases for readers: what the samurai does, in the third person, with its name."""

import numpy as np

from samurai_env.games.spirit.actions import (
    ATTACK,
    DEFEND,
    FIGHT,
    ICON0,
    KIAI,
    NONE,
    PLAYER0,
    SUPPORT,
    SYMBOL0,
    TOKEN0,
    TOP0,
    WORDS,
    names,
)
from samurai_env.games.spirit.display import player_view
from samurai_env.games.spirit.rules.cards import SAMURAI, SYMBOLS

DOES = {
    "fight": "fights: draws a raider",
    "support": "lends the token",
    "pass": "is out of this round",
    "attack": "puts {card} into the combat line",
    "defend": "defends with {card}",
    "discard": "discards {card}",
    "replace": "puts {card} under the raiders, draws another",
    "suffer": "suffers the penalty",
    "ignore": "ignores the penalty",
    "kiai": "uses the Kiai",
    "none": "leaves it at that",
}
ON_SAMURAI = {  # what naming a samurai does, by the question that is asked
    "support_to": "lends the token to",
    "card": "passes {card} on to",
    "heal": "heals",
    "giver": "takes the last card of",
    "receiver": "gives the card to",
    "removal": "discards the last card of",
    "token_to": "gives the token to",
}


def move_words(before: np.void, actions: list[int]) -> str:
    """What the samurai that decides does.

    Args:
        before: the state (one element) before the move.
        actions: the action ids of the move, in order; one seat makes them all.
    """
    n, seat = int(before["players"]), int(before["seat"])
    held = player_view.in_hand(before)
    card = f"card {held.value}{f' ({held.symbol})' if held.symbol else ''}" if held else "the card"
    samurai = [SAMURAI[int(before["who"][(seat + i) % n])] for i in range(n)]
    first, rest = actions[0], [_name(action, samurai) for action in actions[1:]]
    question = player_view.question(before)
    if first >= PLAYER0:
        does = f"{ON_SAMURAI.get(question, 'chooses')} {samurai[first - PLAYER0]}"
    elif first >= ICON0:
        does = f"suffers first: {names(n)[first].removeprefix('first.').replace('_', ' ')}"
    elif first >= TOP0:
        does = f"opened card {first - TOP0 + 1} lies next"
    elif first >= SYMBOL0:
        does = f"discards the card at the {SYMBOLS[first - SYMBOL0]}"
    elif first >= TOKEN0:
        does = f"uses the token of {SAMURAI[first - TOKEN0]}"
    elif first == FIGHT and question == "second_fight":
        does = "fights again: draws a raider"
    else:
        does = DOES[WORDS[first]]
    if rest and first in (SUPPORT, KIAI):
        does += f"{': ' if first == KIAI else ' to '}{', then '.join(rest)}"
    return f"{samurai[0]} {does.format(card=card)}"


def _name(action: int, samurai: list[str]) -> str:
    """What an action after the first names."""
    if action >= PLAYER0:
        return samurai[action - PLAYER0]
    if TOKEN0 <= action < SYMBOL0:
        return f"the token of {SAMURAI[action - TOKEN0]}"
    return {ATTACK: "into the combat line", DEFEND: "to the left", NONE: "no more"}.get(action, "on")
