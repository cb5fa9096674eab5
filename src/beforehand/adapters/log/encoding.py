"""Events and documents as bytes, and back in their present form.

Everything is encoded in the caller, once, before anything is queued: what cannot be written is refused there with a
sentence and costs nobody else their commit. A line lacks only its number, which the writer puts in front. An event that
older code wrote is brought up to date whenever it is read.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from beforehand.model.errors import BadInputError, TooLargeError, UnreadableError
from beforehand.model.event import Event, iso
from beforehand.model.reason import Problem
from beforehand.model.versions import Upcasters, kind_version, up_to_date
from beforehand.ports.store import Projection, Record

MAX_BYTES = 256 * 1024 * 1024
_MOST_PROBLEMS = 20
_MOST_LEVELS = 250
_HALF = "it holds half a character (a lone surrogate)"


class Change(NamedTuple):
    """What an event does to one row; `body` None deletes it."""

    kind: str
    id: str
    parent: str
    open: int
    body: bytes | None


class Entry(NamedTuple):
    """An event ready to be written: its columns, its line from behind the number on, and its changes to the rows."""

    ts: int
    kind: str
    scene: str | None
    owner: str
    run_id: str | None
    task_id: str | None
    version: int
    tail: bytes
    changes: Sequence[Change]


class Kept(NamedTuple):
    """An event as it lies in the log: what is not in its line, the version it was written in, and the line."""

    seq: int
    ts: int
    owner: str
    version: int
    line: bytes


def encoded(event: Event, project: Projection, upcasters: Upcasters) -> Entry:
    """The event and its rows as bytes. The projection never sees a number: there is none yet."""
    if event.seq:
        event = event.numbered(0)
    kind, about = event.kind, event.about
    what = f"The event {kind}"
    data = to_bytes(event.data, what, "data")
    tail = _tail(event, data, what)
    if not event.owner.isascii():
        check_text(event.owner, what, "owner")
    run_id, task_id = _id(about.get("runId")), _id(about.get("taskId"))
    version, changes = kind_version(kind, upcasters), changes_of(event, data, project)
    return Entry(event.ts, kind, event.scene, event.owner, run_id, task_id, version, tail, changes)


def line_of(seq: int, tail: bytes) -> bytes:
    """A whole line: the event's wire form as JSON."""
    return b'{"seq":%d,%b' % (seq, tail)


def _tail(event: Event, data: bytes, what: str) -> bytes:
    head = _head(event.kind, event.scene, event.correlation_id)
    about = to_bytes(event.about, what, "about")
    return b'"ts":"%b",%b,"about":%b,"data":%b}' % (_time(event.ts, what), head, about, data)


def changes_of(event: Event, data: bytes, project: Projection) -> list[Change]:
    """The rows the event makes; a row whose document is the event's own data shares its bytes."""
    changes = []
    for row in project(event):
        kind, id, parent, body = row.kind, row.id, row.parent, row.body
        if not (kind.isascii() and id.isascii() and parent.isascii()):
            for name in (kind, id, parent):
                check_text(name, f"The event {event.kind}", "row")
        if body is event.data:
            written: bytes | None = data
        else:
            written = None if body is None else to_bytes(body, f"The event {event.kind}", kind)
        changes.append(Change(kind, id, parent, int(row.open), written))
    return changes


def changes_anew(event: Event, project: Projection) -> list[Change]:
    """The rows that an event from the log makes in its present form."""
    return changes_of(event.numbered(0), to_bytes(event.data, f"The event {event.kind}", "data"), project)


def to_bytes(value: Any, what: str, path: str) -> bytes:
    try:
        encoded = to_json(value, inf_nan_mode="constants", fallback=_plain)
    except (ValueError, TypeError, RecursionError) as problem:
        raise _unwritable(value, what, path, str(problem)) from problem
    if len(encoded) > MAX_BYTES:
        raise TooLargeError(
            f"{what} has {len(encoded)} bytes, more than the {MAX_BYTES} allowed; nothing was written.",
            hint="Keep large contents in files and write their names instead.",
        )
    # Looking for the words is far cheaper than looking at every number; a text may well hold them.
    if (b"NaN" in encoded or b"Infinity" in encoded) and _holds_constants(encoded):
        raise _unwritable(value, what, path, "a number is not finite")
    return encoded


def from_bytes(encoded: bytes) -> dict[str, Any]:
    try:
        return from_json(encoded)  # type: ignore[no-any-return]
    except ValueError:
        pass
    try:  # the quick reader stops at 200 levels, less deep than the writer goes
        return json.loads(encoded)  # type: ignore[no-any-return]
    except ValueError as problem:
        raise UnreadableError(
            f"What the log holds is not what was written there: {problem}.",
            hint="`beforehand doctor` says what is damaged, and what to do.",
        ) from problem


