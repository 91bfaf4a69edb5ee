"""Tables over HTTP: playing, what a seat sees, refusals, and going on after a kill."""

import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from experiments.web import server as web_server
from experiments.web.app import STATIC
from experiments.web.server import DRAWN_AT_ONCE
from experiments.web.store import Store
from experiments.web.table import Table, TableError, known_plies, packed_view, view
from samurai_env import game_names, make_variant, parse_variant
from samurai_env.game_record import GameRecord
from tests.web.served import served

VARIANTS = (
    "samurai players=2",
    "samurai players=3 hide_captures=true",
    "samurai_card players=2",
    "samurai_spirit players=2",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("web") / "tables.sqlite") as running:
        yield running


SCRIPTS = [path.stem for path in STATIC.glob("*.js")]


def play_on(server, tokens, decisions, seed=0):
    """Random decisions of people."""
    rng, view = random.Random(seed), server.call("view", tokens[0])
    for _ in range(decisions):
        if view["over"]:
            break
        seat = view["seat"]
        view = server.call("view", tokens[seat])
        action = rng.choice(view["legal"])["id"]
        view = server.call("play", tokens[seat], {"action": action, "count": view["count"]})
    return view


@pytest.mark.parametrize("variant", VARIANTS)
def test_people_play_to_the_end_and_get_the_record(server, variant):
    n = parse_variant(variant).num_players
    tokens = server.new(variant, *["person"] * n)["seats"]
    view = play_on(server, tokens, 2000)
    assert view["over"]
    assert len(view["returns"]) == n
    status, _, text = server.raw("GET", "/api/record", headers={"Authorization": f"Bearer {tokens[0]}"})
    assert status == 200
    record = GameRecord.parse(text.decode())
    assert record.over
    assert [move["text"] for move in view["moves"]] == [text for _, text in record.moves()]


def test_agents_play_when_it_is_their_turn(server):
    token = server.new("samurai_card players=2", "person", "greedy")["seats"][0]
    for _ in range(3):
        view = server.call("view", token)
        while not view["mine"]:
            time.sleep(0.02)
            view = server.call("view", token)
        server.call("play", token, {"action": view["legal"][0]["id"], "count": view["count"]})
    assert {move["seat"] for move in server.call("view", token)["moves"]} >= {0}


def another_half_made_move(position, decisions, seed):
    """Positions and decisions of a random move that is still unfinished after so many decisions; None if none is."""
    rng = random.Random(seed)
    for _ in range(1000):
        positions, actions = [position.clone()], []
        while len(actions) < decisions and (positions[-1].mid_move or not actions):
            actions.append(rng.choice(positions[-1].legal_actions()))
            positions.append(positions[-1].clone())
            positions[-1].step(actions[-1])
        if len(actions) == decisions and positions[-1].mid_move:
            return positions[1:], actions
    return None


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_leaves_the_server_for_a_seat_depends_on_what_it_may_know(server, variant):
    """All that the seat cannot know is drawn again; every byte sent to the seat stays the same."""
    n = parse_variant(variant).num_players
    tokens = server.new(variant, *["person"] * n)["seats"]
    rng, checked = np.array([5], np.uint64), 0
    for step in range(60):
        if play_on(server, tokens, 1, step)["over"]:
            break
        if step % 3:
            continue
        for seat, token in enumerate(tokens):
            table, _ = server.server.doors[token]
            headers = {"Authorization": f"Bearer {token}"}
            paths = ("/api/view", "/api/view?ply=0", "/api/picture", "/api/picture?ply=1")
            before = [server.raw("GET", path, headers=headers)[::2] for path in paths]
            kept, chosen, known = table.positions, table.actions, known_plies(table, seat)
            redrawn = [position.determinized(seat, rng) for position in kept]
            if known < len(chosen):
                if (other := another_half_made_move(redrawn[known], len(chosen) - known, step)) is None:
                    continue
                redrawn[known + 1 :], table.actions = other[0], chosen[:known] + other[1]
            table.positions = redrawn
            server.server.views.clear()
            after = [server.raw("GET", path, headers=headers)[::2] for path in paths]
            checked += table.positions[-1].hash() != kept[-1].hash()
            table.positions, table.actions = kept, chosen
            server.server.views.clear()
            assert after == before
            assert all(status == 200 for status, _ in before)
            assert str(table.seed).encode() not in b"".join(body for _, body in before)
    assert checked or "spirit" in variant


