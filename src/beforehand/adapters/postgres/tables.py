"""Statements over the tables: a whole commit goes in by a few of them, each with its rows as arrays."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from beforehand.adapters.log.archive_file import Written
from beforehand.adapters.log.changes import outcome
from beforehand.adapters.log.encoding import Change
from beforehand.adapters.log.refusals import check_filter
from beforehand.adapters.postgres.names import kept_name, kept_or_none, true_name
from beforehand.model.chain import GENERATION, ChainMark
from beforehand.model.log_identity import LogIdentity
from beforehand.ports.store import EventFilter, Record, RowQuery

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

LAST = 2**63 - 1
CHANNEL = "beforehand"
_MOST_BYTES = 32 * 1024 * 1024

# A process that has lost the lead gives its events no time, which the table refuses: nothing is written.
_INSERT_EVENTS = (
    "INSERT INTO events (seq, ts, kind, scene, owner, run_id, task_id, version, line, chain)"
    " SELECT n, CASE WHEN (SELECT epoch FROM lead) = %s THEN t END, k, s, o, r, a, v, l, c"
    " FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::int[],"
    " %b::bytea[], %b::bytea[]) AS given (n, t, k, s, o, r, a, v, l, c)"
)
_UPSERT_ROWS = (
    "INSERT INTO rows (kind, id, parent, open, body, ord)"
    " SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::int[], %b::bytea[], %s::bigint[])"
    " ON CONFLICT (kind, id) DO UPDATE SET parent = excluded.parent, open = excluded.open, body = excluded.body"
)
_DELETE_ROWS = "DELETE FROM rows USING unnest(%s::text[], %s::text[]) AS gone (k, i) WHERE kind = k AND id = i"
_KEEP_SNAPSHOT = (
    "INSERT INTO snapshots (owner, seq, body) VALUES (%s, %s, %b) ON CONFLICT (owner)"
    " DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE excluded.seq >= snapshots.seq"
)
_RECORD = "SELECT seq, kind, scene, owner, run_id, task_id, line, ts, version, chain FROM events"
_MARKS = "SELECT seq, link, why, note FROM chain_marks ORDER BY seq"

Question = tuple[str, list[Any]]


async def insert_events(line: "Line", epoch: int, events: Sequence[Written]) -> None:
    """Write events for as long as the epoch is the leader's."""
    for part in _parts(events, lambda event: len(event.record.line)):
        columns: list[Any] = [
            [event.record.seq for event in part],
            [event.ts for event in part],
            [kept_name(event.record.kind) for event in part],
            [kept_or_none(event.record.scene) for event in part],
            [kept_name(event.record.owner) for event in part],
            [kept_or_none(event.record.run_id) for event in part],
            [kept_or_none(event.record.task_id) for event in part],
            [event.version for event in part],
            [event.record.line for event in part],
            [event.link for event in part],
        ]
        await line.execute(_INSERT_EVENTS, [epoch, *columns], prepare=True)


async def apply_changes(line: "Line", changes: Iterable[tuple[int, Change]]) -> None:
    """Change rows as numbered events said; of several changes to one row only what they come to is written."""
    left, gone = outcome(changes)
    if gone:
        names = [[kept_name(key[place]) for key in gone] for place in (0, 1)]
        await line.execute(_DELETE_ROWS, names, prepare=True)
    for part in _parts(left, lambda row: len(row[4])):
        names = [[kept_name(row[place]) for row in part] for place in (0, 1, 2)]
        others = [[row[place] for row in part] for place in (3, 4, 5)]
        await line.execute(_UPSERT_ROWS, [*names, *others], prepare=True)


def _parts(items: Sequence[Any], size: Any) -> Iterator[list[Any]]:
    """The items in parts that one statement can carry."""
    part: list[Any] = []
    left = _MOST_BYTES
    for item in items:
        part.append(item)
        left -= size(item)
        if left <= 0:
            yield part
            part, left = [], _MOST_BYTES
    if part:
        yield part


async def notify(line: "Line", seq: int) -> None:
    """Tell followers, once the transaction commits, how far the log goes."""
    await line.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(seq)), prepare=True)


async def keep_snapshot(line: "Line", owner: str, seq: int, body: bytes) -> None:
    """Only the newest is kept; an older one that comes late changes nothing."""
    await line.execute(_KEEP_SNAPSHOT, (kept_name(owner), seq, body))


async def find_snapshot(line: "Line", owner: str) -> tuple[int, bytes] | None:
    found = await _all(line, "SELECT seq, body FROM snapshots WHERE owner = %s", [kept_name(owner)])
    return (found[0][0], found[0][1]) if found else None


async def last_seq(line: "Line") -> int:
    found = await _all(line, "SELECT COALESCE(MAX(seq), 0) FROM events", [])
    return int(found[0][0])


async def last_link(line: "Line") -> bytes | None:
    """The link of the newest event; None where it has none."""
    found = await _all(line, "SELECT chain FROM events ORDER BY seq DESC LIMIT 1", [])
    return found[0][0] if found else None


async def marks_in(line: "Line") -> list[ChainMark]:
    return [ChainMark(*found) for found in await _all(line, _MARKS, [])]


async def add_marks(line: "Line", marks: Iterable[ChainMark]) -> None:
    for mark in marks:
        await line.execute("INSERT INTO chain_marks (seq, link, why, note) VALUES (%s, %b, %s, %s)", mark)


