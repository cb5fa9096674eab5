"""The outermost layer: every request gets a correlation id, a line in the log and the safety headers.

What nobody below expected is logged here with its traceback and answered with a problem that has none. The innermost
one has a HEAD answered like a GET.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beforehand.app.ids import new_id
from beforehand.ports.foreign import contain
from beforehand.ports.log import Log, answering
from beforehand.ports.tracing import is_tracing, span
from beforehand.server.errors import bug

log = Log("beforehand.http")

HEADER = "X-Correlation-Id"
_WHOLE_ID = re.compile(r"[\x21-\x7e]{1,128}")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SAFE = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def correlation_id(headers: Headers) -> str:
    """The caller's own id where it is fit to be written down, else a new one."""
    given = headers.get(HEADER, "")
    return given if _WHOLE_ID.fullmatch(given) else new_id("req")


class RequestMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        correlation = correlation_id(Headers(scope=scope))
        scope.setdefault("state", {})["correlation_id"] = correlation
        seen: dict[str, int] = {}
        began = time.perf_counter()
        with answering(correlation):
            sending = _with_headers(send, correlation, seen)
            with _spanned(scope, seen):
                try:
                    await contain(self.app(scope, receive, sending))
                except Exception:
                    log.exception("a request met a bug", method=scope["method"], path=scope["path"])
                    if "status" in seen:
                        raise
                    await bug(correlation)(scope, receive, sending)
            _note(scope, seen.get("status", 0), time.perf_counter() - began)


class HeadMiddleware:
    """Answers a HEAD that no route takes with the head of what a GET would get; a stream's ends with that."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or _is_taken(scope):
            await self.app(scope, receive, send)
            return
        body: Message | None = {"type": "http.request", "body": b"", "more_body": False}
        was_said = asyncio.Event()

        async def receiving() -> Message:
            nonlocal body
            if body is None:
                await was_said.wait()
            given, body = body or {"type": "http.disconnect"}, None
            return given

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                was_said.set()

        await self.app({**scope, "method": "GET"}, receiving, sending)
        await send({"type": "http.response.body", "body": b""})


def _is_taken(scope: Scope) -> bool:
    """Whether some route takes this method at this path by itself."""
    return any(route.matches(scope)[0] is Match.FULL for route in scope["app"].router.routes)


@contextmanager
def _spanned(scope: Scope, seen: Mapping[str, int]) -> Iterator[None]:
    """The request as a span, named by its route; what is asked for all the time is none."""
    if not is_tracing() or _is_quiet(scope):
        yield
        return
    with span(scope["method"], {"http.request.method": scope["method"]}, kind="server") as request:
        try:
            yield
        finally:
            status, route = seen.get("status", 0), getattr(scope.get("route"), "path", None)
            request.rename(f"{scope['method']} {route}" if route else scope["method"])
            request.note({"http.route": route, "http.response.status_code": status})
            if status >= 500:
                request.fail(str(status))


def _is_quiet(scope: Scope) -> bool:
    path = str(scope["path"])
    return not path.startswith("/api/") or path.startswith("/api/v1/health")


def _with_headers(send: Send, correlation: str, seen: dict[str, int]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            seen["status"] = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _SAFE.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
            headers[HEADER] = correlation
        await send(message)

    return sending


def _note(scope: Scope, status: int, seconds: float) -> None:
    caller = scope["state"].get("caller")
    say: Callable[..., Any] = log.debug if _is_quiet(scope) and status < 400 else log.info
    say(
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        ms=round(seconds * 1000, 1),
        by=caller.name if caller is not None else None,
    )
