"""Robokit robots on loopback for tests: the robots of a scene over real TCP, on a clock that goes as fast as told.

async with robots_on_the_wire(scene, FastClock(20)) as wire:
    ...  # wire.scene is the scene with links that lead to them
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.robokit.hall import Hall
from beforehand.adapters.robokit.options import link_entry
from beforehand.adapters.robokit.robot import Manners, WireRobot
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.scaled_clock import ScaledClock
from beforehand.app.clock import WallClock
from beforehand.model.fleet import FleetScene
from beforehand.ports.clock import Clock

LOOPBACK = "127.0.0.1"


class FastClock(ScaledClock):
    """The wall's clock, so many times as fast."""

    def __init__(self, pace: float) -> None:
        super().__init__(WallClock(), pace)


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
    floor = asyncio.create_task(hall.run())
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
