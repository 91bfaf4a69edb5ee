"""Clickable targets on the table, and descriptions of the actions."""

import numpy as np

from samurai_env.games.spirit.actions import ATTACK, DEFEND, PLAYER0, SYMBOL0, TOKEN0, TOP0, TOPS, names
from samurai_env.games.spirit.display import player_view
from samurai_env.games.spirit.display.card_texts import PENALTIES, TALENTS
from samurai_env.games.spirit.display.player_view import Card, Samurai
from samurai_env.games.spirit.rules.cards import ANIMAL, HUMAN, SAMURAI, SYMBOLS

WORDS = {
    "fight": "fight: draw the top raider",
    "support": "support: lend the token",
    "pass": "pass: be out of this round",
    "attack": "attack: the card goes right, into the combat line",
    "defend": "defend: the card goes left",
    "discard": "discard the card (talent)",
    "replace": "put the card under the raiders, draw another (talent)",
    "suffer": "suffer the penalty",
    "ignore": "ignore the penalty (talent)",
    "kiai": "use the Kiai",
    "none": "leave it at that",
}
ON_SEAT = {  # what naming a samurai does, by the question that is asked
    "support_to": "lend the token to",
    "card": "pass the card on to",
    "heal": "heal",
    "giver": "take the last card of",
    "receiver": "give the card to",
    "removal": "discard the last card of",
    "token_to": "give the token to",
}


def card_text(card: Card) -> str:
    """Such as `value 3, doll, wound, flames`."""
    words = [f"value {card.value}", card.symbol, *(icon.replace("_", " ") for icon in card.icons)]
    return ", ".join(filter(None, [*words, "flames" if card.flames else ""]))


def samurai_text(one: Samurai) -> str:
    """Name, state and talents of a samurai."""
    talent, *kiai = TALENTS[one.name]
    state = ["animal" if one.animal else "human", *(["wounded"] if one.wounded else [])]
    state += ["passed"] if one.passed else []
    effect = kiai[ANIMAL if one.animal else HUMAN]
    return f"{one.name} ({', '.join(state)}), {one.total} of Kiai {one.kiai}; may {talent}; Kiai: {effect}"


def seat_actions(state: np.void, seat: int) -> tuple[int, ...]:
    """The action that names a samurai."""
    return (PLAYER0 + (seat - int(state["seat"])) % int(state["players"]),)


def left_actions(state: np.void, one: Samurai, symbol: int) -> tuple[int, ...]:
    """To discard the card there; to put the card in hand there."""
    if not one.decides:
        return ()
    held = player_view.in_hand(state)
    defends = (DEFEND,) if held and held.symbol == SYMBOLS[symbol] else ()
    return (*defends, SYMBOL0 + symbol)


def line_actions(one: Samurai) -> tuple[int, ...]:
    """To put the card in hand there."""
    return (ATTACK,) if one.decides else ()


def labels(state: np.void) -> dict[int, str]:
    """Describe each action in words, by id; those of illegal actions mean nothing."""
    n = int(state["players"])
    all_names, samurai = names(n), player_view.samurai(state)
    question = player_view.question(state)
    words = {action: WORDS[name] for action, name in enumerate(all_names[:TOKEN0])}
    held = player_view.in_hand(state)
    if held and held.symbol:
        words[DEFEND] = f"defend: the card goes left, to the {held.symbol}"
    if question == "second_fight":
        words[0] = "fight again (talent)"
    words |= {TOKEN0 + i: f"the token of {name}" for i, name in enumerate(SAMURAI)}
    words |= {SYMBOL0 + i: f"discard the card at the {symbol}" for i, symbol in enumerate(SYMBOLS)}
    words |= {TOP0 + i: f"opened card {i + 1} lies next" for i in range(TOPS)}
    for action in range(TOP0 + TOPS, PLAYER0):
        icon = all_names[action].removeprefix("first.")
        words[action] = f"first: {icon.replace('_', ' ')} ({PENALTIES[icon]})"
    seat = int(state["seat"])
    for i in range(n):
        name = samurai[(seat + i) % n].name
        words[PLAYER0 + i] = f"{ON_SEAT.get(question, 'choose')} {name}"
    return words
