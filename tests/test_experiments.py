"""The programs people run, in small."""

import json

import numpy as np
import pytest
from rich.console import Console

from experiments import bench, cooperative, play, tournament, watch
from experiments.ratings import fit_strengths, rate
from samurai_env import find_game, game_names
from samurai_env.record import GameRecord


def test_ratings_recover_known_strengths():
    lineups = np.array([[0, 1], [1, 2], [0, 2]])
    strength = np.array([4.0, 2.0, 1.0])
    games = np.full(3, 10_000.0)
    wins = np.zeros((3, 3))
    for row, (a, b) in enumerate(lineups):
        wins[row, a] = games[row] * strength[a] / (strength[a] + strength[b])
        wins[row, b] = games[row] - wins[row, a]
    found = np.exp(fit_strengths(lineups, wins, games, 3))
    assert found / found[2] == pytest.approx(strength, rel=0.01)


def test_ratings_of_three_at_a_table_and_their_intervals():
    # Strengths 3 and 1: the one among two others wins 3 of 5.
    deal = np.array([[3.0, 0.0], [0.0, 3.0], [3.0, 0.0], [0.0, 3.0], [3.0, 0.0]])
    table = rate(np.array([[0, 1, 1]]), [np.tile(deal, (200, 1))], 2, np.random.default_rng(0))
    ratio = 10 ** ((table[0, 0] - table[1, 0]) / 400)
    assert ratio == pytest.approx(3.0, rel=0.02)
    assert table[0, 1] < table[0, 0] < table[0, 2]


def test_tournament_goes_on_where_it_was_stopped(tmp_path):
    console = Console(quiet=True)
    config = tournament.Config(agents=("random", "greedy"), deals=20, output=tmp_path, processes=1, mirror=True)
    first = tournament.play(config, console)
    saved = json.loads((tmp_path / "results.json").read_text())
    assert saved["variant"].startswith("samurai players=2")
    # Take one chunk away: only that is played again, and the whole is the same.
    del saved["meetings"][1]["chunks"]["10"]
    (tmp_path / "results.json").write_text(json.dumps(saved))
    again = tournament.play(config, console)
    assert again.shares == first.shares
    tournament.show(config, again, console)
    assert "greedy" in (tmp_path / "table.txt").read_text()
    assert (tmp_path / "payoff.png").stat().st_size > 1000
    shares = tournament.pay_off(again, config.agents, 2)
    assert shares["greedy", "random"].mean > 0.9
    assert shares["random", "random"].low < 0.5 < shares["random", "random"].high
    assert shares["greedy", "random"].mean == pytest.approx(1.0 - shares["random", "greedy"].mean)


def test_tournament_refuses_damaged_or_foreign_results(tmp_path):
    console = Console(quiet=True)
    config = tournament.Config(output=tmp_path, deals=1, processes=1)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(ValueError, match="is damaged"):
        tournament.play(config, console)
    (tmp_path / "results.json").write_text(json.dumps({"variant": "samurai players=3", "meetings": []}))
    with pytest.raises(ValueError, match="holds games of samurai players=3"):
        tournament.play(config, console)
    with pytest.raises(ValueError, match="named twice"):
        tournament.play(tournament.Config(agents=("greedy", "greedy"), output=tmp_path / "new"), console)


@pytest.mark.parametrize("game", game_names())
def test_watch_writes_a_record_that_verifies(game, tmp_path, capsys):
    config = watch.Config(("greedy",), game, pause=0.0, record=tmp_path / "game.txt")
    position = watch.main(config)
    assert "returns by seat" in capsys.readouterr().out
    assert GameRecord.load(tmp_path / "game.txt").to_text().rstrip().endswith(position.hash())


def cooperative_games():
    return [name for name in game_names() if find_game(name).cooperative]


@pytest.mark.parametrize("game", cooperative_games())
def test_cooperative_table_goes_on_where_it_was_stopped(game, tmp_path):
    console = Console(quiet=True)
    fewest = find_game(game).players[0]
    config = cooperative.Config(game, ("random",), (fewest,), games=20, output=tmp_path, processes=2)
    first = cooperative.play(config, console)
    saved = json.loads((tmp_path / "wins.json").read_text())
    # One chunk is lost, and more games are wanted: only those are played, and the rest stays.
    del saved["returns"][0]["chunks"]["10"]
    (tmp_path / "wins.json").write_text(json.dumps(saved))
    config.games = 25
    again = cooperative.play(config, console)
    (chunks,) = again.returns.values()
    assert {k: chunks[k] for k in (0, 10)} == next(iter(first.returns.values()))
    assert [len(chunks[k]) for k in sorted(chunks)] == [10, 10, 5]
    cooperative.show(config, again, console)
    assert "`random`, 25 games each" in (tmp_path / "table.md").read_text()


def test_cooperative_table_refuses_what_it_cannot_play(tmp_path):
    console = Console(quiet=True)
    with pytest.raises(ValueError, match="is not cooperative"):
        cooperative.play(cooperative.Config("samurai", output=tmp_path), console)
    game = cooperative_games()[0]
    with pytest.raises(ValueError, match="has no option 'luck'"):
        cooperative.play(cooperative.Config(game, vary="luck", output=tmp_path), console)
    (tmp_path / "wins.json").write_text('{"returns": [{}]}')
    with pytest.raises(ValueError, match="is damaged"):
        cooperative.play(cooperative.Config(game, output=tmp_path), console)


def test_play_hides_what_is_secret_and_explains_errors(tmp_path, monkeypatch):
    typed = iter(
        ["H4 H3", "H9", "c14r09.B", "?", "H4", "pick H3", "H2", "B2", "R2", f"save {tmp_path / 'g.txt'}", "map", "quit"]
    )
    console = Console(record=True, width=120, file=(tmp_path / "out").open("w"))
    monkeypatch.setattr(console, "input", lambda prompt: next(typed))
    play.main(play.Config(seed=3), console)
    shown = console.export_text()
    assert "'H9'" in shown
    assert "c14r09.B is not legal here; legal: H2, H3, H4, B2," in shown
    assert "legal: H2, H3, H4, B2," in shown
    assert "seat 1: a move you do not see" in shown
    assert "seat 1: pick" not in shown
    assert len(GameRecord.load(tmp_path / "g.txt").actions) >= 10


def test_play_refuses_wrong_numbers():
    with pytest.raises(ValueError, match="needs 2 opponents, not 3"):
        play.main(play.Config(("random", "random", "random"), num_players=3), Console(quiet=True))
    with pytest.raises(ValueError, match="seat is a number from 0 to 1"):
        play.main(play.Config(seat=2), Console(quiet=True))


def test_bench_measures_every_part(tmp_path):
    config = bench.Config(
        repetitions=1, seconds=0.02, num_envs=8, simulations=5, train=False, start=False, json=tmp_path / "b.json"
    )
    figures = bench.main(config)
    assert {f.unit for f in figures} == {"steps/s", "games/s", "copies/s", "draws/s", "simulations/s"}
    assert all(0 < f.low <= f.median <= f.high for f in figures if f.unit != "games/s")
    assert len(json.loads((tmp_path / "b.json").read_text())["figures"]) == len(figures)


def test_every_game_has_an_id():
    from samurai_env.games import GAMES

    assert {name for name in game_names() if find_game(name)} >= set(GAMES)
