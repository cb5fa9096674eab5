"""The one thread that commits.

It takes everything that has queued up since its last commit, numbers it, writes it in one transaction and wakes all who
wait with one wake-up. Numbers are given here and only kept when the commit is: a failed one leaves no
gap.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from beforehand.adapters.log.encoding import Change, Entry, line_of
from beforehand.adapters.sqlite.lead import check_lead
from beforehand.adapters.sqlite.schema import explained
from beforehand.adapters.sqlite.spans import Note, Spans, note_spans
from beforehand.adapters.sqlite.tables import apply_changes, insert_events, last_link, last_seq
from beforehand.adapters.sqlite.wakeup import Wakeup
from beforehand.model.chain import START, link
from beforehand.ports.store import Record

# What one append alone can cause: the others of its commit are then tried without it.
_OWN_FAULTS = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    OverflowError,
)


class Append(NamedTuple):
    """Events to write; `done` gets the number of the first."""

    entries: Sequence[Entry]
    done: "asyncio.Future[Any]"


class Chore(NamedTuple):
    """Anything else to write, in a transaction of its own; `done` gets what it returns."""

    act: Callable[[sqlite3.Connection], Any]
    done: "asyncio.Future[Any]"


class Writer:
    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        epoch: int,
        loop: asyncio.AbstractEventLoop,
        committed: Callable[[Sequence[Record]], None],
    ) -> None:
        self._connection = connection
        self._path = path
        self._epoch = epoch
        self._loop = loop
        self._committed = committed
        self.last_seq = last_seq(connection)
        self._link = last_link(connection)
        self._spans = Spans()
        self._queue: deque[Append | Chore | None] = deque()
        self._outcomes: deque[tuple[Callable[..., None], Any, Any]] = deque()
        self._asked, self._told = Wakeup(), Wakeup()
        self._ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._told.fd, self._hear)
        self._thread = Thread(target=self._work, name="beforehand-writer", daemon=True)
        self._thread.start()

    # -- in the event loop ---------------------------------------------------------------------------------------

    def append(self, entries: Sequence[Entry]) -> "asyncio.Future[int]":
        """Done when the entries are on disk; the number of the first."""
        done: asyncio.Future[int] = self._loop.create_future()
        self._put(Append(entries, done))
        return done

    def do(self, act: Callable[[sqlite3.Connection], Any]) -> "asyncio.Future[Any]":
        done: asyncio.Future[Any] = self._loop.create_future()
        self._put(Chore(act, done))
        return done

    async def drain(self) -> None:
        """Write what is queued and end the thread."""
        self._put(None)
        await self._ended
        self._thread.join()
        self._loop.remove_reader(self._told.fd)
        self._asked.close()
        self._told.close()

    def _put(self, work: Append | Chore | None) -> None:
        self._queue.append(work)
        self._asked.wake()

    def _hear(self) -> None:
        self._told.wait()
        while self._outcomes:
            tell, whom, what = self._outcomes.popleft()
            tell(whom, what)

    def _wake_appends(self, appends: list[Append], records: list[Record]) -> None:
        first = records[0].seq
        for append in appends:
            _settle(append.done, first)
            first += len(append.entries)
        self._committed(records)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _work(self) -> None:
        going = True
        while going:
            self._asked.wait()
            appends: list[Append] = []
            while self._queue and going:
                work = self._queue.popleft()
                if type(work) is Append:
                    appends.append(work)
                    continue
                appends = self._append_all(appends)
                if isinstance(work, Chore):
                    self._do(work)
                going = work is not None
            self._append_all(appends)
        self._tell(_settle, self._ended, None)

    def _append_all(self, appends: list[Append]) -> list[Append]:
        if appends:
            self._append(appends)
        return []

    def _append(self, appends: list[Append]) -> None:
        try:
            records = self._write(appends)
        except _OWN_FAULTS as problem:
            if len(appends) == 1:
                self._fail(appends, problem)
            else:
                for alone in appends:
                    self._append([alone])
        except BaseException as problem:
            self._fail(appends, problem)
        else:
            self._tell(self._wake_appends, appends, records)

    def _write(self, appends: list[Append]) -> list[Record]:
        seq, link_before = self.last_seq, self._link or START
        records: list[Record] = []
        flat: list[Any] = []
        changes: list[tuple[int, Change]] = []
        for append in appends:
            for ts, kind, scene, owner, run_id, task_id, version, tail, rows in append.entries:
                seq += 1
                line = line_of(seq, tail)
                records.append(Record(seq, kind, scene, owner, run_id, task_id, line))
                link_before = link(link_before, ts, version, owner, line)
                flat += (seq, ts, kind, scene, owner, run_id, task_id, line, version, link_before)
                for row in rows:
                    changes.append((seq, row))
        notes = self._spans.unnoted(records)
        self._commit(flat, changes, notes)
        self.last_seq, self._link = seq, link_before
        if notes:
            self._spans.keep(notes)
        return records

    def _commit(self, flat: list[Any], changes: list[tuple[int, Change]], notes: list[Note]) -> None:
        connection = self._connection
        self._begin()
        try:
            insert_events(connection, self._epoch, flat)
            if changes:
                apply_changes(connection, changes)
            if notes:
                note_spans(connection, notes)
            connection.execute("COMMIT")
        except BaseException as problem:
            self._roll_back()
            if isinstance(problem, sqlite3.IntegrityError):
                check_lead(connection, self._epoch, self._path)
            raise

    def _do(self, chore: Chore) -> None:
        try:
            value = self._done_alone(chore)
        except BaseException as problem:
            self._fail([chore], problem)
        else:
            self._tell(_settle, chore.done, value)

    def _done_alone(self, chore: Chore) -> Any:
        self._begin()
        try:
            check_lead(self._connection, self._epoch, self._path)
            value = chore.act(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        return value

    def _begin(self) -> None:
        self._roll_back()
        self._connection.execute("BEGIN IMMEDIATE")

    def _roll_back(self) -> None:
        """Whatever went wrong leaves nothing behind."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _fail(self, works: Sequence[Append | Chore], problem: BaseException) -> None:
        # A disk may fail a commit so late that it is there all the same: count from what the file holds.
        with suppress(sqlite3.Error):
            self.last_seq, self._link = last_seq(self._connection), last_link(self._connection)
        told = explained(problem, self._path) if isinstance(problem, sqlite3.Error | OSError) else problem
        self._tell(_settle_all, [work.done for work in works], told)

    def _tell(self, tell: Callable[..., None], whom: Any, what: Any) -> None:
        self._outcomes.append((tell, whom, what))
        self._told.wake()


def _settle(done: "asyncio.Future[Any]", value: Any) -> None:
    """Wake one who waits, unless they have been cancelled."""
    if not done.done():
        done.set_result(value)


def _settle_all(waiting: Sequence["asyncio.Future[Any]"], problem: BaseException) -> None:
    for done in waiting:
        if not done.done():
            done.set_exception(problem)
