"""Tests of the plain-Python reference of the board game (tests/reference/board.py) alone."""

from __future__ import annotations

import copy
import random
from collections import Counter

import pytest

from tests.reference.board import (
    FIGURES,
    BoardGame,
    load_map,
    load_tiles,
    pool_fits,
    spot_name,
    winners_from,
)

EDITIONS = ("1998", "2016")
PLAYERS = (2, 3, 4)


# ---------------------------------------------------------------- building positions


def shuffled_orders(rng: random.Random, players: int) -> list[list[str]]:
    twenty = [code for code, kind in load_tiles().items() for _ in range(kind.copies)]
    return [rng.sample(twenty, len(twenty)) for _ in range(players)]


def random_placement(rng: random.Random, players: int) -> dict[str, set[str]]:
    """Every legal set-up equally likely: shuffle, and reject the illegal ones."""
    settlements = load_map(players).settlements
    each = sum(settlements.values()) // 3 - 1
    while True:
        pool = [k for k in FIGURES for _ in range(each)]
        rng.shuffle(pool)
        placement = {h: list(FIGURES) if n == 3 else [pool.pop() for _ in range(n)] for h, n in settlements.items()}
        if all(len(set(there)) == len(there) for there in placement.values()):
            return {h: set(there) for h, there in placement.items()}


def random_start(rng: random.Random, players: int, edition: str) -> BoardGame:
    return BoardGame(
        players, edition, "random", "random", shuffled_orders(rng, players), random_placement(rng, players)
    )


def position(
    edition: str,
    hands: list[str],
    tiles: dict[str, tuple[int, str]] | None = None,
    figures: dict[str, str] | None = None,
    supplies: list[str] | None = None,
    seat: int = 0,
) -> BoardGame:
    """A position with these hands ("S2 RO"), tiles and figures; `figures` changes settlements of
    a random set-up, or with {"only": ""} an empty board. The seat given is the first to move."""
    players = len(hands)
    game = random_start(random.Random(1), players, edition)
    game.hands = [Counter(hand.split()) for hand in hands]
    game.supplies = [s.split() for s in supplies] if supplies else [[] for _ in hands]
    game.tiles = dict(tiles or {})
    figures = dict(figures or {})
    if "only" in figures:
        del figures["only"]
        game.figures = {h: set() for h in game.figures}
    for h, there in figures.items():
        game.figures[h] = set(there)
    game._start_turn(seat)
    return game


def copy_of(game: BoardGame) -> BoardGame:
    """A copy that shares the map and the kinds of tile, which never change."""
    return copy.deepcopy(game, {id(shared): shared for shared in (game.map, game.kinds)})


def act(game: BoardGame, *actions: str) -> None:
    for action in actions:
        game.apply(action)


def whole_plays(game: BoardGame) -> list[tuple[str, ...]]:
    """All complete plays from a choice of tile: the exchange of two figures counts once."""
    plays: list[tuple[str, ...]] = []
    for action in sorted(game.legal()):
        if action == "end":
            plays.append((action,))
        elif action == "TX":
            own_tiles = sorted(game.own_movable_tiles(game.seat))
            plays += [(action, own, to) for own in own_tiles for to in sorted(game.empty_land())]
        elif action == "FX":
            plays += [(action, "idle")] if game.idle_exchange_exists() else []
            plays += [
                (action, spot_name(a), spot_name(b)) for a in game.figure_spots() for b in game.partners(a) if a < b
            ]
        else:
            plays += [(action, h) for h in sorted(game.places_for(action))]
    return plays


# ---------------------------------------------------------------- components and map


def test_tiles() -> None:
    kinds = load_tiles()
    assert len(kinds) == 17
    assert sum(k.copies for k in kinds.values()) == 20
    assert sum(k.copies for k in kinds.values() if k.plain) == 15
    quick = {code: k.copies for code, k in kinds.items() if not k.plain}
    assert quick == {"SH1": 2, "SH2": 1, "RO": 1, "FX": 1}
    assert [kinds[f"S{n}"].copies for n in (1, 2, 3)] == [2, 2, 1]
    assert kinds["TX"].strength == 0
    assert kinds["TX"].counts_for == ""
    assert kinds["B4"].counts_for == "B"
    assert kinds["SH2"].counts_for == "HBR"


