"""A brake goes first where the log keeps everybody waiting; its record follows in order, and nothing moves after it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from beforehand.loop import log_outage
from beforehand.loop import loop as loop_module
from beforehand.loop.asked import Asked, AskedStore, asked_store, asking
from beforehand.loop.edge import refuse_unled
from beforehand.loop.log_outage import LogOutage, noting_unrecorded
from beforehand.loop.loop import STORE_RETRY_MS, Loop
from beforehand.model.errors import Fault, NotLeadingError, UnavailableError
from beforehand.model.event import Event, Verdict
from beforehand.testing import MemoryStore, VirtualClock


class Hanging(MemoryStore):
    """A store that may say nothing, as a database does whose line broke during a commit."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()
        self.answers.set()
        self.left_s = float("inf")

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        await self.answers.wait()
        return await super().append(events)

    def lead_left_s(self) -> float:
        return self.left_s


@dataclass
class Crane:
    """`go` has it told to go, `stop` to stop; what it was told is in `told`, what was put off in `off`."""

    store: Hanging = field(default_factory=Hanging)
    clock: VirtualClock = field(default_factory=VirtualClock)
    told: list[str] = field(default_factory=list)
    off: list[str] = field(default_factory=list)
    stands: bool = False

    def __post_init__(self) -> None:
        self.loop: Loop[str, str] = Loop(
            "crane:c",
            self.store,
            self.clock,
            decide=self.decide,
            carry_out=self.told.append,
            gone=lambda: UnavailableError("The crane is gone."),
            stops=lambda command: command == "stop",
            put_off=self.put_off,
        )

    def decide(self, given: str) -> Verdict[str]:
        self.stands = given == "stop" or (self.stands and given != "go")
        return Verdict((Event(given, {}, {}, self.clock.now_ms(), owner="crane:c"),), (given,))

    def put_off(self, commands: Sequence[str]) -> list[str]:
        self.off += [command for command in commands if command == "go"]
        return [command for command in commands if command != "go"]

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.loop.run(lambda: False))
        await self.clock.settle()
        yield
        task.cancel()
        await asyncio.wait([task])
        await self.loop.close()

    @property
    def log(self) -> list[str]:
        return [event.kind for event in self.store.log]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "BRAKE_S", 0.05)
    monkeypatch.setattr(log_outage, "RECORD_S", 0.05)


async def test_with_a_log_that_works_a_brake_is_written_first() -> None:
    crane = Crane()
    async with crane.at_work():
        braked = await crane.loop.brake("stop")
        assert braked.is_recorded
        assert (crane.log, crane.told) == (["stop"], ["stop"])


async def test_a_brake_is_carried_out_at_once_and_written_when_the_log_is_back() -> None:
    crane = Crane()
    async with crane.at_work():
        crane.store.break_down()
        crane.loop.put("go")
        await crane.clock.settle()
        braked = await crane.loop.brake("stop")
        assert not braked.is_recorded
        assert (crane.told, crane.stands, crane.log) == (["stop"], True, [])
        await crane.loop.brake("stop")
        crane.store.mend()
        await crane.clock.advance(STORE_RETRY_MS / 1000)
        await crane.clock.settle()
        assert crane.log == ["go", "stop", "stop"]
        assert (crane.told, crane.off) == (["stop", "stop"], ["go"]), "what moved is decided anew"


async def test_a_store_that_says_nothing_keeps_no_brake_waiting() -> None:
    crane = Crane()
    async with crane.at_work():
        crane.store.answers.clear()
        crane.loop.put("go")
        await crane.clock.settle()
        assert not (await crane.loop.brake("stop")).is_recorded
        assert crane.told == ["stop"]
        crane.store.answers.set()
        await crane.clock.settle()
        assert (crane.log, crane.told, crane.off) == (["go", "stop"], ["stop"], ["go"])


async def test_a_brake_that_is_being_written_already_goes_first_as_well() -> None:
    crane = Crane()
    async with crane.at_work():
        crane.store.answers.clear()
        crane.loop.put("go")
        braked = await crane.loop.brake("stop")  # decided together with what moves
        assert (braked.is_recorded, braked.verdict.commands) == (False, ("stop",))
        assert crane.told == ["stop"]
        crane.store.answers.set()
        await crane.clock.settle()
        assert (crane.log, crane.told, crane.off) == (["go", "stop"], ["stop"], ["go"]), "told once"


