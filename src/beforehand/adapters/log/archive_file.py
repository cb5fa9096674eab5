"""A part of the archive as bytes: lines of JSON, compressed with xz, so that common tools read them too.

The first line says what follows and the versions it was written under; then every event is one line: the columns that
filters look at, and the event's own line as it lay in the log, byte for byte. Of the forms the standard library has, xz
at level 2 is the one that makes events smallest (22 times) while it is opened nearly as fast as gzip (14 times).
"""

import hashlib
import json
import lzma
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from beforehand.adapters.log.encoding import Kept
from beforehand.model.chain import DELETED, ChainMark, link
from beforehand.model.errors import UnavailableError
from beforehand.ports.store import EVERYTHING, ArchivePart, EventFilter, Record

FORMAT = "beforehand-archive-1"
LEVEL = 2
LISTED = (
    *("first", "last", "events", "from_ts", "to_ts", "size", "raw_size", "sha256", "versions", "names"),
    *("cleared", "deleted", "id"),
)
"""The columns of the table that lists the parts, as `listed` gives and `part_of` takes them; `id` is the table's."""
_EVENT = b',"event":'
_AXES = ("kind", "scene", "owner", "run_id", "task_id")


class Written(NamedTuple):
    """An event with its number and all its columns, as it lies in a log."""

    record: Record
    ts: int
    version: int
    link: bytes | None = None
    """Its link of the chain; None in a part also where it follows from the event before (`with_links`)."""

    @property
    def seq(self) -> int:
        return self.record.seq

    def kept(self) -> Kept:
        return Kept(self.record.seq, self.ts, self.record.owner, self.version, self.record.line)


def pack(events: Sequence[Written], versions: Mapping[str, int]) -> tuple[ArchivePart, bytes]:
    """The events, in the order of their numbers, as one part and its bytes."""
    numbers = {"first": events[0].seq, "last": events[-1].seq, "events": len(events)}
    head = to_json({"format": FORMAT, **numbers, "versions": dict(versions)})
    raw = b"\n".join((head, *map(_line, events, [None, *events[:-1]]), b""))
    body = lzma.compress(raw, preset=LEVEL)
    times = [event.ts for event in events]
    part = ArchivePart(
        first=events[0].seq,
        last=events[-1].seq,
        events=len(events),
        from_ts=min(times),
        to_ts=max(times),
        size=len(body),
        raw_size=len(raw),
        sha256=hashlib.sha256(body).hexdigest(),
        versions=versions,
        names=names_of(event.record for event in events),
    )
    return part, body


def unpack(body: bytes, part: ArchivePart, where: str) -> list[Written]:
    """The events of a part; UnavailableError when they are not what was put there."""
    if hashlib.sha256(body).hexdigest() != part.sha256:
        raise damaged(where)
    head, *lines = lzma.decompress(body).splitlines()
    told = json.loads(head)
    if told.get("format") != FORMAT:
        raise UnavailableError(
            f"The archive {where} was written by a newer Beforehand.", code="archive.too_new", hint="Use that version."
        )
    return [_event(line) for line in lines]


def listed(part: ArchivePart, deleted: int = 0) -> list[Any]:
    """The columns of a part in the order of `LISTED`, without its number."""
    numbers = [part.first, part.last, part.events, part.from_ts, part.to_ts, part.size, part.raw_size]
    names = b"" if deleted else part.names
    return [*numbers, part.sha256, json.dumps(dict(part.versions)), names, int(part.cleared), deleted]


def part_of(columns: Sequence[Any]) -> ArchivePart:
    first, last, events, from_ts, to_ts, size, raw_size, sha256, versions, names, cleared, deleted, id = columns
    told = (first, last, events, from_ts, to_ts, size, raw_size, sha256, json.loads(versions))
    return ArchivePart(*told, bytes(names), bool(cleared), deleted, id)


def damaged(where: str) -> UnavailableError:
    return UnavailableError(
        f"The archive {where} is missing or damaged, so the events in it cannot be read.",
        code="archive.unreadable",
        hint="Put that file back from a backup; everything that is not in it can still be read.",
    )


def with_links(events: Iterable[Written]) -> Iterator[Written]:
    """The events of a part with the links that were left out there, since they follow from the events before."""
    before: Written | None = None
    for one in events:
        event = one if one.link else one._replace(link=None)
        if one.link is None and before is not None and before.link is not None and before.seq == one.seq - 1:
            event = one._replace(link=following(before.link, one))
        yield event
        before = event


def following(link_before: bytes, event: Written) -> bytes:
    """The link that an event has behind that one."""
    return link(link_before, event.ts, event.version, event.record.owner, event.record.line)


def marks_of(events: Iterable[Written]) -> list[ChainMark]:
    """What stays of the chain when these events are deleted: of each stretch without a gap its first event (the note),
    its last, and the link there."""
    marks: list[ChainMark] = []
    for event in with_links(events):
        first = str(event.seq)
        if marks and marks[-1].seq == event.seq - 1:
            first = marks.pop().note
        marks.append(ChainMark(event.seq, event.link or b"", DELETED, first))
    return marks


def _line(event: Written, before: Written | None) -> bytes:
    record = event.record
    columns: dict[str, Any] = {"seq": record.seq, "ts": event.ts, "version": event.version, "owner": record.owner}
    columns |= {"kind": record.kind, "scene": record.scene, "run": record.run_id, "task": record.task_id}
    columns |= _shown_link(event, before)
    return to_json(columns)[:-1] + _EVENT + record.line + b"}"


def _shown_link(event: Written, before: Written | None) -> dict[str, str]:
    """A hash cannot be compressed, so a link that follows from the event before is left out; a missing one is not."""
    link_before = before.link if before is not None and before.seq == event.seq - 1 else None
    if link_before is None:
        return {} if event.link is None else {"link": event.link.hex()}
    if event.link is None:
        return {"link": ""}
    return {} if event.link == following(link_before, event) else {"link": event.link.hex()}


def _event(line: bytes) -> Written:
    # A quote inside the columns' texts is escaped, so the first place that looks like the event's is the event's.
    end = line.index(_EVENT)
    told = from_json(line[:end] + b"}")
    event = line[end + len(_EVENT) : -1]
    record = Record(told["seq"], told["kind"], told["scene"], told["owner"], told["run"], told["task"], event)
    shown = told.get("link")
    return Written(record, told["ts"], told["version"], None if shown is None else bytes.fromhex(shown))


def names_of(records: Iterable[Record]) -> bytes:
    """Marks of all that filters may ask for, eight bytes each and in order."""
    found = {(axis, value) for one in records for axis in _AXES if (value := getattr(one, axis)) is not None}
    return array("Q", sorted(_mark(axis, name) for axis, name in found)).tobytes()


def may_hold(part: ArchivePart, only: EventFilter, versions: Mapping[str, int]) -> bool:
    """Whether the filter may find something in the part; what older code wrote may have other names by now."""
    if only == EVERYTHING:
        return not part.deleted
    if part.deleted or any(part.versions.get(name, 1) != version for name, version in versions.items()):
        return not part.deleted
    names = array("Q", part.names)
    asked = [("scene", only.scene), ("owner", only.owner), ("run_id", only.run), ("task_id", only.task)]
    if not all(name is None or _holds(names, _mark(axis, name)) for axis, name in asked):
        return False
    return not only.kinds or any(_holds(names, _mark("kind", kind)) for kind in only.kinds)


def _holds(names: "array[int]", mark: int) -> bool:
    place = bisect_left(names, mark)
    return place < len(names) and names[place] == mark


def _mark(axis: str, name: str) -> int:
    told = f"{axis}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")
