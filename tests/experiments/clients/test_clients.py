"""The programs of other frameworks' learners: short, listed, and those that are installed learn."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from experiments.clients import __main__ as clients
from experiments.clients import page, text_games
from experiments.examples import ppo_cleanrl


@pytest.mark.parametrize("client", clients.PACKAGES)
def test_a_user_writes_less_than_twenty_lines(client: str) -> None:
    assert 0 < clients.user_lines(client) < 20
    assert page.program(client).startswith("```py\n")


def test_every_client_has_its_versions() -> None:
    assert set(page.LEARNERS) == set(clients.PACKAGES)
    assert all((page.FOLDER / f"{client}.txt").exists() for client in (*clients.PACKAGES, "open_spiel"))
    makefile = (page.ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"CLIENTS := open_spiel {' '.join(clients.PACKAGES)}\n" in makefile


def first_legal(seen: dict[str, np.ndarray]) -> np.ndarray:
    return seen["action_mask"].argmax(1)


def test_shares_count_every_seat_and_shared_wins() -> None:
    for game, players in (("samurai", 3), ("samurai_card", 2), ("samurai_spirit", 2)):
        found = clients.shares(first_legal, game, players, 12)
        assert found.shape == (12,)
        assert ((found >= 0) & (found <= 1)).all()


def test_a_client_trains_and_its_row_is_kept(tmp_path) -> None:
    config = clients.Config("sb3", "samurai_card", steps=100, eval_games=20, results=tmp_path / "rows.jsonl")
    row = clients.main(config)
    kept = json.loads((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))
    assert (kept["client"], kept["games"], kept["low"] <= kept["share"] <= kept["high"]) == ("sb3", 20, True)
    assert row.version.startswith("sb3_contrib ")
    with pytest.raises(ValueError, match=r"the clients are sb3, .*, not 'rlib'"):
        clients.main(clients.Config("rlib"))


def always_win(monkeypatch):
    """Have every client, installed or not, win every game."""
    monkeypatch.setattr(clients, "import_module", lambda name: SimpleNamespace(train=lambda *settings: first_legal))
    monkeypatch.setattr(clients, "version", lambda package: "1")
    monkeypatch.setattr(clients, "shares", lambda policy, game, players, games: np.ones(games))


@pytest.mark.parametrize("games", [1, 20])
def test_the_interval_is_of_possible_shares(games: int, monkeypatch) -> None:
    always_win(monkeypatch)
    row = clients.main(clients.Config("sb3", "samurai_card", steps=1, eval_games=games))
    assert row.share == row.high == 100.0
    assert 0.0 < row.low < 100.0


@pytest.mark.parametrize("name", ["steps", "eval_games"])
def test_numbers_out_of_their_range_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"--{name.replace('_', '-')} must be from 1 to"):
        clients.main(clients.Config("sb3", **{name: 0}))


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff"])
def test_damaged_results_are_refused_before_anything_is_measured(tmp_path, content: bytes, capsys) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.jsonl is damaged"):
        page.rows_of(path)
    for results in (path, path / "folder" / "rows.jsonl"):
        with pytest.raises(ValueError, match=r"rows\.jsonl"):
            clients.main(clients.Config("sb3", results=results))
        with pytest.raises(SystemExit):
            text_games.main(["--results", str(results)])
        assert "rows.jsonl" in capsys.readouterr().err
    page.check_results(tmp_path / "new" / "rows.jsonl")
    assert (tmp_path / "new").is_dir()


def test_the_single_file_learns() -> None:
    said: list[str] = []
    args = ppo_cleanrl.Args(total_timesteps=4096, num_envs=32, num_steps=32, hidden=32, eval_games=16)
    agent = ppo_cleanrl.train(args, said.append)
    assert len(said) == 5  # before, and after each of the four updates
    masks = np.eye(3, 141, dtype=np.int8)
    seen = {"observation": np.zeros((3, 614), np.int8), "action_mask": masks}
    assert agent.act(seen).tolist() == [0, 1, 2]
    lines = (page.FOLDER.parent / "examples" / "ppo_cleanrl.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 250


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_envs": 1, "num_steps": 65}, "--num-minibatches 8 must share 65 decisions"),
        ({"num_envs": 1, "num_steps": 8}, "at least 2 in each"),
        ({"num_minibatches": 100_000}, "--num-minibatches 100000 must share"),
    ],
)
def test_minibatches_of_the_single_file_are_alike(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ppo_cleanrl.train(ppo_cleanrl.Args(**wrong))


def test_rows_are_added_to_the_results(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    for number in range(3):
        page.add_row(path, {"number": number})
    assert [row["number"] for row in page.rows_of(path)] == [0, 1, 2]
    path.write_text(path.read_text().rstrip("\n"))  # as editors may leave it
    page.add_row(path, {"number": 3})
    assert [row["number"] for row in page.rows_of(path)] == [0, 1, 2, 3]
    path.write_text(path.read_text() + '{"number": ')
    with pytest.raises(ValueError, match=r"rows.jsonl is damaged"):
        page.add_row(path, {"number": 4})
    assert path.read_text().endswith('{"number": ')