def present_event(kept: Kept, upcasters: Upcasters) -> Event:
    """The event as it was appended, brought up to date."""
    return up_to_date(_written(kept), kept.version, upcasters)


def present_record(kept: Kept, upcasters: Upcasters) -> Record:
    """The event as filters and the wire see it, brought up to date."""
    written = _written(kept)
    event = up_to_date(written, kept.version, upcasters)
    line = kept.line
    if event is not written:
        what = f"The event {event.kind}"
        line = line_of(event.seq, _tail(event, to_bytes(event.data, what, "data"), what))
    return record_of(event, line)


def record_of(event: Event, line: bytes) -> Record:
    run_id, task_id = _id(event.about.get("runId")), _id(event.about.get("taskId"))
    return Record(event.seq, event.kind, event.scene, event.owner, run_id, task_id, line)


def up_to(most_bytes: int | None, records: Iterable[Record]) -> list[Record]:
    """The first of the records, until that much is found; at least one, if there is one."""
    found: list[Record] = []
    size = 0
    for record in records:
        found.append(record)
        size += len(record.line)
        if most_bytes is not None and size >= most_bytes:
            break
    return found


def has_reached(most_bytes: int | None, records: Iterable[Record]) -> bool:
    """Whether that much was found, so that there may be more."""
    return most_bytes is not None and sum(len(record.line) for record in records) >= most_bytes


def _written(kept: Kept) -> Event:
    wire = from_bytes(kept.line)
    about, data, cause = wire["about"], wire["data"], wire["correlationId"]
    return Event(wire["kind"], about, data, kept.ts, wire.get("scene"), cause, kept.owner, kept.seq)


def _time(ts: int, what: str) -> bytes:
    try:
        return iso(ts).encode()
    except (ValueError, OverflowError, OSError) as problem:
        raise _refusal(what, [_problem("ts", f"{ts} is not a time between the years 1 and 9999")]) from problem


@lru_cache(1024)
def _head(kind: str, scene: str | None, correlation_id: str) -> bytes:
    """What the events of one cause have in common, as the inside of an object."""
    shown = {"kind": kind} if scene is None else {"kind": kind, "scene": scene}
    return to_bytes({**shown, "correlationId": correlation_id}, f"The event {kind}", "")[1:-1]


def _id(value: Any) -> str | None:
    return value if value is None or type(value) is str else str(value)


def _plain(value: Any) -> Any:
    """Mappings that are no dict, such as read-only views."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _holds_constants(encoded: bytes) -> bool:
    found: list[str] = []
    json.loads(encoded, parse_constant=found.append)
    return bool(found)


def check_text(text: str, what: str, path: str) -> None:
    if not is_whole(text):
        raise _refusal(what, [_problem(path, _HALF)])


def is_whole(text: str) -> bool:
    """Whether the text can be written at all: no half of a pair of code units stands alone in it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(text: str) -> str:
    """The text as it may stand in a sentence, whatever is in it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _unwritable(value: Any, what: str, path: str, otherwise: str) -> BadInputError:
    found = list(islice(_problems_in(value, path, 0, set()), _MOST_PROBLEMS))
    return _refusal(what, found or [_problem(path, otherwise)])


def _problems_in(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[Problem]:
    """Every place in the value that JSON cannot carry; each part is looked at once, however often it is held."""
    if isinstance(value, float) and not math.isfinite(value):
        yield _problem(path, f"the number {value} is not finite")
    elif isinstance(value, str) and not is_whole(value):
        yield _problem(path, _HALF)
    elif isinstance(value, Mapping | list | tuple) and id(value) not in seen:
        seen.add(id(value))
        if depth > _MOST_LEVELS:
            yield _problem(path, "it is nested too deeply")
            return
        named = isinstance(value, Mapping)
        for key, part in value.items() if isinstance(value, Mapping) else enumerate(value):
            inner = f"{path}.{shown(str(key))}".strip(".") if named else f"{path}[{key}]"
            yield from _problems_in(str(key), inner, depth + 1, seen)
            yield from _problems_in(part, inner, depth + 1, seen)


def _problem(path: str, says: str) -> Problem:
    return Problem(
        code="store.unwritable",
        about=path,
        says=f"{path}: {says}." if path else f"{says[0].upper()}{says[1:]}.",
        path=path,
    )


def _refusal(what: str, problems: Sequence[Problem]) -> BadInputError:
    listed = " ".join(problem.says for problem in problems[:5])
    return BadInputError(
        f"{shown(what)} cannot be written to the log, and nothing was. {listed}",
        code="store.unwritable",
        hint="Give JSON values only.",
        problems=problems,
    )
