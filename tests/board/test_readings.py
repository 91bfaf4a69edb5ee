"""The readings of the rules summary (SPL) as options: games end at once, a token exchange moves any tile on land."""

import pytest

from samurai_env import make_variant
from samurai_env.games.board.rules.topology import LAND, LANDS, SETTLEMENT
from tests.board.table import Table, laid_out


def neighbours(table: Table, town: str) -> list[str]:
    """The open land hexes beside a settlement."""
    place = next(s for s in SETTLEMENT if s.label == town)
    return [h.label for h in LAND[: LANDS[table.n]] if (place.col, place.row) in h.neighbours()]


def before_the_fourth_tie(ending: int) -> Table:
    """Seat 0 fills the last hex of a village beside which nothing counts: the fourth figure is set aside."""
    table = laid_out("1998", ["H4 B4 RO SH1", "S1"])
    town = next(t for t in table.towns[1:] if len(neighbours(table, t)) == 2 and len(table.figures(t)) == 1)
    other = "B4" if table.figures(town) == {"H"} else "H4"
    first, last = neighbours(table, town)
    table = laid_out(
        "1998", [f"{other} RO SH1", "S1"], tiles={first: (1, other)}, aside="HBR", supplies=["H3 H2 B3", "B2"]
    )
    table.state["ending"] = ending
    table.act(other, last)
    assert sum(table.aside().values()) == 4
    return table


def test_the_turn_is_played_out() -> None:
    table = before_the_fourth_tie(0)
    assert not table.position.over
    table.act("end")
    assert table.position.over
    assert sum(table.hand(0).values()) == 5


def test_the_game_ends_at_once() -> None:
    table = before_the_fourth_tie(1)
    assert table.position.over
    assert sum(table.hand(0).values()) == 2  # nothing is drawn
    assert table.winners == [0, 1]


def test_at_once_is_a_reading_of_1998() -> None:
    with pytest.raises(ValueError, match=r"ending=at_once is for edition=1998: in 2016 figures are"):
        make_variant("samurai", ending="at_once")
    assert "ending=at_once" in make_variant("samurai", edition="1998", ending="at_once").spec


@pytest.mark.parametrize("option", [0, 1])
def test_what_a_token_exchange_moves(option: int) -> None:
    table = laid_out("2016", ["RO SH1 TX S3", "S1"])
    plain, ronin, *_, empty = sorted(table.land())
    ship = sorted(table.sea())[0]
    table = laid_out("2016", ["RO SH1 TX S3", "S1"], tiles={plain: (0, "S1")})
    table.state["token_exchange"] = option
    table.act("RO", ronin, "SH1", ship, "TX")
    assert table.legal() == ({plain, ronin} if option else {plain})  # never the ship: only ships lie on the sea
    if option:
        table.act(ronin, empty)
        assert table.tiles() == {plain: (0, "S1"), ronin: (0, "TX"), ship: (0, "SH1"), empty: (0, "RO")}


@pytest.mark.parametrize("option", [0, 1])
def test_the_ronin_alone_gives_a_token_exchange_a_use(option: int) -> None:
    table = laid_out("2016", ["RO SH1 TX S3", "S1"])
    table.state["token_exchange"] = option
    table.act("RO", sorted(table.land())[0])
    assert ("TX" in table.legal()) == bool(option)
