"""Server-sent events: bytes encoded once, sent to whoever follows, each at their own pace.

A client that does not take what it is sent within the audience's patience is cut off; it resumes by the last id it
saw. Streams end by themselves when the feed closes, so that the server can stop.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from beforehand.loop.feed import Feed
from beforehand.ports.log import Log
from beforehand.ports.store import EventFilter

log = Log("beforehand.http")

HEARTBEAT_S = 15.0
PATIENCE_S = 20.0
CHUNK = 64 * 1024
_HEARTBEAT = b": nothing new\n\n"


@dataclass(slots=True)
class Audience:
    """Who follows: how many now, how many were cut off for being slow, and how long a send may take."""

    following: int = 0
    cut_off: int = 0
    patience_s: float = PATIENCE_S


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(self, frames: AsyncIterator[bytes], audience: Audience) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self.frames = frames
        self.audience = audience
        self.sending_since: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.audience.following += 1
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            while not sending.done() and not leaving.done():
                # One watch per follower, not one timer per send: most sends end at once.
                watch_s = self.audience.patience_s / 4
                await asyncio.wait([sending, leaving], timeout=watch_s, return_when=asyncio.FIRST_COMPLETED)
                if self._is_stuck():
                    await self._cut_off(scope, leaving)
                    return
            if sending.done():
                sending.result()
        finally:
            self.audience.following -= 1
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    def _is_stuck(self) -> bool:
        since = self.sending_since
        return since is not None and asyncio.get_running_loop().time() - since > self.audience.patience_s

    async def _send_all(self, send: Send) -> None:
        clock = asyncio.get_running_loop()
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self.frames) as frames:  # type: ignore[type-var]
            async for frame in frames:
                self.sending_since = clock.time()
                await send({"type": "http.response.body", "body": frame, "more_body": True})
                self.sending_since = None
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _cut_off(self, scope: Scope, leaving: "asyncio.Task[None]") -> None:
        """Close the connection without waiting for what the client does not read."""
        self.audience.cut_off += 1
        log.info("a slow reader was cut off", client=scope.get("client"))
        abort = scope.get("state", {}).get("abort")
        if abort is not None:
            abort()
            await leaving


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def log_frames(feed: Feed, after: int, only: EventFilter) -> AsyncIterator[bytes]:
    """The log after a place, in pieces of bounded size; a comment when nothing came for a while."""
    async with aclosing(feed.follow(after, only, idle_s=HEARTBEAT_S)) as batches:  # type: ignore[type-var]
        async for batch in batches:
            if not batch:
                yield _HEARTBEAT
            for piece in _pieces(line for _, line in batch):
                yield piece


def _pieces(lines: Iterable[bytes]) -> Iterable[bytes]:
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= CHUNK:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)