def test_secret_moves_have_no_text_for_others(server):
    tokens = server.new("samurai players=2", "person", "person")["seats"]
    view = play_on(server, tokens, 1)
    [move] = view["moves"]
    assert move["text"].startswith("pick ")
    assert move["words"].endswith(" into the first hand")
    assert server.call("view", tokens[1])["moves"] == [{"seat": 0, "text": "", "words": "", "ply": 1}]


@pytest.mark.parametrize("name", game_names())
def test_moves_are_told_in_words(name):
    """Every move that has a text, whole or half made, has a phrase too."""
    variant, rng = parse_variant(f"{name} players=2"), random.Random(3)
    table = Table.new(variant, ["person"] * 2, 3)
    while not table.position.over:
        table.play(table.position.seat, rng.choice(table.position.legal_actions()), len(table.actions))
        assert all(move["words"] for move in table.moves(table.position.seat) if move["text"])
    moves = table.moves(None)
    assert len({move["words"] for move in moves}) > 5
    assert not [move for move in moves if "{" in move["words"] or "None" in move["words"]]


def test_a_chosen_card_is_not_told_until_it_lies(server):
    tokens = server.new("samurai_card players=2", "person", "person")["seats"]
    play_on(server, tokens, 1)
    assert len(server.call("view", tokens[0])["moves"]) == 1
    assert server.call("view", tokens[1])["moves"] == []


# --- Half-made moves ---


def test_a_half_made_move_is_taken_back(server):
    token = server.new("samurai players=2 first_hand=random figure_setup=random", "person", "person")["seats"][0]
    view = server.call("view", token)
    assert not view["can_take_back"]
    before = view["svg"]
    view = server.call("play", token, {"action": view["legal"][0]["id"], "count": 0})
    assert view["can_take_back"]
    view = server.call("undo", token, {})
    assert view["svg"] == before
    assert view["count"] == 0
    server.call("undo", token, {}, status=409)


def test_others_do_not_see_what_may_be_taken_back(server):
    tokens = server.new("samurai players=2 first_hand=random figure_setup=random", "person", "person")["seats"]
    told = ("svg", "caption", "moves", "count", "ply", "panels")
    before = server.call("view", tokens[1])
    view = server.call("play", tokens[0], {"action": server.call("view", tokens[0])["legal"][0]["id"], "count": 0})
    now = server.call("view", tokens[1])
    assert {name: now[name] for name in told} == {name: before[name] for name in told}
    server.call("play", tokens[0], {"action": view["legal"][0]["id"], "count": 1})
    assert server.call("view", tokens[1])["count"] == 2


def test_what_has_been_uncovered_cannot_be_taken_back():
    table = Table.new(parse_variant("samurai_spirit players=2"), ["person", "person"], 3)
    fight = table.variant.action_names.index("fight")
    while fight not in table.position.legal_actions():
        table.play(table.position.seat, table.position.legal_actions()[0], len(table.actions))
    seat, before = table.position.seat, len(table.actions)
    table.play(seat, fight, before)  # draws the top raider
    assert table._uncovered(seat, before)
    with pytest.raises(TableError, match="take"):
        table.taken_back(seat)
    assert view(table, 1 - seat)["count"] == before + 1  # so all see it


# --- Replay ---


@pytest.fixture(scope="module")
def record():
    rng = random.Random(1)
    return GameRecord.play(make_variant("samurai_card", 2), 5, lambda position: rng.choice(position.legal_actions()))


