"""Every change that was asked for over HTTP and done is in the log with who asked, before the answer is given."""

from collections.abc import Collection
from hashlib import sha256
from typing import Any

from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beforehand.app.request_record import MOST_B, is_recorded, is_told, record_request
from beforehand.loop.asked import asked_here

BASE = "/api/v1"


class RequestRecord:
    """`own` are the patterns of the crafts' calls whose events say by themselves who asked."""

    def __init__(self, app: ASGIApp, own: Collection[str] = ()) -> None:
        self.app = app
        self.own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "").removeprefix(BASE)
        if scope["type"] != "http" or not is_recorded(scope["method"], path, self.own):
            await self.app(scope, receive, send)
            return
        body = _Body(receive)

        async def sending(message: Message) -> None:
            asked = asked_here()
            is_new = asked is None or asked.done is None  # else it was done before, and is only answered again
            if message["type"] == "http.response.start" and 200 <= message["status"] < 300 and is_new:
                caller, runtime = scope["state"]["caller"], scope["app"].state.runtime
                query = scope.get("query_string", b"").decode("latin-1")
                what = f"{path}?{query}" if query else path
                await record_request(
                    runtime, scope["method"], what, body.asked(scope["method"]), caller.name, caller.role
                )
            await send(message)

        await self.app(scope, body.receive, sending)


class _Body:
    """What a call brings, seen on its way."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._begin = b""
        self._size = 0
        self._hash = sha256()

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            piece = message.get("body", b"")
            self._size += len(piece)
            self._hash.update(piece)
            self._begin += piece[: max(0, MOST_B + 1 - len(self._begin))]
        return message

    def asked(self, method: str) -> Any:
        """The body as it was sent, or by its hash; None for none."""
        if self._size and not is_told(method, self._size):
            return {"bytes": self._size, "sha256": self._hash.hexdigest()}
        try:
            return from_json(self._begin) if self._begin.strip() else None
        except ValueError:
            return None
