"""The Store port in memory: the same promises, nothing kept.

Events and documents come back as JSON would give them, and what JSON cannot hold is refused, so that a test on this
store sees what the disk would show. `break_down` makes appends fail as a full disk does, until `mend`.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic_core import from_json, to_json

from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import EVERYTHING, EventFilter, Leader, Projection, Record, Row

Listener = Callable[[Sequence[Record]], None]


def _no_rows(event: Event) -> Iterable[Row]:
    return ()


class MemoryStore:
    def __init__(self, project: Projection = _no_rows, rows: Iterable[Row] = ()) -> None:
        """`rows` are there from the start, as if they had been read out of events."""
        self.log: list[Event] = []
        """Every event, as it would be read back."""
        self._records: list[Record] = []
        self._project = project
        self._rows: dict[tuple[str, str], tuple[bytes, str, bool]] = {}
        self._rows |= {(row.kind, row.id): (to_json(row.body), row.parent, row.open) for row in rows}
        self._snapshots: dict[str, tuple[int, bytes]] = {}
        self._listeners: dict[object, Listener] = {}
        self._broken = False
        self._closed = False
        self._leader = Leader(epoch=1, pid=0, host="memory", url=None, since=0)
        self.appends = 0

    def break_down(self) -> None:
        self._broken = True

    def mend(self) -> None:
        self._broken = False

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        if self._broken or self._closed:
            raise UnavailableError("The log cannot be written now.", code="store.unavailable")
        written = [_through_json(event, seq) for seq, event in enumerate(events, len(self.log) + 1)]
        records = [_record(event) for event in written]
        for event in written:
            self._write_rows(event)
        self.log += written
        self._records += records
        self.appends += 1
        await asyncio.sleep(0)
        if records:
            for listener in list(self._listeners.values()):
                listener(records)
        return [event.numbered(entry.seq) for event, entry in zip(events, written, strict=True)]

    def _write_rows(self, event: Event) -> None:
        for row in self._project(event):
            key = (row.kind, row.id)
            if row.body is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = (to_json(row.body), row.parent, row.open)

    async def last_seq(self) -> int:
        return len(self.log)

    async def records(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Record]:
        return [record for record in self._records[max(0, after) :] if only.admits(record)][: max(0, limit)]

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        return [self.log[record.seq - 1] for record in await self.records(after, limit, only)]

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        found = self._rows.get((kind, id))
        return from_json(found[0]) if found else None

    async def rows(
        self,
        kind: str,
        *,
        parent: str | None = None,
        open: bool | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[dict[str, Any]]:
        found = [
            body
            for (of, _), (body, under, is_open) in self._rows.items()
            if of == kind and (parent is None or under == parent) and (open is None or is_open == open)
        ]
        if newest_first:
            found.reverse()
        return [from_json(body) for body in found[:limit]]

    async def count(self, kind: str, *, open: bool | None = None) -> int:
        return len(await self.rows(kind, open=open))

    async def save_snapshot(self, owner: str, seq: int, body: Mapping[str, Any]) -> None:
        self._snapshots[owner] = (seq, to_json(body))

    async def snapshot(self, owner: str) -> tuple[int, dict[str, Any]] | None:
        found = self._snapshots.get(owner)
        return (found[0], from_json(found[1])) if found else None

    async def rebuild_rows(self) -> None:
        self._rows.clear()
        for event in self.log:
            self._write_rows(event.numbered(0))

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        key = object()
        self._listeners[key] = listener

        def take_off() -> None:
            self._listeners.pop(key, None)

        return take_off

    async def announce(self, url: str | None, note: str = "") -> None:
        self._leader = Leader(epoch=1, pid=0, host="memory", url=url, since=0, note=note)

    async def leader(self) -> Leader | None:
        return self._leader

    async def close(self) -> None:
        self._closed = True


def _through_json(event: Event, seq: int) -> Event:
    """The event as a log gives it back; what JSON cannot hold is refused."""
    try:
        data = to_json([event.about, event.data], inf_nan_mode="constants")
    except (ValueError, TypeError) as problem:
        raise BadInputError(f"The event {event.kind} cannot be written: {problem}.") from problem
    try:
        about, body = from_json(data, allow_inf_nan=False)
    except ValueError as problem:
        raise BadInputError(f"The event {event.kind} holds a number that is not finite.") from problem
    return Event(event.kind, about, body, event.ts, event.scene, event.correlation_id, event.owner, seq)


def _record(event: Event) -> Record:
    run_id, task_id = (None if (name := event.about.get(key)) is None else str(name) for key in ("runId", "taskId"))
    return Record(event.seq, event.kind, event.scene, event.owner, run_id, task_id, to_json(event.wire()))
