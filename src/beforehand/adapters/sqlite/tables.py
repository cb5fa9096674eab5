"""Statements over the tables: many rows at a time going in, one bounded question at a time coming out.

Writes put many rows into one statement: SQLite gives the interpreter up at every statement, and a busy event loop may
take a while to hand it back.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from beforehand.adapters.log.changes import outcome
from beforehand.adapters.log.encoding import Change, Kept
from beforehand.adapters.log.refusals import check_filter
from beforehand.adapters.sqlite.schema import NOT_BY_ID, NOT_BY_RUN
from beforehand.adapters.sqlite.spans import stretches
from beforehand.model.chain import GENERATION, ChainMark
from beforehand.model.log_identity import LogIdentity
from beforehand.ports.store import EventFilter, RowQuery

_RECORD = "seq, kind, scene, owner, run_id, task_id, line, ts, version, chain"
_KEPT = "seq, ts, owner, version, line"
_MOST_ROWS = 256
LAST = 2**63 - 1

_COLUMNS = 10
_EVENT_MARKS = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
# A process that has lost the lead gives its first event no time, which the table refuses: nothing is written.
_LEADING_MARKS = "(?, iif((SELECT epoch FROM lead) = ?, ?, NULL), ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_EVENTS = "INSERT INTO events (seq, ts, kind, scene, owner, run_id, task_id, line, version, chain) VALUES"
_ROW_MARKS = "(?, ?, ?, ?, ?, ?)"
_UPSERT_ROWS = "INSERT INTO rows (kind, id, parent, open, body, ord) VALUES"
_IF_THERE = "ON CONFLICT (kind, id) DO UPDATE SET parent = excluded.parent, open = excluded.open, body = excluded.body"
_MARKS = "SELECT seq, link, why, note FROM chain_marks ORDER BY seq"

Question = tuple[str, list[Any]]
Found = Iterator[tuple[Any, ...]]


def insert_events(connection: sqlite3.Connection, epoch: int, flat: list[Any]) -> None:
    """Write events given as one flat list of their columns, for as long as the epoch is the leader's."""
    for part in _parts(flat, _COLUMNS):
        statement = _insert_events(len(part) // _COLUMNS)
        part.insert(1, epoch)
        connection.execute(statement, part)


def apply_changes(connection: sqlite3.Connection, changes: Iterable[tuple[int, Change]]) -> None:
    """Change rows as numbered events said; of several changes to one row only what they come to is written."""
    left, gone = outcome(changes)
    if gone:
        connection.executemany("DELETE FROM rows WHERE kind = ? AND id = ?", gone)
    for part in _parts([value for row in left for value in row], 6):
        connection.execute(_upsert_rows(len(part) // 6), part)


def _parts(flat: list[Any], width: int) -> list[list[Any]]:
    """The rows in parts of powers of two, so that few different statements have to be prepared."""
    at, rows, parts = 0, len(flat) // width, []
    while at < rows:
        size = min(_MOST_ROWS, 1 << ((rows - at).bit_length() - 1))
        parts.append(flat if size == rows else flat[at * width : (at + size) * width])
        at += size
    return parts


@cache
def _insert_events(rows: int) -> str:
    return f"{_INSERT_EVENTS} {', '.join([_LEADING_MARKS, *[_EVENT_MARKS] * (rows - 1)])}"


@cache
def _upsert_rows(rows: int) -> str:
    return f"{_UPSERT_ROWS} {', '.join([_ROW_MARKS] * rows)} {_IF_THERE}"


def keep_snapshot(connection: sqlite3.Connection, owner: str, seq: int, body: bytes) -> None:
    """Only the newest is kept; an older one that comes late changes nothing."""
    connection.execute(
        "INSERT INTO snapshots (owner, seq, body) VALUES (?, ?, ?) ON CONFLICT (owner)"
        " DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE excluded.seq >= snapshots.seq",
        (owner, seq, body),
    )


def last_seq(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()
    return int(last)


def last_link(connection: sqlite3.Connection) -> bytes | None:
    """The link of the newest event; None where it has none."""
    found = connection.execute("SELECT chain FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return found[0] if found else None


def marks_in(connection: sqlite3.Connection) -> list[ChainMark]:
    return [ChainMark(*found) for found in connection.execute(_MARKS)]


def add_marks(connection: sqlite3.Connection, marks: Iterable[ChainMark]) -> None:
    connection.executemany("INSERT INTO chain_marks (seq, link, why, note) VALUES (?, ?, ?, ?)", marks)


def find_records(connection: sqlite3.Connection, after: int, limit: int, only: EventFilter) -> Found:
    """Events above a number with what filters look at, as they were written."""
    return _find(connection, _RECORD, _number(after) + 1, LAST, limit, only)


def find_last_records(connection: sqlite3.Connection, before: int, limit: int, only: EventFilter) -> Found:
    """Events below a number, the newest first."""
    return _find(connection, _RECORD, 0, _number(before) - 1, limit, only, newest_first=True)


def find_events(connection: sqlite3.Connection, after: int, limit: int, only: EventFilter) -> Found:
    return _find(connection, _KEPT, _number(after) + 1, LAST, limit, only)


def kept_in(found: Sequence[Any]) -> Kept:
    """What `find_records` found, as it lies in the log."""
    seq, _, _, owner, _, _, line, ts, version, _ = found
    return Kept(seq, ts, owner, version, line)


def _find(
    connection: sqlite3.Connection,
    columns: str,
    low: int,
    high: int,
    limit: int,
    only: EventFilter,
    newest_first: bool = False,
) -> Found:
    """Events between two numbers, by the narrowest index, else stretch by stretch."""
    check_filter(only)
    indexed = only.task or only.run or only.owner
    ranges = [(low, high)] if indexed else list(stretches(connection, low, high, only))
    left = _number(limit)
    for first, last in reversed(ranges) if newest_first else ranges:
        if left <= 0:
            return
        for found in connection.execute(*log_question(columns, first, last, left, only, newest_first)):
            left -= 1
            yield found


def log_question(
    columns: str, low: int, high: int, limit: int, only: EventFilter, newest_first: bool = False
) -> Question:
    """Events between two numbers; conditions no index is for, or no longer, are only looked at (`+` keeps them so)."""
    conditions: list[str] = []
    values: list[Any] = []
    for column, wanted in (("task_id", only.task), ("run_id", only.run), ("owner", only.owner), ("scene", only.scene)):
        if wanted is not None:
            indexed = bool(wanted) and not conditions and column not in ("owner", "scene")
            conditions.append(f"{column} = ?" if indexed else f"+{column} = ?")
            values.append(wanted)
    if only.kinds:
        conditions.append(f"+kind IN ({', '.join('?' * len(only.kinds))})")
        values += sorted(only.kinds)
    where = " AND ".join([*conditions, "seq >= ? AND seq <= ?"])
    values += (low, high)
    order = "ORDER BY seq DESC LIMIT ?" if newest_first else "ORDER BY seq LIMIT ?"
    if not only.owner or only.task or only.run:
        return f"SELECT {columns} FROM events WHERE {where} {order}", [*values, limit]
    by_owner, owner = (
        f"SELECT {columns} FROM events WHERE {NOT_BY_RUN} AND owner = ? AND {where}",
        [only.owner, *values],
    )
    if not only.owner.startswith("run:"):
        return f"{by_owner} {order}", [*owner, limit]
    by_run, run = f"SELECT {columns} FROM events WHERE run_id = ? AND {where}", [only.owner[4:], *values]
    return f"{by_run} UNION ALL {by_owner} {order}", [*run, *owner, limit]


def _number(asked: int) -> int:
    """A number as the file can compare it, whatever was asked for."""
    return min(max(asked, 0), LAST - 1)


def row_question(kind: str, id: str) -> Question:
    return "SELECT body FROM rows WHERE kind = ? AND id = ?", [kind, id]


def query_question(query: RowQuery) -> Question:
    if query.id is not None:
        return row_question(query.kind, query.id)
    return rows_question(query.kind, query.parent, query.open, None, newest_first=False)


def rows_question(
    kind: str, parent: str | None, open_only: bool | None, limit: int | None, newest_first: bool
) -> Question:
    columns, conditions, values, order = "body, ord, rowid", ["kind = ?"], [kind], "ord {0}, rowid {0}"
    if kind != "step":
        conditions.append("kind <> 'step'")
    elif not parent and not open_only:
        # Rows are put in in the order of their numbers, and most of them are steps: no index would find them sooner.
        conditions, order = ["+kind = ?"], "rowid {0}"
    if parent is not None:
        conditions.append("parent = ?")
        values.append(parent)
    if open_only is not None:
        conditions.append(f"open = {int(open_only)}")
    asked = f"SELECT {columns} FROM rows WHERE {' AND '.join(conditions)}"
    if parent:
        asked += f" AND parent <> '' AND {NOT_BY_ID}"
        if kind == "step":
            asked, values = _of_run(asked, values, columns, parent, open_only)
    most = -1 if limit is None else _number(limit)
    return f"{asked} ORDER BY {order.format('DESC' if newest_first else 'ASC')} LIMIT ?", [*values, most]


def _of_run(others: str, values: list[Any], columns: str, run: str, open_only: bool | None) -> Question:
    """Steps named after their run lie side by side; others, if there are any, have the index."""
    still = "" if open_only is None else f" AND open = {int(open_only)}"
    named = f"SELECT {columns} FROM rows WHERE kind = 'step' AND id >= ? AND id < ? AND +parent = ? AND NOT {NOT_BY_ID}"
    # The character behind "/" is "0".
    return f"{named}{still} UNION ALL {others}", [f"{run}/", f"{run}0", run, *values]


def count_rows(connection: sqlite3.Connection, kind: str, open_only: bool | None) -> int:
    """Both counts run over an index alone, which holds no documents."""
    everything = "SELECT COUNT(*) FROM rows WHERE kind = ?1"
    living = f"{everything} AND open = 1"
    sql = {None: everything, True: living, False: f"SELECT ({everything}) - ({living})"}[open_only]
    (found,) = connection.execute(sql, (kind,)).fetchone()
    return int(found)


def identity_in(connection: sqlite3.Connection) -> LogIdentity | None:
    found = connection.execute("SELECT id, generation, legacy FROM identity").fetchone()
    return LogIdentity(found[0], found[1], bool(found[2])) if found else None


def put_identity(connection: sqlite3.Connection, identity: LogIdentity, place: str) -> None:
    id, generation, legacy = identity
    end = last_link(connection)
    if end is not None and identity_in(connection) != identity:
        add_marks(connection, [ChainMark(last_seq(connection), end, GENERATION, str(identity))])
    connection.execute("INSERT OR REPLACE INTO identity VALUES (1, ?, ?, ?, ?)", (id, generation, int(legacy), place))


def place_in(connection: sqlite3.Connection) -> str:
    found = connection.execute("SELECT place FROM identity").fetchone()
    return found[0] if found else ""
