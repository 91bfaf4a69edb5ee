"""Nobody sees what the rules hide, and determinization samples what the seat cannot know, uniformly."""

import random
from collections import Counter
from itertools import product
from math import comb, prod

import numpy as np
import pytest

from samurai_env.core.game import find_game
from samurai_env.game_record import GameRecord
from samurai_env.games.board.rules.tiles import COPIES, KIND_CODES, QUICK
from samurai_env.games.board.state import FIRST_HAND, TILE
from samurai_env.position import Position
from tests.common.positions import observations, play_random, sampled, stream
from tests.common.variants import all_variants, label
from tests.regenerate import GAMES

VARIANTS = [variant for game in GAMES for variant in all_variants(find_game(game))]
BOARD = find_game("samurai")
BOARD_VARIANTS = all_variants(BOARD)
KINDS = len(KIND_CODES)


# ---------------------------------------------------------------- any game


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_determinize_keeps_what_the_seat_knows(variant) -> None:
    rng, drawn = stream(1), []
    for position in sampled(variant, range(3), 12):
        before = position.hash()
        for seat in range(variant.num_players):
            other = position.determinized(seat, rng)
            assert observations(other, seat) == observations(position, seat)
            drawn.append(other.states)
            for field in ("seat", "over", "steps"):
                assert other.state[field] == position.state[field]
            assert other.mid_move == position.mid_move
            assert np.array_equal(other.returns(), position.returns())
            if seat == position.seat:
                assert np.array_equal(other.legal_mask(), position.legal_mask())
            assert position.over or other.legal_mask().any()
        assert position.hash() == before
    variant.check(np.concatenate(drawn))


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_determinized_games_can_be_recorded(variant) -> None:
    """Their seeds are seeds."""
    rng = np.array([7], np.uint64)
    for _ in range(8):
        position = Position(variant, 3).determinized(0, rng)
        record = GameRecord(variant, int(position.state["seed"]), start=position)
        assert GameRecord.parse(record.to_text()).position.hash() == position.hash()


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_determinized_games_can_be_played_to_the_end(variant) -> None:
    rng, choices = stream(2), random.Random(2)
    for position in sampled(variant, range(2), 40):
        other = position
        for seat in range(variant.num_players):  # one upon the other, as a search does at each of its iterations
            other = play_random(other.determinized(seat, rng), choices, 3)
        play_random(other, choices)
        assert other.over
        assert other.steps <= variant.max_steps
        variant.check(other.state)


@pytest.mark.parametrize("variant", VARIANTS, ids=label)
def test_determinize_depends_on_its_stream_alone(variant) -> None:
    for position in sampled(variant, range(1), 40):
        one, same = (position.determinized(0, stream(5)) for _ in range(2))
        assert one.hash() == same.hash()
        assert one.hash() != position.determinized(0, stream(6)).hash()
        assert one.state["rng"] != position.state["rng"]
        assert one.state["seed"] != position.state["seed"]


# ---------------------------------------------------------------- the board game: determinization


def picking(position: Position, seat: int) -> bool:
    """Whether the seat is (or will be) choosing the first hand: its supply row holds all twenty, not shuffled yet."""
    state = position.state
    return state["phase"] == FIRST_HAND and state["drawn"][seat] == 0


def supply(position: Position, seat: int) -> list[int]:
    """The supply in the order in which it is drawn (while picking: all twenty tiles)."""
    state = position.state
    return state["supply"][seat, state["drawn"][seat] :].tolist()


@pytest.mark.parametrize("variant", BOARD_VARIANTS, ids=label)
def test_tiles_and_figures_are_conserved(variant) -> None:
    rng = stream(3)
    kept = {"seed", "rng", "hand", "kinds", "supply"} | ({"captured"} if variant.options["hide_captures"] else set())
    for position in sampled(variant, range(2), 15):
        for seat in range(variant.num_players):
            other = position.determinized(seat, rng)
            for name in set(variant.dtype.names) - kept:
                assert np.array_equal(other.state[name], position.state[name]), name
            assert np.array_equal(other.state["hand"][seat], position.state["hand"][seat])
            assert np.array_equal(other.state["captured"][seat], position.state["captured"][seat])
            assert np.array_equal(other.state["captured"].sum(0), position.state["captured"].sum(0))
            for player in range(variant.num_players):
                hand, unseen = other.state["hand"][player], other.state["unseen"][player]
                assert hand.sum() == position.state["hand"][player].sum()
                assert (hand <= unseen).all()
                assert other.state["kinds"][player] == sum(1 << k for k in range(KINDS) if hand[k])
                rest = np.bincount(supply(other, player), minlength=KINDS)
                assert np.array_equal(rest, COPIES if picking(position, player) else unseen - hand)