@pytest.mark.parametrize(
    ("players", "hexes", "sea", "land", "villages", "cities", "each"),
    [(2, 91, 44, 30, 14, 2, 7), (3, 133, 64, 43, 23, 2, 10), (4, 174, 84, 56, 30, 3, 13)],
)
def test_map_counts(players, hexes, sea, land, villages, cities, each) -> None:
    board = load_map(players)
    assert len(board.neighbours) == hexes
    assert (len(board.sea), len(board.land)) == (sea, land)
    assert [len(board.settlements_of_size(n)) for n in (1, 2, 3)] == [villages, cities, 1]
    assert sum(board.settlements.values()) == 3 * each
    # 16 tiles a player fill a land hex: the land fills before the tiles run out.
    filling = sum(k.copies for c, k in load_tiles().items() if c not in ("SH1", "SH2", "FX"))
    assert filling == 16
    assert players * filling > land


@pytest.mark.parametrize("players", PLAYERS)
def test_map_neighbours(players) -> None:
    board = load_map(players)
    towns = set(board.settlements)
    for h, around in board.neighbours.items():
        assert all(h in board.neighbours[n] for n in around)
        assert len(around) <= 6
        if h in board.land:
            assert len(around & towns) == 2  # every open land hex borders two settlements
        if h in towns:
            assert len(around) == 6
            assert not around & towns  # settlements never touch
            # and their land neighbours never change with the player count
            assert around & board.land == load_map(4).neighbours[h] & load_map(4).land
    # Islands never touch by land: Honshu, Kyushu, Shikoku, Hokkaido are separate.
    dry, islands = set(board.land) | towns, 0
    while dry:
        islands += 1
        todo = [dry.pop()]
        while todo:
            near = board.neighbours[todo.pop()] & dry
            dry -= near
            todo += near
    assert islands == {2: 1, 3: 3, 4: 4}[players]


@pytest.mark.parametrize(
    ("players", "expected"),
    [(2, {2: 4, 3: 4, 4: 6, 5: 2, 6: 1}), (3, {2: 6, 3: 10, 4: 7, 5: 2, 6: 1}), (4, {2: 10, 3: 11, 4: 8, 5: 3, 6: 2})],
)
def test_settlements_by_land_neighbours(players, expected) -> None:
    board = load_map(players)
    assert Counter(len(board.neighbours[h] & board.land) for h in board.settlements) == expected
    inland = {h for h in board.settlements if not board.neighbours[h] & board.sea}
    assert inland == ({"c14r13", "c15r04"} if players == 4 else {"c14r13"})  # Edo and Sapporo


# ---------------------------------------------------------------- winner and payoff


def hbr(*counts: tuple[int, int, int]) -> list[dict[str, int]]:
    """Captured figures as (helmets, buddhas, rice) for each seat."""
    return [dict(zip(FIGURES, c, strict=True)) for c in counts]


@pytest.mark.parametrize(
    ("captured", "winners"),
    [
        # 2016 (green, red, gold): green most rice, red most buddhas, castles tied between green and
        # gold; 3 others each; totals 6 and 7: red wins.
        (hbr((2, 1, 3), (1, 4, 2), (2, 0, 1)), [1]),
        # 1998, first (green, blue, red, yellow): most rice and 6 others, most helmets and 5 others,
        # most buddhas and 4 others, none.
        (hbr((3, 3, 6), (5, 3, 2), (2, 6, 2), (3, 1, 3)), [0]),
        # 1998, second (red, yellow, blue, green): red most helmets and 1 + 2 others, total 9; yellow
        # most buddhas and 3 rice, total 8; blue and green tie for rice, and have more in total.
        (hbr((6, 1, 2), (0, 5, 3), (4, 3, 4), (3, 4, 4)), [0]),
        # The four-player example of the Polish page (Adam, Basia, Czesiek, Dominika): majorities for
        # all but Czesiek; Adam and Basia tie for the others, Basia has more in total.
        (hbr((4, 2, 3), (3, 5, 2), (1, 4, 3), (2, 2, 4)), [1]),
        # 3-5-3, 3-1-4, 3-4-3 (helmet, buddha, rice): the first wins with 6 others against 4.
        (hbr((3, 5, 3), (3, 1, 4), (3, 4, 3)), [0]),
        # Majorities of two or three kinds win, whatever the totals are.
        (hbr((2, 2, 0), (1, 1, 7)), [0]),
        (hbr((1, 1, 1), (0, 0, 0)), [0]),
        # Only one player has a majority: that player wins.
        (hbr((1, 0, 0), (0, 3, 3), (0, 3, 3)), [0]),
        # Everything equal after the totals: the victory is shared.
        (hbr((3, 2, 1), (2, 3, 1), (0, 0, 1)), [0, 1]),
        (hbr((3, 1, 1), (1, 3, 1), (1, 1, 3)), [0, 1, 2]),
        # No majority at all: most figures in total, and tied players share.
        (hbr((3, 3, 0), (3, 0, 3), (0, 3, 3)), [0, 1, 2]),
        (hbr((3, 3, 1), (3, 2, 3), (0, 3, 3)), [1]),
        (hbr((0, 0, 0), (0, 0, 0)), [0, 1]),
    ],
)
def test_winners(captured, winners) -> None:
    assert winners_from(captured) == winners
    # Seats carry no weight: turned round the table, the same players win.
    turned = captured[1:] + captured[:1]
    assert winners_from(turned) == sorted((w - 1) % len(captured) for w in winners)


