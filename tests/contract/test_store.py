"""What every store promises, whatever it is made of.

A new adapter joins by adding its harness to `harness_of`: how to open it, how another process would take the lead away,
and how its disk fills up.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import pytest
from pydantic_core import to_json

from beforehand.adapters.memory.log import MemoryLog
from beforehand.adapters.memory.store import MemoryStore
from beforehand.adapters.postgres.store import PostgresStore
from beforehand.adapters.sqlite.schema import connect_writing
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.model import versions
from beforehand.model.errors import BadInputError, NotLeadingError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter, Record, Row, RowQuery, Store
from beforehand.testing.postgres_server import PostgresServer

NOON = 1_700_000_000_000


def project(event: Event) -> Iterable[Row]:
    """Events say themselves which rows they make: `rows` holds (id, body or null, parent, open)."""
    for id, body, parent, is_open in event.data.get("rows", ()):
        yield Row("thing", id, body, parent, is_open)
    if event.kind == "runStarted":
        yield Row("run", event.about["runId"], event.data, open=True)


class Harness(Protocol):
    opened: list[Store]

    async def open(self, **how: Any) -> Store: ...

    def take_lead_away(self) -> None:
        """What a process does that does not respect the lock."""

    async def limit_disk(self, store: Store, full: bool) -> None: ...


class SqliteHarness:
    def __init__(self, folder: Path) -> None:
        self.path = folder / "home" / "log.db"
        self.opened: list[Store] = []

    async def open(self, **how: Any) -> Store:
        store = await SqliteStore.open(self.path, **{"project": project, "now_ms": lambda: NOON, **how})
        self.opened.append(store)
        return store

    def take_lead_away(self) -> None:
        connection = connect_writing(self.path)
        connection.execute("UPDATE lead SET epoch = epoch + 1, pid = 4711, url = 'http://usurper'")
        connection.close()

    async def limit_disk(self, store: Store, full: bool) -> None:
        assert isinstance(store, SqliteStore)
        assert store._writer is not None
        pages = 1 if full else 1_000_000_000
        await store._writer.do(lambda file: file.execute(f"PRAGMA max_page_count = {pages}") and None)


class MemoryHarness:
    def __init__(self, folder: Path) -> None:
        self.log = MemoryLog()
        self.opened: list[Store] = []

    async def open(self, **how: Any) -> Store:
        store = MemoryStore(**{"project": project, "shared": self.log, "now_ms": lambda: NOON, **how})
        self.opened.append(store)
        return store

    def take_lead_away(self) -> None:
        leader = self.log.leader
        assert leader is not None
        self.log.leader = replace(leader, epoch=leader.epoch + 1, pid=4711, url="http://usurper")

    async def limit_disk(self, store: Store, full: bool) -> None:
        self.log.full = full


FULL_DISK = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON events EXECUTE FUNCTION no_room();
"""


class PostgresHarness:
    def __init__(self, server: PostgresServer) -> None:
        self.server = server
        self.url = server.new_database()
        self.opened: list[Store] = []

    async def open(self, *, url: str | None = None, **how: Any) -> Store:
        given = {"project": project, "now_ms": lambda: NOON, "url_of_server": url, **how}
        store = await PostgresStore.open(self.url, **given)
        self.opened.append(store)
        return store

    def tell(self, statement: str) -> str:
        return self.server.tell(f"SET search_path = beforehand; {statement}", self.url.rpartition("/")[2])

    def take_lead_away(self) -> None:
        self.tell("UPDATE lead SET epoch = epoch + 1, pid = 4711, url = 'http://usurper'")

    async def limit_disk(self, store: Store, full: bool) -> None:
        self.tell(FULL_DISK if full else "DROP FUNCTION no_room CASCADE")


def harness_of(kind: str, folder: Path, request: pytest.FixtureRequest) -> Harness:
    if kind == "postgres":
        return PostgresHarness(request.getfixturevalue("postgres"))
    return MemoryHarness(folder) if kind == "memory" else SqliteHarness(folder)


