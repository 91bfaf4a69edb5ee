"""What holds in every game, whatever is played: conservation, ends, copies, and no seat or kind being special."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samurai_env.core.game import find_game
from samurai_env.core.variant_spec import parse_variant
from samurai_env.game_record import GameRecord
from samurai_env.games.board.rules.tiles import COPIES, FIGURE_EXCHANGE, KIND_CODES, TILES
from samurai_env.games.board.rules.topology import FIGURES_EACH
from samurai_env.games.board.state import PHASES
from samurai_env.position import Position
from tests.common.positions import observations, play_random
from tests.common.variants import all_variants
from tests.regenerate import GAMES

VARIANTS = [variant for game in GAMES for variant in all_variants(find_game(game))]
BOARD = find_game("samurai")
BOARD_VARIANTS = all_variants(BOARD)
KINDS = len(KIND_CODES)

seeds = st.integers(0, 2**63 - 1)
specs = st.sampled_from([variant.spec for variant in VARIANTS])
board_specs = st.sampled_from([variant.spec for variant in BOARD_VARIANTS])
# The same examples in every run: a failure is a change, never chance.
fixed = settings(max_examples=60, deadline=None, derandomize=True)


# ---------------------------------------------------------------- any game


@fixed
@given(specs, seeds, seeds)
def test_games_end_in_time_and_pay_out(spec: str, seed: int, choices: int) -> None:
    variant = parse_variant(spec)
    position, rng = Position(variant, seed), random.Random(choices)
    while not position.over:
        assert not position.returns().any()
        legal = position.legal_actions()
        assert legal
        assert legal == sorted(set(legal))
        assert 0 <= position.seat < variant.num_players
        assert position.steps < variant.max_steps
        steps = position.steps
        position.step(rng.choice(legal))
        assert position.steps == steps + 1
    assert not position.legal_mask().any()
    assert not position.mid_move
    returns = position.returns()
    assert (np.abs(returns) <= 1).all()
    if variant.game.cooperative:
        assert len(set(returns)) == 1
    else:
        assert abs(returns.sum()) < 1e-9
    variant.check(position.state)


@fixed
@given(specs, seeds, seeds, st.floats(0, 1))
def test_a_copy_is_equal_and_independent(spec: str, seed: int, choices: int, part: float) -> None:
    variant = parse_variant(spec)
    rng = random.Random(choices)
    position = play_random(Position(variant, seed), rng, int(part * 100))
    copy, before = position.clone(), position.hash()
    assert copy.hash() == before
    play_random(copy, rng)
    assert position.hash() == before
    assert position.over == (copy.steps == position.steps)
    again = position.clone()
    state = rng.getstate()
    play_random(again, rng)
    rng.setstate(state)
    assert play_random(position, rng).hash() == again.hash()  # the same decisions lead to the same position


@fixed
@given(specs, seeds, seeds, st.floats(0, 1))
def test_a_saved_position_goes_on_as_if_never_saved(spec: str, seed: int, choices: int, part: float) -> None:
    variant = parse_variant(spec)
    position = play_random(Position(variant, seed), random.Random(choices), int(part * 120))
    restored = Position.restore(position.save())
    assert restored.variant == variant
    assert restored.hash() == position.hash()
    assert restored.save() == position.save()
    for seat in range(variant.num_players):
        assert observations(restored, seat) == observations(position, seat)
    assert play_random(restored, random.Random(1)).hash() == play_random(position, random.Random(1)).hash()


@fixed
@given(specs, seeds)
def test_a_used_position_starts_as_a_new_one(spec: str, seed: int) -> None:
    variant = parse_variant(spec)
    position = play_random(Position(variant, seed ^ 1), random.Random(seed))
    position.reset(seed)
    assert position.hash() == Position(variant, seed).hash()


def test_different_seeds_are_different_games() -> None:
    for variant in VARIANTS:
        assert len({Position(variant, seed).hash() for seed in range(50)}) == 50


@fixed
@given(specs, seeds, seeds)
def test_observations_keep_their_limits(spec: str, seed: int, choices: int) -> None:
    variant = parse_variant(spec)
    position, rng = Position(variant, seed), random.Random(choices)
    encodings = {name: variant.encoding(name) for name in variant.game.encodings}
    while not position.over:
        play_random(position, rng, rng.randrange(1, 20))
        for name, encoding in encodings.items():
            low, high = encoding.limits()
            found = position.observe(rng.randrange(variant.num_players), name)
            assert ((low <= found) & (found <= high)).all()


PLAY = """
import random, sys
from samurai_env import Position, parse_variant
from tests.common.positions import play_random
for spec in sys.argv[1:]:
    print(play_random(Position(parse_variant(spec), 12345), random.Random(6)).hash())
