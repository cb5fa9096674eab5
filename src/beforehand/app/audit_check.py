"""Whether the log is what was written: its chain, from the first event that has a link to the last.

What is found is told by the number of the event: changed, missing, put in. Events of archives that were deleted are
not missing: the link at their end was kept. A chain shows what was changed by hand, and not the work of somebody who
can write all of it anew; that shows an anchor, the link of some event as it was kept outside (`against`).
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beforehand.adapters.log.archive_file import Written, following
from beforehand.adapters.log.encoding import present_event, present_record, record_of
from beforehand.app.high_water import read_mark
from beforehand.model.chain import DELETED, GENERATION, START, Anchor, ChainMark
from beforehand.model.errors import BeforehandError
from beforehand.model.reason import Problem
from beforehand.model.versions import Upcasters
from beforehand.ports.store import ArchivePart, Chained, Store

PAGE = 1_000
MOST_PROBLEMS = 100
_HINT = "Compare with a backup or an earlier export, and find out who can write the log's files or its database."


@dataclass(slots=True)
class LogFinding:
    """What the chain of a log shows."""

    events: int = 0
    first: int = 0
    last: int = 0
    begins: int = 0
    """The first event that has a link; 0 where none has."""
    unchained: int = 0
    """Older events, which nothing protects."""
    deleted: int = 0
    """Events that were deleted with old archives."""
    link: bytes | None = None
    generations: list[ChainMark] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def anchor(self) -> Anchor | None:
        return Anchor(self.last, self.link) if self.link else None

    def wire(self) -> dict[str, Any]:
        return {
            "ok": not self.problems,
            "events": self.events,
            "first": self.first,
            "last": self.last,
            "begins": self.begins,
            "unchained": self.unchained,
            "deleted": self.deleted,
            "anchor": str(self.anchor or ""),
            "generations": [{"after": mark.seq, "log": mark.note} for mark in self.generations],
            "problems": [problem.wire() for problem in self.problems],
        }


async def check_log(store: Store, upcasters: Upcasters, against: Iterable[Anchor] = ()) -> LogFinding:
    """Go through the whole log and its archive, beside whoever leads."""
    mark = _mark_of(store.mark_file)
    marks = await store.chain_marks()
    parts = await store.archive.parts() if store.archive is not None else []
    check = _Check(marks, [part for part in parts if part.deleted], upcasters, list(against))
    try:
        while events := await store.chained(after=check.found.last, limit=PAGE):
            await asyncio.to_thread(check.look_at, events)
    except BeforehandError as error:
        check.tell("unreadable", check.found.last + 1, f"{error.says} What lies behind it was not looked at.")
        return check.found
    return check.ended(mark, str(await store.identity() or ""))


def _mark_of(file: Path | None) -> tuple[str, int] | None:
    """How far the log had come at least, read before the log is."""
    return read_mark(file) if file is not None else None


class _Check:
    def __init__(
        self, marks: list[ChainMark], deleted: list[ArchivePart], upcasters: Upcasters, against: list[Anchor]
    ) -> None:
        self.found = LogFinding(generations=[mark for mark in marks if mark.why == GENERATION])
        self._ends = {mark.seq: mark.link or None for mark in marks if mark.why == DELETED}
        known = [(int(mark.note), mark.seq) for mark in marks if mark.why == DELETED]
        # Of what was deleted before there was a chain only the ends are known.
        self._stretches = sorted([*known, *((one.first, one.last) for one in deleted if one.last not in self._ends)])
        self._noted = {mark.seq: mark.link for mark in self.found.generations}
        self._upcasters = upcasters
        self._against = sorted(against)
        self._unsure = False
        """Whether the link before is not known, so that the next one is taken as it is."""
        self._reckoned_from = 0
        """The first of the events before this one whose links were left out in the archive; 0 where there is none."""

    def look_at(self, events: list[Chained]) -> None:
        for event in events:
            self._look(event)

    def _look(self, event: Chained) -> None:
        found = self.found
        if event.seq != found.last + 1:
            self._gap(found.last + 1, event.seq - 1)
        if event.link is None:
            self._without_link(event)
        elif not self._linked(event, event.link):
            self._columns(event)
        found.first = found.first or event.seq
        found.events, found.last, found.link = found.events + 1, event.seq, event.link or found.link
        if event.seq in self._noted and event.link != self._noted[event.seq]:
            says = f"The chain at event {event.seq} is not what was noted when a generation began there."
            self.tell("anchor", event.seq, says)
        self._compare(event.seq, event.link)

    def _gap(self, first: int, last: int) -> None:
        """Events that are not there: deleted with old archives, or taken out."""
        self.found.deleted += last - first + 1
        for begin, end in self._not_deleted(first, last):
            self.found.deleted -= end - begin + 1
            gone = f"Event {begin} is" if begin == end else f"Events {begin} to {end} are"
            self.tell("missing", begin, f"{gone} missing: taken out of the log.")
        self._reckoned_from = 0
        while self._against and self._against[0].seq <= last:
            self._compare(self._against[0].seq, self._ends.get(self._against[0].seq), is_deleted=True)
        self.found.link = self._ends.get(last)
        self._unsure = self.found.link is None

    def _not_deleted(self, first: int, last: int) -> list[tuple[int, int]]:
        """Of a gap the stretches that no old archive held when it was deleted."""
        left = []
        for begin, end in self._stretches:
            if begin > last:
                break
            if begin > first:
                left.append((first, begin - 1))
            first = max(first, end + 1)
        return [*left, (first, last)] if first <= last else left

    def _columns(self, event: Chained) -> None:
        """What filters look at is not in the chain, since it is read out of the event; so it must fit that."""
        says = f"Event {event.seq} is filed under names that are not its own: columns of it were changed."
        written = Written(event.record, event.ts, event.version)
        try:
            if not event.record.line.startswith(b'{"seq":%d,' % event.seq):
                self.tell("columns", event.seq, f"Event {event.seq} bears the number of another one: it was moved.")
            elif not self._fits(written):
                self.tell("columns", event.seq, says)
        except Exception:  # whatever lies there, it is no event any more
            self.tell("unreadable", event.seq, f"Event {event.seq} cannot be read: it was changed.")

    def _fits(self, written: Written) -> bool:
        names = written.record[:6]
        then = record_of(present_event(written.kept(), {}), b"")[:6]
        return names in (then, present_record(written.kept(), self._upcasters)[:6])

    def _without_link(self, event: Chained) -> None:
        if self.found.begins or self.found.link is not None:
            says = f"Event {event.seq} has no link of the chain: it was put in, or its link was taken away."
            self.tell("inserted", event.seq, says)
            self._unsure = True
        else:
            self.found.unchained += 1

    def _linked(self, event: Chained, link: bytes) -> bool:
        """Whether it was told that the link does not follow."""
        found, before = self.found, self.found.link
        if not found.begins:
            found.begins = event.seq
        if event.is_reckoned:
            self._reckoned_from = self._reckoned_from or event.seq
            return False
        broken = not self._unsure and not _follows(before or START, event, link)
        if broken:
            first = self._reckoned_from or event.seq
            which = f"Event {event.seq} was" if first == event.seq else f"One of the events {first} to {event.seq} was"
            self.tell("changed", event.seq, f"{which} changed, or the link before it: it does not follow any more.")
        self._unsure, self._reckoned_from = False, 0
        return broken

    def _compare(self, seq: int, link: bytes | None, *, is_deleted: bool = False) -> None:
        """With what was kept outside."""
        while self._against and self._against[0].seq == seq:
            anchor = self._against.pop(0)
            if is_deleted and link is None:
                says = f"The anchor of event {anchor.seq} cannot be compared: it was deleted with an old archive."
                self.tell("anchor_deleted", anchor.seq, says)
            elif link != anchor.link:
                says = f"The log up to event {anchor.seq} is not the one that the anchor was taken of."
                self.tell("anchor", anchor.seq, says + self._of_another_life(anchor.seq))

    def _of_another_life(self, seq: int) -> str:
        later = [mark for mark in self.found.generations if mark.seq < seq]
        if not later:
            return ""
        return (
            f" Behind event {later[-1].seq} another generation of it begins ({later[-1].note}), as after a restore:"
            " the anchor may be of the generation before."
        )

    def ended(self, mark: tuple[str, int] | None, identity: str) -> LogFinding:
        last = self.found.last
        for anchor in self._against:
            says = f"The log ends with event {last}, and the anchor is of event {anchor.seq}: its end was taken away."
            self.tell("cut", anchor.seq, says + self._of_another_life(anchor.seq))
        if mark is not None and mark[0] == identity and mark[1] > last:
            self.tell("cut", mark[1], f"The log ends with event {last}; the mark beside it says that it had {mark[1]}.")
        return self.found

    def tell(self, code: str, seq: int, says: str) -> None:
        if len(self.found.problems) < MOST_PROBLEMS:
            problem = Problem(code=f"audit.{code}", about=f"event {seq}", says=says, try_next=_HINT)
            self.found.problems.append(problem)


def _follows(before: bytes, event: Chained, link: bytes) -> bool:
    try:
        return link == following(before, Written(event.record, event.ts, event.version))
    except (TypeError, AttributeError):  # somebody put values of other types there
        return False
