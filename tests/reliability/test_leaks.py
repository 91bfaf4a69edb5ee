"""No byte of a determinized state depends on what its seat cannot know; at the end the screens are gone."""

import random

import numpy as np
import pytest

from samurai_env.core.game import Variant, find_game
from samurai_env.games.board.display.text import text
from samurai_env.games.board.rules.scoring import winners
from samurai_env.games.board.state import FIRST_HAND
from samurai_env.games.spirit.rules.cards import SAMURAI
from samurai_env.games.spirit.state import (
    FIRST_USE,
    GIVER,
    LENDING,
    OFFER,
    OFFERED,
    ORDERING,
    RECEIVER,
    REMOVAL,
    SECOND_USE,
    TOKEN,
    TOKEN_TO,
    TOP,
)
from samurai_env.position import Position
from tests.common.positions import observations, play_random, sampled, stream
from tests.common.variants import all_variants, label
from tests.regenerate import GAMES
from tests.torture.leaks import differ, variants_of

VARIANTS = [variant for name in GAMES for variant in variants_of(find_game(name))]
BOARD = find_game("samurai")
HIDING = all_variants(BOARD, hide_captures=True)


def alike(position: Position, seat: int, rng: random.Random) -> Position:
    """What the seat cannot know dealt otherwise; often so that it will draw the same, and the games run alike."""
    twin = position.determinized(seat, stream(rng.getrandbits(60)))
    names = {"samurai": ["supply"], "samurai_card": ["stack"]}.get(position.variant.game.name, [])
    for name in names if rng.random() < 0.7 else []:
        twin.state[name][seat] = position.state[name][seat]
    return twin


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_raw_bytes_hang_on_nothing_hidden(variant: Variant) -> None:
    """Two games that a seat cannot tell apart, played on with the same decisions for as long as it sees the same."""
    rng, compared, differed = random.Random(1), 0, 0
    for start in sampled(variant, range(1 if variant.game.name == "samurai" else 3), 10):
        seat = rng.randrange(variant.num_players)
        one, two = start.clone(), alike(start, seat, rng)
        for _ in range(20):
            if one.seat != two.seat or observations(one, seat) != observations(two, seat):
                break
            if variant.game.cooperative and one.state["moved"] != two.state["moved"]:
                break  # another card was drawn, openly, and collected at the end of the round
            here, there = (position.determinized(seat, stream(5)) for position in (one, two))
            for field in variant.dtype.names:
                assert np.array_equal(here.state[field], there.state[field]), field
            assert here.save() == there.save()
            compared, differed = compared + 1, differed + (one.hash() != two.hash())
            both = sorted(set(one.legal_actions()) & set(two.legal_actions()))
            if not both:
                break
            action = rng.choice(both)
            one.step(action)
            two.step(action)
    assert compared >= differed > 2


def test_observations_differ_if_any_entry_does() -> None:
    """What the campaign compares observations with."""
    one = np.arange(-128, 128).astype(np.int8)
    assert not differ(one, one.copy())
    for i in range(len(one)):
        other = one.copy()
        other[i] ^= 1 << i % 7
        assert differ(one, other)
        other[i] = one[i] ^ -128
        assert differ(one, other)


@pytest.mark.parametrize("variant", HIDING[::4], ids=label)
def test_the_end_removes_the_screens(variant: Variant) -> None:
    for seed in range(5):
        end = play_random(Position(variant, seed), random.Random(seed))
        for seat in range(variant.num_players):
            for name in variant.game.encodings:
                seen = variant.encoding(name).view(end.observe(seat, name), "captured")
                assert seen.min() >= 0
            flat = variant.encoding("flat").view(end.observe(seat, "flat"), "captured")
            assert np.array_equal(flat, np.roll(end.state["captured"], -seat, 0))
            assert "?" not in text(end.state, seat)
            other = end.determinized(seat, stream(7))
            assert np.array_equal(other.state["captured"], end.state["captured"])
            assert winners(other.state["captured"]) == other.state["winners"] == end.state["winners"]
            assert Position.restore(other.save()).hash() == other.hash()


@pytest.mark.parametrize("variant", all_variants(BOARD)[::5], ids=label)
def test_the_last_observation_tells_of_no_turn(variant: Variant) -> None:
    for seed in range(3):
        end = play_random(Position(variant, seed), random.Random(seed))
        for name in variant.game.encodings:
            for block in ("phase", "plain_played", "may_end", "tile", "to_move"):
                assert not variant.encoding(name).view(end.observe(0, name), block).any(), (name, block)


@pytest.mark.parametrize("setup", ["alternate", "free", "random"])
def test_no_figure_stands_before_the_first_hands_are_complete(setup: str) -> None:
    variant = BOARD.variant(3, figure_setup=setup)
    position, view = Position(variant, 4), variant.encoding("flat").view
    for _ in range(15):
        assert position.state["phase"] == FIRST_HAND
        seen = position.observe(1, "flat")
        assert not view(seen, "figures").any()
        assert view(seen, "pool").tolist() == [10, 10, 10]
        assert "<___>" in text(position.state)
        play_random(position, random.Random(3), 1)
    assert position.state["phase"] != FIRST_HAND
    assert view(position.observe(1, "flat"), "figures")[:, 0].all()
    assert view(position.observe(1, "flat"), "pool").tolist() == ([0, 0, 0] if setup == "random" else [9, 9, 9])


def test_a_kiai_that_is_over_leaves_nothing() -> None:
    """Its place in the state stays as it was; which hidden card brought it may follow from it."""
    game = find_game("samurai_spirit")
    position = Position(game.variant(3), 1)
    fields = [f"kiai_{name}" for name in ("seat", "side", "stage", "uses", "a", "b")]
    for name in fields:
        position.state[name] = 1
    dealt = position.determinized(0, stream(5))
    assert not any(dealt.state[name].any() for name in fields)


@pytest.mark.parametrize(
    ("samurai", "stage", "uses", "phase", "kept"),
    [
        ("Heihachi", OFFERED, 0, OFFER, (0, 0)),
        ("Daisuke", FIRST_USE, 0, GIVER, (0, 0)),
        ("Daisuke", FIRST_USE, 0, RECEIVER, (1, 0)),
        ("Daisuke", SECOND_USE, 1, GIVER, (1, 1)),
        ("Kikuchiyo", SECOND_USE, 1, REMOVAL, (0, 0)),
        ("Kyuzo", LENDING, 0, TOKEN, (0, 0)),
        ("Kyuzo", LENDING, 0, TOKEN_TO, (1, 0)),
        ("Katsushiro", ORDERING, 0, TOP, (1, 1)),
    ],
)
def test_a_kiai_keeps_its_own_choices_alone(samurai: str, stage: int, uses: int, phase: int, kept: tuple) -> None:
    """Its places in the state may still hold those of one that is over."""
    position = Position(find_game("samurai_spirit").variant(3), 1)
    state = position.state
    state["nested"], state["phase"] = 1, phase
    state["who"][0] = SAMURAI.index(samurai)
    state["kiai_stage"][0], state["kiai_uses"][0] = stage, uses
    state["kiai_a"] = state["kiai_b"] = 1
    dealt = position.determinized(0, stream(5)).state
    assert (dealt["kiai_a"][0], dealt["kiai_b"][0]) == kept
