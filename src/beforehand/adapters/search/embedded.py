"""Search inside this process: tables in a file beside the log, brought up to date whenever something is asked.

The log is read through the Store port, so any kind of store will do and what older code wrote comes in its present
form. Reading and asking go on in threads; the log's writer never waits for either.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from typing import Any, TypeVar

from beforehand.adapters.search import tables
from beforehand.adapters.search.answers import Asker, answer
from beforehand.adapters.search.clauses import Columns, column
from beforehand.adapters.search.requests import LONGEST_S, read_request
from beforehand.model.errors import NotFoundError, UnavailableError
from beforehand.ports.search import Field, Found, Index, SearchTimeError
from beforehand.ports.store import Store

T = TypeVar("T")
_CHUNK = 2_000
_THREADS = 2
WAIT_S = 30.0
"""How long a question waits for events that are not in the tables yet, before it is told to come back."""


class EmbeddedSearch:
    """Opened without touching anything; `path` None keeps the tables in a temporary folder."""

    def __init__(
        self,
        store: Store,
        indexes: Sequence[Index],
        *,
        now_ms: Callable[[], int],
        path: Path | None = None,
        longest_s: float = LONGEST_S,
        wait_s: float = WAIT_S,
    ) -> None:
        self._store = store
        self._indexes = {index.name: index for index in indexes}
        self._now_ms = now_ms
        self._path = path
        self._longest_s = longest_s
        self._wait_s = wait_s
        self._temporary: TemporaryDirectory[str] | None = None
        self._writing: sqlite3.Connection | None = None
        self._mine = local()
        self._connections: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="beforehand-search")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="beforehand-search-in")
        self._reading: asyncio.Task[None] | None = None
        self._read = 0
        self._closed = False

    async def names(self) -> Sequence[str]:
        return sorted(self._indexes)

    async def fields(self, index: str) -> Sequence[Field]:
        return self._index(index).fields

    async def check(self, index: str, body: Mapping[str, Any]) -> None:
        read_request(self._columns(index), body, self._now_ms())

    async def search(self, index: str, body: Mapping[str, Any]) -> Found:
        columns = self._columns(index)
        request = read_request(columns, body, self._now_ms())
        await self._be_up_to_date()
        limit_s = min(request.limit_s, self._longest_s)

        def ask() -> Found:
            return answer(Asker(self._connection(), columns, column(index), limit_s), request)

        return await self._in(self._pool, ask)

    async def close(self) -> None:
        self._closed = True
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._reading
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._pool.shutdown()
        self._writer.shutdown()
        for connection in (*self._connections, *([self._writing] if self._writing else [])):
            connection.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _index(self, name: str) -> Index:
        if name not in self._indexes:
            raise NotFoundError.unknown("index", name, self._indexes, code="search.index", plural="indexes")
        return self._indexes[name]

    def _columns(self, name: str) -> Columns:
        return Columns(name, self._index(name).fields)

    async def _be_up_to_date(self) -> None:
        """Wait until everything that is in the log now is in the tables; the reading goes on when the wait is over."""
        wanted = await self._store.last_seq()
        until = time.monotonic() + self._wait_s
        while self._writing is None or self._read < wanted:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.ensure_future(self._catch_up(wanted))
            left = until - time.monotonic()
            done, _ = await asyncio.wait({self._reading}, timeout=max(left, 0))
            if not done:
                raise SearchTimeError(
                    f"The log is still being read for searching: {self._read} of {wanted} events are in.",
                    code="search.reading",
                    hint="Ask again in a moment; the reading goes on meanwhile.",
                )
            self._reading.result()

    async def _catch_up(self, wanted: int) -> None:
        if self._writing is None:
            await self._open()
        while self._read < wanted:
            events = await self._store.events(after=self._read, limit=_CHUNK)
            if not events:
                return
            self._read = await self._in(self._writer, lambda events=events: self._take_in(events))  # type: ignore[misc]

    async def _open(self) -> None:
        """Open the tables; those of another log, or of this one before it was put back, are emptied."""
        connection = await self._in(self._writer, self._laid_out)
        seq, first, last = tables.place(connection)
        for number, known in ((1, first), (seq, last)):
            if seq and [tables.mark(one) for one in await self._store.events(after=number - 1, limit=1)] != [known]:
                await self._in(
                    self._writer, lambda: tables.make(connection, self._indexes, tables.layout_of(self._indexes))
                )
                seq = 0
        self._read, self._writing = seq, connection

    def _laid_out(self) -> sqlite3.Connection:
        if self._path is not None:
            try:
                return tables.lay_out(self._path, self._indexes)
            except (sqlite3.OperationalError, OSError):
                pass  # a folder that cannot be written is no reason not to answer
        self._temporary = TemporaryDirectory(prefix="beforehand-search-")
        self._path = Path(self._temporary.name) / "search.db"
        return tables.lay_out(self._path, self._indexes)

    def _take_in(self, events: Sequence[Any]) -> int:
        assert self._writing is not None
        tables.take_in(self._writing, self._indexes, events)
        return tables.place(self._writing)[0]

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if found is None:
            assert self._path is not None
            found = self._mine.connection = tables.connect(self._path, writing=False)
            self._connections.append(found)
        return found

    async def _in(self, pool: ThreadPoolExecutor, act: Callable[[], T]) -> T:
        if self._closed:
            raise UnavailableError("The search is closed.", code="search.closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, act)
        except sqlite3.Error as problem:
            raise UnavailableError(
                f"The tables for searching could not be used: {problem}.", code="search.fault"
            ) from problem
