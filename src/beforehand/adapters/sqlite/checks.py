"""What `beforehand doctor` and `/health` ask about a log in a SQLite file.

Nothing is changed, and nothing is left behind.
"""

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from beforehand.adapters.sqlite.damage import Damage, cut_off, damage_in
from beforehand.adapters.sqlite.opening import refuse_lost
from beforehand.adapters.sqlite.schema import VERSION, connect_reading, version_of
from beforehand.model.errors import UnavailableError
from beforehand.model.finding import Finding
from beforehand.model.words import counted

OLDEST_SQLITE = (3, 35)
LITTLE_ROOM_MB = 200
LEAST_ROOM = 1024 * 1024
SMALL_LOG = 8 * 1024 * 1024
_BACKUP = "Stop the server and put a backup in its place, or use another home."
_MEND = "No event is damaged. Start `beforehand up` (anew, if it runs): it makes them out of the events."


def check_file(path: Path) -> list[Finding]:
    """Everything, for the file at `path`, whether or not it is there yet."""
    folder = next(parent for parent in path.parents if parent.exists())
    found = [sqlite_version(), _guarded("disk", disk_room, folder), _guarded("journal", journal, folder)]
    if not path.is_file():
        return [*found, *lost_log(path)]
    return [*found, _guarded("pages", every_page, path)]


def check_log(path: Path) -> list[Finding]:
    """Whether the log can be read and written, quickly enough to be asked every few seconds."""
    return [_guarded("log", newest_events, path), *check_room(path)]


def check_room(path: Path) -> list[Finding]:
    return [_guarded("space", room_to_write, path.parent)]


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


def room_to_write(folder: Path) -> Finding:
    """Whether a few more commits find room."""
    free = shutil.disk_usage(folder).free
    if free < LEAST_ROOM:
        says = f"The disk with the log is full: {free // 1024} KiB are free, so nothing can be written."
        return Finding("space", "broken", says, "Free some space on that disk.")
    if not os.access(folder, os.W_OK):
        return Finding("space", "broken", f"{folder} cannot be written.", "Allow it, and start the server again.")
    return Finding("space", "ok", "There is room to write.")


def newest_events(path: Path) -> Finding:
    """Whether the log's structure and its newest events can be read, by a look of its own at the file.

    A small log is looked at whole; of a large one only the newest part, because somebody waits for the answer.
    """
    if not path.is_file():
        return Finding("log", "broken", f"The log {path} is gone.", "Stop the server and put a backup in its place.")
    if path.stat().st_size <= SMALL_LOG:
        return every_page(path, "log")
    with closing(connect_reading(path)) as connection:
        newest = connection.execute("SELECT line FROM events ORDER BY seq DESC LIMIT 200").fetchall()
    for (line,) in newest:
        json.loads(line)
    return Finding("log", "ok", f"{counted(len(newest), 'event')} at the end of the log can be read.")


def lost_log(path: Path) -> list[Finding]:
    """A log that is gone, and the mark beside it says that it was there."""
    try:
        refuse_lost(path)
    except UnavailableError as error:
        return [Finding("pages", "broken", error.says, error.hint)]
    return []


def every_page(path: Path, name: str = "pages") -> Finding:
    """Whether every page of the file is as SQLite left it, and every event and document can be read; if not, which."""
    if cut := cut_off(path):
        return Finding(name, "broken", f"The log {path} is damaged: {cut}.", _BACKUP)
    with closing(connect_reading(path)) as connection:
        (says,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if version_of(connection) < VERSION:
            damage = Damage([], [], [] if says == "ok" else [str(says)])
        else:
            damage = damage_in(connection)
            if damage == Damage([], [], []) and says != "ok":
                damage = Damage([], [], [str(says)])
    if damage.can_be_mended and damage.caches:
        return Finding(name, "broken", f"The log {path} is damaged: {damage.says}.", _MEND)
    if not damage.can_be_mended:
        return Finding(name, "broken", f"The log {path} is damaged: {damage.says}.", _BACKUP)
    return Finding(name, "ok", "Every page of the log can be read.")


def journal(folder: Path) -> Finding:
    """Whether the file system carries SQLite's write-ahead log, which needs shared memory and locks."""
    if not os.access(folder, os.W_OK):
        return Finding("journal", "missing", "Not tried, because nothing can be written there.", "")
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
    except sqlite3.DatabaseError as error:
        if name in ("log", "pages"):
            return Finding(name, "broken", f"The log {folder} cannot be read: {error}.", _BACKUP)
        return Finding(name, "broken", f"{error}.", "Correct that, or name another home with --home.")
    except (OSError, ValueError) as error:
        return Finding(name, "broken", f"{error}.", "Correct that, or name another home with --home.")
