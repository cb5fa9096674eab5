"""What is SQLite's own: files that are no log, layouts of other versions, indexes, and what opening leaves behind."""

import asyncio
import os
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.log.encoding import Entry
from beforehand.adapters.sqlite import schema, tables
from beforehand.adapters.sqlite import store as store_module
from beforehand.adapters.sqlite.lead import read_leader
from beforehand.adapters.sqlite.opening import Lead, Opening, take
from beforehand.adapters.sqlite.spans import SPAN, stretches
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.model.errors import BadInputError, NotLeadingError, TooLargeError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter, Row

NOON = 1_700_000_000_000

APPENDER = """
import asyncio, sys
from pathlib import Path
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.model.event import Event
from beforehand.ports.store import Row

def project(event):
    yield Row("count", event.about["runId"], {"n": event.data["n"]})

async def chain(store, name):
    n = 0
    while True:
        n += 2
        done = await store.append([Event("counted", {"runId": name}, {"n": n + i}, 0, owner=name) for i in (-1, 0)])
        sys.stdout.write(f"{name} {n} {done[-1].seq}\\n")
        sys.stdout.flush()

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]), project=project, now_ms=lambda: 1700000000000, url="http://there")
    await asyncio.gather(*(chain(store, name) for name in "abcd"))

asyncio.run(main())
"""


def project(event: Event) -> Iterable[Row]:
    yield Row("thing", event.kind, event.data, event.owner)


async def opened(path: Path | str, **how: Any) -> SqliteStore:
    return await SqliteStore.open(path, **{"project": project, "now_ms": lambda: NOON, **how})


def happened(kind: str = "noted", **data: Any) -> Event:
    return Event(kind, {"runId": "r", "taskId": "t"}, data, NOON, "dock", "", "run:r")


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def held() -> tuple[int, int]:
    """How many files and threads the process has."""
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


def names_in(folder: Path) -> set[str]:
    return {found.name for found in folder.iterdir()}


async def refusal(path: Path, **how: Any) -> UnavailableError:
    """The refusal to open the file, which must be left as it was."""
    before = content(path)
    with pytest.raises(UnavailableError) as refused:
        await opened(path, **how)
    assert content(path) == before
    assert refused.value.says.endswith(".")
    return refused.value


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(b"Dear diary, " * 1000)
    for lead in (True, False):
        assert "damaged or is not a Beforehand log" in (await refusal(path, lead=lead)).says


async def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE contacts (name)")
    other.close()
    for lead in (True, False):
        assert (await refusal(path, lead=lead)).code == "store.foreign"


async def test_a_newer_layout_is_refused_for_leading_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    await (await opened(path)).close()
    newer = sqlite3.connect(path)
    newer.execute("UPDATE schema_version SET version = 99")
    newer.commit()
    newer.close()
    for lead in (True, False):
        problem = await refusal(path, lead=lead)
        assert "newer Beforehand (layout 99)" in problem.says
        assert "newer version" in problem.hint


async def test_an_older_layout_is_brought_up_to_date_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.db"
    store = await opened(path)
    await store.append([happened()])
    await store.close()
    added = (*schema.MIGRATIONS, ("CREATE TABLE more (x)", "INSERT INTO more VALUES (1)"))
    broken = (*added, ("CREATE TABLE even_more (x)", "NONSENSE"))
    monkeypatch.setattr(schema, "MIGRATIONS", broken)
    monkeypatch.setattr(schema, "VERSION", len(broken))
    for lead in (True, False):
        await refusal(path, lead=lead)
    monkeypatch.setattr(schema, "MIGRATIONS", added)
    monkeypatch.setattr(schema, "VERSION", len(added))
    again = await opened(path)
    assert await again.last_seq() == 1
    await again.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT x FROM more").fetchall() == [(1,)]
    file.close()


