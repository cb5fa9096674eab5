"""Questions to the file, asked in a few threads with a connection each, so that neither the event loop nor the writer
ever waits for a reader.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import Any, TypeVar

from beforehand.adapters.log.refusals import closed, half_a_character
from beforehand.adapters.sqlite.schema import connect_reading, explained
from beforehand.adapters.sqlite.unwritable import lies_still, stamp_of

T = TypeVar("T")
_THREADS = 3


class Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path
        self._mine = local()
        self._connections: list[sqlite3.Connection] = []
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="beforehand-reader")
        self._asked: set[asyncio.Future[Any]] = set()
        self._closed = False

    async def in_thread(self, act: Callable[[], T]) -> T:
        """Run something that blocks in one of the threads; it is finished even if the caller is cancelled."""
        if self._closed:
            raise closed(str(self._path))
        asked = asyncio.get_running_loop().run_in_executor(self._pool, act)
        self._asked.add(asked)
        asked.add_done_callback(self._asked.discard)
        return await asyncio.shield(asked)

    def look_into(self, copy: Path) -> None:
        """Answer from a copy of the log instead; said before the first question."""
        self._file = copy

    async def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        return await self.in_thread(lambda: self._answer(question))

    async def close(self, last: Callable[[], None]) -> None:
        """Wait for what is being read, close the connections and then do what comes last, off the event loop."""
        self._closed = True
        await asyncio.gather(*self._asked, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(self._pool, self._close_all, last)
        self._pool.shutdown()

    def _answer(self, question: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return question(self._connection())
        except sqlite3.Error as problem:
            raise explained(problem, self._path) from problem
        except UnicodeEncodeError as problem:
            raise half_a_character() from problem

    def _connection(self) -> sqlite3.Connection:
        found: sqlite3.Connection | None = getattr(self._mine, "connection", None)
        if found is None or self._mine.stamp != self._stamp():
            found = self._mine.connection = connect_reading(self._file)
            self._mine.stamp = self._stamp()
            self._connections.append(found)
        return found

    def _stamp(self) -> object:
        """Where nothing can be written here, somebody elsewhere may still open the log: it is opened anew then."""
        return stamp_of(self._file) if lies_still(self._file) else None

    def _close_all(self, last: Callable[[], None]) -> None:
        for connection in self._connections:
            connection.close()
        last()
