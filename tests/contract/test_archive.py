"""Old events in the archive: every question finds them as before; a kill at any moment loses and doubles nothing."""

import asyncio
import json
import lzma
import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.killing import kill_at_every_moment

from beforehand.adapters.postgres.writer import Writer as PostgresWriter
from beforehand.adapters.sqlite.writer import Writer as SqliteWriter
from beforehand.app.stores import copy_store, open_store
from beforehand.model.errors import NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import ArchivePart, EventFilter, Record, Row, Store

EVENTS, RUNS = 1200, 12
FILTERS = (
    EventFilter(),
    EventFilter(run="r3"),
    EventFilter(kinds=frozenset({"noted"})),
    EventFilter(scene="dock", task="t1"),
    EventFilter(owner="run:r11"),
    EventFilter(owner="run:r2", kinds=frozenset({"noted", "never"})),
    EventFilter(run="nobody"),
)


def project(event: Event) -> Iterable[Row]:
    yield Row("step", f"{event.about['runId']}/{event.data['n'] % 7}", event.data, event.about["runId"])


def happened(n: int) -> Event:
    run = f"r{n * RUNS // EVENTS}"
    about = {"runId": run, "taskId": f"t{n % 5}"}
    kind, scene = ("stepUpdated" if n % 3 else "noted"), ("dock" if n % 2 else None)
    return Event(kind, about, {"n": n, "says": 'a "quoted", "event": text\n'}, 1_000 + n, scene, "c", f"run:{run}")


async def opened(url: str, **how: Any) -> Store:
    return await open_store(url, **{"project": project, "now_ms": lambda: 0, **how})


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "home" / "log.db")
    return str(request.getfixturevalue("postgres").new_database())


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = await opened(url)
    for start in range(0, EVENTS, 100):
        await store.append([happened(n) for n in range(start, start + 100)])
    yield store
    await store.close()


async def everything(store: Store) -> dict[str, Any]:
    """What all ways of asking say."""
    return {
        "records": [await store.records(limit=5000, only=only) for only in FILTERS],
        "last": [await store.last_records(before=700, limit=77, only=only) for only in FILTERS],
        "newest": [await store.last_records(limit=30, only=only) for only in FILTERS],
        "events": [await store.events(after=11, limit=5000, only=only) for only in FILTERS],
        "rows": await store.rows("step"),
        "last_seq": await store.last_seq(),
    }


async def moved(store: Store, *batches: Iterable[int]) -> list[ArchivePart]:
    assert store.archive is not None
    return [await store.archive.move(list(batch)) for batch in batches]


async def in_pages(store: Store, limit: int, most_bytes: int | None) -> list[Record]:
    found: list[Record] = []
    while page := await store.records(after=found[-1].seq if found else 0, limit=limit, most_bytes=most_bytes):
        found += page
    return found


OVERLAPPING = (
    [seq for seq in range(1, 400) if seq % 13],
    [seq for seq in range(400, 1000) if seq % 11],
    [seq for seq in range(1, 1000) if (seq < 400 and seq % 26 == 0) or (seq >= 400 and seq % 22 == 0)],
)


async def test_every_question_finds_what_was_moved(store: Store) -> None:
    before = await everything(store)
    await moved(store, *OVERLAPPING)
    assert await everything(store) == before
    for limit, most_bytes in ((1, None), (7, None), (100, 3000), (5000, 1000)):
        assert await in_pages(store, limit, most_bytes) == before["records"][0]


async def test_who_only_reads_finds_it_too_and_notices_later_moves(store: Store, url: str) -> None:
    before = await everything(store)
    reader = await opened(url, lead=False)
    try:
        for batch in OVERLAPPING:
            await moved(store, batch)
            assert await everything(reader) == before
        assert reader.archive is not None
        with pytest.raises(NotLeadingError):
            await reader.archive.move([1100])
    finally:
        await reader.close()


async def test_appends_go_on_while_events_are_moved(store: Store) -> None:
    moving = asyncio.create_task(moved(store, *OVERLAPPING))
    pages = 0
    while not moving.done():
        await store.append([happened(3)])
        found = await store.records(limit=50, after=pages * 40 % EVENTS)
        assert [record.seq for record in found] == list(range(found[0].seq, found[0].seq + len(found))), "no gap"
        pages += 1
    await moving
    numbers = [record.seq for record in await store.records(limit=10_000)]
    assert numbers == list(range(1, EVENTS + pages + 1))


async def test_rows_are_rebuilt_from_the_archive_too(store: Store) -> None:
    before = await everything(store)
    await moved(store, *OVERLAPPING)
    await store.rebuild_rows()
    assert await everything(store) == before


async def test_older_events_in_the_archive_come_out_in_their_present_form(store: Store, url: str) -> None:
    await moved(store, *OVERLAPPING)
    await store.close()

    def renamed(event: Event) -> Event:
        data = {**event.data, "grown": True}
        return Event("remarked", event.about, data, event.ts, "hall", event.correlation_id, event.owner, event.seq)

    for lead in (False, True):
        newer = await opened(url, lead=lead, upcasters={"noted": (renamed,)})
        only = EventFilter(kinds=frozenset({"remarked"}), scene="hall")
        found = await newer.records(limit=5000, only=only)
        assert len(found) == EVENTS // 3
        assert [json.loads(record.line)["data"]["grown"] for record in found] == [True] * len(found)
        assert [event.kind for event in await newer.events(limit=5000, only=only)] == ["remarked"] * len(found)
        assert not await newer.records(only=EventFilter(kinds=frozenset({"noted"})))
        await newer.close()