def test_a_record_is_replayed_and_analysed(server, record):
    _, _, body = server.raw("POST", "/api/records", record.to_text())
    token = json.loads(body)["watch"]
    last = server.call("view", token)
    assert last["count"] == len(record.actions)
    assert last["over"]
    first = server.call("view?ply=0", token)
    assert not first["at_end"]
    assert first["returns"] is None
    found = server.call("analyse", token, {"ply": 4, "judge": "mcts:20"})
    assert sum(found["chances"]) == pytest.approx(1)
    assert sum(entry["share"] for entry in found["actions"]) == pytest.approx(1)
    assert sum(entry["prior"] for entry in found["actions"]) == pytest.approx(1)
    visited = [entry for entry in found["actions"] if entry["visits"]]
    assert sum(entry["visits"] for entry in visited) == 20
    assert all(sum(entry["chances"]) == pytest.approx(1) for entry in visited)  # of both seats
    ended = server.call("analyse", token, {"ply": last["count"]})["chances"]
    assert ended == [(value + 1) / 2 for value in last["returns"]]
    made = server.call("branch", token, {"ply": 4, "players": ["person", "person"]})
    assert server.call("view", made["seats"][0])["count"] == 4


def test_a_game_is_a_film_and_a_page(server, record):
    short = GameRecord.from_actions(record.variant, record.seed, record.actions[:6])
    token = json.loads(server.raw("POST", "/api/records", short.to_text())[2])["watch"]
    headers = {"Authorization": f"Bearer {token}"}
    assert server.raw("GET", "/api/film?form=gif", headers=headers)[2].startswith(b"GIF89a")
    assert server.raw("GET", "/api/film?form=html", headers=headers)[2].decode() == short.to_html()
    server.server._drawing = DRAWN_AT_ONCE
    told = server.raw("GET", "/api/film?form=gif", headers=headers)
    server.server._drawing = 0
    assert (told[0], "too many pictures" in told[2].decode()) == (503, True)
    assert server.raw("GET", "/api/picture?form=png", headers=headers)[0] == 200


def test_pictures_are_png_and_svg(server):
    token = server.new("samurai players=2", "person", "person")["seats"][0]
    headers = {"Authorization": f"Bearer {token}"}
    assert server.raw("GET", "/api/picture?form=png", headers=headers)[2].startswith(b"\x89PNG")
    assert server.raw("GET", "/api/picture?form=svg", headers=headers)[2].startswith(b"<svg")


# --- Refusals ---


def test_the_rules_are_one_click_away(server):
    assert "<p>" in server.call("rules?game=samurai")["html"]
    assert "no game" in server.call("rules?game=chess", status=404)["error"]


def test_wrong_tokens_open_nothing(server):
    made = server.new("samurai players=2", "person", "person")
    assert len(set(made["seats"])) == 2
    assert all(len(token) >= 32 for token in made["seats"])
    for token in (None, "", "x", made["seats"][0][:-1], made["seats"][0].swapcase(), "../" * 5):
        for path in ("view", "record", "picture"):
            assert "opens no table" in server.call(path, token, status=403)["error"]
        assert "opens no table" in server.call("play", token, {"action": 0, "count": 0}, status=403)["error"]


def test_a_seat_plays_only_in_its_turn_and_only_what_is_legal(server):
    tokens = server.new("samurai players=2", "person", "person")["seats"]
    assert "seat 0 is to move" in server.call("play", tokens[1], {"action": 0, "count": 0}, status=409)["error"]
    assert "is illegal" in server.call("play", tokens[0], {"action": 17, "count": 0}, status=409)["error"]
    server.call("play", tokens[0], {"action": 0, "count": 0})
    assert "moved on" in server.call("play", tokens[0], {"action": 1, "count": 0}, status=409)["error"]
    assert server.call("view", tokens[0])["count"] == 1


@pytest.mark.parametrize("path", ["record", "film", "analyse", "branch"])
def test_a_seat_cannot_look_behind_the_screen(server, path):
    token = server.new("samurai players=2", "person", "greedy")["seats"][0]
    body = None if path in ("record", "film") else {"ply": 0, "players": ["person"] * 2}
    assert "may not know" in server.call(path, token, body, status=403)["error"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "a spec must be a string"),
        ({"variant": "chess players=2", "players": []}, "no game 'chess'"),
        ({"variant": "samurai players=9", "players": []}, "is for 2, 3, 4 players"),
        ({"variant": "samurai players=2", "players": ["person"]}, "has 2 players, not 1"),
        ({"variant": "samurai players=2", "players": ["person", "mcts:999999999"]}, "not offered"),
        ({"variant": "samurai players=2", "players": ["person", "os.system:ls"]}, "not offered"),
        ({"variant": "samurai players=2", "players": ["person", 7]}, "list of texts"),
    ],
)
def test_impossible_tables_say_why(server, body, reason):
    found = server.call("tables", body=body, status=400)["error"]
    assert reason in found
    assert len(found) < 300


