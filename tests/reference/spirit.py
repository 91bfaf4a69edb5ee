"""A slow, plain reference implementation of Samurai Spirit (Antoine Bauza, 2014), to test a fast one against.

The game is told as a story: the methods that may have to ask somebody something are generators, they `yield` a
`Question` and receive the action chosen. `SpiritGame` runs the story up to the next question that has at least two
answers; a question with one answer is answered without asking. Talents and Kiai are in `spirit_talents.py`.

Actions are strings. A samurai at the table is named by seat ("seat2"), a card by its id ("P3-07"), a support token by
its samurai ("Kyuzo"), a penalty icon by its code in the data ("no_defend"). `game.question.kind` says what is asked:

    kind            who decides         actions
    open_token      active              use_<token> ..., use_none           two-player rules, before step A; asked again
                                                                            after every token used
    penalty_order   active              first_<icon> ...                    only for two different icons
    penalty         active              suffer, ignore                      Gorobei, Kanbei; icon by icon, in order
    defender        active              drop_<card> ...                     penalty discard_defender
    action          active              fight, support, pass                step B
    support_to      active              to_seat<k> ...
    card            holder of the card  attack, defend, give_seat<k> ...,   give: Heihachi, Daisuke; discard: Kyuzo;
                                        discard, replace                    replace by another: Katsushiro
    second_fight    active              fight_again, stop                   Kikuchiyo
    kiai            owner of the Kiai   kiai_yes, kiai_no
    kiai_heal       Heihachi            heal_seat<k> ..., heal_none         animal side
    kiai_giver      Daisuke             take_seat<k> ..., [take_none]       take_none: second use (animal side) only
    kiai_receiver   Daisuke             to_seat<k> ...                      then the receiver: card (without talents)
    kiai_remove     Kikuchiyo           remove_seat<k> ..., [remove_none]   remove_none: second use only
    kiai_token      Kyuzo               token_<token> ..., [token_none]     token_none: animal side only
    kiai_token_to   Kyuzo               to_seat<k> ...
    kiai_top        Katsushiro          top_<card> ...                      which opened card is uppermost, then next

Chance. Everything random goes through one object with two methods; it is asked only where two or more things are
possible, and it is given plain strings and seat numbers:

    shuffle(items, what) -> the same items in a new order, the first one on top
        what: "plunderers" (all 52; the first of them become the first stack; once more if the dolls are too few),
              "raiders" (the stack of rounds 2 and 3), "recycled" (the stack after penalty recycle)
    choose(items, what) -> one of the items
        what: "farmstead" (of the backs still out), "family" (likewise), "lieutenant", "boss" (one at a time, the cards
              not yet in), "recycle" (of the discard pile), "hurt" (back D: of all seats), "healed" (of the wounded)

Stacks are lists with the top card first. Nothing here limits the length of a game.
"""

from __future__ import annotations

import json
import random
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from . import spirit_talents
from .spirit_talents import seat_in

DATA_FILE = Path(__file__).resolve().parents[2] / "samurai_env" / "games" / "spirit" / "data" / "spirit.json"
SYMBOLS = ("hat", "farm", "doll")
FAMILY_BONUSES = ("heal", "barricade", "intruder")
PLUSES = {"easy": "", "normal": "+", "hard": "++", "heroic": "+++"}
ROUNDS = 3


class Chance(Protocol):
    """Where all randomness comes from; see the module's text for the values of `what`."""

    def shuffle(self, items: Sequence[Any], what: str) -> list[Any]: ...

    def choose(self, items: Sequence[Any], what: str) -> Any: ...


class RandomChance:
    """The ordinary chance: driven by a `random.Random`."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def shuffle(self, items: Sequence[Any], what: str) -> list[Any]:
        return self.rng.sample(list(items), len(items))

    def choose(self, items: Sequence[Any], what: str) -> Any:
        return self.rng.choice(list(items))


@dataclass(frozen=True)
class Card:
    """A raider card."""

    id: str
    kind: str  # plunderer, lieutenant, boss
    value: int  # 1 to 6
    defence: str | None  # hat, farm, doll
    penalties: tuple[str, ...]  # none, one or two icons
    flames: bool


@dataclass(frozen=True)
class Question:
    """Somebody has to decide something."""

    seat: int
    kind: str
    options: tuple[str, ...]


Steps = Generator[Question, str, None]  # a part of the story without a result
Asking = Generator[Question, str, str]  # a part of the story that results in an action


class Lost(Exception):
    """Breaks off the story: the game is lost at once."""


def load_data(path: Path | str | None = None) -> dict[str, Any]:
    """Cards, Kiai values and levels, from the package's own data file unless another one is named."""
    return json.loads(Path(path or DATA_FILE).read_text(encoding="utf-8"))