@pytest.mark.parametrize("variant", BOARD_VARIANTS, ids=label)
def test_what_is_hidden_does_change(variant) -> None:
    rng, changed = stream(4), Counter()
    for position in sampled(variant, range(2), 10):
        for seat in range(variant.num_players):
            other = position.determinized(seat, rng)
            for player in range(variant.num_players):
                whose = "own" if player == seat else "other's"
                changed[f"{whose} hand"] += not np.array_equal(
                    other.state["hand"][player], position.state["hand"][player]
                )
                changed[f"{whose} supply"] += supply(other, player) != supply(position, player)
            changed["captures"] += not np.array_equal(other.state["captured"], position.state["captured"])
    assert changed["own hand"] == 0
    assert min(changed["other's hand"], changed["own supply"], changed["other's supply"]) > 10
    assert (changed["captures"] > 0) == variant.options["hide_captures"]


def is_uniform(found: Counter, chances: dict) -> bool:
    """Whether counts fit probabilities: chi-square within five standard deviations of its mean."""
    assert set(found) <= set(chances)
    total = found.total()
    wanted = {outcome: total * chance / sum(chances.values()) for outcome, chance in chances.items()}
    assert min(wanted.values()) >= 5, "too few draws for this test"
    chi_square = sum((found[outcome] - count) ** 2 / count for outcome, count in wanted.items())
    freedom = len(wanted) - 1
    return chi_square < freedom + 5 * (2 * freedom) ** 0.5


def hand_chances(unseen: list[int], size: int) -> dict[tuple[int, ...], int]:
    """All hands of a size from these unseen tiles, each with the number of ways to draw it."""
    hands = product(*[range(count + 1) for count in unseen])
    return {hand: prod(comb(u, h) for u, h in zip(unseen, hand, strict=True)) for hand in hands if sum(hand) == size}


def late_position(seat_to_move: bool, mid_turn: bool = False) -> Position:
    """Two players, late: seat 1 has a full hand of 6 to 8 unseen tiles, and decides which tile to play (or not)."""
    for seed in range(1000):
        for position in sampled(BOARD.variant(2, edition="1998"), range(seed, seed + 1), 1):
            state = position.state
            hand = state["hand"][1]
            if state["phase"] != TILE or position.over or state["unseen"][1].sum() not in (6, 7, 8):
                continue
            if (position.seat == 1) != seat_to_move or bool(state["plain_played"]) != mid_turn:
                continue
            quick = sum(hand[k] for k in range(KINDS) if int(QUICK) >> k & 1)
            unseen_quick = sum(state["unseen"][1, k] for k in range(KINDS) if int(QUICK) >> k & 1)
            if hand.sum() == (4 if mid_turn else 5) and (not mid_turn or (quick and unseen_quick <= 2)):
                return position
    raise AssertionError("no such position")


def test_hands_are_drawn_uniformly() -> None:
    position, rng = late_position(seat_to_move=False), stream(7)
    found = Counter(tuple(position.determinized(0, rng).state["hand"][1].tolist()) for _ in range(20_000))
    chances = hand_chances(position.state["unseen"][1].tolist(), 5)
    assert len(chances) >= 6
    assert is_uniform(found, chances)


def test_the_order_of_a_supply_is_drawn_uniformly() -> None:
    position = next(
        p
        for p in sampled(BOARD.variant(3, edition="1998"), range(100), 1)
        if len(supply(p, 0)) == 4 == len(set(supply(p, 0)))
    )
    rng = stream(8)
    for seat in (0, 1):  # the own supply (order only), and another's, when its hand is the same
        found: Counter = Counter()
        for _ in range(60_000 if seat else 6_000):
            other = position.determinized(seat, rng)
            if np.array_equal(other.state["hand"][0], position.state["hand"][0]):
                found[tuple(supply(other, 0))] += 1
        assert len(found) == 24
        assert is_uniform(found, dict.fromkeys(found, 1))


