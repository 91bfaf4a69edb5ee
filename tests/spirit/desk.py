"""A table for Samurai Spirit on which positions are laid out by hand: tests of single rules read like examples."""

import numpy as np

from samurai_env.core.game import find_game
from samurai_env.games.spirit.actions import PLAYER0
from samurai_env.games.spirit.rules import turn
from samurai_env.games.spirit.rules.cards import BACKS, CARD_NAMES, FAMILIES, SAMURAI, SYMBOL, VALUE
from samurai_env.games.spirit.rules.kernels import run_to_decision
from samurai_env.games.spirit.state import (
    BOX,
    DISCARD_PILE,
    INTRUDER_STACK,
    LEFT0,
    LINE0,
    PHASES,
    RAIDERS,
    RESULTS,
    STAGES,
    UNSEEN,
)
from samurai_env.position import Position

GAME = find_game("samurai_spirit")
CARD = {name: i for i, name in enumerate(CARD_NAMES)}


class Desk:
    """One game whose state is set by hand and then played by the names of the actions."""

    def __init__(self, *samurai: str, difficulty: str = "normal", **options) -> None:
        """A game of these samurai, seat by seat, with empty stacks, an untouched village and seat 0 to move."""
        variant = GAME.variant(len(samurai), samurai=samurai, difficulty=difficulty, **options)
        self.position = Position(variant, 1)
        self.names = variant.action_names
        self.r = self.position.states[0]
        r = self.r
        r["where"], r["known"] = BOX, UNSEEN
        r["raiders_left"] = r["intruders_left"] = 0
        r["open_tokens"] = 0
        r["choices"] = 0

    # ------------------------------------------------------------ laying out

    def raiders(self, *cards: str) -> "Desk":
        """The raider stack, top card first."""
        return self._stack("raiders", RAIDERS, cards)

    def intruders(self, *cards: str) -> "Desk":
        """The intruder stack, top card first."""
        return self._stack("intruders", INTRUDER_STACK, cards)

    def _stack(self, name: str, zone: int, cards: tuple[str, ...]) -> "Desk":
        for i, card in enumerate(reversed(cards)):
            self.r[name][i] = CARD[card]
            self.r["where"][CARD[card]] = zone
            self.r["known"][CARD[card]] = 0
        self.r[f"{name}_left"] = len(cards)
        return self

    def discards(self, *cards: str) -> "Desk":
        """The discard pile."""
        for card in cards:
            self.r["where"][CARD[card]] = DISCARD_PILE
        return self

    def line(self, seat: int, *cards: str) -> "Desk":
        """A combat line, first card first."""
        before = -1
        for card in cards:
            self.r["beneath"][CARD[card]] = before
            before = CARD[card]
            self.r["where"][before] = LINE0 + seat
        self.r["last"][seat] = before
        self.r["total"][seat] = sum(int(VALUE[CARD[card]]) for card in cards)
        return self

    def left(self, seat: int, *cards: str) -> "Desk":
        """The cards on the left of a board."""
        for card in cards:
            self.r["left"][seat, SYMBOL[CARD[card]]] = CARD[card]
            self.r["where"][CARD[card]] = LEFT0 + seat
        return self

    def board(self, seat: int, wounds: int) -> "Desk":
        """The wounds that a samurai has taken, 0 to 3."""
        self.r["animal"][seat], self.r["wounded"][seat] = divmod(wounds, 2)
        return self

    def passed(self, *seats: int) -> "Desk":
        """Who is out of the round."""
        self.r["passed"] = sum(1 << seat for seat in seats)
        return self

    def village(
        self, barricades: int | None = None, farmsteads: str | None = None, families: tuple[str, ...] | None = None
    ) -> "Desk":
        """What stands: barricades, farmsteads by the letters of their backs, families by bonus."""
        if barricades is not None:
            self.r["barricades"] = barricades
        if farmsteads is not None:
            self.r["farmsteads"] = [farmsteads.count(back) for back in BACKS]
        if families is not None:
            self.r["families"] = [family in families for family in FAMILIES]
        return self

    def open(self, *samurai: str) -> "Desk":
        """Open support tokens."""
        self.r["open_tokens"] = sum(1 << SAMURAI.index(name) for name in samurai)
        return self

    def lend(self, samurai: str, seat: int) -> "Desk":
        """A support token lies on loan with a seat."""
        turn.lend(self.r, SAMURAI.index(samurai), seat)
        return self

    def start(self, seat: int = 0) -> "Desk":
        """Begin the turn of a seat."""
        self.r["choices"] = 0
        turn.start(self.r, seat)
        run_to_decision(self.r)
        return self

    # ------------------------------------------------------------ playing and looking

    def play(self, *actions: str) -> "Desk":
        """Make decisions, each legal; a samurai is named by name."""
        for action in actions:
            self.position.step(self.id(action))
        return self

    def id(self, action: str) -> int:
        """The id of an action of the seat to move."""
        if action in SAMURAI:
            n = int(self.r["players"])
            return PLAYER0 + (int(self.r["seat_of"][SAMURAI.index(action)]) - self.position.seat) % n
        return self.names.index(action)

    def legal(self) -> set[str]:
        """The names of the legal actions, samurai by name."""
        n, found = int(self.r["players"]), set()
        for action in self.position.legal_actions():
            if action >= PLAYER0:
                found.add(SAMURAI[self.r["who"][(self.position.seat + action - PLAYER0) % n]])
            else:
                found.add(self.names[action])
        return found

    @property
    def phase(self) -> str:
        return PHASES[self.r["phase"]]

    @property
    def stage(self) -> str:
        return STAGES[self.r["stage"]]

    @property
    def result(self) -> str:
        return RESULTS[self.r["result"]]

    def wounds(self, seat: int) -> int:
        """Wounds taken, 0 to 3."""
        return 2 * int(self.r["animal"][seat]) + int(self.r["wounded"][seat])

    def line_of(self, seat: int) -> list[str]:
        """A combat line, first card first."""
        cards, card = [], int(self.r["last"][seat])
        while card >= 0:
            cards.append(CARD_NAMES[card])
            card = int(self.r["beneath"][card])
        assert sum(int(VALUE[CARD[c]]) for c in cards) == self.r["total"][seat]
        return cards[::-1]

    def left_of(self, seat: int) -> set[str]:
        """The cards on the left."""
        return {CARD_NAMES[card] for card in self.r["left"][seat] if card >= 0}

    def stack(self, name: str) -> list[str]:
        """`raiders` or `intruders`, top card first."""
        return [CARD_NAMES[card] for card in self.r[name][: self.r[f"{name}_left"]][::-1]]

    def discarded(self) -> set[str]:
        """The discard pile."""
        return {CARD_NAMES[card] for card in np.flatnonzero(self.r["where"] == DISCARD_PILE)}

    def farmsteads(self) -> int:
        return int(self.r["farmsteads"].sum())

    def families(self) -> int:
        return int(self.r["families"].sum())

    def token_at(self, samurai: str) -> str | None:
        """With whom a support token lies on loan, None at home."""
        index = SAMURAI.index(samurai)
        for seat in range(self.r["players"]):
            if self.r["borrowed"][seat] >> index & 1:
                return SAMURAI[self.r["who"][seat]]
        return None
