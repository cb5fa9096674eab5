"""The one loop: inputs in, one decision at a time, made durable, and only then carried out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from beforehand.loop import loop as loop_module
from beforehand.loop.asked import Asked, asking
from beforehand.loop.loop import STORE_RETRY_MS, Loop
from beforehand.model.errors import BugError, ExpiredError, NotLeadingError, UnavailableError
from beforehand.model.event import Event, Verdict
from beforehand.testing import MemoryStore, VirtualClock


class Counted(MemoryStore):
    """A store that says how often snapshots were kept, and may refuse them."""

    refuses: Exception | None = None

    def __init__(self) -> None:
        super().__init__()
        self.snapshots: list[tuple[str, int, Mapping[str, Any]]] = []

    async def save_snapshot(self, owner: str, seq: int, body: Mapping[str, Any]) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.snapshots.append((owner, seq, dict(body)))


@dataclass
class Counter:
    """Adds up what it is handed; every sum is an event and a command. A word changes nothing, and "bug" is one."""

    store: Counted = field(default_factory=Counted)
    clock: VirtualClock = field(default_factory=VirtualClock)
    total: int = 0
    done: list[int] = field(default_factory=list)
    over: bool = False
    snapshot: Callable[[], Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        self.loop: Loop[int | str, int] = Loop(
            "counter:c",
            self.store,
            self.clock,
            decide=self.decide,
            carry_out=self.done.append,
            gone=lambda: UnavailableError("The counter is gone."),
            snapshot=self.snapshot,
        )

    def decide(self, given: int | str) -> Verdict[int]:
        if given == "bug":
            raise ValueError("a bug")
        if isinstance(given, str):
            return Verdict()
        self.total += given
        event = Event("added", {"counterId": "c"}, {"total": self.total}, self.clock.now_ms(), owner="counter:c")
        return Verdict((event,), (self.total,))

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator["asyncio.Task[None]"]:
        task = asyncio.create_task(self.loop.run(lambda: self.over))
        await self.clock.settle()
        yield task
        task.cancel()
        await asyncio.wait([task])
        await self.loop.close()

    @property
    def totals(self) -> list[int]:
        return [event.data["total"] for event in self.store.log]


async def test_what_came_in_together_is_decided_in_order_and_written_at_once() -> None:
    counter = Counter()
    for number in (1, 2, 3):
        counter.loop.put(number)
    assert not counter.loop.is_empty
    async with counter.at_work():
        assert counter.loop.is_empty
        assert counter.done == counter.totals == [1, 3, 6]
        assert counter.store.appends == 1
        assert counter.loop.last_seq == 3
        counter.loop.put(4)
        await counter.clock.settle()
        assert counter.done[-1] == 10


async def test_nothing_is_carried_out_or_answered_while_the_log_cannot_be_written() -> None:
    counter = Counter()
    async with counter.at_work():
        counter.store.break_down()
        asked = asyncio.ensure_future(counter.loop.request(5))
        await counter.clock.settle()
        assert counter.total == 5
        assert not counter.done
        assert not asked.done()
        counter.store.mend()
        await counter.clock.advance(STORE_RETRY_MS / 1000)
        assert counter.done == counter.totals == [5]
        assert (await asked).commands == (5,)


async def test_whoever_asks_hears_the_verdict_also_when_nothing_came_of_it() -> None:
    counter = Counter()
    async with counter.at_work():
        assert (await counter.loop.request("hello")).events == ()
        assert counter.store.log == []


async def test_it_ends_when_all_is_decided_and_not_before() -> None:
    counter = Counter(over=True)
    counter.loop.put(1)
    await counter.loop.run(lambda: counter.over)
    assert counter.done == [1]
    counter.over = False
    async with counter.at_work() as working:
        counter.over = True
        await counter.clock.settle()
        assert not working.done(), "nobody has told it to look"
        counter.loop.wake()
        async with asyncio.timeout(10):
            await working


async def test_who_waits_for_something_goes_on_when_it_is_durable() -> None:
    counter = Counter()
    async with counter.at_work():
        await counter.loop.wait_until(lambda: True)
        ten = asyncio.ensure_future(counter.loop.wait_until(lambda: counter.total >= 10))
        three = asyncio.ensure_future(counter.loop.wait_until(lambda: counter.total >= 3))
        given_up = asyncio.ensure_future(counter.loop.wait_until(lambda: counter.total >= 3))
        await counter.clock.settle()
        given_up.cancel()
        counter.loop.put(3)
        await counter.clock.settle()
        assert three.done()
        assert not ten.done()
        counter.loop.put(7)
        await counter.clock.settle()
        assert ten.done()


async def test_closing_tells_everybody_who_waits_and_ends_what_goes_on_beside() -> None:
    counter, beside = Counter(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            beside.set()

    counter.loop.beside(work())
    asked = asyncio.ensure_future(counter.loop.request(1))
    watched = asyncio.ensure_future(counter.loop.wait_until(lambda: False))
    await counter.clock.settle()
    await counter.loop.close()
    assert beside.is_set()
    assert counter.loop.is_empty
    for waiting in (asked, watched, counter.loop.request(1), counter.loop.wait_until(lambda: False)):
        with pytest.raises(UnavailableError, match="is gone"):
            await waiting
    await counter.loop.wait_until(lambda: True)


async def test_a_bug_in_a_decision_leaves_nobody_waiting_and_writes_nothing() -> None:
    counter = Counter()
    first, second = (asyncio.ensure_future(counter.loop.request(given)) for given in (1, "bug"))
    await asyncio.sleep(0)
    with pytest.raises(ValueError, match="a bug"):
        await counter.loop.run(lambda: False)
    assert counter.store.log == []
    assert counter.done == []
    await counter.loop.close()
    with pytest.raises(UnavailableError):
        await first
    with pytest.raises(BugError, match=r"The counter c stopped on an error .* \(ValueError: a bug\)"):
        await second


async def test_a_write_is_marked_with_its_key_and_refused_when_it_is_decided_too_late() -> None:
    counter = Counter()
    async with counter.at_work():
        in_time = Asked("k1", "h", counter.clock.now_ms())
        with asking(in_time):
            await counter.loop.request("hello")
            assert not in_time.kept, "nothing of it is in the log"
            await counter.loop.request(1)
        assert in_time.kept
        assert counter.store.log[0].about == {"counterId": "c", "requestId": "k1", "requestHash": "h"}
        counter.clock.hold_up(1)
        with asking(Asked("k2", "h", counter.clock.now_ms() - 1)), pytest.raises(ExpiredError):
            await counter.loop.request(1)
        assert counter.total == 1
        assert (await counter.loop.request(1)).commands == (2,)
        assert "requestId" not in counter.store.log[1].about


async def test_the_state_is_kept_now_and_then_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "SNAPSHOT_EVERY", 3)
    counter = Counter(snapshot=lambda: {"total": counter.total})
    async with counter.at_work():
        for _ in range(5):
            await counter.loop.request(1)
        assert counter.store.snapshots == [("counter:c", 3, {"total": 3})]
    assert counter.store.snapshots[1:] == [("counter:c", 5, {"total": 5})]
    await counter.loop.close()
    assert len(counter.store.snapshots) == 2, "nothing has happened since"


@pytest.mark.parametrize("error", [UnavailableError("The disk is full."), NotLeadingError("Another process leads.")])
async def test_a_state_that_could_not_be_kept_is_kept_later(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    monkeypatch.setattr(loop_module, "SNAPSHOT_EVERY", 2)
    counter = Counter(snapshot=lambda: {"total": counter.total})
    async with counter.at_work():
        counter.store.refuses = error
        for _ in range(2):
            await counter.loop.request(1)
        counter.store.refuses = None
        await counter.loop.request(1)
        assert counter.store.snapshots == [("counter:c", 3, {"total": 3})]
