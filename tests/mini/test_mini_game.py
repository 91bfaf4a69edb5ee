"""A fourth game (`tests.mini`) through everything (docs/background/design.md), and players held against exact play.

It is registered only while these tests run.
"""

import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.registry import make_agent
from agents.search.mcts import MCTSAgent, MCTSConfig
from experiments import bench, best_response, play, tournament, train_ppo, watch
from experiments.common.interrupts import Interrupt
from experiments.evaluation.matchups import Results
from experiments.evaluation.standings import standings
from samurai_env import Position, game_names, parse_variant
from samurai_env.agent_api import Agent
from samurai_env.core import game as registry
from samurai_env.core.game import Variant, find_game, register_game
from samurai_env.game_record import GameRecord
from samurai_env.perft import perft
from tests.agents import test_agents
from tests.common.variants import all_variants, cross_section, label
from tests.core import test_game_record, test_hidden_information
from tests.envs import test_aec, test_bad_input, test_single, test_vector
from tests.mini.game import ACTIONS, GAME
from tests.reference import mini as exact

FOLDER = Path(__file__).resolve().parent
saved = test_agents.saved  # the fixture
HIDDEN, OPEN = GAME.variant(2), GAME.variant(2, open_hands=True)
DEALS = exact.deals()


@pytest.fixture(scope="module", autouse=True)
def _registered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_loaders", dict(registry._loaders))
        register_game("mini", lambda: GAME)
        yield


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


def position_of(variant: Variant, state: exact.State) -> Position:
    """The compiled game at a table of the plain one."""
    laid = ["".join(tile[1] for tile in state.lands if tile[:1] == seat) for seat in "01"]
    position = Position(variant)
    compiled = position.states
    compiled["lands"] = [1 + 4 * int(tile[0]) + ACTIONS.index(tile[1]) if tile else 0 for tile in state.lands]
    compiled["tiles"] = [[ACTIONS.index(kind) for kind in laid[seat] + state.tiles[seat]] for seat in (0, 1)]
    compiled["laid"] = [len(tiles) for tiles in laid]
    compiled["seat"], compiled["steps"] = state.seat, 2 * sum(map(len, laid))
    compiled["over"] = not exact.moves(state)
    variant.check(position.state)
    return position


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


# ---------------------------------------------------------------- search against exact play: open hands


def some_states(count: int) -> list[exact.State]:
    """Tables on which there is much to decide: all beginnings, and others after one or two moves."""
    rng, found = random.Random(2), list(DEALS)
    while len(found) < count:
        state = rng.choice(DEALS)
        for _ in range(rng.randrange(1, 3)):
            state = exact.after(state, rng.choice(exact.moves(state)))
        found.append(state)
    return found


def decide(agent: Agent, position: Position, key: int) -> str:
    """Make one decision."""
    action = int(agent.act(position.states, np.array([key], np.uint64))[0])
    position.step(action)
    return ACTIONS[action]


def searched(simulations: int, **settings) -> tuple[int, int, np.ndarray]:
    """Moves that are not the best, tables on which not every move is, and how far off the values at the root are."""
    agent, wrong, mattered, errors = MCTSAgent(OPEN, MCTSConfig(simulations, **settings)), 0, 0, []
    for key, state in enumerate(some_states(300)):
        sign = 1 if state.seat == 0 else -1
        values = {move: sign * exact.value(exact.after(state, move)) for move in exact.moves(state)}
        best, position = max(values.values()), position_of(OPEN, state)
        errors.append(abs(agent.search(position.states, np.array([key], np.uint64))[2][0, state.seat] - best))
        tile = decide(agent, position, key)
        wrong += values[tile, decide(agent, position, key)] < best
        mattered += min(values.values()) < best
    return wrong, mattered, np.array(errors)


def test_search_finds_the_best_moves_and_their_value() -> None:
    """With open hands every table has a value, -1, 0 or 1; the more simulations, the closer search comes to it.

    It explores more than by default, with which the values of a few tables take ten times as many.
    """
    coarse = searched(100, c_puct=2.0)[2]
    wrong, mattered, errors = searched(10_000, c_puct=2.0)
    print(f"\nopen hands, 10,000 simulations: {len(errors) - wrong} best moves on {len(errors)} tables", end="")
    print(f" ({mattered} have worse ones), values {errors.max():.2f} off at most")
    assert mattered > 250
    assert wrong == 0
    assert errors.max() < 0.1
    assert errors.mean() < 0.03 < 0.1 < coarse.mean()


