"""The layout of the file, how it came to be, and what SQLite's complaints mean to a person.

Versions only go up: each migration is a list of statements, all that are missing run in one transaction. A file from a
newer version, or one that belongs to another program, is left alone.
"""

import os
import shutil
import sqlite3
from contextlib import suppress
from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS
from pathlib import Path

from beforehand.adapters.log.refusals import damaged, no_room, read_only
from beforehand.adapters.sqlite.unwritable import connect_still, lies_still
from beforehand.model.errors import BeforehandError, UnavailableError

APPLICATION_ID = 0x42464F48

_WAL_PAGES = 1000
_WAL_BYTES = 4 * 1024 * 1024
_BLOCK = 4096
_LITTLE = 1024 * 1024
"""Bytes that are free on a disk which is as good as full."""

NOT_BY_RUN = "owner <> '' AND owner IS NOT 'run:' || run_id"
"""Events whose owner is not simply the driver of their run."""
NOT_BY_ID = "(kind <> 'step' OR substr(id, 1, length(parent) + 1) <> parent || '/')"
"""Rows that are not steps named after their parent."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE events (seq INTEGER PRIMARY KEY, ts INTEGER NOT NULL, kind TEXT NOT NULL, scene TEXT,"
        " owner TEXT NOT NULL, run_id TEXT, task_id TEXT, line BLOB NOT NULL)",
        # Every index ends in the row's own number, so each serves `= ? AND seq > ? ORDER BY seq` without sorting. Each
        # costs every commit a page; what a run's driver owns is found by the run, kinds and scenes by `spans`.
        "CREATE INDEX events_run ON events (run_id) WHERE run_id IS NOT NULL",
        "CREATE INDEX events_task ON events (task_id) WHERE task_id IS NOT NULL",
        f"CREATE INDEX events_owner ON events (owner) WHERE {NOT_BY_RUN}",
        "CREATE TABLE spans (axis TEXT NOT NULL, name TEXT NOT NULL, span INTEGER NOT NULL,"
        " PRIMARY KEY (axis, name, span)) WITHOUT ROWID",
        "CREATE TABLE rows (kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT NOT NULL, open INTEGER NOT NULL,"
        " ord INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, id))",
        # Steps are by far the most rows and are asked for by their run, with whose id their own begin.
        "CREATE INDEX rows_kind ON rows (kind, ord) WHERE kind <> 'step'",
        f"CREATE INDEX rows_parent ON rows (kind, parent, ord) WHERE parent <> '' AND {NOT_BY_ID}",
        "CREATE INDEX rows_open ON rows (kind, ord) WHERE open = 1",
        "CREATE TABLE snapshots (owner TEXT PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL)",
        "CREATE TABLE lead (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL, pid INTEGER NOT NULL,"
        " host TEXT NOT NULL, url TEXT, since INTEGER NOT NULL, note TEXT NOT NULL)",
    ),
    (
        # The version of its kind that an event was written in; a 1 or nothing at all takes no room in a row.
        "ALTER TABLE events ADD COLUMN version INTEGER NOT NULL DEFAULT 1",
        # What rows and snapshots were written under, and every event with a number above `since`.
        "CREATE TABLE versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL, since INTEGER NOT NULL)",
    ),
    (
        # The parts of the archive; their contents are files in a folder beside the log.
        "CREATE TABLE archive (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,"
        " events INTEGER NOT NULL, from_ts INTEGER NOT NULL, to_ts INTEGER NOT NULL, size INTEGER NOT NULL,"
        " raw_size INTEGER NOT NULL, sha256 TEXT NOT NULL, versions TEXT NOT NULL, names BLOB NOT NULL,"
        " cleared INTEGER NOT NULL, deleted INTEGER NOT NULL, body BLOB)",
    ),
    (
        # Which log this is: every key that reaches a machine begins with it.
        "CREATE TABLE identity (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, generation TEXT NOT NULL,"
        " legacy INTEGER NOT NULL, place TEXT NOT NULL)",
    ),
    (
        # The links of the chain, and what is kept of it beside the events.
        "ALTER TABLE events ADD COLUMN chain BLOB",
        "CREATE TABLE chain_marks (seq INTEGER NOT NULL, link BLOB NOT NULL, why TEXT NOT NULL, note TEXT NOT NULL)",
    ),
)
VERSION = len(MIGRATIONS)


def connect_writing(path: Path) -> sqlite3.Connection:
    """A connection for the leading process: the file is made if need be, every commit reaches the disk."""
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    try:
        _refuse_foreign(connection, path)
        if connection.execute("PRAGMA page_count").fetchone() == (0,):
            # Room that archived events took can be given back a little at a time; that is settled when a file is made.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        connection.execute("PRAGMA cache_size = -16000")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        migrate(connection, path)
        lay_out_wal(path)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_copy(path: Path) -> sqlite3.Connection:
    """A connection to a copy that nobody else uses, with tables as this version lays them out, and no log of writes."""
    connection = sqlite3.connect(path, timeout=5, isolation_level=None)
    try:
        _refuse_foreign(connection, path)
        connection.execute("PRAGMA journal_mode = DELETE")
        migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def lay_out_wal(path: Path) -> None:
    """Fill the write-ahead log with zeros up to the size at which it begins anew.

    A commit that makes its file longer makes the disk write the file's length as well; measured, that is half of what a
    small commit costs. SQLite takes zeros behind its last frame for no frames at all. They are written page by page:
    what is written at once, Linux later handles at once, however little of it has changed.
    """
    with suppress(OSError), path.with_name(path.name + "-wal").open("r+b", buffering=0) as wal:
        size = wal.seek(0, os.SEEK_END)
        while size < _WAL_BYTES:
            size += wal.write(bytes(_BLOCK - size % _BLOCK))
        os.fsync(wal.fileno())


def connect_reading(path: Path) -> sqlite3.Connection:
    """A connection that only reads, also where nothing can be written beside the log."""
    connection = connect_still(path) if lies_still(path) else _connect_beside_others(path)
    try:
        connection.execute("PRAGMA query_only = 1")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_beside_others(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=5, isolation_level=None, check_same_thread=False)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file's layout to this version, all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        have = version_of(connection)
        refuse_newer(have, path)
        if have < VERSION:
            for statements in MIGRATIONS[have:]:
                for statement in statements:
                    connection.execute(statement)
            connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
            connection.execute("DELETE FROM schema_version")
            connection.execute("INSERT INTO schema_version VALUES (?)", (VERSION,))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the file's layout; 0 for an empty one."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").fetchone():
        return 0
    found = connection.execute("SELECT version FROM schema_version").fetchone()
    return int(found[0]) if found else 0


def refuse_newer(have: int, path: Path) -> None:
    if have > VERSION:
        raise UnavailableError(
            f"The log {path} was written by a newer Beforehand (layout {have}); this one knows up to {VERSION}.",
            code="store.too_new",
            hint="Use that newer version, or another home.",
        )


def has_layout(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is laid out as this version does it; False when only a leading process could change that."""
    _refuse_foreign(connection, path)
    have = version_of(connection)
    refuse_newer(have, path)
    return have == VERSION


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Never add tables to a database that somebody else filled."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if tables and owner != APPLICATION_ID:
        raise UnavailableError(
            f"{path} is a database of another program, not a Beforehand log.",
            code="store.foreign",
            hint="Name another home or database file.",
        )


