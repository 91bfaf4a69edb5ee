"""`best` stands for the strongest agent measured."""

import json

import numpy as np
import pytest

from agents import best
from agents.best import Best, Measured, best_spec, named, nearest_measured
from agents.registry import make_agent
from experiments.evaluation.matches import Estimate
from experiments.evaluation.matchups import Matchup, Results
from experiments.leaderboard.best_agents import Table, best_agents
from experiments.leaderboard.best_agents import best as best_text
from samurai_env import GameBatch, find_game, game_names, make_variant, parse_variant
from samurai_env.core.notices import QUIET

VARIANT = make_variant("samurai", 2)
LIST = Best(
    "mcts:1000",
    {
        VARIANT.spec: [Measured("greedy", 0.0, 1e-6), Measured("mcts:9", 99.0, 0.05), Measured("mcts:99", 300.0, 1.1)],
        make_variant("samurai_spirit", 3).spec: [Measured("greedy", 0.1), Measured("mcts:9", 0.3)],
    },
)


@pytest.fixture
def _small_list(monkeypatch):
    monkeypatch.setattr(best, "measured", lambda: LIST)
    monkeypatch.delenv(QUIET, raising=False)


@pytest.mark.usefixtures("_small_list")
def test_the_strongest_in_the_time(capsys):
    assert [best_spec(VARIANT, seconds) for seconds in (0.00001, 0.1, 1.0)] == ["greedy", "mcts:9", "mcts:99"]
    assert named("best", VARIANT) == "mcts:9"
    assert named("best:1s", VARIANT) == "mcts:99"
    assert named("mcts:5,c_puct=1", VARIANT) == "mcts:5,c_puct=1"
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("_small_list")
def test_says_where_nothing_was_measured(capsys):
    assert best_spec(make_variant("samurai", 3)) == "mcts:1000"
    assert "no agent has been measured for samurai players=3; best plays mcts:1000" in capsys.readouterr().err
    assert best_spec(make_variant("samurai", 2, edition="1998")) == "mcts:9"
    assert "strongest agent measured for samurai players=2 edition=2016" in capsys.readouterr().err
    assert best_spec(make_variant("samurai_spirit", 3), 5.0) == "mcts:9"
    assert "no times have been measured for samurai_spirit players=3" in capsys.readouterr().err
    assert best_spec(make_variant("samurai", 3)) == "mcts:1000"
    assert capsys.readouterr().err == ""  # once


@pytest.mark.parametrize("spec", ["best:1", "best:s", "best:-1s", "best:0s", "best,c_puct=1", "best:1s,a=2"])
def test_refuses_what_is_no_time(spec):
    with pytest.raises(ValueError, match=r"best takes a time in seconds, as in best:0\.1s"):
        make_agent(spec, VARIANT)


def test_every_variant_has_one(monkeypatch):
    monkeypatch.setenv(QUIET, "off")
    for game in game_names():
        for players in find_game(game).players:
            assert best_spec(make_variant(game, players)) != "random"
    for spec in best.measured().variants:
        for seconds in (0.01, 0.1, 1.0):
            assert best_spec(parse_variant(spec), seconds) != "random"


def test_the_nearest_variant_counts_where_one_was_not_measured(monkeypatch):
    monkeypatch.setenv(QUIET, "off")
    for difficulty in ("easy", "normal", "hard", "heroic"):
        measured = make_variant("samurai_spirit", 4, difficulty=difficulty)
        assert nearest_measured(measured) == measured.spec
        other = make_variant("samurai_spirit", 4, difficulty=difficulty, first=1)
        assert nearest_measured(other) == measured.spec
        assert best_spec(other) == best_spec(measured)
    assert nearest_measured(make_variant("samurai", 2, edition="1998")) == VARIANT.spec


def test_of_two_as_strong_the_one_measured_less(monkeypatch):
    rows = [Measured(spec, 0.0, interval=(0.0, high)) for spec, high in (("random", 0.004), ("mcts:500", 0.07))]
    for order in (rows, rows[::-1]):
        monkeypatch.setattr(best, "measured", lambda order=order: Best("greedy", {VARIANT.spec: order}))
        assert best_spec(VARIANT) == "mcts:500"


def test_an_agent_wants_a_variant():
    with pytest.raises(TypeError, match="must be a Variant, such as make_variant"):
        make_agent("greedy", VARIANT.spec)


