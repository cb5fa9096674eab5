"""The drivers at work: one per owner, and a bug in one is asked about and stops nobody else."""

import asyncio
from typing import Any

from beforehand.loop.drivers import Driven, Drivers
from beforehand.model.errors import NotLeadingError
from beforehand.ports.tracing import correlation_id
from beforehand.testing import MemoryStore, VirtualClock

RUN = Driven("run:r1", "The run r1", {"runId": "r1"}, "hall", "c1")


async def fail_with(error: Exception) -> None:
    raise error


async def test_a_bug_becomes_a_decision_of_its_own_with_what_a_person_needs() -> None:
    store, clock = MemoryStore(), VirtualClock()
    drivers, ended = Drivers(store, clock), asyncio.Event()
    await drivers.start(RUN, fail_with(ValueError("seven")), ended=ended.set)
    assert ended.is_set()
    assert drivers.work == {}
    [opened] = store.log
    assert (opened.kind, opened.scene, opened.correlation_id) == ("decisionOpened", "hall", "c1")
    assert opened.owner == "bug:run:r1"
    assert opened.ts == clock.now_ms()
    decision = opened.data
    assert opened.about == {"runId": "r1", "decisionId": decision["id"]}
    assert decision["id"] == "r1-bug-0"
    assert decision["owner"] == "bug:run:r1"
    assert decision["status"] == "open"
    assert decision["about"] == {"runId": "r1", "scene": "hall"}
    assert decision["evidence"] == {"error": "ValueError: seven", "afterSeq": 0}
    assert list(decision["verbs"]) == list(decision["effects"]) == ["restart", "leave"]
    assert "The run r1" in decision["title"]


async def test_what_belongs_to_no_scene_is_asked_about_without_one() -> None:
    store = MemoryStore()
    await Drivers(store, VirtualClock()).start(Driven("question:q1", "A question", {}), fail_with(KeyError("x")))
    assert store.log[0].data["about"] == {}


async def test_a_driver_that_lost_the_lead_asks_nobody() -> None:
    store, ended = MemoryStore(), asyncio.Event()
    drivers = Drivers(store, VirtualClock())
    await drivers.start(RUN, fail_with(NotLeadingError("Another process leads.")), ended=ended.set)
    assert store.log == []
    assert ended.is_set()


async def test_a_bug_that_cannot_be_written_down_stops_only_its_driver() -> None:
    store = MemoryStore()
    store.break_down()
    drivers = Drivers(store, VirtualClock())
    await drivers.start(RUN, fail_with(ValueError("seven")))
    assert drivers.work == {}


async def test_those_whose_owner_begins_alike_are_stopped_and_no_others() -> None:
    drivers, ended = Drivers(MemoryStore(), VirtualClock()), []
    for owner in ("run:r1", "run:r2", "fleet:hall"):
        driven = Driven(owner, owner, {})
        drivers.start(driven, asyncio.Event().wait(), ended=lambda owner=owner: ended.append(owner))  # type: ignore[arg-type, misc]
    await asyncio.sleep(0)
    await drivers.stop("run:")
    assert sorted(ended) == ["run:r1", "run:r2"]
    assert list(drivers.work) == ["fleet:hall"]
    await drivers.wait("run:r1")  # there is none: at once
    await drivers.wait("fleet:hall", timeout_s=0)
    assert list(drivers.work) == ["fleet:hall"]
    await drivers.stop()
    await drivers.wait("fleet:hall")
    assert drivers.work == {}


async def test_a_driver_that_was_started_anew_is_not_forgotten_when_the_old_one_ends() -> None:
    drivers, go_on = Drivers(MemoryStore(), VirtualClock()), asyncio.Event()
    old = drivers.start(RUN, go_on.wait())  # type: ignore[arg-type]
    new = drivers.start(RUN, asyncio.Event().wait())  # type: ignore[arg-type]
    go_on.set()
    await old
    assert drivers.work == {"run:r1": new}
    await drivers.stop()


async def test_what_a_driver_does_is_told_with_its_correlation() -> None:
    seen: list[Any] = []

    async def look() -> None:
        seen.append(correlation_id())

    await Drivers(MemoryStore(), VirtualClock()).start(RUN, look())
    assert seen == ["c1"]