@pytest.mark.parametrize("action", [-1, 10**6, "0", None, True, 1.5, [0]])
def test_malformed_actions_are_refused(server, action):
    token = server.new("samurai players=2", "person", "person")["seats"][0]
    assert "action is a whole number" in server.call("play", token, {"action": action, "count": 0}, status=400)["error"]


def test_malformed_and_huge_requests_are_refused(server):
    kind = {"Content-Type": "application/json"}
    assert server.raw("POST", "/api/tables", "{", kind)[0] == 400
    assert server.raw("POST", "/api/tables", "[" * 100_000, kind)[0] == 400
    assert server.raw("POST", "/api/tables", "[]", kind)[0] == 400
    assert server.raw("POST", "/api/tables", "{}", {"Content-Type": "text/plain"})[0] == 415
    assert server.raw("POST", "/api/records", b"\xff\xfe")[0] == 400
    assert server.raw("POST", "/api/records", "x" * 1000)[0] == 400
    assert server.raw("POST", "/api/records", b"x" * 2_000_000)[0] == 413
    token = server.new("samurai players=2", "person", "person")["seats"][0]
    for ply in ("-1", "x", "9" * 30, "%00"):
        assert server.raw("GET", f"/api/view?ply={ply}", headers={"Authorization": f"Bearer {token}"})[0] == 400


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd", "/fonts/../pixels.py"]
)
def test_no_way_out_of_the_static_folder(server, path):
    assert server.raw("GET", path)[0] == 404


def test_the_page_loads_nothing_from_elsewhere(server):
    status, headers, page = server.raw("GET", "/")
    assert status == 200
    headers = {name.lower(): value for name, value in headers.items()}
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert b"<script>" not in page
    sizes = 0
    for path in (
        "/",
        "/static/style.css",
        "/static/palette.css",
        *(f"/static/{name}.js" for name in SCRIPTS),
    ):
        status, _, body = server.raw("GET", path)
        assert status == 200
        assert b"http://" not in body.replace(b"http://www.w3.org/", b"")
        assert b"https://" not in body
        sizes += len(body)
    assert sizes < 300_000


def test_other_names_of_the_host_are_refused(server):
    assert server.raw("GET", "/api/offers", headers={"Host": "evil.example"})[0] == 400


def test_many_idle_connections_do_not_stop_the_game(server):
    tokens = server.new("samurai players=2", "person", "person")["seats"]
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    try:
        assert play_on(server, tokens, 4)["count"] == 4
    finally:
        for one in idle:
            one.close()


# --- Nobody waits for another ---


def test_a_view_that_takes_long_keeps_nobody_else_waiting(server, monkeypatch):
    """It is made in a thread, and once for all that ask for it."""
    made, go_on = [], threading.Event()

    def slow(*arguments):
        made.append(arguments)
        assert go_on.wait(60)
        return packed_view(*arguments)

    token = server.new("samurai players=2", "person", "person")["seats"][0]
    monkeypatch.setattr(web_server, "packed_view", slow)
    found = []
    waiting = [threading.Thread(target=lambda: found.append(server.call("view", token))) for _ in range(3)]
    for thread in waiting:
        thread.start()
    while not made:
        time.sleep(0.01)
    assert server.raw("GET", "/static/icon.svg")[0] == 200
    assert not found
    go_on.set()
    for thread in waiting:
        thread.join()
    assert len(made) == 1
    assert found[0] == found[1] == found[2]


