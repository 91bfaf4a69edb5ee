"""The rules page, paragraph by paragraph, on the compiled rules: worked examples, editions, rare moves."""

import random
from collections import Counter

import numpy as np
import pytest

from samurai_env.core.game import find_game
from samurai_env.games.board.rules.scoring import winners
from samurai_env.games.board.rules.tiles import COPIES, KIND_CODES
from samurai_env.games.board.rules.topology import SETTLEMENT, SETTLEMENTS
from samurai_env.position import Position
from tests.board.table import Table, laid_out, new_table

EDITIONS = ("1998", "2016")
BOARD = find_game("samurai")

# ---------------------------------------------------------------- who wins


@pytest.mark.parametrize(
    ("captured", "expected"),
    [
        # 2016 (green, red, gold): green most rice, red most buddhas, castles tied between green and gold;
        # three others each; totals 6 and 7: red wins.
        ([(2, 1, 3), (1, 4, 2), (2, 0, 1)], [1]),
        # 1998, first (green, blue, red, yellow): most rice and 6 others, most helmets and 5, most buddhas and 4, none.
        ([(3, 3, 6), (5, 3, 2), (2, 6, 2), (3, 1, 3)], [0]),
        # ... and the places behind: blue wins when green is not there, red when neither is
        ([(5, 3, 2), (2, 6, 2), (3, 1, 3)], [0]),
        ([(0, 0, 0), (2, 6, 2), (3, 1, 2)], [1]),
        # 1998, second (red, yellow, blue, green): red most helmets and 3 others, total 9; yellow most buddhas and
        # 3 others, total 8; blue and green tie for most rice and have more in total.
        ([(6, 1, 2), (0, 5, 3), (4, 3, 4), (3, 4, 4)], [0]),
        # majorities of two or three kinds win, whatever the totals are
        ([(2, 2, 0), (1, 1, 7)], [0]),
        ([(1, 1, 1), (0, 0, 0)], [0]),
        ([(0, 3, 3), (6, 0, 0), (0, 2, 2)], [0]),
        # only one player has a majority: that player wins
        ([(1, 0, 0), (0, 3, 3), (0, 3, 3)], [0]),
        # the figures of the two other kinds decide before the total does
        ([(3, 1, 1), (0, 5, 1), (2, 0, 1)], [0]),
        # everything equal after the totals: the victory is shared
        ([(3, 2, 1), (2, 3, 1), (0, 0, 1)], [0, 1]),
        ([(3, 1, 1), (1, 3, 1), (1, 1, 3)], [0, 1, 2]),
        (
            [
                (
                    3,
                    0,
                    1,
                ),
                (0, 3, 1),
                (1, 1, 0),
                (1, 1, 1),
            ],
            [0, 1],
        ),
        # no majority at all: most figures in total, and tied players share
        ([(3, 3, 0), (3, 0, 3), (0, 3, 3)], [0, 1, 2]),
        ([(3, 3, 1), (3, 2, 3), (0, 3, 3)], [1]),
        ([(0, 0, 0), (0, 0, 0)], [0, 1]),
    ],
)
def test_winners(captured, expected) -> None:
    n = len(captured)
    for turn in range(n):  # seats carry no weight
        found = int(winners(np.roll(np.array(captured, np.int8), turn, 0)))
        assert sorted((seat - turn) % n for seat in range(n) if found >> seat & 1) == expected


@pytest.mark.parametrize(
    ("players", "won", "expected"),
    [
        (2, [1], [-1, 1]),
        (2, [0, 1], [0, 0]),
        (3, [0], [1, -0.5, -0.5]),
        (3, [0, 2], [0.25, -0.5, 0.25]),
        (3, [0, 1, 2], [0, 0, 0]),
        (4, [3], [-1 / 3, -1 / 3, -1 / 3, 1]),
        (4, [0, 1], [1 / 3, 1 / 3, -1 / 3, -1 / 3]),
        (4, [0, 1, 2], [1 / 9, 1 / 9, 1 / 9, -1 / 3]),
        (4, [0, 1, 2, 3], [0, 0, 0, 0]),
    ],
)
def test_payoff(players, won, expected) -> None:
    position = Position(BOARD.variant(players), 0)
    position.state["winners"] = sum(1 << seat for seat in won)
    assert not position.returns().any()  # nothing before the end
    position.state["over"] = 1
    assert position.returns() == pytest.approx(expected)


