"""Growing old: events of things that have ended move into the archive, and parts of it are given up when told to.

Both go on in small pieces beside everything else; stopped at any moment, the next call goes on where it is needed.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.loop.ended import Sieve, kinds_that_end, kinds_that_live, living_in, names_living
from beforehand.model.errors import BadInputError
from beforehand.model.event import Event, iso
from beforehand.ports.store import Archive, ArchivePart, Store

PART = 8_000
"""Events in one part."""
PAGE = 1_000
TURN = "archive"
_MEASURED = 3
"""Parts that a dry run really compresses; the others are reckoned from them."""


@dataclass(slots=True)
class Tally:
    """What archiving came to so far."""

    events: int = 0
    parts: int = 0
    raw_size: int = 0
    size: int = 0

    def add(self, part: ArchivePart) -> None:
        self.events += part.events
        self.parts += 1
        self.raw_size += part.raw_size
        self.size += part.size

    def reckon(self, events: int) -> None:
        """One more part, as big as the ones that were measured are on average."""
        each = (self.raw_size / self.events, self.size / self.events) if self.events else (0.0, 0.0)
        self.events, self.parts = self.events + events, self.parts + 1
        self.raw_size += round(each[0] * events)
        self.size += round(each[1] * events)


@dataclass(slots=True)
class Piles:
    """The numbers of events that are to go. What was kept back for long goes into parts of its own: every part that
    spans a number has to be opened to read there, and so hardly any two span the same."""

    in_order: list[int] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    edge: int = 0
    """The last number in the parts made of what came in order."""

    def add(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            (self.late if seq < self.edge else self.in_order).append(seq)

    def parts(self, *, all: bool) -> list[list[int]]:
        """Parts that are full, and with `all` what is left too; they are taken off the piles."""
        made = _cut(self.in_order, all)
        self.edge = made[-1][-1] if made else self.edge
        return made + _cut(self.late, all)


def _cut(pile: list[int], all: bool) -> list[list[int]]:
    made = []
    pile.sort()
    while len(pile) >= PART or (pile and all):
        made.append(pile[:PART])
        del pile[:PART]
    return made


async def archive_events(
    runtime: Runtime, before: int, *, dry_run: bool = False, after: int = 0, for_s: float | None = None, rest: float = 0
) -> dict[str, Any]:
    """Move what has ended and is older than `before` (ms) into the archive.

    It goes on from event `after` for about `for_s` seconds, and rests for `rest` times as long as it works; `next` in
    the answer is where to go on, or None when that is all. Raises BadInputError where the store has no archive.
    """
    archive = archive_of(runtime)
    async with runtime.turns[TURN]:
        if not dry_run:
            await archive.settle()
        sieve = await _sieve(runtime)
        tally, piles = Tally(), Piles()
        until = None if for_s is None else time.monotonic() + for_s
        place: int | None = after
        while place is not None and (until is None or time.monotonic() < until):
            began = time.monotonic()
            events, place = await _page(archive, place, before, await runtime.store.last_seq())
            await _note_drivers(runtime, sieve, events)
            piles.add(await asyncio.to_thread(sieve.sift, events))
            for seqs in piles.parts(all=place is None):
                await _put_away(archive, seqs, tally, dry_run)
            await asyncio.sleep((time.monotonic() - began) * rest)
        for seqs in piles.parts(all=True):
            await _put_away(archive, seqs, tally, dry_run)
    told = {"events": tally.events, "parts": tally.parts, "rawBytes": tally.raw_size, "bytes": tally.size}
    stays = {"open": sieve.open, "newest": sieve.newest}
    return {"before": iso(before), "dryRun": dry_run, **told, "stays": stays, "next": place}


def archive_of(runtime: Runtime) -> Archive:
    """Where old events of this home go; refused for a log that is in memory only."""
    archive = runtime.store.archive
    if archive is None:
        raise BadInputError("A log in memory is gone with its process, so it has no archive.", code="archive.memory")
    return archive


async def holdings(store: Store) -> dict[str, Any]:
    """How big the log and its archive are, how far back they go, and what was deleted."""
    archive = store.archive
    parts = await archive.parts() if archive else []
    kept = [part for part in parts if not part.deleted]
    oldest = await store.events(limit=1)
    told: dict[str, Any] = {
        "events": await store.last_seq(),
        "bytes": await archive.size() if archive else 0,
        "archive": {
            "parts": len(kept),
            "events": sum(part.events for part in kept),
            "bytes": sum(part.size for part in kept),
            "rawBytes": sum(part.raw_size for part in kept),
        },
        "deletedEvents": sum(part.events for part in parts if part.deleted),
    }
    return told | ({"oldestAt": iso(oldest[0].ts), "oldest": oldest[0].seq} if oldest else {})


async def _page(archive: Archive, after: int, before: int, last: int) -> tuple[list[Event], int | None]:
    """The next events that are old enough, but never the log's last one; and where to go on, if anywhere."""
    found = await archive.unmoved(after, PAGE)
    old = [event for event in found if event.ts < before and event.seq < last]
    return old, found[-1].seq if len(found) == PAGE and old else None