def test_the_page_comes_while_stored_tables_are_opened(tmp_path, monkeypatch):
    go_on = threading.Event()
    with served(tmp_path / "t.sqlite") as before:
        token = before.new("samurai players=2", "person", "person")["seats"][0]
        version = play_on(before, [token], 2)["version"]
    restore = Table.restore
    monkeypatch.setattr(Table, "restore", lambda *row: (go_on.wait(60), restore(*row))[1])
    monkeypatch.setattr(web_server, "find_game", lambda name: go_on.wait(60))
    with served(tmp_path / "t.sqlite") as after:
        assert after.raw("GET", "/")[0] == 200
        assert after.call("offers")["games"]
        other = after.new("samurai players=2", "person", "person")["seats"][0]
        opened, _ = after.server.doors[other]
        found = []
        thread = threading.Thread(target=lambda: found.append(after.call("view", token)))
        thread.start()
        assert not found
        go_on.set()
        thread.join()
        assert found[0]["count"] == 2
        assert after.server.doors[other][0] is opened  # though it is in the file, too
        assert found[0]["version"] > version  # else pages from before would take it for old news
        assert "opens no table" in after.call("view", "x", status=403)["error"]


# --- Persistence ---


def test_a_stored_table_that_is_damaged_keeps_no_other_from_being_opened(tmp_path):
    with served(tmp_path / "t.sqlite") as before:
        token = before.new("samurai players=2", "person", "person")["seats"][0]
        [(_, _, head, _)] = before.server.store.tables()
        kept = json.loads(head)
        for number, wrong in enumerate(
            (
                {"players": ["person"]},
                {"tokens": []},
                {"salts": [0]},
                {"seed": []},
                {"seed": -1},
                {"players": [[], {}]},
                {"players": 3},
                {"start": "nonsense"},
                {"variant": None},
            )
        ):
            before.server.store.add_table(f"bad {number}", 0.0, json.dumps({**kept, **wrong}), [])
        before.server.store.add_table("text", 0.0, "[", [])
        before.server.store.add_table("list", 0.0, "[1]", [])
        before.server.store.add_table("illegal", 0.0, head, [10**6])
    with served(tmp_path / "t.sqlite") as after:
        assert after.call("view", token)["count"] == 0
        assert "opens no table" in after.call("view", "x", status=403)["error"]


def test_a_stored_table_runs_no_code_that_the_server_was_not_given(tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    with served(tmp_path / "t.sqlite") as before:
        before.new("samurai players=2", "person", "person")
        [(_, _, head, _)] = before.server.store.tables()
        stored = json.loads(head) | {"players": ["trap.Agent", "person"], "tokens": [None, "its-token"]}
        before.server.store.add_table("foreign", 0.0, json.dumps(stored), [])
    with served(tmp_path / "t.sqlite") as after:
        assert "opens no table" in after.call("view", "its-token", status=403)["error"]
    assert not (tmp_path / "imported").exists()
    with served(tmp_path / "t.sqlite", agents=("greedy", "trap.Agent")) as named:
        assert named.call("view", "its-token")["players"][0] == "trap.Agent"
        deadline = time.monotonic() + 60
        while not (tmp_path / "imported").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)


PROGRAM = """
import sys, uvicorn
from pathlib import Path
from experiments.web.app import make_app
from experiments.web.server import Settings
app = make_app(Settings(("greedy",), Path(sys.argv[1])))
uvicorn.Server(uvicorn.Config(app, port=int(sys.argv[2]), log_level="error")).run()
"""


def children(pid):
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_server_goes_on_with_every_table_and_its_agents_end(tmp_path):
    from tests.web.served import Served

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = Served(port, None)

    def start():
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / "t.sqlite"), str(port)])
        for _ in range(600):
            try:
                running.raw("GET", "/")
                return process
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server does not start")

    process = start()
    try:
        tokens = running.new("samurai players=2", "person", "person")["seats"]
        before = play_on(running, tokens, 7)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process = start()
        after = running.call("view", tokens[before["viewer"]])
        assert {**after, "version": 0} == {**before, "version": 0}
        assert play_on(running, tokens, 1)["count"] == 8
        watch = running.new("samurai_card players=2", "greedy", "greedy")["watch"]
        while not running.call("view", watch)["count"]:
            time.sleep(0.1)
        others = children(process.pid)
        assert others
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        end = time.time() + 60
        while (left := [pid for pid in others if is_running(pid)]) and time.time() < end:
            time.sleep(0.1)
        assert not left
    finally:
        process.kill()
        process.wait()


