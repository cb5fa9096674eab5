"""Several links as one: each robot's commands go to its own link, and everybody's reports come in one stream.

Links live and die alone. Commands wait in a lane per robot, so that a machine that takes its time delays nobody else;
a link that fails or ends is logged, its robots fall silent, which the fleet notices, and the others go on.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

import structlog

from beforehand.adapters.sim.faces import SimulatedRobots
from beforehand.model.errors import UnavailableError
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.robot import RobotLink

log = structlog.get_logger("beforehand.fleet")
CLOSE_PATIENCE_S = 2.0
"""How long closing waits for commands that are being handed over, and then for links to close."""


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
        self._lanes = {robot: _Lane(robot, part.link) for part in self._parts for robot in part.robots}
        self._heard: deque[Telemetry | Ack] = deque()
        self._news = asyncio.Event()
        self._listening: list[asyncio.Task[None]] = []
        self._open = True

    async def send(self, command: RobotCommand) -> None:
        """Put the command into its robot's lane; it is handed over as soon as those before it are.

        What goes wrong later is logged and looks like a command that was lost on the way. Raises UnavailableError for
        a robot that no link leads to, and after closing.
        """
        lane = self._lanes.get(command.robot_id)
        if lane is None or not self._open:
            why = f"No link leads to {command.robot_id}." if self._open else "The links to the robots are closed."
            raise UnavailableError(why, code="robot.no_link")
        lane.put(command)

    async def reports(self) -> AsyncIterator[Telemetry | Ack]:
        if self._open and not self._listening:
            self._listening = [asyncio.create_task(self._listen(part)) for part in self._parts]
        while self._open:
            if self._heard:
                yield self._heard.popleft()
            else:
                self._news.clear()
                await self._news.wait()

    async def read(self, robot_id: str) -> Telemetry | None:
        lane = self._lanes.get(robot_id)
        if lane is None:
            return None
        try:
            return await lane.link.read(robot_id)
        except Exception as error:
            log.warning("a robot could not be read", robot=robot_id, error=repr(error))
            return None

    async def close(self) -> None:
        """Close every link, also those that failed. What is being handed over gets a moment to arrive."""
        if not self._open:
            return
        self._open = False
        self._news.set()
        await _ended((lane.work for lane in self._lanes.values() if lane.work is not None), CLOSE_PATIENCE_S)
        await _ended((asyncio.create_task(_closed(part)) for part in self._parts), CLOSE_PATIENCE_S)
        await _ended(self._listening, 0)

    def simulated_part(self, robot_id: str) -> SimulatedRobots | None:
        """Where a simulated robot can be told to go wrong; None for a real one."""
        lane = self._lanes.get(robot_id)
        return lane.link if lane is not None and isinstance(lane.link, SimulatedRobots) else None

    def simulated_parts(self) -> list[SimulatedRobots]:
        """Every link whose robots are simulated: each has its own picture of the hall."""
        return [part.link for part in self._parts if isinstance(part.link, SimulatedRobots)]

    async def _listen(self, part: LinkPart) -> None:
        failure: Exception | None = None
        try:
            async for report in part.link.reports():
                self._heard.append(report)
                self._news.set()
        except Exception as error:  # whatever it was, the other links have no part in it
            failure = error
        finally:
            if self._open:
                silent = "a robot link has ended; its robots are silent"
                log.error(silent, kind=part.kind, robots=part.robots, exc_info=failure)


class _Lane:
    """The commands for one robot, handed over one after the other; it works only while there are any."""

    def __init__(self, robot_id: str, link: RobotLink) -> None:
        self.link = link
        self.work: asyncio.Task[None] | None = None
        self._robot_id = robot_id
        self._waiting: deque[RobotCommand] = deque()

    def put(self, command: RobotCommand) -> None:
        self._waiting.append(command)
        if self.work is None or self.work.done():
            self.work = asyncio.create_task(self._hand_over())

    async def _hand_over(self) -> None:
        while self._waiting:
            command = self._waiting.popleft()
            try:
                await self.link.send(command)
            except UnavailableError as error:
                log.warning("a command did not get through", robot=self._robot_id, key=command.key, says=error.says)
            except Exception:  # a bug of this link: the robot's silence is the fleet's to notice, the next one may work
                log.exception("a command could not be sent", robot=self._robot_id, key=command.key)


async def _closed(part: LinkPart) -> None:
    try:
        await part.link.close()
    except Exception:
        log.exception("a robot link could not be closed", kind=part.kind)


async def _ended(tasks: Iterable["asyncio.Task[Any]"], patience_s: float) -> None:
    """Wait for the tasks to end, and cancel those that take too long."""
    waiting = list(tasks)
    if not waiting:
        return
    _, late = await asyncio.wait(waiting, timeout=patience_s)
    for task in late:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
