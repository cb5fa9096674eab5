"""The Store port in memory: the same promises as on disk, as long as the process lives.

Events and documents come back as JSON would give them, and what JSON cannot hold is refused, so that a test on this
store sees what the disk would show. `break_down` makes writes fail as a full disk does, until `mend`.
"""

import asyncio
import math
import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from beforehand.adapters.log.encoding import (
    Change,
    Entry,
    check_text,
    encoded,
    from_bytes,
    is_whole,
    present_event,
    to_bytes,
    up_to,
)
from beforehand.adapters.log.listeners import Listener, Listeners
from beforehand.adapters.log.refusals import (
    check_filter,
    closed,
    half_a_character,
    led_by_another,
    no_room,
    only_reading,
)
from beforehand.adapters.memory.log import WHERE, MemoryLog
from beforehand.model.chain import ChainMark
from beforehand.model.errors import BeforehandError
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.model.versions import UPCASTERS, Upcasters
from beforehand.ports.store import EVERYTHING, Chained, EventFilter, Leader, Projection, Record, Row, RowQuery


def _no_rows(event: Event) -> Iterable[Row]:
    return ()


class MemoryStore:
    archive = None
    mark_file = None

    def __init__(
        self,
        project: Projection = _no_rows,
        *,
        shared: MemoryLog | None = None,
        lead: bool = True,
        now_ms: Callable[[], int] = lambda: 0,
        url: str | None = None,
        note: str = "",
        upcasters: Upcasters = UPCASTERS,
    ) -> None:
        """Open a log of its own, or one that is `shared` with other stores, for leading or for reading."""
        self._project = project
        self._upcasters = upcasters
        self._listeners = Listeners()
        self._waiting: list[tuple[list[Entry], asyncio.Future[int]]] = []
        self._closed = False
        self.appends = 0
        self._shared = MemoryLog() if shared is None else shared
        self._epoch = self._take_lead(now_ms(), url, note) if lead else None
        self._log = self._shared if lead else _present(self._shared, project, upcasters)

    @property
    def log(self) -> list[Event]:
        """Every event, as it is read back."""
        return self._log.events

    def seed(self, rows: Iterable[Row]) -> None:
        """Have rows from the start, as if they had been read out of events."""
        for row in rows:
            body = to_bytes(row.body, "A row", row.kind)
            self._log.rows[row.kind, row.id] = Change(row.kind, row.id, row.parent, int(row.open), body)

    def break_down(self) -> None:
        self._shared.full = True

    def mend(self) -> None:
        self._shared.full = False

    async def identity(self) -> LogIdentity | None:
        return self._shared.identity

    async def identify(self, identity: LogIdentity) -> None:
        self._check_writable()
        self._shared.identity = identity

    async def lies_elsewhere(self) -> bool | None:
        return False

    async def chained(self, after: int = 0, limit: int = 1000) -> list[Chained]:
        return []  # nobody else can reach what lies in this process, so it has no chain

    async def chain_marks(self) -> list[ChainMark]:
        return []

    # -- writing -------------------------------------------------------------------------------------------------

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        self._check_writable()
        entries = [encoded(event, self._project, self._upcasters) for event in events]
        if not entries:
            return []
        loop = asyncio.get_running_loop()
        done: asyncio.Future[int] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append((entries, done))
        first = await done
        return [event.numbered(seq) for seq, event in enumerate(events, first)]

    def _commit(self) -> None:
        """Write all that waits at once, or none of it."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        refusal = self._refusal()
        records: list[Record] = []
        for entries, done in waiting:
            first = len(self._log.kept) + 1
            records += [] if refusal else self._log.write(entries, self._upcasters)
            if done.done():
                continue
            if refusal:
                done.set_exception(refusal)
            else:
                done.set_result(first)
        if not refusal:
            self.appends += len(waiting)
            self._listeners.tell(records)

    async def save_snapshot(self, owner: str, seq: int, body: Mapping[str, Any]) -> None:
        self._check_writable()
        check_text(owner, "The snapshot", "owner")
        written = to_bytes(body, f"The snapshot of {owner}", "body")
        if seq >= self._log.snapshots.get(owner, (0,))[0]:
            self._log.snapshots[owner] = (seq, written)

    async def rebuild_rows(self) -> None:
        self._check_writable()
        self._commit()
        self._log.rebuild(self._project, self._upcasters)

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.add(listener)

    # -- reading -------------------------------------------------------------------------------------------------

    async def last_seq(self) -> int:
        return len((await self._ask()).kept)

    async def records(
        self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING, *, most_bytes: int | None = None
    ) -> list[Record]:
        check_filter(only)
        found = (await self._ask()).records[max(0, after) :]
        return up_to(most_bytes, [record for record in found if only.admits(record)][: max(0, limit)])

    async def last_records(
        self, before: int | None = None, limit: int = 1000, only: EventFilter = EVERYTHING
    ) -> list[Record]:
        check_filter(only)
        found = (await self._ask()).records[: None if before is None else max(0, before - 1)]
        admitted = [record for record in found if only.admits(record)]
        return admitted[max(0, len(admitted) - max(0, limit)) :]

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        found = await self.records(after, limit, only)
        return [present_event(self._log.kept[record.seq - 1], self._upcasters) for record in found]

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        _check_names(kind, id)
        found = _fitting(await self._ask(), RowQuery(kind, id))
        return _document(found[0]) if found else None

    async def rows(
        self,
        kind: str,
        *,
        parent: str | None = None,
        open: bool | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[dict[str, Any]]:
        _check_names(kind, parent or "")
        found = _fitting(await self._ask(), RowQuery(kind, None, parent, open))
        if newest_first:
            found.reverse()
        return [_document(row) for row in found[: None if limit is None else max(0, limit)]]

    async def query(self, *queries: RowQuery) -> list[list[dict[str, Any]]]:
        for query in queries:
            _check_names(query.kind, query.id or query.parent or "")
        log = await self._ask()
        return [[_document(row) for row in _fitting(log, query)] for query in queries]

    async def count(self, kind: str, *, open: bool | None = None) -> int:
        log = await self._ask()
        return sum(row.kind == kind and (open is None or row.open == open) for row in log.rows.values())

    async def snapshot(self, owner: str) -> tuple[int, dict[str, Any]] | None:
        found = (await self._ask()).snapshots.get(owner)
        return (found[0], from_bytes(found[1])) if found else None

    async def _ask(self) -> MemoryLog:
        """The log, once others have had their turn, as they have while a disk is read."""
        self._check_open()
        await asyncio.sleep(0)
        return self._log

    # -- leading -------------------------------------------------------------------------------------------------

    async def announce(self, url: str | None, note: str = "") -> None:
        self._check_writable()
        check_text(f"{url}{note}", "The announcement", "url")
        if self._shared.leader is not None:
            self._shared.leader = replace(self._shared.leader, url=url, note=note)

    async def leader(self) -> Leader | None:
        self._check_open()
        return self._shared.leader

    def lead_left_s(self) -> float:
        return 0.0 if self._epoch is None or self._closed else math.inf

    async def close(self) -> None:
        """Write what is queued and give the lead back; closing twice is closing once."""
        self._commit()
        self._closed = True
        leader = self._shared.leader
        if leader is not None and leader.epoch == self._epoch:
            self._shared.leader = replace(leader, alive=False)

    def _take_lead(self, since: int, url: str | None, note: str) -> int:
        before = self._shared.leader
        if before is not None and before.alive:
            raise led_by_another(WHERE, before)
        self._shared.bring_up_to_date(self._project, self._upcasters)
        epoch = before.epoch + 1 if before else 1
        self._shared.leader = Leader(epoch, os.getpid(), socket.gethostname(), url, since, note)
        return epoch

    def _check_open(self) -> None:
        if self._closed:
            raise closed(WHERE)

    def _check_writable(self) -> None:
        self._check_open()
        if self._epoch is None:
            raise only_reading(WHERE, self._shared.leader)
        if refusal := self._refusal():
            raise refusal

    def _refusal(self) -> BeforehandError | None:
        """Why nothing can be written now, if so."""
        leader = self._shared.leader
        if leader is not None and leader.epoch != self._epoch:
            return led_by_another(WHERE, leader)
        return no_room(WHERE) if self._shared.full else None


def _present(log: MemoryLog, project: Projection, upcasters: Upcasters) -> MemoryLog:
    """The log itself, or a copy brought up to date where older code wrote it last."""
    if not log.is_behind(upcasters):
        return log
    copy = log.copied()
    copy.bring_up_to_date(project, upcasters)
    return copy


def _fitting(log: MemoryLog, query: RowQuery) -> list[Change]:
    if query.id is not None:
        found = log.rows.get((query.kind, query.id))
        return [found] if found else []
    return [
        row
        for row in log.rows.values()
        if row.kind == query.kind
        and (query.parent is None or row.parent == query.parent)
        and (query.open is None or row.open == query.open)
    ]


def _document(row: Change) -> dict[str, Any]:
    return from_bytes(row.body or b"{}")


def _check_names(*names: str) -> None:
    if not all(map(is_whole, names)):
        raise half_a_character()
