"""Several links as one: each robot's commands go to its own link, and everybody's reports come in one stream.

Links live and die alone: one that fails or ends is told and heard anew after a while, its robots fall silent meanwhile,
which the fleet notices, and the others go on. Whoever sends keeps a queue per robot (`loop.outbox`), so that a slow
machine delays nobody else.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from beforehand.adapters.sim.faces import SimulatedRobots
from beforehand.model.errors import UnavailableError
from beforehand.model.fleet import Occupancy
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.foreign import contain
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkStanding, OpenLink, RobotLink
from beforehand.ports.tasks import EndedError, lasting, part, stop

log = Log("beforehand.fleet")
CLOSE_PATIENCE_S = 2.0
"""How long closing waits for links to close."""


@dataclass(frozen=True, slots=True)
class LinkPart:
    """One link, its kind and the robots it leads to."""

    kind: str
    link: RobotLink
    robots: tuple[str, ...]


class MultiLink:
    """A `RobotLink` over the links of one scene, which may be of one kind or of many."""

    def __init__(self, parts: Iterable[LinkPart]) -> None:
        self._parts = tuple(parts)
        self._links = {robot: part.link for part in self._parts for robot in part.robots}
        self._heard: deque[Telemetry | Ack] = deque()
        self._news = asyncio.Event()
        self._listening: list[asyncio.Task[None]] = []
        self._open = True

    async def send(self, command: RobotCommand) -> None:
        """Hand the command to the robot's own link; UnavailableError where none leads to it, and after closing."""
        link = self._links.get(command.robot_id)
        if link is None or not self._open:
            why = f"No link leads to {command.robot_id}." if self._open else "The links to the robots are closed."
            raise UnavailableError(why, code="robot.no_link")
        await link.send(command)

    async def reports(self) -> AsyncIterator[Telemetry | Ack]:
        if self._open and not self._listening:
            self._listening = [
                lasting(partial(self._listen, link), f"the reports of its {link.kind} robots", may_end=True)
                for link in self._parts
            ]
        while self._open:
            if self._heard:
                yield self._heard.popleft()
            else:
                self._news.clear()
                await self._news.wait()

    async def read(self, robot_id: str) -> Telemetry | None:
        link = self._links.get(robot_id)
        if link is None:
            return None
        try:
            return await contain(link.read(robot_id))
        except Exception as error:
            log.warning("a robot could not be read", robot=robot_id, error=repr(error))
            return None

    async def standing(self, robot_id: str) -> LinkStanding | None:
        """How it stands with a robot; None where its link does not say, as simulated ones do not."""
        link = self._links.get(robot_id)
        if not isinstance(link, OpenLink) or not self._open:
            return None
        try:
            return await contain(link.standing(robot_id))
        except Exception as error:
            log.warning("a robot link could not say how it stands", robot=robot_id, error=repr(error))
            return None

    async def close(self) -> None:
        """Close every link, also those that failed."""
        if not self._open:
            return
        self._open = False
        self._news.set()
        await _ended((part(_closed(link)) for link in self._parts), CLOSE_PATIENCE_S)
        await _ended(self._listening, 0)

    def simulated_part(self, robot_id: str) -> SimulatedRobots | None:
        """Where a simulated robot can be told to go wrong; None for a real one."""
        link = self._links.get(robot_id)
        return link if isinstance(link, SimulatedRobots) else None

    def set_occupancy(self, worksite_id: str, occupancy: Occupancy) -> None:
        """A person brought a pallet or took one away: each link with simulated robots has its own picture of it."""
        for one in self._parts:
            if isinstance(one.link, SimulatedRobots):
                one.link.set_occupancy(worksite_id, occupancy)

    def set_load(self, robot_id: str, loaded: bool) -> None:
        """A person put a pallet on a robot's fork or took it off."""
        part = self.simulated_part(robot_id)
        if part is not None:
            part.set_load(robot_id, loaded)

    async def _listen(self, part: LinkPart) -> None:
        """One link's reports; where they break off, its robots are silent until they begin again."""
        async for report in part.link.reports():
            self._heard.append(report)
            self._news.set()
        if self._open:
            raise EndedError(f"The link of kind {part.kind} ended its reports; its robots are silent.")


async def _closed(part: LinkPart) -> None:
    try:
        await contain(part.link.close())
    except Exception:
        log.exception("a robot link could not be closed", kind=part.kind)


async def _ended(tasks: Iterable["asyncio.Task[Any]"], patience_s: float) -> None:
    """Wait for the tasks to end, and cancel those that take too long."""
    waiting = list(tasks)
    if not waiting:
        return
    _, late = await asyncio.wait(waiting, timeout=patience_s)
    await stop(late)
