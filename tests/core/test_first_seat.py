"""The seat that begins: chosen or drawn, in every game; and presets."""

import numpy as np
import pytest

from samurai_env import make_variant, samurai_v0
from samurai_env.core.batch import batch_kernels
from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.core.variant_spec import parse_variant
from samurai_env.game_record import GameRecord
from samurai_env.position import Position
from tests.common.variants import readings

GAMES = ("samurai", "samurai_card", "samurai_spirit")
TABLES = [(name, players) for name in GAMES for players in find_game(name).players]


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_the_seat_named_begins(game: str, players: int) -> None:
    for seat in range(players):
        position = Position(make_variant(game, players, first=seat), 3)
        if game != "samurai_spirit" or players > 2:  # there open tokens are asked for first, by the same seat
            assert position.seat == seat
        assert position.state["first_seat"] == seat


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_a_drawn_seat_follows_from_the_seed_and_is_fair(game: str, players: int) -> None:
    variant = make_variant(game, players, first="random")
    states, seeds = variant.new(1200), np.arange(1200, dtype=np.uint64)
    batch_kernels(variant.game).reset_all(states, seeds)
    counts = np.bincount(states["first_seat"], minlength=players)
    assert len(counts) == players
    assert (abs(counts - 1200 / players) < 5 * np.sqrt(1200 / players)).all()
    again = states.copy()
    batch_kernels(variant.game).reset_all(again, seeds)
    assert again.tobytes() == states.tobytes()
    assert Position(variant, 7).state["first_seat"] == states["first_seat"][7]


def test_first_hand_figures_and_first_turn_go_round_from_that_seat() -> None:
    position = Position(make_variant("samurai", 3, first=2), 5)
    order = []
    while position.variant.game.secret(position.state):
        order.append(position.seat)
        position.step(position.legal_actions()[0])
    assert order == [2] * 5 + [0] * 5 + [1] * 5
    figures = []
    while position.state["pool"].any():
        figures.append(position.seat)
        position.step(position.legal_actions()[0])
    assert figures == [(2 + i) % 3 for i in range(len(figures))]
    assert position.seat == 2  # the first turn


def test_the_card_game_plays_the_round_out_from_that_seat() -> None:
    for first in range(4):
        position = Position(make_variant("samurai_card", 4, first=first), first)
        rng = np.random.default_rng(first)
        while not position.over:
            position.step(int(rng.choice(position.legal_actions())))
        held = position.state["unseen"].sum(1)
        assert len(set(held.tolist())) == 1  # equally many turns
        assert position.seat == (first - 1) % 4


@pytest.mark.parametrize("variant", [v for name in GAMES for v in readings(find_game(name))][::7], ids=str)
def test_records_and_saved_positions_hold_it(variant: Variant) -> None:
    position, rng, actions = Position(variant, 11), np.random.default_rng(1), []
    while not position.over:
        actions.append(int(rng.choice(position.legal_actions())))
        position.step(actions[-1])
        if position.steps % 9 == 0:
            assert Position.restore(position.save()).hash() == position.hash()
    assert parse_variant(variant.spec) == variant
    record = GameRecord.from_actions(variant, 11, actions)
    assert GameRecord.parse(record.to_text()).actions == record.actions


@pytest.mark.parametrize("name", game_names())
def test_specs_of_default_variants_do_not_name_quiet_options(name: str) -> None:
    game = find_game(name)
    for key, option in game.options.items():
        assert (f"{key}=" in game.variant().spec) != option.omit_default


def test_bytes_of_positions_are_those_of_before() -> None:
    """The state has grown by no byte: what was saved before the options were there is still read."""
    sizes = {(name, n): make_variant(name, n).dtype.itemsize for name, n in TABLES}
    wanted = {("samurai", 2): 512, ("samurai", 3): 784, ("samurai", 4): 1104}
    wanted |= {("samurai_card", 2): 480, ("samurai_card", 3): 528, ("samurai_card", 4): 560}
    assert sizes == wanted | {("samurai_spirit", n): 728 for n in range(1, 8)}


@pytest.mark.parametrize("value", [2, -1, "seat0", None, True, 1.5])
def test_no_such_seat(value: object) -> None:
    with pytest.raises(ValueError, match=r"option first of Samurai must be a seat, 0 to 1, or 'random', not"):
        make_variant("samurai", 2, first=value)


@pytest.mark.parametrize("text", ["first=2", "first=x", "first=²"])
def test_no_such_seat_in_a_spec(text: str) -> None:
    with pytest.raises(ValueError, match="option first of Samurai must be "):
        parse_variant(f"samurai players=2 {text}")


def test_presets() -> None:
    wanted = make_variant("samurai", 3, first_hand="random", figure_setup="random")
    assert make_variant("samurai", 3, preset="beginner") == wanted
    assert parse_variant("samurai players=3 preset=beginner") == wanted
    assert samurai_v0.env(num_players=3, preset="beginner").unwrapped.variant == wanted
    mixed = parse_variant("samurai players=3 preset=beginner first_hand=choose")
    assert mixed == make_variant("samurai", 3, figure_setup="random")


def test_no_such_preset() -> None:
    with pytest.raises(ValueError, match="Samurai has no preset 'expert'; its presets are beginner"):
        parse_variant("samurai preset=expert")
    with pytest.raises(ValueError, match="Samurai Spirit has no preset 'beginner'; it has no presets"):
        make_variant("samurai_spirit", preset="beginner")
    with pytest.raises(ValueError, match="'preset' is given twice"):
        parse_variant("samurai preset=beginner preset=beginner")