async def shrink(runtime: Runtime, *, for_s: float | None = None, rest: float = 0) -> None:
    """Give the room that moved events took back to the disk, piece by piece; appends come in between.

    What is not given back is used again by new events.
    """
    archive = archive_of(runtime)
    until = None if for_s is None else time.monotonic() + for_s
    more = True
    while more and (until is None or time.monotonic() < until):
        began = time.monotonic()
        more = await archive.give_back()
        await asyncio.sleep((time.monotonic() - began) * rest)


async def _put_away(archive: Archive, seqs: list[int], tally: Tally, dry_run: bool) -> None:
    if not dry_run:
        tally.add(await archive.move(seqs))
    elif tally.parts < _MEASURED:
        tally.add(await archive.measure(seqs))
    else:
        tally.reckon(len(seqs))


async def _sieve(runtime: Runtime) -> Sieve:
    return Sieve(runtime.project, kinds_that_end(runtime.ends), await living_things(runtime), {})


async def living_things(runtime: Runtime) -> set[str]:
    """The ids of everything that goes on, and of what it is about."""
    rows = [await runtime.store.rows(kind, open=True) for kind in kinds_that_live(runtime.ends)]
    return living_in(row for some in rows for row in some)


async def _note_drivers(runtime: Runtime, sieve: Sieve, events: list[Event]) -> None:
    """How far the drivers of these events have saved their state."""
    known = dict(sieve.replayed_from)
    for owner in {event.owner for event in events} - known.keys():
        kind, _, _ = owner.partition(":")
        if kind not in sieve.ends and (kept := await runtime.store.snapshot(owner)) is not None:
            known[owner] = kept[0]
    sieve.replayed_from = known


async def delete_archives(runtime: Runtime, before: int) -> dict[str, Any]:
    """Give up the parts of the archive whose events are all older than `before` (ms), with what was read out of them.

    A part with events of something that is open again stays. There is no way back but a backup.
    """
    archive = archive_of(runtime)
    tally = Tally()
    async with runtime.turns[TURN]:
        await archive.settle()
        living = await living_things(runtime)
        for part in await archive.parts():
            if part.deleted or part.to_ts >= before:
                continue
            events = await archive.events_of(part)
            if not any(names_living(event, living) for event in events):
                await archive.delete(part, await _rows_of(runtime, events), runtime.now())
                tally.add(part)
            await asyncio.sleep(0)
    told = {"events": tally.events, "parts": tally.parts, "bytes": tally.size}
    if tally.parts:
        await runtime.log("archivesDeleted", {"before": iso(before), **told}, owner=TURN)
    return told


async def _rows_of(runtime: Runtime, events: list[Event]) -> list[tuple[str, str]]:
    """The rows that stand as these events wrote them: no later event speaks of them."""
    last: dict[tuple[str, str], Mapping[str, Any] | None] = {}
    for event in events:
        last |= {(row.kind, row.id): row.body for row in runtime.project(event)}
    return [key for key, body in last.items() if body is not None and await runtime.store.row(*key) == body]
