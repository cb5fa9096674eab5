"""The Store port on a Postgres database: what the parts come to together.

Opened for leading it appends and reads; opened for reading it only reads, and follows what the leader commits, until it
may take over. All methods are called from the event loop the store was opened in.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from beforehand.adapters.log.archive import LogArchive
from beforehand.adapters.log.encoding import (
    check_text,
    encoded,
    from_bytes,
    has_reached,
    present_event,
    to_bytes,
    up_to,
)
from beforehand.adapters.log.listeners import Listener, Listeners
from beforehand.adapters.log.numbered import Numbered
from beforehand.adapters.log.refusals import closed, only_reading
from beforehand.adapters.postgres import tables
from beforehand.adapters.postgres.address import Address, address_of
from beforehand.adapters.postgres.archive import TableShelf
from beforehand.adapters.postgres.follower import Follower
from beforehand.adapters.postgres.heart import Heart
from beforehand.adapters.postgres.lead import leader_in
from beforehand.adapters.postgres.lease import Lease
from beforehand.adapters.postgres.opening import Lead, Opening, look, take
from beforehand.adapters.postgres.reader import Reader
from beforehand.adapters.postgres.upgrade import copy_up_to_date, rebuild
from beforehand.adapters.postgres.writer import Writer
from beforehand.model.chain import ChainMark
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.model.versions import UPCASTERS, Upcasters
from beforehand.ports.store import EVERYTHING, Chained, EventFilter, Leader, Projection, Record, RowQuery
from beforehand.ports.tasks import part

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line


class PostgresStore:
    mark_file = None

    def __init__(self, address: Address, project: Projection, upcasters: Upcasters) -> None:
        self._address = address
        self._project = project
        self._upcasters = upcasters
        self._reader = Reader(address)
        shelf = TableShelf(address.where, lambda: self._reader, self._write)
        # Another server may lead by now without this one having noticed: the list of parts is always looked at.
        self.archive = LogArchive(shelf, upcasters, lambda: self._upgraded_at, lambda: False)
        self._listeners = Listeners()
        self._upgraded_at = 0
        self._writer: Writer | None = None
        self._heart: Heart | None = None
        self._follower: Follower | None = None
        self.lost = asyncio.Event()
        """Set when this process led and another one does by now: it can never write again."""
        self._last = 0
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        project: Projection,
        lead: bool = True,
        now_ms: Callable[[], int],
        url_of_server: str | None = None,
        note: str = "",
        upcasters: Upcasters = UPCASTERS,
    ) -> "PostgresStore":
        """Open the log for leading or for reading; one that another process leads is refused, saying which.

        What older code wrote comes out as `upcasters` and `project` have it now.
        """
        store = cls(address_of(url), project, upcasters)
        opening = Opening(store._address, project, upcasters, now_ms(), url_of_server, note)
        if lead:
            store._begin_leading(await take(opening, store._was_lost_elsewhere()))
        else:
            await store._begin_reading(opening)
        return store

    async def take_over(self, over: Lease, *, now_ms: int, note: str) -> None:
        """Lead what was only read until now; `over` is the last lead, watched until it was over.

        Whoever follows is told everything of the leaders before, and then goes on with what is written here. Raises
        NotLeadingError when another one was faster.
        """
        opening = Opening(self._address, self._project, self._upcasters, now_ms, None, note)
        lead = await take(opening, self._was_lost_elsewhere(), over)
        old, self._reader = self._reader, Reader(self._address)
        self._upgraded_at = lead.upgraded_at
        await old.close()
        if self._follower is not None:
            await self._follower.close()
            await self._follower.catch_up()
            self._follower = None
        self._begin_leading(lead)

    def _begin_leading(self, lead: Lead) -> None:
        self._upgraded_at = lead.upgraded_at
        self._heart = lead.heart
        self._writer = Writer(lead.line, self._address, lead.epoch, lead.end, self._listeners.tell, self._was_lost)

    def _was_lost(self) -> None:
        if self._heart is not None:
            self._heart.stop()
        self.lost.set()

    def _was_lost_elsewhere(self) -> Callable[[], None]:
        """The same, to be called from another thread."""
        loop = asyncio.get_running_loop()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has ended, and everybody with it
                loop.call_soon_threadsafe(self.lost.set)

        return tell

    @property
    def is_leading(self) -> bool:
        """Whether the store was opened for leading, or has taken over since."""
        return self._writer is not None

    def lead_left_s(self) -> float:
        return 0.0 if self._heart is None else self._heart.left_s

    async def _begin_reading(self, opening: Opening) -> None:
        found = await look(opening)
        self._upgraded_at, self._last = found.upgraded_at, found.last_seq
        if found.is_older:
            # Temporary tables are seen by the session that made them alone.
            self._reader = Reader(self._address, self._copy, most=1)
            self._last = await self._reader.ask(tables.last_seq)

    async def _copy(self, line: "Line") -> None:
        self._upgraded_at = await copy_up_to_date(line, self._address.where, self._project, self._upcasters)

    async def identity(self) -> LogIdentity | None:
        return await self._reader.ask(tables.identity_in)

    async def identify(self, identity: LogIdentity) -> None:
        writer = await self._leading()
        await writer.do(lambda line: tables.put_identity(line, identity))

    async def lies_elsewhere(self) -> bool | None:
        return await self._reader.ask(tables.lies_elsewhere)

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        writer = await self._leading()
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
        found = await self._reader.ask(lambda line: tables.find_records(line, after, limit, only))
        live = up_to(most_bytes, map(self.archive.record, found))
        whole = len(live) < limit and not has_reached(most_bytes, live)
        read = self.archive.record
        return up_to(most_bytes, await self.archive.joined(live, read, only, limit, above=after, is_whole=whole))

    async def last_records(
        self, before: int | None = None, limit: int = 1000, only: EventFilter = EVERYTHING
    ) -> list[Record]:
        end = tables.LAST if before is None else before
        found = await self._reader.ask(lambda line: tables.find_last_records(line, end, limit, only))
        live = [self.archive.record(event) for event in found]
        read, whole = self.archive.record, len(live) < limit
        every = await self.archive.joined(live, read, only, limit, below=end, newest_first=True, is_whole=whole)
        return every[::-1]

    async def events(self, after: int = 0, limit: int = 1000, only: EventFilter = EVERYTHING) -> list[Event]:
        found = await self._reader.ask(lambda line: tables.find_records(line, after, limit, only))
        live = [present_event(event.kept(), self._upcasters) for event in found]
        read, whole = self.archive.event, len(live) < limit
        return await self.archive.joined(live, read, only, limit, above=after, is_whole=whole)

    async def chained(self, after: int = 0, limit: int = 1000) -> list[Chained]:
        live = await self._reader.ask(lambda line: tables.find_records(line, after, limit, EVERYTHING))
        return await self.archive.chained(live, after, limit)

    async def chain_marks(self) -> list[ChainMark]:
        return await self._reader.ask(tables.marks_in)

    async def row(self, kind: str, id: str) -> dict[str, Any] | None:
        found = await self._reader.ask(lambda line: tables.find_row(line, kind, id))
        return None if found is None else from_bytes(found)

    async def rows(
        self,
        kind: str,
        *,
        parent: str | None = None,
        open: bool | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[dict[str, Any]]:
        found = await self._reader.ask(lambda line: tables.find_rows(line, kind, parent, open, limit, newest_first))
        return [from_bytes(body) for body in found]

    async def query(self, *queries: RowQuery) -> list[list[dict[str, Any]]]:
        found = await self._reader.ask(lambda line: tables.find_together(line, queries))
        return [[from_bytes(body) for body in bodies] for bodies in found]

    async def count(self, kind: str, *, open: bool | None = None) -> int:
        return await self._reader.ask(lambda line: tables.count_rows(line, kind, open))

    async def save_snapshot(self, owner: str, seq: int, body: Mapping[str, Any]) -> None:
        writer = await self._leading()
        check_text(owner, "The snapshot", "owner")
        written = to_bytes(body, f"The snapshot of {owner}", "body")
        await writer.do(lambda line: tables.keep_snapshot(line, owner, seq, written))

    async def snapshot(self, owner: str) -> tuple[int, dict[str, Any]] | None:
        found = await self._reader.ask(lambda line: tables.find_snapshot(line, owner))
        return None if found is None else (found[0], from_bytes(found[1]))

    async def rebuild_rows(self) -> None:
        writer = await self._leading()
        await writer.do(lambda line: rebuild(line, self._address.where, self._project, self._upcasters))

    def on_commit(self, listener: Listener) -> Callable[[], None]:
        if self._writer is None and self._follower is None and self._closing is None:
            self._follower = Follower(self._address, self._last, self._page, self._listeners.tell)
        return self._listeners.add(listener)

    async def _page(self, after: int, limit: int) -> list[Record]:
        return await self.records(after, limit)

    async def announce(self, url: str | None, note: str = "") -> None:
        writer = await self._leading()
        check_text(f"{url}{note}", "The announcement", "url")
        await writer.do(lambda line: line.execute("UPDATE lead SET url = %s, note = %s", (url, note)))

    async def leader(self) -> Leader | None:
        return await self._reader.ask(leader_in)

    async def close(self) -> None:
        """Write what is queued, let readers finish and give the lead back; closing twice is closing once."""
        if self._closing is None:
            self._closing = part(self._shut())
        await asyncio.shield(self._closing)

    async def _shut(self) -> None:
        if self._heart is not None:
            self._heart.stop()
        if self._follower is not None:
            await self._follower.close()
        if self._writer is not None:
            await self._writer.drain()
        await self._reader.close()

    async def _write(self, act: "Callable[[Line], Awaitable[Any]]") -> Any:
        return await (await self._leading()).do(act)

    async def _leading(self) -> Writer:
        """The writer, for a process that leads; anybody else is told who does."""
        if self._closing is not None:
            raise closed(self._address.where)
        if self._writer is None:
            raise only_reading(self._address.where, await self.leader())
        return self._writer
