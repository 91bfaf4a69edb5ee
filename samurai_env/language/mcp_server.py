"""An MCP server: language models play over the Model Context Protocol (extra `language`).

    python -m samurai_env.language.mcp_server --opponent greedy

Tools: `new_game`, `state`, `move`, `variants`. It speaks over standard input and output, as MCP clients start it.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.metadata import version
from typing import Any

from samurai_env.agent_api import Agent, decision_keys
from samurai_env.core.game import Variant, find_game, game_names
from samurai_env.language.sessions import Chooser, GameSessions, random_player
from samurai_env.position import Position


def playable() -> list[tuple[str, int]]:
    """The games by name, with each number of players."""
    return [(name, players) for name in game_names() for players in find_game(name).players]


def agent_player(spec: str) -> Chooser:
    """Make decisions by the agent of a spec, one for each variant that is played.

    Raises:
        OSError: the spec names a file that does not exist.
        ValueError: the agents cannot be imported, or no game has an agent of this spec.
    """
    try:
        make_agent = import_module("samurai_env.agents").make_agent
    except ImportError as error:
        raise ValueError(f"opponent {spec!r} needs the package agents: {error}") from None
    made: dict[Variant, Agent] = {}
    wrong: Exception | None = None
    for game, players in playable():
        variant = find_game(game).variant(players)
        try:
            made[variant] = make_agent(spec, variant)
            break
        except (OSError, ValueError) as error:
            wrong = wrong or error
    else:
        assert wrong is not None
        raise wrong

    def choose(position: Position) -> int:
        variant = position.variant
        if variant not in made:
            made[variant] = make_agent(spec, variant)
        states = position.states
        return int(made[variant].act(states, decision_keys(states["seed"], states["steps"]))[0])

    return choose


def make_server(sessions: GameSessions) -> Any:
    """Make the server (`mcp.server.MCPServer`) that plays at these sessions.

    Raises:
        ImportError: the package `mcp` is missing; the text says how to install it.
    """
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise ImportError("the MCP server needs the package mcp: pip install 'mcp>=2'") from None

    def with_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
        """Send the text of an error to the model, which may try again."""

        @wraps(tool)
        def run(*args: Any, **kwargs: Any) -> Any:
            try:
                return tool(*args, **kwargs)
            except (TypeError, ValueError) as error:
                raise ToolError(str(error)) from None

        return run

    server = MCPServer(
        "samurai_env",
        version=version("samurai-env"),
        instructions="Board games. Begin with new_game, then answer with move until `over` is true.",
    )
    for tool in (sessions.new_game, sessions.state, sessions.move):
        server.tool()(with_errors(tool))

    @server.tool()
    def variants() -> list[str]:
        """The games with their numbers of players, as `new_game` takes them."""
        return [f"{game} players={players}" for game, players in playable()]

    return server


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve over standard input and output."""
    parser = argparse.ArgumentParser(prog="samurai_env.language.mcp_server", description=__doc__.splitlines()[0])
    parser.add_argument("--opponent", default="random", help="agent that plays the other seats, such as mcts:100")
    opponent = parser.parse_args(arguments).opponent
    try:
        others = random_player if opponent == "random" else agent_player(opponent)
        server = make_server(GameSessions(others))
    except (ImportError, OSError, ValueError) as error:
        parser.error(str(error))
    server.run()


if __name__ == "__main__":
    main()
