"""One cell of the leaderboard is played again, and no more than the table shows."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from experiments import cooperative, reproduce, tournament
from experiments.common.interrupts import Interrupt
from experiments.evaluation.cooperative_results import CooperativeResults
from experiments.evaluation.ladders import read_ladders
from experiments.leaderboard.configs import tournament_config
from experiments.reproduce import Config

QUIET = Console(quiet=True)


def again(folder, **changes):
    out = io.StringIO()
    config = Config("ladder-2", "greedy", ("random",), folder / "cell", processes=1)
    reproduce.main(replace(config, **changes), Console(file=out, width=400), folder)
    return out.getvalue()


def test_a_cell_of_a_table_of_ratings(tmp_path, monkeypatch):
    board = next(board for board in read_ladders()[0] if board.name == "ladder-2")
    played = replace(
        tournament_config(board, tmp_path, False),
        agents=("random", "greedy"),
        deals=3,
        output=tmp_path / "ladder-2",
        processes=1,
    )
    tournament.play(played, QUIET)
    said = again(tmp_path)
    assert "random against greedy, 3 deals" in said
    assert "3 deals with the same results" in said
    cell = json.loads((tmp_path / "cell" / "results.json").read_text())
    assert [(each["one"], each["others"], len(each["shares"])) for each in cell["matchups"]] == [
        ("random", "greedy", 3)
    ]
    assert again(tmp_path).splitlines()[-2:] == said.splitlines()[-2:]  # a run that was stopped goes on
    other = replace(played, agents=("greedy", "random"), mirror=False, output=tmp_path / "turned")
    tournament.play(other, QUIET, lineups=[("greedy", "random")])
    with pytest.raises(ValueError, match=r"turned has these agents in another order: choose another --output"):
        again(tmp_path, output=tmp_path / "turned")
    monkeypatch.setattr(reproduce, "commit", lambda: "abc1234")
    with pytest.raises(ValueError, match=r"has games of commit .*, not of this one: choose another --output"):
        again(tmp_path)
    monkeypatch.setattr(tournament, "play", None)  # nothing is played before that
    with pytest.raises(ValueError, match="has games of commit"):
        again(tmp_path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="ladder-2 has no cell of mcts:5 and random"):
        again(tmp_path, agent="mcts:5", output=tmp_path / "other")
    with pytest.raises(ValueError, match="there is no table 'ladder-9' that has been played; there are ladder-2"):
        again(tmp_path, table="ladder-9")


def test_both_directions_of_a_pair_with_more_players_go_into_one_folder(tmp_path):
    board = next(board for board in read_ladders()[0] if board.name == "ladder-3")
    played = replace(tournament_config(board, tmp_path, False), agents=("random", "greedy"), deals=2, processes=1)
    tournament.play(replace(played, output=tmp_path / "ladder-3"), QUIET)
    for one, other in (("random", "greedy"), ("greedy", "random")):
        said = again(tmp_path, table="ladder-3", agent=one, others=(other,))
        assert "2 deals with the same results" in said


def test_a_cell_of_an_agent_against_copies_of_itself(tmp_path):
    board = next(board for board in read_ladders()[0] if board.name == "ladder-2")
    played = replace(tournament_config(board, tmp_path, False), agents=("random", "greedy"), deals=2, processes=1)
    tournament.play(replace(played, output=tmp_path / "ladder-2"), QUIET)
    assert "2 deals with the same results" in again(tmp_path, others=("greedy",))


def test_a_stopped_repetition_is_not_compared(tmp_path, monkeypatch):
    board = next(board for board in read_ladders()[0] if board.name == "ladder-2")
    played = replace(tournament_config(board, tmp_path, False), agents=("random", "greedy"), deals=2, processes=1)
    tournament.play(replace(played, output=tmp_path / "ladder-2"), QUIET)
    stopped = Interrupt()
    stopped.asked = True
    monkeypatch.setattr(reproduce, "Interrupt", lambda: stopped)
    with pytest.raises(KeyboardInterrupt, match="the same command resumes"):
        again(tmp_path)
    monkeypatch.undo()
    assert "2 deals with the same results" in again(tmp_path)


def test_a_cell_of_a_free_for_all(tmp_path):
    board = next(board for board in read_ladders()[0] if board.name == "tenth-3")
    agents = ("random", "greedy", "untrained", "flat_mc:1")
    played = replace(
        tournament_config(board, tmp_path, True),
        agents=agents,
        deals=3,
        output=tmp_path / "tenth-3",
        processes=1,
    )
    kept = tournament.play(played, QUIET)
    said = again(tmp_path, table="tenth-3", agent="greedy", others=("flat_mc:1", "random"))
    assert "random against greedy, flat_mc:1, 3 deals" in said
    assert "3 deals with the same results" in said
    won = kept.matchups["random", "greedy", "flat_mc:1"].shares().reshape(3, 3, 3).mean((0, 2))
    assert all(
        f"{agent} {share:.1%} [" in said for agent, share in zip(("random", "greedy", "flat_mc:1"), won, strict=True)
    )
    with pytest.raises(ValueError, match="tenth-3 has no cell of greedy and random"):
        again(tmp_path, table="tenth-3", output=tmp_path / "other")
    with pytest.raises(ValueError, match="name both after the table"):
        again(tmp_path, others=())


def test_a_cell_of_a_table_of_win_rates(tmp_path):
    spec = "samurai_spirit players=2 difficulty=easy"
    config = cooperative.Config(spec, ("random",), games=12, output=tmp_path / "ladder-spirit", processes=1)
    wins = cooperative.play(config, QUIET)
    variant = next(iter(cooperative.variants(config).values())).spec
    assert sum(wins.ways("random", variant).values()) == 12
    assert wins.seconds("random", variant) > 0
    kept = CooperativeResults(tmp_path / "ladder-spirit" / "wins.json")
    assert kept.ways("random", variant) == wins.ways("random", variant)
    head, rows = cooperative.endings(config, kept)
    assert (head[:2], rows[0][:2]) == (["agent", "players"], ["random", "2"])
    assert sum(float(cell.rstrip("%")) for cell in rows[0][2:]) == pytest.approx(100, abs=0.3)
    said = again(tmp_path, table="ladder-spirit", agent="random", others=(spec,))
    first, table, now = said.splitlines()[-3:]
    assert first.endswith("12 games")
    assert now.startswith(table.replace("table", "again"))


def test_a_file_that_has_changed_since_is_told(tmp_path):
    board = next(board for board in read_ladders()[0] if board.name == "ladder-2")
    played = replace(tournament_config(board, tmp_path, False), agents=("random", "greedy"), deals=2, processes=1)
    tournament.play(replace(played, output=tmp_path / "ladder-2"), QUIET)
    assert "have changed since" not in again(tmp_path)
    path = tmp_path / "ladder-2" / "results.json"
    kept = json.loads(path.read_text())
    kept["networks"]["greedy"] = "0123456789abcdef"
    path.write_text(json.dumps(kept))
    assert "\nnot the same agents: the files of greedy have changed since\n" in again(tmp_path)