async def test_a_part_is_lines_of_json_that_common_tools_read(store: Store, tmp_path: Path, url: str) -> None:
    (part,) = await moved(store, range(1, 501))
    assert (part.first, part.last, part.events) == (1, 500, 500)
    assert part.size * 8 < part.raw_size
    if "postgres" in url:
        return
    (file,) = (tmp_path / "home" / "log.db.archive").iterdir()
    head, *lines = lzma.decompress(file.read_bytes()).splitlines()
    assert json.loads(head)["format"] == "beforehand-archive-1"
    assert [json.loads(line)["event"]["seq"] for line in lines] == list(range(1, 501))
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_what_is_copied_has_its_archive(store: Store, url: str, tmp_path: Path) -> None:
    before = await everything(store)
    await moved(store, *OVERLAPPING)
    await store.close()
    await copy_store(url, str(tmp_path / "copy" / "log.db"))
    copy = await opened(str(tmp_path / "copy" / "log.db"))
    assert await everything(copy) == before
    await copy.close()


async def test_a_deleted_part_is_gone_with_its_rows_and_is_remembered(store: Store, url: str) -> None:
    archive = store.archive
    assert archive is not None
    first, _ = await moved(store, range(1, 301), range(301, 601))
    reader = await opened(url, lead=False)
    assert len(await reader.records(limit=5000)) == EVENTS
    await archive.delete(first, [("step", "r0/0")], 99)
    for looking in (store, reader):
        assert [record.seq for record in await looking.records(limit=5000)] == list(range(301, EVENTS + 1))
        assert await looking.row("step", "r0/0") is None
    assert [(part.first, part.deleted) for part in await archive.parts()] == [(1, 99), (301, 0)]
    await reader.close()
    await store.close()
    again = await opened(url)
    assert await again.last_seq() == EVENTS
    await again.close()


async def test_a_file_that_is_damaged_is_named_and_hides_nothing_else(tmp_path: Path) -> None:
    store = await opened(str(tmp_path / "log.db"))
    await store.append([happened(n) for n in range(300)])
    await moved(store, range(1, 101), range(101, 201))
    first, _ = sorted((tmp_path / "log.db.archive").iterdir())
    first.write_bytes(first.read_bytes()[:-5])
    with pytest.raises(UnavailableError, match=rf"{first.name} is missing or damaged"):
        await store.records(limit=10)
    assert len(await store.records(after=100, limit=500)) == 200
    await store.close()


# --- kill -9

MOMENTS = (
    (os, "fsync"),
    (Path, "replace"),
    (Path, "unlink"),
    (SqliteWriter, "_done_alone"),
    (PostgresWriter, "_done_alone"),
)


async def do(url: str, act: str) -> None:
    """What is killed: it takes up what the one before left and goes on."""
    store = await opened(url)
    archive = store.archive
    assert archive is not None
    await archive.settle()
    parts = await archive.parts()
    if act == "delete" and not any(part.deleted for part in parts):
        await archive.delete(parts[0], [], 99)
    lying = [event.seq for event in await archive.unmoved(0, 5000)]
    if act == "move" and (chosen := [seq for seq in lying if seq <= 600 and seq % 7]):
        await archive.move(chosen)
    await store.close()


def files_of(url: str) -> list[Path]:
    return list(Path(f"{url}.archive").iterdir())


async def check(url: str, act: str, *, ended: bool) -> None:
    """Every event is found once, but for those of a part that was deleted."""
    store = await opened(url, lead=False)
    assert store.archive is not None
    gone = any(part.deleted for part in await store.archive.parts())
    assert [record.seq for record in await store.records(limit=5000)] == list(range(301 if gone else 1, EVENTS + 1))
    await store.close()


@pytest.mark.parametrize("url", ["sqlite", pytest.param("postgres", marks=pytest.mark.soak)], indirect=True)
@pytest.mark.parametrize("act", ["move", "delete"])
async def test_killed_at_any_moment_nothing_is_lost_or_doubled(store: Store, url: str, act: str) -> None:
    before = await everything(store)
    if act == "delete":
        await moved(store, range(1, 301), range(301, 601))
    await store.close()
    killed = await kill_at_every_moment(__file__, 60, url, act)
    assert 2 < killed < 59, "it was killed at several moments, and came to its end at last"
    again = await opened(url)
    assert again.archive is not None
    parts = [part for part in await again.archive.parts() if not part.deleted]
    lying = [event.seq for event in await again.archive.unmoved(0, 5000)]
    assert all(part.cleared for part in parts)
    assert len(lying) + sum(part.events for part in parts) == EVENTS - (300 if act == "delete" else 0), "each once"
    if act == "move":
        assert await everything(again) == before
    if "postgres" not in url:
        assert len(files_of(url)) == len(parts), "no file is left over"
    await again.close()