@pytest.fixture(params=["sqlite", "memory", "postgres"])
async def home(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Harness]:
    harness = harness_of(request.param, tmp_path, request)
    yield harness
    for store in harness.opened:
        await store.close()


@pytest.fixture
async def store(home: Harness) -> Store:
    return await home.open()


def happened(kind: str = "noted", *, about: dict[str, Any] | None = None, owner: str = "", **data: Any) -> Event:
    return Event(kind, about or {}, data, NOON, correlation_id="c-1", owner=owner)


def making(*rows: tuple[str, Any, str, bool]) -> Event:
    return happened(rows=[list(row) for row in rows])


# --- the log


async def test_events_are_numbered_from_one_and_read_back_as_they_were(store: Store) -> None:
    events = [
        Event("taskCreated", {"taskId": "t1"}, {"a": [1, 2.5, None, True, {"ü": "\U0001f600"}]}, NOON + 1, "dock", "c"),
        Event("runStarted", {"runId": "r1"}, {"big": 10**30, "tiny": 5e-324}, 1, None, "", "run:r1"),
    ]
    numbered = await store.append(events)
    later = await store.append([happened()])
    assert [event.seq for event in [*numbered, *later]] == [1, 2, 3]
    assert list(numbered) == [event.numbered(seq) for seq, event in enumerate(events, 1)]
    assert await store.events() == [*numbered, *later]
    assert await store.last_seq() == 3


async def test_a_record_is_the_wire_form_of_its_event_and_what_filters_look_at(store: Store) -> None:
    (event,) = await store.append([Event("a", {"runId": "r", "taskId": 7}, {"x": 1.0}, NOON, "dock", "c", "run:r")])
    (record,) = await store.records()
    assert record.line == to_json(event.wire())
    assert record == Record(1, "a", "dock", "run:r", "r", "7", record.line)


async def test_what_is_read_belongs_to_the_reader(store: Store) -> None:
    given = {"list": [1]}
    await store.append([Event("runStarted", {"runId": "r"}, given, NOON)])
    given["list"].append(2)
    for _ in range(2):
        (event,), row = await store.events(), await store.row("run", "r")
        assert event.data == row == {"list": [1]}
        for found in (event.data, row):
            found["list"].append(3)


async def test_nothing_appended_is_nothing_written(store: Store) -> None:
    commits: list[Any] = []
    store.on_commit(commits.append)
    assert list(await store.append([])) == []
    assert (await store.last_seq(), commits) == (0, [])


async def test_filters_and_numbers_choose_the_same_as_admits(store: Store) -> None:
    choices = product(["a", "b", "c"], ["r1", None], ["t1", None], ["dock", None], ["", "run:r1"])
    await store.append(
        [
            Event(kind, {k: v for k, v in (("runId", run), ("taskId", task)) if v}, {}, NOON, scene, "", owner)
            for kind, run, task, scene, owner in [*choices] * 2
        ]
    )
    everything = await store.records()
    asked = product(
        [
            frozenset[str](),
            frozenset({"a"}),
            frozenset({"a", "c", "nix"}),
            frozenset(f"k{i}" for i in range(600)) | {"b"},
        ],
        ["r1", None, ""],
        ["t1", None],
        ["dock", None],
        ["run:r1", "", None],
        [0, 20],
    )
    for kinds, run, task, scene, owner, after in asked:
        only = EventFilter(kinds, run, task, scene, owner)
        wanted = [record for record in everything if record.seq > after and only.admits(record)]
        assert await store.records(after, 10, only) == wanted[:10], only
    assert [event.seq for event in await store.events(3, 4, EventFilter(frozenset({"a"})))] == [4, 5, 6, 7]


