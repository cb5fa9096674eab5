"""What `beforehand doctor` asks about a log in a SQLite file. Nothing is changed, and nothing is left behind."""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from beforehand.model.finding import Finding

OLDEST_SQLITE = (3, 35)
LITTLE_ROOM_MB = 200


def check_file(path: Path) -> list[Finding]:
    """Everything, for the file at `path`, whether or not it is there yet."""
    folder = next(parent for parent in path.parents if parent.exists())
    return [sqlite_version(), _guarded("disk", disk_room, folder), _guarded("journal", journal, folder)]


def sqlite_version() -> Finding:
    says = f"SQLite {sqlite3.sqlite_version}."
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Finding("sqlite", "broken", says, "Install a Python with SQLite 3.35 or newer.")
    return Finding("sqlite", "ok", says)


def disk_room(folder: Path) -> Finding:
    free_mb = shutil.disk_usage(folder).free // 1024 // 1024
    if free_mb < LITTLE_ROOM_MB:
        return Finding("disk", "broken", f"{free_mb} MB free.", "Free some space on that disk.")
    return Finding("disk", "ok", f"{free_mb} MB free.")


def journal(folder: Path) -> Finding:
    """Whether the file system carries SQLite's write-ahead log, which needs shared memory and locks."""
    with (
        tempfile.TemporaryDirectory(prefix=".beforehand-doctor-", dir=folder) as inner,
        closing(sqlite3.connect(Path(inner) / "try.db", isolation_level=None)) as connection,
    ):
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("CREATE TABLE one (n INTEGER)")
    if mode != "wal":
        says = f"{folder} does not support a write-ahead log."
        return Finding("journal", "broken", says, "Put the home on a local disk.")
    return Finding("journal", "ok", "The file system supports a write-ahead log.")


def _guarded(name: str, check: Callable[[Path], Finding], folder: Path) -> Finding:
    """A check that itself fails is a finding, not the end."""
    try:
        return check(folder)
    except (OSError, sqlite3.Error) as error:
        return Finding(name, "broken", f"{error}.", "Correct that, or name another home with --home.")
