"""Every search keeps the promises of its port: tables over a log in a file or in memory, and a server over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import serving

from beforehand.adapters.search.embedded import EmbeddedSearch
from beforehand.adapters.search.remote import RemoteSearch
from beforehand.adapters.sqlite.store import SqliteStore
from beforehand.app.crafts import load_crafts
from beforehand.app.search import searched
from beforehand.model.errors import NotFoundError, UnavailableError
from beforehand.model.event import Event
from beforehand.model.fleet import Task
from beforehand.model.records import wire_of
from beforehand.ports.search import Search, SearchError, SearchTimeError
from beforehand.testing import MemoryStore

CRAFTS = load_crafts(built_in_only=True)
HOUR = 3_600_000
DAY = 24 * HOUR
T0 = 1_793_664_000_000
"""2026-11-03, midnight."""
NOW = T0 + 2 * DAY + 12 * HOUR


def task(
    number: int, at: int, robot: str, stream: str | None, took: int | None, error: str | None = None
) -> list[Event]:
    made = Task(f"hall-t{number}", stream, f"P{number % 2}", "D0", robot_id=robot, created_ts_ms=at)
    events = [Event("taskCreated", {"taskId": made.task_id}, wire_of(made), at, "hall")]
    if took is not None:
        ended = {"endedTsMs": at + took, "status": "failed" if error else "completed", "sentTsMs": at + 1000}
        told = wire_of(made) | ended | ({"error": error, "errorCode": "pick.empty"} if error else {})
        events.append(Event("taskUpdated", {"taskId": made.task_id}, told, at + took, "hall"))
    return events


EVENTS = [
    *task(1, T0 + 1 * HOUR, "RB-01", "in", 60_000),
    *task(2, T0 + 2 * HOUR, "RB-01", "in", 120_000, "There was no pallet to pick."),
    *task(3, T0 + DAY + 1 * HOUR, "RB-02", "out", 30_000),
    *task(4, T0 + DAY + 3 * HOUR, "RB-02", None, 90_000, "The pallet slipped."),
    *task(5, T0 + 2 * DAY + 1 * HOUR, "RB-[3]", "out", None),
]


@pytest.fixture(params=["file", "memory", "remote"])
async def search(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Search]:
    async with AsyncExitStack() as stack:
        made: Search
        if request.param == "remote":
            server = await stack.enter_async_context(serving(tmp_path))
            await server.runtime.store.append(EVENTS)
            server.runtime.search = EmbeddedSearch(server.runtime.store, searched(CRAFTS), now_ms=lambda: NOW)
            made = RemoteSearch(f"{server.url}/api/v1/search/", now_ms=lambda: NOW)
        else:
            store: Any = (
                MemoryStore(CRAFTS.projection())
                if request.param == "memory"
                else await SqliteStore.open(tmp_path / "log.db", project=CRAFTS.projection(), now_ms=lambda: NOW)
            )
            stack.push_async_callback(store.close)
            await store.append(EVENTS)
            path = None if request.param == "memory" else tmp_path / "log.db.search"
            made = EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=path)
        stack.push_async_callback(made.close)
        yield made


async def ids(search: Search, query: dict[str, Any], **more: Any) -> list[str]:
    found = await search.search("tasks", {"query": query, "sort": ["createdAt"], **more})
    return [hit.id.removeprefix("hall/hall-") for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"match_all": {}}, "t1 t2 t3 t4 t5"),
        ({"match_none": {}}, ""),
        ({"term": {"robotId": "RB-01"}}, "t1 t2"),
        ({"term": {"robotId": {"value": "rb-01", "case_insensitive": True}}}, "t1 t2"),
        ({"term": {"robotId": "rb-01"}}, ""),
        ({"terms": {"status": ["failed", "created"]}}, "t2 t4 t5"),
        ({"terms": {"status": []}}, ""),
        ({"exists": {"field": "streamId"}}, "t1 t2 t3 t5"),
        ({"ids": {"values": ["hall/hall-t3"]}}, "t3"),
        ({"prefix": {"taskId": "hall-t"}}, "t1 t2 t3 t4 t5"),
        ({"prefix": {"robotId": "RB-["}}, "t5"),
        ({"wildcard": {"robotId": "RB-0?"}}, "t1 t2 t3 t4"),
        ({"wildcard": {"robotId": {"value": "*[3]"}}}, "t5"),
        ({"match": {"error": "PALLET"}}, "t2 t4"),
        ({"match": {"error": {"query": "pallet slipped", "operator": "and"}}}, "t4"),
        ({"match_phrase": {"error": "no pallet"}}, "t2"),
        ({"range": {"durationS": {"gt": 60, "lte": 120}}}, "t2 t4"),
        ({"range": {"createdAt": {"gte": "now-1d/d", "lt": "now/d"}}}, "t3 t4"),
        ({"range": {"createdAt": {"gte": "2026-11-03", "lte": "2026-11-03"}}}, "t1 t2"),
        ({"range": {"createdAt": {"gt": "2026-11-03||/d"}}}, "t3 t4 t5"),
        ({"range": {"createdAt": {"gte": "2026-11-04T01:00:00Z", "lt": "2026-11-04T02:00:00+01:00"}}}, ""),
        ({"bool": {"must_not": {"term": {"streamId": "in"}}}}, "t3 t4 t5"),
        ({"bool": {"should": [{"term": {"streamId": "in"}}, {"term": {"status": "failed"}}]}}, "t1 t2 t4"),
        (
            {
                "bool": {
                    "should": [{"term": {"streamId": "in"}}, {"term": {"status": "failed"}}],
                    "minimum_should_match": 2,
                }
            },
            "t2",
        ),
        ({"bool": {"must": [{"term": {"status": "failed"}}], "filter": {"term": {"robotId": "RB-02"}}}}, "t4"),
        ({"bool": {"must": {"term": {"streamId": "in"}}, "should": [{"term": {"status": "failed"}}]}}, "t1 t2"),
    ],
    ids=str,
)
async def test_a_query_finds(search: Search, query: dict[str, Any], expected: str) -> None:
    assert await ids(search, query) == expected.split()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"query": {"term": {"robotID": "x"}}}, "robotId"),
        ({"query": {"trem": {"robotId": "x"}}}, "term"),
        ({"query": {"term": {"robotId": "x"}, "match_all": {}}}, "exactly one"),
        ({"query": {"term": {"robotId": {"value": "x", "boost": 2}}}}, "boost"),
        ({"query": {"range": {"error": {"gt": "a"}}}}, "text"),
        ({"query": {"range": {"createdAt": {"gt": "next tuesday"}}}}, "not a date"),
        ({"query": {"range": {"createdAt": {"gt": "now", "time_zone": "+02:00"}}}}, "UTC"),
        ({"query": {"term": {"durationS": "long"}}}, "number"),
        ({"query": {"bool": {"musn't": []}}}, "must_not"),
        ({"queri": {}}, "query"),
        ({"size": -1}, "size"),
        ({"from": 9_999, "size": 10}, "10000"),
        ({"sort": ["creatd"]}, "createdAt"),
        ({"sort": ["error"]}, "text"),
        ({"_source": ["robots"]}, "robotId"),
        ({"aggs": {"a": {"terms": {"field": "robots"}}}}, "robotId"),
        ({"aggs": {"a": {"termz": {"field": "robotId"}}}}, "terms"),
        ({"aggs": {"a": {"avg": {"field": "robotId"}}}}, "number"),
        ({"aggs": {"a": {"terms": {"field": "error"}}}}, "text"),
        ({"aggs": {"a": {"date_histogram": {"field": "createdAt"}}}}, "calendar_interval"),
        ({"aggs": {"a": {"date_histogram": {"field": "createdAt", "calendar_interval": "moon"}}}}, "month"),
        ({"aggs": {"a": {"terms": {"field": "robotId", "order": {"nothing": "asc"}}}}}, "_count"),
    ],
    ids=str,
)
async def test_what_is_wrong_is_an_error_and_never_zero_hits(search: Search, body: dict[str, Any], says: str) -> None:
    with pytest.raises(SearchError) as refused:
        await search.search("tasks", body)
    assert says in f"{refused.value.says} {refused.value.hint}"
    with pytest.raises(SearchError):
        await search.check("tasks", body)


async def test_an_unknown_index_is_told_with_those_there_are(search: Search) -> None:
    for call in (search.search("taskz", {}), search.fields("taskz"), search.check("taskz", {})):
        with pytest.raises(NotFoundError, match="tasks"):
            await call
    assert {"events", "tasks", "runs", "steps", "decisions", "sessions"} <= set(await search.names())


async def test_fields_have_types_and_words(search: Search) -> None:
    fields = {one.name: one for one in await search.fields("tasks")}
    assert (fields["createdAt"].type, fields["waitS"].unit, fields["error"].type) == ("date", "s", "text")
    assert all(one.says for one in fields.values())


async def test_pages_and_sources(search: Search) -> None:
    everything = {"match_all": {}}
    assert await ids(search, everything, size=2) == ["t1", "t2"]
    assert await ids(search, everything, size=2, **{"from": 4}) == ["t5"]
    assert await ids(search, everything, size=2, search_after=[T0 + 2 * HOUR]) == ["t3", "t4"]
    found = await search.search(
        "tasks", {"size": 1, "sort": [{"durationS": "desc"}], "_source": ["task*", "createdAt"]}
    )
    assert found.total == 5
    assert found.hits[0].source == {"taskId": "hall-t2", "createdAt": "2026-11-03T02:00:00.000Z"}
    assert found.hits[0].sort == (120.0,)
    assert (await search.search("tasks", {"_source": False, "size": 1})).hits[0].source is None
    last = await search.search("tasks", {"sort": [{"durationS": "asc"}]})
    assert last.hits[-1].sort == (None,)


async def test_aggregations(search: Search) -> None:
    found = await search.search(
        "tasks",
        {
            "size": 0,
            "aggs": {
                "robots": {
                    "terms": {"field": "robotId", "size": 2, "order": {"took": "desc"}},
                    "aggs": {
                        "took": {"avg": {"field": "durationS"}},
                        "days": {"date_histogram": {"field": "createdAt", "calendar_interval": "day"}},
                        "first": {"top_hits": {"size": 1, "sort": ["createdAt"], "_source": ["taskId"]}},
                    },
                },
                "hours": {"date_histogram": {"field": "createdAt", "fixed_interval": "12h"}},
                "failed": {
                    "filter": {"term": {"status": "failed"}},
                    "aggs": {"n": {"cardinality": {"field": "robotId"}}},
                },
                "parts": {"filters": {"filters": {"a": {"term": {"streamId": "in"}}, "b": {"match_all": {}}}}},
                "none": {"missing": {"field": "streamId"}},
                "p": {"percentiles": {"field": "durationS", "percents": [50]}},
                "s": {"stats": {"field": "durationS"}},
                "last": {"max": {"field": "createdAt"}},
                "v": {"value_count": {"field": "durationS"}},
            },
        },
    )
    got = found.aggregations
    robots = got["robots"]
    assert [(one["key"], one["doc_count"], one["took"]["value"]) for one in robots["buckets"]] == [
        ("RB-01", 2, 90.0),
        ("RB-02", 2, 60.0),
    ]
    assert robots["sum_other_doc_count"] == 1
    assert [one["doc_count"] for one in robots["buckets"][1]["days"]["buckets"]] == [2]
    assert robots["buckets"][1]["first"]["hits"]["hits"][0]["_source"] == {"taskId": "hall-t3"}
    assert [one["doc_count"] for one in got["hours"]["buckets"]] == [2, 0, 2, 0, 1]
    assert got["hours"]["buckets"][1]["key_as_string"] == "2026-11-03T12:00:00.000Z"
    assert (got["failed"]["doc_count"], got["failed"]["n"]["value"]) == (2, 2)
    assert {name: one["doc_count"] for name, one in got["parts"]["buckets"].items()} == {"a": 2, "b": 5}
    assert got["none"]["doc_count"] == 1
    assert got["p"]["values"] == {"50.0": 75.0}
    assert got["s"] == {"count": 4, "min": 30.0, "max": 120.0, "avg": 75.0, "sum": 300.0}
    assert got["last"]["value_as_string"] == "2026-11-05T01:00:00.000Z"
    assert got["v"]["value"] == 4


@pytest.mark.parametrize(
    ("interval", "starts"),
    [
        ("week", ["2026-11-02"]),
        ("month", ["2026-11-01"]),
        ("quarter", ["2026-10-01"]),
        ("year", ["2026-01-01"]),
        ("day", ["2026-11-03", "2026-11-04", "2026-11-05"]),
    ],
)
async def test_calendar_intervals_begin_where_people_say(search: Search, interval: str, starts: list[str]) -> None:
    how = {"field": "createdAt", "calendar_interval": interval}
    found = await search.search("tasks", {"size": 0, "aggs": {"a": {"date_histogram": how}}})
    assert [one["key_as_string"][:10] for one in found.aggregations["a"]["buckets"]] == starts


async def test_too_many_buckets_are_refused(search: Search) -> None:
    how = {"field": "createdAt", "fixed_interval": "1s"}
    with pytest.raises(SearchError, match="buckets"):
        await search.search("tasks", {"size": 0, "aggs": {"a": {"date_histogram": how}}})


async def test_a_search_that_takes_too_long_is_broken_off(search: Search) -> None:
    with pytest.raises(SearchTimeError, match="longer than 0 s"):
        await search.search("tasks", {"timeout": "0ms"})
    assert (await search.search("tasks", {"size": 0})).total == 5


async def test_nobody_there(tmp_path: Path) -> None:
    nobody = RemoteSearch("http://127.0.0.1:9", now_ms=lambda: NOW)
    with pytest.raises(UnavailableError, match="does not answer"):
        await nobody.search("tasks", {})
    await nobody.close()


async def opened(tmp_path: Path, log: str) -> tuple[SqliteStore, EmbeddedSearch]:
    store = await SqliteStore.open(tmp_path / log, project=CRAFTS.projection(), now_ms=lambda: NOW)
    return store, EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=tmp_path / "search")


async def test_tables_go_on_where_they_ended_and_belong_to_one_log(tmp_path: Path) -> None:
    store, search = await opened(tmp_path, "a.db")
    await store.append(EVENTS[:4])
    assert (await search.search("events", {"size": 0})).total == 4
    await search.close()
    await store.append(EVENTS[4:])
    await store.close()
    store, search = await opened(tmp_path, "a.db")
    assert (await search.search("events", {"size": 0})).total == len(EVENTS)
    await search.close()
    await store.close()
    store, search = await opened(tmp_path, "b.db")
    await store.append(EVENTS[2:])
    assert (await search.search("tasks", {"size": 0})).total == 4
    await search.close()
    await store.close()


async def test_damaged_tables_are_made_anew_and_are_the_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "search").write_bytes(b"not a database" * 100)
    store, search = await opened(tmp_path, "a.db")
    await store.append(EVENTS)
    assert (await search.search("tasks", {"size": 0})).total == 5
    assert (tmp_path / "search").stat().st_mode & 0o077 == 0
    await search.close()
    with pytest.raises(UnavailableError, match="closed"):
        await search.search("tasks", {})
    await store.close()


async def test_two_processes_may_read_the_log_into_the_same_tables(tmp_path: Path) -> None:
    store, one = await opened(tmp_path, "a.db")
    other = EmbeddedSearch(store, searched(CRAFTS), now_ms=lambda: NOW, path=tmp_path / "search")
    for number in range(3):
        await store.append(EVENTS[3 * number : 3 * number + 3])
        for search in (one, other) if number % 2 else (other, one):
            assert (await search.search("events", {"size": 0})).total == await store.last_seq()
    await one.close()
    await other.close()
    await store.close()


async def test_many_search_at_once_while_the_log_grows(tmp_path: Path) -> None:
    """Each begins at another place of the log, so that one reading ends while the next is under way."""
    store, search = await opened(tmp_path, "a.db")
    asked = []
    for event in EVENTS * 4:
        await store.append([event])
        asked.append(asyncio.create_task(search.search("events", {"size": 0})))
        await asyncio.sleep(0)
    totals = [found.total for found in await asyncio.gather(*asked)]
    assert all(total >= number for number, total in enumerate(totals, 1))
    await search.close()
    await store.close()


async def test_the_values_of_listed_fields_are_told(search: Search) -> None:
    found = await search.values("tasks", ("robotId", "streamId"), 10)
    assert {name: sorted(values) for name, values in found.items()} == {
        "robotId": ["RB-01", "RB-02", "RB-[3]"],
        "streamId": ["in", "out"],
    }
    assert len((await search.values("tasks", ("robotId",), 2))["robotId"]) == 2
