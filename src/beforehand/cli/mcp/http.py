"""Beforehand's MCP server over HTTP: one path, let in by the same rules as the server's own API.

Without tokens only this machine's users come in; with tokens a viewer may look and an operator hand plans in. Another
site's page never comes in, whatever it asks.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from beforehand import __version__
from beforehand.adapters.mcp.serving import PATH, http_app
from beforehand.app.crafts import load_crafts
from beforehand.app.tls import server_tls
from beforehand.app.tokens import Tokens
from beforehand.cli.mcp.home_access import HomeAccess
from beforehand.cli.mcp.offer import offer_of
from beforehand.model.errors import NotFoundError
from beforehand.server.auth import AuthMiddleware, shown_token
from beforehand.server.errors import problem
from beforehand.server.listening import Listener, bind, is_local, url_of
from beforehand.server.middleware import RequestMiddleware
from beforehand.server.serve import refuse_without_tokens, renewing


async def serve_http(access: HomeAccess, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until cancelled; `ready` is called with the URL once it listens.

    BadInputError when the address cannot be used, or when others can reach it and no token is set.
    """

    def access_for(request: Any) -> HomeAccess:
        caller = request.state.caller
        return access.for_caller(caller.name, caller.role, shown_token(request.headers))

    tls = server_tls(access.settings)
    with closing(bind(host, port)) as bound:
        if not is_local(bound):
            refuse_without_tokens(access.settings, host)

        async def started() -> None:
            ready(url_of(bound, "https" if tls else "http") + PATH)

        async with http_app(offer_of(load_crafts(), access_for), __version__) as served, renewing(tls):
            app = guarded(served, Tokens(access.settings), host, is_local(bound))
            shown = tls.context if tls else None
            await Listener(app, started=started, stopping=lambda: None, tls=shown).serve(sockets=[bound])


def guarded(served: ASGIApp, tokens: Tokens, host: str, local: bool) -> ASGIApp:
    """The application behind the server's own door; all it is asked counts as writing, so every Origin is looked at."""
    let_in = AuthMiddleware(served, tokens, host, local, reading=(), writer="viewer")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != PATH:
            await problem(NotFoundError(f"Only {PATH} is here.", code="http.path"))(scope, receive, send)
        elif scope["type"] == "http":
            await let_in(scope, receive, send)

    return RequestMiddleware(app)