# ---------------------------------------------------------------- capture


def test_which_figures_a_tile_counts_for() -> None:
    """The pictures of 1998: one hex between a village and the city, a ship between two villages."""
    for code, strengths in {
        "B3": (0, 3, 0),
        "H4": (4, 0, 0),
        "R2": (0, 0, 2),
        "S3": (3, 3, 3),
        "RO": (1, 1, 1),
    }.items():
        table = laid_out("1998", ["S1", code], seat=1)
        table.act(code, "c15r09")
        for town in ("c14r09", "c16r10"):
            assert [table.influence(town, figure) for figure in "HBR"] == [[0, s] for s in strengths]
    table = laid_out("1998", ["SH2 S1", "S1"])
    table.act("SH2", "c16r11")
    for town in ("c16r10", "c16r12"):
        assert [table.influence(town, figure) for figure in "HBR"] == [[2, 0]] * 3


@pytest.mark.parametrize("edition", EDITIONS)
def test_capture_example_of_2016(edition) -> None:
    """Both pictures, found again around Akita: gold, red, green, purple are seats 0 to 3."""
    table = laid_out(
        edition,
        ["RO B4 S1", "S1", "B3 S1", "S1"],
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
    table.act("B3", "c14r08")
    assert table.captured() == [{}, {}, {"B": 1}, {}]
    assert table.figures("c14r07") == set()
    table.act("S1", "c11r12")  # purple, elsewhere
    # Gold surrounds the right village and, on the left, the city.
    table.act("RO", "c16r09", "B4", "c15r08")
    assert table.captured() == [{"B": 1}, {"R": 1}, {"B": 1}, {}]  # right: 5 against 3; red has the only rice tile
    assert table.aside() == {"B": 1}  # left: green 1 + 3, gold 4
    assert table.figures("c14r09") == table.figures("c16r08") == set()


@pytest.mark.parametrize("edition", EDITIONS)
def test_capture_examples_of_1998(edition) -> None:
    """Built after the pictures' texts: red, blue, green, yellow are seats 0 to 3."""
    table = laid_out(edition, ["S1", "H3", "S1", "S1"], seat=1, tiles={"c15r07": (0, "S2")}, figures={"c14r07": "H"})
    table.act("H3", "c14r08")
    assert table.captured() == [{}, {"H": 1}, {}, {}]  # 3 against 2
    table = laid_out(
        edition,
        ["RO S2", "S1", "S1", "S1"],
        tiles={"c14r08": (3, "B4"), "c16r09": (1, "H2"), "c14r10": (1, "R2"), "c15r09": (2, "R3")},
        figures={"c14r07": "B", "c14r09": "HR", "c16r08": "B", "c16r10": "H", "c14r11": "H"},
    )
    table.act("RO", "c15r07", "S2", "c15r08")
    assert table.captured() == [{"B": 1, "H": 1}, {}, {"R": 1}, {"B": 1}]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("mine", "aside"), [("S2", {"B": 1}), ("B2", {"B": 1}), ("S1", {}), ("S3", {}), ("H4", {})])
def test_a_tie_for_the_highest_goes_aside(edition, mine, aside) -> None:
    table = laid_out(edition, [f"{mine} S1", "S1"], tiles={"c15r13": (1, "S2")}, figures={"c16r14": "B"})
    table.act(mine, "c16r13")
    assert table.aside() == aside
    assert table.captured() == ([{}, {}] if aside else [{"B": 1}, {}] if mine == "S3" else [{}, {"B": 1}])
    assert table.figures("c16r14") == set()


@pytest.mark.parametrize("edition", EDITIONS)
def test_no_influence_at_all_is_a_tie(edition) -> None:
    table = laid_out(edition, ["B4 S1", "S1"], tiles={"c15r13": (1, "R4")}, figures={"c16r14": "H"})
    table.act("B4", "c16r13")
    assert table.aside() == {"H": 1}
    assert table.captured() == [{}, {}]
    table.act("S1")
    assert "c16r14" not in table.legal()  # a settlement stays closed


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_tie_below_the_highest_does_not_matter(edition) -> None:
    tiles = {"c15r13": (1, "S1"), "c17r14": (2, "SH1")}
    table = laid_out(edition, ["S2 S1", "S1", "S1"], tiles=tiles, figures={"c16r14": "H"})
    table.act("S2", "c16r13")
    assert table.captured() == [{"H": 1}, {}, {}]


