"""The tables of a server, what opens them, and the agents that play at them."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from agents.spec import parse_agent_spec
from experiments.web import workers
from experiments.web.requests import Refused
from experiments.web.store import Store
from experiments.web.table import PERSON, Table, packed_view, view
from samurai_env import Variant, find_game, game_names
from samurai_env.core.texts import one_line

MOST_TABLES = 1000
LEFT_ALONE = 7 * 86400.0  # seconds without a visit after which a table with people may go, if there are too many
RETRY, LONGEST_PAUSE = 10.0, 600.0  # seconds until an agent that failed is asked again: at first, and at most
VIEWS_KEPT = 500  # of about 20 kB
DRAWN_AT_ONCE = 8  # pictures, those that wait for the thread among them
T = TypeVar("T")
LOG = logging.getLogger("samurai_env.web")


@dataclass(frozen=True)
class Settings:
    """Settings of a server.

    Attributes:
        agents: specs that may be chosen on the page; nothing else can be named there.
        store: file of the tables.
        processes: for agents.
        folders: of training runs and tournaments, which the page shows.
        hosts: names under which the server answers; ("*",) for all.
    """

    agents: tuple[str, ...]
    store: Path
    processes: int = 2
    folders: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost")


class Server:
    """All tables, by what opens them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = Store(settings.store)
        self.workers = workers.Workers(settings.processes)
        self.tables: dict[str, Table] = {}
        self.doors: dict[str, tuple[Table, int | None]] = {}  # by token: the table, and the seat (None sees all)
        self.changed: dict[str, asyncio.Event] = {}
        self.driving: dict[str, asyncio.Task[None]] = {}
        self.warm: set[str] = set()  # specs of the variants that are compiled
        self._stored = list(self.store.tables())  # before there are new ones
        self.opened = asyncio.Event()  # when the tables of the file are there
        self.views: dict[tuple[object, ...], asyncio.Future[bytes]] = {}  # the last ones, by all that they depend on
        self._painter = ThreadPoolExecutor(1, "views")
        self._drawer = ThreadPoolExecutor(1, "pictures")
        self._drawing = 0  # pictures that are drawn or wait

    async def open_stored(self) -> None:
        """Take in the tables of the file; the server answers meanwhile."""
        for name in game_names():
            await asyncio.to_thread(find_game, name)  # the first page wants to know them
        try:
            for row in self._stored:
                try:
                    table = await asyncio.to_thread(Table.restore, *row)
                    self._check_agents(table)
                    self._open(table)
                    self.drive(table)
                except Exception as error:
                    LOG.warning("a stored table cannot be opened: %s", one_line(f"{type(error).__name__}: {error}"))
        finally:
            self.opened.set()  # who waits for a table hears that it is not there

    def _check_agents(self, table: Table) -> None:
        """Refuse agents of other modules that were not named to this server: a stored table runs no code.

        Raises:
            ValueError: names one.
        """
        for player in table.players:
            if player not in (PERSON, *self.settings.agents) and parse_agent_spec(player).is_external:
                raise ValueError(f"{one_line(player, 60)} is not among --agents")

    async def find(self, token: str) -> tuple[Table, int | None]:
        """The table and the seat that a token opens; None for the seat that sees all.

        Raises:
            Refused: no such token.
        """
        if token not in self.doors:
            await self.opened.wait()
        if token not in self.doors:
            raise Refused(403, "this link opens no table; perhaps it was cut off, or nobody came for long")
        table, seat = self.doors[token]
        table.visited = time.time()
        return table, seat

    def close(self) -> None:
        """End everything that goes on."""
        for task in self.driving.values():
            task.cancel()
        for pool in (self._painter, self._drawer):
            pool.shutdown(wait=False, cancel_futures=True)
        self.workers.close()
        self.store.close()

    def _open(self, table: Table) -> None:
        self.tables[table.name] = table
        self.changed[table.name] = asyncio.Event()
        for seat, token in enumerate(table.tokens):
            if token:
                self.doors[token] = table, seat
        if table.watch:
            self.doors[table.watch] = table, None

    def add(self, table: Table) -> None:
        """Take in a new table; if there are too many, the one that was not visited for longest goes.

        A game that people play stays until nobody has visited it for `LEFT_ALONE`.

        Raises:
            Refused: there are too many such games.
        """
        if len(self.tables) >= MOST_TABLES:
            since = time.time() - LEFT_ALONE
            idle = [t for t in self.tables.values() if not t.has_people or t.position.over or t.visited < since]
            if not idle:
                raise Refused(503, f"{MOST_TABLES:,} tables are in use; try again later")
            self.remove(min(idle, key=lambda table: table.visited))
        self.store.add_table(table.name, table.created, table.head(), table.actions)
        self._open(table)
        self.drive(table)

    def remove(self, table: Table) -> None:
        """Forget a table."""
        self.store.remove(table.name)
        for token in (*table.tokens, table.watch):
            self.doors.pop(token, None)
        if task := self.driving.pop(table.name, None):
            task.cancel()
        del self.tables[table.name]
        self.changed.pop(table.name).set()

    def play(self, table: Table, seat: int, action: int, count: int) -> None:
        """Carry out a decision (`Table.play`), write it down and tell everybody.

        Raises:
            TableError, IllegalActionError: as `Table.play`.
            sqlite3.Error: it cannot be written down; it is not made.
        """
        table.play(seat, action, count)
        try:
            self.store.add_decision(table.name, count, table.actions[-1])
        except BaseException:
            table.forget_last()
            raise
        table.error = table.reason = ""
        self.tell(table)

    def tell(self, table: Table) -> None:
        """Wake those that wait for news of a table."""
        event, self.changed[table.name] = self.changed[table.name], asyncio.Event()
        event.set()

    def drive(self, table: Table) -> None:
        """Let the agents of a table play, if one is to move and none thinks yet."""
        task = self.driving.get(table.name)
        if (task is None or task.done()) and table.to_move not in ("", PERSON):
            self.driving[table.name] = asyncio.create_task(self._drive(table))

    async def _drive(self, table: Table) -> None:
        pause = RETRY
        while table.to_move not in ("", PERSON):
            position = table.position
            try:
                action = await self.think(workers.choose, table.to_move, position.save(), table.salt)
                self.play(table, position.seat, action, len(table.actions))
                pause = RETRY
            except asyncio.CancelledError:
                raise
            except Exception as error:
                table.error = f"{table.to_move} cannot go on; it is asked again from time to time"
                table.reason = f" ({one_line(error)})"
                table.version += 1
                LOG.exception("agent %s failed", table.to_move)
                self.tell(table)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def think(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do something in a process of the agents; once more if that was killed."""
        for last in (False, True):
            try:
                return await asyncio.wrap_future(self.workers.submit(work, *arguments))
            except BrokenProcessPool:
                if last:
                    raise
        return None

    async def view(self, table: Table, viewer: int | None, ply: int | None = None) -> bytes:
        """`table.view` as JSON, gzipped; made in a thread, and once for all that ask for the same."""
        key = table.name, table.version, viewer, ply
        if key not in self.views:
            await self.warmed_up(table.variant)
            key = table.name, table.version, viewer, ply
        if key not in self.views:
            loop = asyncio.get_running_loop()
            self.views[key] = loop.run_in_executor(self._painter, packed_view, table.snapshot(), viewer, ply)
            self.views[key].add_done_callback(lambda made: self._forget_failed(key, made))
            if len(self.views) > VIEWS_KEPT:
                del self.views[next(iter(self.views))]
        return await asyncio.shield(self.views[key])

    def _forget_failed(self, key: tuple[Any, ...], made: asyncio.Future[bytes]) -> None:
        """Make a view again for the next that asks for it if this one could not be made."""
        if self.views.get(key) is made and (made.cancelled() or made.exception()):
            del self.views[key]

    async def draw(self, work: Callable[[], T]) -> T:
        """Make a picture in the one thread for them: a film takes half a minute and a hundred MB.

        Raises:
            Refused: too many wait for theirs.
        """
        if self._drawing >= DRAWN_AT_ONCE:
            raise Refused(503, "too many pictures are being drawn; try again in a minute")
        self._drawing += 1
        drawn = asyncio.get_running_loop().run_in_executor(self._drawer, work)
        drawn.add_done_callback(lambda _: setattr(self, "_drawing", self._drawing - 1))
        return await asyncio.shield(drawn)

    async def warmed_up(self, variant: Variant) -> None:
        """Come back when the rules of a variant are compiled, which takes a minute the first time on a machine."""
        if variant.spec not in self.warm:
            await asyncio.to_thread(warm_up, variant)
            self.warm.add(variant.spec)


def warm_up(variant: Variant) -> None:
    """Compile all that a table calls."""
    table = Table.new(variant, [PERSON] * variant.num_players)
    seat = table.position.seat
    table.play(seat, table.position.legal_actions()[0], 0)
    for viewer in (seat, table.position.seat, None):
        view(table, viewer)
    table.position.determinized(0, np.zeros(1, np.uint64)).observe(0)
    table.position.returns()
