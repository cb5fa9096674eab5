"""The tables that are searched, one per index and a column per field, in a file of their own beside the log.

The file is a cache: made from the log's events, thrown away and made anew when the declarations or the versions of
events change, when it belongs to another log, or when it is damaged. The log itself has no index for questions: an
append pays nothing for them.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from beforehand.adapters.search import tallies, values
from beforehand.adapters.search.clauses import column
from beforehand.adapters.search.queries import words_of
from beforehand.model.event import Event
from beforehand.ports.search import ByKind, Document, Fold, Index

_LAYOUT = 3
_TYPES = {
    "keyword": "TEXT",
    "text": "TEXT",
    "long": "INTEGER",
    "double": "REAL",
    "boolean": "INTEGER",
    "date": "INTEGER",
}
_HELD = {"keyword": str, "text": str, "long": int, "double": float, "boolean": int, "date": int}
"""The type of values that need not be looked at one by one."""


def layout_of(indexes: Mapping[str, Index], versions: Mapping[str, int]) -> str:
    """The same for the same declarations over the same versions of events."""
    told: list[Any] = [sorted(versions.items())]
    told += [
        (_LAYOUT, index.name, index.sped, index.grows, index.listed, [(one.name, one.type) for one in index.fields])
        for index in indexes.values()
    ]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def connect(path: Path, *, writing: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    connection.create_function("words", 1, words_of, deterministic=True)
    try:
        if writing:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        else:
            connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA cache_size = -32000")
    except BaseException:
        connection.close()
        raise
    return connection


def lay_out(path: Path, indexes: Mapping[str, Index], layout: str) -> sqlite3.Connection:
    """The file for writing, with tables as they are declared now; one that is damaged or older is made anew."""
    try:
        if not path.exists():
            raise sqlite3.DatabaseError
        connection = connect(path, writing=True)
        if _has(connection, layout):
            return connection
        connection.close()
    except sqlite3.DatabaseError as problem:
        if isinstance(problem, sqlite3.OperationalError):
            raise
    remove(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # as private as the log it is made from
    connection = connect(path, writing=True)
    make(connection, indexes, layout)
    return connection


def remove(path: Path) -> None:
    for end in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).unlink()


def _has(connection: sqlite3.Connection, layout: str) -> bool:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_place'").fetchone():
        return False
    found = connection.execute("SELECT layout FROM _place").fetchone()
    return bool(found) and found[0] == layout


def make(connection: sqlite3.Connection, indexes: Mapping[str, Index], layout: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for name in [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]:
        connection.execute(f"DROP TABLE {column(name)}")
    connection.execute("CREATE TABLE _place (layout TEXT NOT NULL, seq INTEGER NOT NULL, first TEXT, last TEXT)")
    connection.execute("INSERT INTO _place VALUES (?, 0, NULL, NULL)", (layout,))
    values.make(connection)
    for index in indexes.values():
        columns = ", ".join(f"{column(one.name)} {_TYPES[one.type]}" for one in index.fields)
        connection.execute(f'CREATE TABLE {column(index.name)} ("_id" TEXT PRIMARY KEY, {columns})')
        tallies.make(connection, index)
    connection.execute("COMMIT")


def put_in_order(connection: sqlite3.Connection, indexes: Mapping[str, Index]) -> None:
    """Make the orders that questions are sped by. It is done when the log has been read for the first time: to sort
    all documents at once takes a part of what it takes to find the place of each."""
    for index in indexes.values():
        for number, names in enumerate(index.sped):
            ordered, first = ", ".join(map(column, names)), column(names[0])
            connection.execute(
                f"CREATE INDEX IF NOT EXISTS {column(f'{index.name}_{number}')} ON {column(index.name)} ({ordered})"
                f" WHERE {first} IS NOT NULL"
            )


def place(connection: sqlite3.Connection) -> tuple[int, str | None, str | None]:
    """How far the log has been read, and marks of its first and that event."""
    seq, first, last = connection.execute("SELECT seq, first, last FROM _place").fetchone()
    return seq, first, last


def mark(event: Event) -> str:
    """What tells an event of this log from one of another."""
    told = repr(
        (event.seq, event.ts, event.kind, event.owner, event.correlation_id, sorted(event.about.items(), key=str))
    )
    return hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def take_in(connection: sqlite3.Connection, indexes: Mapping[str, Index], events: Sequence[Event], after: int) -> None:
    """Bring the tables up to the last of these events, the next there are behind number `after`; all or nothing.

    Another process may have been quicker: then nothing is done.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        seq, first, _ = place(connection)
        if seq == after:
            for index in indexes.values():
                documents = _folded(connection, index, events)
                _write(connection, index, documents)
                tallies.add(connection, index, documents.values())
                values.add(connection, index, documents.values())
            last = events[-1]
            marks = (last.seq, first or mark(events[0]), mark(last))
            connection.execute("UPDATE _place SET seq = ?, first = ?, last = ?", marks)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _folded(connection: sqlite3.Connection, index: Index, events: Sequence[Event]) -> dict[str, Document]:
    """The documents as they are after the events; several changes to one are written once."""
    changed: dict[str, Document] = {}
    names = [one.name for one in index.fields]
    sql = f'SELECT {", ".join(map(column, names))} FROM {column(index.name)} WHERE "_id" = ?'

    def look(id: str) -> Document | None:
        if id in changed:
            return changed[id]
        found = connection.execute(sql, (id,)).fetchone()
        return None if found is None else dict(zip(names, found, strict=True))

    for fold, event in _to_fold(index, events):
        for id, document in fold(event, look):
            changed[id] = document
    return changed


