"""Whether a copy of a log is whole: what every backup must pass, when it was made and before it is put back.

A copy may come from anybody: nothing in it is run, and what it holds is counted before it is taken into memory.
"""

import hashlib
import lzma
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from heapq import merge
from io import BytesIO
from pathlib import Path

from pydantic_core import from_json

from beforehand.adapters.log.archive_file import FORMAT
from beforehand.adapters.sqlite.archive import body_of, folder_of, parts_in
from beforehand.adapters.sqlite.schema import connect_copy, connect_reading
from beforehand.model.errors import BeforehandError
from beforehand.model.log_identity import is_drawn
from beforehand.ports.store import ArchivePart

Run = tuple[int, int]
_MOST_RAW = 2**30
"""Bytes that a part of the archive may have when it is opened: a thousand times what one has."""
_MOST_LINE = 64 * 1024 * 1024
_WRONG_TYPES = (
    "SELECT 1 FROM events WHERE typeof(seq) <> 'integer' OR seq < 1 OR typeof(ts) <> 'integer'"
    " OR typeof(kind) <> 'text' OR typeof(owner) <> 'text' OR typeof(line) NOT IN ('blob', 'text')"
    " OR typeof(version) <> 'integer' LIMIT 1",
    "SELECT 1 FROM lead WHERE typeof(epoch) <> 'integer' OR epoch NOT BETWEEN 0 AND 9007199254740992 LIMIT 1",
    "SELECT 1 FROM archive WHERE typeof(id) <> 'integer' OR first < 1 OR last < first OR typeof(first) <> 'integer'"
    " OR typeof(last) <> 'integer' OR typeof(sha256) <> 'text' OR typeof(raw_size) <> 'integer' LIMIT 1",
)


def stand_in(path: Path) -> tuple[int, int]:
    """How far a copy has come: the number of its last event, and the epoch of its last leader."""
    with closing(connect_reading(path)) as connection:
        return _stand(connection)


def _stand(connection: sqlite3.Connection) -> tuple[int, int]:
    (last,) = connection.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()
    (epoch,) = connection.execute("SELECT COALESCE(MAX(epoch), 0) FROM lead").fetchone()
    return last, epoch


def check_copy(path: Path, stand: tuple[int, int]) -> str:
    """What is wrong with a copy that came so far, as the end of a sentence; empty where it is whole.

    An older one is upgraded.
    """
    try:
        with closing(connect_reading(path)) as connection:
            if why := _wrong_file(connection):
                return why
        with closing(connect_copy(path)) as connection:
            if why := _wrong_tables(connection):
                return why
            if _stand(connection) != stand:
                return "its log is not as far as it is listed"
            return _wrong_numbers(connection, path)
    except BeforehandError as error:
        return f"its log is not whole: {error.says}"
    except (sqlite3.Error, lzma.LZMAError, OSError, ValueError, TypeError, KeyError) as error:
        return f"its log is damaged ({error})"


def _wrong_file(connection: sqlite3.Connection) -> str:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    foreign = "type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'"
    if connection.execute(f"SELECT 1 FROM sqlite_master WHERE {foreign} LIMIT 1").fetchone():
        return "its log holds more than tables"
    (says,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    return "" if says == "ok" else f"its log is damaged ({says})"


def _wrong_tables(connection: sqlite3.Connection) -> str:
    if any(connection.execute(asked).fetchone() for asked in _WRONG_TYPES):
        return "its log holds values that no log has"
    found = connection.execute("SELECT id, generation FROM identity").fetchall()
    return "" if all(map(is_drawn, (value for row in found for value in row))) else "its log has no proper identity"


def _wrong_numbers(connection: sqlite3.Connection, path: Path) -> str:
    """Every number from 1 to the last is in the log, in a part of the archive, or in one that was deleted."""
    runs: list[Run] = []
    for part in parts_in(connection):
        runs += [(part.first, part.last)] if part.deleted else _runs(numbers_in(body_of(folder_of(path), part), part))
    live = ((seq, seq) for (seq,) in connection.execute("SELECT seq FROM events ORDER BY seq"))
    after = 0
    for first, last in merge(sorted(runs), live):
        if first > after + 1:
            return f"its log has no event {after + 1}"
        after = max(after, last)
    newest, _ = _stand(connection)
    return "" if newest == after else f"its log ends with event {newest}, and its archive with event {after}"


def _runs(numbers: Iterable[int]) -> list[Run]:
    found: list[Run] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def numbers_in(body: bytes, part: ArchivePart) -> Iterator[int]:
    """The numbers of the events in a part, which is opened piece by piece; ValueError where it is another one."""
    if hashlib.sha256(body).hexdigest() != part.sha256 or not 0 < part.raw_size <= _MOST_RAW:
        raise ValueError("a part of its archive is not the one that is listed")
    taken, count = 0, 0
    with lzma.open(BytesIO(body)) as raw:
        while line := raw.readline(_MOST_LINE):
            taken += len(line)
            if taken > part.raw_size:
                raise ValueError("a part of its archive is larger than it is listed")
            told = from_json(line)
            if not count and told.get("format") != FORMAT:
                raise ValueError("a part of its archive has another form")
            if count:
                yield int(told["seq"])
            count += 1
    if count != part.events + 1:
        raise ValueError("a part of its archive has not the events that are listed")