async def test_an_older_layout_is_read_from_a_copy_that_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.db"
    store = await opened(path, url="http://here")
    await store.append([happened(n=1)])
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("CREATE TABLE more (x)",)))
    monkeypatch.setattr(schema, "VERSION", len(schema.MIGRATIONS))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    before = path.read_bytes()
    reader = await opened(path, lead=False)
    await store.append([happened(n=2)])
    assert [event.data for event in await reader.events()] == [{"n": 1}], "as it was when it was opened"
    leader = await reader.leader()
    assert leader is not None
    assert (leader.url, leader.alive) == ("http://here", True)
    assert path.read_bytes() == before
    assert names_in(tmp_path / "temporary")
    await reader.close()
    assert names_in(tmp_path / "temporary") == set()
    await store.close()


async def test_places_that_cannot_be_opened_get_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert (await refusal(tmp_path / "file" / "log.db")).code == "store.unopenable"
    (tmp_path / "folder.db").mkdir()
    assert (await refusal(tmp_path / "folder.db")).code == "store.unopenable"
    assert (await refusal(tmp_path / "folder.db", lead=False)).code == "store.unopenable"
    assert (await refusal(tmp_path / "nothing.db", lead=False)).code == "store.missing"
    assert not (tmp_path / "nothing.db").exists()


async def test_odd_names_of_homes_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "what? 100% #1 ü" / "log.db"
    store = await opened(str(path))
    await store.append([happened()])
    assert await store.last_seq() == len(await store.records()) == 1
    await store.close()
    assert path.exists()


async def test_opening_and_closing_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    async def use() -> None:
        store = await opened(path)
        reader = await opened(path, lead=False)
        with pytest.raises(NotLeadingError):
            await opened(path)
        await asyncio.gather(*(store.append([happened()]) for _ in range(10)), *(reader.records() for _ in range(10)))
        await reader.close()
        await store.close()

    await use()
    before = held()
    for _ in range(5):
        await use()
    assert held() == before
    assert names_in(tmp_path) == {"log.db", "log.db.lock"}


@pytest.mark.parametrize("when", ["before it begins", "before the lead is taken", "with the lead"])
async def test_opening_cancelled_half_way_gives_the_lead_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path = tmp_path / "log.db"
    reached, go_on = threading.Event(), threading.Event()

    def halting(opening: Opening) -> Lead:
        held = take(opening) if when == "with the lead" else None
        reached.set()
        assert go_on.wait(60)
        return held or take(opening)

    monkeypatch.setattr(store_module, "take", halting)
    opening = asyncio.ensure_future(opened(path))
    if when != "before it begins":
        await asyncio.to_thread(reached.wait, 60)
    opening.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await (await opened(path)).close()


async def test_the_leader_is_known_without_opening_the_store(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    assert read_leader(path) is None
    store = await opened(path, url="http://here")
    leader = read_leader(path)
    assert leader == await store.leader()
    assert leader is not None
    assert (leader.pid, leader.url, leader.alive) == (os.getpid(), "http://here", True)
    await store.close()
    gone = read_leader(path)
    assert gone is not None
    assert not gone.alive
    path.write_bytes(b"rubbish" * 1000)
    assert read_leader(path) is None


async def test_killed_amid_appends_all_that_was_acknowledged_is_there(tmp_path: Path) -> None:
    """`kill -9` at several points of a stream of appends, one home throughout."""
    path = tmp_path / "log.db"
    acknowledged: dict[str, int] = {}
    highest = 0
    for lines in (1, 37, 150):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", APPENDER, str(path), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        told = b"".join([await process.stdout.readline() for _ in range(lines)])
        with pytest.raises(NotLeadingError, match=f"Process {process.pid} .*http://there"):
            await opened(path)
        process.kill()
        told += await process.stdout.read()
        await process.wait()
        for line in told[: told.rindex(b"\n")].decode().splitlines():
            name, n, seq = line.split()
            acknowledged[name] = int(n)
            highest = max(highest, int(seq))
        reader = await opened(path, lead=False)
        assert not (await reader.leader() or pytest.fail("nobody ever led")).alive
        await reader.close()
        store = await opened(path)
        events = await store.events(limit=10**6)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert len(events) >= highest
        await check_whole(store, events, acknowledged)
        await store.append([happened("restarted")])
        await store.close()
        acknowledged.clear()


async def check_whole(store: SqliteStore, events: Sequence[Event], acknowledged: dict[str, int]) -> None:
    """Since the last restart: every pair is whole, in order, behind what was acknowledged, and the rows agree."""
    restarts = [event.seq for event in events if event.kind == "restarted"]
    since = [event for event in events if event.seq > (restarts[-1] if restarts else 0)]
    for name in "abcd":
        numbers = [event.data["n"] for event in since if event.owner == name]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) % 2 == 0, "an append is there as a whole or not at all"
        assert len(numbers) >= acknowledged.get(name, 0)
        if numbers:
            assert await store.row("count", name) == {"n": numbers[-1]}


