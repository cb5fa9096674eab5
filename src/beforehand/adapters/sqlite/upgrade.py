"""A log that older code wrote, brought up to date.

Events stay as they were written; what is only read out of them (rows, snapshots, and the columns that filters look at)
is made anew in one transaction, which also notes the versions it was made under. Whoever leads does that to the file
itself; whoever only reads does it to a copy of their own, as the log stood when they opened it.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from beforehand.adapters.log.archive import merged, stretch
from beforehand.adapters.log.archive_file import Written, unpack
from beforehand.adapters.log.encoding import changes_anew, present_event, record_of
from beforehand.adapters.log.refusals import newer_data
from beforehand.adapters.sqlite.archive import body_of, folder_of, live_events, parts_in
from beforehand.adapters.sqlite.schema import migrate
from beforehand.adapters.sqlite.spans import SPAN, note_spans
from beforehand.adapters.sqlite.tables import apply_changes, last_seq
from beforehand.model.event import Event
from beforehand.model.versions import Upcasters, is_behind, newer_names, present_versions
from beforehand.ports.store import Projection, Record

_CHUNK = 1000


def bring_up_to_date(connection: sqlite3.Connection, path: Path, project: Projection, upcasters: Upcasters) -> int:
    """Make the file what the present code would have written, all or nothing.

    Gives the number behind which every event was written in its present form.
    """
    present = present_versions(upcasters)
    if has_older_data(connection, path, upcasters):
        connection.execute("BEGIN IMMEDIATE")
        try:
            rebuild(connection, path, project, upcasters)
            connection.execute("DELETE FROM snapshots")
            _note(connection, present)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk ends it by itself
                connection.execute("ROLLBACK")
            raise
    return upgraded_at(connection)


def has_older_data(connection: sqlite3.Connection, path: Path, upcasters: Upcasters) -> bool:
    """Whether older code wrote the file last; a newer one's is refused."""
    noted = dict(connection.execute("SELECT name, version FROM versions"))
    present = present_versions(upcasters)
    if newer := newer_names(noted, present):
        raise newer_data(str(path), newer)
    return is_behind(noted, present)


def upgraded_at(connection: sqlite3.Connection) -> int:
    """The last number there was when the log was last brought up to date."""
    (seq,) = connection.execute("SELECT COALESCE(MAX(since), 0) FROM versions").fetchone()
    return int(seq)


def copy_up_to_date(
    source: sqlite3.Connection, path: Path, project: Projection, upcasters: Upcasters
) -> "TemporaryDirectory[str]":
    """A folder with a copy of the log that has been brought up to date, for those who may not write the log itself."""
    folder = TemporaryDirectory(prefix="beforehand-")
    try:
        with closing(sqlite3.connect(copy_in(folder), isolation_level=None)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            copy.execute("PRAGMA synchronous = OFF")
            migrate(copy, path)
            bring_up_to_date(copy, path, project, upcasters)
    except BaseException:
        folder.cleanup()
        raise
    return folder


def copy_in(folder: "TemporaryDirectory[str]") -> Path:
    return Path(folder.name) / "copy.db"


def rebuild(connection: sqlite3.Connection, path: Path, project: Projection, upcasters: Upcasters) -> None:
    """Read everything that is a cache of the log anew from it and its archive, in the transaction that was begun."""
    connection.execute("DELETE FROM rows")
    for chunk in _all_events(connection, path):
        events = [present_event(found.kept(), upcasters) for found in chunk]
        apply_changes(connection, ((event.seq, change) for event in events for change in changes_anew(event, project)))
        _index_anew(connection, [_moved(found, event) for found, event in zip(chunk, events, strict=True)])


def _all_events(connection: sqlite3.Connection, path: Path) -> Iterator[list[Written]]:
    parts, folder, after = parts_in(connection), folder_of(path), 0
    while True:
        live = live_events(connection, after, _CHUNK)
        near, end = stretch(parts, live, after, _CHUNK)
        yield merged(live, [unpack(body_of(folder, part), part, str(folder)) for part in near], after, end)
        if end is None:
            return
        after = end


def _moved(found: Written, event: Event) -> Record | None:
    """The event as filters should see it, if they see it otherwise now."""
    record = record_of(event, b"")
    return None if record[:6] == found.record[:6] else record


def _index_anew(connection: sqlite3.Connection, moved: Sequence[Record | None]) -> None:
    for record in filter(None, moved):
        seq, kind, scene, _, run_id, task_id, _ = record
        values = (kind, scene, run_id, task_id, seq)
        connection.execute("UPDATE events SET kind = ?, scene = ?, run_id = ?, task_id = ? WHERE seq = ?", values)
        named = [("kind", kind), *([("scene", scene)] if scene is not None else [])]
        note_spans(connection, [(axis, name, seq // SPAN) for axis, name in named])


def _note(connection: sqlite3.Connection, present: Mapping[str, int]) -> None:
    since = last_seq(connection)
    connection.executemany(
        "INSERT INTO versions (name, version, since) VALUES (?, ?, ?) ON CONFLICT (name)"
        " DO UPDATE SET version = excluded.version, since = excluded.since WHERE excluded.version <> version",
        [(name, version, since) for name, version in present.items()],
    )
