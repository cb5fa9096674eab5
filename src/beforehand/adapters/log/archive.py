"""The archive of a store, whatever the store is made of: old events move into compressed parts and are read back.

A part is kept first and only then are its events taken out of the log, a few at a time; so at every moment each event
is in the log or in a part, or in both, and readers take it once. For that they look into the log first and at the list
of parts after it. A process that dies in between leaves a part that is not `cleared`; the next one goes on with it.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Sequence
from operator import attrgetter
from typing import Protocol, TypeVar

from beforehand.adapters.log.archive_file import Written, marks_of, may_hold, pack, unpack, with_links
from beforehand.adapters.log.encoding import present_event, present_record
from beforehand.model.chain import ChainMark
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event
from beforehand.model.versions import Upcasters, present_versions
from beforehand.ports.store import EVERYTHING, ArchivePart, Chained, EventFilter, Record

_PIECE = 1_000
"""Events that are taken out of the log in one transaction."""
_OPEN_PARTS = 6
_SEQ = attrgetter("seq")
_REST_S = 0.005

Joining = Generator[ArchivePart, list[Written], list[Written]]


class Numbered(Protocol):
    @property
    def seq(self) -> int: ...


T = TypeVar("T", bound=Numbered)


class Shelf(Protocol):
    """What is different where the parts lie in files and where they lie in a database."""

    async def newest(self) -> int:
        """The highest number any part was given; it changes whenever the list of parts does."""

    async def parts(self) -> list[ArchivePart]: ...

    async def body(self, part: ArchivePart) -> bytes:
        """The bytes of a part; UnavailableError where they are gone."""

    async def written(self, seqs: Sequence[int]) -> list[Written]:
        """Events of the log itself, in order."""

    async def unmoved(self, after: int, limit: int) -> list[Written]: ...

    async def keep(self, part: ArchivePart, body: bytes) -> int:
        """Make the part durable and list it; its number."""

    async def clear(self, seqs: Sequence[int]) -> None: ...

    async def mark_cleared(self, part_id: int) -> None: ...

    async def delete(
        self, part: ArchivePart, rows: Sequence[tuple[str, str]], now_ms: int, marks: Sequence[ChainMark]
    ) -> None:
        """Give a part up with these rows; the marks stay of the chain."""

    async def tidy(self) -> None:
        """Remove what a crash left behind."""

    async def give_back(self) -> bool: ...

    async def size(self) -> int: ...

    def where(self, part: ArchivePart) -> str: ...


class LogArchive:
    def __init__(
        self, shelf: Shelf, upcasters: Upcasters, upgraded_at: Callable[[], int], leads: Callable[[], bool]
    ) -> None:
        """`upgraded_at` is the number up to which events may be of an older form; who `leads` need not look again."""
        self._shelf = shelf
        self._upcasters = upcasters
        self._versions = present_versions(upcasters)
        self._upgraded_at = upgraded_at
        self._leads = leads
        self._known: tuple[int, list[ArchivePart]] | None = None
        self._changes = 0
        self._opened: OrderedDict[int, list[Written]] = OrderedDict()
        self._turn = asyncio.Lock()

    # -- reading -------------------------------------------------------------------------------------------------

    async def parts(self) -> list[ArchivePart]:
        known = self._known
        fresh = known is not None and (self._leads() or known[0] == await self._shelf.newest())
        if known is not None and fresh and known is self._known:  # it may have changed while the shelf was asked
            return known[1]
        changes = self._changes
        parts = await self._shelf.parts()
        if changes == self._changes:  # else it may be older than the last change, and must not be remembered
            self._known = (max((part.id for part in parts), default=0), parts)
        return parts

    def _changed(self) -> None:
        self._changes += 1
        self._known = None

    async def joined(
        self,
        live: list[T],
        as_read: Callable[[Written], T],
        only: EventFilter,
        limit: int,
        *,
        above: int = 0,
        below: int | None = None,
        newest_first: bool = False,
        is_whole: bool = True,
    ) -> list[T]:
        """What was found in the log, with what lies in the archive between the same numbers, in order.

        `is_whole` false says that `live` ends early, so what lies behind its last one is left for the next question.
        """
        parts = await self.parts()
        if not parts:
            return live
        if not is_whole and live:
            above, below = (live[-1].seq - 1, below) if newest_first else (above, live[-1].seq + 1)
        wanted = self._wanted(parts, only, above, below)
        if not wanted:
            return live
        joining = self._joining(wanted, {one.seq for one in live}, only, limit, above, below, newest_first)
        old = await self._joined(joining)
        found = [*live, *map(as_read, old)]
        return sorted(found, key=attrgetter("seq"), reverse=newest_first)[: max(limit, 0)]

    async def _joined(self, joining: Joining) -> list[Written]:
        try:
            part = next(joining)
            while True:
                part = joining.send(await self._events(part))
        except StopIteration as end:
            return list(end.value)

    def _wanted(
        self, parts: Sequence[ArchivePart], only: EventFilter, above: int, below: int | None
    ) -> list[ArchivePart]:
        near = [part for part in parts if part.last > above and (below is None or part.first < below)]
        return [part for part in near if may_hold(part, only, self._versions)]

    def _joining(
        self,
        parts: list[ArchivePart],
        known: set[int],
        only: EventFilter,
        limit: int,
        above: int,
        below: int | None,
        newest_first: bool,
    ) -> Joining:
        """The archived events that are wanted; asks for the events of one part after another, until there are enough.

        `known` are the numbers of those that were found in the log. A part is not opened when enough was found in front
        of it.
        """
        found: dict[int, Written] = {}
        parts = sorted(parts, key=attrgetter("last" if newest_first else "first"), reverse=newest_first)
        for part in parts:
            edge = part.last if newest_first else part.first
            if sum((seq > edge) if newest_first else (seq < edge) for seq in (*known, *found)) >= limit:
                break
            events = yield part
            left = limit
            for event in _between(events, above, below, newest_first):
                if event.seq not in known and (only == EVERYTHING or only.admits(self.record(event))):
                    found[event.seq] = event
                    left -= 1
                    if left <= 0:
                        break
        return list(found.values())

    async def _events(self, part: ArchivePart) -> list[Written]:
        if part.id in self._opened:
            self._opened.move_to_end(part.id)
            return self._opened[part.id]
        try:
            body = await self._shelf.body(part)
        except UnavailableError:
            if part in await self._shelf.parts():
                raise
            return []  # somebody else has deleted it meanwhile
        events = await asyncio.to_thread(unpack, body, part, self._shelf.where(part))
        self._opened[part.id] = events
        while len(self._opened) > _OPEN_PARTS:
            self._opened.popitem(last=False)
        return events

    def record(self, event: Written) -> Record:
        """What older code may have written is brought up to date; the line of anything else is its wire form."""
        if event.seq > self._upgraded_at():
            return event.record
        return present_record(event.kept(), self._upcasters)

    def event(self, event: Written) -> Event:
        return present_event(event.kept(), self._upcasters)

    # -- moving --------------------------------------------------------------------------------------------------

    async def unmoved(self, after: int = 0, limit: int = 1000) -> list[Event]:
        found = await self._shelf.unmoved(after, limit)
        return await asyncio.to_thread(lambda: [self.event(one) for one in found])

    async def measure(self, seqs: Sequence[int]) -> ArchivePart:
        part, _ = await self._packed(seqs)
        return part

    async def move(self, seqs: Sequence[int]) -> ArchivePart:
        async with self._turn:
            part, body = await self._packed(seqs)
            part_id = await self._shelf.keep(part, body)
            self._changed()
            await self._clear(part_id, seqs)
        return next(one for one in await self.parts() if one.id == part_id)

    async def _packed(self, seqs: Sequence[int]) -> tuple[ArchivePart, bytes]:
        events = await self._shelf.written(seqs)
        return await asyncio.to_thread(pack, events, self._versions)

    async def _clear(self, part_id: int, seqs: Sequence[int]) -> None:
        for start in range(0, len(seqs), _PIECE):
            await self._shelf.clear(seqs[start : start + _PIECE])
            await asyncio.sleep(_REST_S)
        await self._shelf.mark_cleared(part_id)
        self._changed()

    async def settle(self) -> None:
        async with self._turn:
            for part in await self._shelf.parts():
                if not part.cleared and not part.deleted:
                    await self._clear(part.id, [event.seq for event in await self._events(part)])
            await self._shelf.tidy()

    async def events_of(self, part: ArchivePart) -> list[Event]:
        events = await self._events(part)
        return await asyncio.to_thread(lambda: [self.event(one) for one in events])

    async def delete(self, part: ArchivePart, rows: Sequence[tuple[str, str]], now_ms: int) -> None:
        async with self._turn:
            marks = await asyncio.to_thread(marks_of, await self._events(part))
            await self._shelf.delete(part, rows, now_ms, marks)
            self._changed()

    async def chained(self, live: list[Written], after: int, limit: int) -> list[Chained]:
        """The next events, of the log (`live`) and of the parts between them, each with its link of the chain."""
        near, end = stretch(await self.parts(), live, after, limit)
        every = {seq: one for part in near for seq, one in (await self._chained(part)).items()}
        every |= {one.seq: Chained(*one) for one in live}
        return [every[seq] for seq in sorted(every) if seq > after and (end is None or seq <= end)]

    async def _chained(self, part: ArchivePart) -> dict[int, Chained]:
        events = await self._events(part)

        def linked() -> dict[int, Chained]:
            pairs = zip(events, with_links(events), strict=True)
            return {one.seq: Chained(*whole, is_reckoned=one.link is None) for one, whole in pairs}

        return await asyncio.to_thread(linked)

    async def give_back(self) -> bool:
        return await self._shelf.give_back()

    async def size(self) -> int:
        return await self._shelf.size()


def _between(events: list[Written], above: int, below: int | None, newest_first: bool) -> Iterator[Written]:
    """The events of a part with numbers between two, which are not among them."""
    first = bisect_right(events, above, key=_SEQ)
    end = len(events) if below is None else bisect_left(events, below, key=_SEQ)
    return (events[place] for place in (range(end - 1, first - 1, -1) if newest_first else range(first, end)))


def stretch(
    parts: Sequence[ArchivePart], live: Sequence[Written], after: int, chunk: int
) -> tuple[list[ArchivePart], int | None]:
    """Going through everything: the parts to open beside a chunk of the log, and the number up to which that is all.

    The number is None where both end.
    """
    end = live[-1].seq if len(live) == chunk else None
    near = [part for part in parts if not part.deleted and part.last > after and (end is None or part.first <= end)]
    if near:
        nearest = min(near, key=attrgetter("first"))
        end = nearest.last if end is None else min(nearest.last, end)
    return [part for part in near if end is None or part.first <= end], end


def merged(live: Sequence[Written], old: Sequence[list[Written]], after: int, end: int | None) -> list[Written]:
    """The events of a stretch, each once and in order."""
    every = {one.seq: one for events in (*old, live) for one in events}
    return [every[seq] for seq in sorted(every) if seq > after and (end is None or seq <= end)]
