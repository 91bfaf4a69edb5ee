"""Positions set up by hand, links to positions, results and runs, over HTTP."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from rich.console import Console

from experiments import cooperative, tournament
from experiments.common.provenance import RESULTS
from experiments.evaluation.stopping import StopRule
from experiments.leaderboard.short_names import table_names
from experiments.web import progress
from experiments.web.progress import boards, game_of, games_of, table_of
from experiments.web.table import Table
from experiments.web.workers import choose
from samurai_env import Position, parse_variant
from samurai_env.editors import set_up, start
from samurai_env.game_record import GameRecord
from tests.web.served import Served, served

SPECS = ("samurai players=2", "samurai_card players=2", "samurai_spirit players=3")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A tournament of two deals, a training run with three points, and a free-for-all of one deal."""
    folder = tmp_path_factory.mktemp("folders")
    tournament, run, free_for_all = folder / "tournament", folder / "run", folder / "free-for-all"
    run.mkdir()
    write_results(tournament, "samurai_card players=2", ["random", "greedy"], [[0.0, 1.0], [0.0, 0.0]])
    three = [[1.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0]]  # three games of each agent, one after another
    write_results(free_for_all, "samurai players=3", ["mcts:20", "greedy", "random"], three)
    points = [{"steps": steps, "win_share_greedy": share} for steps, share in ((0, 0.1), (5, 0.3), (9, 0.4))]
    card = {"variant": "samurai players=2", "notes": {"steps": 9, "curve": points}}
    (run / "model.json").write_text(json.dumps(card))
    return tournament, run, free_for_all


def write_results(folder, game, agents, shares):
    """The folder of a tournament in which these agents met, with their win shares by deal."""
    matchup = {
        "one": agents[0],
        "others": agents[1] if len(agents) == 2 else agents[1:],
        "commits": ["c"],
        "machines": ["m"],
        "seconds": [0.1] * len(agents),
        "decisions": [10] * len(agents),
        "shares": shares,
    }
    kept = {"variant": parse_variant(game).spec, "command": "c", "versions": {}, "networks": {}}
    kept |= {"deal_seeds": "1000000000 + number of the deal, from deal 70 on", "matchups": [matchup]}
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(kept))


@pytest.fixture(scope="module")
def server(tmp_path_factory, folders):
    with served(tmp_path_factory.mktemp("web") / "tables.sqlite", folders=folders) as running:
        yield running


@pytest.mark.parametrize("spec", SPECS)
def test_a_position_is_set_up_played_and_kept(server, spec):
    first = server.call("edit", body={"variant": spec})
    assert first["problem"] is None
    assert set(first["clickable"]) <= {entry["target"] for entry in first["entries"]}
    again = server.call("edit", body={"variant": spec, "values": first["values"]})
    assert again == first
    players = ["person"] * first["players"]
    made = server.call("positions", body={"variant": spec, "values": first["values"], "players": players})
    seat = next(i for i, token in enumerate(made["seats"]) if server.call("view", token)["mine"])
    view = server.call("view", made["seats"][seat])
    server.call("play", made["seats"][seat], {"action": view["legal"][0]["id"], "count": 0})
    table, _ = server.server.doors[made["seats"][seat]]
    [stored] = [kept for kept in server.server.store.tables() if kept[0] == table.name]
    restored = Table.restore(*stored)
    assert restored.position.hash() == table.position.hash()
    record = GameRecord.parse(table.record().to_text())
    assert Table.of_record(record).position.hash() == table.position.hash()


def test_a_seat_of_a_set_up_game_sees_only_its_own(server):
    """What the rival holds changes nothing; nor does what lies hidden, which follows from another seed each time."""
    values = start(parse_variant("samurai players=2"))
    mine = int(values["turn"])
    held = [name for name in values if name.startswith(f"hand {1 - mine} ")]
    there, lacking = (next(name for name in held if (values[name] == "0") == absent) for absent in (False, True))
    other = {**values, there: str(int(values[there]) - 1), lacking: "1"}
    views = []
    for given in (values, other):
        body = {"variant": "samurai players=2", "values": given, "players": ["person", "person"]}
        token = server.call("positions", body=body)["seats"][mine]
        views.append({**server.call("view", token), "version": 0})  # which begins with the time
        for path in ("position", "position?ply=0"):
            assert "may not know" in server.call(path, token, status=403)["error"]
    assert views[0] == views[1]
    assert views[0]["mine"]


