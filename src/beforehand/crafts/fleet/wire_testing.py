"""Robokit robots on loopback for tests: the robots of a scene over real TCP, on a clock that goes as fast as told.

async with robots_on_the_wire(scene, FastClock(20)) as wire:
    ...  # wire.scene is the scene with links that lead to them
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.robokit.hall import Hall
from beforehand.adapters.robokit.options import link_entry
from beforehand.adapters.robokit.robot import Manners, WireRobot
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.model.fleet import FleetScene
from beforehand.ports.clock import Clock
from beforehand.ports.tasks import part

LOOPBACK = "127.0.0.1"


class FastClock:
    """So many times as fast as the wall's clock, but only while this process is served.

    Between two looks at most `STEP_MS` pass. What a busy machine takes away from the process does not pass here, so
    that no time-out of a fleet depends on who else uses the machine.
    """

    STEP_MS = 400.0

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._now_ms = time.time() * 1000
        self._looked_s = time.monotonic()
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = itertools.count()
        self._waking: asyncio.Task[None] | None = None

    def now_ms(self) -> int:
        before, self._looked_s = self._looked_s, time.monotonic()
        self._now_ms += min((self._looked_s - before) * 1000 * self._pace, self.STEP_MS)
        return int(self._now_ms)

    async def sleep_until(self, ts_ms: int) -> None:
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (ts_ms, next(self._count), sleeper))
        if self._waking is None or self._waking.done():
            self._waking = part(self._wake())
        await sleeper

    async def _wake(self) -> None:
        """Look at the clock for as long as somebody sleeps."""
        while self._sleepers:
            left_ms = min(self._sleepers[0][0] - self.now_ms(), self.STEP_MS / 2)
            await asyncio.sleep(max(left_ms / self._pace, 1.0) / 1000)
            now_ms = self.now_ms()
            while self._sleepers and self._sleepers[0][0] <= now_ms:
                _, _, sleeper = heapq.heappop(self._sleepers)
                if not sleeper.done():
                    sleeper.set_result(None)


@dataclass(frozen=True, slots=True)
class OnTheWire:
    scene: FleetScene
    """The scene, with links that lead to the robots."""
    hall: Hall
    robots: Mapping[str, WireRobot]


@asynccontextmanager
async def robots_on_the_wire(
    scene: FleetScene,
    clock: Clock,
    manners: Manners | None = None,
    *,
    only: Sequence[str] | None = None,
    faults: Sequence[FaultSpec] = (),
) -> AsyncIterator[OnTheWire]:
    """The robots of a scene, or `only` some of them, listening on free ports."""
    mine = [robot for robot in scene.robots if only is None or robot.robot_id in only]
    hall = Hall(scene.model_copy(update={"robots": tuple(mine)}), clock, faults)
    robots = {robot.robot_id: WireRobot(hall, robot.robot_id, manners) for robot in mine}
    for robot in robots.values():
        await robot.open(LOOPBACK, {})
    floor = part(hall.run())
    try:
        yield OnTheWire(linked(scene, {name: robot.ports for name, robot in robots.items()}), hall, robots)
    finally:
        floor.cancel()
        for robot in robots.values():
            await robot.close()


def linked(scene: FleetScene, ports: Mapping[str, Mapping[str, int]], **more: Any) -> FleetScene:
    """The scene with links to robots at these ports, and `more` said of them; the others keep theirs."""
    robots = []
    for robot in scene.robots:
        at = ports.get(robot.robot_id)
        link = robot.link if at is None else {**link_entry(LOOPBACK, at), **more}
        robots.append(robot.model_copy(update={"link": link}))
    return scene.model_copy(update={"robots": tuple(robots)})
