"""Let a scripted client finish games by text: over the text environment, the MCP server and TextArena.

python -m experiments.clients.text_games --games 100

The client reads what a language model reads, and answers with one of the moves listed there; now and then with
nonsense, which has to be refused without ending the game. MCP runs over standard input and output with a server of its
own.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.clients.page import add_row, check_results
from samurai_env.core.game import find_game, game_names
from samurai_env.language import TextEnv

NONSENSE = "move: resign"  # no game has this move


@dataclass
class Tally:
    """Counts of the games through one door.

    Attributes:
        finished: games that came to their end.
        replies: answers given.
        refused: those that were refused; as many as were nonsense, or something is wrong.
        nonsense: answers that named no move.
        seconds: wall-clock time.
    """

    finished: int = 0
    replies: int = 0
    refused: int = 0
    nonsense: int = 0
    seconds: float = 0.0


class ScriptedClient:
    """Answers with a listed move, at random, and with nonsense once in `every` replies."""

    def __init__(self, seed: int, tally: Tally, every: int = 25) -> None:
        self._rng, self._tally, self._every = random.Random(seed), tally, every

    def answer(self, legal: Sequence[str]) -> str:
        """The reply to a prompt that lists these moves."""
        self._tally.replies += 1
        if self._rng.randrange(self._every) == 0:
            self._tally.nonsense += 1
            return NONSENSE
        return f"I look at the position.\nmove: {self._rng.choice(legal)}"


def listed(prompt: str) -> list[str]:
    """The legal moves that a prompt names."""
    return prompt.rpartition("Legal now: ")[2].splitlines()[0].split(", ")


def players_of(game: str, number: int) -> int:
    """The number of players of a game: those allowed, from two on, take turns."""
    several = [n for n in find_game(game).players if n > 1]
    return several[number % len(several)]


def by_text(game: str, games: int) -> Tally:
    """Play every seat of the text environment."""
    tally = Tally()
    for seed in range(games):
        env = TextEnv(find_game(game).variant(players_of(game, seed)), seed)
        client = ScriptedClient(seed, tally)
        while not env.over:
            tally.refused += not env.reply(client.answer(listed(env.prompt()))).accepted
        tally.finished += bool(env.position.over)
    return tally


def by_textarena(game: str, games: int) -> Tally:
    """Play every player of a TextArena environment.

    Raises:
        ImportError: the package `textarena` is missing.
    """
    import textarena

    from samurai_env.language.textarena_env import IDS, register

    register()
    name, tally = next(name for name, of in IDS.items() if of == game), Tally()
    for seed in range(games):
        env, done, client = textarena.make(name), False, ScriptedClient(seed, tally)
        env.reset(num_players=players_of(game, seed), seed=seed)
        while not done:
            _, observation = env.get_observation()
            done, info = env.step(client.answer(listed("\n".join(text for _, text, _ in observation))))
            tally.refused += not info["accepted"]
        rewards, _ = env.close()
        tally.finished += len(rewards) == players_of(game, seed)
    return tally


Call = Callable[..., Awaitable[dict[str, Any]]]


async def _mcp_game(call: Call, game: str, seed: int, tally: Tally) -> None:
    players, client = players_of(game, seed), ScriptedClient(seed, tally)
    state = await call("new_game", variant=f"{game} players={players}", seed=seed, seat=seed % players)
    name = state["game"]
    while not state["over"]:
        state = await call("move", game=name, move=client.answer(state["legal"]))
        tally.refused += not state["accepted"]
    tally.finished += len(state["returns"]) == players


def by_mcp(game: str, games: int) -> Tally:
    """Play one seat over the Model Context Protocol; the server's random player has the others.

    Raises:
        ImportError: the package `mcp` is missing.
        RuntimeError: the server reported an error.
    """
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.types import TextContent

    tally = Tally()

    async def play() -> None:
        server = StdioServerParameters(command=sys.executable, args=["-m", "samurai_env.language.mcp_server"])
        errors = sys.__stderr__ or sys.stderr  # a file with a number, which sys.stderr of a test or a notebook has not
        async with stdio_client(server, errlog=errors) as (read, write), ClientSession(read, write) as session:
            await session.initialize()

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await session.call_tool(tool, arguments)
                content = result.content[0]
                assert isinstance(content, TextContent)
                text = content.text
                if result.is_error:
                    raise RuntimeError(text)
                found: dict[str, Any] = json.loads(text)
                return found

            for seed in range(games):
                await _mcp_game(call, game, seed, tally)

    asyncio.run(play())
    return tally


DOORS: dict[str, Callable[[str, int], Tally]] = {"text": by_text, "mcp": by_mcp, "textarena": by_textarena}


def row_of(door: str, game: str, games: int, tally: Tally) -> dict[str, Any]:
    """The counts kept of the games of one kind through one door: nothing that depends on the machine."""
    package = "samurai_env" if door == "text" else door
    counts = {"finished": tally.finished, "replies": tally.replies, "nonsense": tally.nonsense}
    return {
        **{"door": door, "version": f"{package} {version(package)}", "game": game, "games": games},
        **{**counts, "refused": tally.refused},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, print a line for each door and game; the exit status: 1 unless every game was finished as it should be."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.clients.text_games", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--games", type=int, default=100, help="games of each kind over each door (default 100)")
    parser.add_argument("--door", choices=DOORS, action="append", help="default: all")
    parser.add_argument("--game", choices=game_names(), action="append", help="default: all")
    parser.add_argument("--results", type=Path, help="JSON lines to which the counts are added")
    given = parser.parse_args(arguments)
    if given.games < 1:
        parser.error("--games is 1 or more")
    try:
        check_results(given.results)
    except ValueError as error:
        parser.error(str(error))
    status = 0
    for door in given.door or DOORS:
        for game in given.game or game_names():
            began = time.perf_counter()
            try:
                tally = DOORS[door](game, given.games)
            except ImportError as error:
                parser.error(f"--door {door} needs the package {error.name}: pip install {error.name}")
            tally.seconds = time.perf_counter() - began
            right = tally.finished == given.games and tally.refused == tally.nonsense
            status |= not right
            print(
                f"{door}, {game}: {tally.finished} of {given.games} games finished, {tally.replies:,} replies, "
                f"{tally.refused} refused of {tally.nonsense} without a move, {tally.seconds:.0f} s"
                f"{'' if right else ' - WRONG'}",
                flush=True,
            )
            if given.results is not None:
                add_row(given.results, row_of(door, game, given.games, tally))
    return status


if __name__ == "__main__":
    sys.exit(main())
