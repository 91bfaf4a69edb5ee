"""The compiled rules against the plain references: every field after every decision, views at samples."""

from collections import Counter

import numpy as np
import pytest

from samurai_env.core.game import find_game
from samurai_env.game_record import TITLE, GameRecord
from samurai_env.position import Position
from tests import check_rules
from tests.agreement import board
from tests.agreement.match import DisagreementError, play, wrong_fields_missed
from tests.common.variants import all_variants, readings

GAMES = 300  # of each number of players and edition; the other options take turns
BOARD = find_game("samurai")


@pytest.mark.slow
@pytest.mark.parametrize("edition", BOARD.options["edition"].values)
@pytest.mark.parametrize("players", BOARD.players, ids=lambda players: f"samurai-{players}")
def test_board_game_agrees_with_the_reference(players: int, edition: str) -> None:
    variants = [variant for variant in all_variants(BOARD, edition=edition) if variant.num_players == players]
    events: Counter[str] = Counter()
    for seed in range(GAMES):
        events += play(variants[seed % len(variants)], seed)
    assert events["games"] == GAMES
    check_coverage(players, edition, events)


@pytest.mark.parametrize("players", BOARD.players)
def test_other_readings_agree_with_the_reference(players: int) -> None:
    """Any seat begins, a game ends at once, a token exchange moves the ronin."""
    variants = [variant for variant in readings(BOARD) if variant.num_players == players]
    events: Counter[str] = Counter()
    for seed in range(2 * len(variants)):
        events += play(variants[seed % len(variants)], seed)
    assert events["ended in mid-turn"] > 1
    assert events["the ronin moved"] > 1


def check_coverage(players: int, edition: str, events: Counter[str]) -> None:
    """Every rule has come up; a driver that stops favouring the rare ones fails here."""
    wanted = dict.fromkeys(board.KIND, 300)
    wanted |= {"token exchange": 300, "idle exchange": 100, "real exchange": 100, "token exchange without a use": 20}
    wanted |= {"taken": 1000, "tied": 300, "tied at zero": 50, "shared win": 1, "sole win": 200}
    wanted |= {"ended by figures set aside": 50, "ended by a kind used up": 5, "end chosen": 1000}
    wanted |= {"turn ended by itself": 3000, "supply empty": 300, "views": 1000}
    if players == 2:
        wanted |= {"passed over": 10}
    if edition == "1998":
        wanted |= {"went on after the end condition": 2, "ended after the end condition": 10}
    else:
        changes = {"FX": 50, "SH1": 10, "SH2": 10, "TX": 1}
        wanted |= {f"{tile} changed a capture after the surround": least for tile, least in changes.items()}
    scarce = {event: (events[event], least) for event, least in wanted.items() if events[event] < least}
    assert not scarce, f"came up too rarely (found, wanted): {scarce}"


def test_a_disagreement_is_found_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def tie_goes_to_seat_0(game: board.Reference) -> None:
        for town in [town for town, there in game.figures.items() if there and game.surrounded(town)]:
            game.captured[0].update(game.figures[town])
            game.figures[town] = set()

    monkeypatch.setattr(board.Reference, "_capture", tie_goes_to_seat_0)
    with pytest.raises(DisagreementError, match="field captured is") as found:
        play(BOARD.variant(2), 0)
    text = str(found.value)
    assert len(GameRecord.parse(text[text.index(TITLE) :]).actions) > 20
    assert check_rules.main(["--game", "samurai", "--games", "20"]) == 1


def test_a_wrong_bit_is_found_in_every_field() -> None:
    checked = 0

    def look_and_choose(match: board.Match, legal: list[str]) -> str:
        nonlocal checked
        if match.game.phase != "first hand" and match.rng.random() < 0.1:
            names = set(match.expected.fields) - set(board.OWN_AFFAIRS)
            if not all(match.game.supplies):
                names.remove("supply")  # all drawn: what lies in it is no longer told
            assert not wrong_fields_missed(match, names)
            checked += 1
        return match.choose(legal)

    for variant in (BOARD.variant(2), BOARD.variant(4, edition="1998", hide_captures=True)):
        play(variant, 1, 0, look_and_choose)
    assert checked > 10


