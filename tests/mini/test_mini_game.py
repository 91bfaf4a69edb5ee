"""A fourth game (`tests.mini`) through everything (docs/background/design.md)."""

import os
import random
import shutil
import subprocess
import sys
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.registry import make_agent
from experiments import bench, play, tournament, train_ppo, watch
from experiments.evaluation.matchups import Results
from experiments.evaluation.standings import standings
from samurai_env import Position, game_names, parse_variant
from samurai_env.core.game import find_game
from samurai_env.game_record import GameRecord
from samurai_env.perft import perft
from tests.agents import test_agents
from tests.common.variants import all_variants, cross_section, label
from tests.core import test_game_record, test_hidden_information
from tests.envs import test_aec, test_bad_input, test_single, test_vector
from tests.mini.exact_play import DEALS, HIDDEN, position_of, value_against_uniform
from tests.mini.game import ACTIONS, GAME
from tests.reference import mini as exact

FOLDER = Path(__file__).resolve().parent
saved = test_agents.saved  # the fixture


def test_the_game_is_small_and_no_other_test_meets_it() -> None:
    assert len((FOLDER / "game.py").read_text(encoding="utf-8").splitlines()) < 200
    assert find_game("mini") is GAME
    assert "mini" in game_names()
    assert all(variant.game is not GAME for variant in test_aec.EVERY + test_vector.EVERY + test_single.EVERY)


# ---------------------------------------------------------------- what every game is tested for

# What a test wants and this game with so many players has not.
WANTING = {
    (test_aec.test_a_game_in_every_variant, 2): "a winner in the game of its seed",
    (test_single.test_one_opponent_for_all_seats, 2): "three players",
    (test_single.test_one_opponent_for_all_seats, 3): "a game in which any two players differ",
    (test_single.test_opponents_sit_clockwise_from_the_learner, 2): "three players",
    **{
        (test, players): "an id in Gymnasium"
        for test in (
            test_aec.test_an_unknown_keyword,
            test_single.test_an_unknown_keyword,
            test_single.test_agents_as_opponents,
            test_vector.test_an_unknown_keyword,
        )
        for players in (2, 3)
    },
    (test_vector.test_the_same_in_other_processes, 2): "other processes that know the game",
    (test_vector.test_the_same_in_other_processes, 3): "other processes that know the game",
}
ANY_GAME = [
    test
    for module in (test_aec, test_single, test_vector)
    for name, test in vars(module).items()
    if name.startswith("test_") and list(signature(test).parameters) == ["variant"]
] + [
    test_bad_input.test_a_spec_is_read_as_it_was_written,
    test_bad_input.test_an_illegal_action_is_named_and_changes_nothing,
    test_hidden_information.test_determinize_depends_on_its_stream_alone,
    test_hidden_information.test_determinize_keeps_what_the_seat_knows,
    test_hidden_information.test_determinized_games_can_be_played_to_the_end,
    test_game_record.test_a_game_written_is_the_game_read,
]
CASES = [
    pytest.param(test, variant, id=f"{test.__name__}-{label(variant)}")
    for test in ANY_GAME
    for variant in cross_section(GAME)
    if (test, variant.num_players) not in WANTING
]


@pytest.mark.parametrize(("test", "variant"), CASES)
def test_what_every_game_is_tested_for(test, variant) -> None:
    """PettingZoo's and Gymnasium's own tests, batches against single games, rewards, seeds, copies, leaks, records."""
    test(variant)


@pytest.mark.parametrize("reward", ["result", "shaped"])
def test_a_batch_in_two_threads_is_the_same_games(reward) -> None:
    test_vector.test_the_same_game_in_every_batch(GAME.variant(3), 64, 2, reward)


@pytest.mark.parametrize("variant", all_variants(GAME), ids=label)
@pytest.mark.parametrize("spec", test_agents.SPECS)
def test_agents_are_legal_repeatable_and_blind(spec, variant, saved) -> None:
    test_agents.test_legal_repeatable_and_blind(variant, spec, saved)


@pytest.mark.parametrize("variant", all_variants(GAME), ids=label)
def test_a_position_is_counted_copied_saved_and_restored(variant) -> None:
    position = Position(variant, 5)
    moves = [2 * 4, 2 * 3, 2 * 2, 2 * 1]  # a tile of the hand, a free land
    assert [perft(position, 2 * depth) for depth in (1, 2, 3, 4)] == np.cumprod(moves).tolist()
    for _ in range(3):
        position.step(position.legal_actions()[-1])
    assert position.mid_move
    for other in (position.clone(), Position.restore(position.save())):
        assert other.hash() == position.hash()
        other.step(other.legal_actions()[0])
        assert other.hash() != position.hash()
    assert parse_variant(variant.spec) == variant


