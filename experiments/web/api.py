"""The requests of a server: what each answers, for whoever has the token of a view."""

import asyncio
import gzip
from typing import Any

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from experiments.web import editing, progress, workers
from experiments.web.requests import Refused, query_number, read_body, read_json, whole
from experiments.web.server import LOG, Server
from experiments.web.table import PERSON, Table, TableError, entries, seen
from samurai_env import IllegalActionError, Position, display, find_game, game_names
from samurai_env.core.texts import one_line
from samurai_env.editors.editor import EDITORS
from samurai_env.game_record import GameRecord

LONG_POLL = 20.0  # seconds that a request for news waits


class Api:
    """The requests of a server; `experiments.web.app` has their addresses."""

    def __init__(self, server: Server) -> None:
        self.server, self.settings, self.store = server, server.settings, server.store

    async def door(self, request: Request) -> tuple[Table, int | None]:
        """The table and the seat that a request's token opens.

        Raises:
            Refused: no such token.
        """
        word, _, token = request.headers.get("authorization", "").partition(" ")
        return await self.server.find(token if word.lower() == "bearer" else "")

    async def open_door(self, request: Request) -> Table:
        """The table of a request that may see everything.

        Raises:
            Refused: the game is not over, and a seat looks.
        """
        table, viewer = await self.door(request)
        if viewer is not None and not table.position.over:
            raise Refused(403, "this shows what seats may not know; it is open when the game is over")
        return table

    async def show(self, request: Request, table: Table, viewer: int | None, ply: int | None = None) -> Response:
        """Answer with a view."""
        packed = await self.server.view(table, viewer, ply)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
            return Response(packed, headers=headers, media_type="application/json")
        return Response(gzip.decompress(packed), media_type="application/json")

    async def offers(self, request: Request) -> Response:
        """The games, their options, and the agents."""
        games = await asyncio.to_thread(lambda: [offer(name) for name in game_names()])
        return JSONResponse({"games": games, "agents": self.settings.agents, "editable": list(EDITORS)})

    async def strengths(self, request: Request) -> Response:
        """Strengths that the leaderboard measured of the agents in a variant."""
        asked = {"variant": request.query_params.get("variant", "")}
        variant = await asyncio.to_thread(editing.asked_variant, asked)
        return JSONResponse(await asyncio.to_thread(progress.strengths, variant, self.settings.agents))

    async def rules(self, request: Request) -> Response:
        """The rules of a game on one page, as HTML."""
        name = request.query_params.get("game", "")
        try:
            summary = find_game(name).rules_summary()
        except ValueError as error:
            raise Refused(404, one_line(error)) from None
        html = MarkdownIt("commonmark", {"html": False}).enable("table").render(summary)
        return JSONResponse({"html": html or "<p>There is no page of rules.</p>"})

    def _checked_players(self, players: object, number: int) -> list[str]:
        if not isinstance(players, list) or not all(isinstance(player, str) for player in players):
            raise Refused(400, "players is a list of texts")
        if len(players) != number:
            raise Refused(400, f"this variant has {number} players, not {len(players)}")
        for player in players:
            if player != PERSON and player not in self.settings.agents:
                raise Refused(400, f"agent {one_line(player, 60)} is not offered by this server")
        return players

    async def new_table(self, request: Request) -> Response:
        """A new table with a fresh deal."""
        body = await read_json(request)
        variant = await asyncio.to_thread(editing.asked_variant, body)
        players = self._checked_players(body.get("players"), variant.num_players)
        await self.server.warmed_up(variant)
        table = Table.new(variant, players)
        self.server.add(table)
        return JSONResponse(links(table), 201)

    async def edit(self, request: Request) -> Response:
        """A position that is being set up: its picture, what can be set, and why it is impossible."""
        return JSONResponse(await asyncio.to_thread(editing.edited, await read_json(request)))

    async def new_position(self, request: Request) -> Response:
        """A table that goes on from a position; without players, one to analyse it."""
        body = await read_json(request)
        position = await asyncio.to_thread(editing.asked_position, body)
        variant = position.variant
        players = [""] * variant.num_players
        if "players" in body:
            players = self._checked_players(body["players"], variant.num_players)
        await self.server.warmed_up(variant)
        table = Table.new(variant, players, position.seed, position.to_text())
        self.server.add(table)
        return JSONResponse(links(table), 201)

    async def position(self, request: Request) -> Response:
        """A position as text; within a move the one before it, since a table begins between moves."""
        table, ply = await self.open_door(request), query_number(request, "ply")
        ply = len(table.actions) if ply is None else min(ply, len(table.actions))
        if table.positions[ply].mid_move:
            ply = table.move_start(ply)
        return JSONResponse({"position": table.positions[ply].to_text()})

    async def boards(self, request: Request) -> Response:
        """The tables of tournaments that may be shown, or one of them."""
        found = await asyncio.to_thread(progress.boards, self.settings.folders)
        name = request.query_params.get("name")
        if name is None:
            return JSONResponse({"boards": [{"name": name, "title": board.title} for name, board in found.items()]})
        if name not in found:
            raise Refused(404, f"there is no table {one_line(name, 60)}")
        try:
            return JSONResponse(await asyncio.to_thread(progress.table_of, name, found[name]))
        except (OSError, ValueError) as error:
            raise Refused(409, one_line(error)) from None

    async def games(self, request: Request) -> Response:
        """The games behind a cell of a tournament's table."""
        board, one, other = await asyncio.to_thread(self._cell, dict(request.query_params))
        offered = {one, other} <= set(self.settings.agents)
        try:
            games = await asyncio.to_thread(progress.games_of, board.folder, one, other, board.rule)
        except (OSError, ValueError) as error:
            raise Refused(409, one_line(error)) from None
        return JSONResponse({"games": games, "offered": offered})

    def _cell(self, asked: dict[str, Any]) -> tuple[progress.Board, str, str]:
        boards = progress.boards(self.settings.folders)
        name, one, other = (asked.get(key) for key in ("name", "one", "other"))
        if not isinstance(name, str) or name not in boards:
            raise Refused(404, f"there is no table {one_line(name, 60)}")
        return boards[name], str(one), str(other)

    async def again(self, request: Request) -> Response:
        """A game of a tournament, played again on its deal by the same agents."""
        body = await read_json(request)
        board, one, other = await asyncio.to_thread(self._cell, body)
        for agent in (one, other):
            if agent not in self.settings.agents:
                raise Refused(400, f"agent {one_line(agent, 60)} is not offered by this server, so it cannot play here")
        deal, seat = whole(body, "deal", 0, 2**53), whole(body, "seat", 0, 15)
        try:
            game = await asyncio.to_thread(progress.game_of, board.folder, one, other, deal, seat, board.rule)
        except (OSError, ValueError) as error:
            raise Refused(409, one_line(error)) from None
        await self.server.warmed_up(game.variant)
        table = Table.new(game.variant, game.players, game.seed, salts=game.salts)
        self.server.add(table)
        return JSONResponse(links(table), 201)

    async def runs(self, request: Request) -> Response:
        """The curves of training runs, as far as they have come."""
        return JSONResponse({"runs": await asyncio.to_thread(progress.runs, self.settings.folders)})

    async def branch(self, request: Request) -> Response:
        """A new table that goes on from a position of this one."""
        source, body = await self.open_door(request), await read_json(request)
        ply = whole(body, "ply", 0, len(source.actions))
        players = self._checked_players(body.get("players"), source.variant.num_players)
        table = Table.new(source.variant, players, source.seed, source.start)
        table = Table.restore(table.name, table.created, table.head(), source.actions[:ply])
        self.server.add(table)
        return JSONResponse(links(table), 201)

    async def new_record(self, request: Request) -> Response:
        """A table for a record that is dropped on the page."""
        try:
            record = await asyncio.to_thread(GameRecord.parse, (await read_body(request)).decode("utf-8"))
        except UnicodeDecodeError:
            raise Refused(400, "this file is not a text, so no game record") from None
        except ValueError as error:
            raise Refused(400, one_line(error)) from None
        await self.server.warmed_up(record.variant)
        table = Table.of_record(record)
        self.server.add(table)
        return JSONResponse(links(table), 201)

    async def view(self, request: Request) -> Response:
        """A view; with `since`, as soon as there is a newer one, or after a while."""
        table, viewer = await self.door(request)
        since = query_number(request, "since")
        if since is not None and since == table.version:
            try:
                await asyncio.wait_for(self.server.changed[table.name].wait(), LONG_POLL)
            except TimeoutError:
                return Response(status_code=204)
            table, viewer = await self.door(request)
        return await self.show(request, table, viewer, query_number(request, "ply"))

    async def play(self, request: Request) -> Response:
        """A decision of a person."""
        body = await read_json(request)
        table, seat = await self.door(request)  # after the body, which may come slowly
        if seat is None:
            raise Refused(403, "this link watches; it cannot play")
        action, count = whole(body, "action", 0, table.variant.num_actions - 1), whole(body, "count", 0, 10**6)
        try:
            self.server.play(table, seat, action, count)
        except (TableError, IllegalActionError) as error:
            raise Refused(409, one_line(error)) from None
        self.server.drive(table)
        return await self.show(request, table, seat)

    async def take_back(self, request: Request) -> Response:
        """Take back a half-made move."""
        table, seat = await self.door(request)
        if seat is None:
            raise Refused(403, "this link watches; it cannot play")
        try:
            self.store.cut(table.name, table.taken_back(seat))
            table.take_back(seat)
        except TableError as error:
            raise Refused(409, one_line(error)) from None
        self.server.tell(table)
        return await self.show(request, table, seat)

    async def hint(self, request: Request) -> Response:
        """The action of an agent in the seat's place; agents use only what the seat may know."""
        judge = self._judge(await read_json(request))
        table, seat = await self.door(request)  # after the body, which may come slowly: others may move meanwhile
        if seat is None or table.position.over or table.position.seat != seat:
            raise Refused(409, "a hint is for the seat to move")
        position, count = table.positions[-1], len(table.actions)  # while the agent thinks, the seat may go on
        found = await self._judged(judge, position)
        told = {"actions": found["actions"]}  # nothing else, which may depend on what the seat does not know
        return JSONResponse({"count": count, **named(position, told)})

    async def _judged(self, judge: str, position: Position) -> dict[str, Any]:
        """The judgement of an agent. Why it has none is for the log: it may name what is hidden."""
        try:
            found: dict[str, Any] = await self.server.think(workers.judge, judge, position.save())
        except Exception:
            LOG.exception("agent %s failed", judge)
            raise Refused(409, f"{judge} cannot judge this position") from None
        return found

    def _judge(self, body: dict[str, Any]) -> str:
        judge = body.get("judge", self.settings.agents[-1])
        if judge not in self.settings.agents:
            raise Refused(400, f"agent {one_line(str(judge), 60)} is not offered by this server")
        return str(judge)

    async def analyse(self, request: Request) -> Response:
        """An agent's judgement of one position of a game that lies open."""
        body = await read_json(request)
        table = await self.open_door(request)
        position = table.positions[whole(body, "ply", 0, len(table.actions))]
        if position.over:
            values = [float(value) for value in position.returns()]
            told = {"chances": chances_of(position, values), "actions": [], "line": []}
            return JSONResponse({"seat": position.seat, **told})
        found = await self._judged(self._judge(body), position)
        found["line"] = line_of(position, found["line"])
        for judged in (found, *found["actions"]):
            values = judged.pop("values")
            judged["chances"] = None if values is None else chances_of(position, values)
        return JSONResponse({"seat": position.seat, **named(position, found)})

    async def record(self, request: Request) -> Response:
        """The game record."""
        table = await self.open_door(request)
        return PlainTextResponse(await asyncio.to_thread(lambda: table.snapshot().record().to_text()))

    async def film(self, request: Request) -> Response:
        """The whole game as an animated GIF, or as a page that steps through it."""
        table = await self.open_door(request)
        kept = table.snapshot()
        if request.query_params.get("form") == "html":
            text = await self.server.draw(lambda: kept.record().to_html())
            return Response(text, media_type="application/octet-stream")  # to be saved, not shown on this site
        from samurai_env.display.pixels import gif

        pixels = await self.server.draw(lambda: gif(step.scene for step in kept.record().steps()))
        return Response(pixels, media_type="image/gif")

    async def picture(self, request: Request) -> Response:
        """A position as SVG or PNG, as the viewer may see it."""
        table, viewer = await self.door(request)
        kept, ply = table.snapshot(), query_number(request, "ply")
        if request.query_params.get("form") != "png":
            text = await self.server.draw(lambda: display.svg(seen(kept, viewer, ply)))
            return Response(text, media_type="image/svg+xml")
        pixels = await self.server.draw(lambda: display.png(seen(kept, viewer, ply), 2.0))
        return Response(pixels, media_type="image/png")


