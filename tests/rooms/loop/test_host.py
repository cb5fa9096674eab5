"""A host: one driver for a thing, taken up once, forgotten when it ends; what cannot be taken up spares the others."""

import asyncio

import pytest

from beforehand.loop.host import Host
from beforehand.loop.nursery import Nursery
from beforehand.loop.rows import projection
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.ports.tasks import TaskOwner
from beforehand.testing import MemoryStore, VirtualClock


class Pots:
    """Things that cook until they are done; some cannot be read from the log."""

    def __init__(self) -> None:
        self.store = MemoryStore(projection())
        self.host: Host[str] = Host(Nursery(self.store, VirtualClock()), self.owner, self.take_up)
        self.done: dict[str, asyncio.Event] = {}
        self.taken_up: list[str] = []
        self.broken: dict[str, Exception] = {}

    def owner(self, name: str) -> TaskOwner:
        return TaskOwner(f"pot:{name}", f"The pot {name}", {"potId": name})

    async def take_up(self, name: str) -> None:
        self.taken_up.append(name)
        await asyncio.sleep(0)
        if name in self.broken:
            raise self.broken[name]
        self.start(name)

    def start(self, name: str) -> None:
        self.done[name] = asyncio.Event()
        self.host.start(name, f"driver of {name}", self.cook(name))

    async def cook(self, name: str) -> None:
        await self.done[name].wait()
        if name in self.broken:
            raise self.broken[name]


async def test_a_thing_is_driven_by_one_and_forgotten_when_it_ends() -> None:
    pots = Pots()
    await asyncio.gather(*(pots.host.take_up("soup") for _ in range(3)))
    assert (pots.taken_up, list(pots.host), "soup" in pots.host) == (["soup"], ["driver of soup"], True)
    pots.done["soup"].set()
    await pots.host.wait("soup")
    assert list(pots.host) == []


async def test_what_cannot_be_taken_up_is_asked_about_and_spares_the_rest() -> None:
    pots = Pots()
    pots.broken = {"stew": KeyError("salt"), "roast": BadInputError("Its pan is gone.")}
    assert await pots.host.take_up_all(["stew", "soup", "roast"]) == 1
    assert list(pots.host.live) == ["soup"]
    titles = [event.data["title"] for event in pots.store.log]
    assert titles == ["The pot stew stopped on an error in Beforehand itself", "The pot roast cannot go on"]
    assert pots.store.log[0].data["evidence"]["error"] == "KeyError: 'salt'"
    await pots.host.close()


async def test_a_log_that_is_away_takes_nothing_up() -> None:
    pots = Pots()
    pots.broken = {"soup": UnavailableError("The log is away.")}
    with pytest.raises(UnavailableError):
        await pots.host.take_up_all(["soup"])


async def test_a_thing_that_is_started_anew_is_not_forgotten_for_the_old_one() -> None:
    pots = Pots()
    pots.start("soup")
    old = pots.done["soup"]
    pots.start("soup")
    old.set()
    for _ in range(10):
        await asyncio.sleep(0)
    assert list(pots.host.live) == ["soup"]
    await pots.host.close()
    assert list(pots.host.live) == []


async def test_a_question_about_a_bug_is_asked_once_and_settled_when_it_is_taken_up_again() -> None:
    pots = Pots()
    pots.broken = {"stew": KeyError("salt")}
    for _ in range(3):
        await pots.host.take_up_all(["stew"])
    assert [event.kind for event in pots.store.log] == ["decisionOpened"]
    pots.broken = {}
    await pots.host.take_up("stew")
    async with asyncio.timeout(30):
        while len(pots.store.log) < 2:  # noqa: ASYNC110  the log has no event for "has come to"
            await asyncio.sleep(0)
    assert [event.kind for event in pots.store.log] == ["decisionOpened", "decisionWithdrawn"]
    assert pots.store.log[1].data["why"] == "It was taken up again."
    await pots.host.close()
