"""Who may call: a token where tokens are set, this machine's users where none are, and no other site's pages.

A server that other machines can reach lets nobody in without a token, not even when its last one is revoked. Reading
needs a viewer, writing an operator; calls that need an admin say so themselves. Only the console's own files, which
hold no data, what must be reachable to log in, and the health checks are open.
"""

from collections.abc import Callable, Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from beforehand.app.clock import wall_ms
from beforehand.app.request_record import TRIALS
from beforehand.app.tokens import Tokens
from beforehand.model.errors import BeforehandError, ForbiddenError, UnauthorisedError, UnavailableError
from beforehand.model.hosts import is_loopback
from beforehand.server.callers import LOCAL, Caller, require
from beforehand.server.errors import problem

COOKIE = "beforehand"
READING = ("GET", "HEAD", "OPTIONS")
OPEN = ("/api/v1/health", "/api/v1/health/live", "/api/v1/health/ready", "/api/v1/login")
GUARDED = ("/api",)
NOBODY = Caller("", "viewer")


class AuthMiddleware:
    """Lets a request through with its caller, or answers it.

    `host` is what the server is bound to, `local` whether only this machine can reach it. `reading` are the methods
    that only read, `writer` is the role that the others need; `is_open` says which paths need no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        host: str,
        local: bool,
        reading: Collection[str] = READING,
        writer: str = "operator",
        is_open: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.app = app
        self.tokens = tokens
        self.host = host
        self.local = local
        self.reading = reading
        self.writer = writer
        self.is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            state = scope.setdefault("state", {})
            state["caller"] = self._admit(scope)
            state["still_admitted"] = lambda: self._still_admitted(scope)
        except BeforehandError as error:
            await problem(error)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _admit(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        writing = scope["method"] not in self.reading
        if writing:
            refuse_other_sites(headers)
        if self.local and not _any(self.tokens):
            refuse_other_names(headers.get("host", ""), self.host)
            return LOCAL
        if self.is_open(scope["path"]):
            return NOBODY
        if not _any(self.tokens):
            raise UnauthorisedError(
                "This server has no token any more, and other machines can reach it, so every call is refused.",
                code="auth.no_tokens",
                hint="Make one on its machine with `beforehand token add`.",
            )
        caller = self._known(scope)
        looks = not writing or only_reads(scope["method"], scope["path"])
        require(caller, "viewer" if looks else self.writer, "writing")
        return caller

    def _still_admitted(self, scope: Scope) -> bool:
        """Whether a caller whose answer goes on for long would still be let in."""
        try:
            self._admit(scope)
        except BeforehandError:
            return False
        return True

    def _known(self, scope: Scope) -> Caller:
        headers = Headers(scope=scope)
        token, session = shown_token(headers), shown_session(headers)
        if token is None and session is None:
            raise UnauthorisedError(
                "This call needs a token.",
                hint="Send `Authorization: Bearer …`, or log in with POST /api/v1/login.",
            )
        found = (
            self.tokens.role_of(token) if token is not None else self.tokens.role_of_session(str(session), wall_ms())
        )
        if found is None:
            raise UnauthorisedError("This token is not known, or was revoked.", code="auth.unknown")
        return Caller(*found)


def only_reads(method: str, path: str) -> bool:
    """Calls that change nothing although they are sent like those that do: whoever may look may make them."""
    if path == "/api/v1/logout" or path.startswith("/api/v1/search/"):
        return True
    return method == "POST" and path.startswith("/api/v1/") and path.endswith(TRIALS)


def is_open(path: str) -> bool:
    return path in OPEN or not path.startswith(GUARDED)


def _any(tokens: Tokens) -> bool:
    try:
        return tokens.any
    except BeforehandError as error:  # nobody can be told apart, so nobody is let in
        raise UnavailableError(error.says, code=error.code) from error


def shown_token(headers: Mapping[str, str]) -> str | None:
    """The token a request shows in its Authorization header."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def shown_session(headers: Mapping[str, str]) -> str | None:
    """The session a browser shows in its cookie."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def refuse_other_sites(headers: Mapping[str, str]) -> None:
    """A browser says where a page that writes comes from; another origin's may not."""
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        raise _cross_origin(origin or site)
    if origin is not None and not same_place(origin, headers.get("host", "")):
        raise _cross_origin(origin)


def _cross_origin(origin: str) -> ForbiddenError:
    return ForbiddenError(
        f"A page from {origin[:200]!r} may not write here.",
        code="auth.cross_origin",
        hint="Use Beforehand's own page, the command line, or a program.",
    )


def same_place(origin: str, host: str) -> bool:
    """Whether an Origin header names the host that the request came to."""
    try:
        parts = urlsplit(origin)
        asked = urlsplit(f"//{host}")
        default = 443 if parts.scheme == "https" else 80
        return (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.hostname == asked.hostname
            and (parts.port or default) == (asked.port or default)
        )
    except ValueError:
        return False


def refuse_other_names(host: str, bound: str) -> None:
    """Without tokens only this machine's own names are answered, so that no other site's name can point here."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = host
    if host and name != bound.lower().strip("[]") and not is_loopback(name):
        raise ForbiddenError(
            f"This server is not known by the name {name[:200]!r}.",
            code="auth.host",
            hint="Use http://127.0.0.1, or set a token to serve other names.",
        )
