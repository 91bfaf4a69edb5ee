"""What fails beside a table: its agents, its file, its judge, and pages of others."""

import sqlite3
import time

import pytest

from experiments.web import server as web_server
from tests.web.served import served

VARIANT = "samurai_card players=2"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("web") / "tables.sqlite") as running:
        yield running


def wait_for(condition):
    until = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def test_an_agent_that_fails_is_asked_again_and_tells_no_seat_why(server, monkeypatch):
    """The reason may name the agent's hand or the seed of the deal."""
    think, failing = server.server.think, [True]

    async def failing_at_first(work, *arguments):
        if failing[0]:
            raise ValueError("in the game with seed 77 legal are H4 and B2")
        return await think(work, *arguments)

    monkeypatch.setattr(server.server, "think", failing_at_first)
    monkeypatch.setattr(web_server, "RETRY", 0.1)
    made = server.new(VARIANT, "greedy", "person")
    token = made["seats"][1]
    told = wait_for(lambda: server.call("view", token)["error"])
    assert told == "greedy cannot go on; it is asked again from time to time"
    watched = server.new(VARIANT, "greedy", "greedy")["watch"]
    assert "seed 77 legal are" in wait_for(lambda: server.call("view", watched)["error"])
    failing[0] = False
    assert wait_for(lambda: server.call("view", token)["mine"])
    assert server.call("view", token)["error"] == ""


def test_a_decision_that_cannot_be_written_down_is_not_made(server, monkeypatch):
    token, _ = server.new(VARIANT, "person", "person")["seats"]
    view = server.call("view", token)
    decision = {"action": view["legal"][0]["id"], "count": 0}

    def full(*arguments):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(server.server.store, "add_decision", full)
        server.call("play", token, decision, status=500)
    again = server.call("view", token)
    assert (again["count"], again["mine"], again["legal"]) == (0, True, view["legal"])
    after = server.call("play", token, decision)
    table, _ = server.server.doors[token]
    [actions] = [kept[3] for kept in server.server.store.tables() if kept[0] == table.name]
    assert actions == table.actions
    assert after["count"] == 1
    assert server.call("view", token)["can_take_back"]  # a card is chosen and does not lie yet
    with monkeypatch.context() as patched:
        patched.setattr(server.server.store, "cut", full)
        server.call("undo", token, {}, status=500)
    assert server.call("view", token)["count"] == 1


def test_games_that_nobody_visits_give_way_to_new_ones(tmp_path, monkeypatch):
    """The one left alone for longest goes; a game of people only after a week, a finished or watched one at once."""
    monkeypatch.setattr(web_server, "MOST_TABLES", 3)
    with served(tmp_path / "tables.sqlite") as server:
        tables = server.server.tables
        first, second, third = (server.new(VARIANT, "person", "person")["seats"][0] for _ in range(3))
        body = {"variant": VARIANT, "players": ["person", "person"]}
        assert "tables are in use" in server.call("tables", body=body, status=503)["error"]

        days = {first: 8, second: 9, third: 6}
        for token, since in days.items():
            server.server.doors[token][0].visited = time.time() - 86400 * since
        watched = server.new(VARIANT, "random", "random")["watch"]
        assert len(tables) == 3 and second not in server.server.doors
        assert "opens no table" in server.call("view", second, status=403)["error"]

        server.call("view", first)  # somebody comes back, so that the one without people is next
        server.new(VARIANT, "person", "person")
        assert watched not in server.server.doors
        server.call("view", first)
        server.call("view", third)
        assert len(tables) == 3
        server.call("tables", body=body, status=503)


def test_a_judge_that_fails_says_so_and_not_why(server, monkeypatch):
    async def failing(work, *arguments):
        raise ValueError("the hand is H4")

    token = server.new(VARIANT, "person", "person")["seats"][0]
    monkeypatch.setattr(server.server, "think", failing)
    error = server.call("hint", token, {"judge": "greedy"}, status=409)["error"]
    assert error == "greedy cannot judge this position"


def test_other_pages_make_no_tables(server):
    """A page that is open beside this one may send what needs no leave, such as a record as plain text."""
    count = len(server.server.tables)
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 400), ("none", 400)):
        headers = {"Content-Type": "text/plain", "Sec-Fetch-Site": site}
        assert server.raw("POST", "/api/records", "no record", headers)[0] == status
    for origin, status in (("http://elsewhere.example", 403), ("null", 403), (server.address.rstrip("/"), 400)):
        headers = {"Content-Type": "text/plain", "Origin": origin}  # all that a browser says over plain http
        assert server.raw("POST", "/api/records", "no record", headers)[0] == status
    assert len(server.server.tables) == count


def test_a_store_that_is_none_is_named_before_an_address_is_announced(tmp_path, capsys):
    from experiments.web.__main__ import Config, main

    (tmp_path / "notes.txt").write_text("no database\n" * 100)
    with pytest.raises(ValueError, match=r"--store '.*notes\.txt' cannot keep tables: file is not a database"):
        main(Config(store=tmp_path / "notes.txt", port=8765, open=False))
    assert "http" not in capsys.readouterr().out


def test_a_view_that_could_not_be_made_is_made_for_the_next_who_asks(server, monkeypatch):
    token = server.new(VARIANT, "person", "person")["seats"][0]
    with monkeypatch.context() as patched:
        patched.setattr(web_server, "packed_view", failing_view)
        server.call("view", token, status=500)
    assert server.call("view", token)["mine"]


def failing_view(*arguments):
    raise MemoryError
