"""Samurai, the board game (Reiner Knizia, 1998 / 2016): a slow reference in plain Python.

This file is written from the rules alone, to be read next to them and to test a fast
implementation against. Nothing is optimised. Decisions are small steps and actions are strings:

* first hand (option "choose"):  "H4" picks one tile of that kind;
* figure set-up:                 "c14r09.B" puts a buddha on the settlement c14r09;
* in a turn:                     a kind of tile, or "end" where the turn may be ended;
* after a land tile or a ship:   the hex to put it on;
* after "TX" (token exchange):   the hex of the own plain tile, then the hex where it goes;
* after "FX" (figure exchange):  "idle" (all exchanges that change nothing), or the spot of one
                                 figure, "c14r09.B", and then the spot of the other.

Figures: H helmet, B buddha, R rice. Tiles: H2..H4, B2..B4, R2..R4, S1..S3 (samurai), TX, RO
(ronin), SH1, SH2 (ships), FX. Hexes: c{column}r{row}, flat-top, odd columns half a hex lower.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "samurai_env" / "games" / "board" / "data"
BOARD_FILE = DATA / "board.json"
TILES_FILE = DATA / "tiles.json"

FIGURES = ("H", "B", "R")
HAND_SIZE = 5
ASIDE_LIMIT = 4

Hex = str
Spot = tuple[Hex, str]  # a settlement and one of the figures on it


# ---------------------------------------------------------------- components


@dataclass(frozen=True)
class TileKind:
    code: str
    strength: int
    copies: int
    plain: bool  # at most one a turn; the others are quick: any number a turn
    placed: bool  # only the figure exchange is not: it leaves the game
    counts_for: str  # the figures it helps to capture


def load_tiles() -> dict[str, TileKind]:
    """The 17 kinds of tile, by code."""
    letters = {"helmet": "H", "buddha": "B", "rice": "R", "samurai": "S", "ship": "SH"}
    single = {"token exchange": "TX", "ronin": "RO", "figure exchange": "FX"}
    kinds = {}
    for name, strength, copies, speed, _where in json.loads(TILES_FILE.read_text("utf-8"))["tiles"]:
        code = single[name] if name in single else f"{letters[name]}{strength}"
        counts_for = {"samurai": "HBR", "ronin": "HBR", "ship": "HBR", "helmet": "H", "buddha": "B", "rice": "R"}.get(
            name, ""
        )
        kinds[code] = TileKind(code, strength or 0, copies, speed == "plain", code != "FX", counts_for)
    return kinds


@dataclass(frozen=True, eq=False)
class BoardMap:
    land: frozenset[Hex]  # open land, without the settlements
    sea: frozenset[Hex]
    settlements: dict[Hex, int]  # how many figures each one takes: village 1, city 2, Edo 3
    neighbours: dict[Hex, frozenset[Hex]]

    @cache  # noqa: B019 (there are few maps)
    def settlements_of_size(self, figures: int) -> list[Hex]:
        return [h for h, size in self.settlements.items() if size == figures]


def load_map(players: int) -> BoardMap:
    """The hexes in play: Honshu; + Kyushu and Shikoku; + Hokkaido."""
    rows = json.loads(BOARD_FILE.read_text("utf-8"))["hexes"]
    land, sea, settlements, where = set(), set(), {}, {}
    for col, row, terrain, settlement, figures, _name, _island, min_players in rows:
        if min_players > players:
            continue
        h = f"c{col:02d}r{row:02d}"
        where[col, row - (col - (col & 1)) // 2] = h  # axial coordinates
        if settlement:
            settlements[h] = figures
        else:
            (land if terrain == "land" else sea).add(h)
    directions = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
    neighbours = {
        h: frozenset(where[q + a, r + b] for a, b in directions if (q + a, r + b) in where)
        for (q, r), h in where.items()
    }
    return BoardMap(frozenset(land), frozenset(sea), settlements, neighbours)


# ---------------------------------------------------------------- pure rules


def winners_from(captured: list[dict[str, int]]) -> list[int]:
    """The seats that win (or share the win) with these captured figures."""
    seats = range(len(captured))
    total = [sum(captured[s].get(k, 0) for k in FIGURES) for s in seats]

    # A majority is the *sole* most of a kind; a tie for the most counts for nobody.
    majorities: dict[int, list[str]] = {s: [] for s in seats}
    for kind in FIGURES:
        counts = [captured[s].get(kind, 0) for s in seats]
        if counts.count(max(counts)) == 1:
            majorities[counts.index(max(counts))].append(kind)

    # 1. A player with the majority of two or three kinds wins.
    for s in seats:
        if len(majorities[s]) >= 2:
            return [s]

    # 3. No majority at all: most figures in total; tied players share the win.
    eligible = [s for s in seats if majorities[s]]
    if not eligible:
        return [s for s in seats if total[s] == max(total)]

    # 2. Those with one majority compare their figures of the two other kinds, ...
    others = {s: total[s] - captured[s].get(majorities[s][0], 0) for s in eligible}
    best = [s for s in eligible if others[s] == max(others.values())]
    # ... then all their figures; who is still tied shares the win.
    return [s for s in best if total[s] == max(total[b] for b in best)]


@cache
def pool_fits(pool: tuple[int, int, int], cities: tuple[frozenset[str], ...]) -> bool:
    """Can the rest of the pool be placed legally, the cities holding these figures so far?

    Only cities restrict anything (two different figures each): once they are full, the pool
    is as large as the number of free villages, and a village takes any figure.
    """
    unfilled = [c for c in cities if len(c) < 2]
    if not unfilled:
        return True
    city, rest = unfilled[0], unfilled[1:]
    for i, kind in enumerate(FIGURES):
        if pool[i] > 0 and kind not in city:
            smaller = tuple(n - (j == i) for j, n in enumerate(pool))
            if pool_fits(smaller, (city | {kind}, *rest)):
                return True
    return False


# ---------------------------------------------------------------- the game


class BoardGame:
    def __init__(
        self,
        players: int,
        edition: str,
        first_hand: str,
        figure_setup: str,
        orders: list[list[str]],
        figures: dict[Hex, set[str]] | None = None,
        first: int = 0,
        ending: str = "turn",
        token_exchange: str = "plain",
    ):
        for value, allowed in (
            (players, (2, 3, 4)),
            (edition, ("1998", "2016")),
            (first_hand, ("choose", "random")),
            (figure_setup, ("alternate", "free", "random")),
            (first, range(players)),
            (ending, ("turn", "at_once")),
            (token_exchange, ("plain", "any")),
        ):
            if value not in allowed:
                raise ValueError(f"{value!r} is not one of {allowed}")
        self.players = players
        self.edition = edition
        self.figure_setup = figure_setup
        self.first = first  # the seat that begins: first picks, first figure, first turn
        self.ending = ending
        self.token_exchange = token_exchange
        if ending == "at_once" and edition != "1998":
            raise ValueError("in 2016 nothing is captured before the end of a turn")
        self.map = load_map(players)
        self.kinds = load_tiles()

        full_set = Counter({k.code: k.copies for k in self.kinds.values()})
        if len(orders) != players or any(Counter(order) != full_set for order in orders):
            raise ValueError("each seat needs an order of exactly the 20 tiles of a player")
        self.hands: list[Counter[str]] = [Counter() for _ in range(players)]
        self.supplies: list[list[str]] = [list(order) for order in orders]
        self.tiles: dict[Hex, tuple[int, str]] = {}  # who lies where: owner and kind
        self.figures: dict[Hex, set[str]] = {h: set() for h in self.map.settlements}
        self.captured: list[Counter[str]] = [Counter() for _ in range(players)]
        self.aside: Counter[str] = Counter()
        # As many of each kind as just fill the settlements: 7, 10 or 13.
        self.pool = Counter({k: sum(self.map.settlements.values()) // 3 for k in FIGURES})

        if (figure_setup == "random") != (figures is not None):
            raise ValueError("`figures` goes with figure_setup='random', and only with it")
        if figures is not None:
            self._check_placement(figures)
        self._placement = figures and {h: set(there) for h, there in figures.items()}

        self.seat = first  # who decides now; after the end: who moved last
        self.phase = "first hand"
        self.turns = 0
        self._clear_turn()
        if first_hand == "random":
            for seat in range(players):
                self._refill(seat)
            self._set_up()

    def _clear_turn(self) -> None:
        self.played = 0  # tiles played this turn, of any kind
        self.placed = 0  # those of them that were placed on the board
        self.played_plain = False
        self._clear_pending()

    def _clear_pending(self) -> None:
        self.pending_tile: str | None = None  # the chosen kind, not yet resolved
        self.pending_hex: Hex | None = None  # token exchange: the hex it took
        self.pending_moved: str | None = None  # token exchange: the tile to be put down again
        self.pending_figure: Spot | None = None  # figure exchange: the first figure

    @property
    def over(self) -> bool:
        return self.phase == "over"

    # ------------------------------------------------------------ decisions

    def legal(self) -> set[str]:
        if self.phase == "first hand":
            return set(self.supplies[self.seat])
        if self.phase == "figure set-up":
            return {f"{h}.{k}" for h in self.figures for k in FIGURES if self._may_put(h, k)}
        if self.phase == "tile":
            return self.playable(self.seat) | ({"end"} if self._may_end() else set())
        if self.phase == "place":
            return self.places_for(self.pending_tile)
        if self.phase == "own tile":
            return self.own_movable_tiles(self.seat)
        if self.phase == "moved tile":
            return self.empty_land()  # not its own hex: the token exchange lies there now
        if self.phase == "first figure":
            firsts = {spot_name(s) for s in self.figure_spots() if self.partners(s)}
            return firsts | ({"idle"} if self.idle_exchange_exists() else set())
        if self.phase == "second figure":
            return {spot_name(s) for s in self.partners(self.pending_figure)}
        return set()

    def apply(self, action: str) -> None:
        if action not in self.legal():
            raise ValueError(f"illegal action {action!r} for seat {self.seat} in phase {self.phase!r}")
        if self.phase == "first hand":
            self._pick(action)
        elif self.phase == "figure set-up":
            self._put_figure(*spot_of(action))
        elif self.phase == "tile" and action == "end":
            self._end_turn()
        elif self.phase == "tile":
            self._choose_tile(action)
        elif self.phase == "place":
            self.tiles[action] = (self.seat, self.pending_tile)
            self._tile_resolved()
        elif self.phase == "own tile":
            # The token exchange takes the place of the own tile, which is put down at once.
            self.pending_hex = action
            self.pending_moved = self.tiles[action][1]
            self.tiles[action] = (self.seat, "TX")
            self.phase = "moved tile"
        elif self.phase == "moved tile":
            self.tiles[action] = (self.seat, self.pending_moved)
            self._tile_resolved()
        elif self.phase == "first figure" and action == "idle":
            self._tile_resolved()  # nothing changes; the tile is out of the game
        elif self.phase == "first figure":
            self.pending_figure = spot_of(action)
            self.phase = "second figure"
        else:
            self._exchange(self.pending_figure, spot_of(action))
            self._tile_resolved()

    # ------------------------------------------------------------ set-up

    def _pick(self, kind: str) -> None:
        """Each player picks five tiles, seat after seat; the rest, in order, is the supply."""
        self.supplies[self.seat].remove(kind)
        self.hands[self.seat][kind] += 1
        if self.hands[self.seat].total() == HAND_SIZE:
            self.seat = (self.seat + 1) % self.players
            if self.seat == self.first:
                self._set_up()

    def _set_up(self) -> None:
        """The first hands are chosen: only now do figures come onto the board."""
        start = self._placement
        if start is None:  # Edo gets one figure of each kind, the rest is put from the pool
            start = {h: set(FIGURES) for h in self.map.settlements_of_size(3)}
        for h, there in start.items():
            self.figures[h] = set(there)
            self.pool.subtract(there)
        self.seat = self.first
        self.phase = "figure set-up"
        if self.pool.total() == 0:
            self._start_turn(self.first)

    def _may_put(self, h: Hex, kind: str) -> bool:
        """May this figure be put on this settlement now?"""
        if self.pool[kind] == 0 or len(self.figures[h]) == self.map.settlements[h]:
            return False
        if kind in self.figures[h]:
            return False  # a city holds two *different* figures
        cities = self.map.settlements_of_size(2)
        cities_open = any(len(self.figures[c]) < 2 for c in cities)
        if self.figure_setup == "alternate" and cities_open and h not in cities:
            return False  # cities first; in "free" any open city or village, in any order
        # Ruling: no placement after which the pool could not be placed legally.
        pool = tuple(self.pool[k] - (k == kind) for k in FIGURES)
        return pool_fits(
            pool, tuple(frozenset(self.figures[c] | {kind} if c == h else self.figures[c]) for c in cities)
        )

    def _put_figure(self, h: Hex, kind: str) -> None:
        """The players put one figure each in turn, clockwise, until the pool is empty."""
        self.figures[h].add(kind)
        self.pool[kind] -= 1
        if self.pool.total():
            self.seat = (self.seat + 1) % self.players
        else:
            self._start_turn(self.first)  # who placed the first figure takes the first turn

    def _check_placement(self, figures: dict[Hex, set[str]]) -> None:
        """Is this a legal complete set-up?"""
        if set(figures) != set(self.map.settlements):
            raise ValueError("the placement must name exactly the settlements in play")
        for h, there in figures.items():
            if not set(there) <= set(FIGURES) or len(set(there)) != len(there):
                raise ValueError(f"{h} may hold different figures of the kinds H, B and R only")
            if len(there) != self.map.settlements[h]:
                raise ValueError(f"{h} must hold {self.map.settlements[h]} figure(s)")
        used = Counter(k for there in figures.values() for k in there)
        if used != self.pool:
            raise ValueError("the placement must use equally many figures of each kind")

    # ------------------------------------------------------------ what can be played

    def empty_land(self) -> set[Hex]:
        """Open land without a tile; a settlement stays closed even without figures."""
        return {h for h in self.map.land if h not in self.tiles}

    def places_for(self, kind: str) -> set[Hex]:
        """Ships go on an empty sea hex, all other placed tiles on an empty land hex."""
        if kind in ("SH1", "SH2"):
            return {h for h in self.map.sea if h not in self.tiles}
        return self.empty_land()

    def own_movable_tiles(self, seat: int) -> set[Hex]:
        """Hexes of the tiles that a token exchange of this seat can move.

        They are its plain tiles; with "any" all its tiles on land: only ships lie on the sea, so
        the token exchange cannot take the place of one.
        """
        own = {h: kind for h, (owner, kind) in self.tiles.items() if owner == seat}
        if self.token_exchange == "any":
            return {h for h, kind in own.items() if h in self.map.land and kind != "TX"}
        return {h for h, kind in own.items() if self.kinds[kind].plain}

    def playable(self, seat: int) -> set[str]:
        """The kinds in the hand of this seat that have a legal use now."""
        return {kind for kind, n in self.hands[seat].items() if n > 0 and self._has_use(seat, kind)}

    def _has_use(self, seat: int, kind: str) -> bool:
        if self.kinds[kind].plain and self.played_plain:
            return False  # at most one plain tile a turn
        if kind == "FX":
            return self.exchange_exists()
        if kind == "TX":
            return bool(self.own_movable_tiles(seat)) and bool(self.empty_land())
        return bool(self.places_for(kind))

    def _may_end(self) -> bool:
        """Has the compulsory tile been played?"""
        if self.edition == "1998":
            return self.played > 0  # any tile will do, a figure exchange too
        # 2016: a tile must be placed if one can be (a token exchange counts as placed).
        could_place = any(self.kinds[k].placed for k in self.playable(self.seat))
        return self.placed > 0 or (self.played > 0 and not could_place)

    # ------------------------------------------------------------ figure exchange

    def on_board(self) -> dict[str, int]:
        return {k: sum(k in there for there in self.figures.values()) for k in FIGURES}

    def figure_spots(self) -> list[Spot]:
        return [(h, k) for h, there in self.figures.items() for k in sorted(there)]

    def partners(self, spot: Spot) -> list[Spot]:
        """The figures with which this one can really change places."""
        h, kind = spot
        return [
            (other, k)
            for other, k in self.figure_spots()
            if other != h
            and k != kind  # otherwise the exchange would be idle;
            # no settlement may end with two of a kind
            and k not in self.figures[h]
            and kind not in self.figures[other]
        ]

    def idle_exchange_exists(self) -> bool:
        """Two equal figures anywhere, or two different figures of one settlement."""
        equal = any(n >= 2 for n in self.on_board().values())
        return equal or any(len(there) >= 2 for there in self.figures.values())

    def exchange_exists(self) -> bool:
        return self.idle_exchange_exists() or any(self.partners(s) for s in self.figure_spots())

    def _exchange(self, one: Spot, other: Spot) -> None:
        self.figures[one[0]].remove(one[1])
        self.figures[other[0]].remove(other[1])
        self.figures[one[0]].add(other[1])
        self.figures[other[0]].add(one[1])

    # ------------------------------------------------------------ a turn

    def _start_turn(self, seat: int) -> None:
        """The next player who can play anything; the others are passed over."""
        self._clear_turn()
        for step in range(self.players):
            candidate = (seat + step) % self.players
            if self.playable(candidate):
                self.seat = candidate
                self.phase = "tile"
                self.turns += 1
                return
        self.phase = "over"  # ruling: nobody can ever play again

    def _choose_tile(self, kind: str) -> None:
        """The tile leaves the hand; what to do with it is chosen next."""
        self.hands[self.seat] -= Counter([kind])
        self.pending_tile = kind
        self.played_plain = self.played_plain or self.kinds[kind].plain
        self.phase = {"TX": "own tile", "FX": "first figure"}.get(kind, "place")

    def _tile_resolved(self) -> None:
        self.played += 1
        self.placed += self.kinds[self.pending_tile].placed
        self._clear_pending()
        if self.edition == "1998":
            self._capture()  # at once, after each tile is resolved
        if self.ending == "at_once" and self._end_reached():
            self._clear_turn()
            self.phase = "over"  # in mid-turn: nothing more is played, and no tiles are drawn
        elif self.playable(self.seat):
            self.phase = "tile"
        else:
            self._end_turn()  # nothing more can be played

    def _end_turn(self) -> None:
        if self.edition == "2016":
            self._capture()  # at the end of the turn, before the refill
        self._refill(self.seat)
        if self._end_reached():
            self._clear_turn()
            self.phase = "over"
        else:
            self._start_turn((self.seat + 1) % self.players)

    def _refill(self, seat: int) -> None:
        """Back to five tiles, as far as the supply goes."""
        while self.supplies[seat] and self.hands[seat].total() < HAND_SIZE:
            self.hands[seat][self.supplies[seat].pop(0)] += 1

    # ------------------------------------------------------------ capture and end

    def surrounded(self, settlement: Hex) -> bool:
        """Every adjacent land hex holds a tile; the sea need not."""
        return self.map.neighbours[settlement] & self.map.land <= self.tiles.keys()

    def influence(self, settlement: Hex, figure: str) -> list[int]:
        """For each player the strengths of the own adjacent tiles that count for the figure."""
        strengths = [0] * self.players
        for h in self.map.neighbours[settlement]:
            if h in self.tiles:
                owner, kind = self.tiles[h]
                if figure in self.kinds[kind].counts_for:
                    strengths[owner] += self.kinds[kind].strength
        return strengths

    def _capture(self) -> None:
        for settlement in self.figures:
            if self.surrounded(settlement):
                for figure in sorted(self.figures[settlement]):
                    strengths = self.influence(settlement, figure)
                    if strengths.count(max(strengths)) == 1:
                        self.captured[strengths.index(max(strengths))][figure] += 1
                    else:
                        self.aside[figure] += 1  # a tie for the highest, all-zero included
                self.figures[settlement] = set()

    def _end_reached(self) -> bool:
        return self.aside.total() >= ASIDE_LIMIT or any(n == 0 for n in self.on_board().values())

    def winners(self) -> list[int]:
        return winners_from(self.captured) if self.over else []

    def returns(self) -> list[float]:
        """(n * share - 1) / (n - 1) at the end: a sole winner has +1, an all-way tie 0."""
        n, winners = self.players, self.winners()
        if not winners:  # before the end
            return [0.0] * n
        return [(n * ((s in winners) / len(winners)) - 1) / (n - 1) for s in range(n)]

    # ------------------------------------------------------------ knowledge

    def view(self, seat: int) -> dict:
        """Everything this seat may know; seats are relative: 0 itself, then clockwise."""
        clockwise = [(seat + i) % self.players for i in range(self.players)]
        return {
            "hand": +self.hands[seat],
            "supply": Counter(self.supplies[seat]),
            "unseen": [self.hands[s] + Counter(self.supplies[s]) for s in clockwise[1:]],
            "hand_sizes": [self.hands[s].total() for s in clockwise],
            "supply_sizes": [len(self.supplies[s]) for s in clockwise],
            "tiles": {h: ((owner - seat) % self.players, k) for h, (owner, k) in self.tiles.items()},
            "figures": {h: set(there) for h, there in self.figures.items()},
            "captured": [+self.captured[s] for s in clockwise],
            "aside": +self.aside,
            "pool": +self.pool,
            "phase": self.phase,
            "turn": None if self.over else (self.seat - seat) % self.players,
            "played": self.played,
            "placed": self.placed,
            "played_plain": self.played_plain,
            "pending_tile": self.pending_tile,
            "pending_hex": self.pending_hex,
            "pending_moved": self.pending_moved,
            "pending_figure": self.pending_figure,
        }


def spot_name(spot: Spot) -> str:
    return f"{spot[0]}.{spot[1]}"


def spot_of(name: str) -> Spot:
    h, kind = name.split(".")
    return h, kind
