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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from beforehand.adapters.log.encoding import Kept
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

    @property
    def seq(self) -> int:
        return self.record.seq

    def kept(self) -> Kept:
        return Kept(self.record.seq, self.ts, self.record.owner, self.version, self.record.line)


def pack(events: Sequence[Written], versions: Mapping[str, int]) -> tuple[ArchivePart, bytes]:
    """The events, in the order of their numbers, as one part and its bytes."""
    numbers = {"first": events[0].seq, "last": events[-1].seq, "events": len(events)}
    head = to_json({"format": FORMAT, **numbers, "versions": dict(versions)})
    raw = b"\n".join((head, *map(_line, events), b""))
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


def _line(event: Written) -> bytes:
    record = event.record
    columns: dict[str, Any] = {"seq": record.seq, "ts": event.ts, "version": event.version, "owner": record.owner}
    columns |= {"kind": record.kind, "scene": record.scene, "run": record.run_id, "task": record.task_id}
    return to_json(columns)[:-1] + _EVENT + record.line + b"}"


def _event(line: bytes) -> Written:
    # A quote inside the columns' texts is escaped, so the first place that looks like the event's is the event's.
    end = line.index(_EVENT)
    told = from_json(line[:end] + b"}")
    event = line[end + len(_EVENT) : -1]
    record = Record(told["seq"], told["kind"], told["scene"], told["owner"], told["run"], told["task"], event)
    return Written(record, told["ts"], told["version"])


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
