"""The card game seen by its seats: hidden information, encodings, action names, heuristics, pictures."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from samurai_env.core.bits import pick
from samurai_env.games.card.actions import CELL0, CHOICE0, GROUPS, names
from samurai_env.games.card.determinize import determinize
from samurai_env.games.card.game import GAME
from samurai_env.games.card.heuristics.policy import LOWEST
from samurai_env.games.card.rules.cards import KIND_CODES
from samurai_env.position import Position
from tests.card.table import LOOPS, PLAYERS, check_limits, dealt, play, positions, randomly, stones

# --- Hidden information ---


@pytest.mark.parametrize("n", PLAYERS)
def test_nothing_a_seat_sees_depends_on_what_it_cannot_know(n):
    rng = np.array([n], np.uint64)
    scores, again = np.zeros(190), np.zeros(190)
    for position in positions(n, 1):
        for seat in range(n):
            other = position.determinized(seat, rng)
            for encoding in GAME.encodings:
                np.testing.assert_array_equal(position.observe(seat, encoding), other.observe(seat, encoding))
            assert GAME.text(position.state, seat) == GAME.text(other.state, seat)
            assert GAME.scene(position.state, seat) == GAME.scene(other.state, seat)
            if seat == position.seat and not position.over:
                assert position.legal_actions() == other.legal_actions()
                LOOPS.write_policy(position.states, 0, scores)
                LOOPS.write_policy(other.states, 0, again)
                np.testing.assert_array_equal(scores, again)


@pytest.mark.parametrize("n", PLAYERS)
def test_determinized_games_are_legal_and_differ(n):
    rng, moves = np.array([n], np.uint64), np.random.default_rng(n)
    different = Counter()
    for position in positions(n, 2):
        before = position.state
        for seat in range(n):
            other = position.determinized(seat, rng)
            after = other.state
            position.variant.check(after)
            public = set(before.dtype.names) - {
                "seed",
                "rng",
                "hand",
                "kinds",
                "stack",
                "village_stack",
                "card",
                "padding",
            }
            for name in public:
                np.testing.assert_array_equal(before[name], after[name], name)
            for s in range(n):
                drawn = after["stack"][s] < 0
                assert drawn.sum() == before["drawn"][s]
                rest = np.bincount(after["stack"][s][~drawn], minlength=12)
                assert (after["hand"][s] + rest == after["unseen"][s]).all()
                assert after["kinds"][s] == sum(1 << kind for kind in range(12) if after["hand"][s, kind])
            np.testing.assert_array_equal(before["hand"][seat], after["hand"][seat])
            shown = int(before["villages"]) + (2 if before["phase"] == 2 else 1)
            assert before["village_stack"][:shown].tolist() == after["village_stack"][:shown].tolist()
            assert sorted(before["village_stack"]) == sorted(after["village_stack"])
            if before["phase"] == 1 and not position.over:
                assert after["hand"][after["seat"], after["card"]] > 0
                different["card"] += after["card"] != before["card"]
                if seat == position.seat:
                    assert after["card"] == before["card"]
            else:
                assert after["card"] == -1
            different["hands"] += (before["hand"] != after["hand"]).any()
            different["stacks"] += (before["stack"] != after["stack"]).any()
            different["villages"] += (before["village_stack"] != after["village_stack"]).any()
            assert randomly(other, moves, 1000).over
    assert min(different.values()) > 5, different


@pytest.mark.parametrize("n", PLAYERS)
def test_what_is_drawn_again_does_not_depend_on_what_was_hidden(n):
    one, two = (np.array([seed], np.uint64) for seed in (1, 2))
    for position in positions(n, 5, 2):
        for seat in range(n):
            other = position.determinized(seat, one)
            assert other.determinized(seat, two.copy()).hash() == position.determinized(seat, two.copy()).hash()


def test_determinizations_are_uniform():
    """Another seat's hand, its chosen card, the own stack and the village stack: frequencies against probabilities."""
    position = Position(GAME.variant(2), 8)
    position.step(position.legal_actions()[0])
    before = position.state
    rng = np.array([1], np.uint64)
    draws = 4000
    states = np.repeat(position.states, draws)
    for state in states:
        determinize(state, 1, rng)
    held = states["hand"][:, 0].mean(0)
    expected = 5 * before["unseen"][0] / 15
    assert held == pytest.approx(expected, abs=0.05)
    chosen = np.bincount(states["card"], minlength=12) / draws
    assert chosen == pytest.approx(before["unseen"][0] / 15, abs=0.03)
    rest = before["stack"][1, 5:]
    for place_in_stack in range(10):
        found = np.bincount(states["stack"][:, 1, 5 + place_in_stack], minlength=12) / draws
        assert found == pytest.approx(np.bincount(rest, minlength=12) / 10, abs=0.04)
    below = before["village_stack"][2:]
    found = np.bincount(states["village_stack"][:, 2], minlength=8) / draws
    assert found == pytest.approx(np.bincount(below, minlength=8) / 42, abs=0.04)


