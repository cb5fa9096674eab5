"""The chain of the log: whatever somebody edits in it by hand is found and named, in the log and in its archive."""

import asyncio
import lzma
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import Forked

from beforehand.app.audit_check import LogFinding, check_log
from beforehand.app.stores import copy_store, open_store
from beforehand.model.chain import Anchor, link
from beforehand.model.errors import BeforehandError
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.ports.store import Row, Store
from beforehand.testing.postgres_server import PostgresServer

EVENTS = 60


def project(event: Event) -> Iterable[Row]:
    return ()


def happened(n: int) -> Event:
    return Event("noted", {"runId": f"r{n % 3}", "taskId": "t"}, {"n": n}, 1_000 + n, "hall", "c", f"run:r{n % 3}")


async def opened(url: str, **how: Any) -> Store:
    return await open_store(url, **{"project": project, "now_ms": lambda: 0, **how})


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "log.db")
    return str(request.getfixturevalue("postgres").new_database())


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """Sixty events, in commits of several and of one."""
    store = await opened(url)
    await store.identify(LogIdentity("log", "first"))
    for start in range(0, EVENTS, 5):
        await store.append([happened(n) for n in range(start, start + 4)])
        await store.append([happened(start + 4)])
    yield store
    await store.close()


def edited(url: str, *statements: str, values: Sequence[Any] = ()) -> None:
    """What somebody does who can write the log's file or its database."""
    if url.startswith("postgres"):
        import psycopg

        with psycopg.connect(url, autocommit=True) as line:
            line.execute("SET search_path = beforehand")
            for statement in statements:
                line.execute(statement.replace("?", "%s"), values or None)  # type: ignore[arg-type]
    else:
        with closing(sqlite3.connect(url, isolation_level=None)) as line:
            for statement in statements:
                line.execute(statement, values)


def rows_of(url: str, question: str) -> list[tuple[Any, ...]]:
    if url.startswith("postgres"):
        import psycopg

        with psycopg.connect(url, autocommit=True) as line:
            line.execute("SET search_path = beforehand")
            return line.execute(question).fetchall()  # type: ignore[arg-type]
    with closing(sqlite3.connect(url)) as line:
        return line.execute(question).fetchall()


async def checked(store: Store, *against: Anchor) -> LogFinding:
    return await check_log(store, {}, against)


async def told(store: Store, *against: Anchor) -> list[tuple[str, str]]:
    return [
        (problem.code.removeprefix("audit."), problem.about) for problem in (await checked(store, *against)).problems
    ]


async def test_a_log_as_it_was_written(store: Store, url: str) -> None:
    found = await checked(store)
    assert (found.problems, found.events, found.begins, found.unchained, found.deleted) == ([], EVENTS, 1, 0, 0)
    assert found.anchor is not None
    await store.close()
    again = await opened(url)
    await again.append([happened(EVENTS)])
    assert (await checked(again, found.anchor)).problems == []
    await again.close()


LINE = "(SELECT line FROM events WHERE seq = 30)"
EDITS: dict[str, tuple[list[str], set[tuple[str, str]]]] = {
    "time": (["UPDATE events SET ts = 5 WHERE seq = 7"], {("changed", "event 7")}),
    "owner": (["UPDATE events SET owner = 'run:x' WHERE seq = 7"], {("changed", "event 7")}),
    "version": (["UPDATE events SET version = 3 WHERE seq = 7"], {("changed", "event 7")}),
    "first": (["UPDATE events SET ts = 5 WHERE seq = 1"], {("changed", "event 1")}),
    "last": ([f"UPDATE events SET ts = 5 WHERE seq = {EVENTS}"], {("changed", f"event {EVENTS}")}),
    "kind": (["UPDATE events SET kind = 'other' WHERE seq = 7"], {("columns", "event 7")}),
    "scene": (["UPDATE events SET scene = NULL WHERE seq = 7"], {("columns", "event 7")}),
    "run": (["UPDATE events SET run_id = 'r9' WHERE seq = 7"], {("columns", "event 7")}),
    "taken out": (["DELETE FROM events WHERE seq IN (7, 8, 20)"], {("missing", "event 7"), ("missing", "event 20")}),
    "replaced": ([f"UPDATE events SET line = {LINE} WHERE seq = 7"], {("changed", "event 7")}),
    "no link": (["UPDATE events SET chain = NULL WHERE seq = 7"], {("inserted", "event 7")}),
    "other link": (
        ["UPDATE events SET chain = (SELECT chain FROM events WHERE seq = 3) WHERE seq = 7"],
        {("changed", "event 7"), ("changed", "event 8")},
    ),
    "put in": (
        [
            "INSERT INTO events (seq, ts, kind, scene, owner, run_id, task_id, line, version)"
            f" SELECT {EVENTS + 1}, ts, kind, scene, owner, run_id, task_id, line, version FROM events WHERE seq = 9"
        ],
        {("inserted", f"event {EVENTS + 1}")},
    ),
}


