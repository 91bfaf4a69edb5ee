"""Samurai Spirit's side of `tests.agreement.match`: the reference with the core's chance, and every field compared."""

import random
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from samurai_env.core.batch import batch_kernels
from samurai_env.core.rng import below, shuffle
from samurai_env.games.first_seat import RANDOM_SEAT
from samurai_env.games.spirit.rules.cards import BACKS, CARD_NAMES, FAMILIES, ICONS, MOST, SAMURAI, SYMBOLS
from samurai_env.games.spirit.state import (
    BOX,
    DISCARD_PILE,
    ICON_BY_ICON,
    IN_HAND,
    INTRUDER_STACK,
    LEFT0,
    LINE0,
    PENALTIES,
    PHASES,
    PLACE_KNOWN,
    RAIDERS,
    RESULTS,
    STAGES,
    TURN_OVER,
    UNSEEN,
)
from samurai_env.position import Position
from tests.agreement.match import Match as Base
from tests.reference import spirit as reference
from tests.reference.spirit import SpiritGame

# The reference reads its file for every game; nobody changes what it gets.
DATA = reference.load_data()
CARD = {name: i for i, name in enumerate(CARD_NAMES)}

# The reference's name of a question -> the core's phase.
PHASE_OF = {
    "open_token": "open_token",
    "penalty_order": "penalty_order",
    "penalty": "penalty",
    "defender": "defender",
    "action": "action",
    "support_to": "support_to",
    "card": "card",
    "second_fight": "second_fight",
    "kiai": "kiai",
    "kiai_heal": "heal",
    "kiai_giver": "giver",
    "kiai_receiver": "receiver",
    "kiai_remove": "removal",
    "kiai_token": "token",
    "kiai_token_to": "token_to",
    "kiai_top": "top",
}
SAME = {"fight_again": "fight", "stop": "none", "kiai_yes": "kiai", "kiai_no": "none"}


@cache
def bits(word: int) -> frozenset[str]:
    """The samurai in a set of them."""
    return frozenset(name for i, name in enumerate(SAMURAI) if word >> i & 1)


class CoreChance:
    """The reference's chance, drawn from a copy of the core's random stream in the core's way.

    The core sorts what it shuffles or chooses from; so does this, whatever order the reference names things in.
    """

    def __init__(self, position: Position) -> None:
        self.rng = np.array([position.seed], np.uint64)
        if position.variant.options["first"] == RANDOM_SEAT:
            below(self.rng, position.variant.num_players)
        if position.variant.options["samurai"] == "random":
            shuffle(self.rng, np.arange(MOST).astype(np.int8))

    def shuffle(self, items: Sequence[str], what: str) -> list[str]:
        deck = np.array(sorted(CARD[item] for item in items), np.int8)
        shuffle(self.rng, deck)
        found = [CARD_NAMES[card] for card in deck]
        return found[::-1] if what == "recycled" else found

    def choose(self, items: Sequence, what: str):
        order = {"family": FAMILIES.index, "farmstead": BACKS.index, "hurt": int, "healed": int}.get(
            what, CARD.__getitem__
        )
        return sorted(items, key=order)[below(self.rng, len(items))]