async def lines_between(line: "Line", first: int, last: int) -> list[bytes]:
    """The lines of some numbers, as they lie in the log."""
    found = await _all(line, "SELECT line FROM events WHERE seq BETWEEN %s AND %s ORDER BY seq", [first, last])
    return [each for (each,) in found]


async def find_records(line: "Line", after: int, limit: int, only: EventFilter) -> list[Written]:
    """Events above a number, as they were written."""
    return await _find(line, number(after) + 1, LAST, limit, only, "ASC")


async def find_last_records(line: "Line", before: int, limit: int, only: EventFilter) -> list[Written]:
    """Events below a number, the newest first."""
    return await _find(line, 0, number(before) - 1, limit, only, "DESC")


async def _find(line: "Line", low: int, high: int, limit: int, only: EventFilter, order: str) -> list[Written]:
    check_filter(only)
    conditions, values = ["seq >= %s", "seq <= %s"], [low, high]
    for column, wanted in (("task_id", only.task), ("run_id", only.run), ("owner", only.owner), ("scene", only.scene)):
        if wanted is not None:
            conditions.append(f"{column} = %s")
            values.append(kept_name(wanted))  # type: ignore[arg-type]
    if only.kinds:
        conditions.append("kind = ANY(%s)")
        values.append([kept_name(kind) for kind in sorted(only.kinds)])  # type: ignore[arg-type]
    asked = f"{_RECORD} WHERE {' AND '.join(conditions)} ORDER BY seq {order} LIMIT %s"
    return [_written(found) for found in await _all(line, asked, [*values, number(limit)])]


def _written(found: Sequence[Any]) -> Written:
    seq, kind, scene, owner, run_id, task_id, body, ts, version, link = found
    names = (true_name(kind) or "", true_name(scene), true_name(owner) or "", true_name(run_id), true_name(task_id))
    return Written(Record(seq, *names, body), ts, version, link)


async def find_numbers(line: "Line", seqs: Sequence[int]) -> list[Written]:
    """The events of the log with these numbers."""
    asked = f"{_RECORD} WHERE seq = ANY(%s) ORDER BY seq"
    return [_written(found) for found in await _all(line, asked, [list(seqs)])]


def number(asked: int) -> int:
    """A number as the database can compare it, whatever was asked for."""
    return min(max(asked, 0), LAST - 1)


async def find_row(line: "Line", kind: str, id: str) -> bytes | None:
    asked = "SELECT body FROM rows WHERE kind = %s AND id = %s"
    found = await _all(line, asked, [kept_name(kind), kept_name(id)])
    return found[0][0] if found else None


async def find_rows(
    line: "Line", kind: str, parent: str | None, open_only: bool | None, limit: int | None, newest_first: bool
) -> list[bytes]:
    conditions, values = ["kind = %s"], [kept_name(kind)]
    if parent is not None:
        conditions.append("parent = %s" if not parent else "parent = %s AND parent <> ''")
        values.append(kept_name(parent))
    if open_only is not None:
        conditions.append(f"open = {int(open_only)}")
    order = "DESC" if newest_first else "ASC"
    asked = f"SELECT body FROM rows WHERE {' AND '.join(conditions)} ORDER BY ord {order}, place {order} LIMIT %s"
    most = None if limit is None else number(limit)
    return [body for (body,) in await _all(line, asked, [*values, most])]


async def find_together(line: "Line", queries: Iterable[RowQuery]) -> list[list[bytes]]:
    """The rows of each query, as of one moment."""
    async with line.transaction():
        await line.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return [await _find_queried(line, query) for query in queries]


async def _find_queried(line: "Line", query: RowQuery) -> list[bytes]:
    if query.id is None:
        return await find_rows(line, query.kind, query.parent, query.open, None, newest_first=False)
    found = await find_row(line, query.kind, query.id)
    return [] if found is None else [found]


async def count_rows(line: "Line", kind: str, open_only: bool | None) -> int:
    still = "" if open_only is None else f" AND open = {int(open_only)}"
    found = await _all(line, f"SELECT COUNT(*) FROM rows WHERE kind = %s{still}", [kept_name(kind)])
    return int(found[0][0])


async def _all(line: "Line", question: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    return await (await line.execute(question, values, binary=True)).fetchall()


_PLACE = "(SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'events'::regclass::oid"


async def identity_in(line: "Line") -> LogIdentity | None:
    found = await (await line.execute("SELECT id, generation, legacy FROM identity")).fetchone()
    return LogIdentity(found[0], found[1], bool(found[2])) if found else None


async def put_identity(line: "Line", identity: LogIdentity) -> None:
    id, generation, legacy = identity
    end = await last_link(line)
    if end is not None and await identity_in(line) != identity:
        await add_marks(line, [ChainMark(await last_seq(line), end, GENERATION, str(identity))])
    await line.execute("DELETE FROM identity")
    values = (id, generation, int(legacy))
    await line.execute(f"INSERT INTO identity SELECT 1, %s, %s, %s, {_PLACE}", values)


async def lies_elsewhere(line: "Line") -> bool | None:
    """A copy that `pg_dump` or a template made is another database, or another table."""
    found = await (await line.execute(f"SELECT place, {_PLACE} FROM identity")).fetchone()
    return found[0] != found[1] if found and found[0] else None
