"""A state in words: cards, samurai and the decision at hand, for pictures and text alike. Nobody has secrets here."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samurai_env.games.spirit.actions import PLAYER0
from samurai_env.games.spirit.notation import move_text
from samurai_env.games.spirit.rules.cards import (
    BACKS,
    CARD_ICONS,
    FAMILIES,
    FARMSTEADS,
    FLAMES,
    GRADES,
    ICONS,
    KIAI,
    LEVELS,
    ROUNDS,
    SAMURAI,
    SYMBOL,
    SYMBOLS,
    VALUE,
)
from samurai_env.games.spirit.rules.village import score
from samurai_env.games.spirit.state import DISCARD_PILE, PHASES, PLACE_KNOWN, RESULTS, WON

MOST_POINTS = int(FARMSTEADS.sum()) + len(FAMILIES) + 1  # as `village.score` counts

QUESTIONS = {
    "open_token": "uses an open token, or none",
    "penalty_order": "says which penalty comes first",
    "penalty": "suffers or ignores the penalty",
    "defender": "discards a card on the left",
    "action": "fights, supports or passes",
    "support_to": "lends the support token",
    "card": "decides where the card goes",
    "second_fight": "may fight again",
    "kiai": "may use the Kiai",
    "heal": "may heal a wound",
    "giver": "takes somebody's last card",
    "receiver": "gives that card to somebody",
    "placing": "puts the card left or right",
    "removal": "discards somebody's last card",
    "token": "chooses a support token",
    "token_to": "gives the token to somebody",
    "top": "puts opened raiders in order",
}


@dataclass(frozen=True)
class Card:
    """The print on a card: `icons` by name, `symbol` by name or empty; `number` tells cards apart."""

    number: int
    value: int
    symbol: str
    icons: tuple[str, ...]
    flames: bool

    @property
    def word(self) -> str:
        """Such as `3D(wound)*`: value, first letter of the symbol, icons, flames."""
        icons = f"({'+'.join(self.icons)})" if self.icons else ""
        return f"{self.value}{self.symbol[:1].upper() or '-'}{icons}{'*' if self.flames else ''}"


@dataclass(frozen=True)
class Samurai:
    """One samurai: `left` by symbol (None for none), `line` from the first card, `tokens` that help now."""

    seat: int
    name: str
    animal: bool
    wounded: bool
    passed: bool
    active: bool
    decides: bool
    total: int
    kiai: int
    left: tuple[Card | None, ...]
    line: tuple[Card, ...]
    token_home: bool
    tokens: tuple[str, ...]


def card(number: int) -> Card:
    """A card by its number."""
    icons = tuple(ICONS[icon] for icon in CARD_ICONS[number] if icon >= 0)
    symbol = SYMBOLS[SYMBOL[number]] if SYMBOL[number] >= 0 else ""
    return Card(int(number), int(VALUE[number]), symbol, icons, bool(FLAMES[number]))


def samurai(state: np.void) -> list[Samurai]:
    """All samurai, by seat."""
    over, found = bool(state["over"]), []
    for seat in range(int(state["players"])):
        who, line, number = int(state["who"][seat]), [], int(state["last"][seat])
        while number >= 0:
            line.append(card(number))
            number = int(state["beneath"][number])
        helping = int(state["borrowed"][seat]) | int(state["granted"][seat])
        found.append(
            Samurai(
                seat=seat,
                name=SAMURAI[who],
                animal=bool(state["animal"][seat]),
                wounded=bool(state["wounded"][seat]),
                passed=bool(state["passed"] >> seat & 1),
                active=seat == state["active"] and not over,
                decides=seat == state["seat"] and not over,
                total=int(state["total"][seat]),
                kiai=int(KIAI[who, state["animal"][seat]]),
                left=tuple(card(number) if number >= 0 else None for number in state["left"][seat]),
                line=tuple(line[::-1]),
                token_home=not state["away"] >> who & 1,
                tokens=tuple(name for i, name in enumerate(SAMURAI) if helping >> i & 1),
            )
        )
    return found


def title(state: np.void) -> str:
    """Samurai, level and round."""
    n = int(state["players"])
    return f"{n} samurai, {LEVELS[state['difficulty']]}, round {int(state['round'])} of {ROUNDS}"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def village(state: np.void) -> list[tuple[str, str]]:
    """List the parts of the village and the sizes of the stacks, as names and values."""
    raiders, intruders = (_count(int(state[f"{kind}s_left"]), kind) for kind in ("raider", "intruder"))
    backs = " ".join(f"{back}{int(count)}" for back, count in zip(BACKS, state["farmsteads"], strict=True))
    families = ", ".join(name for name, there in zip(FAMILIES, state["families"], strict=True) if there)
    discarded = int(np.sum(state["where"] == DISCARD_PILE))
    rows = [
        ("Barricades", f"{int(state['barricades'])} of {int(state['most_barricades'])}"),
        ("Farmsteads", f"{int(state['farmsteads'].sum())}  ({backs})"),
        ("Families", f"{int(state['families'].sum())}  ({families})"),
        ("Cards", f"{raiders}, {intruders}, {discarded} discarded"),
    ]
    if tokens := open_tokens(state):
        rows.append(("Open tokens", ", ".join(tokens)))
    return rows


def open_tokens(state: np.void) -> list[str]:
    """The samurai whose open tokens (two-player rules) are not yet used."""
    return [name for i, name in enumerate(SAMURAI) if state["open_tokens"] >> i & 1]


def opened(state: np.void) -> list[tuple[int, Card]]:
    """The raiders whose place is known: place from the top (1 is the top card) and card."""
    left = int(state["raiders_left"])
    stack = [(left - i, int(state["raiders"][i])) for i in range(left - 1, -1, -1)]
    return [(place, card(number)) for place, number in stack if state["known"][number] == PLACE_KNOWN]


def in_hand(state: np.void) -> Card | None:
    """The card that has been drawn and is not yet put away."""
    return card(int(state["card"])) if state["card"] >= 0 else None


def question(state: np.void) -> str:
    """What is decided now, a name of `state.PHASES`."""
    return PHASES[state["phase"]]


def last_move(state: np.void, last: Sequence[int]) -> str:
    """The last move in words, after it was made."""
    if not last:
        return ""
    mover = int(state["mover"])
    words = move_text(state, mover, [int(action) for action in last])
    passed_on = len(last) == 1 and last[0] >= PLAYER0
    return f"{SAMURAI[state['who'][mover]]}: {'card to ' if passed_on else ''}{words}"


def decision(state: np.void) -> str:
    """Describe the decision that is due and its seat, or how the game ended."""
    if state["over"]:
        result = int(state["result"])
        if result == WON:
            points, level = int(score(state)), state["difficulty"]
            return f"Victory: {points} of {MOST_POINTS} points at {LEVELS[level]}, score {points}{GRADES[level]}"
        return f"Lost in round {int(state['round'])}: {RESULTS[result].replace('_', ' ')}"
    name = SAMURAI[state["who"][state["seat"]]]
    turn = SAMURAI[state["who"][state["active"]]]
    words = f"{name} {QUESTIONS[PHASES[state['phase']]]}"
    return words if name == turn else f"{words} (turn of {turn})"
