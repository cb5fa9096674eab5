"""Taking the lead of a log, or looking into it beside whoever leads."""

import os
import sqlite3
from contextlib import closing, suppress
from errno import EISDIR
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from beforehand.adapters.log.refusals import lost
from beforehand.adapters.sqlite.damage import in_full
from beforehand.adapters.sqlite.lead import lock, take_lead
from beforehand.adapters.sqlite.schema import connect_reading, connect_writing, explained, has_layout
from beforehand.adapters.sqlite.unwritable import has_commits_beside, lies_still
from beforehand.adapters.sqlite.upgrade import bring_up_to_date, copy_in, copy_up_to_date, has_older_data, upgraded_at
from beforehand.model.errors import UnavailableError
from beforehand.model.versions import Upcasters
from beforehand.ports.store import Projection


class Lead(NamedTuple):
    """What leading holds on to: the lock's descriptor, the connection that writes, and the epoch it writes under."""

    lock: int
    connection: sqlite3.Connection
    epoch: int
    upgraded_at: int

    def release(self) -> None:
        self.connection.close()
        os.close(self.lock)


class Look(NamedTuple):
    """What reading looks into: the log itself, or the folder of a copy that was brought up to date."""

    copied: "TemporaryDirectory[str] | None"
    upgraded_at: int

    def release(self) -> None:
        if self.copied is not None:
            self.copied.cleanup()


class Opening(NamedTuple):
    """How a log is to be opened."""

    path: Path
    project: Projection
    upcasters: Upcasters
    since: int
    url: str | None = None
    note: str = ""


def take(opening: Opening) -> Lead:
    """Become the leader of a log that is up to date, or leave everything as it was."""
    path = opening.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        refuse_lost(path)
        held = lock(path)
        make_private(path)
    except (sqlite3.Error, OSError) as problem:
        raise in_full(problem, path) from problem
    try:
        connection = connect_writing(path)
        try:
            upgraded = bring_up_to_date(connection, path, opening.project, opening.upcasters)
            epoch = take_lead(connection, since=opening.since, url=opening.url, note=opening.note)
            return Lead(held, connection, epoch, upgraded)
        except BaseException:
            connection.close()
            raise
    except BaseException as problem:
        os.close(held)
        if isinstance(problem, sqlite3.Error | OSError):
            raise in_full(problem, path) from problem
        raise


def mark_beside(path: Path) -> Path:
    return path.with_name(path.name + ".mark")


def refuse_lost(path: Path) -> None:
    """UnavailableError where nothing is in a log that had come further, by the mark beside it."""
    try:
        marked = int(mark_beside(path).read_bytes()[:200].split()[-1])
    except (OSError, ValueError, IndexError):
        return
    if marked and _is_empty(path):
        raise lost(str(path), marked)


def _is_empty(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return True
    with closing(connect_reading(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        kept = [name for name in ("events", "archive") if name in tables]
        return not any(connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in kept)


def place_of(path: Path) -> str:
    """What a copy of the file does not share with it."""
    return str(path.stat().st_ino)


def make_private(path: Path) -> None:
    """The log is its owner's alone; what SQLite puts beside it takes over the file's own permissions."""
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    if path.stat().st_mode & 0o077:
        with suppress(PermissionError):
            path.chmod(0o600)


def look(opening: Opening) -> Look:
    """Make sure there is a log that can be read; of an older one a copy is brought up to date."""
    path = opening.path
    if not path.exists():
        raise UnavailableError(
            f"There is no log at {path} yet.",
            code="store.missing",
            hint="Start Beforehand once with this home, or name another home.",
        )
    if not path.is_file():
        raise explained(IsADirectoryError(EISDIR, os.strerror(EISDIR)), path)
    try:
        refuse_lost(path)
        with closing(connect_reading(path)) as connection:
            as_it_lies = not lies_still(path) or not has_commits_beside(path)
            if as_it_lies and has_layout(connection, path) and not has_older_data(connection, path, opening.upcasters):
                return Look(None, upgraded_at(connection))
            copied = copy_up_to_date(connection, path, opening.project, opening.upcasters)
        with closing(connect_reading(copy_in(copied))) as connection:
            return Look(copied, upgraded_at(connection))
    except (sqlite3.Error, OSError) as problem:
        raise in_full(problem, path) from problem
