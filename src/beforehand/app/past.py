"""The log as it was after one of its events: a store for looking that ends there.

Rows are read anew from the events, as when they are rebuilt, but only those of the kinds that are looked at. Events and
snapshots are the log's own, as far as they reach. Big logs are folded beside the event loop, one at a time.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, cast

from beforehand.app.runtime import Runtime
from beforehand.app.stores import store_in_memory
from beforehand.model.errors import BadInputError
from beforehand.model.event import Event
from beforehand.ports.store import EVERYTHING, EventFilter, Projection, Row, Store

CHUNK = 5_000
TURN = "past"
Rows = dict[tuple[str, str], Row]


class PastStore:
    """A store whose newest event is number `at`; what it has no words for is not for looking at the past."""

    def __init__(self, store: Store, rows: Store, at: int) -> None:
        self._store = store
        self._at = at
        self.row, self.rows, self.count = rows.row, rows.rows, rows.count

    async def last_seq(self) -> int:
        return self._at

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        found = await self._store.events(after=after, limit=limit, only=only) if after < self._at else []
        return [event for event in found if event.seq <= self._at]

    async def snapshot(self, owner: str) -> tuple[int, dict[str, Any]] | None:
        kept = await self._store.snapshot(owner)
        return kept if kept is not None and kept[0] <= self._at else None


async def store_at(runtime: Runtime, at: int, kinds: Iterable[str]) -> Store:
    """The store as it was after event `at`, with the rows that events of these kinds write.

    Raises BadInputError where there is no such event.
    """
    last = await runtime.store.last_seq()
    if not 1 <= at <= last:
        told = f"the log has events 1 to {last}" if last else "the log is empty"
        raise BadInputError(f"There is no event {at}: {told}.", code="state.at", hint="Leave `at` out for the present.")
    await _refuse_deleted(runtime, at)
    rows: Rows = {}
    only, after = EventFilter(kinds=frozenset(kinds)), 0
    async with runtime.turns[TURN]:
        while after < at and (events := await runtime.store.events(after=after, limit=CHUNK, only=only)):
            after = events[-1].seq
            await asyncio.to_thread(_fold, rows, [event for event in events if event.seq <= at], runtime.project)
    return cast(Store, PastStore(runtime.store, store_in_memory(runtime.project, rows.values()), at))


async def _refuse_deleted(runtime: Runtime, at: int) -> None:
    """Where what led to that state was deleted, it cannot be told any more."""
    archive = runtime.store.archive
    gone = [part.last for part in await archive.parts() if part.deleted] if archive else []
    if gone and at <= max(gone):
        raise BadInputError(
            f"How everything was at event {at} cannot be told: old archives up to event {max(gone)} were deleted.",
            code="state.deleted",
            hint=f"Ask for {max(gone) + 1} or later.",
        )


def _fold(rows: Rows, events: list[Event], project: Projection) -> None:
    """A row keeps its place when it changes, and gets a new one when it was deleted and made again."""
    for event in events:
        for row in project(event):
            if row.body is None:
                rows.pop((row.kind, row.id), None)
            else:
                rows[row.kind, row.id] = row