def test_it_plays():
    states = GameBatch(VARIANT).reset([1])
    assert make_agent("best:0.001s", VARIANT).act(states, np.zeros(1, np.uint64)).shape == (1,)


def test_the_file_is_what_the_leaderboard_says():
    assert best.FILE.read_text(encoding="utf-8") == best_text()


def test_agents_that_cheat_are_left_out():
    shares = {"greedy": (0.2, 1e-6), "mcts:9,cheating=1": (0.97, 0.1), "mcts:9,cheating=0": (0.4, 0.1)}
    rates = {VARIANT.spec: {spec: (Estimate(mean, 0.1, 0.98), time) for spec, (mean, time) in shares.items()}}
    rows = json.loads(best_agents([], rates))["variants"][VARIANT.spec]
    assert [row["spec"] for row in rows] == ["mcts:9,cheating=0", "greedy"]
    assert rows[0] == {"spec": "mcts:9,cheating=0", "strength": 0.4, "interval": [0.1, 0.98], "seconds": 0.1}


def board(path, wins, *, seconds=1.0):
    """Results of matchups: by pair, the deals won and lost by the one; each deal has both seats."""
    results = Results(path / "none.json", VARIANT.spec)
    for pair, (won, lost) in wins.items():
        deals = {number: [float(number < won)] * 2 for number in range(won + lost)}
        results.matchups[pair] = Matchup(deals, [seconds * len(deals) * 2, 0.0], [len(deals) * 2, len(deals) * 2])
    return results


def test_boards_of_a_variant_are_rated_as_one(tmp_path):
    """The long board has no anchor; a pair stands there in the other order."""
    fast = board(tmp_path, {("greedy", "mcts:9"): (20, 60), ("greedy", "random"): (80, 1)})
    slow = board(
        tmp_path, {("mcts:9", "greedy"): (60, 20), ("mcts:99", "mcts:9"): (30, 10), ("alone", "alone"): (1, 1)}
    )
    boards = [Table(fast, ["greedy", "mcts:9", "random"], False), Table(slow, ["mcts:9", "mcts:99"], True)]
    rows = {row["spec"]: row for row in json.loads(best_agents(boards, {}))["variants"][VARIANT.spec]}
    assert list(rows) == ["mcts:99", "mcts:9", "greedy", "random"]
    assert rows["greedy"]["strength"] == 0.0
    low, high = rows["mcts:9"]["interval"]
    assert low < rows["mcts:9"]["strength"] < high
    assert rows["random"]["interval"][0] is not None  # it won once
    assert rows["mcts:9"]["strength"] == pytest.approx(400 * np.log10(3), abs=5)  # won 120 of 160
    assert rows["mcts:99"]["strength"] == pytest.approx(800 * np.log10(3), abs=15)
    assert rows["mcts:99"]["seconds"] == 1.0
    alone = json.loads(best_agents(boards[1:], {}))["variants"][VARIANT.spec]
    assert alone == []  # nothing to compare with


def test_a_time_is_the_least_of_boards_that_play_one_deal_at_a_time(tmp_path):
    wins, known = {("greedy", "mcts:9"): (20, 60)}, ["greedy", "mcts:9"]
    boards = [Table(board(tmp_path, wins, seconds=time), known, alone) for time, alone in ((0.1, False), (0.3, False))]
    for more, expected in ([], 0.1), ([2.0], 2.0), ([2.0, 1.5, 1.9], 1.5):
        found = [*boards, *(Table(board(tmp_path, wins, seconds=time), known, True) for time in more)]
        rows = json.loads(best_agents(found, {}))["variants"][VARIANT.spec]
        assert next(row["seconds"] for row in rows if row["spec"] == "greedy") == expected


def test_agents_that_no_game_bounds_are_left_out(tmp_path):
    """Who has only beaten one that always loses may be as strong as you like, or as weak."""
    lost = {("greedy", "mcts:9"): (20, 60), ("random", "greedy"): (0, 9), ("mcts:99", "random"): (2, 0)}
    known = ["greedy", "mcts:9", "mcts:99", "random"]
    rows = json.loads(best_agents([Table(board(tmp_path, lost), known, True)], {}))["variants"][VARIANT.spec]
    assert [row["spec"] for row in rows] == ["mcts:9", "greedy", "random"]
