"""The application: addresses, headers and static files."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from experiments.web.api import Api
from experiments.web.requests import Refused, refuse
from experiments.web.server import Server, Settings
from samurai_env.display.palette import css_classes, css_variables
from samurai_env.display.pixels import FONTS

STATIC = Path(__file__).parent / "static"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
# By address below /api: methods of `Api`.
POSTS = {
    "tables": "new_table",
    "branch": "branch",
    "records": "new_record",
    "play": "play",
    "undo": "take_back",
    "hint": "hint",
    "analyse": "analyse",
    "edit": "edit",
    "positions": "new_position",
    "again": "again",
}
GETS = ("offers", "view", "record", "rules", "film", "picture", "position", "strengths", "boards", "games", "runs")


class SecurityHeaders:
    """Adds `HEADERS` to every answer of the application, and keeps what a token opens out of caches."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                files = scope["path"].startswith(("/static", "/fonts"))
                extra = {**HEADERS, "Cache-Control": "no-cache" if files else "no-store"}
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in extra.items()),
                ]
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)


def from_own_page(request: Request) -> bool:
    """Whether no other page sent a request; over plain http, browsers name the origin alone."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site in ("none", "same-origin")
    return origin is None or origin.partition("://")[2] == request.headers.get("host")


def make_app(settings: Settings) -> Starlette:
    """The application; `app.state.server` is its `Server`."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        server = app.state.server = Server(settings)
        app.state.api = Api(server)
        opening = asyncio.create_task(server.open_stored())
        yield
        opening.cancel()
        server.close()

    def call(name: str, changes: bool = False) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            if changes and not from_own_page(request):
                raise Refused(403, "only this server's own page may do that")  # not one that is open beside it
            return await getattr(request.app.state.api, name)(request)

        return endpoint

    async def page(request: Request) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html; charset=utf-8")

    async def colors(request: Request) -> Response:
        light, dark = css_variables(), css_variables(dark=True)
        text = f':root {{ {light} }}\n[data-theme="dark"] {{ {dark} }}\n{css_classes()}\n'
        return Response(text, media_type="text/css; charset=utf-8")

    routes: list[Any] = [Route("/", page), Route("/static/palette.css", colors)]
    routes += [Route(f"/api/{path}", call(name, changes=True), methods=["POST"]) for path, name in POSTS.items()]
    routes += [Route(f"/api/{name}", call(name)) for name in GETS]
    routes += [Mount("/static", StaticFiles(directory=STATIC)), Mount("/fonts", StaticFiles(directory=FONTS))]
    middleware = [
        Middleware(SecurityHeaders),
        Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts)),
        Middleware(GZipMiddleware, minimum_size=1000, compresslevel=4),
    ]
    return Starlette(routes=routes, middleware=middleware, exception_handlers={Refused: refuse}, lifespan=lifespan)
