"""The log, followed live: every subscriber has its own place in it and none waits for another.

The newest records are kept in memory, already in the shape they are sent in; whoever is further behind reads from the
store. A place is just a number, so a dropped connection resumes with nothing lost or doubled.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from beforehand.ports.store import EVERYTHING, EventFilter, Record, Store

KEPT = 20_000
KEPT_BYTES = 64 * 1024 * 1024
BATCH = 500
BATCH_BYTES = 256 * 1024
"""A batch ends when it holds this much, so that a follower who does not read holds on to little."""
REST_S = 0.0001
"""Between two batches of news there is this much rest per follower, so that many of them get bigger ones under load
and the loop stays free for others; news after a rest goes out at once."""


Spoken = Callable[[bytes], bytes]
"""An event's line of JSON with the event in words added to it."""


@dataclass(slots=True, weakref_slot=True)
class _Kept:
    record: Record
    sent: bytes | None = None
    """As it is sent, made when somebody first wants it."""


class Feed:
    def __init__(self, store: Store, spoken: Spoken = lambda line: line) -> None:
        self._store = store
        self._spoken = spoken
        self._recent: deque[_Kept] = deque()
        self._recent_bytes = 0
        self._read: WeakValueDictionary[int, _Kept] = WeakValueDictionary()
        """What somebody is reading from the store: many who are at the same place share it."""
        self._news: asyncio.Future[None] | None = None
        self._closed = False
        self._followers = 0
        self._rest_until = 0.0
        self._bell: asyncio.TimerHandle | None = None
        self._take_off: Callable[[], None] = store.on_commit(self._heard)

    @property
    def newest(self) -> int:
        """The number of the newest event that was heard of here; 0 where none was yet."""
        return self._recent[-1].record.seq if self._recent else 0

    def _heard(self, records: Sequence[Record]) -> None:
        for record in records:
            self._recent.append(_Kept(record))
            self._recent_bytes += len(record.line)
        while len(self._recent) > 1 and (len(self._recent) > KEPT or self._recent_bytes > KEPT_BYTES):
            self._recent_bytes -= len(self._recent.popleft().record.line)
        if self._bell is None:
            loop = asyncio.get_running_loop()
            if loop.time() < self._rest_until:
                self._bell = loop.call_at(self._rest_until, self._ring)
            else:
                self._ring()

    def _ring(self) -> None:
        self._bell = None
        self._rest_until = asyncio.get_running_loop().time() + REST_S * self._followers
        self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
        self._news = None

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        self._take_off()
        if self._bell is not None:
            self._bell.cancel()
        self._wake()

    async def follow(
        self, after: int, only: EventFilter = EVERYTHING, *, idle_s: float | None = None
    ) -> AsyncIterator[list[tuple[Record, bytes]]]:
        """What comes after a place in the log, in batches, for ever; an empty batch after `idle_s` without news."""
        place = after
        clock = asyncio.get_running_loop()
        quiet_since = clock.time()
        self._followers += 1
        try:
            while not self._closed:
                kept, place = await self._next(place, only)  # held on to while others may share it
                batch = [self._sent(one) for one in kept]
                left_s = None if idle_s is None else max(0.0, quiet_since + idle_s - clock.time())
                if batch or not await self._wait(place, left_s):
                    yield batch
                    quiet_since = clock.time()
        finally:
            self._followers -= 1

    async def _next(self, place: int, only: EventFilter) -> tuple[list[_Kept], int]:
        """The next batch after a place, and the place it leads to; an empty batch when there is nothing new."""
        if self._recent and self._recent[0].record.seq <= place + 1:
            start = place + 1 - self._recent[0].record.seq
            while start < len(self._recent):
                part = self._part(start)
                place, start = part[-1].record.seq, start + len(part)
                found = [kept for kept in part if only.admits(kept.record)]
                if found:
                    return found, place
            return [], place
        last = await self._store.last_seq()
        records = await self._store.records(after=place, limit=BATCH, only=only, most_bytes=BATCH_BYTES)
        if records:
            return [self._read.setdefault(record.seq, _Kept(record)) for record in records], records[-1].seq
        return [], max(place, last)

    def _part(self, start: int) -> list[_Kept]:
        """Some of the newest records. By index and not by slice: most followers are near the end, where it is cheap."""
        part: list[_Kept] = []
        size = 0
        for place in range(start, min(start + BATCH, len(self._recent))):
            part.append(self._recent[place])
            size += len(part[-1].record.line)
            if size >= BATCH_BYTES:
                break
        return part

    async def _wait(self, place: int, idle_s: float | None) -> bool:
        if self._closed or (self._bell is None and self._recent and self._recent[-1].record.seq > place):
            return True
        if self._news is None:
            self._news = asyncio.get_running_loop().create_future()
        news = self._news
        done, _ = await asyncio.wait([news], timeout=idle_s)
        return bool(done)

    def _sent(self, kept: _Kept) -> tuple[Record, bytes]:
        """A record and how it is sent: as one server-sent event."""
        if kept.sent is None:
            kept.sent = b"id: %d\ndata: %s\n\n" % (kept.record.seq, self._spoken(kept.record.line))
        return kept.record, kept.sent
