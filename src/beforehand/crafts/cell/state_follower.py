"""Follows the state of a live cell whose robot others move too: by hand, from its panel, by another program.

What the controller shows is in the log within a second, so that nobody plans, starts or decides on an old state. A
controller that notices changes itself says when to look; any other is asked twice a second.
"""

import asyncio
from collections.abc import Awaitable, Callable

from beforehand.model.errors import BeforehandError, Fault
from beforehand.ports.cell import CellController, WatchedController
from beforehand.ports.log import Log
from beforehand.ports.tasks import TaskOwner, lasting, stop

log = Log("beforehand.cells")

LOOK_S = 0.5
"""The longest time from one look to the next."""
OLD_S = 1.0
"""How old a state may be before that is said with it."""


class StateFollower:
    """One cell. `look` writes down how it is; `silence` says when that is not known any more."""

    def __init__(self, name: str, controller: CellController, look: Callable[[str], Awaitable[None]]) -> None:
        self._name, self._controller, self._look = name, controller, look
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._fault = ""
        self._seen_at = 0.0

    @property
    def silence(self) -> str:
        """What whoever reads the state has to know of a controller that does not answer now; else nothing."""
        age_s = asyncio.get_running_loop().time() - self._seen_at
        if self._fault or age_s <= OLD_S:
            return self._fault
        return f"This is how the cell was {age_s:.0f} s ago; no newer answer of its controller is recorded."

    def start(self) -> None:
        self._seen_at = asyncio.get_running_loop().time()
        owner = TaskOwner(f"cell:{self._name}", f"The cell {self._name}", scene=self._name)
        self._task = lasting(self._follow, "the state of its robot", owner, may_end=True)

    async def close(self) -> None:
        self._closed = True  # a library may lose the cancellation: then this round is the last
        if self._task is not None:
            await stop([self._task])

    async def _follow(self) -> None:
        while not self._closed:
            try:
                await self._look(self._name)
                self._fault, self._seen_at = "", asyncio.get_running_loop().time()
            except Fault as fault:
                self._fault = fault.says
            except BeforehandError as error:  # such as a log that cannot be written now
                log.warning("a cell's state could not be written down", scene=self._name, says=error.says)
            await self._change()

    async def _change(self) -> None:
        if not isinstance(self._controller, WatchedController):
            await asyncio.sleep(LOOK_S)
            return
        await self._controller.change(LOOK_S)