@pytest.mark.parametrize("resampled", [False, True])
def test_the_supply_left_by_a_chosen_hand_is_uniform(resampled) -> None:
    """Where the second S1 and the only SH2 lie; also if the rest of the hand is resampled during the choice."""
    variant, rng, seconds, onlies = BOARD.variant(2, first_hand="choose"), stream(10), Counter(), Counter()
    s1, sh2 = KIND_CODES.index("S1"), KIND_CODES.index("SH2")
    draws = 6_000
    for seed in range(draws):
        position = Position(variant, seed)
        position.step(s1)
        if resampled:  # what the other seat imagines: the picked tile may be another one
            position = position.determinized(1, rng)
            if not position.state["hand"][0, s1]:
                continue
        for code in ("H2", "H3", "H4", "B2", "B3"):
            if position.seat == 0 and position.state["hand"][0, KIND_CODES.index(code)] == 0:
                position.step(KIND_CODES.index(code))
        row = supply(position, 0)
        seconds[row.index(s1)] += 1
        onlies[row.index(sh2)] += 1
    assert (seconds.total() == draws) != resampled
    assert is_uniform(seconds, dict.fromkeys(range(15), 1))
    assert is_uniform(onlies, dict.fromkeys(range(15), 1))


def test_a_seat_that_goes_on_holds_a_tile_that_it_can_play() -> None:
    """After the plain tile only quick ones can be played: the hands without one are left out, the rest stay uniform."""
    position, rng = late_position(seat_to_move=True, mid_turn=True), stream(9)
    playable = [k for k in range(KINDS) if int(QUICK) >> k & 1]
    found = Counter(tuple(position.determinized(0, rng).state["hand"][1].tolist()) for _ in range(20_000))
    chances = hand_chances(position.state["unseen"][1].tolist(), 4)
    possible = {hand: ways for hand, ways in chances.items() if any(hand[k] for k in playable)}
    assert 2 <= len(possible) < len(chances)
    assert is_uniform(found, possible)


def test_hidden_captures_are_shared_out_uniformly() -> None:
    variant = BOARD.variant(3, hide_captures=True)
    running = (p for p in sampled(variant, range(20), 1) if not p.over)
    position = next(p for p in running if (p.state["captured"][1:].sum(0) >= [2, 1, 1]).all())
    taken = position.state["captured"][1:].sum(0).tolist()
    rng = stream(10)
    found = Counter(tuple(position.determinized(0, rng).state["captured"][1].tolist()) for _ in range(20_000))
    chances = {
        shares: prod(comb(t, share) for t, share in zip(taken, shares, strict=True))
        for shares in product(*[range(t + 1) for t in taken])
    }
    assert is_uniform(found, chances)


# ---------------------------------------------------------------- the board game: observations and what is hidden


def set_hand(position: Position, seat: int, hand: np.ndarray) -> None:
    """Write a hand, and the bit set that goes with it."""
    position.state["hand"][seat] = hand
    position.state["kinds"][seat] = sum(1 << k for k in range(KINDS) if hand[k])


def swap_hand_and_supply(position: Position, seat: int, rng: random.Random) -> bool:
    """Put a tile of the hand into the supply for one of another kind; whether there are such tiles."""
    hand = position.state["hand"][seat].copy()
    row = supply(position, seat)
    if picking(position, seat):
        row = [k for k in range(KINDS) if hand[k] < COPIES[k]]
    pairs = [(mine, i) for mine in range(KINDS) if hand[mine] for i in range(len(row)) if row[i] != mine]
    if not pairs:
        return False
    mine, i = rng.choice(pairs)
    hand[mine] -= 1
    hand[row[i]] += 1
    if not picking(position, seat):
        position.state["supply"][seat, position.state["drawn"][seat] + i] = mine
    set_hand(position, seat, hand)
    return True


