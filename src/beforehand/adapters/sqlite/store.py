"""The Store port on one SQLite file: what the parts come to together.

Opened for leading it appends and reads; opened for reading it only reads. All methods are called from the event loop
the store was opened in.
"""

import asyncio
import math
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beforehand.adapters.log.archive import LogArchive
from beforehand.adapters.log.encoding import (
    Kept,
    check_text,
    encoded,
    from_bytes,
    has_reached,
    present_event,
    present_record,
    to_bytes,
    up_to,
)
from beforehand.adapters.log.listeners import Listener, Listeners
from beforehand.adapters.log.numbered import Numbered
from beforehand.adapters.log.refusals import closed, only_reading
from beforehand.adapters.sqlite import tables
from beforehand.adapters.sqlite.archive import FileShelf, live_events
from beforehand.adapters.sqlite.damage import in_full
from beforehand.adapters.sqlite.lead import is_held, leader_in
from beforehand.adapters.sqlite.opening import Lead, Look, Opening, look, mark_beside, place_of, take
from beforehand.adapters.sqlite.reader import Reader
from beforehand.adapters.sqlite.upgrade import copy_in, rebuild
from beforehand.adapters.sqlite.writer import Writer
from beforehand.model.chain import ChainMark
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.model.versions import UPCASTERS, Upcasters
from beforehand.ports.store import EVERYTHING, Chained, EventFilter, Leader, Projection, Record, RowQuery
from beforehand.ports.tasks import part