def number_for(formula: str, players: int) -> int:
    """A number of the data file that depends on the players: "players", "players+2", "players-1"."""
    return players + int(formula.removeprefix("players") or 0)


class SpiritGame:
    """One game. `seat` must choose one of `legal()` with `apply()` until `over`."""

    # ------------------------------------------------------------------ set-up

    def __init__(
        self,
        samurai: Sequence[str],
        difficulty: str,
        chance: Chance,
        first_seat: int = 0,
        two_player_rules: bool | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        data = load_data() if data is None else data
        self.cards = {
            c["id"]: Card(c["id"], c["kind"], c["value"], c["defence"], tuple(c["penalties"]), c["flames"])
            for c in data["cards"]
        }
        self.boards = {board["name"]: board for board in data["samurai"]}
        levels = {level["level"]: level for level in data["difficulty"]}
        self._check_arguments(samurai, difficulty, levels, first_seat, two_player_rules)

        self.samurai = list(samurai)
        self.players = len(self.samurai)
        self.seats = range(self.players)
        self.difficulty = difficulty
        self.level = levels[difficulty]
        self.chance = chance
        self.two_player_rules = self.players <= 2 if two_player_rules is None else two_player_rules

        # The village: as many barricades as the level says; 6 farmsteads and 3 families, backs hidden.
        self.barricades = self.max_barricades = number_for(self.level["barricades"], self.players)
        backs = data["farmstead_tokens"]["distribution"]
        self.farmsteads = [back for back in sorted(backs) for _ in range(backs[back])]
        self.families = list(FAMILY_BONUSES)

        # The samurai: human side up, no wound, the own support token beside the board.
        self.wounds = [0] * self.players  # 0 or 1 wound token on the board
        self.turned = [False] * self.players  # True: animal side up
        self.tokens = {name: seat for seat, name in enumerate(self.samurai)}  # support token: with whom it lies
        absent = [name for name in self.boards if name not in self.samurai]
        self.open_tokens = absent if self.two_player_rules else []  # still to be used, once a game
        self.open_in_use: dict[str, int] = {}  # used this round: by whom

        # The cards: stacks with the top first.
        self.raiders: list[str] = self._first_stack()
        self.intruders: list[str] = []
        self.discard: list[str] = []
        self.seen: set[str] = set()  # cards that have lain open at some time, so are known to be in the game
        self.known: set[str] = set()  # cards in a face-down stack whose place everybody knows

        self.round = 1
        self.active = first_seat
        self.over = self.won = False
        self.lost_how: str | None = None  # death, farmsteads, families
        self.decisions = 0
        self._clear_boards()
        self.resume()

    def _check_arguments(
        self,
        samurai: Sequence[str],
        difficulty: str,
        levels: dict[str, Any],
        first_seat: int,
        two_player_rules: bool | None,
    ) -> None:
        if not samurai or len(set(samurai)) != len(samurai) or not set(samurai) <= set(self.boards):
            raise ValueError(f"one to seven different samurai of {sorted(self.boards)}, please: {samurai}")
        if difficulty not in levels:
            raise ValueError(f"no such difficulty: {difficulty}")
        if not 0 <= first_seat < len(samurai):
            raise ValueError(f"no such seat: {first_seat}")
        if two_player_rules and len(samurai) == len(self.boards):
            raise ValueError("with all seven samurai present the two-player rules have no tokens to lay open")
        if two_player_rules is False and len(samurai) <= 2:
            raise ValueError("one and two samurai always play by the two-player rules")

    def _first_stack(self) -> list[str]:
        """6 or 7 plunderers a player; by the two-player rules at least two dolls must be among them."""
        plunderers = self._cards_of("plunderer")
        size = self.level["plunderers_per_player"] * self.players
        while True:
            stack = self.chance.shuffle(plunderers, "plunderers")[:size]
            dolls = sum(self.cards[card].defence == "doll" for card in stack)
            if dolls >= 2 or not self.two_player_rules:
                return stack

    def _cards_of(self, kind: str) -> list[str]:
        return [card.id for card in self.cards.values() if card.kind == kind]

    def _clear_boards(self) -> None:
        """All lines empty, all meeples upright on 0, nothing under way."""
        self.left: list[list[str]] = [[] for _ in self.seats]  # defence side
        self.right: list[list[str]] = [[] for _ in self.seats]  # combat line, the first card undermost
        self.passed = [False] * self.players
        self.open_in_use.clear()
        self._clear_turn()

    def _clear_turn(self) -> None:
        """Nobody's turn: what held for one turn is over."""
        self.in_turn = False
        self.no_defend = self.no_support = self.no_talent = self.must_pass = False  # icons at work on the active one
        self.in_kiai: list[int] = []  # whose Kiai is being resolved, the outermost first
        self.card_in_hand: str | None = None  # the drawn card to be placed now

    # ------------------------------------------------------------------ the outside: asking and answering

    def resume(self) -> None:
        """Begin the active samurai's turn from the fields as they stand (also for positions set up by hand)."""
        self._clear_turn()
        self._story = self._rest_of_game()
        self._run(None)

    def _run(self, answer: str | None) -> None:
        self.question: Question | None
        try:
            self.question = self._story.send(answer)  # type: ignore[arg-type]
        except StopIteration:
            self.question = None

    @property
    def seat(self) -> int | None:
        """Who decides now; None when the game is over."""
        return self.question.seat if self.question else None

    def legal(self) -> set[str]:
        """The actions to choose from: two or more, or none when the game is over."""
        return set(self.question.options) if self.question else set()

    def apply(self, action: str) -> None:
        if action not in self.legal():
            raise ValueError(f"{action!r} is not one of {sorted(self.legal())}")
        self.decisions += 1
        self._run(action)

    def ask(self, seat: int, kind: str, options: Iterable[str]) -> Asking:
        """Let `seat` choose; a single option is taken without asking."""
        options = tuple(options)
        if len(options) == 1:
            return options[0]
        return (yield Question(seat, kind, options))

    def score(self) -> int:
        """On victory a point for each farmstead and each family, and one more if nobody bears a wound; else 0."""
        if not self.won:
            return 0
        return len(self.farmsteads) + len(self.families) + (not any(self.wounds))

    def grade(self) -> str:
        """The score with the mark of the level, "7+"; empty if not won."""
        return f"{self.score()}{PLUSES[self.difficulty]}" if self.won else ""

    def view(self) -> dict[str, Any]:
        """Everything that lies open, or that everybody may count or remember."""
        return {
            "samurai": list(self.samurai),
            "difficulty": self.difficulty,
            "two_player_rules": self.two_player_rules,
            "round": self.round,
            "active": self.active,
            "seat": self.seat,
            "question": self.question.kind if self.question else None,
            "legal": sorted(self.legal()),
            "over": self.over,
            "won": self.won,
            "lost_how": self.lost_how,
            "score": self.score(),
            "barricades": self.barricades,
            "max_barricades": self.max_barricades,
            "farmsteads": sorted(self.farmsteads),
            "families": sorted(self.families),
            "left": [list(line) for line in self.left],
            "right": [list(line) for line in self.right],
            "total": [self.total(seat) for seat in self.seats],
            "kiai": [self.kiai(seat) for seat in self.seats],
            "wounds": list(self.wounds),
            "turned": list(self.turned),
            "passed": list(self.passed),
            "tokens": dict(self.tokens),
            "open_tokens": list(self.open_tokens),
            "open_in_use": dict(self.open_in_use),
            "raiders": self._as_known(self.raiders),
            "intruders": self._as_known(self.intruders),
            "discard": list(self.discard),
            "seen": sorted(self.seen),
            "card_in_hand": self.card_in_hand,
            "in_kiai": list(self.in_kiai),
            "no_defend": self.no_defend,
            "no_support": self.no_support,
            "no_talent": self.no_talent,
            "must_pass": self.must_pass,
        }

    def _as_known(self, stack: list[str]) -> list[str | None]:
        """A face-down stack as the table knows it: the ids of the known cards, None for the others."""
        return [card if card in self.known else None for card in stack]

    # ------------------------------------------------------------------ small facts

    def total(self, seat: int) -> int:
        """Where the meeple stands: the sum of the combat line."""
        return sum(self.cards[card].value for card in self.right[seat])

    def kiai(self, seat: int) -> int:
        """The Kiai value of the side that is up."""
        return self.boards[self.samurai[seat]]["kiai_animal" if self.turned[seat] else "kiai_human"]

    def in_round(self, seat: int) -> bool:
        """Whoever has passed is treated as if not in the game."""
        return not self.passed[seat]

    def seats_in_round(self) -> list[int]:
        return [seat for seat in self.seats if self.in_round(seat)]

    def left_of(self, seat: int) -> int:
        """The left neighbour is the next in turn order."""
        return (seat + 1) % self.players

    def right_of(self, seat: int) -> int:
        return (seat - 1) % self.players

    def talents(self, seat: int) -> set[str]:
        """Whose talents this samurai may use now, named by samurai.

        The own one always, also out of turn; open tokens likewise, in the round they were used in; borrowed tokens in
        the own turn only. The icon no_talent takes all of them away for the own turn.
        """
        own_turn = self.in_turn and seat == self.active
        if own_turn and self.no_talent:
            return set()
        talents = {self.samurai[seat]} | {name for name, user in self.open_in_use.items() if user == seat}
        if own_turn:
            talents |= {name for name, holder in self.tokens.items() if holder == seat}
        return talents

    def may_defend(self, seat: int, card: str) -> bool:
        """A card goes to the left only with a symbol that does not lie there yet, and not against no_defend."""
        symbol = self.cards[card].defence
        forbidden = self.no_defend and seat == self.active
        return symbol is not None and not self.has_symbol(seat, symbol) and not forbidden

    def has_symbol(self, seat: int, symbol: str) -> bool:
        return any(self.cards[card].defence == symbol for card in self.left[seat])

    def token_at_home(self, seat: int) -> bool:
        return self.tokens[self.samurai[seat]] == seat

    # ------------------------------------------------------------------ game and round

    def _rest_of_game(self) -> Steps:
        """Three rounds, each with its end; who is still standing then has won."""
        try:
            while True:
                yield from self._rest_of_round()
                yield from self._end_of_round()
                if self.round == ROUNDS:
                    break
                self._next_round()
            self.won = True
        except Lost as how:
            self.lost_how = str(how)
        self.over = True

    def _rest_of_round(self) -> Steps:
        """Turn after turn, to the left, until the raider stack is empty or everybody has passed."""
        while not self._round_is_over():
            yield from self._turn(self.active)
            if not self._round_is_over():
                self.active = self._next_in_round(self.active)

    def _round_is_over(self) -> bool:
        return not self.raiders or all(self.passed)

    def _next_in_round(self, seat: int) -> int:
        seat = self.left_of(seat)
        while self.passed[seat]:
            seat = self.left_of(seat)
        return seat

    def _end_of_round(self) -> Steps:
        # What is left of the raiders goes, unseen, on top of the intruders.
        self.intruders = self.raiders + self.intruders
        self.raiders = []
        # 1. Every samurai without a hat on the left takes a wound.
        for seat in self.seats:
            if not self.has_symbol(seat, "hat"):
                yield from self.wound(seat)
        # 2. Every samurai without a farm removes a farmstead.
        for seat in self.seats:
            if not self.has_symbol(seat, "farm"):
                yield from self.lose_farmstead()
        # 3. Every samurai without a doll removes a random family, then the families left give their bonuses.
        for seat in self.seats:
            if not self.has_symbol(seat, "doll"):
                self.lose_family()
        if self.level["family_bonus"]:
            self._family_bonuses()
        # 4. The intruders are turned up one by one; flames destroy a barricade.
        while self.intruders:
            intruder = self.discard_top(self.intruders)
            if self.cards[intruder].flames:
                yield from self.lose_barricade()

    def _family_bonuses(self) -> None:
        if "heal" in self.families:  # a random wounded player loses his wound token
            wounded = [seat for seat in self.seats if self.wounds[seat]]
            if wounded:
                self.wounds[self._choose(wounded, "healed")] = 0
        if "barricade" in self.families:
            self.add_barricade()
        if "intruder" in self.families and self.intruders:  # the top intruder goes to the discard pile
            self.discard_top(self.intruders)

    def _next_round(self) -> None:
        """All cards used are collected, lieutenants or bosses join them, and the left neighbour begins."""
        used = self.discard + sum(self.left, []) + sum(self.right, [])
        self.round += 1
        kind, plural = ("lieutenant", "lieutenants") if self.round == 2 else ("boss", "bosses")
        box = self._cards_of(kind)
        for _ in range(number_for(self.level[plural], self.players)):
            newcomer = self._choose(box, kind)
            box.remove(newcomer)
            used.append(newcomer)
        self.raiders = self.chance.shuffle(sorted(used), "raiders")
        self.discard = []
        self.known.clear()
        self._clear_boards()
        self.active = self.left_of(self.active)

    # ------------------------------------------------------------------ the turn

    def _turn(self, seat: int) -> Steps:
        self.in_turn = True
        yield from self._use_open_tokens(seat)
        yield from self._step_a(seat)
        # The round ends at once when the last raider has gone: then nothing more of the turn.
        if self.raiders:
            yield from self._step_b(seat)
        self._tokens_go_home(seat)
        self._clear_turn()

    def _use_open_tokens(self, seat: int) -> Steps:
        """Two-player rules: before step A any of the open tokens may be used, each once a game, for this round."""
        while self.open_tokens:
            options = [f"use_{name}" for name in self.open_tokens] + ["use_none"]
            choice = yield from self.ask(seat, "open_token", options)
            if choice == "use_none":
                return
            token = choice.removeprefix("use_")
            self.open_tokens.remove(token)
            self.open_in_use[token] = seat

    def _tokens_go_home(self, seat: int) -> None:
        """After the receiver's turn lent tokens return to their owners, used or not."""
        for owner, name in enumerate(self.samurai):
            if self.tokens[name] == seat:
                self.tokens[name] = owner

    # --- step A: the penalty of the last card of the own line

    def _step_a(self, seat: int) -> Steps:
        if not self.right[seat]:
            return
        card = self.right[seat][-1]  # both icons are this card's, whatever happens to it meanwhile
        icons = list(self.cards[card].penalties)
        if len(set(icons)) == 2:
            choice = yield from self.ask(seat, "penalty_order", [f"first_{icon}" for icon in icons])
            if choice == f"first_{icons[1]}":
                icons.reverse()
        for icon in icons:
            if not (yield from self._ignores(seat, card)):
                yield from self._suffer(seat, icon)
            if not self.raiders:  # the round is over
                return

    def _ignores(self, seat: int, card: str) -> Generator[Question, str, bool]:
        if not spirit_talents.may_ignore_penalty(self, seat, card):
            return False
        return (yield from self.ask(seat, "penalty", ["suffer", "ignore"])) == "ignore"

    def _suffer(self, seat: int, icon: str) -> Steps:
        """What cannot be applied is a wound instead."""
        if icon == "fire":
            yield from self.lose_barricade()
        elif icon == "ninja":
            self.raider_becomes_intruder()
        elif icon == "no_defend":
            self.no_defend = True
        elif icon == "no_support":
            self.no_support = True
        elif icon == "no_talent":
            self.no_talent = True
        elif icon == "must_pass":
            self.must_pass = True
        elif icon == "left_draws" and self._can_draw(seat, self.left_of(seat)):
            yield from self.attack(self.left_of(seat), self._draw())
        elif icon == "right_draws" and self._can_draw(seat, self.right_of(seat)):
            yield from self.attack(self.right_of(seat), self._draw())
        elif icon == "recycle" and self.discard:
            self._recycle()
        elif icon == "discard_defender" and self.left[seat]:
            choice = yield from self.ask(seat, "defender", [f"drop_{card}" for card in self.left[seat]])
            self._drop(self.left[seat], choice.removeprefix("drop_"))
        else:  # the icon is a wound, or it cannot be applied
            yield from self.wound(seat)

    def _can_draw(self, seat: int, neighbour: int) -> bool:
        return neighbour != seat and self.in_round(neighbour)

    def _recycle(self) -> None:
        """A random card of the discard pile is shuffled into the raider stack."""
        card = self._choose(self.discard, "recycle")
        self.discard.remove(card)
        self.raiders = self.chance.shuffle(sorted([*self.raiders, card]), "recycled")
        self.known -= set(self.raiders)

    # --- step B: fight, support or pass

    def _step_b(self, seat: int) -> Steps:
        action = yield from self.ask(seat, "action", self._possible_actions(seat))
        if action == "fight":
            yield from self._fight_action(seat)
        elif action == "support":
            yield from self._support(seat)
        else:
            self.passed[seat] = True

    def _possible_actions(self, seat: int) -> list[str]:
        """Who stands beyond his Kiai, or suffers the icon, must pass."""
        if self.must_pass or self.total(seat) > self.kiai(seat):
            return ["pass"]
        can_support = self.token_at_home(seat) and self._others_in_round(seat) and not self.no_support
        return ["fight", "support", "pass"] if can_support else ["fight", "pass"]

    def _others_in_round(self, seat: int) -> list[int]:
        return [other for other in self.seats_in_round() if other != seat]

    def _support(self, seat: int) -> Steps:
        """The own token goes to another samurai, then the top raider, unseen, to the intruders."""
        receivers = [f"to_seat{other}" for other in self._others_in_round(seat)]
        choice = yield from self.ask(seat, "support_to", receivers)
        self.tokens[self.samurai[seat]] = seat_in(choice)
        self.raider_becomes_intruder()

    def _fight_action(self, seat: int) -> Steps:
        """One fight; with Kikuchiyo's talent another one."""
        yield from self._fight(seat)
        if self.raiders and spirit_talents.may_fight_again(self, seat):
            choice = yield from self.ask(seat, "second_fight", ["fight_again", "stop"])
            if choice == "fight_again":
                yield from self._fight(seat)

    def _fight(self, seat: int) -> Steps:
        yield from self._play_drawn(seat, self._draw(), {seat})

    def _play_drawn(self, seat: int, card: str, had: set[int]) -> Steps:
        """`seat` plays a card drawn, or passed on, which counts as drawn; `had`: who has had it in this fight."""
        self.card_in_hand = card
        ways = self._sides(seat, card) + spirit_talents.ways_with_drawn_card(self, seat, card, had)
        choice = yield from self.ask(seat, "card", ways)
        if choice == "discard":
            self.card_in_hand = None
            self.discard_card(card)
        elif choice == "replace":
            self.raiders.append(card)
            self.known.add(card)
            yield from self.place(seat, self._draw())  # the second card must be kept: no talents on it
        elif choice.startswith("give_"):
            neighbour = seat_in(choice)
            yield from self._play_drawn(neighbour, card, had | {neighbour})
        else:
            yield from self._put(seat, card, choice)

    def place(self, seat: int, card: str) -> Steps:
        """`seat` puts a card left or right, without talents."""
        choice = yield from self.choose_side(seat, card)
        yield from self._put(seat, card, choice)

    def choose_side(self, seat: int, card: str) -> Asking:
        self.card_in_hand = card
        return (yield from self.ask(seat, "card", self._sides(seat, card)))

    def _sides(self, seat: int, card: str) -> list[str]:
        return ["attack", "defend"] if self.may_defend(seat, card) else ["attack"]

    def _put(self, seat: int, card: str, side: str) -> Steps:
        if side == "defend":
            self.put_left(seat, card)
        else:
            yield from self.attack(seat, card)

    # ------------------------------------------------------------------ combat line, Kiai, wounds

    def put_left(self, seat: int, card: str) -> None:
        self.card_in_hand = None
        self.left[seat].append(card)

    def put_right(self, seat: int, card: str) -> Steps:
        """The card joins the combat line; if that leads beyond the Kiai, a barricade goes at once."""
        self.card_in_hand = None
        self.right[seat].append(card)
        if self.total(seat) > self.kiai(seat):
            yield from self.lose_barricade()

    def attack(self, seat: int, card: str) -> Steps:
        """The whole of a card placed on the right: beyond the Kiai a barricade, on it exactly the Kiai."""
        yield from self.put_right(seat, card)
        yield from self.kiai_if_exact(seat)

    def kiai_if_exact(self, seat: int) -> Steps:
        """The Kiai, if the meeple is exactly on it; not inside the own Kiai, and not for one who has passed."""
        while self.total(seat) == self.kiai(seat) and self.in_round(seat) and seat not in self.in_kiai:
            yield from self._resolve_kiai(seat)  # afterwards the total is looked at again

    def _resolve_kiai(self, seat: int) -> Steps:
        """1. The effect may be used (if it can do anything). 2. Used or not, the first card of the line goes."""
        self.in_kiai.append(seat)
        effect = spirit_talents.KIAI[self.samurai[seat]]
        animal = self.turned[seat]
        if effect.possible(self, seat, animal):
            choice = yield from self.ask(seat, "kiai", ["kiai_yes", "kiai_no"])
            if choice == "kiai_yes":
                yield from effect.use(self, seat, animal)
        if self.right[seat]:
            self._drop(self.right[seat], self.right[seat][0])
        self.in_kiai.pop()

    def wound(self, seat: int) -> Steps:
        """First wound: a token. Second: the token goes, the animal side comes up. Third: a token. Fourth: death."""
        if self.wounds[seat] == 0:
            self.wounds[seat] = 1
        elif self.turned[seat]:
            raise Lost("death")
        else:
            self.wounds[seat] = 0
            self.turned[seat] = True
            yield from self.kiai_if_exact(seat)  # the new side's Kiai can be reached by turning the board

    # ------------------------------------------------------------------ village

    def add_barricade(self) -> None:
        """Never more than at the beginning."""
        self.barricades = min(self.barricades + 1, self.max_barricades)

    def lose_barricade(self) -> Steps:
        """A barricade goes; if none is left, a farmstead."""
        if self.barricades:
            self.barricades -= 1
        else:
            yield from self.lose_farmstead()

    def lose_farmstead(self) -> Steps:
        """A random farmstead goes, at hard and heroic with the penalty on its back; without the last all is lost."""
        back = self._choose(self.farmsteads, "farmstead")
        self.farmsteads.remove(back)
        if not self.farmsteads:
            raise Lost("farmsteads")
        if self.level["farm_penalties"]:
            yield from self._farmstead_penalty(back)

    def _farmstead_penalty(self, back: str) -> Steps:
        if back == "A":
            self.lose_family()
        elif back == "B":
            yield from self.lose_farmstead()
        elif back == "C":
            yield from self.lose_barricade()
        else:  # D: a random player, in the round or not, takes a wound
            yield from self.wound(self._choose(list(self.seats), "hurt"))

    def lose_family(self) -> None:
        self.families.remove(self._choose(self.families, "family"))
        if not self.families:
            raise Lost("families")

    def _choose(self, items: Sequence[Any], what: str) -> Any:
        """Chance is asked only if there are two or more possibilities."""
        return items[0] if len(items) == 1 else self.chance.choose(list(items), what)

    # ------------------------------------------------------------------ moving cards

    def _draw(self) -> str:
        """The top raider is turned up."""
        card = self.raiders.pop(0)
        self.known.discard(card)
        self.seen.add(card)
        return card

    def raider_becomes_intruder(self) -> None:
        """The top raider goes, unseen, on top of the intruders."""
        self.intruders.insert(0, self.raiders.pop(0))

    def discard_card(self, card: str) -> None:
        self.known.discard(card)
        self.seen.add(card)
        self.discard.append(card)

    def discard_top(self, stack: list[str]) -> str:
        """The top card of a stack goes to the discard pile, face up."""
        card = stack.pop(0)
        self.discard_card(card)
        return card

    def _drop(self, line: list[str], card: str) -> None:
        """A card beside a board goes to the discard pile."""
        line.remove(card)
        self.discard_card(card)

    def drop_last(self, seat: int) -> None:
        """The last card of a combat line goes to the discard pile."""
        self._drop(self.right[seat], self.right[seat][-1])
