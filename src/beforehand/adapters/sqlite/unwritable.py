"""Reading a log in a folder where nothing can be written: a read-only disk, or somebody else's home.

SQLite needs a file of shared memory beside a log that it reads. Where there is none and none can be made, nobody has
the log open, and it is read as it lies. Commits that are still in the write-ahead log only are read from a copy, so
that none is missed.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory


def lies_still(path: Path) -> bool:
    """Whether nothing can be written beside the log, and nobody has it open."""
    if os.access(path.parent, os.W_OK):
        return False
    return not (_beside(path, "-shm").exists() and _beside(path, "-wal").exists())


def connect_still(path: Path) -> sqlite3.Connection:
    """A connection to such a log, with everything that was ever committed to it."""
    if not has_commits_beside(path):
        return _connect(path)
    with TemporaryDirectory(prefix="beforehand-") as folder:
        copy = Path(folder) / path.name
        for end in ("", "-wal"):
            shutil.copyfile(_beside(path, end), _beside(copy, end))
        with closing(sqlite3.connect(copy)) as whole:
            whole.execute("PRAGMA journal_mode = DELETE")  # takes in what is in the write-ahead log
        return _connect(copy)  # it keeps the file open, so that the copy is gone with the connection


def has_commits_beside(path: Path) -> bool:
    """Whether a part of the log may lie in the write-ahead log only."""
    wal = _beside(path, "-wal")
    return wal.exists() and wal.stat().st_size > 0


def stamp_of(path: Path) -> tuple[int, int, int]:
    """What changes when somebody who may write the log has done so."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)