async def test_the_last_records_are_found_backwards_and_come_in_order(store: Store) -> None:
    choices = product(["a", "b"], ["r1", None], ["dock", "hall", None], ["", "run:r1", "fleet:dock"])
    await store.append(
        [
            Event(kind, {"runId": run} if run else {}, {}, NOON, scene, "", owner)
            for kind, run, scene, owner in [*choices] * 10
        ]
    )
    everything = await store.records()
    kinds = [frozenset[str](), frozenset({"a"}), frozenset({"nix"})]
    asked = product(
        kinds, ["r1", None], ["hall", None], ["run:r1", "fleet:dock", None], [None, 300, 150, 1, -3], [1, 7]
    )
    for kind, run, scene, owner, before, limit in asked:
        only = EventFilter(kind, run, None, scene, owner)
        end = len(everything) + 1 if before is None else before
        wanted = [record for record in everything if record.seq < end and only.admits(record)]
        assert await store.last_records(before, limit, only) == wanted[-limit:], (before, limit, only)
    assert await store.last_records(limit=10_000) == await store.last_records(10**30, 10**30) == everything
    assert await store.last_records(limit=0) == await store.last_records(limit=-1) == []


async def test_absurd_questions_are_answered(store: Store) -> None:
    await store.append([happened()])
    assert await store.records(after=10**30) == []
    assert len(await store.records(after=-5, limit=10**30)) == 1
    assert await store.records(limit=-1) == []
    assert await store.row("thing", "no\0thing") is None
    with pytest.raises(BadInputError, match="half a character"):
        await store.row("thing", "\udcff")
    with pytest.raises(BadInputError, match="5000 kinds of events are too many"):
        await store.records(only=EventFilter(frozenset(f"k{n}" for n in range(5000))))
    with pytest.raises(BadInputError, match="half a character"):
        await store.rows("thing", parent="\udcff")


async def test_numbers_go_on_after_opening_again(home: Harness) -> None:
    first = await home.open()
    await first.append([happened(), happened()])
    await first.close()
    again = await home.open()
    (third,) = await again.append([happened()])
    assert third.seq == 3
    assert [event.seq for event in await again.events()] == [1, 2, 3]


# --- commits


async def test_many_at_once_share_commits_and_keep_their_own_order(store: Store) -> None:
    commits: list[Sequence[Record]] = []
    store.on_commit(commits.append)
    told: list[Event] = []

    async def chain(name: str) -> None:
        for n in range(5):
            told.extend(await store.append([happened(owner=name, n=2 * n), happened(owner=name, n=2 * n + 1)]))

    await asyncio.gather(*(chain(f"run:{i}") for i in range(100)))
    assert [record.seq for commit in commits for record in commit] == list(range(1, 1001))
    assert [record for commit in commits for record in commit] == await store.records(limit=2000)
    assert sorted(told, key=lambda event: event.seq) == await store.events(limit=2000)
    assert len(commits) < 500, "appends that are waiting together share commits"
    mine = await store.events(only=EventFilter(owner="run:7"))
    assert [event.data["n"] for event in mine] == list(range(10))


async def test_what_was_appended_is_read_at_once(home: Harness, store: Store) -> None:
    onlooker = await home.open(lead=False)
    for n in range(50):
        await store.append([making(("x", {"n": n}, "", True))])
        mine, theirs, seq = await asyncio.gather(
            store.row("thing", "x"), onlooker.row("thing", "x"), onlooker.last_seq()
        )
        assert (mine, theirs, seq) == ({"n": n}, {"n": n}, n + 1)


async def test_a_listener_sees_every_commit_before_those_who_waited_and_can_be_taken_off(store: Store) -> None:
    told: list[int] = []

    def failing(_: Sequence[Record]) -> None:
        raise RuntimeError("a listener's own trouble")

    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
    store.on_commit(failing)
    take_off = store.on_commit(lambda records: told.extend(record.seq for record in records))
    await store.append([happened(), happened()])
    assert told == [1, 2]
    take_off()
    take_off()
    await store.append([happened()])
    assert told == [1, 2]
    assert len(heard) == 2


