"""A scripted client finishes games over each door."""

import pytest

from experiments.clients import text_games
from samurai_env.language import TextEnv

GAMES = ("samurai", "samurai_card", "samurai_spirit")
NEEDS = {"text": "samurai_env", "mcp": "mcp", "textarena": "textarena"}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("door", text_games.DOORS)
def test_games_are_finished(door: str, game: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(NEEDS[door], reason=f"needs the package {NEEDS[door]}")
    assert text_games.main(["--games", "2", "--door", door, "--game", game]) == 0
    assert f"{door}, {game}: 2 of 2 games finished" in capsys.readouterr().out


def test_a_refused_move_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(TextEnv, "legal", lambda env: ["Z9"])
    assert text_games.main(["--games", "1", "--door", "text", "--game", "samurai_card"]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(SystemExit):
        text_games.main(["--games", "0"])