def test_search_against_itself_gets_the_value_of_every_deal() -> None:
    agent = make_agent("mcts:5000", OPEN)
    print(f"\nopen hands, mcts:5000 against itself: {len(DEALS)} deals")
    for deal in DEALS:
        position = position_of(OPEN, deal)
        while not position.over:
            decide(agent, position, 0)
        assert position.returns()[0] == exact.value(deal)
    assert {exact.value(deal) for deal in DEALS} == {0, 1}


# ---------------------------------------------------------------- players against exact play: hidden hands


def policy_of(agent: Agent) -> exact.Policy:
    """How an agent plays: a function of what the seat to move knows."""
    chosen: dict[tuple, exact.Move] = {}

    def policy(state: exact.State) -> dict[exact.Move, float]:
        known = state.lands, state.hand(state.seat)
        if known not in chosen:
            position, key = position_of(HIDDEN, state), len(chosen)
            chosen[known] = decide(agent, position, key), decide(agent, position, key)
        return {chosen[known]: 1.0}

    return policy


def value_against_uniform(agent: Agent) -> float:
    """What an agent gets from the uniformly random player, exactly: the mean over all deals and both seats."""
    policy = policy_of(agent)
    first = sum(exact.expected(deal, (policy, exact.uniform)) for deal in DEALS)
    second = -sum(exact.expected(deal, (exact.uniform, policy)) for deal in DEALS)
    return (first + second) / (2 * len(DEALS))


def exploitability(policy: exact.Policy) -> float:
    """What the best answers get from a policy, exactly, the mean of both seats; 0 for an equilibrium, never less."""
    return sum(exact.best_response(seat, policy, DEALS) for seat in (0, 1)) / 2


uniform_exploitability = cache(lambda: exploitability(exact.uniform))


def test_search_comes_close_to_the_best_answer_and_nobody_passes_it() -> None:
    best = uniform_exploitability()
    values = {spec: value_against_uniform(make_agent(spec, HIDDEN)) for spec in ("greedy", "mcts:50", "mcts:1000")}
    assert 0 < values["greedy"] < values["mcts:50"] < values["mcts:1000"] < best
    assert values["mcts:1000"] > 0.97 * best
    # A player that saw hidden tiles could be told by its results.
    alone = [exact.best_response(seat, exact.uniform, [deal]) for seat in (0, 1) for deal in DEALS]
    assert np.mean(alone) > best + 0.05
    shown = {**values, "the best answer": best, "one that sees hidden tiles": float(np.mean(alone))}
    print("\nagainst uniformly random play:", ", ".join(f"{name} {value:.2f}" for name, value in shown.items()))


def test_search_leaves_little_to_the_best_answer() -> None:
    found = {spec: exploitability(policy_of(make_agent(spec, HIDDEN))) for spec in ("greedy", "mcts:1000")}
    print("\nthe best answer gets:", ", ".join(f"{value:.2f} from {spec}" for spec, value in found.items()))
    assert uniform_exploitability() > 0.7
    assert found["greedy"] > 0.6
    assert 0 <= found["mcts:1000"] < 0.05


def test_exploiters_come_close_to_the_best_response_and_never_above(tmp_path) -> None:
    """The program of that name against the uniformly random player, of which the exact value is known."""
    config = best_response.Config(
        "random", game="mini", total_timesteps=700_000, seeds=1, agents=("mcts:1000",), deals=300, output=tmp_path,
        num_envs=128, learning_rate=3e-3, ent_coef=0.002, hidden=(256,),
    )  # fmt: skip
    found = best_response.search(config, Console(quiet=True), Interrupt()).estimates()
    exact_share = (1 + uniform_exploitability()) / 2
    assert list(found) == ["mcts:1000", "PPO, seed 1"]
    assert all(share.low < exact_share for share in found.values())
    assert abs(found["mcts:1000"].mean - exact_share) < 0.05
    learned = (1 + value_against_uniform(make_agent(f"ppo:{tmp_path / 'seed-1'}", HIDDEN))) / 2  # without sampling
    assert found["PPO, seed 1"].low < learned < found["PPO, seed 1"].high
    assert exact_share - 0.05 < learned <= exact_share
    before = (tmp_path / "best_response.json").read_bytes()
    assert best_response.search(config, Console(quiet=True), Interrupt()).estimates() == found
    assert (tmp_path / "best_response.json").read_bytes() == before
    with pytest.raises(ValueError, match=r"target random; choose another --output"):
        best_response.search(replace(config, target="greedy"), Console(quiet=True), Interrupt())
