from collections.abc import Iterable
from typing import Any

import pytest
from pydantic_core import to_json

from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.event import Event
from beforehand.ports.store import EventFilter, Record, Row, Store
from beforehand.testing import MemoryStore


def project(event: Event) -> Iterable[Row]:
    for id, body, parent, is_open in event.data.get("rows", ()):
        yield Row("thing", id, body, parent, is_open)


def making(*rows: tuple[str, Any, str, bool]) -> Event:
    return Event("made", {"runId": "r"}, {"rows": [list(row) for row in rows]}, 5, owner="run:r")


async def test_events_are_numbered_and_read_back_as_json_gives_them() -> None:
    store: Store = MemoryStore()
    (first, second) = await store.append(
        [Event("a", {"runId": "r", "taskId": 7}, {"x": (1, 2)}, 5, "dock"), Event("b", {}, {}, 6)]
    )
    assert (first.seq, second.seq, await store.last_seq()) == (1, 2, 2)
    assert (await store.events())[0].data == {"x": [1, 2]}
    (record,) = await store.records(limit=1)
    assert record == Record(1, "a", "dock", "", "r", "7", to_json((await store.events())[0].wire()))
    assert [event.kind for event in await store.events(after=1)] == ["b"]
    assert [event.kind for event in await store.events(only=EventFilter(kinds=frozenset({"b"})))] == ["b"]


async def test_rows_are_written_with_their_events_and_can_be_rebuilt() -> None:
    store = MemoryStore(project)
    await store.append([making(("x", {"n": 1}, "p", True), ("y", {"n": 2}, "", False))])
    await store.append([making(("x", {"n": 3}, "p", False), ("z", {"n": 4}, "p", True), ("y", None, "", False))])
    assert await store.row("thing", "x") == {"n": 3}
    assert await store.row("thing", "y") is None
    assert await store.rows("thing", parent="p", newest_first=True) == [{"n": 4}, {"n": 3}]
    assert await store.rows("thing", open=True, limit=1) == [{"n": 4}]
    assert (await store.count("thing"), await store.count("thing", open=False)) == (2, 1)
    before = await store.rows("thing")
    await store.rebuild_rows()
    assert await store.rows("thing") == before


async def test_what_json_cannot_hold_is_refused_and_nothing_is_written() -> None:
    store = MemoryStore()
    for value in ("\ud800", object(), float("nan")):
        with pytest.raises(BadInputError):
            await store.append([Event("a", {}, {"x": value}, 5)])
    assert await store.last_seq() == 0


async def test_it_breaks_down_and_is_mended_and_tells_its_listeners() -> None:
    store, told = MemoryStore(), []
    take_off = store.on_commit(lambda records: told.extend(record.seq for record in records))
    store.break_down()
    with pytest.raises(UnavailableError):
        await store.append([Event("a", {}, {}, 5)])
    store.mend()
    await store.append([Event("a", {}, {}, 5)])
    take_off()
    await store.append([Event("a", {}, {}, 5)])
    assert told == [1]
    await store.close()
    with pytest.raises(UnavailableError):
        await store.append([Event("a", {}, {}, 5)])


async def test_snapshots_and_the_leader_are_kept() -> None:
    store = MemoryStore()
    await store.save_snapshot("run:r", 3, {"a": 1})
    assert await store.snapshot("run:r") == (3, {"a": 1})
    assert await store.snapshot("nobody") is None
    await store.announce("http://here", "note")
    leader = await store.leader()
    assert leader is not None
    assert (leader.url, leader.alive) == ("http://here", True)