def test_returns() -> None:
    game = position("1998", ["S1", "S1", "S1"])
    assert game.returns() == [0.0, 0.0, 0.0]
    assert game.winners() == []  # nothing before the end
    game.phase = "over"
    game.captured = [Counter(H=1, B=1), Counter(), Counter()]
    assert game.returns() == [1.0, -0.5, -0.5]
    game.captured = [Counter(H=1), Counter(B=1), Counter()]
    assert game.returns() == pytest.approx([0.25, 0.25, -0.5])
    game.captured = [Counter(), Counter(), Counter()]
    assert game.returns() == [0.0, 0.0, 0.0]


# ---------------------------------------------------------------- influence and capture


def test_influence_pictures_of_1998() -> None:
    # Akita with buddha and rice, and a village with a buddha: both lie at c15r09.
    game = position("1998", ["S1", "S1"], figures={"c14r09": "BR", "c16r10": "B"})
    game.tiles = {"c15r09": (1, "B3")}
    assert game.influence("c14r09", "B") == [0, 3] == game.influence("c16r10", "B")
    assert game.influence("c14r09", "R") == [0, 0]
    game.tiles = {"c15r09": (1, "RO")}  # all three figures
    assert [game.influence(*f) for f in (("c14r09", "B"), ("c14r09", "R"), ("c16r10", "B"))] == [[0, 1]] * 3
    game.tiles = {"c16r11": (0, "SH2")}  # a ship: the villages on both sides of the bay
    assert game.influence("c16r10", "B") == [2, 0] == game.influence("c16r12", "H")
    game.tiles = {"c15r09": (1, "TX")}
    assert game.influence("c14r09", "B") == [0, 0]