class SqliteStore:
    def __init__(self, path: Path, project: Projection, upcasters: Upcasters) -> None:
        self._path = path
        self._project = project
        self._upcasters = upcasters
        self._reader = Reader(path)
        shelf = FileShelf(path, self._reader, self._write)
        self.archive = LogArchive(shelf, upcasters, lambda: self._upgraded_at, lambda: self._writer is not None)
        self._listeners = Listeners()
        self._held: list[Lead | Look] = []
        self._upgraded_at = 0
        self._writer: Writer | None = None
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        path: Path | str,
        *,
        project: Projection,
        lead: bool = True,
        now_ms: Callable[[], int],
        url: str | None = None,
        note: str = "",
        upcasters: Upcasters = UPCASTERS,
    ) -> "SqliteStore":
        """Open the log for leading or for reading; a home that another process leads is refused, saying which.

        What older code wrote comes out as `upcasters` and `project` have it now.
        """
        store = cls(Path(path), project, upcasters)
        opening = Opening(store._path, project, upcasters, now_ms(), url, note)
        try:
            await store._reader.in_thread(lambda: store._held.append(take(opening) if lead else look(opening)))
            store._begin(store._held[0])
        except BaseException as problem:
            # Also when the caller is cancelled while the lead is being taken.
            await store._reader.close(store._release)
            if isinstance(problem, sqlite3.Error):
                raise in_full(problem, store._path) from problem
            raise
        return store

    def _begin(self, held: Lead | Look) -> None:
        self._upgraded_at = held.upgraded_at
        if isinstance(held, Lead):
            loop = asyncio.get_running_loop()
            self._writer = Writer(held.connection, self._path, held.epoch, loop, self._listeners.tell)
        elif held.copied is not None:
            self._reader.look_into(copy_in(held.copied))

    @property
    def mark_file(self) -> Path | None:
        return mark_beside(self._path)

    async def identity(self) -> LogIdentity | None:
        return await self._reader.ask(tables.identity_in)

    async def identify(self, identity: LogIdentity) -> None:
        writer = await self._leading()
        place = place_of(self._path)
        await writer.do(lambda file: tables.put_identity(file, identity, place))

    async def lies_elsewhere(self) -> bool | None:
        noted = await self._reader.ask(tables.place_in)
        return noted != place_of(self._path) if noted else None

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        writer = await self._leading() if self._writer is None or self._closing is not None else self._writer
        if not events:
            return []
        project, upcasters = self._project, self._upcasters
        first = await writer.append([encoded(event, project, upcasters) for event in events])
        return Numbered(events, first)

    async def last_seq(self) -> int:
        if self._writer is not None:
            return self._writer.last_seq
        return await self._reader.ask(tables.last_seq)

    async def records(
        self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING, *, most_bytes: int | None = None
    ) -> list[Record]:
        live = await self._reader.ask(
            lambda file: up_to(most_bytes, map(self._record, tables.find_records(file, after, limit, only)))
        )
        whole = len(live) < limit and not has_reached(most_bytes, live)
        read = self.archive.record
        return up_to(most_bytes, await self.archive.joined(live, read, only, limit, above=after, is_whole=whole))

    async def last_records(
        self, before: int | None = None, limit: int = 1000, only: EventFilter = EVERYTHING
    ) -> list[Record]:
        end = tables.LAST if before is None else before
        live = await self._reader.ask(
            lambda file: [self._record(found) for found in tables.find_last_records(file, end, limit, only)]
        )
        read, whole = self.archive.record, len(live) < limit
        found = await self.archive.joined(live, read, only, limit, below=end, newest_first=True, is_whole=whole)
        return found[::-1]

    def _record(self, found: Sequence[Any]) -> Record:
        """What older code may have written is brought up to date; the line of anything else is its wire form."""
        if found[0] > self._upgraded_at:
            return Record(*found[:7])
        return present_record(tables.kept_in(found), self._upcasters)

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        live = await self._reader.ask(
            lambda file: [
                present_event(Kept(*found), self._upcasters) for found in tables.find_events(file, after, limit, only)
            ]
        )
        read, whole = self.archive.event, len(live) < limit
        return await self.archive.joined(live, read, only, limit, above=after, is_whole=whole)

    async def chained(self, after: int = 0, limit: int = 1000) -> list[Chained]:
        live = await self._reader.ask(lambda file: live_events(file, after, limit))
        return await self.archive.chained(live, after, limit)

    async def chain_marks(self) -> list[ChainMark]:
        return await self._reader.ask(tables.marks_in)

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        def look(file: sqlite3.Connection) -> dict[str, Any] | None:
            found = file.execute(*tables.row_question(kind, id)).fetchone()
            return from_bytes(found[0]) if found else None

        return await self._reader.ask(look)

    async def rows(
        self,
        kind: str,
        *,
        parent: str | None = None,
        open: bool | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[dict[str, Any]]:
        question = tables.rows_question(kind, parent, open, limit, newest_first)
        return await self._reader.ask(lambda file: [from_bytes(found[0]) for found in file.execute(*question)])

    async def query(self, *queries: RowQuery) -> list[list[dict[str, Any]]]:
        asked = [tables.query_question(query) for query in queries]

        def look(file: sqlite3.Connection) -> list[list[dict[str, Any]]]:
            file.execute("BEGIN")  # what is read in one transaction is of one moment
            try:
                return [[from_bytes(found[0]) for found in file.execute(*question)] for question in asked]
            finally:
                file.execute("ROLLBACK")

        return await self._reader.ask(look)

    async def count(self, kind: str, *, open: bool | None = None) -> int:
        return await self._reader.ask(lambda file: tables.count_rows(file, kind, open))

    async def save_snapshot(self, owner: str, seq: int, body: Mapping[str, Any]) -> None:
        writer = await self._leading()
        check_text(owner, "The snapshot", "owner")
        written = to_bytes(body, f"The snapshot of {owner}", "body")
        await writer.do(lambda file: tables.keep_snapshot(file, owner, seq, written))

    async def snapshot(self, owner: str) -> tuple[int, dict[str, Any]] | None:
        def look(file: sqlite3.Connection) -> tuple[int, dict[str, Any]] | None:
            found = file.execute("SELECT seq, body FROM snapshots WHERE owner = ?", (owner,)).fetchone()
            return (found[0], from_bytes(found[1])) if found else None

        return await self._reader.ask(look)

    async def rebuild_rows(self) -> None:
        writer = await self._leading()
        await writer.do(lambda file: rebuild(file, self._path, self._project, self._upcasters))

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.add(listener)

    async def announce(self, url: str | None, note: str = "") -> None:
        writer = await self._leading()
        check_text(f"{url}{note}", "The announcement", "url")
        await writer.do(lambda file: file.execute("UPDATE lead SET url = ?, note = ?", (url, note)) and None)

    async def leader(self) -> Leader | None:
        return await self._reader.ask(lambda file: leader_in(file, alive=is_held(self._path)))

    def lead_left_s(self) -> float:
        return 0.0 if self._writer is None or self._closing is not None else math.inf

    async def _write(self, act: Callable[[sqlite3.Connection], Any]) -> Any:
        return await (await self._leading()).do(act)

    async def close(self) -> None:
        """Write what is queued, let readers finish and give the lead back; closing twice is closing once."""
        if self._closing is None:
            self._closing = part(self._shut())
        await asyncio.shield(self._closing)

    async def _shut(self) -> None:
        if self._writer is not None:
            await self._writer.drain()
        await self._reader.close(self._release)

    def _release(self) -> None:
        for held in self._held:
            held.release()

    async def _leading(self) -> Writer:
        """The writer, for a process that leads; anybody else is told who does."""
        if self._closing is not None:
            raise closed(str(self._path))
        if self._writer is None:
            raise only_reading(str(self._path), await self.leader())
        return self._writer
