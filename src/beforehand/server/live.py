"""Everything a console shows, over one connection: the log from a place on, live frames, and the server's time.

Events are read from the feed only as fast as they are sent, so none is lost; frames wait in the telemetry's own short
queue, where newer ones push older ones out.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from pydantic_core import to_json

from beforehand import __version__
from beforehand.app.runtime import Runtime
from beforehand.loop.feed import Feed
from beforehand.loop.telemetry import Telemetry
from beforehand.ports.tasks import part, stop
from beforehand.server.place import Place
from beforehand.server.sse import in_pieces

QUIET_S = 1.0
"""After so long without anything else the server's time is sent."""


async def live_stream(runtime: Runtime, place: Place, boot: str, after: int | None) -> AsyncIterator[bytes]:
    """`hello`, then what comes: from `after` on, or from the end of the log."""
    end = await runtime.store.last_seq()
    start = end if after is None else min(after, end)
    hello = {"seq": end, "boot": boot, "version": __version__, "log": str(await runtime.store.identity() or "")}
    away = runtime.outage.since_ms
    yield _named("hello", {"now": runtime.now(), **hello, **_standing(place, away)})
    sources = (_events(runtime.feed, start), _frames(runtime.telemetry))
    async with aclosing(either(*sources, quiet_s=QUIET_S)) as coming:
        async for sent in coming:
            if sent:
                yield sent
            if not sent or away != runtime.outage.since_ms:  # frames may leave no quiet moment
                away = runtime.outage.since_ms
                now = {"now": runtime.now(), "seq": await runtime.store.last_seq(), **_standing(place, away)}
                yield _named("now", now)


def _standing(place: Place, away: int | None) -> dict[str, Any]:
    leader = None if place.role != "standsBy" else place.leader_url
    return {"role": place.role, "leader": leader} | ({} if away is None else {"logAwaySince": away})


def _named(name: str, data: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), to_json(data))


async def _events(feed: Feed, after: int) -> AsyncGenerator[bytes]:
    async with aclosing(feed.follow(after)) as batches:  # type: ignore[type-var]
        async for batch in batches:
            for piece in in_pieces(line for _, line in batch):
                yield piece


async def _frames(telemetry: Telemetry) -> AsyncGenerator[bytes]:
    async with aclosing(telemetry.follow(idle_s=None)) as frames:  # type: ignore[type-var]
        async for frame in frames:
            if frame is not None:
                yield b"event: frame\n" + frame


async def either(*sources: AsyncGenerator[bytes], quiet_s: float) -> AsyncGenerator[bytes]:
    """What any source gives, each asked for more only when its last was taken; empty bytes after `quiet_s` of nothing.

    It ends with the first source that ends, and ends the others.
    """
    asked = {part(_next(source)): source for source in sources}
    try:
        while True:
            done, _ = await asyncio.wait(asked, timeout=quiet_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                yield b""
            for task in done:
                given = task.result()
                if given is None:
                    return
                yield given
                source = asked.pop(task)
                asked[part(_next(source))] = source
    finally:
        await stop(asked)
        for source in sources:
            await source.aclose()


async def _next(source: AsyncGenerator[bytes]) -> bytes | None:
    return await anext(source, None)
