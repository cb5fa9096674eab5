"""How far the log has come, written down beside it: what shows that a log has lost its last events.

Whoever leads writes the number of the newest event there after each commit. A log that ends before that number, or that
lies beside the mark of another one, was put back to an earlier time: machines know commands of it that it does not know
itself. It is a new generation then, so that nothing they report is taken for an answer to what is sent from now on.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from beforehand.app.private_files import FILE, make_home, read_private
from beforehand.model.log_identity import LogIdentity
from beforehand.ports.log import Log
from beforehand.ports.store import Record, Store

log = Log("beforehand.log")
NAME = "log.mark"
"""The file of the home, for a log that does not lie in a file itself."""
_DIGITS = 20


class Mark(NamedTuple):
    identity: str
    seq: int


class HighWater:
    """The mark beside one log, kept open for as long as somebody leads it."""

    def __init__(self, path: Path, identity: LogIdentity) -> None:
        self._path = path
        self._begin = f"{identity} ".encode()
        self._descriptor: int | None = None

    def open(self, seq: int) -> None:
        """Write the mark so that it survives whatever comes; from now on only its number changes."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE)
        try:
            written = self._begin + _written(seq)
            os.write(descriptor, written)  # over the last one: on a full disk that one stays
            os.ftruncate(descriptor, len(written))
            os.fsync(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def rise(self, records: Sequence[Record]) -> None:
        """These events are durable. A mark that is behind does no harm, so nobody waits until it is on the disk."""
        if self._descriptor is None:
            return
        try:
            os.pwrite(self._descriptor, _written(records[-1].seq), len(self._begin))
        except OSError as error:
            log.warning("the mark beside the log cannot be written", file=str(self._path), error=error.strerror)
            self.close()

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _written(seq: int) -> bytes:
    return b"%0*d\n" % (_DIGITS, seq)


def read_mark(path: Path) -> Mark | None:
    """The mark that lies there; None where there is none, or one that nobody can read."""
    try:
        identity, _, seq = read_private(path)[:200].decode().partition(" ")
        return Mark(identity, int(seq))
    except (OSError, ValueError):
        return None


async def settle_identity(store: Store, home: Path) -> tuple[LogIdentity, HighWater | None]:
    """Which log this is, before anything of it reaches a machine, and the mark that is kept beside it from now on.

    A log that has none gets an identity; one that was put back to an earlier time, or copied, is another generation.
    """
    known, last, elsewhere = await store.identity(), await store.last_seq(), await store.lies_elsewhere()
    beside = store.mark_file
    path = beside or home / NAME
    identity = known or LogIdentity.drawn(legacy=last > 0)
    copied = "it was copied or moved, and may be led elsewhere too" if elsewhere else ""
    if known is not None and (why := copied or _put_back(read_mark(path), known, last, is_beside=beside is not None)):
        identity = known.next_generation()
        log.warning("the log is another generation from now on", why=why, was=str(known), identity=str(identity))
    if identity != known or elsewhere is None:
        await store.identify(identity)
    return identity, _opened(path, identity, last) if store.archive is not None else None


async def follow_mark(store: Store, home: Path) -> HighWater | None:
    """The mark of a server that stands by: what it has seen of the log, the log must still hold when it takes over."""
    known, last = await store.identity(), await store.last_seq()
    mark = read_mark(home / NAME)
    if known is None or store.mark_file is not None or (mark is not None and mark.seq > last):
        return None
    return _opened(home / NAME, known, last)


def _opened(path: Path, identity: LogIdentity, last: int) -> HighWater:
    mark = HighWater(path, identity)
    try:
        make_home(path.parent)  # a server on a database may have none yet
        mark.open(last)
    except OSError as error:
        log.warning("the mark beside the log cannot be written", file=str(path), error=error.strerror)
    return mark


def _put_back(mark: Mark | None, known: LogIdentity, last: int, *, is_beside: bool) -> str:
    """Why the log may not be what its leaders left; empty where nothing shows that.

    A log in a database is led from many homes, and the mark in one of them may be an old one: it only counts where it
    is of this very generation.
    """
    if mark is not None and mark.identity == str(known):
        return f"it ends with event {last}, and it had come to event {mark.seq}" if mark.seq > last else ""
    if not (is_beside and last):
        return ""
    return "no mark lies beside it" if mark is None else f"beside it lies the mark of {mark.identity}"