@pytest.mark.parametrize("edition", EDITIONS)
def test_capture_example_of_2016(edition) -> None:
    """The two pictures, found again around Akita: gold, red, green, purple are seats 0 to 3."""
    game = position(
        edition,
        ["RO B4", "S1", "B3", "S1"],
        seat=2,
        tiles={
            "c15r07": (1, "S2"),
            "c17r08": (1, "SH1"),
            "c14r10": (1, "R2"),
            "c13r08": (2, "SH1"),
            "c15r09": (3, "H2"),
        },
        figures={"c14r07": "B", "c16r08": "B", "c14r09": "BR", "c16r10": "H", "c14r11": "H"},
    )
    # Green surrounds the upper village: 3 against 2 of red.
    act(game, "B3", "c14r08")
    assert game.captured[2] == {"B": 1}
    assert not game.figures["c14r07"]
    game._start_turn(0)
    # Gold surrounds the right village and, on the left, the city.
    act(game, "RO", "c16r09", "B4", "c15r08")
    assert game.captured[0] == {"B": 1}  # right: 5 against 3
    assert game.aside == {"B": 1}  # left: green 1 + 3, gold 4
    assert game.captured[1] == {"R": 1}  # red has the only rice tile
    assert not game.captured[3]
    assert not game.figures["c14r09"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_capture_examples_of_1998(edition) -> None:
    """Built after the pictures' texts: red, blue, green, yellow are seats 0 to 3."""
    game = position(edition, ["S1", "H3", "S1", "S1"], seat=1, tiles={"c15r07": (0, "S2")}, figures={"c14r07": "H"})
    act(game, "H3", "c14r08")
    assert game.captured[1] == {"H": 1}  # 3 against 2
    assert not game.captured[0]

    game = position(
        edition,
        ["RO S2", "S1", "S1", "S1"],
        tiles={"c14r08": (3, "B4"), "c16r09": (1, "H2"), "c14r10": (1, "R2"), "c15r09": (2, "R3")},
        figures={"c14r07": "B", "c14r09": "HR", "c16r08": "B", "c16r10": "H", "c14r11": "H"},
    )
    act(game, "RO", "c15r07", "S2", "c15r08")
    assert game.captured == [{"B": 1, "H": 1}, {}, {"R": 1}, {"B": 1}]


@pytest.mark.parametrize("edition", EDITIONS)
def test_tie_and_all_zero_go_aside(edition) -> None:
    game = position(edition, ["B4", "S1"], tiles={"c15r13": (1, "R4")}, figures={"c16r14": "H"})
    act(game, "B4", "c16r13")  # surrounded, and no influence at all
    assert game.aside == {"H": 1}
    assert game.captured == [{}, {}]
    assert "c16r14" not in game.legal()  # a settlement stays closed
    act(game, "S1")
    assert "c16r14" not in game.legal()


def village_by_the_sea(edition: str, hand: str, tiles: dict, **changes) -> BoardGame:
    """The village c16r14 has two land neighbours, c15r13 and c16r13, and the sea at c17r14."""
    return position(
        edition, [hand, "S1"], tiles=tiles, figures={"c16r14": "H", "c10r17": "R", "c16r12": "B"}, **changes
    )


def test_timing_of_a_ship_after_a_surround() -> None:
    for edition in EDITIONS:
        game = village_by_the_sea(edition, "S2 SH1", {"c15r13": (1, "H2")})
        act(game, "S2", "c16r13")
        assert game.figures["c16r14"] == (set() if edition == "1998" else {"H"})
        act(game, "SH1", "c17r14")
        if edition == "1998":  # too late: 2 against 2 was resolved at once
            assert game.aside == {"H": 1}
            assert not game.captured[0]
        else:  # it counts: 3 against 2
            assert not game.aside
            assert game.captured[0] == {"H": 1}


def test_timing_of_a_figure_exchange_after_a_surround() -> None:
    for edition in EDITIONS:
        game = village_by_the_sea(edition, "R4 FX", {"c15r13": (1, "H2")})
        act(game, "R4", "c16r13", "FX")
        if edition == "1998":
            assert game.captured[1] == {"H": 1}
            assert "c16r14.H" not in game.legal()
        else:
            act(game, "c16r14.H", "c10r17.R")
            assert game.captured == [{"R": 1}, {}]
            assert game.figures["c10r17"] == {"H"}


def test_timing_of_a_token_exchange_after_a_surround() -> None:
    for edition in EDITIONS:
        game = village_by_the_sea(edition, "RO TX", {"c15r13": (0, "S3"), "c17r14": (1, "SH2")})
        act(game, "RO", "c16r13", "TX", "c15r13", "c11r12")
        assert game.captured == ([{"H": 1}, {}] if edition == "1998" else [{}, {"H": 1}])


def test_token_exchange_is_resolved_when_the_moved_tile_lies() -> None:
    for edition in EDITIONS:
        game = village_by_the_sea(edition, "TX RO", {"c15r13": (0, "H4"), "c11r12": (0, "S2")})
        act(game, "TX", "c11r12")
        assert not game.captured[0]
        act(game, "c16r13")
        assert bool(game.captured[0]) == (edition == "1998")
        act(game, "end")
        assert game.captured[0] == {"H": 1}


# ---------------------------------------------------------------- the tiles


def test_token_exchange() -> None:
    tiles = {"c15r13": (0, "RO"), "c17r14": (0, "SH2"), "c16r13": (1, "S3")}
    game = position("1998", ["TX S1", "S1"], tiles=tiles)
    assert game.legal() == {"S1"}  # no own plain tile on the board
    game = position("1998", ["TX S1 RO", "S1"], tiles=tiles | {"c11r12": (0, "H4"), "c12r13": (0, "S1")})
    assert game.legal() == {"TX", "S1", "RO"}
    act(game, "TX")
    assert game.legal() == {"c11r12", "c12r13"}  # not the ronin, the ship, another's tile
    act(game, "c11r12")
    assert "c11r12" not in game.legal()  # never back
    assert game.legal() == game.map.land - set(game.tiles)
    act(game, "c14r12")
    assert game.tiles["c11r12"] == (0, "TX")
    assert game.tiles["c14r12"] == (0, "H4")
    assert game.legal() == {"RO", "end"}  # it was the plain tile of the turn


def test_token_exchange_needs_an_empty_hex() -> None:
    game = position("2016", ["TX SH1", "S1"])
    game.tiles = dict.fromkeys(game.map.land, (0, "S1"))
    assert game.legal() == {"SH1"}


def test_ships_and_land_tiles() -> None:
    game = position("1998", ["SH1 RO B2", "S1"], tiles={"c15r13": (1, "S1"), "c17r14": (1, "SH1")})
    act(game, "SH1")
    assert game.legal() == game.map.sea - {"c17r14"}
    act(game, "c12r17", "B2")
    assert game.legal() == game.map.land - {"c15r13"}


def test_figure_exchange() -> None:
    game = position(
        "1998",
        ["FX S1", "S1"],
        figures={"only": "", "c14r13": "HBR", "c14r09": "HB", "c11r15": "BR", "c14r07": "R", "c16r08": "H"},
    )
    act(game, "FX")
    # Edo has all kinds, so only an idle exchange touches it.
    assert game.legal() == {"idle", "c14r09.H", "c14r09.B", "c11r15.B", "c11r15.R", "c14r07.R", "c16r08.H"}
    act(game, "c14r09.B")
    # Not c16r08.H (two helmets here), c11r15.R (two buddhas there), c14r09.H, c11r15.B (idle).
    assert game.legal() == {"c14r07.R"}
    act(game, "c14r07.R")
    assert game.figures["c14r09"] == {"H", "R"}
    assert game.figures["c14r07"] == {"B"}
    assert "FX" not in game.hands[0]
    assert not game.tiles


def test_figure_exchange_both_orders_and_every_first_spot_has_a_partner() -> None:
    for seed in range(5):
        rng = random.Random(seed)
        game = random_start(rng, rng.choice(PLAYERS), "1998")
        game.hands[0] = Counter(["FX"])
        act(game, "FX")
        pairs = set()
        for first in game.legal() - {"idle"}:
            after = copy_of(game)
            act(after, first)
            assert after.legal()
            pairs |= {(first, second) for second in after.legal()}
        assert pairs == {(b, a) for a, b in pairs}
        for first, second in pairs:
            after = copy_of(game)
            act(after, first, second)
            assert after.figures != game.figures
            assert after.on_board() == game.on_board()
            assert [len(f) for f in after.figures.values()] == [len(f) for f in game.figures.values()]


def test_figure_exchange_is_playable_with_two_figures() -> None:
    for there, legal in (
        ({"c14r07": "R"}, set()),
        ({"c14r07": "R", "c16r08": "R"}, {"idle"}),
        ({"c14r09": "HB"}, {"idle"}),
        ({"c14r07": "R", "c16r08": "H"}, {"c14r07.R", "c16r08.H"}),
    ):
        game = position("1998", ["FX S1", "S1"], figures={"only": "", **there})
        assert ("FX" in game.legal()) == bool(legal)
        if legal:
            act(game, "FX")
            assert game.legal() == legal


def test_idle_exchange_changes_nothing() -> None:
    game = position("1998", ["FX", "S1"])
    before = copy.deepcopy(game.figures)
    act(game, "FX", "idle")
    assert game.figures == before
    assert game.seat == 1
    assert not game.hands[0].total()


# ---------------------------------------------------------------- a turn


def test_compulsory_tile() -> None:
    """1998: a figure exchange alone is a turn. 2016: a tile must be placed too."""
    for edition in EDITIONS:
        game = position(edition, ["FX S1 SH1", "S1"])
        assert "end" not in game.legal()
        act(game, "FX", "idle")
        assert game.legal() == {"S1", "SH1"} | ({"end"} if edition == "1998" else set())
        act(game, "SH1", "c17r14")
        assert game.legal() == {"S1", "end"}
        act(game, "end")
        assert game.seat == 1


@pytest.mark.parametrize("edition", EDITIONS)
def test_figure_exchange_alone_is_compulsory_and_enough(edition) -> None:
    game = position(edition, ["FX TX", "S1"])  # the token exchange has no target
    assert game.legal() == {"FX"}
    act(game, "FX", "idle")
    assert game.seat == 1  # the turn ended by itself


@pytest.mark.parametrize("edition", EDITIONS)
def test_token_exchange_counts_as_placed(edition) -> None:
    game = position(edition, ["TX FX", "S1"], tiles={"c15r13": (0, "S1")})
    act(game, "TX", "c15r13", "c11r12")
    assert game.legal() == {"FX", "end"}


@pytest.mark.parametrize("edition", EDITIONS)
def test_turn_ends_by_itself_and_refills(edition) -> None:
    game = position(edition, ["S1 S2 B2", "S1 S2"], supplies=["H2 H3 H4 SH1", "TX"])
    act(game, "S1", "c15r13")  # no second plain tile: the turn is over
    assert game.seat == 1
    assert game.hands[0] == Counter(["S2", "B2", "H2", "H3", "H4"])
    assert game.supplies[0] == ["SH1"]
    act(game, "S1", "c16r13")
    assert game.hands[1] == Counter(["S2", "TX"])
    assert game.supplies[1] == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_any_number_of_quick_tiles_one_plain(edition) -> None:
    game = position(edition, ["SH1 SH1 RO H3 S1", "S1"])
    act(game, "SH1", "c17r14", "RO", "c15r13", "H3", "c16r13")
    assert game.legal() == {"SH1", "end"}
    assert game.played_plain
    act(game, "SH1", "c17r13")
    assert game.seat == 1


def test_players_without_a_play_are_passed_over() -> None:
    game = position("1998", ["S1 S2", "TX", ""])
    turns = game.turns
    act(game, "S1", "c15r13")
    assert game.seat == 0
    assert not game.over
    assert game.turns == turns + 1
    act(game, "S2", "c11r12")
    # Ruling: nobody can ever play again, so the game ends and is scored.
    assert game.over
    assert game.winners() == [0, 1, 2]
    assert game.legal() == set()


def test_illegal_actions() -> None:
    game = position("1998", ["S1", "S1"])
    for action in ("S2", "end", "c15r13", ""):
        with pytest.raises(ValueError, match="illegal action"):
            game.apply(action)
    act(game, "S1")
    for action in ("S1", "c16r14", "c17r14", "end"):
        with pytest.raises(ValueError, match="illegal action"):
            game.apply(action)


# ---------------------------------------------------------------- end


@pytest.mark.parametrize("edition", EDITIONS)
def test_end_when_a_kind_is_gone_after_the_turn(edition) -> None:
    game = position(
        edition,
        ["H4 RO SH1", "S1"],
        supplies=["B2 B3 R2", ""],
        tiles={"c15r13": (1, "S1"), "c15r11": (1, "H2")},
        figures={"only": "", "c16r14": "H", "c10r17": "R", "c14r07": "B", "c16r12": "B"},
    )
    act(game, "H4", "c16r13")
    assert not game.over
    assert game.legal() == {"RO", "SH1", "end"}  # the turn is played out
    act(game, "RO", "c15r12")  # surrounds c16r12: later captures count
    assert not game.over
    act(game, "end")
    assert game.over
    assert game.captured == [{"H": 1, "B": 1}, {}]
    assert game.hands[0] == Counter(["SH1", "B2", "B3", "R2"])  # refilled as always
    assert game.winners() == [0]
    assert game.returns() == [1.0, -1.0]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("before", "over"), [(2, False), (3, True)])
