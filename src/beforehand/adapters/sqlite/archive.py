"""The parts of the archive as files in a folder beside the log, listed in a table of it.

A file is whole and on disk before the log lists it, and it is removed after the log has ceased to. So what a crash
leaves are files that nothing lists; whoever leads next removes those whose events the log still has.
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from beforehand.adapters.log.archive_file import LISTED, Written, damaged, listed, part_of
from beforehand.adapters.sqlite.reader import Reader
from beforehand.adapters.sqlite.tables import add_marks, find_records
from beforehand.model.chain import ChainMark
from beforehand.ports.store import EVERYTHING, ArchivePart, Record

ENDING = ".archive"
_LISTED = ", ".join(LISTED)
_DRAFT = ".new"
_PAGES = 64
"""Pages of the file that are given back in one transaction."""


class Writing(Protocol):
    """Whoever may write: `act` is done in a transaction of its own, by the one that leads."""

    async def __call__(self, act: Callable[[sqlite3.Connection], Any]) -> Any: ...


class FileShelf:
    def __init__(self, path: Path, reader: Reader, write: Writing) -> None:
        self._path = path
        self._folder = folder_of(path)
        self._reader = reader
        self._write = write

    def where(self, part: ArchivePart) -> str:
        return str(self._folder / name_of(part))

    async def newest(self) -> int:
        return await self._reader.ask(newest)

    async def parts(self) -> list[ArchivePart]:
        return await self._reader.ask(parts_in)

    async def body(self, part: ArchivePart) -> bytes:
        return await self._reader.in_thread(lambda: body_of(self._folder, part))

    async def written(self, seqs: Sequence[int]) -> list[Written]:
        return await self._reader.ask(lambda file: _written(file, seqs))

    async def unmoved(self, after: int, limit: int) -> list[Written]:
        return await self._reader.ask(lambda file: live_events(file, after, limit))

    async def keep(self, part: ArchivePart, body: bytes) -> int:
        await self._reader.in_thread(lambda: write_part(self._folder, part, body))
        return int(await self._write(lambda file: list_part(file, part)))

    async def clear(self, seqs: Sequence[int]) -> None:
        marks = ", ".join("?" * len(seqs))
        await self._write(lambda file: file.execute(f"DELETE FROM events WHERE seq IN ({marks})", seqs) and None)

    async def mark_cleared(self, part_id: int) -> None:
        await self._write(lambda file: file.execute("UPDATE archive SET cleared = 1 WHERE id = ?", (part_id,)) and None)

    async def delete(
        self, part: ArchivePart, rows: Sequence[tuple[str, str]], now_ms: int, marks: Sequence[ChainMark]
    ) -> None:
        def forget(file: sqlite3.Connection) -> None:
            list_part(file, part, deleted=now_ms)  # first, so that it gets a number of its own
            file.execute("DELETE FROM archive WHERE id = ?", (part.id,))
            file.executemany("DELETE FROM rows WHERE kind = ? AND id = ?", rows)
            add_marks(file, marks)

        await self._write(forget)
        await self._reader.in_thread(lambda: (self._folder / name_of(part)).unlink(missing_ok=True))

    async def tidy(self) -> None:
        listed = {name_of(part) for part in await self.parts() if not part.deleted}
        await self._reader.ask(lambda file: _tidy(file, self._folder, listed))

    async def give_back(self) -> bool:
        def shrink(file: sqlite3.Connection) -> bool:
            (kind,) = file.execute("PRAGMA auto_vacuum").fetchone()
            (free,) = file.execute("PRAGMA freelist_count").fetchone()
            if kind != 2 or free == 0:
                return False
            file.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
            return bool(free > _PAGES)

        return bool(await self._write(shrink))

    async def size(self) -> int:
        beside = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(path.stat().st_size for path in beside if path.exists())


def folder_of(path: Path) -> Path:
    """The folder with the archive of the log at `path`."""
    return path.with_name(path.name + ENDING)


def name_of(part: ArchivePart) -> str:
    return f"events-{part.first:012d}-{part.last:012d}-{part.sha256[:12]}.jsonl.xz"


def newest(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute("SELECT COALESCE(MAX(id), 0) FROM archive").fetchone()
    return int(found)


def parts_in(connection: sqlite3.Connection) -> list[ArchivePart]:
    return [part_of(found) for found in connection.execute(f"SELECT {_LISTED} FROM archive ORDER BY first, id")]


def list_part(connection: sqlite3.Connection, part: ArchivePart, deleted: int = 0) -> int:
    columns = listed(part, deleted)
    asked = f"INSERT INTO archive ({', '.join(LISTED[:-1])}) VALUES ({', '.join('?' * len(columns))})"
    return connection.execute(asked, columns).lastrowid or 0


def live_events(connection: sqlite3.Connection, after: int, limit: int) -> list[Written]:
    """Events of the log itself above a number."""
    return [_event(found) for found in find_records(connection, after, limit, EVERYTHING)]


def _event(found: Sequence[Any]) -> Written:
    return Written(Record(*found[:7]), *found[7:10])


def _written(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[Written]:
    found: list[Written] = []
    columns = "seq, kind, scene, owner, run_id, task_id, line, ts, version, chain"
    for start in range(0, len(seqs), 500):
        some = seqs[start : start + 500]
        asked = f"SELECT {columns} FROM events WHERE seq IN ({', '.join('?' * len(some))}) ORDER BY seq"
        found += map(_event, connection.execute(asked, some))
    return found


def write_part(folder: Path, part: ArchivePart, body: bytes) -> None:
    """Put the file under its name, whole and on disk."""
    folder.mkdir(mode=0o700, exist_ok=True)
    place = folder / name_of(part)
    draft = place.with_name(place.name + _DRAFT)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(place)
    sync_folder(folder)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def body_of(folder: Path, part: ArchivePart) -> bytes:
    place = folder / name_of(part)
    try:
        return place.read_bytes()
    except OSError:
        raise damaged(str(place)) from None


def _tidy(connection: sqlite3.Connection, folder: Path, listed: set[str]) -> None:
    """Files that nothing lists: drafts, and those whose events are in the log. Any other is somebody's: it stays."""
    if not folder.is_dir():
        return
    for place in folder.iterdir():
        if place.name.endswith(_DRAFT) or (place.name not in listed and _is_in_log(connection, place.name)):
            with suppress(FileNotFoundError):
                place.unlink()


def _is_in_log(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the log has the ends of what a file spans, or has deleted just that."""
    told = name.split("-")
    if len(told) != 4 or told[0] != "events" or not (told[1].isdigit() and told[2].isdigit()):
        return False
    first, last = int(told[1]), int(told[2])
    (ends,) = connection.execute("SELECT COUNT(*) FROM events WHERE seq IN (?, ?)", (first, last)).fetchone()
    gone = "SELECT 1 FROM archive WHERE deleted > 0 AND first = ? AND last = ?"
    return ends == len({first, last}) or connection.execute(gone, (first, last)).fetchone() is not None
