"""The outermost layer: every request gets a correlation id, a line in the log and the safety headers.

What nobody below expected is logged here with its traceback and answered with a problem that has none.
"""

import re
import time
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beforehand.app.ids import new_id
from beforehand.ports.log import Log, answering
from beforehand.server.errors import bug

log = Log("beforehand.http")

HEADER = "X-Correlation-Id"
_WHOLE_ID = re.compile(r"[\x21-\x7e]{1,128}")
_QUIET = ("/api/v1/health", "/static/", "/page/")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
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
            sending = _with_headers(send, correlation, seen, unchanging=scope["path"].startswith("/static/"))
            try:
                await self.app(scope, receive, sending)
            except Exception:
                log.exception("a request met a bug", method=scope["method"], path=scope["path"])
                if "status" in seen:
                    raise
                await bug(correlation)(scope, receive, sending)
            _note(scope, seen.get("status", 0), time.perf_counter() - began)


def _with_headers(send: Send, correlation: str, seen: dict[str, int], *, unchanging: bool) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            seen["status"] = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _SAFE.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-cache" if unchanging else "no-store")
            headers[HEADER] = correlation
        await send(message)

    return sending


def _note(scope: Scope, status: int, seconds: float) -> None:
    caller = scope["state"].get("caller")
    quiet = scope["path"] == "/" or scope["path"].startswith(_QUIET)
    say: Callable[..., Any] = log.debug if quiet and status < 400 else log.info
    say(
        "request",
        method=scope["method"],
        path=scope["path"],
        status=status,
        ms=round(seconds * 1000, 1),
        by=caller.name if caller is not None else None,
    )