def test_end_when_four_are_aside(edition, before, over) -> None:
    game = position(edition, ["H4", "S1"], tiles={"c15r13": (1, "S1")}, figures={"c16r14": "R"})
    game.tiles["c15r13"] = (1, "H2")
    game.aside = Counter(B=before)
    act(game, "H4", "c16r13")
    assert game.aside == {"B": before, "R": 1}
    assert game.over is over


# ---------------------------------------------------------------- set-up


def test_first_hand() -> None:
    orders = shuffled_orders(random.Random(3), 2)
    game = BoardGame(2, "1998", "random", "alternate", orders)
    assert game.hands == [Counter(o[:5]) for o in orders]
    assert game.supplies == [o[5:] for o in orders]

    placement = random_placement(random.Random(3), 2)
    game = BoardGame(2, "1998", "choose", "random", orders, placement)
    expected = [list(o) for o in orders]
    for seat in (0, 1):
        for kind in ("FX", "S1", "S1", "H4", "TX"):
            assert game.seat == seat
            assert game.phase == "first hand"
            assert not any(game.figures.values())  # the picks come before any figure
            act(game, kind)
            expected[seat].remove(kind)
        assert game.hands[seat] == Counter(["FX", "S1", "S1", "H4", "TX"])
        if seat == 0:
            with pytest.raises(ValueError, match="illegal action"):
                game.apply("S4")
    assert game.supplies == expected
    assert game.figures == placement
    assert (game.seat, game.phase) == (0, "tile")
    game = BoardGame(2, "1998", "choose", "alternate", orders)
    act(game, "S1", "S1")
    assert "S1" not in game.legal()  # there are only two


