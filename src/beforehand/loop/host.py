"""A host drives the things of one kind, such as runs: started, taken up from the log, restarted, stopped, forgotten.

One thing has one driver at a time. What cannot be taken up stands alone: a person is asked, and the others go on.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from typing import Any, Generic, TypeVar

from beforehand.loop.nursery import Nursery
from beforehand.ports.tasks import TaskOwner

DriverT = TypeVar("DriverT")


class Host(Generic[DriverT]):
    """`take_up` has a thing driven as the log has it, by `start`, unless it is over; `owner` says who it is.

    With `keeps`, one whose driver has ended stays known as that left it, until it is stopped or started again.
    """

    def __init__(
        self,
        nursery: Nursery,
        owner: Callable[[str], TaskOwner],
        take_up: Callable[[str], Awaitable[None]],
        *,
        keeps: bool = False,
    ) -> None:
        self.live: dict[str, DriverT] = {}
        self._nursery = nursery
        self._owner = owner
        self._take_up = take_up
        self._keeps = keeps
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def __contains__(self, name: str) -> bool:
        return name in self.live

    def __iter__(self) -> Iterator[DriverT]:
        return iter(list(self.live.values()))

    def turn(self, name: str) -> asyncio.Lock:
        """Whoever decides whether a thing is to be driven holds its turn."""
        return self._turns[name]

    def start(
        self, name: str, driver: DriverT, work: Coroutine[Any, Any, None], owner: TaskOwner | None = None
    ) -> "asyncio.Task[None]":
        """Have a driver work; it is forgotten when that ends."""
        self.live[name] = driver
        ended = (lambda: None) if self._keeps else (lambda: self._forget(name, driver))
        return self._nursery.start(owner or self._owner(name), work, ended=ended)

    def works(self, name: str) -> bool:
        """Whether its driver is at work."""
        return self._owner(name).id in self._nursery.work

    def _forget(self, name: str, driver: DriverT) -> None:
        if self.live.get(name) is driver:
            del self.live[name]
            turn = self._turns.get(name)
            if turn is not None and not turn.locked():
                del self._turns[name]

    async def take_up(self, name: str) -> None:
        """Have a thing driven that nobody drives, as the log has it."""
        async with self._turns[name]:
            if not self.works(name):
                await self._take_up(name)

    async def take_up_all(self, names: Iterable[str]) -> int:
        """After a start; what cannot be taken up is asked about, and spares the rest. Gives how many are taken up."""
        return sum([await self._nursery.spare(self._owner(name), self.take_up(name)) for name in names])

    async def wait(self, name: str, timeout_s: float | None = None) -> None:
        """Return when nobody drives it any more, or after the time-out."""
        await self._nursery.wait(self._owner(name).id, timeout_s)

    async def stop(self, name: str) -> None:
        """Stop driving it; the log says what was in the air."""
        await self._nursery.stop(self._owner(name).id)
        if name in self.live:
            self._forget(name, self.live[name])

    async def close(self) -> None:
        """Stop driving all of them."""
        if self.live:
            await self._nursery.stop(*(self._owner(name).id for name in self.live))
            self.live.clear()
