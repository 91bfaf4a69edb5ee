"""Samurai: The Card Game, written to be read next to the rules, not to be fast.

This is a reference for tests: a slow, independent second opinion on the rules. Nothing is
cached; the board is a dictionary and every question is answered by looking at the board again.

Words. A *kind* of influence card is a letter and a value: "H3" (helmet), "B2" (buddha), "R4"
(rice), "S1" (samurai, a joker for all shapes). A *village card* is a string of its symbols in
the order H, B, R: "H", "HB", "HBR". Cells are (x, y), x growing east and y growing south; the
first village lies at (0, 0).

A turn is a few small decisions, each a string:
  phase "card"     the kind of the card to lay, "B3"
  phase "cell"     where: "v4E" is the cell east of the village laid fifth (counting from v0); a
                   cell beside several villages is named after the one that was laid first
  phase "village"  only when two cells wait for a village: the cell that gets the top card; the
                   two cells sorted by (y, x) are "cell0" and "cell1"
"""

import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Cell = tuple[int, int]

CARDS_FILE = Path(__file__).resolve().parents[2] / "samurai_env" / "games" / "card" / "data" / "cards.json"
SHAPES = "HBR"
LETTER = {"helmet": "H", "buddha": "B", "rice": "R", "samurai": "S"}
SIDES: dict[str, Cell] = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
HAND_SIZE = 5


def load_cards(path: Path | None = None) -> tuple[list[str], list[str]]:
    """The influence cards of one player, and all the village cards."""
    data = json.loads(Path(path or CARDS_FILE).read_text(encoding="utf-8"))
    influence = [LETTER[c["type"]] + str(c["value"]) for c in data["influence_cards"]["cards"]]
    villages = [
        village_card(LETTER[symbol] for symbol in c["symbols"])
        for c in data["village_cards"]["cards"]
        for _ in range(c["count"])
    ]
    return influence, villages


def village_card(symbols: Iterable[str]) -> str:
    """One spelling for a village card: its symbols in the order H, B, R."""
    symbols = set(symbols)
    if not symbols or not symbols <= set(SHAPES):
        raise ValueError(f"not a village card: {sorted(symbols)}")
    return "".join(shape for shape in SHAPES if shape in symbols)


def influence_set(players: int, influence: list[str]) -> list[str]:
    """With four players each removes one samurai 1 and one samurai 2."""
    cards = list(influence)
    if players == 4:
        cards.remove("S1")
        cards.remove("S2")
    return cards


def deal(
    players: int, rng: random.Random, cards: tuple[list[str], list[str]] | None = None
) -> tuple[list[list[str]], list[str]]:
    """Every player shuffles his own cards; the village cards are shuffled too."""
    influence, villages = cards or load_cards()
    own = influence_set(players, influence)
    orders = [rng.sample(own, len(own)) for _ in range(players)]
    return orders, rng.sample(villages, len(villages))


def stone_supply(players: int) -> int:
    """16 stones of each shape; with two players six of each stay in the box."""
    return 10 if players == 2 else 16


def step(cell: Cell, side: str) -> Cell:
    return cell[0] + SIDES[side][0], cell[1] + SIDES[side][1]


def around(cell: Cell) -> list[Cell]:
    """The four cells orthogonally next to a cell, in the order N, E, S, W."""
    return [step(cell, side) for side in SIDES]


def sole_highest(amounts: dict[int, int]) -> int | None:
    """The seat with more than every other seat; None in a tie for the most."""
    best = max(amounts.values())
    holders = [seat for seat, amount in amounts.items() if amount == best]
    return holders[0] if len(holders) == 1 else None


def winners_of(stones: list[Counter]) -> list[int]:
    """The seats that share the victory, given every seat's stones at the end."""
    seats = range(len(stones))
    majorities: dict[int, list[str]] = {seat: [] for seat in seats}
    for shape in SHAPES:
        # A majority is more stones of the shape than every other player; a tie is none.
        holder = sole_highest({seat: stones[seat][shape] for seat in seats})
        if holder is not None:
            majorities[holder].append(shape)
    # Majority in two or three shapes: the winner, whatever the others have.
    for seat in seats:
        if len(majorities[seat]) >= 2:
            return [seat]
    # Without a majority nobody wins. If that is true of all players, all share (ruling).
    contenders = [seat for seat in seats if majorities[seat]]
    if not contenders:
        return list(seats)

    # The stones of the own majority shape are set aside and those of the two other shapes
    # counted; if these are level, more stones in the own majority shape; then a shared win.
    def worth(seat: int) -> tuple[int, int]:
        own_shape = majorities[seat][0]
        others = sum(stones[seat][shape] for shape in SHAPES if shape != own_shape)
        return others, stones[seat][own_shape]

    best = max(worth(seat) for seat in contenders)
    return [seat for seat in contenders if worth(seat) == best]


