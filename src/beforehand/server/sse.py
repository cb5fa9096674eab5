"""Server-sent events: bytes encoded once, sent to whoever follows, each at their own pace.

A client that does not take what it is sent is cut off, the sooner the more of it waits; it resumes by the last id it
saw. One whose token was revoked is shown out. Streams end by themselves when the feed closes, so that the server can
stop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from beforehand.loop.feed import Feed
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter
from beforehand.ports.tasks import SERVER, lasting, part, stop

log = Log("beforehand.http")

HEARTBEAT_S = 15.0
PATIENCE_S = 20.0
MOST_UNREAD = 1024 * 1024
SHORT_PATIENCE_S = 2.0
"""How long a send may take while more than `MOST_UNREAD` waits behind it."""
ROUND_S = 0.5
"""How often everybody who follows is looked at."""
CHUNK = 64 * 1024


@dataclass(slots=True)
class Audience:
    """Who follows, how many were cut off for being slow, and how long a send may take."""

    cut_off: int = 0
    patience_s: float = PATIENCE_S
    streams: "set[EventStream]" = field(default_factory=set)
    _beat: "asyncio.Task[None] | None" = None

    @property
    def following(self) -> int:
        return len(self.streams)

    def join(self, stream: "EventStream") -> None:
        self.streams.add(stream)
        if self._beat is None or self._beat.done():
            self._beat = lasting(self._go_round, "the watch over slow readers", SERVER, may_end=True)

    def leave(self, stream: "EventStream") -> None:
        self.streams.discard(stream)

    async def _go_round(self) -> None:
        """One watch for everybody, not a timer per send: most sends end at once."""
        while self.streams:
            await asyncio.sleep(ROUND_S)
            for stream in tuple(self.streams):
                stream.look(self.patience_s)


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(self, frames: AsyncIterator[bytes], audience: Audience) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.frames = frames
        self.audience = audience
        self.sending_since: float | None = None
        self.unread = 0
        self._may_go_on: Callable[[], bool] = lambda: True
        self._verdict: asyncio.Future[str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._may_go_on = scope.get("state", {}).get("still_admitted", self._may_go_on)
        verdict = self._verdict = asyncio.get_running_loop().create_future()
        sending = part(self._send_all(send))
        leaving = part(_left(receive))
        self.audience.join(self)
        try:
            await asyncio.wait([sending, leaving, verdict], return_when=asyncio.FIRST_COMPLETED)
            if verdict.done():
                await self._hang_up(scope, leaving, verdict.result())
            elif sending.done():
                sending.result()
        finally:
            self.audience.leave(self)
            await stop([sending, leaving])

    def look(self, patience_s: float) -> None:
        """End the stream when it is stuck, or when its caller would not be let in any more."""
        if self._verdict is None or self._verdict.done():
            return
        if self._is_stuck(patience_s):
            self.audience.cut_off += 1
            self._verdict.set_result("a slow reader was cut off")
        elif not self._may_go_on():
            self._verdict.set_result("a stream ended with its caller's token")

    def _is_stuck(self, patience_s: float) -> bool:
        if self.sending_since is None:
            return False
        patience_s = min(patience_s, SHORT_PATIENCE_S) if self.unread > MOST_UNREAD else patience_s
        return asyncio.get_running_loop().time() - self.sending_since > patience_s

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self.frames) as frames:  # type: ignore[type-var]
            async for frame in frames:
                for start in range(0, len(frame), CHUNK):
                    await self._send_part(send, frame, start)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_part(self, send: Send, frame: bytes, start: int) -> None:
        """Part by part, so that only one waits in the connection while nobody reads."""
        self.sending_since = asyncio.get_running_loop().time()
        self.unread = len(frame) - start
        part = frame if len(frame) <= CHUNK else frame[start : start + CHUNK]
        await send({"type": "http.response.body", "body": part, "more_body": True})
        self.sending_since, self.unread = None, 0

    async def _hang_up(self, scope: Scope, leaving: "asyncio.Task[None]", why: str) -> None:
        """Close the connection without waiting for what the client does not read."""
        log.info(why, client=scope.get("client"))
        abort = scope.get("state", {}).get("abort")
        if abort is not None:
            abort()
            await leaving


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def log_frames(feed: Feed, after: int, only: EventFilter, now_ms: Callable[[], int]) -> AsyncIterator[bytes]:
    """The log after a place; the server's time in a comment at the start and when nothing came for a while."""
    yield heartbeat(now_ms())
    async with aclosing(feed.follow(after, only, idle_s=HEARTBEAT_S)) as batches:  # type: ignore[type-var]
        async for batch in batches:
            if not batch:
                yield heartbeat(now_ms())
            for piece in in_pieces(line for _, line in batch):
                yield piece


async def live_frames(frames: AsyncIterator[bytes | None], now_ms: Callable[[], int]) -> AsyncIterator[bytes]:
    """Frames as they come, and the server's time where there are none."""
    yield heartbeat(now_ms())
    async with aclosing(frames) as coming:  # type: ignore[type-var]
        async for frame in coming:
            yield heartbeat(now_ms()) if frame is None else frame


def heartbeat(now_ms: int) -> bytes:
    """A comment, which clients pass over unless they look for it."""
    return b": now %d\n\n" % now_ms


def in_pieces(lines: Iterable[bytes]) -> Iterable[bytes]:
    """Lines that are short put together; a long one as it is."""
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        if waiting and size + len(line) > CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
        waiting.append(line)
        size += len(line)
    if waiting:
        yield waiting[0] if len(waiting) == 1 else b"".join(waiting)