@pytest.mark.parametrize("what", EDITS)
async def test_what_was_edited_is_named(store: Store, url: str, what: str) -> None:
    statements, wanted = EDITS[what]
    await store.close()
    edited(url, *statements)
    reader = await opened(url, lead=False)
    assert set(await told(reader)) == wanted
    await reader.close()


async def test_six_edited_events_are_six(store: Store, url: str) -> None:
    edited(url, "UPDATE events SET ts = ts + 1 WHERE seq IN (3, 4, 17, 25, 40, 59)")
    assert await told(store) == [("changed", f"event {seq}") for seq in (3, 4, 17, 25, 40, 59)]


async def test_swapped_events_are_found(store: Store, url: str) -> None:
    moves = [f"UPDATE events SET seq = {to} WHERE seq = {of}" for of, to in ((10, 1000), (11, 10), (1000, 11))]
    edited(url, *moves)
    assert {about for _, about in await told(store)} >= {"event 10", "event 11"}


def written_anew(url: str, first: int) -> None:
    """Every link from there on, reckoned by somebody who knows how."""
    found = rows_of(url, "SELECT seq, ts, version, owner, line, chain FROM events ORDER BY seq")
    before = bytes(found[first - 2][5])
    for seq, ts, version, owner, line, _ in found[first - 1 :]:
        before = link(before, ts, version, owner, bytes(line))
        edited(url, "UPDATE events SET chain = ? WHERE seq = ?", values=(before, seq))


async def test_a_chain_that_was_written_anew_is_found_by_an_anchor(store: Store, url: str) -> None:
    before, anchor = await checked(store), None
    anchor = before.anchor
    assert anchor is not None
    edited(url, "UPDATE events SET ts = 5 WHERE seq = 30")
    written_anew(url, 30)
    assert await told(store) == [], "that is what a chain by itself does not show"
    assert await told(store, anchor) == [("anchor", f"event {EVENTS}")]


async def test_an_end_that_was_taken_away_is_found_by_an_anchor(store: Store, url: str) -> None:
    anchor = (await checked(store)).anchor
    assert anchor is not None
    edited(url, f"DELETE FROM events WHERE seq > {EVENTS - 3}")
    problems = await told(store, anchor)
    assert ("cut", f"event {EVENTS}") in problems


async def test_the_archive_and_what_was_deleted_of_it(store: Store, url: str) -> None:
    assert store.archive is not None
    first = await store.archive.move([seq for seq in range(1, 31) if seq not in (10, 20)])
    second = await store.archive.move([*range(31, 45), 20])
    middle = Anchor(28, next(one for one in await store.chained(after=27, limit=1)).link or b"")
    assert await told(store, middle) == []
    await store.archive.delete(first, [], 1)
    found = await checked(store, Anchor(30, next(iter(await store.chain_marks())).link))
    assert (found.deleted, found.first) == (28, 10)
    marks = {mark.seq: mark.link for mark in await store.chain_marks() if mark.why == "deleted"}
    assert set(marks) == {9, 19, 30}
    assert await told(store, Anchor(30, marks[30])) == []
    assert await told(store, middle) == [("anchor_deleted", "event 28")]
    assert await told(store, Anchor(30, middle.link)) == [("anchor", "event 30")]
    edited(url, "DELETE FROM events WHERE seq = 10")
    assert await told(store) == [("missing", "event 10")], "it lay between those that were deleted, and was not"
    assert second.events == 15


async def test_an_archive_that_was_edited_with_its_listing(store: Store, url: str, tmp_path: Path) -> None:
    assert store.archive is not None
    part = await store.archive.move(list(range(1, 31)))
    await store.close()

    def forged(body: bytes) -> bytes:
        return lzma.compress(lzma.decompress(body).replace(b'"n":11', b'"n":99'), preset=2)

    if url.startswith("postgres"):
        [(body,)] = rows_of(url, "SELECT body FROM archive")
        new = forged(bytes(body))
        edited(url, "UPDATE archive SET body = ?, sha256 = ?", values=(new, sha256(new).hexdigest()))
    else:
        [file] = (tmp_path / "log.db.archive").iterdir()
        new = forged(file.read_bytes())
        told_sha = sha256(new).hexdigest()
        file.rename(file.with_name(file.name.replace(part.sha256[:12], told_sha[:12]))).write_bytes(new)
        edited(url, "UPDATE archive SET sha256 = ?", values=(told_sha,))
    reader = await opened(url, lead=False)
    (problem,) = (await checked(reader)).problems
    assert "One of the events 2 to 31 was changed" in problem.says
    await reader.close()


