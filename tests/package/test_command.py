"""The command `samurai-env`, and the programs that only it starts."""

import io
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import samurai_env
from agents.best import named
from agents.registry import AGENTS, make_agent
from agents.search.tree import RootActions
from experiments.command import agents, analyse, main, replay
from experiments.command.analyse import opinion
from samurai_env import Position, make_variant
from samurai_env.game_record import GameRecord

RECORD = next(iter(sorted((Path(__file__).resolve().parents[1] / "golden").glob("samurai-2-2016-*.txt"))))


def printed(program, config):
    """What a program prints."""
    out = io.StringIO()
    program.main(config, Console(file=out, width=120))
    return out.getvalue()


def test_lists_its_commands_and_its_version(capsys):
    main.main([])
    said = capsys.readouterr().out
    assert all(f"  {name} " in said for name in main.COMMANDS)
    main.main(["--version"])
    assert capsys.readouterr().out == f"samurai-env {samurai_env.__version__}\n"


def test_refuses_an_unknown_command():
    with pytest.raises(
        SystemExit, match=r"error: there is no command 'tournamnt' \(did you mean 'tournament'\?\); the"
    ):
        main.main(["tournamnt"])


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_settings_and_a_page_of_help(name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["samurai-env"])
    module = import_module(main.COMMANDS[name].module, "experiments.command")
    assert module.__doc__
    with pytest.raises(SystemExit) as ended:
        main.main([name, "--help"])
    assert ended.value.code == 0
    assert f"usage: samurai-env {name}" in capsys.readouterr().out


def test_bad_input_is_told_in_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["samurai-env"])
    for words, reason in {
        ("replay", str(tmp_path / "none.txt")): "No such file",
        ("replay", str(RECORD), "--move", "1000"): "the game has moves 1 to",
        ("replay", str(RECORD), "--seat", "5"): "--seat must be a number from 0 to 1",
        ("analyse", str(RECORD), "--agent", "greedy"): "--agent is one that weighs actions",
        ("analyse", str(RECORD), "--move", "0"): "--move must be",
    }.items():
        with pytest.raises(SystemExit, match=reason) as ended:
            main.main(words)
        assert len(str(ended.value)) < 300


def test_agents_lists_every_spec_and_network():
    said = printed(agents, agents.Config())
    assert all(entry.form in said for entry in AGENTS.values())
    assert "weights/samurai_card-2 " in said
    assert "value=weights/leaf_values/samurai_card-2 " in said
    assert "belief=weights/beliefs/samurai-2 " in said


def test_agents_tells_what_best_plays(capsys):
    said = "".join(printed(agents, agents.Config()).split())
    for game in ("samurai", "samurai_card", "samurai_spirit"):
        variant = make_variant(game)
        for spec in ("best", "best:1s"):
            start = f"{game}players={variant.num_players}{spec}"
            assert start + "".join(named(spec, variant).split()) in said


def test_replay_shows_the_moves_of_the_record():
    record = GameRecord.load(RECORD)
    lines = printed(replay, replay.Config(RECORD)).splitlines()
    assert lines[0] == f"{record.variant.spec}, seed {record.seed}"
    wanted = [f"{number}. seat {seat}: {text}" for number, (seat, text) in enumerate(record.moves(), 1)]
    assert lines[-1 - len(wanted) : -1] == wanted
    before, actions = replay.find_move(record, 40)
    said = printed(replay, replay.Config(RECORD, move=40, seat=0))
    assert said.splitlines()[-1] == wanted[39]
    assert record.variant.game.text(before.state, 0) in said
    assert actions


@pytest.mark.parametrize("spec", ["mcts:60", "mcts:8,determinizations=4", "rollout:1", "ppo:weights/samurai-2"])
def test_analyse_shows_every_legal_action(spec):
    said = printed(analyse, analyse.Config(RECORD, 40, spec))
    position, actions = replay.find_move(GameRecord.load(RECORD), 40)
    tables = re.split(r"(?m)^decision ", said)[1:]
    assert len(tables) == len(actions)
    for table, action in zip(tables, actions, strict=True):
        names = position.variant.action_names
        rows = [
            line
            for line in table.splitlines()
            if line.replace("*", " ").split()[:1] and line.replace("*", " ").split()[0] in names
        ]
        assert len(rows) == len(position.legal_actions())
        assert sum(line.lstrip().startswith("*") for line in rows) == 1
        position.step(action)


def test_what_a_search_has_found_adds_up():
    position = Position(make_variant("samurai", 2), 3)
    agent = make_agent("mcts:200", position.variant)
    found = opinion(agent, position)
    assert isinstance(found, RootActions)
    assert found.visits.sum() in (199, 200)
    assert found.priors.sum() == pytest.approx(1.0, abs=1e-5)
    assert set(np.flatnonzero(found.priors)) == set(position.legal_actions())
    assert np.isnan(found.values[found.visits == 0]).all()
    assert (np.abs(found.values[found.visits > 0]) <= 1.0).all()
    assert found.values[found.visits > 0].sum(1) == pytest.approx(0.0)  # of both seats
    tried = found.visits > 0
    assert (found.visits[tried, None] * found.values[tried]).sum(0) / 200 == pytest.approx(found.expected)
    assert found.visits[found.line[0]] == found.visits.max()


@pytest.mark.parametrize("spec", ["mcts:200", "puct:100,net=weights/samurai-2"])
def test_an_analysis_is_that_of_the_search(spec):
    position = Position(make_variant("samurai", 2), 3)
    agent, keys = make_agent(spec, position.variant), np.array([5], np.uint64)
    found, result = agent.analyse(position.states, keys), agent.search(position.states, keys)
    assert (found.visits == result.visits[0]).all()
    assert found.expected.tolist() == result.values[0].tolist()
    assert len(found.line) > 1
    assert np.isfinite(found.values[found.visits > 0]).all()


def test_of_several_trees_only_what_they_share_is_told():
    position = Position(make_variant("samurai", 2), 3)
    found = opinion(make_agent("mcts:20,determinizations=4", position.variant), position)
    assert found.visits.sum() == 20
    assert np.isnan(found.values).all()
    assert np.isnan(found.priors).all()
    assert found.expected.sum() == pytest.approx(0.0)
    assert not found.line
