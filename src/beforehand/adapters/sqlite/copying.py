"""A whole log going out of a SQLite file or into one, as it lies there; and its layout brought up to date.

The lock is held meanwhile, so nobody leads the log while it is copied.
"""

import asyncio
import os
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from beforehand.adapters.log.archive_file import LISTED, part_of
from beforehand.adapters.log.refusals import not_empty
from beforehand.adapters.sqlite.archive import body_of, folder_of, parts_in, write_part
from beforehand.adapters.sqlite.damage import copy_logged, in_full, make_anew, mend, write_rows
from beforehand.adapters.sqlite.lead import lock
from beforehand.adapters.sqlite.opening import make_private, refuse_lost
from beforehand.adapters.sqlite.schema import (
    VERSION,
    connect_copy,
    connect_reading,
    connect_writing,
    explained,
    has_layout,
    is_full,
    refuse_newer,
    version_of,
)
from beforehand.adapters.sqlite.unwritable import lies_still
from beforehand.model.errors import UnavailableError
from beforehand.ports.log import Log
from beforehand.ports.store import COLUMNS, ArchivePart, Part

log = Log("beforehand.log")
_CHUNK = 1000
_TRIES = 3
_ORDER = {"events": "seq", "rows": "ord, rowid"}


async def migrate_store(path: Path) -> tuple[int, int]:
    have = _version_in(path)
    with _locked(path), closing(connect_writing(path)):
        return have, VERSION


def _version_in(path: Path) -> int:
    if not path.exists():
        return 0
    with _explaining(path), closing(connect_reading(path)) as connection:
        return version_of(connection)


def mend_store(path: Path) -> None:
    if not path.is_file():
        return
    with _locked(path):
        try:
            mend(path)
        except sqlite3.Error as problem:
            raise in_full(problem, path) from problem


async def read_parts(path: Path) -> AsyncGenerator[Part, None]:
    _refuse_missing(path)
    kept_out: AbstractContextManager[None] = nullcontext() if lies_still(path) else _locked(path)
    with kept_out, _explaining(path), closing(connect_reading(path)) as connection:
        if not has_layout(connection, path):
            raise UnavailableError(
                f"The log {path} was laid out by an older Beforehand.",
                code="store.too_old",
                hint=f"Upgrade it first: beforehand db migrate --db {path}",
            )
        for part in _parts(connection, path):
            yield part


def _parts(connection: sqlite3.Connection, path: Path) -> Iterator[Part]:
    for table, columns in COLUMNS.items():
        order = f" ORDER BY {_ORDER[table]}" if table in _ORDER else ""
        found = connection.execute(f"SELECT {', '.join(columns)} FROM {table}{order}")
        if table == "archive":
            yield from (Part(table, [_with_body(row, path)]) for row in found)
            continue
        while rows := found.fetchmany(_CHUNK):
            yield Part(table, rows)


def _with_body(row: tuple[Any, ...], path: Path) -> tuple[Any, ...]:
    """A part of the archive with the contents of its file, which elsewhere lie in the table."""
    part = _listed(row)
    return row if part.deleted else (*row[:-1], body_of(folder_of(path), part))


def _listed(row: tuple[Any, ...]) -> ArchivePart:
    named = dict(zip(COLUMNS["archive"], row, strict=True))
    return part_of([named[name] for name in LISTED])


async def give_room_back(path: Path) -> None:
    """A file with much room in it is written anew, which takes as long as what is left in it.

    Files that older code made can shrink a little at a time from then on.
    """
    with _locked(path), closing(connect_writing(path)) as connection:
        (kind,) = connection.execute("PRAGMA auto_vacuum").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        if free > pages // 10 or (kind == 0 and free):
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def copy_beside(path: Path, target: Path) -> None:
    """A part of the archive that is deleted meanwhile makes the copy begin anew."""
    _refuse_missing(path)
    for tried in range(_TRIES):
        try:
            await asyncio.to_thread(_copy_beside, path, target)
            return
        except UnavailableError as error:
            if error.code != "archive.unreadable" or tried == _TRIES - 1:
                raise


def _copy_beside(path: Path, target: Path) -> None:
    try:
        refuse_lost(path)
        with closing(connect_reading(path)) as connection:
            refuse_newer(version_of(connection), path)
            make_anew(target)
            try:
                connection.execute("PRAGMA query_only = 0")  # the copy is written over this connection, the log is not
                connection.execute("VACUUM INTO ?", (str(target),))
            except sqlite3.DatabaseError as problem:
                if "malformed" not in str(problem) or version_of(connection) != VERSION:
                    raise
                copy_logged(connection, target)
                log.warning(
                    "tables that are made from the log are damaged; a copy leaves them out and makes them anew",
                    log=str(path),
                )
        with closing(connect_copy(target)) as copy:  # one that older code laid out becomes as this version has it
            listed = parts_in(copy)
        for part in listed:
            if not part.deleted:
                write_part(folder_of(target), part, body_of(folder_of(path), part))
    except (sqlite3.Error, OSError) as problem:
        raise (explained(problem, target) if is_full(problem, target) else in_full(problem, path)) from problem


def _refuse_missing(path: Path) -> None:
    if not path.is_file():
        raise UnavailableError(f"There is no log at {path}.", code="store.missing", hint="Name the home or its file.")


async def write_parts(path: Path, parts: AsyncIterator[Part]) -> None:
    """What was begun and cannot be ended leaves nothing behind where nothing was."""
    with _locked(path):
        folder, is_new = folder_of(path), _is_empty(path)
        there = _names_at(folder)
        try:
            with closing(connect_writing(path)) as connection:
                await _fill(connection, path, parts)
        except BaseException:
            _remove_new(folder, there)
            if is_new:
                for end in ("-wal", "-shm", "-journal", "", ".lock"):
                    path.with_name(path.name + end).unlink(missing_ok=True)
            raise


def _names_at(folder: Path) -> set[Path] | None:
    return set(folder.iterdir()) if folder.is_dir() else None


def _is_empty(path: Path) -> bool:
    return path.stat().st_size == 0


def _remove_new(folder: Path, there: set[Path] | None) -> None:
    """Parts of the archive that were written and are not listed."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for place in set(folder.iterdir()) - (there or set()):
        place.unlink(missing_ok=True)
    if there is None:
        folder.rmdir()


async def _fill(connection: sqlite3.Connection, path: Path, parts: AsyncIterator[Part]) -> None:
    holds = "SELECT 1 FROM events UNION ALL SELECT 1 FROM rows UNION ALL SELECT 1 FROM archive LIMIT 1"
    if connection.execute(holds).fetchone():
        raise not_empty(str(path))
    connection.execute("BEGIN IMMEDIATE")
    try:
        for table in ("snapshots", "versions", "identity", "chain_marks", "lead"):
            connection.execute(f"DELETE FROM {table}")
        async for part in parts:
            write_rows(connection, _put_in_files(part, path))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _put_in_files(part: Part, path: Path) -> Part:
    if part.table != "archive":
        return part
    for row in part.rows:
        if row[-1] is not None:
            write_part(folder_of(path), _listed(row), row[-1])
    return Part(part.table, [(*row[:-1], None) for row in part.rows])


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Nobody leads the log meanwhile; refused while somebody does."""
    with _explaining(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        held = lock(path)
        try:
            make_private(path)
            yield
        finally:
            os.close(held)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise explained(problem, path) from problem