async def test_one_that_cannot_be_written_costs_the_others_of_its_commit_nothing(tmp_path: Path) -> None:
    store = await opened(tmp_path / "log.db")
    assert store._writer is not None
    store._writer._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50_000)
    tried = await asyncio.gather(
        *(store.append([happened(), happened(x="x" * (60_000 if n == 3 else 1))]) for n in range(8)),
        return_exceptions=True,
    )
    assert [n for n, outcome in enumerate(tried) if isinstance(outcome, UnavailableError)] == [3]
    assert [event.seq for event in await store.events()] == list(range(1, 15))
    await store.close()


async def test_a_fault_in_the_middle_of_a_commit_is_told_and_leaves_no_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened(tmp_path / "log.db")
    await store.append([happened()])

    def faulty(*_: Any) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patched:
        patched.setattr("beforehand.adapters.sqlite.writer.apply_changes", faulty)
        with pytest.raises(UnavailableError, match="disk I/O error"):
            await store.append([happened()])
    (event,) = await store.append([happened()])
    assert event.seq == 2
    assert [record.seq for record in await store.records()] == [1, 2]
    await store.close()


async def test_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beforehand.adapters.log.encoding.MAX_BYTES", 1000)
    store = await opened(tmp_path / "log.db")
    with pytest.raises(TooLargeError, match="more than the 1000 allowed") as refused:
        await store.append([happened(x="x" * 1000)])
    assert isinstance(refused.value, BadInputError)
    assert await store.last_seq() == 0
    await store.close()


