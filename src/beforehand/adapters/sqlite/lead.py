"""Who may write: one process at a time.

A lock on a file beside the log keeps others out for as long as the process lives, however it ends. An epoch inside the
log, raised by each new leader and looked at in every commit, stops a process that lost the lead without noticing.
"""

import fcntl
import os
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from beforehand.adapters.log.refusals import led_by_another
from beforehand.adapters.sqlite.schema import connect_reading
from beforehand.ports.store import Leader

# A look at whether a leader is alive holds the lock for an instant; whoever wants to lead must not give up on that.
_TRIES = 5
_PAUSE_S = 0.02


def lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def lock(path: Path) -> int:
    """Take the lock beside the log and keep it by the returned descriptor; refuse while another process has it."""
    descriptor = os.open(lock_path(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    for tried in range(1, _TRIES + 1):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if tried < _TRIES:
                time.sleep(_PAUSE_S)
        except BaseException:
            os.close(descriptor)
            raise
    os.close(descriptor)
    raise led_by_another(str(path), read_leader(path))


def is_held(path: Path) -> bool:
    """Whether a living process leads the log."""
    try:
        descriptor = os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def take_lead(connection: sqlite3.Connection, *, since: int, url: str | None, note: str) -> int:
    """Raise the epoch and sign it; from here on no earlier leader can commit."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (epoch,) = connection.execute("SELECT COALESCE(MAX(epoch), 0) + 1 FROM lead").fetchone()
        connection.execute(
            "INSERT OR REPLACE INTO lead (one, epoch, pid, host, url, since, note) VALUES (1, ?, ?, ?, ?, ?, ?)",
            (epoch, os.getpid(), socket.gethostname(), url, since, note),
        )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return int(epoch)


def check_lead(connection: sqlite3.Connection, epoch: int, path: Path) -> None:
    """Inside a transaction: stop it if another process has taken the lead."""
    (now,) = connection.execute("SELECT epoch FROM lead").fetchone()
    if now != epoch:
        raise led_by_another(str(path), leader_in(connection, alive=is_held(path)))


def leader_in(connection: sqlite3.Connection, *, alive: bool) -> Leader | None:
    found = connection.execute("SELECT epoch, pid, host, url, since, note FROM lead").fetchone()
    if not found:
        return None
    epoch, pid, host, url, since, note = found
    return Leader(epoch, pid, host, url, since, note, alive)


def read_leader(path: Path) -> Leader | None:
    """Who leads the log at `path`, without opening it as a store; None when nobody ever did or it cannot be read."""
    if not path.exists():
        return None
    try:
        with closing(connect_reading(path)) as connection:
            return leader_in(connection, alive=is_held(path))
    except (sqlite3.Error, OSError):
        return None