async def test_a_part_takes_no_room_for_links_that_follow(store: Store) -> None:
    assert store.archive is not None
    part = await store.archive.move(list(range(1, 59)))
    found = await store.chained(limit=1000)
    found += await store.chained(after=found[-1].seq, limit=1000)
    assert [one.seq for one in found] == list(range(1, EVENTS + 1))
    assert [one.is_reckoned for one in found] == [False] + [True] * 57 + [False] * 2
    assert part.raw_size < 58 * 400


async def test_events_of_older_code_are_told_and_the_chain_begins_behind_them(store: Store, url: str) -> None:
    await store.close()
    edited(url, "UPDATE events SET chain = NULL", "DELETE FROM chain_marks")
    again = await opened(url)
    await again.append([happened(n) for n in range(5)])
    assert again.archive is not None
    await again.archive.move(list(range(1, 63)))
    found = await checked(again)
    assert (found.problems, found.unchained, found.begins) == ([], EVENTS, EVENTS + 1)
    await again.close()


async def test_an_append_that_failed_leaves_the_chain_whole(store: Store, url: str) -> None:
    if url.startswith("postgres"):
        refuse = (
            "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no room''; END'",
            "CREATE TRIGGER full_disk BEFORE INSERT ON events EXECUTE FUNCTION no()",
        )
        allow = "DROP TRIGGER full_disk ON events"
    else:
        refuse = ("CREATE TRIGGER full_disk BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no room'); END",)
        allow = "DROP TRIGGER full_disk"
    edited(url, *refuse)
    with pytest.raises(BeforehandError):
        await store.append([happened(0)])
    edited(url, allow)
    await store.append([happened(1)])
    assert await told(store) == []


@pytest.fixture
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """A place for a copy: of the other kind of store."""

    def place(url: str) -> str:
        if url.startswith("postgres"):
            return str(tmp_path / "copy" / "log.db")
        return str(request.getfixturevalue("postgres").new_database())

    return place


async def test_a_copy_goes_on_with_the_chain_and_tells_its_generation(
    store: Store, url: str, other: Callable[[str], str]
) -> None:
    assert store.archive is not None
    await store.archive.delete(await store.archive.move(list(range(1, 20))), [], 1)
    early = await checked(store)
    await store.close()
    target = other(url)
    await copy_store(url, target)
    copy = await opened(target)
    await copy.append([happened(n) for n in range(3)])
    assert early.anchor is not None
    found = await checked(copy, early.anchor)
    assert (found.problems, found.last, found.deleted) == ([], EVENTS + 3, 19)
    assert [mark.seq for mark in found.generations] == [EVENTS]
    again = await opened(url)
    await again.append([happened(n) for n in range(5, 8)])
    later = (await checked(again)).anchor
    assert later is not None
    (problem,) = (await checked(copy, later)).problems
    assert "another generation" in problem.says
    await again.close()
    await copy.close()


APPENDER = """
import asyncio, sys
from beforehand.app.stores import open_store
from beforehand.model.event import Event
async def main():
    store = await open_store(sys.argv[1], project=lambda event: (), now_ms=lambda: 0)
    while True:
        await asyncio.gather(*(store.append([Event("noted", {}, {"n": n}, 5, None, "c", "run:x")]) for n in range(7)))
        print(await store.last_seq(), flush=True)
asyncio.run(main())
"""


async def test_after_kills_the_chain_is_whole(url: str) -> None:
    last = 0
    for _ in range(3):
        process = Forked(["-c", APPENDER, url], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(4):
            last = int(await asyncio.to_thread(process.stdout.readline))
        process.kill()
        process.communicate()
    reader = await opened(url, lead=False)
    found = await checked(reader)
    assert (found.problems, found.begins) == ([], 1)
    assert found.last >= last
    await reader.close()


async def test_a_line_to_the_database_that_breaks_leaves_the_chain_whole(postgres: PostgresServer) -> None:
    url = postgres.new_database()
    store = await opened(url)
    for n in range(4):
        await store.append([happened(n)])
        edited(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        await store.append([happened(n + 10), happened(n + 20)])
    found = await checked(store)
    assert (found.problems, found.events) == ([], 12)
    await store.close()