def test_a_link_to_a_position_opens_it_for_analysis(server):
    position = set_up(parse_variant("samurai_card players=2"), start(parse_variant("samurai_card players=2")), 4)
    token = server.call("positions", body={"position": position.to_text()})["watch"]
    assert server.call("position", token)["position"] == position.to_text()
    found = server.call("analyse", token, {"ply": 0, "judge": "mcts:20"})
    assert sum(found["chances"]) == pytest.approx(1, abs=0.01)
    assert 1 <= len(found["line"]) <= 6
    assert found["line"][0]["label"] == found["actions"][0]["label"]
    assert server.call("analyse", token, {"ply": 0, "judge": "greedy"})["chances"]
    made = server.call("branch", token, {"ply": 0, "players": ["person", "greedy"]})
    assert server.call("view", made["seats"][0])["count"] == 0
    assert server.call("edit", body={"position": position.to_text()})["problem"] is None


def test_within_a_move_a_link_holds_the_position_before_it(server):
    """A table begins between moves, so a link to one within a move would open nothing."""
    variant = parse_variant("samurai players=2 first_hand=random figure_setup=random")
    position, texts = Position(variant, 3), []
    while not position.mid_move:
        texts.append(position.to_text())
        position.step(position.legal_actions()[0])
    record = GameRecord.play(variant, 3, lambda position: position.legal_actions()[0])
    token = json.loads(server.raw("POST", "/api/records", record.to_text())[2])["watch"]
    found = server.call(f"position?ply={len(texts)}", token)["position"]
    assert found == texts[-1]
    assert server.call("positions", body={"position": found})["watch"]


def test_a_hint_is_about_the_position_in_which_it_was_asked_for(server, monkeypatch):
    """The seat may go on while the agent thinks; then the others' hands are named in the scene."""
    tokens = server.new("samurai players=2", "person", "person")["seats"]
    table, _ = server.server.doors[tokens[0]]
    think, rng = server.server.think, random.Random(4)

    def chooses_from_hand(position):
        targets = position.variant.game.scene(position.state, position.seat).targets
        held = {action for name, target in targets.items() if name.startswith("hand") for action in target.actions}
        return held & set(position.legal_actions())

    def play():
        table.play(table.position.seat, rng.choice(table.position.legal_actions()), len(table.actions))

    while len(table.actions) < 12 or not chooses_from_hand(table.position):
        play()
    seat, count = table.position.seat, len(table.actions)
    expected = server.call("hint", tokens[seat], {"judge": "mcts:20"})
    assert expected["count"] == count
    assert any(name.startswith("hand") for action in expected["actions"] for name in action["targets"])

    async def slowly(*arguments):
        while table.position.seat == seat:
            play()
        return await think(*arguments)

    monkeypatch.setattr(server.server, "think", slowly)
    assert server.call("hint", tokens[seat], {"judge": "mcts:20"}) == expected
    assert len(table.actions) > count


def test_a_hint_is_for_the_seat_that_is_to_move_when_all_of_the_request_has_come(server):
    """Its body may be held back until the other seat, whose hand a hint would tell, is to move."""
    tokens = server.new("samurai players=2", "person", "person")["seats"]
    table, _ = server.server.doors[tokens[0]]
    seat, body = table.position.seat, b'{"judge": "mcts:20"}'
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        head = f"POST /api/hint HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {tokens[seat]}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body[:3])
        server.call("view", tokens[seat])  # by now the server has read what has come
        while table.position.seat == seat:
            view = server.call("view", tokens[seat])
            server.call("play", tokens[seat], {"action": view["legal"][0]["id"], "count": view["count"]})
        connection.sendall(body[3:])
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 409 ")
    assert b"a hint is for the seat to move" in answer


def test_a_hint_tells_nothing_but_actions(server):
    token = server.new("samurai players=2", "person", "greedy")["seats"][0]
    for judge in ("greedy", "mcts:20"):
        assert set(server.call("hint", token, {"judge": judge})) == {"count", "actions"}