@pytest.mark.parametrize("players", PLAYERS)
def test_alternate_set_up(players) -> None:
    """Cities first; the villages go on with the next seat; the ruling never bites."""
    for seed in range(10):
        rng = random.Random(seed)
        game = BoardGame(players, "2016", "random", "alternate", shuffled_orders(rng, players))
        cities = game.map.settlements_of_size(2)
        for step in range(game.pool.total()):
            assert game.phase == "figure set-up"
            assert game.seat == step % players
            first = step < 2 * len(cities)
            wanted = cities if first else game.map.settlements_of_size(1)
            assert game.legal() == {
                f"{h}.{k}"
                for h in wanted
                for k in FIGURES
                if game.pool[k] > 0 and k not in game.figures[h] and len(game.figures[h]) < 1 + first
            }
            act(game, rng.choice(sorted(game.legal())))
        assert (game.seat, game.phase) == (0, "tile")
        assert {h: len(f) for h, f in game.figures.items()} == game.map.settlements


@pytest.mark.parametrize("players", PLAYERS)
def test_free_set_up(players) -> None:
    """Any open city or village; the ruling keeps the rest of the pool placeable."""
    bites = 0
    for seed in range(20):
        rng = random.Random(seed)
        game = BoardGame(players, "1998", "random", "free", shuffled_orders(rng, players))
        bitten = False
        while game.phase == "figure set-up":
            room = {
                f"{h}.{k}"
                for h, n in game.map.settlements.items()
                for k in FIGURES
                if game.pool[k] > 0 and k not in game.figures[h] and len(game.figures[h]) < n
            }
            assert game.legal()
            assert game.legal() <= room
            bitten |= game.legal() != room
            act(game, rng.choice(sorted(game.legal())))
        bites += bitten
        used = Counter(k for f in game.figures.values() for k in f)
        assert len(set(used.values())) == 1
    assert 4 <= bites <= 19  # "in about half of random free games"