def hand_of(position: Position, seat: int) -> list[str]:
    """The tiles in a hand."""
    laid = position.state["laid"][seat]
    return [ACTIONS[kind] for kind in position.state["tiles"][seat, laid : laid + 2]]


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_the_text_shows_the_hands_that_may_be_seen(viewer) -> None:
    position = Position(HIDDEN, 4)
    for seat in (0, 1):
        shown = f"seat {seat}: hand {' '.join(hand_of(position, seat))}, figures 0" in GAME.text(position.state, viewer)
        assert shown == (viewer in (None, seat))


def test_an_edited_rule_of_a_game_outside_of_the_package_is_noticed(tmp_path) -> None:
    """The loop that calls the rule lies in the package, and none of the package's files changes."""
    rules = tmp_path / "copied" / "game.py"
    shutil.copytree(FOLDER, rules.parent, ignore=shutil.ignore_patterns("__pycache__"))
    paths = os.pathsep.join([str(tmp_path), str(FOLDER.parent.parent)])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    loop = "from samurai_env.core.batch import batch_kernels; from copied.game import GAME; "
    loop += "print(batch_kernels(GAME).is_mid_move(GAME.variant(2).new(), 0))"

    def is_mid_move() -> str:
        done = subprocess.run(
            [sys.executable, "-c", loop], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert is_mid_move() == "False"
    old = rules.read_text(encoding="utf-8")
    new = old.replace("return state.steps % 2 == 1", "return state.steps % 2 == 0")
    assert new != old
    rules.write_text(new, encoding="utf-8")
    assert is_mid_move() == "True"


# ---------------------------------------------------------------- programs


def test_watch_writes_a_record_and_pictures(tmp_path, capsys) -> None:
    watch.main(watch.Config(("mcts:50", "greedy"), "mini", pause=0.0, record=tmp_path / "game.txt", pictures=tmp_path))
    assert "returns by seat" in capsys.readouterr().out
    record = GameRecord.load(tmp_path / "game.txt")
    assert record.over
    assert len(list(record.moves())) == len(list(tmp_path.glob("*.png"))) == 4


def test_play_in_the_terminal_and_benchmark(tmp_path, monkeypatch) -> None:
    console, typed = Console(record=True, width=120, file=(tmp_path / "out").open("w")), iter(["H", "S a", "R c"])
    monkeypatch.setattr(console, "input", lambda prompt: next(typed))
    play.main(play.Config(game="mini", seed=3), console)
    shown = console.export_text()
    assert "H is not legal here; legal: B, S" in shown
    assert shown.rstrip().endswith("returns by seat: [1.0, -1.0]")
    small = {"repetitions": 1, "seconds": 0.02, "num_envs": 8, "simulations": 5, "train": False, "start": False}
    figures = bench.main(bench.Config("mini", **small))["figures"]
    assert all(figure["median"] > 0 for figure in figures if figure["unit"] != "games/s")


def test_training_and_a_tournament_with_the_network(tmp_path) -> None:
    console, run = Console(quiet=True), tmp_path / "run"
    small = {"num_envs": 64, "num_steps": 32, "minibatch_size": 512, "hidden": (64,), "eval_every": 0, "device": "cpu"}
    for total, resume in ((20_000, False), (40_000, True)):
        config = train_ppo.Config(
            run=run, game="mini", total_timesteps=total, learning_rate=3e-3, resume=resume, **small
        )
        learner = train_ppo.train(config, console)
    assert learner.steps >= 40_000
    specs = ("random", "greedy", "mcts:200", f"ppo:{run}")
    output = tmp_path / "tournament"
    tournament.main(tournament.Config(specs, "mini", deals=40, output=output, processes=1))
    shares = standings(Results(output / "results.json", HIDDEN.spec), specs).shares
    assert len(shares) == 16
    assert all(shares[spec, "random"].low > 0.5 for spec in specs[1:])
    assert "greedy" in (output / "table.txt").read_text(encoding="utf-8")
    # The mean over all deals: no luck plays a part. The built-in player gets 0.27, the best answer 0.71.
    assert value_against_uniform(make_agent(specs[3], HIDDEN)) > 0.3


# ---------------------------------------------------------------- the rules once more


def test_the_plain_rules_agree() -> None:
    rng, ends = random.Random(1), set()
    for state in DEALS:
        position = position_of(HIDDEN, state)
        while moves := exact.moves(state):
            move = rng.choice(moves)
            assert {ACTIONS[action] for action in position.legal_actions()} == {tile for tile, _ in moves}
            position.step(ACTIONS.index(move[0]))
            assert {(move[0], ACTIONS[action]) for action in position.legal_actions()} <= set(moves)
            position.step(ACTIONS.index(move[1]))
            state = exact.after(state, move)
            assert position.state["lands"].tolist() == position_of(HIDDEN, state).state["lands"].tolist()
            assert [sorted(hand_of(position, seat)) for seat in (0, 1)] == [list(state.hand(seat)) for seat in (0, 1)]
        assert position.over
        assert position.returns().tolist() == [exact.payoff(state), -exact.payoff(state)]
        ends.add(exact.payoff(state))
    assert ends == {-1, 0, 1}