@pytest.mark.parametrize("path", ["edit", "positions"])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "a spec must be a string"),
        ({"variant": "samurai players=2", "values": []}, "texts by name"),
        ({"variant": "samurai players=2", "values": {"turn": 1}}, "texts by name"),
        ({"variant": "samurai players=2", "values": {"turn": "7"}}, "turn must be one of 0, 1"),
        ({"variant": "samurai players=2", "values": {"x" * 500: "7"}}, "there is no"),
        ({"variant": "samurai players=2", "values": {str(i): "7" for i in range(3000)}}, "texts by name"),
        ({"position": 7}, "position as text"),
        ({"position": "AAAA"}, "not a position as text"),
    ],
)
def test_malformed_positions_are_refused(server, path, body, reason):
    found = server.call(path, body=body, status=400)["error"]
    assert reason in found
    assert len(found) < 300


def test_impossible_positions_say_why(server):
    values = {**start(parse_variant("samurai players=2")), "c14r13": "none"}
    assert "Edo" in server.call("edit", body={"variant": "samurai players=2", "values": values})["problem"]
    assert (
        "Edo" in server.call("positions", body={"variant": "samurai players=2", "values": values}, status=400)["error"]
    )


def test_agents_are_offered_with_their_strength(server):
    found = server.call("strengths?variant=samurai%20players%3D2")
    assert found["agents"]["greedy"]["rating"].startswith("rating ")
    assert found["agents"]["greedy"]["time"]
    assert found["measured"] == ""
    other = server.call("strengths?variant=samurai%20players%3D2%20edition%3D1998")
    assert other == {**found, "measured": "edition=2016"}
    assert "won" in server.call("strengths?variant=samurai_spirit%20players%3D4")["agents"]["greedy"]["rating"]
    assert "no game" in server.call("strengths?variant=chess", status=400)["error"]


def test_a_cell_of_a_table_leads_to_its_games(server, folders):
    name = str(folders[0])
    offered = {board["name"]: board["title"] for board in server.call("boards")["boards"]}
    assert offered[name] == name
    assert offered["tenth-2"] == "Samurai, 2 players: a tenth of a second per decision"
    table = server.call(f"boards?name={name}")
    assert [agent["spec"] for agent in table["agents"]] == ["greedy", "random"]
    assert table["cells"]["greedy"]["random"]["share"] == pytest.approx(0.75)
    games = server.call(f"games?name={name}&one=greedy&other=random")["games"]
    assert len(games) == 4
    assert sum(game["share"] for game in games) == 3
    assert server.call(f"games?name={name}&one=greedy&other=random")["offered"]
    assert "have not met" in server.call(f"games?name={name}&one=greedy&other=x", status=409)["error"]
    shown = server.call(f"games?{urlencode({'name': 'ladder-2', 'one': 'untrained', 'other': 'random'})}")
    assert shown["games"]
    assert not shown["offered"]  # looked at, but not played by this server
    made = server.call("again", body={"name": name, "one": "greedy", "other": "random", "deal": 1, "seat": 0})
    assert made["players"] == ["greedy", "random"]
    assert server.server.doors[made["watch"]][0].seed == 1_000_000_071
    asked = {"name": name, "one": "greedy", "other": "random", "deal": 2, "seat": 0}
    assert "was not played" in server.call("again", body=asked, status=409)["error"]
    for wrong, status in (
        ({"name": "../x"}, 404),
        ({"name": []}, 404),
        ({"one": {}}, 400),
        ({"one": "os.system:ls"}, 400),
        ({"deal": -1}, 400),
    ):
        assert len(server.call("again", body={**asked, **wrong}, status=status)["error"]) < 300
    assert server.call("boards?name=/etc", status=404)


def test_games_played_again_have_the_results_they_had(tmp_path):
    """By the seeds of their deals, and by the keys of the agents."""
    spec, agents = "samurai_card players=2", ("mcts:20", "mcts:40", "greedy")
    config = tournament.Config(
        agents=agents, game=spec, deals=2, first_deal=70, mirror=False, processes=1, output=tmp_path
    )
    tournament.play(config, Console(quiet=True))
    for one, other in (("mcts:20", "mcts:40"), ("mcts:40", "mcts:20"), ("greedy", "mcts:40")):
        for played in games_of(tmp_path, one, other):
            game = game_of(tmp_path, one, other, played["deal"], played["seat"])
            table = Table.new(game.variant, game.players, game.seed, salts=game.salts)
            while not table.position.over:
                action = choose(table.to_move, table.position.save(), table.salt)
                table.play(table.position.seat, action, len(table.actions))
            assert table.seed in (1_000_000_070, 1_000_000_071)
            share = (table.position.returns()[played["seat"]] + 1) / 2
            assert share == played["share"]