def test_a_leak_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def see_everything(game: board.Reference, seat: int) -> dict:
        view = plain_view(game, seat)
        return view | {"hand": game.hands[1 - seat]}

    plain_view = board.Reference.view
    monkeypatch.setattr(board.Reference, "view", see_everything)
    with pytest.raises(DisagreementError, match="seat 0 sees in block hand"):
        play(BOARD.variant(2, first_hand="random"), 0)


def test_check_rules_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_rules.main(["--game", "samurai", "--games", "30", "--first-seed", "1000"]) == 0
    assert "no disagreement in 30 games" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        check_rules.main(["--games", "0"])


@pytest.mark.parametrize("players", BOARD.players)
def test_the_encodings_say_the_same(players: int) -> None:
    """`flat` is compared with the reference above; here `tokens` and `planes` are compared with `flat`."""
    variant = BOARD.variant(players)
    rng = np.random.default_rng(players)
    n, cells = players, board.cells(players)
    flat, tokens, planes = (variant.encoding(name) for name in ("flat", "tokens", "planes"))
    for seed in range(3):
        position = Position(variant, seed)
        while not position.over:
            position.step(int(rng.choice(position.legal_actions())))
            seat = int(rng.integers(players))
            seen = {name: position.observe(seat, name) for name in ("flat", "tokens", "planes")}
            f = {block.name: flat.view(seen["flat"], block.name) for block in flat.blocks}
            t = {block.name: tokens.view(seen["tokens"], block.name) for block in tokens.blocks}
            towns, lands, seas = len(f["empty_land"]), len(f["land_movable"]), f["sea_strength"].shape[1]
            sea, land = slice(towns + lands, towns + lands + seas), slice(towns, towns + lands)
            # hexes
            same(t["figures"][:towns].T, f["figures"])
            same(t["influence"][:towns].transpose(2, 0, 1), f["influence"])
            same(t["empty_land"][:towns, 0], f["empty_land"])
            same(t["owner"][land].T, f["land_owner"])
            same(t["strength"][land], f["land_strength"])
            same(t["movable"][land, 0], f["land_movable"])
            same(t["from_land"][land, 0], f["from_land"])
            same(t["from_spot"][1:towns].T, f["from_spot"])
            same(t["owner"][sea].T, f["sea_strength"] > 0)
            same(t["strength"][sea], f["sea_strength"].sum(0)[:, None].repeat(3, 1))
            # players and table
            rows = slice(towns + lands + seas, towns + lands + seas + n)
            for name in ("unseen", "captured"):
                same(t[name][rows], f[name])
            for name in ("hand_size", "supply_size", "to_move"):
                same(t[name][rows, 0], f[name])
            same(t["hand"][rows.start], f["hand"])
            for name in ("aside", "pool", "phase", "tile", "plain_played", "may_end", "edition_2016"):
                same(t[name][-1], f[name])
            # nothing where a block does not belong
            for name in ("figures", "influence", "empty_land", "size", "from_spot"):
                assert not t[name][towns:].any()
            for name in ("unseen", "aside", "phase", "tile", "hand"):
                assert not t[name][: rows.start].any()
            assert (t["row_type"].sum(1) == 1).all()
            assert (t["terrain"].sum(1) == t["row_type"][:, 0]).all()
            # the planes: each hex's row of `tokens` in its cell, the rest everywhere the same
            for block in planes.blocks:
                p = planes.view(seen["planes"], block.name)  # rows x columns x the block's own shape
                if block.name in t and block.name in HEX_BLOCKS:
                    same(p[cells[:, 0], cells[:, 1]], t[block.name][: len(cells)])
                    assert np.abs(p).sum() == np.abs(t[block.name][: len(cells)]).sum()
                else:
                    same(p, np.broadcast_to(f[block.name], p.shape))


HEX_BLOCKS = {"terrain", "size", "figures", "influence", "empty_land", "owner", "strength", "movable"}
HEX_BLOCKS |= {"from_land", "from_spot"}


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(found, wanted)