def offer(name: str) -> dict[str, Any]:
    """A game and its options."""
    game = find_game(name)
    options = [
        {
            "name": key,
            "meaning": option.meaning,
            "values": [option.text(value) for value in option.values],
            "default": option.text(option.default),
        }
        for key, option in game.options.items()
    ]
    return {"name": name, "title": game.title, "players": game.players, "options": options}


def links(table: Table) -> dict[str, Any]:
    """The tokens that open a new table."""
    return {"seats": table.tokens, "watch": table.watch, "players": table.players}


def chances_of(position: Position, returns: list[float]) -> list[float]:
    """Each seat's chance to win (share of a win) that expected returns stand for, 0 to 1."""
    seats = position.variant.num_players
    if position.variant.game.cooperative:
        return [min(1.0, max(0.0, value)) for value in returns]
    return [min(1.0, max(0.0, (value * (seats - 1) + 1) / seats)) for value in returns]


def line_of(position: Position, actions: list[int]) -> list[dict[str, Any]]:
    """Actions one after the other, as `entries` has them, each with its seat."""
    at, found = position.clone(), []
    for action in actions:
        [entry] = entries(at.variant, at.variant.game.scene(at.state, at.seat), [action])
        found.append({"seat": at.seat, **entry})
        at.step(action)
    return found


def named(position: Position, found: dict[str, Any]) -> dict[str, Any]:
    """A judgement with the actions in words."""
    scene = position.variant.game.scene(position.state, position.seat)
    words = entries(position.variant, scene, [entry["id"] for entry in found["actions"]])
    return {**found, "actions": [{**entry, **word} for entry, word in zip(found["actions"], words, strict=True)]}
