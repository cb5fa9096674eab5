"""The drivers at work: one per owner, and a bug in one is asked about and stops nobody else."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from beforehand.loop import nursery as nursery_module
from beforehand.loop.nursery import Nursery
from beforehand.loop.rows import projection
from beforehand.model.errors import NotLeadingError
from beforehand.ports import tasks
from beforehand.ports.tasks import TaskOwner, Watched, lasting, stop
from beforehand.ports.tracing import correlation_id
from beforehand.testing import MemoryStore, VirtualClock

RUN = TaskOwner("run:r1", "The run r1", {"runId": "r1"}, "hall", "c1")


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110  the log has no event for "has come to"
            await asyncio.sleep(0)


async def fail_with(error: Exception) -> None:
    raise error


async def test_a_bug_becomes_a_decision_of_its_own_with_what_a_person_needs() -> None:
    store, clock = MemoryStore(), VirtualClock()
    drivers, ended = Nursery(store, clock), asyncio.Event()
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
    await Nursery(store, VirtualClock()).start(TaskOwner("question:q1", "A question", {}), fail_with(KeyError("x")))
    assert store.log[0].data["about"] == {}


async def test_a_driver_that_lost_the_lead_asks_nobody() -> None:
    store, ended = MemoryStore(), asyncio.Event()
    drivers = Nursery(store, VirtualClock())
    await drivers.start(RUN, fail_with(NotLeadingError("Another process leads.")), ended=ended.set)
    assert store.log == []
    assert ended.is_set()


async def test_a_bug_that_cannot_be_written_down_stops_only_its_driver() -> None:
    store = MemoryStore()
    store.break_down()
    drivers = Nursery(store, VirtualClock())
    await drivers.start(RUN, fail_with(ValueError("seven")))
    assert drivers.work == {}


async def test_those_whose_owner_begins_alike_are_stopped_and_no_others() -> None:
    drivers, ended = Nursery(MemoryStore(), VirtualClock()), []
    for owner in ("run:r1", "run:r2", "fleet:hall"):
        driven = TaskOwner(owner, owner, {})
        drivers.start(driven, asyncio.Event().wait(), ended=lambda owner=owner: ended.append(owner))  # type: ignore[arg-type, misc]
    await asyncio.sleep(0)
    await drivers.stop("run:r1", "run:r2")
    assert sorted(ended) == ["run:r1", "run:r2"]
    assert list(drivers.work) == ["fleet:hall"]
    await drivers.wait("run:r1")  # there is none: at once
    await drivers.wait("fleet:hall", timeout_s=0)
    assert list(drivers.work) == ["fleet:hall"]
    await drivers.stop()
    await drivers.wait("fleet:hall")
    assert drivers.work == {}


async def test_a_driver_that_was_started_anew_is_not_forgotten_when_the_old_one_ends() -> None:
    drivers, go_on = Nursery(MemoryStore(), VirtualClock()), asyncio.Event()
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

    await Nursery(MemoryStore(), VirtualClock()).start(RUN, look())
    assert seen == ["c1"]


async def test_a_task_that_breaks_off_is_asked_about_once_and_settled_when_it_is_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "FIRST_PAUSE_S", 0.0)
    store, failing = MemoryStore(projection()), [True]
    nursery = Nursery(store, VirtualClock())
    nursery.open()

    async def work() -> None:
        if failing:
            raise ValueError("seven")
        await asyncio.Event().wait()

    task = lasting(work, "the line to the broker", TaskOwner("fleet:hall", "The fleet hall", scene="hall"))
    [entry] = [one for one in tasks.register if one.task is task]
    await until(lambda: entry.failures >= 3 and bool(store.log))
    [opened] = store.log
    assert (opened.kind, opened.owner, opened.scene) == ("decisionOpened", "bug:task:fleet:hall", "hall")
    assert opened.data["title"] == "The fleet hall: the line to the broker broke off on an error"
    assert opened.data["evidence"]["error"] == "ValueError: seven"
    assert opened.data["verbs"] == ["leave"]
    failing.clear()
    nursery.well(entry)
    await until(lambda: len(store.log) >= 2)
    assert (store.log[1].kind, store.log[1].data["why"]) == ("decisionWithdrawn", "It has worked again for a while.")
    await stop([task])
    await nursery.close()


async def test_a_new_leader_settles_what_the_last_one_told_of_its_tasks() -> None:
    store = MemoryStore(projection())
    old = Nursery(store, VirtualClock())
    old.failed(Watched("the line", RUN, lasts=True, error="ValueError: seven"))
    await Nursery(store, VirtualClock()).start(RUN, fail_with(KeyError("x")))
    await until(lambda: len(store.log) >= 2)
    nursery = Nursery(store, VirtualClock())
    await nursery.begin()
    await until(lambda: len(store.log) >= 3)
    assert store.log[2].data["why"] == "The server was started again."
    assert list(nursery.stopped) == ["run:r1"]


async def test_a_bug_while_the_log_is_away_is_told_when_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nursery_module, "AGAIN_S", 0.0)
    store = MemoryStore()
    store.break_down()
    nursery = Nursery(store, VirtualClock())
    await nursery.start(RUN, fail_with(ValueError("seven")))
    assert store.log == []
    store.mend()
    await until(lambda: bool(store.log))
    assert store.log[0].owner == "bug:run:r1"
    await nursery.close()


async def test_code_that_ends_the_process_stops_its_driver_only() -> None:
    store = MemoryStore()
    await Nursery(store, VirtualClock()).start(RUN, fail_with(SystemExit(0)))  # type: ignore[arg-type]
    assert store.log[0].data["evidence"]["error"] == "SystemExit: 0"
