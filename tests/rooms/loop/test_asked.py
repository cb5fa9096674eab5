"""A write that somebody asks for: done once by its key, and not at all after its deadline."""

import asyncio
from typing import Any

import pytest

from beforehand.loop.asked import Asked, asked_here, asked_store, asking
from beforehand.model.errors import ExpiredError, UnavailableError
from beforehand.model.event import Event
from beforehand.testing import MemoryStore, VirtualClock


def event(name: str) -> Event:
    return Event("thing", {"thingId": name}, {}, ts=0)


def keys(store: MemoryStore) -> list[tuple[Any, Any]]:
    """The key that each event in the log carries, and the hash of what was asked for."""
    return [(event.about.get("requestId"), event.about.get("requestHash")) for event in store.log]


async def test_the_key_is_written_once_with_the_first_of_the_events() -> None:
    log, clock = MemoryStore(), VirtualClock()
    store, asked = asked_store(log, clock), Asked("k1", "what it says")
    with asking(asked):
        assert await store.append([]) == []
        assert not asked.kept, "nothing is in the log yet"
        done = await store.append([event("a"), event("b")])
        await store.append([event("c")])
    await store.append([event("d")])
    assert [one.seq for one in done] == [1, 2]
    assert keys(log) == [("k1", "what it says"), (None, None), (None, None), (None, None)]
    assert log.log[0].about["thingId"] == "a"


async def test_a_write_without_a_key_leaves_events_as_they_are() -> None:
    log = MemoryStore()
    with asking(Asked()):
        await asked_store(log, VirtualClock()).append([event("a")])
    assert keys(log) == [(None, None)]


async def test_the_key_is_not_taken_as_written_when_the_log_did_not_take_it() -> None:
    log = MemoryStore()
    store, asked = asked_store(log, VirtualClock()), Asked("k1", "h")
    log.break_down()
    with asking(asked), pytest.raises(UnavailableError):
        await store.append([event("a")])
    assert not asked.kept
    log.mend()
    with asking(asked):
        await store.append([event("a")])
    assert keys(log) == [("k1", "h")]


async def test_nothing_is_done_after_the_deadline_and_it_says_how_late_it_was() -> None:
    log, clock = MemoryStore(), VirtualClock(start_ms=1_000)
    store = asked_store(log, clock)
    with asking(Asked("in time", deadline_ms=1_000)):
        await store.append([event("a")])
    clock.hold_up(0.25)
    with asking(Asked("late", deadline_ms=1_000)), pytest.raises(ExpiredError, match="250 ms past") as caught:
        await store.append([event("b")])
    assert caught.value.extra == {"now": 1_250}
    assert [one.about["thingId"] for one in log.log] == ["a"]


async def test_what_was_decided_in_time_is_finished_even_when_that_takes_longer() -> None:
    log, clock = MemoryStore(), VirtualClock(start_ms=1_000)
    store = asked_store(log, clock)
    with asking(Asked("k1", deadline_ms=1_000)):
        await store.append([event("a")])
        clock.hold_up(1)
        await store.append([event("b")])
    assert len(log.log) == 2


async def test_to_come_in_time_is_not_yet_to_be_decided_in_time() -> None:
    asked = Asked("k1", deadline_ms=1_000)
    asked.decide_by(1_000)
    with pytest.raises(ExpiredError):
        asked.decide(1_001)
    with pytest.raises(ExpiredError):
        Asked("k2", deadline_ms=1_000).decide_by(1_001)


async def test_what_was_set_going_beside_is_not_part_of_the_write() -> None:
    log, clock = MemoryStore(), VirtualClock()
    store = asked_store(log, clock)
    with asking(Asked("k1", "h")):
        assert asked_here() is not None
        await asyncio.create_task(store.append([event("beside")]))
        await store.append([event("itself")])
    assert asked_here() is None
    assert keys(log) == [(None, None), ("k1", "h")]