async def test_a_cancelled_append_is_written_once_and_wakes_nobody(store: Store) -> None:
    waiting = [asyncio.ensure_future(store.append([happened(n=n)])) for n in range(20)]
    await asyncio.sleep(0)
    for task in waiting[::2]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    (last,) = await store.append([happened(n=20)])
    assert [event.data["n"] for event in await store.events()] == list(range(21))
    assert last.seq == 21


async def test_closing_writes_what_is_queued(home: Harness, store: Store) -> None:
    waiting = [asyncio.ensure_future(store.append([happened(n=n)])) for n in range(30)]
    await asyncio.sleep(0)
    await asyncio.gather(store.close(), store.close())
    assert [(await task)[0].seq for task in waiting] == list(range(1, 31))
    await store.close()
    for refused in (store.append([happened()]), store.records(), store.announce("x"), store.leader()):
        with pytest.raises(UnavailableError, match="has been closed"):
            await refused
    again = await home.open()
    assert await again.last_seq() == 30


async def test_a_full_disk_fails_those_who_wait_and_leaves_no_gap(home: Harness, store: Store) -> None:
    told: list[int] = []
    store.on_commit(lambda records: told.extend(record.seq for record in records))
    await store.append([happened(), making(("x", {"n": 1}, "", False))])
    await home.limit_disk(store, full=True)
    large = making(("x", {"n": "x" * 100_000}, "", False))
    failed = await asyncio.gather(*(store.append([happened(), large]) for _ in range(5)), return_exceptions=True)
    assert [type(problem) for problem in failed] == [UnavailableError] * 5
    assert "no space left" in str(failed[0])
    assert (await store.last_seq(), await store.row("thing", "x")) == (2, {"n": 1})
    await home.limit_disk(store, full=False)
    done = await store.append([large, happened()])
    assert [event.seq for event in done] == [3, 4]
    assert [event.seq for event in await store.events()] == told == [1, 2, 3, 4]


# --- what can be written


def contains_itself() -> dict[str, Any]:
    knot: dict[str, Any] = {}
    knot["one"], knot["two"] = knot, [knot, knot]
    return knot


def nested(levels: int) -> Any:
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("event", "where"),
    [
        (happened(x={"y": [1, math.nan]}), "data.x.y[1]: the number nan is not finite"),
        (happened(x=math.inf), "data.x: the number inf"),
        (happened(x="\ud800"), "data.x: it holds half a character"),
        (Event("a", {}, {"\ud800": 1}, 0), "half a character"),
        (happened(about={"runId": "\udfff"}), "about.runId: it holds half a character"),
        (happened("\ud800"), "half a character"),
        (happened(owner="run:\ud800"), "owner: it holds half"),
        (making(("\ud800", {}, "", False)), "half a character"),
        (happened(x=object()), "object"),
        (happened(x=contains_itself()), "Circular"),
        (happened(x=nested(400)), "nested too deeply"),
        (Event("a", {}, {}, 10**18), "ts: 1000000000000000000 is not a time"),
    ],
)
async def test_what_json_cannot_carry_is_refused_before_anything_is_written(
    store: Store, event: Event, where: str
) -> None:
    good = asyncio.ensure_future(store.append([happened()]))
    with pytest.raises(BadInputError, match="cannot be written to the log, and nothing was") as refused:
        await store.append([happened(), event])
    assert where in str(refused.value)
    str(refused.value).encode()
    assert refused.value.problems
    await good
    assert await store.last_seq() == 1


async def test_every_unwritable_place_is_named(store: Store) -> None:
    with pytest.raises(BadInputError) as refused:
        await store.append([happened(a=math.nan, b={"c": -math.inf}, d="\ud801")])
    assert [problem.path for problem in refused.value.problems] == ["data.a", "data.b.c", "data.d"]