@pytest.mark.parametrize("edition", EDITIONS)
def test_edo_needs_six_tiles_and_each_figure_is_decided_for_itself(edition) -> None:
    around = ["c13r12", "c13r13", "c14r12", "c14r14", "c15r12"]
    kinds = ["H4", "B4", "R2", "S1", "TX"]
    tiles = {h: (i % 2, kind) for i, (h, kind) in enumerate(zip(around, kinds, strict=True))}
    table = laid_out(edition, ["R2 S1", "S1"], tiles=tiles)
    assert table.figures("c14r13") == {"H", "B", "R"}
    table.act("R2", "c15r13")
    assert table.figures("c14r13") == set()
    gone = Counter()
    for row in (*table.captured(), table.aside()):
        gone.update(row)
    assert table.influence("c14r13", "H") == [4, 1]
    assert table.influence("c14r13", "B") == [0, 5]
    assert table.influence("c14r13", "R") == [4, 1]
    assert table.captured()[0].items() >= {"H": 1, "R": 1}.items()
    assert table.captured()[1].items() >= {"B": 1}.items()
    assert all(gone[figure] >= 1 for figure in "HBR")


# ---------------------------------------------------------------- the editions: when figures are captured


def village_by_the_sea(edition: str, hand: str, tiles: dict) -> Table:
    """The village c16r14 has two land neighbours, c15r13 and c16r13, and the sea at c17r14."""
    return laid_out(edition, [hand, "S1"], tiles=tiles, figures={"c16r14": "H", "c10r17": "R", "c16r12": "B"})


def test_editions_a_ship_beside_a_surround() -> None:
    for edition in EDITIONS:
        table = village_by_the_sea(edition, "S2 SH1", {"c15r13": (1, "H2")})
        table.act("S2", "c16r13")
        assert table.figures("c16r14") == (set() if edition == "1998" else {"H"})
        table.act("SH1", "c17r14")
        if edition == "1998":  # too late: 2 against 2 was resolved at once
            assert table.aside() == {"H": 1}
            assert table.captured() == [{}, {}]
        else:  # it counts: 3 against 2
            assert table.aside() == {}
            assert table.captured() == [{"H": 1}, {}]


def test_editions_a_figure_exchange_after_a_surround() -> None:
    for edition in EDITIONS:
        table = village_by_the_sea(edition, "R4 FX", {"c15r13": (1, "H2")})
        table.act("R4", "c16r13", "FX")
        if edition == "1998":
            assert table.captured() == [{}, {"H": 1}]
            assert "c16r14.H" not in table.legal()
        else:
            table.act("c16r14.H", "c10r17.R")
            assert table.captured() == [{"R": 1}, {}]
            assert table.figures("c10r17") == {"H"}


def test_editions_a_token_exchange_that_takes_a_tile_away() -> None:
    for edition in EDITIONS:
        table = village_by_the_sea(edition, "RO TX", {"c15r13": (0, "S3"), "c17r14": (1, "SH2")})
        table.act("RO", "c16r13", "TX", "c15r13", "c11r12")
        assert table.captured() == ([{"H": 1}, {}] if edition == "1998" else [{}, {"H": 1}])


def test_editions_a_token_exchange_is_resolved_when_the_moved_tile_lies() -> None:
    for edition in EDITIONS:
        table = village_by_the_sea(edition, "TX RO", {"c15r13": (0, "H4"), "c11r12": (0, "S2")})
        table.act("TX", "c11r12")
        assert table.captured() == [{}, {}]
        table.act("c16r13")
        assert table.captured() == ([{"H": 1}, {}] if edition == "1998" else [{}, {}])
        table.act("end")
        assert table.captured() == [{"H": 1}, {}]


