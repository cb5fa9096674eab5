"""What of a log is damaged, and the mending of what can be made anew.

Documents, spans and snapshots are only read out of the events. Where they are damaged and the events are not, the log
is copied without them into a new file, which takes the place of the damaged one in one instant; whoever leads it makes
them anew, as after an upgrade.
"""

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from beforehand.adapters.log.refusals import damaged
from beforehand.adapters.sqlite.schema import VERSION, connect_copy, connect_reading, explained, version_of
from beforehand.adapters.sqlite.spans import SPAN, note_spans
from beforehand.adapters.sqlite.unwritable import has_commits_beside
from beforehand.model.errors import BeforehandError
from beforehand.model.words import in_bytes
from beforehand.ports.log import Log
from beforehand.ports.store import COLUMNS, Part

log = Log("beforehand.log")
Run = tuple[int, int]
CACHES = ("rows", "spans", "snapshots", "versions")
"""Tables that are made from the events."""
LOGGED = ("events", "archive", "identity", "chain_marks", "lead")
"""Tables that are not."""
_CHUNK = 1000
_FAR = 10_000
"""Numbers that are tried one by one behind an event that cannot be read."""
_END = 2**53
_MOST = 10
"""Stretches of events that are told one by one."""
_SMALL = 256 * 1024 * 1024
"""Bytes of a log whose indexes are looked at whenever somebody begins to lead it."""
_INDEXES = "indexes"
_BROKEN_ROW = "SELECT 1 FROM rows NOT INDEXED WHERE NOT json_valid(CAST(body AS TEXT)) LIMIT 1"
_BROKEN_EVENT = "SELECT seq FROM events NOT INDEXED WHERE NOT json_valid(CAST(line AS TEXT)) AND seq >= ? LIMIT 1"

_READ_EVENT = "SELECT seq, length(CAST(line AS TEXT)) FROM events NOT INDEXED WHERE seq >= ? ORDER BY seq LIMIT {}"


class Damage(NamedTuple):
    """What cannot be read; nothing of it, where the log is whole."""

    caches: list[str]
    events: list[Run]
    """From which number to which."""
    tables: list[str]
    """Others, such as who leads."""

    @property
    def can_be_mended(self) -> bool:
        return not self.events and not self.tables

    @property
    def says(self) -> str:
        told = []
        if self.events:
            told.append(f"events cannot be read: {', '.join(map(_run, self.events[:_MOST]))}")
        if self.tables:
            told.append(f"tables cannot be read: {', '.join(self.tables)}")
        if self.caches:
            told.append(f"what is made from the events cannot be read: {', '.join(self.caches)}")
        return "; ".join(told)


def _run(run: Run) -> str:
    first, last = run
    return f"all from {first} on" if last == _END else str(first) if first == last else f"{first} to {last}"


def damage_in(connection: sqlite3.Connection) -> Damage:
    """Everything that is damaged; it takes as long as reading the whole log."""
    tables = [name for name in LOGGED[1:] if not _is_whole(connection, name)]
    caches = damaged_caches(connection)
    events = _unreadable_events(connection)
    if not events and not _is_whole(connection, "events"):
        caches.append(_INDEXES)
    return Damage(caches, events, tables)


def damaged_caches(connection: sqlite3.Connection) -> list[str]:
    """Those that cannot be read, or hold what nobody wrote."""
    found = [name for name in CACHES if not _is_whole(connection, name)]
    if "rows" not in found and connection.execute(_BROKEN_ROW).fetchone():
        found.insert(0, "rows")
    return found


def _is_whole(connection: sqlite3.Connection, table: str) -> bool:
    try:
        return bool(connection.execute(f"PRAGMA quick_check({table})").fetchone() == ("ok",))
    except sqlite3.DatabaseError as problem:
        _refuse_others(problem)
        return False


def _refuse_others(problem: sqlite3.DatabaseError) -> None:
    """Only damage is looked at here; that the file is locked, say, is another thing."""
    if "malformed" not in str(problem):
        raise problem


def _unreadable_events(connection: sqlite3.Connection) -> list[Run]:
    found: list[Run] = []
    start = 1
    while True:
        try:
            broken = connection.execute(_BROKEN_EVENT, (start,)).fetchone()
        except sqlite3.DatabaseError as problem:
            _refuse_others(problem)
            first = _last_before(connection, start) + 1
            behind = _next_behind(connection, first)
            found.append((first, _END if behind is None else behind - 1))
            if behind is None:
                return found
            start = behind
            continue
        if broken is None:
            return found
        found.append((broken[0], broken[0]))
        start = broken[0] + 1


def _last_before(connection: sqlite3.Connection, start: int) -> int:
    """The last event from this number on that can be read before one that cannot; the number before, where none can."""
    last = start - 1
    with suppress(sqlite3.DatabaseError):
        for found in connection.execute(_READ_EVENT.format("-1"), (start,)):
            last = found[0]
    with suppress(sqlite3.DatabaseError):  # many rows at once are read one ahead
        while found := connection.execute(_READ_EVENT.format("1"), (last + 1,)).fetchone():
            last = found[0]
    return last


