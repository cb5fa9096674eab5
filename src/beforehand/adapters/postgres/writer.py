"""The one task that commits.

It takes everything that has queued up since its last commit, numbers it and writes it in one transaction, sent and
answered in one round trip. Numbers are given here and only kept when the commit is: a failed one leaves no gap.

A line that breaks during a commit leaves in doubt whether the database kept it. Those who wait are then not told that
it failed, since they would write it again: they wait until the database answers, and what lies in the log at their
numbers says it. Whoever comes meanwhile is refused at once. What was not kept is written again where that took but a
moment: a line that broke while nothing was written is noticed only by the next commit.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from beforehand.adapters.log.archive_file import Written
from beforehand.adapters.log.encoding import Change, Entry, line_of
from beforehand.adapters.log.refusals import lost_tail
from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.faults import ends_session, explained, gone
from beforehand.adapters.postgres.lead import check_lead, give_back, regain
from beforehand.adapters.postgres.tables import (
    apply_changes,
    insert_events,
    last_link,
    last_seq,
    lines_between,
    notify,
)
from beforehand.model.chain import START, link
from beforehand.model.errors import BeforehandError, NotLeadingError, UnavailableError
from beforehand.ports.store import Record
from beforehand.ports.tasks import SERVER, lasting

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

    Act = Callable[[Line], Awaitable[Any]]

_RETRY_S = 0.2
PATIENCE_S = 5.0
"""For how long a commit is tried again; what comes later than that may not be wanted any more."""


class Append(NamedTuple):
    """Events to write; `done` gets the number of the first."""

    entries: Sequence[Entry]
    done: "asyncio.Future[Any]"


class Chore(NamedTuple):
    """Anything else to write, in a transaction of its own; `done` gets what it returns."""

    act: "Act"
    done: "asyncio.Future[Any]"


class InDoubtError(Exception):
    """The line broke while a commit was under way."""


class Writer:
    def __init__(
        self,
        line: "Line",
        address: Address,
        epoch: int,
        end: tuple[int, bytes | None],
        committed: Callable[[Sequence[Record]], None],
        lost: Callable[[], None],
    ) -> None:
        """`end` is the number and the link of the newest event.

        `committed` is told of every commit, `lost` that another process leads by now.
        """
        self._line = line
        self._address = address
        self._epoch = epoch
        self._committed = committed
        self._lost = lost
        self.last_seq, self._link = end
        self._queue: deque[Append | Chore] = deque()
        self._asked = asyncio.Event()
        self._ending = False
        self._task = lasting(self._work, "writing the log", SERVER, may_end=True)

    def append(self, entries: Sequence[Entry]) -> "asyncio.Future[int]":
        """Done when the entries are on disk; the number of the first."""
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._put(Append(entries, done))
        return done

    def do(self, act: "Act") -> "asyncio.Future[Any]":
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._put(Chore(act, done))
        return done

    async def drain(self) -> None:
        """Write what is queued, then give the session and with it the lead back."""
        self._ending = True
        self._asked.set()
        await self._task
        await self._give_back()
        await self._line.close()

    async def _give_back(self) -> None:
        from psycopg import Error

        with suppress(Error, OSError):  # a lead that cannot be given back ends by itself
            if not self._line.closed:
                await give_back(self._line, self._epoch)

    def _put(self, work: Append | Chore) -> None:
        self._queue.append(work)
        self._asked.set()

    async def _work(self) -> None:
        while self._queue or not self._ending:
            await self._asked.wait()
            if not self._ending:
                self._asked.clear()
            while self._queue:
                await self._take()

    async def _take(self) -> None:
        """Whatever comes first: all appends up to the next chore, or one chore."""
        if isinstance(self._queue[0], Chore):
            chore = self._queue.popleft()
            assert isinstance(chore, Chore)
            await self._do(chore)
            return
        appends: list[Append] = []
        while self._queue and isinstance(self._queue[0], Append):
            appends.append(self._queue.popleft())  # type: ignore[arg-type]
        await self._append(appends)

    # -- appending -----------------------------------------------------------------------------------------------

    async def _append(self, appends: list[Append]) -> None:
        try:
            records = await self._write(appends)
        except Exception as problem:
            if len(appends) == 1 or not self._is_its_own(problem):
                self._fail(appends, problem)
                return
            for alone in appends:
                await self._append([alone])
        else:
            first = records[0].seq
            for append in appends:
                _settle(append.done, first)
                first += len(append.entries)
            self._committed(records)

    def _is_its_own(self, problem: Exception) -> bool:
        """Whether one append alone can cause it: the others of its commit are then tried without it."""
        from psycopg import DataError, IntegrityError, NotSupportedError, ProgrammingError
        from psycopg.errors import ProgramLimitExceeded

        own = (DataError, IntegrityError, NotSupportedError, ProgrammingError, ProgramLimitExceeded, OverflowError)
        return isinstance(problem, own)

    async def _write(self, appends: list[Append]) -> list[Record]:
        await self._ready()
        seq, link_before = self.last_seq, self._link or START
        written: list[Written] = []
        changes: list[tuple[int, Change]] = []
        for append in appends:
            for ts, kind, scene, owner, run_id, task_id, version, tail, rows in append.entries:
                seq += 1
                record = Record(seq, kind, scene, owner, run_id, task_id, line_of(seq, tail))
                link_before = link(link_before, ts, version, owner, record.line)
                written.append(Written(record, ts, version, link_before))
                changes += [(seq, row) for row in rows]
        await self._commit(written, changes)
        self.last_seq, self._link = seq, link_before
        return [event.record for event in written]

    async def _commit(self, written: list[Written], changes: list[tuple[int, Change]]) -> None:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + PATIENCE_S
        while not await self._is_committed(written, changes):
            if loop.time() > give_up:
                raise gone(self._address.where)

    async def _is_committed(self, written: list[Written], changes: list[tuple[int, Change]]) -> bool:
        """Whether they are in the log now; false when the line broke and nothing was kept."""
        from psycopg.errors import NotNullViolation

        line = await self._ready()

        async def statements() -> None:
            async with line.pipeline():
                await line.execute("BEGIN")
                await insert_events(line, self._epoch, written)
                if changes:
                    await apply_changes(line, changes)
                await notify(line, written[-1].record.seq)
                await line.execute("COMMIT")

        try:
            await self._whole(line, statements)
        except InDoubtError:
            return await self._is_kept([event.record for event in written])
        except NotNullViolation:
            await check_lead(line, self._epoch, self._address.where)
            raise
        return True

    # -- chores --------------------------------------------------------------------------------------------------

    async def _do(self, chore: Chore) -> None:
        try:
            value = await self._done_alone(chore)
        except Exception as problem:
            self._fail([chore], problem)
        else:
            _settle(chore.done, value)

    async def _done_alone(self, chore: Chore) -> Any:
        line = await self._ready()
        told: list[Any] = []

        async def statements() -> None:
            async with line.transaction():
                await check_lead(line, self._epoch, self._address.where)
                told.append(await chore.act(line))

        try:
            await self._whole(line, statements)
        except InDoubtError:
            # What chores write is a cache or an announcement: doing it twice is doing it once.
            raise gone(self._address.where) from None
        return told[0]

    # -- the line ------------------------------------------------------------------------------------------------

    async def _whole(self, line: "Line", statements: Callable[[], Awaitable[None]]) -> None:
        """A transaction that leaves nothing behind when it fails; in doubt when the line broke meanwhile."""
        from psycopg import Error

        try:
            await statements()
        except (Error, OSError) as problem:
            if not line.closed and not ends_session(problem):
                await line.rollback()
                raise
            await line.close()
            raise InDoubtError from problem
        except BaseException:
            if not line.closed:
                await line.rollback()
            raise

    async def _ready(self) -> "Line":
        """The session that holds the lead; a lost one is replaced."""
        if self._line.closed:
            await self._line.close()
            self._line = await regain(self._address, self._epoch)
            found = await last_seq(self._line)
            if found < self.last_seq:
                raise lost_tail(self._address.where, self.last_seq, found)
            self.last_seq, self._link = found, await last_link(self._line)
        return self._line

    async def _is_kept(self, records: list[Record]) -> bool:
        """Whether a commit in doubt is in the log; waits for the database for as long as it takes."""
        while True:
            try:
                return await self._found(records)
            except UnavailableError as problem:
                if self._ending:
                    raise
                self._refuse_waiting(problem)
            await asyncio.sleep(_RETRY_S)

    async def _found(self, records: list[Record]) -> bool:
        from psycopg import Error

        from beforehand.adapters.postgres.connecting import connect

        try:
            line = await self._ready()
            return await lines_between(line, records[0].seq, records[-1].seq) == [record.line for record in records]
        except NotLeadingError:
            # Another leads by now; what was kept before it took over is kept all the same.
            line = await connect(self._address)
            try:
                if await lines_between(line, records[0].seq, records[-1].seq) == [record.line for record in records]:
                    return True
            finally:
                await line.close()
            raise
        except (Error, OSError) as problem:
            raise explained(problem, self._address.where, self._address.password) from None

    def _refuse_waiting(self, problem: BeforehandError) -> None:
        waiting, self._queue = list(self._queue), deque()
        self._fail(waiting, problem)

    def _fail(self, works: Sequence[Append | Chore], problem: BaseException) -> None:
        from psycopg import Error

        if isinstance(problem, Error | OSError):
            problem = explained(problem, self._address.where, self._address.password)
        if isinstance(problem, NotLeadingError):
            self._lost()
        for work in works:
            if not work.done.done():
                work.done.set_exception(problem)


def _settle(done: "asyncio.Future[Any]", value: Any) -> None:
    """Wake one who waits, unless they have been cancelled."""
    if not done.done():
        done.set_result(value)
