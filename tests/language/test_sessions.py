"""Games against agents by id, and the MCP server over them."""

import asyncio
import json
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from samurai_env.language.mcp_server import agent_player, main
from samurai_env.language.sessions import MAX_SESSIONS, GameSessions


@pytest.mark.parametrize("variant", ["samurai players=3", "samurai_card players=2", "samurai_spirit players=4"])
def test_a_game_against_others(variant: str) -> None:
    sessions, rng = GameSessions(agent_player("greedy")), random.Random(3)
    state = sessions.new_game(variant, seed=8, seat=1)
    game = state["game"]
    while not state["over"]:
        assert state["to_move"] == 1
        state = sessions.move(game, "move: " + rng.choice(state["legal"]))
        assert state["accepted"], state["feedback"]
    assert len(state["returns"]) == int(variant[-1])
    with pytest.raises(ValueError, match="the game is over; new_game begins another"):
        sessions.move(game, "end")


def test_same_seed_same_game() -> None:
    first, second = GameSessions(), GameSessions()
    assert first.new_game("samurai players=2", 5, 1) == second.new_game("samurai players=2", 5, 1)


def test_opponents_that_fail_leave_no_seat_to_the_player() -> None:
    left = [3]

    def fails_twice(position) -> int:
        left[0] -= 1
        if left[0] in (2, 0):
            raise KeyboardInterrupt
        return int(position.legal_actions()[0])

    sessions = GameSessions(fails_twice)
    with pytest.raises(KeyboardInterrupt):
        sessions.new_game("samurai_card players=2", 1, seat=1)
    with pytest.raises(ValueError, match="there is no game"):
        sessions.state("game-1")
    left[0] = 10**6
    game = sessions.new_game("samurai_card players=2", 1, seat=0)
    left[0] = 2

    def play_on() -> None:
        for _ in range(3):
            sessions.move(game["game"], sessions.state(game["game"])["legal"][0])

    with pytest.raises(KeyboardInterrupt):  # the player has moved, and the other seat is half way
        play_on()
    left[0] = 10**6
    before = sessions.state(game["game"])
    assert before["to_move"] == 1
    state = sessions.move(game["game"], game["legal"][0])
    assert not state["accepted"]
    assert "had not finished" in state["feedback"]
    assert state["to_move"] == 0
    assert state["others"]


def test_calls_of_several_threads_wait_for_each_other() -> None:
    inside, most = [], [0]

    def slow(position) -> int:
        inside.append(position.seat)
        most[0] = max(most[0], len(inside))
        time.sleep(0.001)
        inside.pop()
        return int(position.legal_actions()[0])

    sessions = GameSessions(slow)
    with ThreadPoolExecutor(4) as pool:
        games = list(pool.map(lambda seed: sessions.new_game("samurai_card players=2", seed, seat=1), range(8)))
        moved = list(pool.map(lambda game: sessions.move(game["game"], game["legal"][0]), games))
    assert len({game["game"] for game in games}) == 8
    assert all(state["accepted"] for state in moved)
    assert most == [1]


def test_without_a_seed_another_game() -> None:
    """Its first hands, which the seats choose at random here, are random too."""
    sessions = GameSessions()
    games = [sessions.new_game("samurai players=2 first_hand=random", seat=1) for _ in range(4)]
    seeds = [sessions._games[game["game"]][0].seed for game in games]
    assert len(set(seeds)) == 4
    assert 0 not in seeds


def test_hidden_moves_of_others_are_not_told() -> None:
    state = GameSessions().new_game("samurai players=2", seed=1, seat=1)
    assert state["others"] == ["seat 0: (hidden)"] * 5  # the picks of the first hand


def test_wrong_calls_are_refused() -> None:
    sessions = GameSessions()
    for call, said in (
        (lambda: sessions.new_game("chess"), "there is no game 'chess'"),
        (lambda: sessions.new_game("samurai players=2", seat=2), "there is no seat 2"),
        (lambda: sessions.new_game("samurai players=2", seed=-1), "a seed must be"),
        (lambda: sessions.state("game-1"), "there is no game 'game-1'"),
        (lambda: sessions.move("../etc", "end"), "there is no game"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("nobody", "there is no agent 'nobody'"),
        ("mcts:many", "mcts takes a number of simulations"),
        ("ppo:nowhere", "nowhere"),
    ],
)
def test_an_opponent_that_plays_no_game_is_refused_at_the_start(spec: str, said: str, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--opponent", spec])
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_an_opponent_of_one_variant_is_not_refused() -> None:
    sessions = GameSessions(agent_player("ppo:weights/samurai-4"))
    assert sessions.new_game("samurai players=4", seat=1)["to_move"] == 1
    with pytest.raises(ValueError, match="samurai-4"):
        sessions.new_game("samurai players=2", seat=1)


def test_a_game_that_the_opponent_cannot_play_is_not_begun() -> None:
    sessions = GameSessions(agent_player("ppo:weights/samurai-2.safetensors"))
    with pytest.raises(ValueError, match="samurai players=2"):
        sessions.new_game("samurai_card players=2 first=0")
    assert not sessions._games
    assert sessions.new_game("samurai players=2", 3)["game"] == "game-1"


def test_old_games_go() -> None:
    sessions = GameSessions()
    names = [sessions.new_game("samurai_card players=2", seed=seed)["game"] for seed in range(MAX_SESSIONS + 1)]
    with pytest.raises(ValueError, match="there is no game"):
        sessions.state(names[0])
    assert sessions.state(names[1])["legal"]


def test_mcp_client_plays_a_game() -> None:
    pytest.importorskip("mcp", reason="needs the extra `language`")
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def play() -> dict[str, Any]:
        rng = random.Random(1)
        server = StdioServerParameters(command=sys.executable, args=["-m", "samurai_env.language.mcp_server"])
        async with stdio_client(server, errlog=sys.__stderr__) as (read, write), ClientSession(read, write) as session:
            await session.initialize()

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await session.call_tool(tool, arguments)
                text = result.content[0].text
                return {"error": text} if result.is_error else json.loads(text)

            assert {tool.name for tool in (await session.list_tools()).tools} == {
                "new_game",
                "state",
                "move",
                "variants",
            }
            assert "there is no game 'chess'" in (await call("new_game", variant="chess"))["error"]
            state = await call("new_game", variant="samurai_card players=2", seed=4)
            game = state["game"]
            assert not (await call("move", game=game, move="move: nonsense"))["accepted"]
            while not state["over"]:
                state = await call("move", game=game, move=rng.choice(state["legal"]))
            return state

    assert len(asyncio.run(play())["returns"]) == 2