def test_editions_the_compulsory_tile() -> None:
    """1998: a figure exchange alone is a turn. 2016: a tile must be placed too, if one can be."""
    for edition in EDITIONS:
        table = laid_out(edition, ["FX S1 SH1", "S1"])
        assert table.legal() == {"FX", "S1", "SH1"}  # no end before the first tile
        table.act("FX", "idle")
        assert table.legal() == {"S1", "SH1"} | ({"end"} if edition == "1998" else set())
        ended = Table(table.position.clone())
        if edition == "1998":
            ended.act("end")
            assert ended.position.seat == 1
        table.act("SH1", "c17r14")
        assert table.legal() == {"S1", "end"}
        table.act("end")
        assert table.position.seat == 1


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_figure_exchange_that_is_all_is_compulsory_and_enough(edition) -> None:
    table = laid_out(edition, ["FX TX", "S1"])  # the token exchange has no target
    assert table.legal() == {"FX"}
    table.act("FX", "idle")
    assert table.position.seat == 1  # the turn ended by itself
    assert table.hand(0) == {"TX": 1}


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_token_exchange_counts_as_placed(edition) -> None:
    table = laid_out(edition, ["TX FX", "S1"], tiles={"c15r13": (0, "S1")})
    table.act("TX", "c15r13", "c11r12")
    assert table.legal() == {"FX", "end"}


# ---------------------------------------------------------------- the tiles


def test_token_exchange() -> None:
    tiles = {"c15r13": (0, "RO"), "c17r14": (0, "SH2"), "c16r13": (1, "S3")}
    table = laid_out("1998", ["TX S1", "S1"], tiles=tiles)
    assert table.legal() == {"S1"}  # no own plain tile on the board
    tiles |= {"c11r12": (0, "H4"), "c12r13": (0, "S1")}
    table = laid_out("1998", ["TX S1 RO", "S1"], tiles=tiles)
    assert table.legal() == {"TX", "S1", "RO"}
    table.act("TX")
    assert table.legal() == {"c11r12", "c12r13"}  # not the ronin, the ship, another's tile
    table.act("c11r12")
    assert table.legal() == table.land() - set(tiles)  # never back to its own hex
    table.act("c14r12")
    assert table.tiles() == tiles | {"c11r12": (0, "TX"), "c14r12": (0, "H4")}
    assert table.legal() == {"RO", "end"}  # it was the plain tile of the turn


def test_a_token_exchange_needs_an_empty_hex() -> None:
    land = sorted(new_table().land())
    full = laid_out("2016", ["TX SH1", "S1"], tiles=dict.fromkeys(land, (0, "S1")))
    assert full.legal() == {"SH1"}
    one_left = laid_out("2016", ["TX SH1", "S1"], tiles=dict.fromkeys(land[1:], (0, "S1")))
    assert one_left.legal() == {"TX", "SH1"}


def test_ships_go_to_sea_and_all_else_to_open_land() -> None:
    table = laid_out("1998", ["SH1 RO B2", "S1"], tiles={"c15r13": (1, "S1"), "c17r14": (1, "SH1")})
    table.act("SH1")
    assert table.legal() == table.sea() - {"c17r14"}
    table.act("c12r17")
    for code in ("RO", "B2"):
        table.act(code)
        assert table.legal() == table.land() - set(table.tiles())
        table.act(sorted(table.legal())[0])


def test_figure_exchange() -> None:
    table = laid_out(
        "1998",
        ["FX S1", "S1"],
        figures={"only": "", "c14r13": "HBR", "c14r09": "HB", "c11r15": "BR", "c14r07": "R", "c16r08": "H"},
    )
    table.act("FX")
    # Edo has all kinds, so only an idle exchange touches it.
    assert table.legal() == {"idle", "c14r09.H", "c14r09.B", "c11r15.B", "c11r15.R", "c14r07.R", "c16r08.H"}
    table.act("c14r09.B")
    # Not c16r08.H (two helmets here), c11r15.R (two buddhas there), c14r09.H and c11r15.B (idle).
    assert table.legal() == {"c14r07.R"}
    table.act("c14r07.R")
    assert table.figures("c14r09") == {"H", "R"}
    assert table.figures("c14r07") == {"B"}
    assert table.hand(0) == {"S1": 1}
    assert table.tiles() == {}  # the tile has left the game


def test_every_first_figure_has_a_partner_and_the_order_does_not_matter() -> None:
    for seed in range(6):
        table = new_table(2 + seed % 3, seed, edition="1998", first_hand="random", figure_setup="random")
        laid = laid_out("1998", ["FX"] + ["S1"] * (table.n - 1))
        laid.state["figures"] = table.state["figures"]
        laid.act("FX")
        results = {}
        for first in laid.legal() - {"idle"}:
            one = Table(laid.position.clone())
            one.act(first)
            assert one.legal()
            for second in one.legal():
                both = Table(one.position.clone())
                both.act(second)
                results[first, second] = both.all_figures()
                sizes = {town: len(there) for town, there in both.all_figures().items()}
                assert sizes == {h.label: h.size for h in SETTLEMENT[: SETTLEMENTS[table.n]]}
        assert results
        assert all(results[b, a] == figures for (a, b), figures in results.items())
        assert all(figures != laid.all_figures() for figures in results.values())