@pytest.mark.parametrize("n", PLAYERS)
def test_the_chosen_card_is_shown_to_its_owner_alone(n):
    position = Position(GAME.variant(n), 2)
    action = position.legal_actions()[-1]
    before = [position.observe(seat) for seat in range(n)]
    position.step(action)
    layout = position.variant.encoding("flat")
    for seat in range(n):
        chosen = layout.view(position.observe(seat), "chosen")
        assert chosen.tolist() == [int(seat == 0 and kind == action) for kind in range(12)]
        assert layout.view(position.observe(seat), "hand").tolist() == layout.view(before[seat], "hand").tolist()
        words = GAME.text(position.state, seat).splitlines()
        assert any("lays the chosen card" in line for line in words) == (seat != 0)


@pytest.mark.parametrize("n", PLAYERS)
def test_observations_are_relative_to_the_seat(n):
    """Seats renamed by one, every observer sees the same but for who begins."""
    rng = np.random.default_rng(n)
    for seed in range(5):
        position = randomly(Position(GAME.variant(n), seed), rng, 30)
        turned = position.clone()
        before, after = position.state, turned.state
        for name in ("hand", "unseen", "stack", "drawn", "stones", "kinds"):
            after[name] = np.roll(before[name], 1, axis=0)
        cards = before["side"].astype(int)
        owner = (cards - 1) // 12
        after["side"] = np.where(cards > 0, (owner + 1) % n * 12 + (cards - 1) % 12 + 1, 0)
        after["seat"] = (int(before["seat"]) + 1) % n
        layout = position.variant.encoding("flat")
        for seat in range(n):
            one, two = position.observe(seat), turned.observe((seat + 1) % n)
            hidden = layout.slices()["first"]
            one[hidden] = two[hidden] = 0
            np.testing.assert_array_equal(one, two)


# --- Encodings and actions ---


@pytest.mark.parametrize("encoding", GAME.encodings)
@pytest.mark.parametrize("n", PLAYERS)
def test_observations_stay_within_the_limits(n, encoding):
    for position in positions(n, 3):
        check_limits(position, encoding)


@pytest.mark.parametrize("n", PLAYERS)
def test_the_window_cuts_off_what_lies_outside(n):
    position = Position(GAME.variant(n), 0)
    state = position.state
    state["villages"] = 2
    state["village_x"][1], state["village_y"][1] = 40, 40
    state["side"][1] = [1, 2, 3, 4]
    planes = position.variant.encoding("planes")
    seen = position.observe(0, "planes")
    assert not planes.view(seen, "laid").any()
    assert not planes.view(seen, "owner").any()
    check_limits(position, "planes")


def test_planes_name_the_action_of_every_free_cell():
    rng = np.random.default_rng(6)
    position = Position(GAME.variant(3), 6)
    planes = position.variant.encoding("planes")
    while not position.over:
        if position.state["phase"] == 1:
            seen = position.observe(0, "planes")
            free = planes.view(seen, "free")[..., 0] == 1
            village = planes.view(seen, "name_village")[..., 0][free].astype(int)
            side = planes.view(seen, "name_side")[..., 0][free].astype(int)
            assert sorted(CELL0 + 4 * village + side) == position.legal_actions()
        randomly(position, rng, 1)


