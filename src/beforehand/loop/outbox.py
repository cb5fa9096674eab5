"""Commands on their way to machines: in order for each machine, and no machine waits for another.

Each is sent only while this process leads for certain, and is cut off when that time runs out. What a brake sends stops
the machine and is sent in any case: that can only be too much.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from beforehand.loop.edge import refuse_unled, while_led
from beforehand.model.errors import Fault, UnavailableError
from beforehand.ports.foreign import contain, contained
from beforehand.ports.log import Log
from beforehand.ports.store import Store
from beforehand.ports.tasks import job, note, stop

log = Log("beforehand.loop")
Sending = Callable[[], Awaitable[None]]


class Outbox:
    """One queue per machine, emptied by a task of its own that ends when the queue is empty."""

    def __init__(self, store: Store) -> None:
        """`store` is the one whose lead this process must have to send anything."""
        self._store = store
        self._queues: dict[str, deque[tuple[Sending, bool]]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def send(self, machine: str, sending: Sending, *, led: bool = True) -> None:
        """Have something sent to a machine after everything that was handed in for it before.

        `led` false sends it also where this process is not sure that it leads.
        """
        queue = self._queues.setdefault(machine, deque())
        queue.append((sending, led))
        if machine not in self._tasks:
            self._tasks[machine] = job(self._empty(machine, queue), f"the commands to {machine}")

    async def _empty(self, machine: str, queue: deque[tuple[Sending, bool]]) -> None:
        try:
            while queue:
                await self._one(machine, *queue.popleft())
        finally:
            del self._tasks[machine], self._queues[machine]

    async def _one(self, machine: str, sending: Sending, led: bool) -> None:
        try:
            if led:
                refuse_unled(self._store)
            with contained():
                await (while_led(self._store, contain(sending())) if led else contain(sending()))
        except (UnavailableError, Fault) as error:  # the machine did not get it; its silence is the decider's to notice
            log.warning("a command did not get through", machine=machine, says=error.says)
        except Exception as error:  # a link's bug is that machine's trouble alone
            note(f"a command to {machine}", error)

    async def close(self) -> None:
        """Send nothing more; what is being sent is cut off."""
        await stop(list(self._tasks.values()))
