"""The programs people run, in small."""

import json
import re

import pytest
from rich.console import Console

from experiments import cooperative, play, watch
from samurai_env import find_game, game_names
from samurai_env.game_record import GameRecord


@pytest.mark.parametrize("game", game_names())
def test_watch_writes_a_record_that_verifies(game, tmp_path, capsys):
    config = watch.Config(("greedy",), game, pause=0.0, record=tmp_path / "game.txt")
    position = watch.main(config)
    assert "returns by seat" in capsys.readouterr().out
    assert GameRecord.load(tmp_path / "game.txt").to_text().rstrip().endswith(position.hash())


def cooperative_games():
    return [name for name in game_names() if find_game(name).cooperative]


def test_a_cooperative_table_wants_agents_that_stay_the_same(tmp_path):
    config = cooperative.Config("samurai_spirit players=4", ("best",), games=2, output=tmp_path / "table", processes=1)
    with pytest.raises(ValueError, match="what best stands for changes with the leaderboard: name it, here mcts:"):
        cooperative.play(config, Console(quiet=True))
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize("game", cooperative_games())
def test_cooperative_table_goes_on_where_it_was_stopped(game, tmp_path):
    console = Console(quiet=True)
    fewest = find_game(game).players[0]
    config = cooperative.Config(f"{game} players={fewest}", ("random",), games=20, output=tmp_path, processes=2)
    first = cooperative.play(config, console)
    saved = json.loads((tmp_path / "wins.json").read_text())
    # One chunk is lost, and more games are wanted: only those are played, and the rest stays.
    del saved["returns"][0]["chunks"]["10"], saved["returns"][0]["ends"]["10"]
    (tmp_path / "wins.json").write_text(json.dumps(saved))
    config.games = 25
    again = cooperative.play(config, console)
    (chunks,) = again.returns.values()
    assert {k: chunks[k] for k in (0, 10)} == next(iter(first.returns.values()))
    assert [len(chunks[k]) for k in sorted(chunks)] == [10, 10, 5]
    cooperative.show(config, again, console)
    page = (tmp_path / "table.md").read_text()
    assert f"\n| agent | {fewest} player" in page, "a column for --vary, which was not given"
    assert re.search(r"\| random \| [0-9.]+% \[.*\] \| 25 \|", page)


def test_cooperative_table_refuses_what_it_cannot_play(tmp_path):
    console = Console(quiet=True)
    with pytest.raises(ValueError, match="is not cooperative"):
        cooperative.play(cooperative.Config("samurai", output=tmp_path), console)
    game = cooperative_games()[0]
    with pytest.raises(ValueError, match="has no option 'luck'"):
        cooperative.play(cooperative.Config(game, vary="luck", output=tmp_path), console)
    (tmp_path / "wins.json").write_text('{"networks": {}, "returns": [{}]}')
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
    assert "c14r09.B is not legal here; legal: H2, B2, " in shown
    assert "\nlegal: H2, B2, " in shown
    assert "seat 1: a move you do not see" in shown
    assert "seat 1: pick" not in shown
    assert len(GameRecord.load(tmp_path / "g.txt").actions) >= 10


def test_play_refuses_wrong_numbers():
    with pytest.raises(ValueError, match="needs 2 opponents, not 3"):
        play.main(play.Config(("random", "random", "random"), game="samurai players=3"), Console(quiet=True))
    with pytest.raises(ValueError, match="seat must be a number from 0 to 1"):
        play.main(play.Config(seat=2), Console(quiet=True))


def test_every_game_has_an_id():
    from samurai_env.games import GAMES

    assert {name for name in game_names() if find_game(name)} >= set(GAMES)