def test_action_names_and_groups():
    table = names(2)
    assert len(table) == len(set(table)) == 190
    assert table[:12] == KIND_CODES
    assert (table[CHOICE0], table[CELL0], table[CELL0 + 4 * 43 + 3]) == ("cell0", "v0N", "v43W")
    starts = [int(first[2]) for first, _, _ in GROUPS]
    assert starts == [0, CHOICE0, CELL0]
    assert all(one < two for one, two in pairwise(starts))


@pytest.mark.parametrize("n", PLAYERS)
def test_moves_survive_being_written_and_read(n):
    rng = np.random.default_rng(n)
    position = Position(GAME.variant(n), n)
    before, actions = position.state.copy(), []
    while not position.over:
        action = int(rng.choice(position.legal_actions()))
        position.step(action)
        actions.append(action)
        if not position.mid_move:
            text = GAME.format_move(before, actions)
            assert GAME.parse_move(before, text) == actions
            assert len(actions) in (2, 3)
            before, actions = position.state.copy(), []


# --- The built-in player and the evaluation ---


@pytest.mark.parametrize("n", PLAYERS)
def test_the_heuristic_policy_scores_legal_actions_alone(n):
    scores = np.zeros(190)
    for position in positions(n, 4):
        if not position.over:
            LOOPS.write_policy(position.states, 0, scores)
            assert np.flatnonzero(scores > LOWEST).tolist() == position.legal_actions()
            assert np.isfinite(scores).all()


@pytest.mark.parametrize(("n", "least"), [(2, 0.9), (3, 0.85), (4, 0.8)])
def test_the_built_in_player_beats_random_play(n, least):
    variant = GAME.variant(n)
    rng, words, scores = np.array([n], np.uint64), np.zeros(3, np.uint64), np.zeros(190)
    won, games = 0.0, 30 * n
    for game in range(games):
        position = Position(variant, game // n)
        state = position.states[0]
        while not position.over:
            if position.seat == game % n:
                GAME.kernels.heuristic_policy(state, scores)
                GAME.kernels.step(state, int(scores.argmax()))
            else:
                GAME.kernels.legal(state, words)
                GAME.kernels.step(state, pick(words, rng))
        word = int(state["winners"])
        won += (word >> (game % n) & 1) / word.bit_count()
    assert won / games > least


def test_the_built_in_player_takes_what_it_can():
    """The last side of a village goes to the card that decides it."""
    position = dealt(["B2 B3 H4 R2 S1", "H3 R2 B4 R3 S2"], "H R R")
    play(position, "B2 v0N", "H3 v0S", "B3 v0W", "R2 v1W")
    scores, chosen = np.zeros(190), []
    for _ in range(2):
        LOOPS.write_policy(position.states, 0, scores)
        chosen.append(position.variant.action_names[int(scores.argmax())])
        play(position, chosen[-1])
    assert chosen == ["H4", "v0E"]
    assert stones(position)[0] == [1, 0, 0]


@pytest.mark.parametrize("n", PLAYERS)
def test_evaluation(n):
    out = np.zeros(n)
    right = total = 0
    rng = np.random.default_rng(n)
    for seed in range(60):
        position = randomly(Position(GAME.variant(n), seed), rng, 45)
        if position.over:
            continue
        GAME.kernels.heuristic_value(position.states[0], out)
        assert out.sum() == pytest.approx(0, abs=1e-9)
        assert (np.abs(out) <= 1).all()
        favourite = int(out.argmax())
        randomly(position, rng, 1000)
        right += position.returns()[favourite] > 0
        total += 1
    assert right / total > 1.3 / n


# --- Pictures ---


@pytest.mark.parametrize("n", PLAYERS)
def test_pictures_and_text_of_whole_games(n):
    rng = np.random.default_rng(n)
    position, last, sizes = Position(GAME.variant(n), 7), [], set()
    while True:
        for viewer in (None, 0, n - 1):
            picture = GAME.scene(position.state, viewer, last)
            sizes.add((picture.width, picture.height))
            assert picture.shapes
            words = GAME.text(position.state, viewer)
            assert words.isascii()
        if position.over:
            break
        last = [] if not position.mid_move else last
        action = int(rng.choice(position.legal_actions()))
        position.step(action)
        last = [*last, action]
    assert len(sizes) == 1
    assert "Game over" in words
