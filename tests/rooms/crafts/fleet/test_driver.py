"""The driver's own promises; what fleets do is told in the scenarios."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import initial
from beforehand.crafts.fleet.driver import FleetDriver
from beforehand.crafts.fleet.testing import ScriptedLink
from beforehand.model.robot import Telemetry
from beforehand.testing import MemoryStore, VirtualClock

HALL: dict[str, Any] = {
    "kind": "fleet",
    "name": "hall",
    "nodes": [{"id": "LM1", "x": 0, "y": 0}],
    "edges": [],
    "worksites": [],
    "robots": [{"robotId": "RB-01", "nodeId": "LM1"}],
    "streams": [],
}


class Robot:
    """Reports every second, a moment after the ticks."""

    def __init__(self, clock: VirtualClock) -> None:
        self.link = ScriptedLink()
        self._clock = clock

    async def report(self) -> None:
        for seq in range(1, 1000):
            said = Telemetry("RB-01", self._clock.now_ms(), seq, node_id="LM1")
            await self._clock.sleep(0.01)
            self.link.report(said)
            await self._clock.sleep(0.99)


@asynccontextmanager
async def driven(clock: VirtualClock) -> AsyncIterator[tuple[FleetDriver, asyncio.Task[None]]]:
    robot = Robot(clock)
    driver = FleetDriver(initial(read_fleet(HALL)), robot.link, MemoryStore(), clock, lambda frame: None)
    tasks = [asyncio.ensure_future(robot.report()), asyncio.ensure_future(driver.drive())]
    await clock.advance(3.7)  # what it last said has been read by now
    assert driver.state.robots["RB-01"].status == "online"
    yield driver, tasks[0]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_time_in_which_we_stood_still_ourselves_is_not_the_robots_silence() -> None:
    clock = VirtualClock()
    async with driven(clock) as (driver, _):
        clock.hold_up(20)
        for _ in range(6):
            await clock.advance(0.25)
            assert driver.state.robots["RB-01"].status == "online"


async def test_a_robot_that_says_nothing_after_we_stood_still_is_offline() -> None:
    clock = VirtualClock()
    async with driven(clock) as (driver, reporting):
        reporting.cancel()
        clock.hold_up(20)
        await clock.advance(1.5)
        assert driver.state.robots["RB-01"].status == "offline"