def test_the_games_behind_a_cell_are_those_that_it_counts(tmp_path):
    write_results(tmp_path / "t", "samurai_card players=2", ["random", "greedy"], [[0.0, 0.0]] * 60)
    counted = games_of(tmp_path / "t", "greedy", "random", StopRule(winner=True))
    assert 0 < len(counted) < len(games_of(tmp_path / "t", "greedy", "random")) == 120
    with pytest.raises(ValueError, match="deal 59 was not played there"):
        game_of(tmp_path / "t", "greedy", "random", 59, 0, StopRule(winner=True))


def test_games_of_an_agent_against_itself_have_the_keys_of_two(tmp_path):
    """The agent of the seat has the first number, the others the second, as in the tournament."""
    write_results(tmp_path / "three", "samurai_card players=3", ["mcts:20", "greedy"], [[0.0, 1.0, 0.0]])
    assert game_of(tmp_path / "three", "mcts:20", "greedy", 0, 1).salts == (1, 0, 1)
    write_results(tmp_path / "mirror", "samurai_card players=2", ["mcts:20", "mcts:20"], [[0.0, 1.0]])
    assert [game_of(tmp_path / "mirror", "mcts:20", "mcts:20", 0, seat).salts for seat in (0, 1)] == [(0, 1), (1, 0)]


def test_a_team_has_won_from_both_sides(tmp_path):
    write_results(tmp_path / "team", "samurai_spirit players=2", ["greedy", "random"], [[1.0, 1.0], [0.0, 0.0]])
    for one, other in (("greedy", "random"), ("random", "greedy")):
        assert [game["share"] for game in games_of(tmp_path / "team", one, other)] == [1.0, 1.0, 0.0, 0.0]


def test_seeds_that_a_file_does_not_say_are_asked_for_in_vain(tmp_path):
    write_results(tmp_path / "t", "samurai_card players=2", ["random", "greedy"], [[0.0, 1.0]])
    path = tmp_path / "t" / "results.json"
    path.write_text(path.read_text().replace("1000000000 + number", "number"))
    with pytest.raises(ValueError, match="does not say the seeds of its deals, but 'number of the deal"):
        game_of(tmp_path / "t", "random", "greedy", 0, 0)


def test_tables_of_the_leaderboard_are_those_of_its_page():
    found = boards(())
    assert {"ladder-2", "tenth-4", "duel-2", "past-4", "ladder-spirit", "spirit-4-normal"} <= set(found)
    page = (RESULTS.parents[1] / "LEADERBOARD.md").read_text(encoding="utf-8")
    for name, board in found.items():
        table = table_of(name, board)
        section = page.partition(f"\n### {table['title']}\n")[2].partition("\n##")[0]
        assert section
        if "rows" in table:
            assert f"| {' | '.join(['agent', *table['labels'], *table['columns'], 'games', 'CPU time'])} |" in section
            names = table_names(list({row["spec"]: None for row in table["rows"]}))
            for row in table["rows"]:
                cells = [cell["text"] if cell else "" for cell in row["cells"]]
                assert f"\n| {' | '.join([names[row['spec']], *row['values'], *cells])} |" in section
            continue
        names = table_names([agent["spec"] for agent in table["agents"]])
        for agent in table["agents"]:
            row = next(line for line in section.splitlines() if f"| {names[agent['spec']]} |" in line)
            assert agent["rating"] in row
            shares = [cell["text"] for cell in table["cells"].get(agent["spec"], {}).values()]
            assert table["free_for_all"] or table["par"] == 0.5 or all(share in row for share in shares)