@pytest.mark.parametrize(
    "value",
    [
        "nul \0 inside",
        "NaN and Infinity as words",
        'quotes " and \\ and \u2028 and \x1f',
        "x" * 10_000_000,
        nested(230),
        10**400,
        -0.0,
        1.7976931348623157e308,
        {"": {"\0": []}},
    ],
    ids=lambda value: str(value)[:20].encode("unicode_escape").decode(),
)
async def test_odd_and_huge_values_survive(store: Store, value: Any) -> None:
    event = Event(
        "odd\0kind", {"runId": "r\0"}, {"value": value, "rows": [["i\0d", {"v": value}, "p\0", True]]}, 0, "s\0"
    )
    (numbered,) = await store.append([event])
    assert await store.events(only=EventFilter(frozenset({"odd\0kind"}), "r\0", None, "s\0")) == [numbered]
    assert await store.rows("thing", parent="p\0") == [{"v": value}]
    assert json.loads((await store.records())[0].line)["data"]["value"] == value


async def test_read_only_mappings_are_documents_too(store: Store) -> None:
    await store.append([Event("runStarted", MappingProxyType({"runId": "r"}), MappingProxyType({"a": 1}), 0)])
    assert await store.row("run", "r") == {"a": 1}


# --- rows


async def test_rows_come_in_the_order_they_first_appeared(store: Store) -> None:
    await store.append([making(("b", {"n": 1}, "p", True), ("a", {"n": 2}, "p", False), ("c", {"n": 3}, "q", True))])
    await store.append([making(("d", {"n": 4}, "", False))])
    await store.append([making(("b", {"n": 5}, "p", False))])

    async def numbers(**how: Any) -> list[int]:
        return [row["n"] for row in await store.rows("thing", **how)]

    assert await numbers() == [5, 2, 3, 4]
    assert await numbers(newest_first=True) == [4, 3, 2, 5]
    assert await numbers(newest_first=True, limit=2) == [4, 3]
    assert await numbers(parent="p") == [5, 2]
    assert await numbers(parent="") == [4]
    assert await numbers(open=True) == [3]
    assert await numbers(open=False) == [5, 2, 4]
    assert await numbers(parent="p", open=False, limit=1) == [5]
    assert [await store.count("thing", open=which) for which in (None, True, False)] == [4, 1, 3]
    assert (await store.rows("nothing"), await store.count("nothing"), await store.row("thing", "z")) == ([], 0, None)


async def test_what_is_asked_together_is_what_is_asked_one_by_one(store: Store) -> None:
    await store.append([making(("b", {"n": 1}, "p", True), ("a", {"n": 2}, "p", False), ("c", {"n": 3}, "", True))])
    asked = [
        RowQuery("thing"),
        RowQuery("thing", "a"),
        RowQuery("thing", parent="p"),
        RowQuery("thing", parent="p", open=True),
        RowQuery("thing", "z"),
        RowQuery("nothing"),
    ]
    found = [[row["n"] for row in rows] for rows in await store.query(*asked)]
    assert found == [[1, 2, 3], [2], [1, 2], [1], [], []]
    assert await store.query() == []
    with pytest.raises(BadInputError):
        await store.query(RowQuery("thing", "half \ud83d"))
    assert await store.query(RowQuery("thing", "a")) == [[{"n": 2}]]


async def test_what_is_asked_together_is_of_one_moment(home: Harness, store: Store) -> None:
    reader = await home.open(lead=False)
    changes = [making(("a", {"n": n}, "p", True), ("b", {"n": n}, "q", True)) for n in range(200)]
    await store.append(changes[:1])

    async def write() -> None:
        for change in changes:
            await store.append([change])

    writing = asyncio.create_task(write())
    while not writing.done():
        for asked in (store, reader):
            found = await asked.query(*[RowQuery("thing", "a"), RowQuery("thing", parent="q")] * 20)
            assert {row["n"] for rows in found for row in rows} == {found[0][0]["n"]}
    await writing


