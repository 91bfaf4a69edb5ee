"""The board game's side of `tests.agreement.match`: the reference dealt like the core, and every field compared."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, cycle

import numpy as np

from samurai_env.core.encoding import Encoding
from samurai_env.games.board.actions import LAND0, SEA0, SPOT0, names
from samurai_env.games.board.rules.tiles import KIND_CODES
from samurai_env.games.board.rules.topology import LANDS, SEAS, SETTLEMENT, SETTLEMENTS
from samurai_env.games.board.state import PHASES
from samurai_env.position import Position
from tests.agreement.match import Match as Base
from tests.agreement.state_bytes import StateBytes
from tests.reference import board as reference
from tests.reference.board import FIGURES, HAND_SIZE, BoardGame

# The reference reads its files for every game; nobody changes what it gets.
load_map = reference.load_map = cache(reference.load_map)
load_tiles = reference.load_tiles = cache(reference.load_tiles)

KINDS = len(KIND_CODES)
KIND = {code: i for i, code in enumerate(KIND_CODES)}
FIGURE = {figure: i for i, figure in enumerate(FIGURES)}
TX = KIND["TX"]
MOVABLE = {
    "plain": [kind.plain and code != "TX" for code, kind in load_tiles().items()],
    "any": [kind.placed and code not in ("TX", "SH1", "SH2") for code, kind in load_tiles().items()],
}
PHASE = {name: i for i, name in enumerate(PHASES)}
# The reference's name of a phase -> the core's; "place" has two.
PHASE_OF = {
    "first hand": "first_hand",
    "figure set-up": "setup",
    "tile": "tile",
    "own tile": "token_from",
    "moved tile": "token_to",
    "first figure": "figure_first",
    "second figure": "figure_second",
}
# What a seat has, in the order of `Match.row_of`.
OF_SEATS = ("hand", "unseen", "kinds", "drawn", "hand_size", "supply_size")
OF_TURN = ("phase", "plain_played", "may_end")
# What the state holds beyond the reference.
OWN_AFFAIRS = ("seed", "rng", "steps")
# By kind of tile and figure, from the reference's description of the tiles.
STRENGTH = np.array([[t.strength * (f in t.counts_for) for f in FIGURES] for t in load_tiles().values()], np.int8)


class Tables:
    """The reference's map in the core's order, for one number of players."""

    def __init__(self, n: int) -> None:
        self.map = load_map(n)
        self.lands = names(n)[LAND0 : LAND0 + LANDS[n]]
        self.seas = names(n)[SEA0[n] : SEA0[n] + SEAS[n]]
        self.towns = [s.label for s in SETTLEMENT[: SETTLEMENTS[n]]]
        self.hexes = {h: i for i, h in enumerate((*self.lands, *self.seas))}
        self.town_index = {h: i for i, h in enumerate(self.towns)}
        self.spots = {spot: i for i, spot in enumerate(names(n)[SPOT0[n] :])}
        self.town_lands = {t: self.map.neighbours[t] & self.map.land for t in self.towns}
        self.beside = {h: [t for t in self.towns if h in self.map.neighbours[t]] for h in self.hexes}
        self.town_bit = {t: 1 << i for t, i in self.town_index.items()}
        # (settlement, hex): whether they touch; (tile code of the state): strength by figure and seat
        self.touches = np.array([[h in self.map.neighbours[t] for h in self.hexes] for t in self.towns], np.float32)
        power = np.zeros((1 + n * KINDS, 3, n), np.float32)
        for seat in range(n):
            power[1 + seat * KINDS : 1 + (seat + 1) * KINDS, :, seat] = STRENGTH
        self.power = power.reshape(1 + n * KINDS, 3 * n)
        self.codes = [{code: 1 + KINDS * seat + kind for code, kind in KIND.items()} for seat in range(n)]
        # By reading of the option: (seat, tile code of the state), whether a token exchange of the seat can move it
        self.movable = {}
        for reading, kinds in MOVABLE.items():
            self.movable[reading] = np.zeros((n, 1 + n * KINDS), np.bool_)
            for seat in range(n):
                self.movable[reading][seat, 1 + seat * KINDS : 1 + (seat + 1) * KINDS] = kinds


tables = cache(Tables)


class Reference(BoardGame):
    """The reference's game from the same deal as a position just begun, which it follows.

    What the reference asks again and again is worked out once, by its own code, until it can have changed.
    """

    def __init__(self, position: Position) -> None:
        self.position = position
        self.known: set[str] | None = None
        self.before_capture: Callable[[], None] = lambda: None
        self._empty: tuple[int, set[str], set[str]] = (-1, set(), set())
        variant = position.variant
        n, options = variant.num_players, dict(variant.options)
        options.pop("hide_captures")
        options["first"] = int(position.state["first_seat"])
        orders = [[KIND_CODES[kind] for kind in row] for row in position.state["supply"]]
        figures = some_placement(n) if options["figure_setup"] == "random" else None
        super().__init__(n, **options, orders=orders, figures=figures)

    def legal(self) -> set[str]:
        """Worked out once a decision (the reference asks again when it applies an action)."""
        if self.known is None:
            self.known = self._set_up_choices() if self.phase == "figure set-up" else super().legal()
        return self.known

    def _set_up_choices(self) -> set[str]:
        """Empty villages are alike, and what is full takes nothing: the rule is asked for the others."""
        found, of_villages = set(), None
        for h, there in self.figures.items():
            size = self.map.settlements[h]
            if size > 1:
                kinds = [kind for kind in FIGURES if self._may_put(h, kind)]
            elif there:
                continue
            else:
                if of_villages is None:
                    of_villages = [kind for kind in FIGURES if self._may_put(h, kind)]
                kinds = of_villages
            found.update([f"{h}.{kind}" for kind in kinds])
        return found

    def apply(self, action: str) -> None:
        super().apply(action)
        self.known = None

    def copy(self) -> "Reference":
        """A game of its own with what never changes in common."""
        other = object.__new__(Reference)
        other.__dict__.update(self.__dict__)
        for name in ("hands", "captured", "supplies"):
            other.__dict__[name] = [entry.copy() for entry in self.__dict__[name]]
        other.tiles, other.aside, other.pool = self.tiles.copy(), self.aside.copy(), self.pool.copy()
        other.figures = {h: there.copy() for h, there in self.figures.items()}
        other.before_capture = lambda: None
        return other

    def perft(self, depth: int) -> int:
        """Number of sequences of decisions of this length, or that end the game before."""
        if depth == 1:
            return len(self.legal())
        total = 0
        for action in self.legal():
            after = self.copy()
            after.apply(action)
            total += 1 if after.over else after.perft(depth - 1)
        return total

    def on_board(self) -> dict[str, int]:
        found = Counter(chain.from_iterable(self.figures.values()))
        return {figure: found[figure] for figure in FIGURES}

    def empty_land(self) -> set[str]:
        return self._empty_places()[1]

    def places_for(self, kind: str) -> set[str]:
        return self._empty_places()[2] if kind == "SH1" or kind == "SH2" else self.empty_land()

    def _empty_places(self) -> tuple[int, set[str], set[str]]:
        """On land and sea. Tiles never leave the board, so their number tells whether there is a new one."""
        if self._empty[0] != len(self.tiles):
            self._empty = len(self.tiles), super().empty_land(), super().places_for("SH1")
        return self._empty

    def _pick(self, kind: str) -> None:
        seat = self.seat
        super()._pick(kind)
        if self.hands[seat].total() == HAND_SIZE:  # the core shuffles the rest now
            state = self.position.state
            order = [KIND_CODES[tile] for tile in state["supply"][seat, state["drawn"][seat] :]]
            if Counter(order) == Counter(self.supplies[seat]):  # else the comparison of the supplies tells
                self.supplies[seat] = order

    def _capture(self) -> None:
        self.before_capture()
        super()._capture()

    def _set_up(self) -> None:
        if self.figure_setup == "random":  # the core draws the figures when the last hand is complete
            words = [int(word) for word in self.position.state["figures"]]
            self._placement = {
                h: {f for f, word in zip(FIGURES, words, strict=True) if word >> i & 1}
                for i, h in enumerate(tables(self.players).towns)
            }
            self._check_placement(self._placement)
        super()._set_up()


@cache
def some_placement(players: int) -> dict[str, set[str]]:
    """A legal set-up."""
    places = load_map(players).settlements
    pairs = cycle([{"H", "B"}, {"B", "R"}, {"R", "H"}])
    placement = {h: set(FIGURES) if size == 3 else next(pairs) for h, size in places.items() if size > 1}
    used = Counter(f for there in placement.values() for f in there)
    rest = [f for f in FIGURES for _ in range(sum(places.values()) // 3 - used[f])]
    return placement | {h: {rest.pop()} for h, size in places.items() if size == 1}


class Style:
    """How one seat plays in one game: which tiles it likes, and where it likes to put them."""

    def __init__(self, rng: random.Random) -> None:
        self.uniform = rng.random() < 0.3
        self.weights = {code: 2.0 ** rng.gauss(0, 2) for code in (*KIND_CODES, "end")}
        for rare in ("TX", "FX", "SH1", "SH2", "RO"):
            self.weights[rare] *= rng.choice((1, 4))
        self.weights["end"] *= rng.choice((0.1, 1, 10))
        self.place = rng.choice(("anywhere", "crowded", "open"))


class Match(Base):
    """One board game on both sides."""

    def __init__(self, position: Position, rng: random.Random) -> None:
        super().__init__(position, rng)
        self.n = position.variant.num_players
        self.hiding = position.variant.options["hide_captures"]
        self.reading = position.variant.options["token_exchange"]
        self.movable = MOVABLE[self.reading]
        self.t = tables(self.n)
        self.game = Reference(position)
        self.expected = StateBytes(position.states)
        self.encoding: Encoding = position.variant.encoding("flat")
        self.slices = self.encoding.slices()
        self.observation = np.empty(self.encoding.shape, np.int8)
        self.styles = [Style(rng) for _ in range(self.n)]
        if rng.random() < 0.05:  # somebody runs out of tiles while somebody else spares them
            for seat, style in enumerate(self.styles):
                style.uniform, style.place = False, "open"
                style.weights = dict.fromkeys(style.weights, 1.0) | {"end": 0.001 if seat == 0 else 1000.0}
        self.empty = {town: len(around) for town, around in self.t.town_lands.items()}
        self.rows: list[tuple[bytes, ...]] = [()] * self.n
        self.supplies = [b""] * self.n
        self.waiting: dict[str, dict[str, int]] = {}  # 2016: what in 1998 would have been captured already
        self.game.before_capture = self.count_captures
        self.last_tile: str | None = None
        self.expect_options()
        self.expect_hands(range(self.n))
        self.expect_figures()
        self.sum_up_tiles()

    # ------------------------------------------------------------ playing

    def legal(self) -> set[str]:
        return self.game.legal()

    def choose(self, legal: list[str]) -> str:
        rng, game = self.rng, self.game
        style = self.styles[game.seat]
        if len(legal) == 1:
            return legal[0]
        if self.waiting and rng.random() < 0.6:  # whatever follows a surround is rare
            preferred = [action for action in legal if self.disturbs(action)]
            if preferred:
                return rng.choice(preferred)
        if game.hands[game.seat]["TX"] and not game.played_plain:  # a token exchange after a surround: ronin first
            if game.phase == "tile" and "RO" in legal and rng.random() < 0.7:
                return "RO"
            if game.pending_tile == "RO":
                return min(legal, key=self.room)
        if game.phase == "tile" and not style.uniform:
            return rng.choices(legal, [style.weights[action] for action in legal])[0]
        if game.phase in ("place", "moved tile") and style.place != "anywhere" and rng.random() < 0.8:
            few = rng.sample(legal, min(len(legal), 6))
            return min(few, key=self.room) if style.place == "crowded" else max(few, key=self.room)
        if game.phase == "first figure" and "idle" in legal and rng.random() < 0.3:
            return "idle"
        return rng.choice(legal)

    def room(self, place: str) -> int:
        """How many land hexes are empty around the fuller of the settlements beside a hex."""
        return min((self.empty[town] for town in self.t.beside[place]), default=9)

    def disturbs(self, action: str) -> bool:
        """Whether an action can change what the settlements surrounded in this turn will bring."""
        if self.game.phase == "tile":
            return action in ("TX", "FX", "SH1", "SH2")
        if self.game.phase == "own tile" or (self.game.phase == "place" and action in self.t.map.sea):
            return any(town in self.waiting for town in self.t.beside[action])
        return action.partition(".")[0] in self.waiting

    def apply(self, action: str) -> None:
        game, events = self.game, self.events
        phase, seat, turns, aside = game.phase, game.seat, game.turns, game.aside.total()
        ended = phase == "tile" and game._end_reached()
        hand = game.hands[seat].total()
        if phase == "tile":
            self.last_tile = action
            events["end chosen" if action == "end" else action] += 1
            if game.hands[seat]["TX"] and not game.played_plain and "TX" not in game.legal():
                events["token exchange without a use"] += 1
        if phase in ("place", "moved tile") and action in self.t.map.land:
            for town in self.t.beside[action]:
                self.empty[town] -= 1
        game.apply(action)
        turn_over = game.over or game.turns != turns
        if phase in ("tile", "first hand") or turn_over:
            self.expect_hands([seat])
        if turn_over or action == "idle" or phase not in ("tile", "own tile", "first figure"):
            self.expect_figures()
        if phase in ("first hand", "figure set-up"):
            events[phase] += 1
            return
        if phase in ("place", "own tile", "moved tile"):
            self.sum_up_tiles()
        if phase == "moved tile":
            events["token exchange"] += 1
            events["the ronin moved"] += game.tiles[action][1] == "RO"
        if game.over and phase != "tile" and game.ending == "at_once":
            events["ended in mid-turn"] += bool(game.playable(seat)) and game.hands[seat].total() == hand
        if action == "idle":
            events["idle exchange"] += 1
        if phase == "second figure":
            events["real exchange"] += 1
        events["set aside"] += game.aside.total() - aside
        if ended:
            events["ended after the end condition" if action == "end" else "went on after the end condition"] += 1
        if turn_over:
            self.count_turn(seat, action)
            self.waiting = {}
        elif game.phase == "tile" and game.edition == "2016":
            self.waiting = {town: self.takers(town) for town in self.about_to_fall()}

    def count_turn(self, seat: int, action: str) -> None:
        """Count what a turn's end can bring."""
        game, events = self.game, self.events
        events["turn"] += 1
        if action != "end":
            events["turn ended by itself"] += 1
        if not game.supplies[seat]:
            events["supply empty"] += 1
        if game.over:
            events["shared win" if len(game.winners()) > 1 else "sole win"] += 1
            events["ended by figures set aside"] += game.aside.total() >= 4
            events["ended by a kind used up"] += min(game.on_board().values()) == 0
        else:
            events["passed over"] += (game.seat - seat - 1) % self.n

    def about_to_fall(self) -> list[str]:
        """The surrounded settlements that hold figures."""
        return [town for town, there in self.game.figures.items() if there and not self.empty[town]]

    def takers(self, town: str) -> dict[str, int]:
        """By figure on a settlement: the seat that would take it now, -1 for a tie, -2 for one at zero."""
        found = {}
        for figure in self.game.figures[town]:
            strengths = self.game.influence(town, figure)
            best = max(strengths)
            found[figure] = strengths.index(best) if strengths.count(best) == 1 else -1 if best else -2
        return found

    def count_captures(self) -> None:
        """Count what is about to be captured, and what the tile after a surround has changed (too late in 1998)."""
        takers = {town: self.takers(town) for town in self.about_to_fall()}
        for by_figure in takers.values():
            for taker in by_figure.values():
                self.events["taken" if taker >= 0 else "tied" if taker == -1 else "tied at zero"] += 1
        if any(takers[town] != before for town, before in self.waiting.items()):
            self.events[f"{self.last_tile} changed a capture after the surround"] += 1

    def perft(self, depth: int) -> int | None:
        if self.game.phase == "first hand" and self.game.figure_setup == "random":
            return None  # the reference does not know yet what figures the core will draw
        return self.game.perft(depth)

    # ------------------------------------------------------------ comparing

    def expect_options(self) -> None:
        """What stays as it is for the whole game."""
        variant, expected = self.position.variant, self.expected
        for name, value in variant.option_items:
            if name != "first":
                expected.set_number(name, variant.game.options[name].values.index(value))
        expected.set_number("first_seat", self.game.first)
        expected.set_number("first_drawn", variant.options["first"] == "random")

    def sum_up_tiles(self) -> None:
        """All that follows from the tiles on the board, in the core's form."""
        game, t, n = self.game, self.t, self.n
        lands, lying, hexes, of_seat = len(t.lands), bytearray(len(t.hexes)), t.hexes, t.codes
        for h, (seat, code) in game.tiles.items():
            lying[hexes[h]] = of_seat[seat][code]
        if game.pending_hex:  # the core leaves the tile in its place until it is put down
            lying[hexes[game.pending_hex]] = of_seat[game.tiles[game.pending_hex][0]][game.pending_moved]
        codes = np.frombuffer(lying, np.int8)
        power = t.power[codes]
        movable = np.zeros((n, len(t.hexes) + 64), np.bool_)
        np.take(t.movable[self.reading], codes, 1, movable[:, : len(t.hexes)])
        assert not movable[:, lands:].any(), "a tile on the sea that can be moved"
        free = int.from_bytes(np.packbits(codes == 0, bitorder="little").tobytes(), "little")
        self.codes = codes
        self.influence = (t.touches @ power).astype(np.int8).reshape(-1, 3, n).transpose(2, 0, 1)  # seats first
        self.expected.fields |= {
            "land_tile": codes[:lands].tobytes(),
            "land_strength": power[:lands].reshape(lands, 3, n).sum(2).astype(np.int8).tobytes(),
            "sea_tile": codes[lands:].tobytes(),
            "influence": self.influence.tobytes(),
            "land_free": (free & ((1 << lands) - 1)).to_bytes(8, "little"),
            "sea_free": (free >> lands).to_bytes(16, "little"),
            "movable": np.packbits(movable[:, :64], 1, bitorder="little").tobytes(),
        }

    def row_of(self, seat: int) -> tuple[bytes, ...]:
        """What a seat has, in the core's form: the fields of `OF_SEATS`."""
        hand, supply = self.game.hands[seat], self.supplies[seat]
        row = [hand.get(code, 0) for code in KIND_CODES]
        unseen = [count + supply.count(kind) for kind, count in enumerate(row)]
        kinds = sum(1 << kind for kind, count in enumerate(row) if count)
        size = sum(row)
        picking = self.game.phase == "first hand" and size < HAND_SIZE
        drawn = 0 if picking else 20 - len(supply)
        return (
            bytes(row),
            bytes(unseen),
            kinds.to_bytes(4, "little"),
            bytes([drawn]),
            bytes([size]),
            bytes([len(supply)]),
        )

    def expect_hands(self, seats: Iterable[int]) -> None:
        """Hands and supplies, after those of some seats may have changed."""
        for seat in seats:
            self.supplies[seat] = bytes([KIND[code] for code in self.game.supplies[seat]])
            self.rows[seat] = self.row_of(seat)
        for name, values in zip(OF_SEATS, zip(*self.rows, strict=True), strict=True):
            self.expected.fields[name] = b"".join(values)

    def expect_supplies(self) -> None:
        """The order of the tiles that are still to be drawn; those drawn before may be any."""
        held, found = self.expected.held("supply"), []
        for seat, supply in enumerate(self.supplies):
            row = held[20 * seat : 20 * seat + 20]
            if self.game.phase == "first hand" and self.rows[seat][OF_SEATS.index("drawn")] == b"\0":
                unsorted = supply + bytes([KIND[code] for code in self.game.hands[seat].elements()])
                found.append(row if sorted(row) == sorted(unsorted) else unsorted)
            else:
                found.append(row[: 20 - len(supply)] + supply)
        self.expected.fields["supply"] = b"".join(found)

    def expect_figures(self) -> None:
        """Figures on settlements, in the pool and out of the game."""
        game, town_bit, empty = self.game, self.t.town_bit, self.empty
        words, surrounded = dict.fromkeys(FIGURES, 0), 0
        for town, there in game.figures.items():
            if there:
                bit = town_bit[town]
                for figure in there:
                    words[figure] |= bit
                if not empty[town]:
                    surrounded |= bit
        fields = self.expected.fields
        fields["figures"] = b"".join(word.to_bytes(8, "little") for word in words.values())
        fields["captured"] = bytes([taken[f] for taken in game.captured for f in FIGURES])
        fields["aside"] = bytes([game.aside[f] for f in FIGURES])
        fields["pool"] = bytes([game.pool[f] for f in FIGURES])
        self.expected.set_number("surrounded", surrounded)

    def expect_decision(self) -> None:
        """Who decides what."""
        game, expect = self.game, self.expected.set_number
        expect("seat", game.seat)
        expect("over", game.over)
        expect("winners", sum(1 << seat for seat in game.winners()))
        expect("tile", -1 if game.pending_tile is None else KIND[game.pending_tile])
        expect("from_land", -1 if game.pending_hex is None else self.t.hexes[game.pending_hex])
        spot = game.pending_figure
        expect("from_spot", -1 if spot is None else self.t.spots["{}.{}".format(*spot)])
        if game.over:
            self.expected.leave_open(OF_TURN)  # the core leaves them as they were when the game ends
        else:
            for name, value in self.of_turn().items():
                expect(name, value)

    def of_turn(self) -> dict[str, int]:
        """The phase and what has been done in this turn."""
        game = self.game
        placed = game.placed > 0 or (game.edition == "1998" and game.played > 0)
        return {"phase": PHASE[phase_of(game)], "plain_played": game.played_plain, "may_end": placed}

    def differences(self) -> Iterator[str]:
        game = self.game
        self.expect_supplies()
        self.expect_decision()
        self.expected.leave_open(OWN_AFFAIRS)
        yield from self.expected.differences()
        if game.over:
            returns, wanted = self.position.returns().tolist(), game.returns()
            if returns != wanted:
                yield f"returns are {returns}, the reference has {wanted}"
            share = [taken.total() / sum(self.t.map.settlements.values()) for taken in game.captured]
            if not np.allclose(self.position.potential(), share):
                yield f"potential is {self.position.potential()}, the reference has {share}"

    # ------------------------------------------------------------ views

    def view_differences(self, seat: int) -> Iterator[str]:
        self.position.observe(seat, "flat", self.observation)
        expected = self.blocks(self.game.view(seat))
        if unknown := set(expected) - set(self.slices):
            yield f"no block holds {unknown}"
        wanted = [np.asarray(expected[name]).ravel() for name in self.slices]
        if not np.array_equal(np.concatenate(wanted), self.observation):
            for block, value in zip(self.encoding.blocks, wanted, strict=True):
                found = self.observation[self.slices[block.name]]
                if not np.array_equal(found, value):
                    said = f"{found.reshape(block.shape)}, may know {expected[block.name]}"
                    yield f"seat {seat} sees in block {block.name} {said}"
        town, figure = self.rng.choice(self.t.towns), self.rng.choice(FIGURES)
        if not self.game.pending_hex:
            direct = self.game.influence(town, figure)
            if self.influence[:, self.t.town_index[town], FIGURE[figure]].tolist() != direct:
                yield f"the summed influence on {figure} in {town} is not the reference's {direct}"

    def blocks(self, view: dict) -> dict[str, object]:
        """The blocks of the `flat` encoding from what a seat may know."""
        t, n = self.t, self.n
        lands, over = len(t.lands), self.game.over
        owner, strength = np.zeros((n, lands)), np.zeros((lands, 3))
        movable, ships, from_land = np.zeros(lands), np.zeros((n, len(t.seas))), np.zeros(lands)
        empty = np.array([len(t.town_lands[town]) for town in t.towns])
        influence = np.zeros((n, len(t.towns), 3), np.int64)
        for h, (player, code) in view["tiles"].items():
            index = t.hexes[h]
            if h == view["pending_hex"]:
                from_land[index] = 1
                code = view["pending_moved"]
            kind = KIND[code]
            for town in t.beside[h]:
                influence[player, t.town_index[town]] += STRENGTH[kind]
                empty[t.town_index[town]] -= index < lands
            if index < lands:
                owner[player, index] = 1
                strength[index] = STRENGTH[kind]
                movable[index] = self.movable[kind]
            else:
                ships[player, index - lands] = STRENGTH[kind, 0]
        figures = np.array([[f in view["figures"][town] for town in t.towns] for f in FIGURES])
        pool = np.array(counts(view["pool"], FIGURES))
        from_spot = np.zeros(3 * (len(t.towns) - 1))
        if view["pending_figure"]:
            from_spot[t.spots["{}.{}".format(*view["pending_figure"])]] = 1
        captured = [counts(taken, FIGURES) for taken in view["captured"]]
        if self.hiding and not over:
            captured[1:] = [[-1] * 3] * (n - 1)
        pending = view["pending_tile"]
        return {
            "figures": figures,
            "influence": influence,
            "empty_land": empty,
            "land_owner": owner,
            "land_strength": strength,
            "land_movable": movable,
            "sea_strength": ships,
            "hand": counts(view["hand"], KIND_CODES),
            "unseen": [counts(u, KIND_CODES) for u in (view["hand"] + view["supply"], *view["unseen"])],
            "hand_size": view["hand_sizes"],
            "supply_size": view["supply_sizes"],
            "captured": captured,
            "to_move": [view["turn"] == player for player in range(n)],
            "aside": counts(view["aside"], FIGURES),
            "pool": pool,
            "phase": np.zeros(len(PHASES)) if over else np.arange(len(PHASES)) == self.of_turn()["phase"],
            "tile": [code == pending for code in KIND_CODES],
            "plain_played": [view["played_plain"] and not over],
            "may_end": [not over and self.of_turn()["may_end"]],
            "edition_2016": [self.game.edition == "2016"],
            "from_land": from_land,
            "from_spot": from_spot,
        }


def cells(players: int) -> np.ndarray:
    """Row and column in the `planes` encoding of each hex in play, in the order of the `tokens` encoding."""
    t = tables(players)
    at = np.array([(int(h[4:6]), int(h[1:3])) for h in (*t.towns, *t.hexes)])
    return at - at.min(0)


def counts(counter: Counter, keys: tuple[str, ...]) -> list[int]:
    """The counts of these keys, in order."""
    return [counter[key] for key in keys]


def phase_of(game: BoardGame) -> str:
    """The reference's phase by the core's name."""
    if game.phase == "place":
        return "sea" if game.pending_tile in ("SH1", "SH2") else "land"
    return PHASE_OF[game.phase]