async def test_commits_are_made_to_reach_the_disk(tmp_path: Path) -> None:
    store = await opened(tmp_path / "log.db")
    assert store._writer is not None
    modes = await store._writer.do(
        lambda file: [file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    )
    assert modes == ["wal", 2]
    await store.close()


async def test_the_bytes_of_the_data_are_shared_with_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(tmp_path / "log.db")
    assert store._writer is not None
    handed: list[Entry] = []
    put = store._writer.append

    async def watched(entries: list[Entry]) -> int:
        handed.extend(entries)
        return await put(entries)

    monkeypatch.setattr(store._writer, "append", watched)
    await store.append([happened(a=1)])
    assert handed[0].changes[0].body == b'{"a":1}'
    assert handed[0].tail.endswith(b',"data":{"a":1}}')
    await store.close()


@pytest.mark.parametrize(
    ("only", "indexes"),
    [
        (EventFilter(), ["INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]),
        (EventFilter(frozenset({"a"})), ["INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]),
        (EventFilter(frozenset({"a"}), run="r", scene="s"), ["events_run (run_id=? AND rowid>? AND rowid<?)"]),
        (EventFilter(task="t", run="r", owner="o"), ["events_task (task_id=? AND rowid>? AND rowid<?)"]),
        (EventFilter(owner="o", scene="s"), ["events_owner (owner=? AND rowid>? AND rowid<?)"]),
        (
            EventFilter(frozenset({"a", "b"}), owner="run:r"),
            ["events_run (run_id=? AND rowid>? AND rowid<?)", "events_owner (owner=? AND rowid>? AND rowid<?)"],
        ),
    ],
)
async def test_no_question_about_events_scans_or_sorts_the_log(
    tmp_path: Path, only: EventFilter, indexes: list[str]
) -> None:
    for newest_first in (False, True):
        steps = await plan_of(tmp_path, *tables.log_question("seq, line", 5, 100, 10, only, newest_first))
        for index in indexes:
            assert any(index in step for step in steps), steps
        assert not any("SCAN" in step or "TEMP B-TREE" in step for step in steps), steps


async def test_rare_kinds_and_scenes_are_found_without_looking_at_the_rest(tmp_path: Path) -> None:
    """Only the stretches a name was noted in are looked through, also after starting again."""
    store = await opened(tmp_path / "log.db")
    for scene in ("dock", "hall"):
        await store.append([Event("common", {}, {}, NOON, scene) for _ in range(3 * SPAN)])
        await store.append([Event("rare", {}, {"in": scene}, NOON, scene) for _ in range(2)])
        await store.close()
        store = await opened(tmp_path / "log.db")
    await store.append([Event("common", {}, {}, NOON) for _ in range(3 * SPAN)])

    async def looked_at(low: int = 1, high: int = tables.LAST, **asked: Any) -> list[tuple[int, int]]:
        return await store._reader.ask(lambda file: list(stretches(file, low, high, EventFilter(**asked))))

    rare = frozenset({"rare"})
    assert await looked_at(kinds=rare) == [(768, 1023), (1536, 1791)]
    assert await looked_at(801, kinds=rare) == [(801, 1023), (1536, 1791)]
    assert await looked_at(801, 1540, kinds=rare) == [(801, 1023), (1536, 1540)]
    assert await looked_at(high=900, kinds=rare) == [(768, 900)]
    assert await looked_at(kinds=rare, scene="hall") == [(768, 1023), (1536, 1791)]
    assert await looked_at(scene="dock") == [(1, 1023)]
    assert await looked_at(scene="nowhere") == []
    assert [record.seq for record in await store.records(only=EventFilter(rare))] == [769, 770, 1539, 1540]
    assert [record.seq for record in await store.records(limit=3, only=EventFilter(rare))] == [769, 770, 1539]
    assert [record.seq for record in await store.records(770, only=EventFilter(rare, scene="hall"))] == [1539, 1540]
    assert [record.seq for record in await store.last_records(1540, 2, EventFilter(rare))] == [770, 1539]
    assert len(await store.records(limit=10_000, only=EventFilter(frozenset({"common"})))) == 9 * SPAN
    await store.close()


async def test_an_owner_is_found_whether_or_not_its_run_says_the_same(tmp_path: Path) -> None:
    store = await opened(tmp_path / "log.db")
    owners_and_runs = [("run:a", "a"), ("run:a", None), ("run:b", "a"), ("run:a", "a"), ("a", "a"), ("", "a")]
    await store.append(
        [Event("noted", {} if run is None else {"runId": run}, {}, NOON, owner=owner) for owner, run in owners_and_runs]
    )

    async def found(**asked: str) -> list[int]:
        return [event.seq for event in await store.events(only=EventFilter(**asked))]  # type: ignore[arg-type]

    assert await found(owner="run:a") == [1, 2, 4]
    assert await found(owner="run:b") == [3]
    assert await found(owner="a") == [5]
    assert await found(owner="") == [6]
    assert await found(owner="run:a", run="a") == [1, 4]
    assert [event.seq for event in await store.events(1, 1, EventFilter(owner="run:a"))] == [2]
    await store.close()


async def test_steps_are_found_by_their_run_whatever_their_ids_are(tmp_path: Path) -> None:
    def steps(event: Event) -> Iterable[Row]:
        yield Row("step", event.data["id"], event.data, event.data["run"], open=event.data.get("open", False))

    store = await opened(tmp_path / "log.db", project=steps)
    named = [
        ("r/b", "r"),
        ("elsewhere", "r"),
        ("r0/a", "r0"),
        ("r/a", "r"),
        ("r/c", "other"),
        ("r/é", "r"),
        ("r/", "r"),
    ]
    await store.append([happened(id=id, run=run, open=id == "r/a") for id, run in named])

    async def found(**asked: Any) -> list[str]:
        return [row["id"] for row in await store.rows("step", **asked)]

    assert await found(parent="r") == ["r/b", "elsewhere", "r/a", "r/é", "r/"]
    assert await found(parent="r", newest_first=True, limit=2) == ["r/", "r/é"]
    assert await found(parent="r", open=True) == ["r/a"]
    assert await found(parent="r", open=False) == ["r/b", "elsewhere", "r/é", "r/"]
    assert await found(parent="other") == ["r/c"]
    assert await found() == [id for id, _ in named]
    assert await found(newest_first=True, limit=3) == ["r/", "r/é", "r/c"]
    assert await found(open=True) == ["r/a"]
    assert await found(parent="") == []
    assert await store.count("step") == 7
    await store.close()


async def test_commits_do_not_make_the_file_longer(tmp_path: Path) -> None:
    """Room for them is made when the log is opened."""
    path = tmp_path / "log.db"
    store = await opened(path)
    wal = path.with_name("log.db-wal")
    size = wal.stat().st_size
    for _ in range(50):
        await store.append([happened()])
    assert wal.stat().st_size == size
    await store.close()


async def test_room_is_made_behind_what_a_killed_process_left(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    store = await opened(path)
    await store.append([happened() for _ in range(5)])
    copied = tmp_path / "copied.db"
    for end in ("", "-wal"):
        copied.with_name(copied.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    await store.close()
    wal = copied.with_name("copied.db-wal")
    wal.write_bytes(wal.read_bytes().rstrip(b"\0") + b"half a frame")
    again = await opened(copied)
    assert [event.seq for event in await again.append([happened()])] == [6]
    assert [event.seq for event in await again.events()] == [1, 2, 3, 4, 5, 6]
    await again.close()
    with sqlite3.connect(copied) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file.close()


@pytest.mark.parametrize(
    ("how", "index"),
    [
        ((None, None), "INDEX rows_kind (kind=?)"),
        (("p", None), "INDEX rows_parent (kind=? AND parent=?)"),
        (("p", False), "INDEX rows_parent (kind=? AND parent=?)"),
        ((None, True), "INDEX rows_open (kind=?)"),
    ],
)
@pytest.mark.parametrize("newest_first", [False, True])
async def test_no_question_about_rows_scans_or_sorts_them(
    tmp_path: Path, how: tuple[str | None, bool | None], index: str, newest_first: bool
) -> None:
    steps = await plan_of(tmp_path, *tables.rows_question("run", *how, 10, newest_first))
    assert any(index in step for step in steps), steps
    assert not any("SCAN" in step or "TEMP B-TREE" in step for step in steps), steps


async def test_the_newest_steps_are_found_without_sorting_them_all(tmp_path: Path) -> None:
    steps = await plan_of(tmp_path, *tables.rows_question("step", None, None, 10, True))
    assert not any("TEMP B-TREE" in step for step in steps), steps


async def plan_of(folder: Path, sql: str, values: list[Any]) -> list[str]:
    store = await opened(folder / "log.db")
    try:
        return await store._reader.ask(
            lambda file: [str(step[3]) for step in file.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        )
    finally:
        await store.close()


async def test_starting_does_not_look_at_the_events_one_by_one(tmp_path: Path) -> None:
    """Opening a log of 50,000 events takes SQLite no more work than opening one of ten."""
    work = []
    for events in (10, 50_000):
        path = tmp_path / f"{events}.db"
        store = await opened(path)
        await store.append([happened() for _ in range(events)])
        await store.close()
        work.append(await work_of_opening(path))
    assert work[1] <= work[0] + 2


async def work_of_opening(path: Path) -> int:
    """How often SQLite passes a hundred of its own instructions while the log is opened."""
    steps = [0]

    def count() -> int:
        steps[0] += 1
        return 0

    connect = sqlite3.connect

    def counted(*how: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*how, **more)
        connection.set_progress_handler(count, 100)
        return connection

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite3, "connect", counted)
        store = await opened(path)
        await store.append([happened()])
        assert (await store.records(after=await store.last_seq() - 1))[0].kind == "noted"
        await store.close()
    return steps[0]