async def test_a_row_changed_again_in_the_same_append_keeps_its_place(store: Store) -> None:
    made = [making((id, {"n": n}, "", True)) for n, id in enumerate(["b", "a", "b"])]
    await store.append(made)
    assert await store.rows("thing") == [{"n": 2}, {"n": 1}]


async def test_a_row_deleted_and_made_again_appears_last(store: Store) -> None:
    await store.append([making(("a", {"n": 1}, "", False), ("b", {"n": 2}, "", False))])
    await store.append([making(("a", None, "", False)), making(("c", {"n": 3}, "", False), ("a", {"n": 4}, "", False))])
    assert [row["n"] for row in await store.rows("thing")] == [2, 3, 4]
    await store.append([making(("a", None, "", False), ("nobody", None, "", False))])
    assert [row["n"] for row in await store.rows("thing")] == [2, 3]


async def test_rebuilding_waits_its_turn_and_changes_nothing(store: Store) -> None:
    await asyncio.gather(*(store.append([making((f"x{n % 7}", {"n": n}, "p", n % 2 == 0))]) for n in range(60)))
    before = await store.rows("thing")
    after_it = asyncio.gather(store.rebuild_rows(), store.append([making(("new", {"n": 99}, "", True))]))
    await after_it
    assert await store.rows("thing") == [*before, {"n": 99}]


async def test_a_rebuild_that_fails_leaves_the_rows_alone(home: Harness) -> None:
    before = await home.open()
    await before.append([making(("a", {"n": 1}, "", True))])
    await before.close()

    def failing(event: Event) -> Iterable[Row]:
        raise LookupError("a projection with a mistake in it")

    store = await home.open(project=failing)
    with pytest.raises(LookupError):
        await store.rebuild_rows()
    assert await store.rows("thing") == [{"n": 1}]


# --- snapshots


async def test_only_the_newest_snapshot_of_an_owner_is_kept(store: Store) -> None:
    assert await store.snapshot("run:r1") is None
    await store.save_snapshot("run:r1", 5, {"at": 5, "deep": nested(230)})
    await store.save_snapshot("run:r2", 1, MappingProxyType({"at": 1}))
    await store.save_snapshot("run:r1", 9, {"at": 9})
    await store.save_snapshot("run:r1", 7, {"at": 7})
    assert await store.snapshot("run:r1") == (9, {"at": 9})
    assert await store.snapshot("run:r2") == (1, {"at": 1})
    with pytest.raises(BadInputError, match="The snapshot of run:r1 cannot be written"):
        await store.save_snapshot("run:r1", 10, {"at": math.nan})


# --- what older code wrote


def renamed(event: Event) -> Event:
    """The first change of `oldName`: another kind, about a run, in a scene."""
    about = {"runId": event.data["old"], "taskId": "t"}
    return replace(event, kind="runStarted", about=about, data={"new": event.data["old"]}, scene="dock")


def told(event: Event) -> Event:
    """The second: a number is a list."""
    return replace(event, data={"new": [event.data["new"]]})


async def written(home: Harness, *events: Event, **how: Any) -> None:
    store = await home.open(**how)
    await store.append(events)
    await store.save_snapshot("run:r1", 1, {"at": 1})
    await store.close()


