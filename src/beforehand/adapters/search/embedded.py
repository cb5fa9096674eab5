"""Search inside this process: tables in a file beside the log, brought up to date whenever something is asked.

The log is read through the Store port, so any kind of store will do and what older code wrote comes in its present
form. Reading and asking go on in threads; the log's writer never waits for either. A server keeps the tables up to date
beforehand, a little at a time and mostly at rest; whoever asks and has to wait makes the same reading hurry. Where much
is missing a server has it read aside, by another process.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from typing import Any, TypeVar

from beforehand.adapters.search import tables, values
from beforehand.adapters.search.answers import Asker, answer
from beforehand.adapters.search.clauses import Columns, column
from beforehand.adapters.search.queries import Queries
from beforehand.adapters.search.requests import LONGEST_S, read_request
from beforehand.adapters.search.tallies import countable
from beforehand.model.errors import NotFoundError, UnavailableError
from beforehand.ports.log import Log
from beforehand.ports.search import Field, Found, Index, SearchTimeError
from beforehand.ports.store import Store
from beforehand.ports.tasks import part, stop

log = Log("beforehand.search")
T = TypeVar("T")
_CHUNK = 2_000
"""Events that are read at once while somebody waits."""
_LITTLE = 100
"""Events that are read at once while nobody does: so few that a decision hardly waits for the interpreter."""
_REST = 3.0
"""How long it rests then, in times of what the reading took."""
_GATHER_S = 0.5
"""How long what is appended is gathered before it is read."""
_FAR = 50_000
"""Events that are read aside, where that can be done: so many that starting another process is worth it."""
_LOOK_S = 0.2
_AGAIN_S = 30.0
_THREADS = 2
WAIT_S = 30.0
"""How long a question waits for events that are not in the tables yet, before it is told to come back."""


class EmbeddedSearch:
    """Opened without touching anything; `path` None keeps the tables in a temporary folder.

    `versions` are those in which the store gives events: tables made from others are made anew. `aside` has another
    process fill the tables at a path with a layout and says whether it has; cancelled, it ends that process.
    """

    def __init__(
        self,
        store: Store,
        indexes: Sequence[Index],
        *,
        now_ms: Callable[[], int],
        path: Path | None = None,
        versions: Mapping[str, int] | None = None,
        aside: Callable[[Path, str], Awaitable[bool]] | None = None,
        longest_s: float = LONGEST_S,
        wait_s: float = WAIT_S,
    ) -> None:
        self._store = store
        self._indexes = {index.name: index for index in indexes}
        self.layout = tables.layout_of(self._indexes, versions or {})
        self._now_ms = now_ms
        self._path = path
        self._aside = aside
        self._longest_s = longest_s
        self._wait_s = wait_s
        self._temporary: TemporaryDirectory[str] | None = None
        self._writing: sqlite3.Connection | None = None
        self._mine = local()
        self._connections: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="beforehand-search")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="beforehand-search-in")
        self._reading: asyncio.Task[None] | None = None
        self._waiting = 0
        self._hurry = asyncio.Event()
        self._read = 0
        self._ordered = False
        self._closed = False

    async def names(self) -> Sequence[str]:
        return sorted(self._indexes)

    async def fields(self, index: str) -> Sequence[Field]:
        return self._index(index).fields

    async def check(self, index: str, body: Mapping[str, Any]) -> None:
        read_request(self._columns(index), body, self._now_ms())

    async def search(self, index: str, body: Mapping[str, Any]) -> Found:
        columns, now = self._columns(index), self._now_ms()
        request = read_request(columns, body, now)
        counted = countable(self._index(index), body.get("query"), Queries(columns, now).stretch)
        await self.catch_up(self._wait_s)
        limit_s = min(request.limit_s, self._longest_s)

        def ask() -> Found:
            return answer(Asker(self._connection(), columns, column(index), limit_s), request, counted)

        return await self._in(self._pool, ask)

    async def values(self, index: str, fields: Sequence[str], most: int) -> Mapping[str, Sequence[str]]:
        listing = self._index(index)
        await self.catch_up(self._wait_s)
        found = await self._in(self._pool, lambda: values.find(self._connection(), listing, most))
        return {name: found[name] for name in fields}

    async def keep_up(self) -> None:
        appended = asyncio.Event()
        take_off = self._store.on_commit(lambda records: appended.set())
        try:
            while not self._closed:
                appended.clear()
                try:
                    await self._read_on(await self._store.last_seq())
                except UnavailableError as error:
                    log.warning("the tables for searching cannot be kept up to date", says=error.says)
                    await asyncio.sleep(_AGAIN_S)
                await appended.wait()
                await asyncio.sleep(_GATHER_S)
        finally:
            take_off()

    async def close(self) -> None:
        self._closed = True
        if self._reading is not None:
            await stop([self._reading])
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

    async def catch_up(self, wait_s: float) -> None:
        """Wait until everything that is in the log now is in the tables; the reading goes on when the wait is over."""
        self._waiting += 1
        self._hurry.set()
        try:
            await self._read_on(await self._store.last_seq(), wait_s)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._hurry.clear()

    async def _read_on(self, wanted: int, wait_s: float | None = None) -> None:
        """Return once the log has been read so far; SearchTimeError after the time to wait."""
        until = None if wait_s is None else time.monotonic() + wait_s
        while not self._ordered or self._read < wanted:
            if self._reading is None or self._reading.done():
                self._reading = part(self._catch_up(wanted))
            reading = self._reading  # another search may begin the next one before this goes on
            left = None if until is None else max(until - time.monotonic(), 0)
            done, _ = await asyncio.wait({reading}, timeout=left)
            if not done:
                raise SearchTimeError(
                    f"The log is still being read for searching: {self._read} of {wanted} events are in.",
                    code="search.reading",
                    hint="Ask again in a moment; the reading goes on meanwhile.",
                )
            reading.result()

    async def _catch_up(self, wanted: int) -> None:
        if self._writing is None:
            await self._open()
        if self._aside is not None and wanted - self._read > _FAR:
            await self._read_aside(self._aside)
        while self._read < wanted:
            began = time.monotonic()
            after = self._read
            events = await self._store.events(after=after, limit=_CHUNK if self._waiting else _LITTLE)
            if not events:
                break
            self._read = await self._in(self._writer, partial(self._take_in, events, after))
            await self._rest((time.monotonic() - began) * _REST)
        if not self._ordered:
            await self._in(self._writer, self._put_in_order)
            self._ordered = True

    async def _read_aside(self, aside: Callable[[Path, str], Awaitable[bool]]) -> None:
        """What another process does not do is done here after it."""
        assert self._path is not None
        reading = part(aside(self._path, self.layout))
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=_LOOK_S)
                self._read = await self._in(self._writer, self._place)
            if not await reading:
                log.warning("the log could not be read aside, and is read for searching beside everything else")
        finally:
            await stop([reading])

    async def _rest(self, seconds: float) -> None:
        """Leave the processor to others, unless somebody waits."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()

    async def _open(self) -> None:
        """Open the tables; those of another log, or of this one before it was put back, are emptied."""
        connection = await self._in(self._writer, self._laid_out)
        seq, first, last = tables.place(connection)
        for number, known in ((1, first), (seq, last)):
            if seq and [tables.mark(one) for one in await self._store.events(after=number - 1, limit=1)] != [known]:
                await self._in(self._writer, lambda: tables.make(connection, self._indexes, self.layout))
                seq = 0
        self._read, self._writing = seq, connection

    def _laid_out(self) -> sqlite3.Connection:
        if self._path is not None:
            try:
                return tables.lay_out(self._path, self._indexes, self.layout)
            except (sqlite3.OperationalError, OSError):
                pass  # a folder that cannot be written is no reason not to answer
        self._temporary = TemporaryDirectory(prefix="beforehand-search-")
        self._path = Path(self._temporary.name) / "search.db"
        return tables.lay_out(self._path, self._indexes, self.layout)

    def _take_in(self, events: Sequence[Any], after: int) -> int:
        assert self._writing is not None
        tables.take_in(self._writing, self._indexes, events, after)
        return self._place()

    def _put_in_order(self) -> None:
        assert self._writing is not None
        tables.put_in_order(self._writing, self._indexes)

    def _place(self) -> int:
        assert self._writing is not None
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
                f"The tables for searching could not be used: {problem}.",
                code="search.fault",
                hint=f"Remove {self._path} while no server runs: it is made anew from the log.",
            ) from problem