@pytest.mark.parametrize(
    ("there", "legal"),
    [
        ({"c14r07": "R"}, set()),
        ({"c14r07": "R", "c16r08": "R"}, {"idle"}),
        ({"c14r09": "HB"}, {"idle"}),
        ({"c14r07": "R", "c16r08": "H"}, {"c14r07.R", "c16r08.H"}),
    ],
)
def test_a_figure_exchange_needs_two_figures(there, legal) -> None:
    table = laid_out("1998", ["FX S1", "S1"], figures={"only": "", **there})
    assert table.legal() == {"S1"} | ({"FX"} if legal else set())
    if legal:
        table.act("FX")
        assert table.legal() == legal


def test_an_idle_exchange_changes_nothing() -> None:
    table = laid_out("1998", ["FX S1", "S1"])
    before = table.all_figures()
    table.act("FX", "idle")
    assert table.all_figures() == before
    assert table.hand(0) == {"S1": 1}
    assert table.tiles() == {}


# ---------------------------------------------------------------- a turn


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_turn_ends_by_itself_and_the_hand_is_refilled(edition) -> None:
    table = laid_out(edition, ["S1 S2 B2", "S1 S2"], supplies=["H2 H3 H4 SH1", "TX"])
    table.act("S1", "c15r13")  # no second plain tile: the turn is over
    assert table.position.seat == 1
    assert table.hand(0) == Counter(["S2", "B2", "H2", "H3", "H4"])
    assert table.supply(0) == ["SH1"]
    table.act("S1", "c16r13")
    assert table.hand(1) == Counter(["S2", "TX"])  # as far as the supply goes
    assert table.supply(1) == []


@pytest.mark.parametrize("edition", EDITIONS)
def test_one_plain_tile_and_any_number_of_quick_ones(edition) -> None:
    table = laid_out(edition, ["SH1 SH1 RO H3 S1", "S1"])
    table.act("SH1", "c17r14", "RO", "c15r13", "H3", "c16r13")
    assert table.legal() == {"SH1", "end"}
    table.act("SH1", "c17r13")
    assert table.position.seat == 1


def test_who_can_play_nothing_is_passed_over() -> None:
    table = laid_out("1998", ["S1 S2", "TX", ""])
    table.act("S1", "c15r13")
    assert table.position.seat == 0
    assert not table.position.over
    table.act("S2", "c11r12")  # ruling: nobody can ever play again, so the game ends and is scored
    assert table.position.over
    assert table.winners == [0, 1, 2]
    assert table.legal() == set()


def test_the_turn_goes_round_clockwise() -> None:
    table = laid_out("2016", ["S1 S2", "S1 S2", "S1 S2", "S1 S2"], seat=2)
    seats = []
    for h in sorted(table.land())[:6]:
        seats.append(table.position.seat)
        table.act(sorted(table.legal())[0], h)
    assert seats == [2, 3, 0, 1, 2, 3]


# ---------------------------------------------------------------- the end


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_turn_in_which_a_kind_is_used_up_is_played_out(edition) -> None:
    table = laid_out(
        edition,
        ["H4 RO SH1", "S1"],
        supplies=["B2 B3 R2", ""],
        tiles={"c15r13": (1, "S1"), "c15r11": (1, "H2")},
        figures={"only": "", "c16r14": "H", "c10r17": "R", "c14r07": "B", "c16r12": "B"},
    )
    table.act("H4", "c16r13")  # 1998: the last helmet is gone now
    assert not table.position.over
    assert table.legal() == {"RO", "SH1", "end"}  # the mover may go on
    ended = Table(table.position.clone())
    ended.act("end")
    assert ended.position.over
    assert ended.captured() == [{"H": 1}, {}]
    table.act("RO", "c15r12")  # surrounds c16r12: later captures count
    assert not table.position.over
    table.act("end")
    assert table.position.over
    assert table.captured() == [{"H": 1, "B": 1}, {}]
    assert table.hand(0) == Counter(["SH1", "B2", "B3", "R2"])  # refilled as always
    assert table.winners == [0]
    assert table.position.returns().tolist() == [1, -1]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("before", "over"), [("BB", False), ("BBH", True), ("RRRR", True)])