def test_no_game_is_named_in_the_code_of_the_page():
    import experiments.web

    for path in Path(experiments.web.__file__).parent.rglob("*"):
        if path.suffix in (".py", ".js", ".html", ".css"):
            source = path.read_text(encoding="utf-8").replace("samurai_env", "").replace("samurai-env", "").lower()
            assert not any(word in source for word in ("samurai", "spirit", "helmet", "buddha", "hex")), path.name


def test_an_agent_that_cheats_is_not_offered():
    from experiments.web.__main__ import check_agent

    check_agent("mcts:100,cheating=0")
    with pytest.raises(ValueError, match="sees hidden cards: leave out cheating=1"):
        check_agent("mcts:100,cheating=1")


def test_an_agent_that_plays_no_game_is_refused_before_the_server_starts():
    from experiments.web.__main__ import check_agent

    check_agent("lookahead")  # plays one of the games
    check_agent("best:1s")
    check_agent("exec:python engine.py")  # begins when it is to play
    for spec, error in (
        ("mcts:abc", "mcts takes a number of simulations, as in mcts:1000, not 'abc'"),
        ("mcts:100,c_pust=1", "mcts has no setting 'c_pust' .did you mean 'c_puct'"),
        ("gredy", "there is no agent 'gredy'"),
        ("best:soon", "best takes a time in seconds"),
    ):
        with pytest.raises(ValueError, match=error):
            check_agent(spec)
    with pytest.raises(FileNotFoundError, match=re.escape("nobody.safetensors")):
        check_agent("ppo:weights/nobody.safetensors")


def test_only_names_of_this_machine_are_answered_unless_others_are_let_in():
    from experiments.web.__main__ import host_names

    assert host_names("127.0.0.1")[:3] == host_names("localhost")[:3] == ("127.0.0.1", "localhost", "[::1]")
    assert "*" not in host_names("::1") + host_names("127.0.0.2")
    assert host_names("0.0.0.0") == host_names("::") == host_names("192.0.2.7") == host_names("table.test") == ("*",)


def test_an_address_in_use_is_said_before_one_is_announced():
    from experiments.web.__main__ import check_address

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port}: address already in use; --port"):
            check_address("127.0.0.1", port)
    check_address("127.0.0.1", 0)


def test_a_store_has_one_server(tmp_path, monkeypatch):
    from experiments.web import __main__ as web

    monkeypatch.setattr(web, "check_address", lambda host, port: None)
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: pytest.fail("a second server has begun"))
    store = Store(tmp_path / "tables.db")
    with pytest.raises(ValueError, match=r"tables\.db' cannot keep tables: another server uses it; --store names"):
        web.main(web.Config(store=tmp_path / "tables.db", open=False))
    store.close()
    Store(tmp_path / "tables.db").close()
    pages = (tmp_path / "tables.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(pages[: len(pages) // 2] + bytes(len(pages) // 2))
    for name, schema, text in (
        ("cut.db", None, "malformed"),
        ("mail.db", "CREATE TABLE mail (text)", "it is another program's file"),
        ("other.db", "CREATE TABLE tables (a); CREATE TABLE decisions (name)", "no such column"),
    ):
        if schema:
            foreign = sqlite3.connect(tmp_path / name)
            foreign.executescript(schema)
            foreign.close()
        before = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match=f"{name}' cannot keep tables: .*{text}"):
            web.main(web.Config(store=tmp_path / name, open=False))
        assert (tmp_path / name).read_bytes() == before


def test_a_table_that_cannot_be_written_leaves_no_open_transaction(tmp_path):
    store = Store(tmp_path / "tables.db")
    with pytest.raises(OverflowError):
        store.add_table("a", 1.0, "{}", [1, 2**70])
    store.add_table("b", 2.0, "{}", [3])
    store.add_decision("b", 1, 4)
    store.close()
    again = Store(tmp_path / "tables.db")
    assert [(name, actions) for name, _, _, actions in again.tables()] == [("b", [3, 4])]
    again.close()
