"""The Store port on one SQLite file: what the parts come to together.

Opened for leading it appends and reads; opened for reading it only reads. All methods are called from the event loop
the store was opened in.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from errno import EISDIR
from pathlib import Path
from typing import Any, NamedTuple, overload

from beforehand.adapters.sqlite import tables
from beforehand.adapters.sqlite.encoding import Upcast, check_text, decoded, encoded, from_bytes, to_bytes
from beforehand.adapters.sqlite.lead import is_held, leader_in, lock, only_reading, take_lead
from beforehand.adapters.sqlite.reader import Reader
from beforehand.adapters.sqlite.schema import check_readable, connect_reading, connect_writing, explained
from beforehand.adapters.sqlite.writer import Writer
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import EVERYTHING, EventFilter, Leader, Projection, Record

Listener = Callable[[Sequence[Record]], None]


class Lead(NamedTuple):
    """What leading holds on to: the lock's descriptor, the connection that writes, and the epoch it writes under."""

    lock: int
    connection: sqlite3.Connection
    epoch: int

    def release(self) -> None:
        self.connection.close()
        os.close(self.lock)


class Numbered(Sequence[Event]):
    """Appended events with their numbers, each made when it is looked at: most callers ask for the last one only."""

    def __init__(self, events: Sequence[Event], first: int) -> None:
        self._events, self._first = tuple(events), first

    def __len__(self) -> int:
        return len(self._events)

    @overload
    def __getitem__(self, place: int) -> Event: ...
    @overload
    def __getitem__(self, place: slice) -> list[Event]: ...
    def __getitem__(self, place: int | slice) -> Event | list[Event]:
        places = range(len(self._events))[place]
        if isinstance(places, range):
            return [self._numbered(each) for each in places]
        return self._numbered(places)

    def _numbered(self, place: int) -> Event:
        e = self._events[place]
        return Event(e.kind, e.about, e.data, e.ts, e.scene, e.correlation_id, e.owner, self._first + place)


class SqliteStore:
    def __init__(self, path: Path, project: Projection, upcast: Upcast | None, reader: Reader) -> None:
        self._path = path
        self._project = project
        self._upcast = upcast
        self._reader = reader
        self._listeners: dict[object, Listener] = {}
        self._lead: Lead | None = None
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
        upcast: Upcast | None = None,
    ) -> "SqliteStore":
        """Open the log for leading or for reading; a home that another process leads is refused, saying which."""
        path = Path(path)
        reader = Reader(path)
        store = cls(path, project, upcast, reader)
        taken: list[Lead] = []
        since = now_ms()
        try:
            if lead:
                await reader.in_thread(lambda: taken.append(_take(path, since, url, note)))
                store._begin_leading(taken[0])
            else:
                await reader.in_thread(lambda: _look(path))
        except BaseException:
            # Also when the caller is cancelled while the lead is being taken.
            await reader.close(lambda: _release(taken))
            raise
        return store

    def _begin_leading(self, lead: Lead) -> None:
        self._lead = lead
        loop = asyncio.get_running_loop()
        self._writer = Writer(lead.connection, self._path, lead.epoch, loop, self._tell)

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        writer = await self._leading() if self._writer is None or self._closing is not None else self._writer
        if not events:
            return []
        project = self._project
        first = await writer.append([encoded(event, project) for event in events])
        return Numbered(events, first)

    async def last_seq(self) -> int:
        if self._writer is not None:
            return self._writer.last_seq
        return await self._reader.ask(tables.last_seq)

    async def records(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Record]:
        return await self._reader.ask(
            lambda file: [Record(*found) for found in tables.find_records(file, after, limit, only)]
        )

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        return await self._reader.ask(
            lambda file: [
                decoded(seq, ts, owner, line, self._upcast)
                for seq, ts, owner, line in tables.find_events(file, after, limit, only)
            ]
        )

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        def look(file: sqlite3.Connection) -> dict[str, Any] | None:
            found = file.execute("SELECT body FROM rows WHERE kind = ? AND id = ?", (kind, id)).fetchone()
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
        await writer.do(lambda file: tables.rebuild(file, self._project, self._upcast))

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        key = object()
        self._listeners[key] = listener

        def take_off() -> None:
            self._listeners.pop(key, None)

        return take_off

    async def announce(self, url: str | None, note: str = "") -> None:
        writer = await self._leading()
        check_text(f"{url}{note}", "The announcement", "url")
        await writer.do(lambda file: file.execute("UPDATE lead SET url = ?, note = ?", (url, note)) and None)

    async def leader(self) -> Leader | None:
        return await self._reader.ask(lambda file: leader_in(file, alive=is_held(self._path)))

    async def close(self) -> None:
        """Write what is queued, let readers finish and give the lead back; closing twice is closing once."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._shut())
        await asyncio.shield(self._closing)

    async def _shut(self) -> None:
        if self._writer is not None:
            await self._writer.drain()
        await self._reader.close(lambda: _release([self._lead] if self._lead else []))

    async def _leading(self) -> Writer:
        """The writer, for a process that leads; anybody else is told who does."""
        if self._closing is not None:
            raise UnavailableError(f"The log {self._path} has been closed.", code="store.closed")
        if self._writer is None:
            raise only_reading(self._path, await self.leader())
        return self._writer

    def _tell(self, records: Sequence[Record]) -> None:
        """Show a commit to every listener; one that fails does not keep it from the others."""
        for listener in list(self._listeners.values()):
            try:
                listener(records)
            except Exception as problem:
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "A listener to the log failed.", "exception": problem}
                )


def _release(taken: Sequence[Lead]) -> None:
    for lead in taken:
        lead.release()


def _take(path: Path, since: int, url: str | None, note: str) -> Lead:
    """Become the leader, or leave everything as it was."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = lock(path)
    except OSError as problem:
        raise explained(problem, path) from problem
    try:
        connection = connect_writing(path)
        try:
            return Lead(held, connection, take_lead(connection, since=since, url=url, note=note))
        except BaseException:
            connection.close()
            raise
    except BaseException as problem:
        os.close(held)
        if isinstance(problem, sqlite3.Error | OSError):
            raise explained(problem, path) from problem
        raise


def _look(path: Path) -> None:
    """Make sure there is a log that this version can read."""
    if not path.exists():
        raise UnavailableError(
            f"There is no log at {path} yet.", code="store.missing", hint="Start the home once, or name another one."
        )
    if not path.is_file():
        raise explained(IsADirectoryError(EISDIR, os.strerror(EISDIR)), path)
    try:
        with closing(connect_reading(path)) as connection:
            check_readable(connection, path)
    except sqlite3.Error as problem:
        raise explained(problem, path) from problem
