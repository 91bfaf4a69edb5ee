"""A table in the browser: play, watch, replay and analyse any game.

    samurai-env web

Opens the page in a browser. Tables are kept in a file, so that the server can be stopped at any time and goes on with
each of them.
"""

import ipaddress
import os
import socket
import sqlite3
import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console

from agents.registry import make_agent
from agents.settings import Range
from agents.spec import parse_agent_spec
from experiments.common.cli import run_program
from experiments.common.ranges import check_ranges
from samurai_env import find_game, game_names
from samurai_env.core.texts import shown

CONNECTIONS = 8000  # at once, as far as the system lets a process have; more are answered 503
FILES = 200  # that the server has open besides
LOCAL = ("127.0.0.1", "localhost", "[::1]")  # names of this machine in requests


@dataclass
class Config:
    """Settings of the server."""

    agents: tuple[str, ...] = ("random", "greedy", "mcts:100", "mcts:1000")
    """Specs of the agents that the page offers, weak to strong; the last is the judge if none is chosen."""
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets others in."""
    port: Annotated[int, Range(1, 65535)] = 8000
    """Port to listen on."""
    store: Path = Path("runs/web.sqlite")
    """File that keeps the tables."""
    processes: Annotated[int, Range(1, 256)] = 2
    """Processes in which the agents think."""
    folders: tuple[Path, ...] = ()
    """Folders of training runs and tournaments, whose curves and tables the page shows as they grow."""
    open: bool = True
    """Open the page in a browser."""


def main(config: Config, console: Console | None = None) -> None:
    """Serve until Ctrl-C."""
    try:
        import uvicorn

        from experiments.web.app import make_app
        from experiments.web.server import Settings
        from experiments.web.store import Store
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the page needs {error.name}, of the extra web: pip install -e '.[web]' in a clone (docs: Install)"
        ) from None
    check_ranges(config)
    console = console or Console()
    if not config.agents:
        raise ValueError("--agents must name at least one agent")
    for spec in config.agents:
        check_agent(spec)
    for folder in config.folders:
        if not folder.is_dir():
            raise ValueError(f"--folders: {shown(str(folder), 120)} is not a folder (of runs and tournaments)")
    check_address(config.host, config.port)
    config.store.parent.mkdir(parents=True, exist_ok=True)
    try:
        store = Store(config.store)
        for _ in store.tables():
            pass  # damage shows when it is read
        store.close()
    except sqlite3.Error as error:
        reason = "another server uses it; --store names another file" if "locked" in str(error) else error
        raise ValueError(f"--store {shown(str(config.store), 120)} cannot keep tables: {reason}") from None
    names = host_names(config.host)
    app = make_app(Settings(config.agents, config.store, config.processes, config.folders, names))
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.host, config.host)
    address = f"http://{f'[{host}]' if ':' in host else host}:{config.port}/"
    console.print(f"{address}   (Ctrl-C ends)", highlight=False)
    if config.open:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    uvicorn.run(
        app,
        host=config.host,
        port=config.port,
        log_level="warning",
        limit_concurrency=connections(),
        server_header=False,
        timeout_graceful_shutdown=1,  # pages wait for news much longer; they come back to the next server
    )


def connections() -> int:
    """How many connections the server may have at once, after raising the limit of open files that often allows 1,024.

    Browsers keep connections open, and idle ones should keep nobody from playing.
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + FILES
    if 0 <= soft < wanted:
        soft = wanted if hard < 0 else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return CONNECTIONS if soft < 0 else max(1, min(CONNECTIONS, soft - FILES))


def host_names(host: str) -> tuple[str, ...]:
    """Names under which a server on an address answers; all of them if others than this machine reach it."""
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    return (*LOCAL, host) if local else ("*",)


def check_address(host: str, port: int) -> None:
    """Refuse an address where the server cannot listen, before it announces one.

    Raises:
        ValueError: says why.
    """
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        number = error.errno or 0  # below 0 if the name of the host is not known
        reason = (os.strerror(number) if number > 0 else str(error.strerror)).lower()
        raise ValueError(f"cannot listen on {shown(host)}, port {port}: {reason}; --port names another") from None


def check_agent(spec: str) -> None:
    """Refuse a spec of an agent that plays none of the games, or of one that cheats.

    Agents of other modules and programs begin only when they are to play.

    Raises:
        FileNotFoundError: the spec names a file that does not exist.
        ValueError: says what is wrong with it.
    """
    parsed = parse_agent_spec(spec)
    if parsed.cheats:  # its hints would tell a seat what the seat may not know
        raise ValueError(f"{shown(spec)} sees hidden cards: leave out cheating=1")
    if parsed.is_external or parsed.name == "exec":
        return
    refused: list[Exception] = []
    for game in map(find_game, game_names()):
        for players in game.players:
            try:
                make_agent(spec, game.variant(players))
                return
            except (OSError, ValueError) as error:
                refused.append(error)
    raise refused[0]


if __name__ == "__main__":
    run_program("experiments.web", Config, main, __doc__)