def reorder_supply(position: Position, seat: int, rng: random.Random) -> None:
    if picking(position, seat):
        return  # not shuffled yet
    row = supply(position, seat)
    rng.shuffle(row)
    position.state["supply"][seat, position.state["drawn"][seat] :] = row


@pytest.mark.parametrize("variant", BOARD_VARIANTS, ids=label)
def test_an_observation_depends_on_nothing_hidden(variant) -> None:
    """Hidden things are exchanged one by one, by hand: this does not lean on `determinize`."""
    rng = random.Random(11)
    exchanged = Counter()
    for position in sampled(variant, range(2), 10):
        for seat in range(variant.num_players):
            other = position.clone()
            before = observations(position, seat)
            other.state["rng"] = rng.getrandbits(64)
            other.state["seed"] = rng.getrandbits(63)
            for player in range(variant.num_players):
                reorder_supply(other, player, rng)
                if player != seat:
                    exchanged["hand"] += swap_hand_and_supply(other, player, rng)
                other.state["supply"][player, : position.state["drawn"][player]] = 0  # used up, means nothing
            assert observations(other, seat) == before
            # what the seat does know shows
            mine = position.clone()
            if swap_hand_and_supply(mine, seat, rng):
                exchanged["own hand"] += 1
                after = observations(mine, seat)
                assert all(after[name] != before[name] for name in after)
    assert exchanged["hand"] > 10
    assert exchanged["own hand"] > 10


@pytest.mark.parametrize("variant", BOARD_VARIANTS, ids=label)
def test_what_is_drawn_again_does_not_depend_on_what_was_hidden(variant) -> None:
    """A search with the same stream must not play differently because of what its seat cannot know."""
    rng, differed = random.Random(13), 0
    for position in sampled(variant, range(2), 15):
        for seat in range(variant.num_players):
            other = position.clone()
            for player in range(variant.num_players):
                reorder_supply(other, player, rng)
                if player != seat:
                    swap_hand_and_supply(other, player, rng)
            if position.seat != seat and not other.legal_mask().any():
                continue  # the mover cannot hold such a hand
            differed += other.hash() != position.hash()
            assert other.determinized(seat, stream(5)).hash() == position.determinized(seat, stream(5)).hash()
    assert differed > 10


@pytest.mark.parametrize("variant", [v for v in BOARD_VARIANTS if v.num_players > 2], ids=label)
def test_captures_behind_the_screen(variant) -> None:
    """With `hide_captures` the others' counts may be any; without it everybody sees them."""
    compared = 0
    for position in sampled(variant, range(4), 10):
        captured = position.state["captured"]
        for seat in range(variant.num_players):
            one, two = [other for other in range(variant.num_players) if other != seat][:2]
            for figure in range(3):
                if captured[one, figure]:
                    other = position.clone()
                    other.state["captured"][one, figure] -= 1
                    other.state["captured"][two, figure] += 1
                    before, after = observations(position, seat), observations(other, seat)
                    hidden = variant.options["hide_captures"] and not position.over  # at the end the screens go
                    assert all((after[name] == before[name]) == hidden for name in after)
                    assert all(value != before[name] for name, value in observations(other, two).items())
                    compared += 1
    assert compared > 10


def test_two_players_see_each_others_captures() -> None:
    for position in sampled(BOARD.variant(2), range(3), 8):
        view = position.variant.encoding("flat").view
        for seat in (0, 1):
            seen = view(position.observe(seat, "flat"), "captured")
            assert np.array_equal(seen, np.roll(position.state["captured"], -seat, 0))


def test_first_hand_choices_stay_secret() -> None:
    """Whatever a seat picks, the others see the same, until the end of the set-up."""
    variant, rng = BOARD.variant(3, figure_setup="random"), random.Random(12)
    for _ in range(10):
        one, other = Position(variant, 5), Position(variant, 5)
        for position in (one, other):
            play_random(position, rng, 5)
        assert observations(one, 0) != observations(other, 0)
        for seat in (1, 2):
            play_random(one, random.Random(seat), 5)
            play_random(other, random.Random(seat), 5)
            assert observations(one, 1) == observations(other, 1)
            assert observations(one, 2) == observations(other, 2)
        assert one.state["phase"] == TILE
