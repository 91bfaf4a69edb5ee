"""A server on a free port of this machine, in a thread, for tests over real HTTP."""

import http.client
import json
import threading
import time
from contextlib import contextmanager

import uvicorn

from experiments.web.app import make_app
from experiments.web.server import Settings


class Served:
    """A running server, and requests to it."""

    def __init__(self, port, app):
        self.port, self.app = port, app

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/"

    @property
    def server(self):
        return self.app.state.server

    def raw(self, method, path, body=None, headers=None):
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=400)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def call(self, path, token=None, body=None, status=None):
        """The JSON of an answer; its status must be `status`, or tell of success."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        sent = json.dumps(body) if body is not None else None
        found, _, answer = self.raw("POST" if body is not None else "GET", f"/api/{path}", sent, headers)
        assert found == status if status else found in (200, 201), (found, answer[:300])
        return json.loads(answer) if found != 500 else None

    def new(self, variant, *players):
        return self.call("tables", body={"variant": variant, "players": list(players)})


@contextmanager
def served(store, agents=("random", "greedy", "mcts:20"), in_process=True, folders=()):
    """A server; its agents think in this process unless told otherwise."""
    app = make_app(Settings(tuple(agents), store, 1, tuple(folders)))
    # At the end, requests that wait for news are cut off after a second, which uvicorn logs as errors.
    config = uvicorn.Config(app, port=0, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    running = Served(server.servers[0].sockets[0].getsockname()[1], app)
    if in_process:
        alone = threading.Lock()  # an agent thinks about one position at a time, as in a process of its own

        def one_by_one(work, *arguments):
            with alone:
                return work(*arguments)

        async def think(work, *arguments):
            import asyncio

            return await asyncio.to_thread(one_by_one, work, *arguments)

        running.server.think = think
    try:
        yield running
    finally:
        server.should_exit = True
        thread.join(30)
