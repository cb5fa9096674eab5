"""Statements over the tables: many rows at a time going in, one bounded question at a time coming out.

Writes put many rows into one statement: SQLite gives the interpreter up at every statement, and a busy event loop may
take a while to hand it back.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

from beforehand.adapters.sqlite.encoding import Change, Upcast, changes_of, decoded, to_bytes
from beforehand.model.errors import TooLargeError
from beforehand.ports.store import EventFilter, Projection

_RECORD = "seq, kind, scene, owner, run_id, task_id, line"
_EVENT = "seq, ts, owner, line"
_MOST_ROWS = 256
_REPLAY_CHUNK = 1000
_MOST_RUNS = 50
_MOST_KINDS = 1000

_INSERT_EVENTS = ("INSERT INTO events (seq, ts, kind, scene, owner, run_id, task_id, line) VALUES", 8, "")
_UPSERT_ROWS = (
    "INSERT INTO rows (kind, id, parent, open, body, ord) VALUES",
    6,
    "ON CONFLICT (kind, id) DO UPDATE SET parent = excluded.parent, open = excluded.open, body = excluded.body",
)

Question = tuple[str, list[Any]]


def insert_events(connection: sqlite3.Connection, flat: list[Any]) -> None:
    """Write events given as one flat list of their columns."""
    _write(connection, *_INSERT_EVENTS, flat)


def apply_changes(connection: sqlite3.Connection, changes: Iterable[tuple[int, Change]]) -> None:
    """Change rows as numbered events said; of several changes to one row only what they come to is written.

    A row keeps the number that first made it; deleted and made again it gets a new one.
    """
    left: dict[tuple[str, str], tuple[int, Change]] = {}
    gone: set[tuple[str, str]] = set()
    for seq, change in changes:
        key = change[:2]
        if change.body is None:
            left.pop(key, None)
            gone.add(key)
        else:
            first = left.get(key)
            left[key] = (first[0] if first else seq, change)
    if gone:
        connection.executemany("DELETE FROM rows WHERE kind = ? AND id = ?", sorted(gone))
    if left:
        _write(connection, *_UPSERT_ROWS, list(chain.from_iterable((*change, seq) for seq, change in left.values())))


def _write(connection: sqlite3.Connection, head: str, width: int, tail: str, flat: list[Any]) -> None:
    """Run one statement per power of two of rows, so that few different ones have to be prepared."""
    at, rows = 0, len(flat) // width
    while at < rows:
        size = min(_MOST_ROWS, 1 << ((rows - at).bit_length() - 1))
        connection.execute(_statement(head, width, tail, size), flat[at * width : (at + size) * width])
        at += size


@cache
def _statement(head: str, width: int, tail: str, rows: int) -> str:
    marks = f"({', '.join('?' * width)})"
    return f"{head} {', '.join([marks] * rows)} {tail}"


def rebuild(connection: sqlite3.Connection, project: Projection, upcast: Upcast | None) -> None:
    """Read every row anew from the log, in the transaction the caller has begun."""
    connection.execute("DELETE FROM rows")
    after = 0
    while chunk := connection.execute(*events_question(after, _REPLAY_CHUNK, EventFilter())).fetchall():
        apply_changes(connection, chain.from_iterable(_replayed(found, project, upcast) for found in chunk))
        after = chunk[-1][0]


def _replayed(found: Sequence[Any], project: Projection, upcast: Upcast | None) -> list[tuple[int, Change]]:
    seq, ts, owner, line = found
    event = decoded(0, ts, owner, line, upcast)
    return [
        (seq, change) for change in changes_of(event, to_bytes(event.data, f"The event {event.kind}", "data"), project)
    ]


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


def records_question(after: int, limit: int, only: EventFilter) -> Question:
    return _log_question(_RECORD, after, limit, only)


def events_question(after: int, limit: int, only: EventFilter) -> Question:
    return _log_question(_EVENT, after, limit, only)


def _log_question(columns: str, after: int, limit: int, only: EventFilter) -> Question:
    """Events above a number, by the narrowest index; the other conditions are only looked at (`+` keeps them so)."""
    conditions: list[str] = []
    values: list[Any] = []
    narrowest_first = (("task_id", only.task), ("run_id", only.run), ("owner", only.owner), ("scene", only.scene))
    for column, wanted in narrowest_first:
        if wanted is not None:
            indexed = bool(wanted) and not conditions
            conditions.append(f"{column} <> '' AND {column} = ?" if indexed else f"+{column} = ?")
            values.append(wanted)
    kinds = sorted(only.kinds)
    if len(kinds) > _MOST_KINDS:
        raise TooLargeError(f"{len(kinds)} kinds of events are too many to ask for at once; {_MOST_KINDS} may be.")
    after, limit = _number(after), _number(limit)
    if kinds and (conditions or len(kinds) > _MOST_RUNS):
        conditions.append(f"+kind IN ({', '.join('?' * len(kinds))})")
        values += kinds
    if conditions or not kinds:
        where = " AND ".join([*conditions, "seq > ?"])
        return f"SELECT {columns} FROM events WHERE {where} ORDER BY seq LIMIT ?", [*values, after, limit]
    # One ordered run of the index per kind, merged: the answer is bounded whatever the kinds have in common.
    part = f"SELECT {columns} FROM events WHERE kind = ? AND seq > ?"
    sql = " UNION ALL ".join([part] * len(kinds)) + " ORDER BY seq LIMIT ?"
    return sql, [*chain.from_iterable((kind, after) for kind in kinds), limit]


def _number(asked: int) -> int:
    """A number as the file can compare it, whatever was asked for."""
    return min(max(asked, 0), 2**63 - 1)


def rows_question(
    kind: str, parent: str | None, open_only: bool | None, limit: int | None, newest_first: bool
) -> Question:
    conditions, values = ["kind = ?"], [kind]
    if parent is not None:
        conditions.append("parent <> '' AND parent = ?" if parent else "parent = ?")
        values.append(parent)
    if open_only is not None:
        conditions.append(f"open = {int(open_only)}")
    way = "DESC" if newest_first else "ASC"
    most = -1 if limit is None else _number(limit)
    where = " AND ".join(conditions)
    return f"SELECT body FROM rows WHERE {where} ORDER BY ord {way}, rowid {way} LIMIT ?", [*values, most]


def count_rows(connection: sqlite3.Connection, kind: str, open_only: bool | None) -> int:
    """Both counts run over an index alone, which holds no documents."""
    everything = "SELECT COUNT(*) FROM rows WHERE kind = ?1"
    living = f"{everything} AND open = 1"
    sql = {None: everything, True: living, False: f"SELECT ({everything}) - ({living})"}[open_only]
    (found,) = connection.execute(sql, (kind,)).fetchone()
    return int(found)
