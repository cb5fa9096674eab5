"""Writes while the log cannot be written: refused at once, but for brakes, which reach the machines all the same.

A *brake* is a call that stops something and begins nothing; crafts name theirs (`HttpPart.brakes`). What was done of
one and is not in the log yet stands in its answer as `notRecorded`. Any other write is refused before anything is
decided; one that was under way when the log went away is answered soon, too.
"""

import asyncio
import math
from collections.abc import Callable, Collection
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beforehand.app.log_health import LogHealth
from beforehand.app.request_record import TRIALS
from beforehand.app.runtime import Runtime
from beforehand.loop.asked import Asked, asking
from beforehand.loop.log_outage import HINT, IN_DOUBT, MOVES_AGAIN, noting_unrecorded
from beforehand.model.errors import BeforehandError, UnavailableError
from beforehand.ports.log import Log
from beforehand.ports.tasks import part
from beforehand.server.errors import problem
from beforehand.server.requests import read_bytes
from beforehand.server.responses import written
from beforehand.server.writes import KEY, UNKEYED, WITHDRAWN, WRITES, Body

log = Log("beforehand.http")
BASE = "/api/v1/"
BRAKES = ("hold", "runs/*/pause", "runs/*/cancel", "runs/*/stop-after-step")
"""The brakes that need no craft, below `/api/v1/`."""
OWN = ("login", "logout", "search", "tokens")
"""Calls that are sent like writes and leave nothing in the log, or know themselves what to do without it."""
LOOK_S = 0.1
READ_S = 0.3
"""How long a brake waits to learn whether it was done before under its key."""
LEAD_S = 1.0
"""A process that is not sure that it leads is sure again by then, or cannot reach its log."""
GRACE_S = 1.0
"""How long a write that was under way may take to end by itself."""
BRAKE_GRACE_S = 3.0
HEALTH_S = 0.8
FIELD = "notRecorded"


class Brakes:
    """Which calls are brakes."""

    def __init__(self, of_crafts: Collection[str] = ()) -> None:
        self.patterns = (*BRAKES, *of_crafts)

    def has(self, method: str, path: str) -> bool:
        below = path.removeprefix(BASE).strip("/")
        return method == "POST" and any(fnmatchcase(below, pattern) for pattern in self.patterns)


class LogGate:
    def __init__(self, app: ASGIApp, brakes: Brakes, keep: Callable[[Scope, bytes], None] | None = None) -> None:
        """`keep` is given the brakes that were carried out and could not be recorded."""
        self.app = app
        self.brakes = brakes
        self.keep = keep

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _writes(scope):
            await self.app(scope, receive, send)
            return
        try:
            if self.brakes.has(scope["method"], scope["path"]):
                await self._brake(scope, receive, send)
            else:
                await _refuse_away(scope)
                await self._watched(scope, receive, send, GRACE_S)
        except BeforehandError as error:
            await problem(error)(scope, receive, send)

    async def _brake(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        if KEY in Headers(scope=scope):
            scope["state"][UNKEYED] = not await _can_be_read(scope["app"].state.runtime)
        asked = await read_bytes(Request(scope, receive))
        with noting_unrecorded() as said:
            await self._watched(scope, Body(asked, receive), collect, BRAKE_GRACE_S)
        if said and self.keep is not None:
            self.keep(scope, asked)
        for message in _with_unrecorded(messages, said) if said else messages:
            await send(message)

    async def _watched(self, scope: Scope, receive: Receive, send: Send, grace_s: float) -> None:
        """The call, for as long as the log can be written. Where it has to be answered before, what was not decided by
        then is never done, and what was is brought to its end."""
        runtime: Runtime = scope["app"].state.runtime
        has_begun = is_answered = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if not is_answered:
                await send(message)

        scope["state"][WITHDRAWN] = lambda: is_answered
        call = part(_called(self.app, scope, receive, sending), "answering a write")
        loop, away_since = asyncio.get_running_loop(), math.inf
        try:
            while not call.done():
                await asyncio.wait([call], timeout=LOOK_S)
                away_since = min(away_since, loop.time()) if _is_away(runtime) else math.inf
                if not call.done() and not has_begun and loop.time() - away_since >= grace_s:
                    is_answered = True
                    call.add_done_callback(_note_end)
                    raise _in_doubt(runtime)
            await call
        finally:
            if not is_answered:
                call.cancel()


async def _called(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    with asking(Asked(is_withdrawn=scope["state"][WITHDRAWN])):
        await app(scope, receive, send)


def _note_end(call: "asyncio.Task[None]") -> None:
    if not call.cancelled() and (error := call.exception()) is not None:
        log.warning("a write that was answered before it ended has failed", error=repr(error))


def _writes(scope: Scope) -> bool:
    path = str(scope["path"])
    if scope["method"] not in WRITES or not path.startswith(BASE) or path.endswith(TRIALS):
        return False
    return path.removeprefix(BASE).partition("/")[0] not in OWN


def _is_away(runtime: Runtime) -> bool:
    return not runtime.stands_by and runtime.store.lead_left_s() <= 0


async def _refuse_away(scope: Scope) -> None:
    """UnavailableError while the log cannot be written; where nothing else would tell, the disk is looked at."""
    runtime: Runtime = scope["app"].state.runtime
    waited_s = 0.0
    while _is_away(runtime) and not runtime.outage.is_on and waited_s < LEAD_S:
        await asyncio.sleep(LOOK_S)
        waited_s += LOOK_S
    if _is_away(runtime):
        raise runtime.outage.refusal()
    if math.isinf(runtime.store.lead_left_s()) and (says := await _is_full(scope["app"].state.log_health)):
        runtime.outage.failed(says)
        raise runtime.outage.refusal()


async def _is_full(health: LogHealth) -> str:
    """Why the log could not be written, as far as its disk tells; empty where it can."""
    with suppress(TimeoutError):
        async with asyncio.timeout(HEALTH_S):
            return " ".join(one.says for one in await health.room())
    return ""


async def _can_be_read(runtime: Runtime) -> bool:
    try:
        async with asyncio.timeout(READ_S):
            await runtime.store.row("request", "")
    except (BeforehandError, TimeoutError):
        return False
    return True


def _with_unrecorded(messages: list[Message], said: list[str]) -> list[Message]:
    """An answer that says what is not in the log yet; a refusal stays as it is."""
    start, body = messages[0], b"".join(message.get("body", b"") for message in messages[1:])
    document: Any = from_json(body) if 200 <= start["status"] < 300 and body else None
    if not isinstance(document, dict):
        return messages
    body = written({**document, FIELD: said})
    headers = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
    headers.append((b"content-length", str(len(body)).encode()))
    return [{**start, "headers": headers}, {"type": "http.response.body", "body": body}]


def _in_doubt(runtime: Runtime) -> UnavailableError:
    return UnavailableError(
        f"The log could not be written any more while this was being done, so nobody knows yet whether it is. "
        f"{runtime.outage.says} {MOVES_AGAIN}".replace("  ", " "),
        code=IN_DOUBT,
        hint=f"Look at what it was about when the log is back. {HINT}",
        extra={"retryAfterS": 2},
    )
