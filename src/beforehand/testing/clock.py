"""Virtual time: it stands still until it is told to pass, and never waits for the wall.

`advance` lets seconds pass, waking sleepers in their order. `run` lets time jump to the next sleeper whenever nothing
else can move, so that a day of work takes as long as its decisions do.
"""

import asyncio
import heapq
from collections.abc import Coroutine
from typing import Any, TypeVar

from beforehand.ports.tasks import part

T = TypeVar("T")

NOON = 1_767_268_800_000
"""1 January 2026, 12:00 UTC: where virtual time begins unless told otherwise."""


class StandstillError(AssertionError):
    """Nothing can move any more: nobody sleeps, nobody is ready, and the work is not done."""


class VirtualClock:
    def __init__(self, start_ms: int = NOON) -> None:
        self._now = start_ms
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0
        self._settling = 0

    def now_ms(self) -> int:
        return self._now

    async def sleep_until(self, ts_ms: int) -> None:
        if ts_ms <= self._now:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (ts_ms, self._count, woken))
        await woken

    async def sleep(self, seconds: float) -> None:
        """Like `asyncio.sleep`, on this clock: for tools that take a sleep to wait with."""
        await self.sleep_until(self._now + round(seconds * 1000))

    async def settle(self) -> None:
        """Let everything that can move without time passing do so."""
        ready = getattr(asyncio.get_running_loop(), "_ready", None)
        if ready is None:  # a loop of another make does not show what is ready
            for _ in range(100):
                await asyncio.sleep(0)
            return
        self._settling += 1
        try:
            await asyncio.sleep(0)
            while len(ready) >= self._settling:  # noqa: ASYNC110  there is no event for "only such as this are ready"
                await asyncio.sleep(0)
        finally:
            self._settling -= 1

    async def advance(self, seconds: float) -> None:
        """Let that much time pass; every sleeper is woken at its own moment."""
        end = self._now + round(seconds * 1000)
        await self.settle()
        while (due := self.next_ms()) is not None and due <= end:
            await self.jump()
        self._now = end

    def hold_up(self, seconds: float) -> None:
        """Let time pass in which nobody is woken, as for a process that the system did not let run."""
        self._now += round(seconds * 1000)

    def next_ms(self) -> int | None:
        """When the next sleeper wakes, if anybody sleeps."""
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        return self._sleepers[0][0] if self._sleepers else None

    async def jump(self) -> bool:
        """Pass to the next sleeper's moment and wake it; False when nobody sleeps."""
        due = self.next_ms()
        if due is None:
            return False
        self._now = max(self._now, due)
        heapq.heappop(self._sleepers)[2].set_result(None)
        await self.settle()
        return True

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, time jumping ahead whenever it has to wait; StandstillError when it can never end."""
        task = part(work)
        try:
            await self.settle()
            while not task.done():
                if not await self.jump() and not task.done():
                    raise StandstillError("Nothing can move any more, and the work is not done.")
        finally:
            task.cancel()
        return await task