def test_pool_fits() -> None:
    none, helmet, full = frozenset(), frozenset("H"), frozenset("HR")
    assert pool_fits((5, 0, 0), (full, full))  # villages take anything
    assert not pool_fits((5, 0, 0), (helmet, full))  # a second helmet
    assert pool_fits((4, 1, 0), (helmet, full))
    assert not pool_fits((4, 1, 0), (helmet, helmet))
    assert not pool_fits((5, 0, 1), (none, helmet))
    assert pool_fits((5, 1, 1), (none, helmet))
    assert pool_fits((3, 0, 3), (none, none, none))
    assert not pool_fits((4, 1, 1), (none, none, none))


def test_random_set_up_is_checked() -> None:
    rng = random.Random(5)
    orders, good = shuffled_orders(rng, 2), random_placement(rng, 2)
    edo, kyoto, akita = "c14r13", "c11r15", "c14r09"
    village = next(h for h in good if len(good[h]) == 1)
    other = {"H": "B", "B": "R", "R": "H"}[next(iter(good[village]))]
    for bad in (
        {**good, village: {other}},
        {**good, edo: {"H", "B"}},
        {**good, village: set()},
        {**good, kyoto: {"H"}, akita: {"H", "B", "R"}},
        {**good, village: {"X"}},
        {h: f for h, f in good.items() if h != village},
        {**good, "c15r13": {"H"}},
        None,
    ):
        with pytest.raises(ValueError, match=r"hold|placement|figures"):
            BoardGame(2, "1998", "random", "random", orders, bad)
    with pytest.raises(ValueError, match="only with it"):
        BoardGame(2, "1998", "random", "free", orders, good)
    with pytest.raises(ValueError, match="20 tiles"):
        BoardGame(2, "1998", "random", "free", [orders[0], orders[1][:19]])


# ---------------------------------------------------------------- knowledge


def test_view_hides_hands_and_orders() -> None:
    """What others hold in hand or next in the supply does not change what a seat sees."""
    rng = random.Random(9)
    game = random_start(rng, 3, "1998")
    for _ in range(12):
        act(game, *rng.choice(whole_plays(game)))
    for seat in range(3):
        again = copy_of(game)
        for s in range(3):
            rng.shuffle(again.supplies[s])
            if s != seat:
                unseen = list(again.hands[s].elements()) + again.supplies[s]
                rng.shuffle(unseen)
                size = again.hands[s].total()
                again.hands[s], again.supplies[s] = Counter(unseen[:size]), unseen[size:]
        assert again.view(seat) == game.view(seat)