async def test_who_is_not_patient_is_refused_and_nothing_is_decided_for_them() -> None:
    crane = Crane()
    async with crane.at_work():
        crane.store.break_down()
        first = asyncio.ensure_future(crane.loop.request("wait", patient=False))
        await crane.clock.settle()
        with pytest.raises(UnavailableError, match="could not be written just as this was decided"):
            await first
        assert crane.loop.is_held_up
        with pytest.raises(UnavailableError, match="so this was not done") as refused:
            await crane.loop.request("go", patient=False)
        assert refused.value.code == "log.away"
        crane.store.mend()
        await crane.clock.advance(STORE_RETRY_MS / 1000)
        assert crane.log == ["wait"]
        assert not crane.loop.is_held_up


async def test_who_is_not_sure_to_lead_still_stops_what_it_moves() -> None:
    crane = Crane()
    async with crane.at_work():
        crane.store.left_s = 0.0
        assert not (await crane.loop.brake("stop")).is_recorded
        assert crane.told == ["stop"]
        await crane.clock.settle()
        assert crane.log == ["stop"]


async def test_what_was_answered_as_not_done_is_never_decided() -> None:
    crane = Crane()
    told: list[str] = []
    async with crane.at_work():
        with asking(Asked(is_withdrawn=lambda: bool(told))):
            await crane.loop.request("stop")
            told.append("not done")
            await crane.loop.request("stop")  # more of what was begun before that
        with (
            asking(Asked(is_withdrawn=lambda: bool(told))),
            pytest.raises(UnavailableError, match="so this was not done"),
        ):
            await crane.loop.request("go")
        assert crane.log == ["stop", "stop"]


async def test_after_the_end_nothing_is_stopped_and_it_is_said() -> None:
    crane = Crane()
    async with crane.at_work():
        pass
    with pytest.raises(UnavailableError, match="The crane is gone"):
        await crane.loop.brake("stop")


# -- what is recorded beside loops -----------------------------------------------------------------------------------


def event(kind: str) -> Event:
    return Event(kind, {}, {}, 0, owner="test")


def outage_of(store: MemoryStore) -> tuple[Any, LogOutage]:
    clock = VirtualClock()
    outage = LogOutage(clock.now_ms)
    return asked_store(store, clock, outage), outage


async def test_what_could_not_be_recorded_is_written_before_what_comes_later() -> None:
    kept = MemoryStore()
    store, outage = outage_of(kept)
    kept.break_down()
    written: list[str] = []
    assert not await outage.record([event("held")], lambda: written.append("held"))
    assert outage.is_on
    assert written == []
    with pytest.raises(Fault, match="told the machine nothing"):
        refuse_unled(store)
    kept.mend()
    numbered = await store.append([event("later")])
    assert [one.seq for one in numbered] == [2]
    assert [one.kind for one in kept.log] == ["held", "later"]
    assert (written, outage.is_on, outage.since_ms) == (["held"], False, None)
    refuse_unled(store)
    await outage.close()


async def test_it_is_written_also_where_nobody_has_anything_else_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_outage, "AGAIN_S", 0.01)
    kept = MemoryStore()
    _, outage = outage_of(kept)
    kept.break_down()
    assert not await outage.record([event("held")])
    kept.mend()
    async with asyncio.timeout(60):
        while not kept.log:  # noqa: ASYNC110  a store in memory tells nobody
            await asyncio.sleep(0.01)
    assert [one.kind for one in kept.log] == ["held"]


async def test_another_leader_records_for_itself() -> None:
    kept = MemoryStore()
    store, outage = outage_of(kept)
    assert isinstance(store, AskedStore)

    async def lost(events: Sequence[Event]) -> Sequence[Event]:
        raise NotLeadingError("Another process leads.")

    kept.append = lost  # type: ignore[method-assign]
    assert not await outage.record([event("held")])
    assert not outage.is_on


async def test_what_is_not_recorded_is_told_to_whoever_asked() -> None:
    with noting_unrecorded() as said:
        await asyncio.gather(asyncio.create_task(_noted()), asyncio.create_task(_noted()))
    assert said == ["R1 stands. This is not in the log yet; it is written when the log can be written again."]
    await _noted()  # where nobody listens, nothing happens


async def _noted() -> None:
    log_outage.note_unrecorded("R1 stands.")