def test_the_game_ends_with_four_figures_set_aside(edition, before, over) -> None:
    table = laid_out(edition, ["H4", "S1"], tiles={"c15r13": (1, "H2")}, figures={"c16r14": "R"}, aside=before)
    table.act("H4", "c16r13")
    assert sum(table.aside().values()) == len(before) + 1
    assert table.position.over == over


# ---------------------------------------------------------------- set-up


def test_first_hands_are_picked_in_secret_before_any_figure_is_placed() -> None:
    for setup in ("alternate", "free", "random"):
        table = new_table(3, 4, first_hand="choose", figure_setup=setup)
        rows = [table.supply(seat) for seat in range(3)]
        assert all(Counter(row) == Counter(dict(zip(KIND_CODES, COPIES.tolist(), strict=True))) for row in rows)
        picked = ["FX", "S1", "S1", "H4", "TX"]
        for seat in range(3):
            for kind in picked:
                assert (table.position.seat, table.phase) == (seat, "first_hand")
                assert not any(table.figures(town) for town in table.towns)  # Ruling 1: Edo is empty, too
                table.act(kind)
                if kind == "S1" and table.hand(seat)["S1"] == 2:
                    assert "S1" not in table.legal()  # there are only two
        for seat in range(3):
            assert table.hand(seat) == Counter(picked)
            rest = list(rows[seat])
            for kind in picked:
                rest.remove(kind)
            assert Counter(table.supply(seat)) == Counter(rest)
        assert table.phase == ("tile" if setup == "random" else "setup")
        assert table.position.seat == 0


@pytest.mark.parametrize("players", BOARD.players)
def test_alternate_set_up(players) -> None:
    """Cities first; the villages go on with the next seat; the ruling never bites."""
    cities = [h.label for h in SETTLEMENT[: SETTLEMENTS[players]] if h.size == 2]
    villages = [h.label for h in SETTLEMENT[: SETTLEMENTS[players]] if h.size == 1]
    for seed in range(10):
        rng = random.Random(seed)
        table = new_table(players, seed, first_hand="random", figure_setup="alternate")
        assert table.figures("c14r13") == {"H", "B", "R"}
        for count in range(sum(table.pool().values())):
            assert (table.position.seat, table.phase) == (count % players, "setup")
            first = count < 2 * len(cities)
            assert table.legal() == {
                f"{h}.{f}"
                for h in (cities if first else villages)
                for f in table.pool()
                if f not in table.figures(h) and len(table.figures(h)) < 1 + first
            }
            table.act(rng.choice(sorted(table.legal())))
        assert (table.position.seat, table.phase) == (0, "tile")


@pytest.mark.parametrize("players", BOARD.players)
def test_free_set_up_never_gets_stuck(players) -> None:
    """Any open city or village; the ruling forbids only what could not be completed, in about half of the games."""
    sizes = {h.label: h.size for h in SETTLEMENT[: SETTLEMENTS[players]]}
    bitten = 0
    for seed in range(60):
        rng = random.Random(seed)
        table = new_table(players, seed, first_hand="random", figure_setup="free")
        bites = False
        while table.phase == "setup":
            room = {
                f"{h}.{f}"
                for h, size in sizes.items()
                for f in table.pool()
                if f not in table.figures(h) and len(table.figures(h)) < size
            }
            assert table.legal()
            assert table.legal() <= room
            bites |= table.legal() != room
            table.act(rng.choice(sorted(table.legal())))
        bitten += bites
        assert {h: len(there) for h, there in table.all_figures().items()} == sizes
    assert 15 <= bitten <= 55


def test_a_placement_that_strands_the_pool_is_illegal() -> None:
    """Each city takes one helmet at most: somebody has to keep two other figures for the two cities."""
    table = new_table(2, 0, first_hand="random", figure_setup="free")
    villages = [h.label for h in SETTLEMENT[: SETTLEMENTS[2]] if h.size == 1]
    for i, h in enumerate(villages[:10]):
        table.act(f"{h}.{'B' if i < 6 else 'R'}")
    assert table.pool() == {"H": 6, "R": 2}
    cities = {"c11r15.H", "c11r15.R", "c14r09.H", "c14r09.R"}
    assert table.legal() == cities | {f"{h}.H" for h in villages[10:]}  # no rice on a village