async def check_present(store: Store, value: Any) -> None:
    """Every way out of a store in which `oldName` stands between two others."""
    (event,) = await store.events(1, 1)
    assert event == Event(
        "runStarted", {"runId": "r1", "taskId": "t"}, {"new": value}, NOON, "dock", "c-1", "run:r1", seq=2
    )
    record = Record(2, "runStarted", "dock", "run:r1", "r1", "t", to_json(event.wire()))
    assert (await store.records(1, 1), await store.last_records(3, 1)) == ([record], [record])
    for only in (
        EventFilter(frozenset({"runStarted"})),
        EventFilter(run="r1"),
        EventFilter(task="t"),
        EventFilter(scene="dock"),
        EventFilter(owner="run:r1"),
    ):
        assert await store.records(only=only) == await store.last_records(only=only) == [record]
        assert await store.events(only=only) == [event]
    assert await store.records(only=EventFilter(frozenset({"oldName"}))) == []
    assert await store.rows("run", open=True) == [await store.row("run", "r1")] == [{"new": value}]
    assert (await store.snapshot("run:r1"), await store.last_seq()) == (None, 3)


async def test_what_older_code_wrote_is_brought_up_to_date_on_every_way_out(home: Harness) -> None:
    await written(home, happened(), happened("oldName", owner="run:r1", old="r1"), happened(new="as it is"))
    for upcasters, value in (((renamed,), "r1"), ((renamed, told), ["r1"])):
        onlooker = await home.open(lead=False, upcasters={"oldName": upcasters})
        await check_present(onlooker, value)
        store = await home.open(upcasters={"oldName": upcasters})
        await check_present(store, value)
        await store.rebuild_rows()
        await check_present(store, value)
        later = await home.open(lead=False, upcasters={"oldName": upcasters})
        await check_present(later, value)
        await store.close()


async def test_who_only_reads_older_data_changes_nothing(home: Harness) -> None:
    await written(home, happened("oldName", old="r1"))
    reader = await home.open(lead=False, upcasters={"oldName": (renamed,)})
    assert await reader.count("run") == 1
    with pytest.raises(NotLeadingError, match="for reading only"):
        await reader.rebuild_rows()
    await reader.close()
    as_before = await home.open(lead=False)
    assert [event.kind for event in await as_before.events()] == ["oldName"]
    assert (await as_before.count("run"), await as_before.snapshot("run:r1")) == (0, (1, {"at": 1}))


async def test_each_event_is_changed_from_the_version_it_was_written_in(home: Harness) -> None:
    def grown(event: Event) -> Event:
        return replace(event, data={**event.data, "grown": event.data.get("grown", 0) + 1})

    for version in range(3):
        await written(home, happened("noted", version=version), happened(), upcasters={"noted": (grown,) * version})
    store = await home.open(upcasters={"noted": (grown,) * 2})
    await store.append([happened("noted", version=2)])
    found = [event.data for event in await store.events(only=EventFilter(frozenset({"noted"})))]
    assert [(data.get("version"), data.get("grown", 0)) for data in found if data] == [
        *[(0, 2), (None, 2)],
        *[(1, 1), (None, 1)],
        *[(2, 0)],
        *[(2, 0)],
    ]
    assert [json.loads(record.line)["data"] for record in await store.records()] == found