class Match(Base):
    """One game of Samurai Spirit on both sides."""

    def __init__(self, position: Position, rng: random.Random) -> None:
        super().__init__(position, rng)
        variant, state = position.variant, position.state
        self.n = variant.num_players
        self.names = [SAMURAI[int(state["who"][seat])] for seat in range(self.n)]
        self.chance = CoreChance(position)
        self.game = SpiritGame(
            self.names,
            variant.options["difficulty"],
            self.chance,
            first_seat=int(state["first_seat"]),
            two_player_rules=bool(self.n <= 2 or variant.options["two_player_rules"] == "on"),
            data=DATA,
        )
        self.scores = np.empty(variant.num_actions)
        self.ids = {name: i for i, name in enumerate(variant.action_names)}
        self.noise = rng.choice((1.0, 0.5, 0.25, 0.1, 0.03, 0.0))  # the share of random decisions
        # Views of the state's fields: they follow the position.
        self.fields = {name: position.states[name] for name in position.states.dtype.names}
        self.arrays = [name for name, values in self.fields.items() if values.ndim > 1]
        self.slices = variant.encoding("flat").slices()
        self.bold = rng.random() < 0.5
        self.core = self.snapshot()

    # ------------------------------------------------------------ playing

    def ours(self, action: str) -> str:
        """The core's name of an action of the reference."""
        kind, seat, state = self.game.question.kind, self.game.question.seat, self.position.state
        if action in SAME:
            return SAME[action]
        if kind in ("action", "penalty") or action in ("attack", "defend", "discard", "replace"):
            return action
        target = action.partition("_")[2]
        if target == "none":
            return "none"
        if target.startswith("seat"):
            return f"player{(int(target[4:]) - seat) % self.n}"
        if kind in ("open_token", "kiai_token"):
            return f"token.{target}"
        if kind == "penalty_order":
            return f"first.{target}"
        if kind == "defender":
            left = state["left"][seat].tolist()
            return f"left.{SYMBOLS[left.index(CARD[target])]}"
        top_down = state["raiders"][: state["raiders_left"]][::-1].tolist()
        ordered = int(state["kiai_a"][state["nested"] - 1])
        return f"top{top_down.index(CARD[target]) - ordered + 1}"

    def legal(self) -> set[str]:
        if self.game.over:
            return set()
        self.theirs = {self.ours(action): action for action in self.game.legal()}
        return set(self.theirs)

    def choose(self, legal: list[str]) -> str:
        if self.rng.random() < self.noise:
            return self.rng.choice(legal)
        if self.bold and (action := self.towards_kiai(legal)):
            return action
        batch_kernels(self.position.variant.game).write_policy(self.position.states, 0, self.scores)
        return max(legal, key=lambda name: self.scores[self.ids[name]])

    def towards_kiai(self, legal: list[str]) -> str | None:
        """Fight on and attack up to the Kiai, which sensible players reach too rarely to test it."""
        game = self.game
        if game.question.kind == "action" and "fight" in legal:
            return "fight"
        if game.question.kind in ("card", "second_fight"):
            value = game.cards[game.card_in_hand].value if game.card_in_hand else 0
            room = game.kiai(game.seat) - game.total(game.seat) - value
            if room == 0 or (room > 0 and self.rng.random() < 0.5):
                return "attack" if "attack" in legal else "fight"
        return None

    def apply(self, action: str) -> None:
        kind, round_before = self.game.question.kind, self.game.round
        self.events[kind] += 1
        self.events[f"{kind}: {action}"] += 1
        if kind == "kiai" and action == "kiai":
            seat = self.game.question.seat
            side = "animal" if self.game.turned[seat] else "human"
            self.events[f"{self.names[seat]} {side}"] += 1
            self.events["Kiai inside another"] += len(self.game.in_kiai) > 1
            self.events["Kiai in another's turn"] += seat != self.game.active
            self.events["Kiai at the end of a round"] += not self.game.in_turn
        self.game.apply(self.theirs[action])
        self.events[f"round {self.game.round} reached"] += self.game.round != round_before
        if self.game.over:
            self.events[self.game.lost_how or "won"] += 1

    # ------------------------------------------------------------ comparing

    def snapshot(self) -> dict[str, object]:
        """What the reference knows of the game, read off the core's record."""
        n = self.n
        get = dict(zip(self.fields, self.position.states.tolist()[0], strict=True))
        for name in self.arrays:
            get[name] = get[name].tolist()
        lines = []
        for seat in range(n):
            line, card = [], get["last"][seat]
            while card >= 0:
                line.append(CARD_NAMES[card])
                card = get["beneath"][card]
            lines.append(line[::-1])
        raiders = get["raiders"][: get["raiders_left"]][::-1]
        intruders = get["intruders"][: get["intruders_left"]][::-1]
        tokens = {name: seat for seat, name in enumerate(self.names)}
        for seat in range(n):
            tokens |= dict.fromkeys(bits(get["borrowed"][seat]), seat)
        return {
            "active": get["active"],
            "round": get["round"],
            "barricades": get["barricades"],
            "max_barricades": get["most_barricades"],
            "farmsteads": sorted(
                back for back, count in zip(BACKS, get["farmsteads"], strict=True) for _ in range(count)
            ),
            "families": {family for family, there in zip(FAMILIES, get["families"], strict=True) if there},
            "left": [{CARD_NAMES[card] for card in get["left"][seat] if card >= 0} for seat in range(n)],
            "right": lines,
            "total": get["total"][:n],
            "passed": [bool(get["passed"] >> seat & 1) for seat in range(n)],
            "turned": [bool(x) for x in get["animal"][:n]],
            "wounds": get["wounded"][:n],
            "tokens": tokens,
            "away": bits(get["away"]),
            "open_tokens": bits(get["open_tokens"]),
            "open_in_use": {seat: bits(get["granted"][seat]) for seat in range(n) if get["granted"][seat]},
            "raiders": [CARD_NAMES[card] for card in raiders],
            "intruders": [CARD_NAMES[card] for card in intruders],
            "known raiders": [CARD_NAMES[c] if get["known"][c] == PLACE_KNOWN else None for c in raiders],
            "known intruders": [CARD_NAMES[c] if get["known"][c] == PLACE_KNOWN else None for c in intruders],
            "discard": {CARD_NAMES[c] for c, zone in enumerate(get["where"]) if zone == DISCARD_PILE},
            "seen": {CARD_NAMES[c] for c, known in enumerate(get["known"]) if known != UNSEEN},
            "in_kiai": get["kiai_seat"][: get["nested"]],
            "card_in_hand": CARD_NAMES[get["card"]] if get["card"] >= 0 else None,
            "seat": get["seat"],
            "over": bool(get["over"]),
            "random": get["rng"],
            "turn": tuple(bool(get[name]) for name in ("no_defend", "no_support", "no_talent", "must_pass")),
            "phase": PHASES[get["phase"]],
            "stage": get["stage"],
            "result": RESULTS[get["result"]],
        }

    def expected(self) -> dict[str, object]:
        """The same, from the reference."""
        game, view, n = self.game, self.game.view(), self.n
        home = dict(zip(self.names, range(n), strict=True))
        in_use: dict[int, set[str]] = {}
        for token, seat in view["open_in_use"].items():
            in_use.setdefault(seat, set()).add(token)
        return {
            "active": game.active,
            "round": game.round,
            "barricades": game.barricades,
            "max_barricades": game.max_barricades,
            "farmsteads": sorted(game.farmsteads),
            "families": set(game.families),
            "left": [set(cards) for cards in view["left"]],
            "right": [list(cards) for cards in view["right"]],
            "total": list(view["total"]),
            "passed": list(view["passed"]),
            "turned": list(view["turned"]),
            "wounds": [int(x) for x in view["wounds"]],
            "tokens": dict(view["tokens"]),
            "away": {name for name, seat in view["tokens"].items() if home[name] != seat},
            "open_tokens": set(view["open_tokens"]),
            "open_in_use": in_use,
            "raiders": list(game.raiders),
            "intruders": list(game.intruders),
            "known raiders": list(view["raiders"]),
            "known intruders": list(view["intruders"]),
            "discard": set(game.discard),
            "seen": set(view["seen"]),
            "in_kiai": list(game.in_kiai),
            "card_in_hand": view["card_in_hand"],
            "seat": game.seat,
            "over": game.over,
            "random": [int(self.chance.rng[0])],
            "turn": (game.no_defend, game.no_support, game.no_talent, game.must_pass),
        }

    def differences(self) -> Iterator[str]:
        self.core, theirs = self.snapshot(), self.expected()
        skip = {"seat"} if self.game.over else set()
        for name, value in theirs.items():
            if name not in skip and self.core[name] != value:
                yield f"{name}: here {self.core[name]}, the reference has {value}"
        if not self.game.over:
            phase = PHASE_OF[self.game.question.kind]
            if self.core["phase"] != phase and not (phase == "card" and self.core["phase"] == "placing"):
                yield f"phase {self.core['phase']}, the reference asks {self.game.question.kind}"
        yield from self.broken()
        if self.game.over:
            result = self.core["result"]
            if (result == "won") != self.game.won or self.position.returns().tolist() != [
                float(self.game.won)
            ] * self.n:
                yield f"result {result}, the reference has won={self.game.won}"
            reported = self.position.variant.game.describe_result(self.position.state)
            if (reported["score"], reported["grade"]) != (self.game.score(), self.game.grade()):
                yield f"{reported}, the reference has {self.game.score()} {self.game.grade()}"

    def broken(self) -> Iterator[str]:
        """Broken invariants of the core's state: zones, totals, questions."""
        zones, choices = self.fields["where"][0].tolist(), int(self.fields["choices"][0])
        wanted = {}
        for name, cards in (("raiders", RAIDERS), ("intruders", INTRUDER_STACK)):
            wanted |= dict.fromkeys(self.core[name], cards)
        wanted |= dict.fromkeys(self.core["discard"], DISCARD_PILE)
        for seat in range(self.n):
            wanted |= dict.fromkeys(self.core["left"][seat], LEFT0 + seat)
            wanted |= dict.fromkeys(self.core["right"][seat], LINE0 + seat)
        if self.core["card_in_hand"]:
            wanted[self.core["card_in_hand"]] = IN_HAND
        if zones != [wanted.get(name, BOX) for name in CARD_NAMES]:
            yield f"zones {zones}, the cards lie as {wanted}"
        if bool(choices) == self.core["over"] or choices.bit_count() == 1:
            yield f"choices {choices:b}"

    # ------------------------------------------------------------ views

    def view_differences(self, seat: int) -> Iterator[str]:
        observation = self.position.observe(seat, "flat")
        expected = self.blocks(seat)
        for name, where in self.slices.items():
            if name not in expected:
                yield f"nobody compares the block {name}"
            elif expected[name] is not None:
                found, wanted = observation[where].tolist(), np.ravel(expected[name]).tolist()
                if found != wanted:
                    yield f"seat {seat} sees in block {name} {found}, should see {wanted}"
        if unknown := set(expected) - set(self.slices):
            yield f"no block holds {unknown}"

    def blocks(self, observer: int) -> dict[str, object]:
        """The blocks of the `flat` encoding from what the reference shows to everybody; None: not the reference's."""
        game, view, n = self.game, self.game.view(), self.n
        order = [(observer + i) % n for i in range(n)]
        cards = game.cards
        home = dict(zip(self.names, range(n), strict=True))

        def one_hot(names: Sequence[str], *chosen: str) -> list[int]:
            return [int(name in chosen) for name in names]

        in_step_a = self.core["stage"] in (PENALTIES, ICON_BY_ICON)

        def icons(card: str | None) -> list[int]:
            return [cards[card].penalties.count(icon) if card else 0 for icon in ICONS]

        def symbol(card: str | None) -> list[int]:
            return [int(bool(card) and cards[card].defence == s) for s in SYMBOLS]

        def value(card: str | None) -> list[int]:
            return [cards[card].value if card else 0]

        def flames(card: str | None) -> list[int]:
            return [int(bool(card) and cards[card].flames)]

        def left(seat: int) -> list[int]:
            found = {cards[card].defence: cards[card].value for card in view["left"][seat]}
            return [found.get(s, 0) for s in SYMBOLS]

        def depth(stack: list[str | None]) -> list[int]:
            return [stack.index(name) + 1 if name in stack else 0 for name in CARD_NAMES]

        in_use = view["open_in_use"]
        hand = view["card_in_hand"]
        top = [*view["raiders"], None, None, None][:3]
        level = ("easy", "normal", "hard", "heroic")
        open_now = {card for card in (*view["raiders"], *view["intruders"]) if card}
        stacks = {*game.raiders, *game.intruders}
        kind = {1: "plunderer", 2: "lieutenant", 3: "boss"}[game.round]
        hidden = []
        for name in CARD_NAMES:
            if name in stacks and name not in open_now and name in view["seen"]:
                hidden.append(2)
            else:
                there = cards[name].kind == kind and name not in view["seen"]
                hidden.append(int(there or (name in stacks and name not in open_now)))
        over = game.over
        return {
            "samurai": [one_hot(SAMURAI, self.names[s]) for s in order],
            "animal": [int(view["turned"][s]) for s in order],
            "wounded": [int(view["wounds"][s]) for s in order],
            "passed": [int(view["passed"][s]) for s in order],
            "active": [int(s == game.active and not over) for s in order],
            "decides": [int(s == game.seat and not over) for s in order],
            "in_kiai": [int(s in game.in_kiai) for s in order],
            "total": [view["total"][s] for s in order],
            "kiai": [view["kiai"][s] for s in order],
            "line": [([cards[c].value for c in view["right"][s]] + [0] * 12)[:12] for s in order],
            "penalty": [icons(view["right"][s][-1] if view["right"][s] else None) for s in order],
            "left": [left(s) for s in order],
            "token_home": [int(view["tokens"][self.names[s]] == s) for s in order],
            "borrowed": [one_hot(SAMURAI, *(t for t, s in view["tokens"].items() if s == o != home[t])) for o in order],
            "granted": [one_hot(SAMURAI, *(t for t, s in in_use.items() if s == o)) for o in order],
            "open_tokens": one_hot(SAMURAI, *view["open_tokens"]),
            "barricades": [game.barricades],
            "most_barricades": [game.max_barricades],
            "farmsteads": [game.farmsteads.count(back) for back in BACKS],
            "families": one_hot(FAMILIES, *game.families),
            "round": [int(game.round == i) for i in (1, 2, 3)],
            "level": one_hot(level, game.difficulty),
            "raiders_left": [len(game.raiders)],
            "intruders_left": [len(game.intruders)],
            "phase": np.zeros(len(PHASES)) if over else one_hot(PHASES, self.core["phase"]),
            "stage": one_hot(STAGES, STAGES[self.core["stage"]]),
            "asked": None if self.core["stage"] > TURN_OVER else [0] * n,
            "forbidden": [int(x) for x in (game.no_defend, game.no_support, game.no_talent, game.must_pass)],
            "next_icon": None if in_step_a else [0] * len(ICONS),
            "later_icon": None if in_step_a else [0] * len(ICONS),
            "hand_value": value(hand),
            "hand_symbol": symbol(hand),
            "hand_icons": icons(hand),
            "hand_flames": flames(hand),
            "holder": None if hand else [0] * n,
            "had": None if hand else [0] * n,
            "kept": None,
            "fights": None,
            "kiai_uses": None if game.in_kiai else [0],
            "giver": None if game.in_kiai else [0] * n,
            "token": None if game.in_kiai else [0] * MOST,
            "kiai_order": None if game.in_kiai else [0],
            "top_value": [value(c) for c in top],
            "top_symbol": [symbol(c) for c in top],
            "top_icons": [icons(c) for c in top],
            "top_flames": [flames(c) for c in top],
            "hidden": hidden,
            "discarded": [int(name in game.discard) for name in CARD_NAMES],
            "open_raider": depth(view["raiders"]),
            "open_intruder": depth(view["intruders"]),
        }