def _next_behind(connection: sqlite3.Connection, first: int) -> int | None:
    """The number from which on events can be read again, behind one that cannot; None where there is none near."""
    for number in range(first + 1, first + _FAR):
        with suppress(sqlite3.DatabaseError):
            found = connection.execute(_READ_EVENT.format("1"), (number,)).fetchone()
            return None if found is None else int(found[0])
    return None


def cut_off(path: Path) -> str:
    """That the file is shorter than it says itself, as the end of a sentence; empty where it is not."""
    if has_commits_beside(path):
        return ""  # what is missing may be there
    with path.open("rb") as file:
        head = file.read(32)
    if not head.startswith(b"SQLite format 3\0"):
        return "its beginning is not that of a log" if path.stat().st_size else ""
    page = int.from_bytes(head[16:18], "big")
    page = 65536 if page == 1 else page
    wanted = int.from_bytes(head[28:32], "big") * page
    has = path.stat().st_size
    return f"it is cut off: {in_bytes(has)} of {in_bytes(wanted)} are there" if has < wanted else ""


# -- mending -----------------------------------------------------------------------------------------------------------


def mend(path: Path) -> None:
    """Put a log without its damaged caches in the place of one that has them; by whoever holds its lock.

    Nothing is done where they are whole, or where the log is older: then they are made anew in any case. The damaged
    file is kept beside it. UnavailableError where events are damaged too.
    """
    if not path.is_file() or not path.stat().st_size:
        return
    with closing(connect_reading(path)) as connection:
        if version_of(connection) != VERSION or not (found := _to_make_anew(connection, path)):
            return
        target = path.with_name(f"{path.name}.mended")
        try:
            _copy_whole(connection, path, target)
        except sqlite3.DatabaseError as problem:
            target.unlink(missing_ok=True)
            _refuse_others(problem)
            damage = damage_in(connection)
            if damage.caches and _INDEXES not in found:
                raise damaged(str(path), damage.says) from problem
            log.error("the log is damaged", log=str(path), says=damage.says)
            return
    _put_in_place(path, target)
    kept = f"{path.name}.damaged"
    log.warning("what is made from the events was damaged, and is made anew", log=str(path), was=found, kept=kept)


def _to_make_anew(connection: sqlite3.Connection, path: Path) -> list[str]:
    found = damaged_caches(connection)
    if not found and path.stat().st_size <= _SMALL and not _is_whole(connection, "events"):
        found.append(_INDEXES)
    return found


def in_full(problem: BaseException, path: Path) -> BeforehandError:
    """What a fault means; where the log is damaged, what of it."""
    if isinstance(problem, sqlite3.DatabaseError) and "malformed" in str(problem):
        with suppress(sqlite3.Error, OSError):
            if cut := cut_off(path):
                return damaged(str(path), cut)
            with closing(connect_reading(path)) as connection:
                return damaged(str(path), damage_in(connection).says)
    return explained(problem, path)


def _copy_whole(connection: sqlite3.Connection, path: Path, target: Path) -> None:
    """The log's own tables, as the same log: it lies in another file, and is not another generation for that."""
    copy_logged(connection, target)
    with closing(sqlite3.connect(target, isolation_level=None)) as copy:
        (noted,) = copy.execute("SELECT COALESCE(MAX(place), '') FROM identity").fetchone()
        if noted == str(path.stat().st_ino):
            copy.execute("UPDATE identity SET place = ?", (str(target.stat().st_ino),))
    descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(path: Path, target: Path) -> None:
    """At every instant either file is whole under the log's name, without a write-ahead log of the other."""
    with closing(sqlite3.connect(path, timeout=5, isolation_level=None)) as connection:
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise damaged(str(path), "another process reads it, so it could not be mended")
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    kept = path.with_name(f"{path.name}.damaged")
    kept.unlink(missing_ok=True)
    try:
        os.link(path, kept)
    except OSError:  # not every file system can
        shutil.copyfile(path, kept)
    target.replace(path)


def copy_logged(connection: sqlite3.Connection, target: Path) -> None:
    """Copy only what cannot be made anew: without versions, whoever opens the copy makes the rest out of the events."""
    make_anew(target)
    connection.execute("BEGIN")
    with closing(connect_copy(target)) as copy:
        copy.execute("BEGIN")
        for table in LOGGED:
            columns = COLUMNS[table]
            found = connection.execute(f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED ORDER BY rowid")
            while rows := found.fetchmany(_CHUNK):
                write_rows(copy, Part(table, rows))
        copy.execute("COMMIT")
    connection.execute("COMMIT")


def make_anew(path: Path) -> None:
    for end in ("", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def write_rows(connection: sqlite3.Connection, part: Part) -> None:
    columns = COLUMNS[part.table]
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {part.table} ({', '.join(columns)}) VALUES ({marks})", part.rows)
    if part.table == "events":
        named = {("kind", row[2], row[0] // SPAN) for row in part.rows}
        named |= {("scene", row[3], row[0] // SPAN) for row in part.rows if row[3] is not None}
        note_spans(connection, sorted(named))