class CardGame:
    """One play. Seat `first` has the first turn; seats follow one another clockwise."""

    def __init__(self, players: int, orders: list[list[str]], villages: list[Iterable[str]], first: int = 0):
        """orders: each seat's own cards in stack order; villages: the village stack in order."""
        if players not in (2, 3, 4) or len(orders) != players:
            raise ValueError("2 to 4 players, one order of cards for each")
        if len({len(order) for order in orders}) != 1:
            raise ValueError("all players have equally many cards")
        if first not in range(players):
            raise ValueError(f"no such seat: {first}")
        self.players = players
        self.first = first
        self.seat = first
        self.phase = "card"  # "card", "cell", "village" or "over"
        self.end_called = False
        # Each player draws the first five cards of his stack.
        self.hands = [Counter(order[:HAND_SIZE]) for order in orders]
        self.stacks = [list(order[HAND_SIZE:]) for order in orders]
        self.stones = [Counter(dict.fromkeys(SHAPES, 0)) for _ in range(players)]
        self.stones_left = Counter({shape: stone_supply(players) for shape in SHAPES})
        self.chosen: str | None = None  # the kind to lay; in the hand until laid
        self.candidates: list[Cell] = []  # the two cells of a village choice
        self.board: dict[Cell, tuple] = {}  # ("village", symbols) or ("card", seat, kind)
        self.village_cells: list[Cell] = []  # in the order of laying
        self.village_stack = [village_card(village) for village in villages]
        # The top village card goes to the middle.
        self._lay_village((0, 0))

    # ---- looking at the position -------------------------------------------------------------

    @property
    def over(self) -> bool:
        return self.phase == "over"

    @property
    def village_top(self) -> str | None:
        """The open top card of the village stack; during a village choice, the card to lay."""
        return self.village_stack[0] if self.village_stack else None

    @property
    def village_next(self) -> str | None:
        """The card below the top one: seen only while the mover decides between two cells."""
        if self.phase == "village" and len(self.village_stack) >= 2:
            return self.village_stack[1]
        return None

    @property
    def villages_left(self) -> int:
        """Cards in the village stack, its open top card included."""
        return len(self.village_stack)

    def is_village(self, cell: Cell) -> bool:
        return cell in self.board and self.board[cell][0] == "village"

    def open_cells(self) -> dict[str, Cell]:
        """Name -> cell, for the free cells orthogonally next to at least one village."""
        names: dict[Cell, str] = {}
        for index, village in enumerate(self.village_cells):
            for side in SIDES:
                cell = step(village, side)
                if cell not in self.board and cell not in names:
                    names[cell] = f"v{index}{side}"
        return {name: cell for cell, name in names.items()}

    def legal(self) -> set[str]:
        if self.phase == "card":
            return {kind for kind, count in self.hands[self.seat].items() if count > 0}
        if self.phase == "cell":
            return set(self.open_cells())
        if self.phase == "village":
            return {"cell0", "cell1"}
        return set()

    # ---- a turn ------------------------------------------------------------------------------

    def apply(self, action: str) -> None:
        if action not in self.legal():
            raise ValueError(f"{action!r} is not legal in phase {self.phase!r}")
        if self.phase == "card":
            self.chosen = action
            self.phase = "cell"
        elif self.phase == "cell":
            self._lay_card(self.open_cells()[action])
        else:
            first = self.candidates[int(action[-1])]
            second = self.candidates[1 - int(action[-1])]
            self._lay_new_villages([first, second])

    def _lay_card(self, cell: Cell) -> None:
        # 1. Lay one card from the hand.
        hand = self.hands[self.seat]
        hand[self.chosen] -= 1
        if not hand[self.chosen]:
            del hand[self.chosen]
        self.board[cell] = ("card", self.seat, self.chosen)
        self.chosen = None
        # 2. Villages whose four sides are now filled are scored; this comes before new villages.
        for village in around(cell):
            if self.is_village(village):
                self._score_if_surrounded(village)
        # 3. New villages. With several cells the mover chooses, even if one card is left (then
        #    he chooses the only village's cell); with an empty stack there is nothing to choose.
        new_cells = self._new_village_cells(cell)
        if len(new_cells) == 2 and self.village_stack:
            self.candidates = new_cells
            self.phase = "village"
        else:
            self._lay_new_villages(new_cells)

    def _new_village_cells(self, card: Cell) -> list[Cell]:
        """For each village beside the card just laid, look at its two sides at a right angle to
        that card. Where one holds another player's card, and the cell between the two cards
        (diagonal to the village) is free, a village is due. Only villages that lay there when
        the card was played are looked at: all are found before any new one is laid."""
        owner = self.board[card][1]
        found: set[Cell] = set()
        for village in around(card):
            if not self.is_village(village):
                continue
            for other in around(village):
                right_angle = other[0] != card[0] and other[1] != card[1]
                if not right_angle or other not in self.board or self.board[other][1] == owner:
                    continue
                # The two cards have two common neighbours: the village, and the cell between.
                between = (card[0] + other[0] - village[0], card[1] + other[1] - village[1])
                if between not in self.board:
                    found.add(between)
        return sorted(found, key=lambda cell: (cell[1], cell[0]))

    def _lay_new_villages(self, cells: list[Cell]) -> None:
        for cell in cells:
            if self.village_stack:  # with the stack empty none is laid
                self._lay_village(cell)
        self._end_turn()

    def _lay_village(self, cell: Cell) -> None:
        self.board[cell] = ("village", self.village_stack.pop(0))
        self.village_cells.append(cell)
        # A new village in a cell with four filled sides is scored at once.
        self._score_if_surrounded(cell)

    def _score_if_surrounded(self, village: Cell) -> None:
        cards = [self.board[side] for side in around(village) if side in self.board]
        if len(cards) < 4:
            return
        # For each symbol on the village each player's adjacent cards of that symbol plus his
        # samurai are added; the sole highest takes a stone of that shape, a tie takes none.
        for shape in self.board[village][1]:
            influence = dict.fromkeys(range(self.players), 0)
            for _, owner, kind in cards:
                if kind[0] in (shape, "S"):
                    influence[owner] += int(kind[1:])
            winner = sole_highest(influence)
            if winner is not None:
                # Scored also when the shape has run out: stones beyond the supply count alike.
                self.stones[winner][shape] += 1
                self.stones_left[shape] = max(0, self.stones_left[shape] - 1)

    def _end_turn(self) -> None:
        self.candidates = []
        # 4. Draw back to five while the stack lasts.
        hand, stack = self.hands[self.seat], self.stacks[self.seat]
        while stack and hand.total() < HAND_SIZE:
            hand[stack.pop(0)] += 1
        # The end is called when a shape's supply is used up, or the last village card is taken,
        # or everyone has laid his last card.
        if (
            any(self.stones_left[shape] == 0 for shape in SHAPES)
            or not self.village_stack
            or not any(held.total() for held in self.hands)
        ):
            self.end_called = True
        # The round is played out, so that all have had equally many turns. But when nobody has
        # a legal cell (the legal cells are the same for all) the game ends at once.
        round_complete = (self.seat + 1) % self.players == self.first
        if (self.end_called and round_complete) or not self.open_cells():
            self.phase = "over"
        else:
            self.seat = (self.seat + 1) % self.players
            self.phase = "card"

    # ---- the result --------------------------------------------------------------------------

    def winners(self) -> list[int]:
        """The seats that share the victory; empty before the end."""
        return winners_of(self.stones) if self.over else []

    def returns(self) -> list[float]:
        """(n * share - 1) / (n - 1): a sole winner has +1, an all-way tie 0; zero-sum. All zeros
        before the end."""
        if not self.over:
            return [0.0] * self.players
        winners, n = self.winners(), self.players
        share = [1 / len(winners) if seat in winners else 0.0 for seat in range(n)]
        return [(n * s - 1) / (n - 1) for s in share]

    # ---- what a seat may know ----------------------------------------------------------------

    def view(self, seat: int) -> dict[str, Any]:
        """All that a seat may know, seats counted from its own (0 = own, 1 = next clockwise).

        Public: the board, the stones, the sizes of hands and stacks, the multiset of each
        player's unseen cards, the top village card (and the next one while the mover decides
        between two cells) and the multiset of the village cards below. Private: the own hand,
        and the card chosen until it is laid. Nobody knows the order of a stack."""
        order = [(seat + turn) % self.players for turn in range(self.players)]

        def relative(content: tuple) -> tuple:
            if content[0] == "village":
                return content
            return "card", order.index(content[1]), content[2]

        seen = 1 + (self.village_next is not None)
        return {
            "phase": self.phase,
            "mover": order.index(self.seat),
            "first_seat": order.index(self.first),  # who began: tells how much of the round is left
            "end_called": self.end_called,
            "hand": Counter(self.hands[seat]),
            "chosen": self.chosen if seat == self.seat else None,
            # Own seat: the stack. Other seats: hand and stack together.
            "unseen": [Counter(self.stacks[s]) + (Counter() if s == seat else self.hands[s]) for s in order],
            "hand_sizes": [self.hands[s].total() for s in order],
            "stack_sizes": [len(self.stacks[s]) for s in order],
            "board": {cell: relative(content) for cell, content in self.board.items()},
            "village_cells": list(self.village_cells),
            "candidates": list(self.candidates),
            "village_top": self.village_top,
            "village_next": self.village_next,
            "villages_left": self.villages_left,
            "villages_unseen": Counter(self.village_stack[seen:]),
            "stones": [Counter(self.stones[s]) for s in order],
            "stones_left": Counter(self.stones_left),
        }