def test_games_won_together_are_shown_by_option_and_number_of_players(tmp_path):
    """Of a folder as of the leaderboard; an agent that has played less has fewer rows and cells."""
    config = cooperative.Config("samurai_spirit players=2", ("greedy", "random"), "difficulty", games=2, processes=1)
    config.output = tmp_path / "rates"
    cooperative.play(config, Console(quiet=True))
    more = replace(config, agents=("greedy",), game="samurai_spirit players=3 difficulty=easy", vary=None)
    cooperative.play(more, Console(quiet=True))
    name = str(config.output)
    table = table_of(name, boards((config.output,))[name])
    assert (table["title"], table["labels"], table["columns"]) == (
        "Samurai Spirit",
        ["difficulty"],
        ["2 players", "3 players"],
    )
    levels = ["easy", "normal", "hard", "heroic"]
    rows = [(row["spec"], *row["values"]) for row in table["rows"]]
    assert rows == [(agent, level) for agent in ("greedy", "random") for level in levels]
    assert [[bool(cell) for cell in row["cells"]] for row in table["rows"]] == [[True, True]] + [[True, False]] * 7
    cell = table["rows"][0]["cells"][0]
    assert cell["games"] == 2
    with pytest.raises(ValueError, match="no agents have met there"):
        games_of(config.output, "greedy", "random")
    assert sum(map(int, re.findall(r"\d+", cell["ends"]))) == 2
    file = config.output / "wins.json"
    kept = file.read_text()
    file.write_text('{"networks": {}, "returns": []}')
    with pytest.raises(ValueError, match=r"no games of .* have been played yet"):
        table_of(name, boards((config.output,))[name])
    file.write_text(kept.replace('"greedy"', "5"))
    with pytest.raises(ValueError, match=r"wins\.json is damaged"):
        table_of(name, boards((config.output,))[name])


def test_where_there_is_no_list_only_folders_are_shown(folders, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "LIST", tmp_path / "none.toml")
    assert list(boards((folders[0],))) == [str(folders[0])]


def test_a_free_for_all_is_shown_with_win_shares(server, folders):
    name = str(folders[2])
    table = server.call(f"boards?name={name}")
    assert table["free_for_all"]
    assert table["par"] == 0.5
    assert table["agents"][0]["spec"] == "mcts:20"
    shares = {agent["spec"]: agent["wins"].split("%")[0] for agent in table["agents"]}
    assert shares == {"mcts:20": "83.3", "greedy": "0.0", "random": "16.7"}
    assert table["cells"]["mcts:20"]["random"]["share"] == pytest.approx(2.5 / 3)
    # No two of them met alone, so no games stand behind a cell.
    assert "have not met" in server.call(f"games?name={name}&one=mcts:20&other=greedy", status=409)["error"]


def test_curves_of_runs_grow(server, folders):
    [run] = server.call("runs")["runs"]
    assert run["curves"] == {"greedy": [[0, 0.1], [5, 0.3], [9, 0.4]]}
    kept = (folders[1] / "model.json").read_text()
    (folders[1] / "model.json").write_text("{")
    assert "damaged" in server.call("runs")["runs"][0]["error"]
    (folders[1] / "model.json").write_text(kept)


def test_ctrl_c_ends_the_server_at_once(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "experiments.web", "--no-open", "--port", str(port), "--processes", "1"]
    process = subprocess.Popen([*command, "--store", str(tmp_path / "t.sqlite")], stdout=subprocess.DEVNULL)
    try:
        running = Served(port, None)
        for _ in range(600):
            try:
                running.raw("GET", "/")
                break
            except OSError:
                time.sleep(0.1)
        values = {"variant": "samurai_card players=2", "players": ["person", "person"]}
        token = running.call("tables", body=values)["seats"][0]
        waiting = socket.create_connection(("127.0.0.1", port))
        version = running.call("view", token)["version"]
        asked = f"GET /api/view?since={version} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n"
        waiting.sendall(asked.encode())
        time.sleep(0.3)
        begun = time.time()
        os.kill(process.pid, signal.SIGINT)
        process.wait(18)
        assert time.time() - begun < 15  # a page that waits for news would hold it for 20 seconds
        waiting.close()
    finally:
        process.kill()
        process.wait()


def test_the_text_of_a_position_is_checked_like_a_saved_one(server):
    position = Position(parse_variant("samurai players=2"), 1)
    position.states["seat"] = 5
    assert server.call("positions", body={"position": position.to_text()}, status=400)["error"]
    for wrong in ("seed", "half"):
        position = Position(parse_variant("samurai players=2"), 1)
        if wrong == "seed":
            position.states["seed"] = 2**63
        else:
            while not position.mid_move:
                position.step(position.legal_actions()[0])
        text = server.call("positions", body={"position": position.to_text()}, status=400)["error"]
        assert {"seed": "2**63 - 1", "half": "in the middle of a move"}[wrong] in text