"""


def test_the_same_seed_is_the_same_game_in_another_process() -> None:
    specs = [variant.spec for variant in VARIANTS]
    command = [sys.executable, "-c", PLAY, *specs]
    root = Path(__file__).resolve().parents[2]
    elsewhere = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout.split()
    here = [play_random(Position(variant, 12345), random.Random(6)).hash() for variant in VARIANTS]
    assert elsewhere == here


# ---------------------------------------------------------------- the board game: nothing gets lost


@fixed
@given(board_specs, seeds, seeds)
def test_tiles_and_figures_are_conserved(spec: str, seed: int, choices: int) -> None:
    variant = parse_variant(spec)
    n = variant.num_players
    position, rng = Position(variant, seed), random.Random(choices)
    state = position.state
    exchanged = [0] * n  # figure exchanges leave the game
    while True:
        figures = [int(word).bit_count() for word in state["figures"]]
        everywhere = figures + state["pool"] + state["captured"].sum(0) + state["aside"]
        assert (everywhere == FIGURES_EACH[n]).all()
        codes = np.concatenate([state["land_tile"], state["sea_tile"]])
        for seat in range(n):
            placed = [int(code) - 1 - KINDS * seat for code in codes if code and (code - 1) // KINDS == seat]
            pending = int(state["tile"]) if seat == position.seat and not position.over else -1
            total = np.bincount(placed, minlength=KINDS) + state["unseen"][seat]
            total[FIGURE_EXCHANGE] += exchanged[seat]
            if pending >= 0:
                total[pending] += 1
            assert np.array_equal(total, COPIES)
            assert state["hand"][seat].sum() == state["hand_size"][seat] <= 5
            assert state["unseen"][seat].sum() == state["hand_size"][seat] + state["supply_size"][seat]
            assert (state["hand"][seat] <= state["unseen"][seat]).all()
        if position.over:
            break
        seat, exchanging = position.seat, int(state["tile"]) == FIGURE_EXCHANGE
        position.step(rng.choice(position.legal_actions()))
        if exchanging and state["tile"] < 0:
            exchanged[seat] += 1
    assert sum(exchanged) <= n
    assert state["winners"]
    assert state["aside"].sum() >= 4 or min(figures) == 0


# ---------------------------------------------------------------- the board game: no seat is special


def rotated(position: Position, turn: int) -> Position:
    """The same game with seat s in the place of seat s + turn."""
    n = position.variant.num_players
    other = position.clone()
    old, new = position.state, other.state
    for name in ("hand", "unseen", "hand_size", "supply_size", "supply", "drawn", "captured", "kinds", "movable"):
        new[name] = np.roll(old[name], turn, 0)
    new["influence"] = np.roll(old["influence"], turn, 0)
    new["seat"] = (old["seat"] + turn) % n
    new["winners"] = sum(1 << (s + turn) % n for s in range(n) if int(old["winners"]) >> s & 1)
    for name in ("land_tile", "sea_tile"):
        for i, code in enumerate(old[name].tolist()):
            if code:
                new[name][i] = 1 + KINDS * (((code - 1) // KINDS + turn) % n) + (code - 1) % KINDS
    return other


dealt_specs = st.sampled_from([v.spec for v in BOARD_VARIANTS if v.options["first_hand"] == "random"])


@fixed
@given(dealt_specs, seeds, seeds, st.integers(1, 3), st.floats(0, 1))
def test_no_seat_is_special(spec: str, seed: int, choices: int, turn: int, part: float) -> None:
    """Everybody moved on by some seats at any time, the first turn included: the game goes on just as well.

    (Not in the set-up: seat 0 takes the first turn, whoever puts the last figure.)
    """
    variant = parse_variant(spec)
    n, turn = variant.num_players, 1 + turn % (variant.num_players - 1)
    position, rng = Position(variant, seed), random.Random(choices)
    while PHASES[position.state["phase"]] == "setup":
        play_random(position, rng, 1)
    play_random(position, rng, int(part * 80))
    other = rotated(position, turn)
    while True:
        assert rotated(position, turn).hash() == other.hash()
        assert np.array_equal(position.legal_mask(), other.legal_mask())
        for seat in range(n):
            assert observations(position, seat) == observations(other, (seat + turn) % n)
        if position.over:
            break
        action = rng.choice(position.legal_actions())
        position.step(action)
        other.step(action)
    assert np.array_equal(np.roll(position.returns(), turn), other.returns())


# ---------------------------------------------------------------- the board game: no kind of figure is special


def relettered(names: tuple[str, ...], kinds: str) -> dict[str, str]:
    """The name of each action when helmet, buddha and rice become `kinds`, such as `BRH`."""
    letters = dict(zip("HBR", kinds, strict=True))

    def new(name: str) -> str:
        if name[-2:-1] == ".":
            return name[:-1] + letters[name[-1]]
        return letters[name[0]] + name[1:] if name[0] in letters and name[1:].isdigit() else name

    return {name: new(name) for name in names}


def with_other_kinds(position: Position, kinds: str) -> Position:
    """The same game in which every helmet (figure or tile) is the first of `kinds`, and so on."""
    names = position.variant.action_names
    to = ["HBR".index(letter) for letter in kinds]
    new_names = relettered(names, kinds)
    tile_to = [names.index(new_names[code]) for code in KIND_CODES]
    n = position.variant.num_players
    other = position.clone()
    old, new = position.state, other.state
    for figure in range(3):
        new["figures"][to[figure]] = old["figures"][figure]
        new["influence"][:, :, to[figure]] = old["influence"][:, :, figure]
        new["land_strength"][:, to[figure]] = old["land_strength"][:, figure]
        new["captured"][:, to[figure]] = old["captured"][:, figure]
        new["aside"][to[figure]] = old["aside"][figure]
        new["pool"][to[figure]] = old["pool"][figure]
    for kind in range(KINDS):
        new["hand"][:, tile_to[kind]] = old["hand"][:, kind]
        new["unseen"][:, tile_to[kind]] = old["unseen"][:, kind]
    new["kinds"] = [sum(1 << k for k in range(KINDS) if new["hand"][seat, k]) for seat in range(n)]
    for seat in range(n):
        new["supply"][seat] = [tile_to[kind] for kind in old["supply"][seat]]
    for name in ("land_tile", "sea_tile"):
        for i, code in enumerate(old[name].tolist()):
            if code:
                new[name][i] = 1 + KINDS * ((code - 1) // KINDS) + tile_to[(code - 1) % KINDS]
    if old["tile"] >= 0:
        new["tile"] = tile_to[old["tile"]]
    if old["from_spot"] >= 0:
        first = names.index(next(name for name in names if name[-2:-1] == "."))
        new["from_spot"] = names.index(new_names[names[first + int(old["from_spot"])]]) - first
    return other


@fixed
@given(board_specs, seeds, seeds, st.sampled_from(["BRH", "RHB", "BHR", "RBH", "HRB"]), st.floats(0, 1))
def test_no_kind_is_special(spec: str, seed: int, choices: int, kinds: str, part: float) -> None:
    variant = parse_variant(spec)
    names = variant.action_names
    new_names = relettered(names, kinds)
    rng = random.Random(choices)
    position = play_random(Position(variant, seed), rng, int(part * 100))
    while PHASES[position.state["phase"]] == "first_hand":
        play_random(position, rng, 1)  # supplies, and with one option figures, are still to be drawn
    other = with_other_kinds(position, kinds)
    while not position.over:
        assert with_other_kinds(position, kinds).hash() == other.hash()
        legal = [names[action] for action in position.legal_actions()]
        assert {new_names[name] for name in legal} == {names[action] for action in other.legal_actions()}
        name = rng.choice(legal)
        position.step(names.index(name))
        other.step(names.index(new_names[name]))
    assert other.over
    assert np.array_equal(position.returns(), other.returns())


# ---------------------------------------------------------------- records


@fixed
@given(specs, seeds, seeds, st.floats(0, 1))
def test_any_part_of_a_game_can_be_written_and_read(spec: str, seed: int, choices: int, part: float) -> None:
    variant = parse_variant(spec)
    rng = random.Random(choices)
    record = GameRecord(variant, seed)
    while not record.over and len(record.actions) < part * 150:
        record.append(rng.choice(record.position.legal_actions()))
    text = record.to_text()
    again = GameRecord.parse(text)
    assert again.actions == record.actions
    assert again.to_text() == text


@pytest.mark.parametrize("players", BOARD.players)
def test_facts_of_random_play(players: int) -> None:
    """Uniform choices among whole plays were measured elsewhere; small steps differ, but not by much."""
    position, rng = Position(BOARD.variant(players, first_hand="random", figure_setup="random"), 0), random.Random(0)
    placed, aside, games = 0, 0, 150
    for seed in range(games):
        position.reset(seed)
        play_random(position, rng)
        placed += players * TILES - int(position.state["unseen"].sum())
        aside += int(position.state["aside"].sum())
    tiles, set_aside = {2: (36.5, 2.4), 3: (49.0, 3.7), 4: (58.5, 4.1)}[players]
    assert abs(placed / games - tiles) < 3
    assert abs(aside / games - set_aside) < 0.6
