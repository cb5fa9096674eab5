"""A log that older code wrote, brought up to date.

Events stay as they were written; what is only read out of them (rows, snapshots, and the columns that filters look at)
is made anew in one transaction, which also notes the versions it was made under. Whoever leads does that to the tables
themselves; whoever only reads does it to temporary tables of their own session, which hide the others.
"""

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from beforehand.adapters.log.archive import merged, stretch
from beforehand.adapters.log.archive_file import Written, unpack
from beforehand.adapters.log.encoding import changes_anew, from_bytes, present_event, record_of
from beforehand.adapters.log.refusals import newer_data
from beforehand.adapters.postgres.archive import body_of, parts_in
from beforehand.adapters.postgres.connecting import SCHEMA
from beforehand.adapters.postgres.names import kept_name, kept_or_none, true_name
from beforehand.adapters.postgres.tables import apply_changes, find_records, last_seq
from beforehand.model.errors import UnreadableError
from beforehand.model.event import Event
from beforehand.model.versions import Upcasters, is_behind, newer_names, present_versions
from beforehand.ports.log import Log
from beforehand.ports.store import EVERYTHING, Projection, Record

if TYPE_CHECKING:
    from beforehand.adapters.postgres.connecting import Line

log = Log("beforehand.log")
_CHUNK = 1000
_COPIED = ("events", "archive", "rows", "snapshots", "versions")
_INDEX_ANEW = "UPDATE events SET kind = %s, scene = %s, run_id = %s, task_id = %s WHERE seq = %s"
_NOTE = (
    "INSERT INTO versions (name, version, since) VALUES (%s, %s, %s) ON CONFLICT (name)"
    " DO UPDATE SET version = excluded.version, since = excluded.since WHERE excluded.version <> versions.version"
)


async def bring_up_to_date(line: "Line", where: str, project: Projection, upcasters: Upcasters) -> int:
    """Make the tables what the present code would have written, all or nothing.

    Gives the number behind which every event was written in its present form.
    """
    if await has_older_data(line, where, upcasters) or await _has_broken_rows(line, where):
        async with line.transaction():
            await rebuild(line, where, project, upcasters)
            await line.execute("DELETE FROM snapshots")
            await _note(line, present_versions(upcasters))
    return await upgraded_at(line)


async def _has_broken_rows(line: "Line", where: str) -> bool:
    """Whether a document of something that goes on is not what was written: it would keep everything from starting."""
    for (body,) in await (await line.execute("SELECT body FROM rows WHERE open = 1")).fetchall():
        try:
            from_bytes(body)
        except UnreadableError:
            log.warning("documents made from the events were damaged, and are made anew", log=where)
            return True
    return False


async def has_older_data(line: "Line", where: str, upcasters: Upcasters) -> bool:
    """Whether older code wrote the log last; a newer one's is refused."""
    found = await (await line.execute("SELECT name, version FROM versions")).fetchall()
    noted = {str(true_name(name)): version for name, version in found}
    present = present_versions(upcasters)
    if newer := newer_names(noted, present):
        raise newer_data(where, newer)
    return is_behind(noted, present)


async def upgraded_at(line: "Line") -> int:
    """The last number there was when the log was last brought up to date."""
    found = await (await line.execute("SELECT COALESCE(MAX(since), 0) FROM versions")).fetchone()
    return int(found[0]) if found else 0


async def copy_up_to_date(line: "Line", where: str, project: Projection, upcasters: Upcasters) -> int:
    """Have this session see a copy of the log that was brought up to date; the log itself stays as it is."""
    async with line.transaction():
        await line.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for table in _COPIED:
            await line.execute(f"CREATE TEMPORARY TABLE {table} (LIKE {SCHEMA}.{table} INCLUDING ALL)")
            copied = "*" if table != "rows" else "kind, id, parent, open, body, ord"
            into = "" if table != "rows" else f" ({copied})"
            await line.execute(f"INSERT INTO {table}{into} SELECT {copied} FROM {SCHEMA}.{table}")
        return await bring_up_to_date(line, where, project, upcasters)


async def rebuild(line: "Line", where: str, project: Projection, upcasters: Upcasters) -> None:
    """Read everything that is a cache of the log anew from it and its archive, in the transaction that was begun."""
    await line.execute("DELETE FROM rows")
    async for chunk in _all_events(line, where):
        events = [present_event(found.kept(), upcasters) for found in chunk]
        changes = [(event.seq, change) for event in events for change in changes_anew(event, project)]
        await apply_changes(line, changes)
        await _index_anew(line, [_moved(found, event) for found, event in zip(chunk, events, strict=True)])


async def _all_events(line: "Line", where: str) -> AsyncIterator[list[Written]]:
    parts, after = await parts_in(line), 0
    while True:
        live = await find_records(line, after, _CHUNK, EVERYTHING)
        near, end = stretch(parts, live, after, _CHUNK)
        old = [unpack(await body_of(line, part, where), part, where) for part in near]
        yield merged(live, old, after, end)
        if end is None:
            return
        after = end


def _moved(found: Written, event: Event) -> Record | None:
    """The event as filters should see it, if they see it otherwise now."""
    record = record_of(event, b"")
    return None if record[:6] == found.record[:6] else record


async def _index_anew(line: "Line", moved: list[Record | None]) -> None:
    for record in filter(None, moved):
        seq, kind, scene, _, run_id, task_id, _ = record
        names = (kept_name(kind), kept_or_none(scene), kept_or_none(run_id), kept_or_none(task_id))
        await line.execute(_INDEX_ANEW, (*names, seq))


async def _note(line: "Line", present: Mapping[str, int]) -> None:
    since = await last_seq(line)
    for name, version in present.items():
        await line.execute(_NOTE, (kept_name(name), version, since))