def test_view_is_relative() -> None:
    game = position("1998", ["S1 FX", "S2", "S3"], tiles={"c15r13": (0, "B2")}, seat=0)
    game.captured[2]["H"] = 2
    mine, last = game.view(0), game.view(2)
    assert mine["turn"] == 0
    assert last["turn"] == 1
    assert mine["tiles"] == {"c15r13": (0, "B2")}
    assert last["tiles"] == {"c15r13": (1, "B2")}
    assert last["captured"] == [{"H": 2}, {}, {}]
    assert mine["captured"] == [{}, {}, {"H": 2}]
    assert last["hand"] == {"S3": 1}
    assert last["unseen"] == [{"S1": 1, "FX": 1}, {"S2": 1}]
    act(game, "FX")  # the choice is public from then on
    assert game.view(1)["pending_tile"] == "FX"
    assert game.view(1)["unseen"][1] == {"S1": 1}


def test_first_hand_choices_stay_secret() -> None:
    views = []
    for kind in ("FX", "H4"):
        game = BoardGame(2, "1998", "choose", "alternate", shuffled_orders(random.Random(4), 2))
        act(game, kind)
        views.append(game.view(1))
    assert views[0] == views[1]
    assert views[0]["hand_sizes"] == [0, 1]


# ---------------------------------------------------------------- whole games


def check_position(game: BoardGame) -> None:
    """What holds whenever a tile is to be chosen."""
    total = sum(game.map.settlements.values())
    left = sum(game.on_board().values())
    assert left + sum(c.total() for c in game.captured) + game.aside.total() == total
    for h, there in game.figures.items():
        assert len(there) in (0, game.map.settlements[h])
        if game.edition == "1998" or game.played == 0:
            assert not (there and game.surrounded(h))
    for seat in range(game.players):
        if game.played == 0:
            assert game.hands[seat].total() == 5 or not game.supplies[seat]
    for h, (_owner, kind) in game.tiles.items():
        assert h in (game.map.sea if kind in ("SH1", "SH2") else game.map.land)


def play_game(rng: random.Random, game: BoardGame) -> int:
    """Uniform over whole plays; returns how many tiles were played."""
    tiles = 0
    while not game.over:
        check_position(game)
        play = rng.choice(whole_plays(game))
        tiles += play != ("end",)
        act(game, *play)
    return tiles


def test_whole_plays_are_what_the_small_steps_allow() -> None:
    rng = random.Random(11)
    game = random_start(rng, 3, "2016")
    for _ in range(25):
        act(game, *rng.choice(whole_plays(game)))
    for kind in ("TX", "FX", "SH1", "B2"):
        game.hands[game.seat][kind] = 1
    game.played_plain = False
    steps = set()
    for tile in game.legal() - {"end"}:
        first = copy_of(game)
        act(first, tile)
        for where in first.legal():
            if tile == "TX" or (tile == "FX" and where != "idle"):
                second = copy_of(first)
                act(second, where)
                steps |= {(tile, where, last) for last in second.legal()}
            else:
                steps.add((tile, where))
    wholes = {p for p in whole_plays(game) if p != ("end",)}
    assert wholes | {(t, b, a) for t, a, b in (p for p in wholes if p[0] == "FX" and len(p) == 3)} == steps


@pytest.mark.parametrize(
    ("players", "games", "plays", "turns", "share", "aside"),
    [
        (2, 300, (36.5, 0.6), (26.7, 0.6), (0.529, 0.11), (2.4, 0.3)),
        (3, 120, (49.0, 2.0), (34.9, 1.6), (0.368, 0.16), (3.7, 0.4)),
        (4, 80, (58.5, 3.5), (41.1, 2.8), (0.283, 0.18), (4.1, 0.3)),
    ],
)
def test_random_play(players, games, plays, turns, share, aside) -> None:
    """Uniform random play against the figures of an independent implementation."""
    rng = random.Random(players)
    sums = Counter()
    for i in range(games):
        game = random_start(rng, players, EDITIONS[i % 2])
        sums["plays"] += play_game(rng, game)
        sums["turns"] += game.turns
        sums["aside"] += game.aside.total()
        sums["share"] += (0 in game.winners()) / len(game.winners())
        assert sum(game.returns()) == pytest.approx(0.0)
        assert 0 in game.on_board().values() or game.aside.total() >= 4
    for name, (value, tolerance) in {"plays": plays, "turns": turns, "share": share, "aside": aside}.items():
        assert sums[name] / games == pytest.approx(value, abs=tolerance), name
