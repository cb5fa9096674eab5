"""Writes with a key: what was answered to each, for a day, so that asking twice does it once.

That a write was done is in the log, in the events it caused. What was answered lies beside the log: it would only be
there twice. Where a crash came between the two, the event with the key is found again, and the answer is made of it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from beforehand.app.runtime import Runtime
from beforehand.loop.asked import Asked
from beforehand.model.errors import BadInputError, ConflictError
from beforehand.model.event import Event

KEPT_MS = 24 * 3_600_000
AT_LEAST_MS = SWEEP_MS = 3_600_000
"""So long a server forgets nothing after its start: nobody knows whether it was down for a day or its clock was set."""
PAGE = 1_000
Answer = dict[str, Any]
"""`status`, `headers` and `body`; `at` says which of the writes with this key it belongs to."""


class Requests:
    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._under_way: dict[str, str] = {}
        self._looking_up: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Held while a key is looked up, so that of two writes that come at once one is done."""
        self._began_at, self._swept_at = runtime.now(), 0

    @asynccontextmanager
    async def once(self, asked: Asked) -> AsyncIterator[Answer | None]:
        """What was answered to this write before, or None: it is new, or to be answered from `asked.done`, its event.

        It has its key to itself until it is done.

        Raises BadInputError when its key was used for something else, ConflictError while it is being done.
        """
        looking_up = self._looking_up.setdefault(asked.request_id, asyncio.Lock())
        async with looking_up:
            known = await self._answered(asked)
            if known is None:
                self._under_way[asked.request_id] = asked.content
        try:
            yield known
        finally:
            if known is None:
                del self._under_way[asked.request_id]

    async def _answered(self, asked: Asked) -> Answer | None:
        under_way = self._under_way.get(asked.request_id)
        if under_way is not None:
            _be_the_same(under_way, asked)
            raise ConflictError("This request is being done now.", code="request.under_way", hint="Ask again soon.")
        row = await self.runtime.store.row("request", asked.request_id)
        if row is None or self._is_over(row["at"]):
            return None
        answer = await self._kept(asked, row["at"])
        if answer is not None and answer.get("refused"):
            asked.again = True
            return None
        _be_the_same(row["content"], asked)
        if answer is None:
            asked.done = await self._event(asked, row["at"])
            asked.note([asked.done])
        return answer

    def _is_over(self, at: int) -> bool:
        """Whether a write of then is no longer known by its key."""
        now = self.runtime.now()
        return at < now - KEPT_MS and now - self._began_at >= AT_LEAST_MS

    async def _kept(self, asked: Asked, at: int) -> Answer | None:
        """What was kept for the write that was done then; an answer to an older one with the same key is none."""
        found = await self.runtime.store.snapshot(_owner(asked))
        return found[1] if found is not None and found[1] and found[1].get("at", at) == at else None

    async def _event(self, asked: Asked, at: int) -> Event:
        """The event with this key: nearly always among the newest, since whoever got no answer asks again soon."""
        store, before, is_recent = self.runtime.store, None, True
        while is_recent and (records := await store.last_records(before, PAGE)):
            for record in reversed(records):
                if asked.request_id.encode() in record.line:
                    [event] = await store.events(record.seq - 1, 1)
                    if event.about.get("requestId") == asked.request_id:
                        return event
            before = records[0].seq
            is_recent = (await store.events(before - 1, 1))[0].ts > at - KEPT_MS
        raise ConflictError(
            "This request was done, and the events that say what came of it were deleted since.",
            code="request.deleted",
            hint="Look at what it was about.",
        )

    async def keep(self, asked: Asked, answer: Answer, what: str, by: str) -> None:
        """Keep what is answered to a write that was done; one that left no events gets one of its own.

        A server that stands by does itself only what leaves nothing, and has no log to write that into.
        """
        if self.runtime.stands_by:
            return
        if not asked.kept:
            await self.runtime.log("requestDone", {"what": what, "by": by}, owner="requests")
        await self._save(asked, answer)
        await self._sweep()

    async def refuse(self, asked: Asked) -> None:
        """A write that was refused may be asked for again, even if something of it is in the log."""
        if asked.kept:
            await self._save(asked, {"refused": True})

    async def _save(self, asked: Asked, answer: Answer) -> None:
        store, at = self.runtime.store, asked.at
        if at is None:  # somebody else wrote its events: a workflow
            row = await store.row("request", asked.request_id)
            at = None if row is None else row["at"]
        await store.save_snapshot(_owner(asked), await store.last_seq(), {**answer, "at": at})

    async def _sweep(self) -> None:
        now = self.runtime.now()
        if now - self._swept_at < SWEEP_MS:
            return
        self._swept_at = now
        rows = await self.runtime.store.rows("request", open=True, limit=1000)
        old = [row["id"] for row in rows if self._is_over(row["at"])]
        last = await self.runtime.store.last_seq()  # an older snapshot than the one that is kept would change nothing
        for request_id in old:
            await self.runtime.store.save_snapshot(f"request:{request_id}", last, {})
        if old:
            await self.runtime.log("requestsForgotten", {"ids": old}, owner="requests")


def _be_the_same(content: str, asked: Asked) -> None:
    if content != asked.content:
        raise BadInputError(
            "This Idempotency-Key was used for another request already.",
            code="request.key_used",
            hint="Draw a new key for every new request.",
        )


def _owner(asked: Asked) -> str:
    return f"request:{asked.request_id}"