async def test_rows_are_made_anew_and_snapshots_dropped_when_the_data_changes(
    home: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(home, happened(n=1))

    def now_counted(event: Event) -> Iterable[Row]:
        yield Row("counted", event.kind, {"n": event.data["n"]})

    unchanged = await home.open(project=now_counted)
    assert (await unchanged.rows("counted"), await unchanged.snapshot("run:r1")) == ([], (1, {"at": 1}))
    await unchanged.close()
    monkeypatch.setattr(versions, "DATA_VERSION", versions.DATA_VERSION + 1)
    for lead in (False, True):
        store = await home.open(project=now_counted, lead=lead)
        assert (await store.rows("counted"), await store.snapshot("run:r1")) == ([{"n": 1}], None)
    await store.save_snapshot("run:r1", 1, {"again": 1})
    await store.close()
    assert await (await home.open(project=now_counted)).snapshot("run:r1") == (1, {"again": 1})


async def test_what_newer_code_wrote_is_refused_unless_nobody_reads_it(home: Harness) -> None:
    await written(home, happened("oldName", old="r1"), upcasters={"oldName": (renamed, told)})
    for lead in (True, False):
        with pytest.raises(UnavailableError, match=r"newer version, which this one cannot read \(oldName\)") as refused:
            await home.open(lead=lead, upcasters={"oldName": (renamed,)})
        assert refused.value.code == "store.too_new"
    without_the_craft = await home.open(upcasters={})
    assert await without_the_craft.last_seq() == 1


async def test_an_upcaster_that_fails_leaves_everything_as_it_was(home: Harness) -> None:
    await written(home, making(("a", {"n": 1}, "", True)), happened("oldName", old="r1"))

    def failing(event: Event) -> Event:
        raise LookupError("an upcaster with a mistake in it")

    for lead in (True, False):
        with pytest.raises(LookupError):
            await home.open(lead=lead, upcasters={"oldName": (failing,)})
    store = await home.open()
    assert (await store.rows("thing"), await store.snapshot("run:r1")) == ([{"n": 1}], (1, {"at": 1}))


# --- leading


async def test_one_leads_and_a_second_is_told_who_and_where(home: Harness) -> None:
    first = await home.open(url="http://127.0.0.1:8700", note="up")
    with pytest.raises(
        NotLeadingError, match=r"Process \d+ on \S+ leads .* at http://127.0.0.1:8700 since 2023-11-14T22"
    ):
        await home.open()
    with pytest.raises(NotLeadingError) as refused:
        await home.open()
    extra = refused.value.extra
    assert (extra["url"], extra["since"], extra["note"], extra["alive"]) == ("http://127.0.0.1:8700", NOON, "up", True)
    await first.append([happened()])
    await first.close()
    second = await home.open()
    leader = await second.leader()
    assert leader is not None
    assert leader.epoch == extra["epoch"] + 1


async def test_a_reader_reads_is_refused_to_write_and_knows_who_leads(home: Harness, store: Store) -> None:
    reader = await home.open(lead=False)
    await store.announce("http://here", "moved")
    await store.append([making(("a", {"n": 1}, "", True))])
    assert await reader.rows("thing") == [{"n": 1}]
    leader = await reader.leader()
    assert leader is not None
    assert (leader.url, leader.note, leader.alive) == ("http://here", "moved", True)
    with pytest.raises(NotLeadingError, match="http://here"):
        await reader.append([happened()])
    await store.close()
    gone = await reader.leader()
    assert gone is not None
    assert not gone.alive
    with pytest.raises(NotLeadingError, match="for reading only"):
        await reader.append([happened()])


WRITES: list[Callable[[Store], Awaitable[Any]]] = [
    lambda store: store.append([happened()]),
    lambda store: store.save_snapshot("run:r", 9, {}),
    lambda store: store.rebuild_rows(),
    lambda store: store.announce("http://late"),
]


async def test_who_lost_the_lead_can_never_write_again(home: Harness, store: Store) -> None:
    await store.append([making(("a", {"n": 1}, "", True))])
    home.take_lead_away()
    for write in WRITES:
        with pytest.raises(NotLeadingError, match=r"Process 4711 .*http://usurper"):
            await write(store)
    assert (await store.last_seq(), await store.rows("thing"), await store.snapshot("run:r")) == (1, [{"n": 1}], None)
    leader = await store.leader()
    assert leader is not None
    assert leader.url == "http://usurper"


async def test_readers_never_see_half_an_append_nor_a_gap(home: Harness, store: Store) -> None:
    reader = await home.open(lead=False)
    writing = asyncio.gather(*(store.append([happened(n=n), happened(n=n)]) for n in range(300)))
    seen, looks = 0, 0
    while not writing.done() or seen < 600:
        found = [record.seq for record in await reader.records(seen)]
        assert found == list(range(seen + 1, seen + 1 + len(found)))
        seen += len(found)
        assert seen % 2 == 0
        looks += 1
    await writing
    assert (seen, await reader.last_seq()) == (600, 600)
    assert looks