def _to_fold(index: Index, events: Sequence[Event]) -> Iterable[tuple[Fold, Event]]:
    """The events that may change the index, each with what folds it."""
    fold = index.fold
    if not isinstance(fold, ByKind):
        return ((fold, event) for event in events)
    makers = fold.makers
    return ((makers[event.kind], event) for event in events if event.kind in makers)


def _write(connection: sqlite3.Connection, index: Index, documents: Mapping[str, Document]) -> None:
    """Documents with the same fields go in together and without all others: to bind None takes the longest of all.

    Each new one is given its number, so that they lie in the order of the events all the same.
    """
    kinds = {one.name: one.type for one in index.fields}
    (last,) = connection.execute(f"SELECT COALESCE(MAX(rowid), 0) FROM {column(index.name)}").fetchone()
    alike: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for number, (id, document) in enumerate(documents.items(), last + 1):
        there = {name: value for name, value in document.items() if value is not None}
        alike.setdefault(tuple(there), []).append((number, id, *there.values()))
    for names, rows in alike.items():
        numbers, ids, *told = zip(*rows, strict=True)
        kept = {name: _all_kept(kinds[name], each) for name, each in zip(names, told, strict=True) if name in kinds}
        connection.executemany(_putting(index, kept), zip(numbers, ids, *kept.values(), strict=True))


def _putting(index: Index, names: Iterable[str]) -> str:
    """The statement that puts documents with these fields in, or in the place of what they were; others become NULL."""
    given = ["rowid", '"_id"', *map(column, names)]
    marks, anew = "?" * len(given), (f"{column(one.name)} = excluded.{column(one.name)}" for one in index.fields)
    put = f"INSERT INTO {column(index.name)} ({', '.join(given)}) VALUES ({', '.join(marks)})"
    return f'{put} ON CONFLICT ("_id") DO UPDATE SET {", ".join(anew)}'


def _all_kept(kind: str, told: Sequence[Any]) -> Sequence[Any]:
    return told if set(map(type, told)) == {_HELD[kind]} else [_kept(kind, value) for value in told]


def _kept(kind: str, value: Any) -> Any:
    """A value as its column holds it; one of another type than the declared is left out, not bent."""
    if value is None:
        return None
    if kind in ("keyword", "text"):
        return value if type(value) is str else str(value) if isinstance(value, int | float) else None
    if kind == "boolean":
        return int(value) if isinstance(value, bool | int) else None
    if isinstance(value, int | float):
        return int(value) if kind != "double" else float(value)
    return None
