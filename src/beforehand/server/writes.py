"""Every write may carry a key, by which it is done once, and a deadline, after which it is not done.

One layer for all calls, those of crafts included: it reads the body, looks whether the key was seen, and keeps what is
answered before the caller gets it.
"""

import hashlib
import re
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beforehand.app.requests import Answer, Requests
from beforehand.app.runtime import Runtime
from beforehand.loop.asked import Asked, asking, never
from beforehand.loop.log_outage import unrecorded_here
from beforehand.model.errors import BadInputError, BeforehandError
from beforehand.ports.log import Log
from beforehand.server.errors import problem
from beforehand.server.requests import read_bytes

KEY, DEADLINE = "Idempotency-Key", "Beforehand-Deadline"
WRITES = ("POST", "PUT", "PATCH", "DELETE")
_WHOLE_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_KEPT_HEADERS = ("content-type", "etag", "location")
_REPLAYED = (b"idempotency-replayed", b"true")


INSTEAD = "answer_to_keep"
WITHDRAWN = "withdrawn"
"""Says in the state of a call whether its caller was told that it is not done."""
UNKEYED = "unkeyed"
"""Set in the state of a call whose key cannot be looked up, and which is done all the same."""
log = Log("beforehand.http")


def keep_instead(request: Request, answer: Response) -> None:
    """Have another answer kept for a repeated call than the one that is given now, which holds a secret."""
    kept = {"status": answer.status_code, "headers": {"content-type": str(answer.media_type)}}
    setattr(request.state, INSTEAD, {**kept, "body": bytes(answer.body).decode()})


class WriteMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._requests: Requests | None = None

    def _of(self, runtime: Runtime) -> Requests:
        """The writes of this runtime; a server that stood by and leads now has another."""
        if self._requests is None or self._requests.runtime is not runtime:
            self._requests = Requests(runtime)
        return self._requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Any = Headers(scope=scope) if scope["type"] == "http" and takes_keys(scope) else {}
        if KEY not in headers and DEADLINE not in headers:
            await self.app(scope, receive, send)
            return
        try:
            await self._answer(scope, headers, receive, send)
        except BeforehandError as error:
            await problem(error)(scope, receive, send)

    async def _answer(self, scope: Scope, headers: Any, receive: Receive, send: Send) -> None:
        asked = Asked(deadline_ms=deadline_in(headers), is_withdrawn=scope["state"].get(WITHDRAWN, never))
        body = await read_bytes(Request(scope, receive))
        runtime: Runtime = scope["app"].state.runtime
        if KEY not in headers or scope["state"].get(UNKEYED):
            asked.decide_by(runtime.now())
            with asking(asked):
                await self.app(scope, Body(body, receive), send)
            return
        asked.request_id, asked.content = key_of(scope, headers), content_of(scope, headers, body)
        requests = self._of(runtime)
        messages: list[Message] = []
        async with requests.once(asked) as known:
            if known is None:
                if asked.done is None:
                    asked.decide_by(runtime.now())
                asked.decided = asked.done is not None
                messages = await self._do(requests, asked, scope, Body(body, receive))
        if known is not None:
            await _again(known)(scope, receive, send)
        for message in messages:
            await send(message)

    async def _do(self, requests: Requests, asked: Asked, scope: Scope, receive: Receive) -> list[Message]:
        """Have it done, or answered from the log, and keep the answer before it is given.

        What the log says was done stays done, even if its answer cannot be given now.
        """
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        with asking(asked):
            await self.app(scope, receive, collect)
            asked.decided = True
            answer = _answer_in(messages)
            if 200 <= answer["status"] < 300 and unrecorded_here():
                log.warning("an answer is not kept: what was done is not in the log yet", path=scope["path"])
            elif 200 <= answer["status"] < 300:
                what = f"{scope['method']} {scope['path']}"
                answer = scope["state"].get(INSTEAD, answer)
                await requests.keep(asked, answer, what, scope["state"]["caller"].name)
                if asked.done is not None:
                    messages[0]["headers"] = [*messages[0]["headers"], _REPLAYED]  # the start of the answer
            elif asked.done is None and answer["status"] < 500:
                await requests.refuse(asked)
        return messages


class Body:
    """What a call receives: the body that was read already, then what comes after it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def takes_keys(scope: Scope) -> bool:
    path: str = scope["path"]
    return scope["method"] in WRITES and path.startswith("/api/") and path != "/api/v1/login"


def deadline_in(headers: Any) -> int | None:
    told = headers.get(DEADLINE)
    if told is None:
        return None
    if not (told.isascii() and told.isdigit() and len(told) <= 15):
        raise BadInputError(
            f"`{DEADLINE}` takes milliseconds since 1970 by the server's clock, not {told[:100]!r}.",
            code="request.deadline",
            hint="GET /api/v1/health tells the server's time as `now`.",
        )
    return int(told)


def key_of(scope: Scope, headers: Any) -> str:
    """A caller's key as the log knows it; two callers may use the same one."""
    key = headers[KEY]
    if not _WHOLE_KEY.fullmatch(key):
        raise BadInputError(f"`{KEY}` takes 1 to 200 visible characters without spaces.", code="request.key")
    return _hash(scope["state"]["caller"].name, key)


def content_of(scope: Scope, headers: Any, body: bytes) -> str:
    """What tells one request from another."""
    where = scope["method"], scope["path"], scope.get("query_string", b"").decode("latin-1")
    return _hash(*where, headers.get("if-match", ""), hashlib.sha256(body).hexdigest())


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _answer_in(messages: list[Message]) -> Answer:
    start = next(message for message in messages if message["type"] == "http.response.start")
    headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    body = b"".join(message.get("body", b"") for message in messages if message["type"] == "http.response.body")
    kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
    return {"status": start["status"], "headers": kept, "body": body.decode("utf-8", "replace")}


def _again(answer: Answer) -> Response:
    given = Response(answer["body"], answer["status"], answer["headers"])
    given.raw_headers.append(_REPLAYED)
    return given