def is_full(problem: BaseException, path: Path) -> bool:
    """Whether it is the disk with this file that has no room; SQLite does not always say so itself."""
    if isinstance(problem, OSError):
        return problem.errno in (ENOSPC, EDQUOT)
    if "disk is full" in str(problem):
        return True
    return "disk I/O" in str(problem) and shutil.disk_usage(path.parent).free < _LITTLE


def _is_read_only(problem: BaseException, path: Path) -> bool:
    """Whether the log can be read and only not be written."""
    refused = isinstance(problem, OSError) and problem.errno in (EACCES, EPERM, EROFS)
    return (refused or "readonly" in str(problem)) and os.access(path, os.R_OK)


def explained(problem: BaseException, path: Path) -> BeforehandError:
    """What a fault of the file or its disk means, and what to do about it."""
    if isinstance(problem, BeforehandError):
        return problem
    text = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
    if is_full(problem, path):
        return no_room(str(path))
    if "malformed" in text:
        return damaged(str(path))
    if "not a database" in text:
        return UnavailableError(
            f"{path} is damaged or is not a Beforehand log.",
            code="store.unreadable",
            hint="Move it away and restore a copy, or name another home.",
        )
    if _is_read_only(problem, path):
        return read_only(str(path.parent))
    if isinstance(problem, OSError) or "unable to open" in text or "readonly" in text:
        return UnavailableError(
            f"The log {path} cannot be opened: {text}.",
            code="store.unopenable",
            hint="Check that the folder exists and may be written, or name another home.",
        )
    if "locked" in text:
        return UnavailableError(
            f"Another program keeps the log {path} locked; what was asked for was not written.",
            code="store.locked",
            hint="Close that program and try again.",
        )
    return UnavailableError(f"The log {path} could not be used: {text}.", code="store.fault")
