"""The virtual VDA 5050 vehicles that a command asks for, from documents and names."""

import math
from dataclasses import dataclass
from typing import Any

from beforehand.adapters.sim.faults import read_faults
from beforehand.adapters.vda5050.lines import broker_of
from beforehand.adapters.vda5050.robots import VirtualRobots, vda_robots
from beforehand.app.clock import WallClock
from beforehand.app.settings import Settings
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.broker import Broker
from beforehand.model.errors import BadInputError, RefusedError
from beforehand.model.fleet import FleetScene, RobotSpec

FASTEST = 1000.0


@dataclass(frozen=True, slots=True)
class VehiclesAsked:
    document: Any
    robots: tuple[str, ...] = ()
    broker: str | None = None
    speed: float = 1.0
    faults: Any = None


def made_vehicles(asked: VehiclesAsked, settings: Settings) -> VirtualRobots:
    """The vehicles, not yet on the broker. BadInputError for what cannot be, with the names there are."""
    if not (math.isfinite(asked.speed) and 0 < asked.speed <= FASTEST):
        raise BadInputError(f"--speed takes a number above 0 and up to {FASTEST:g}.", code="usage")
    scene = read_fleet(asked.document)
    robots = _chosen(scene, asked.robots)
    names = [robot.robot_id for robot in robots]
    faults = [] if asked.faults is None else read_faults(asked.faults, names)
    broker = _broker(asked.broker or scene.settings.broker, settings)
    return VirtualRobots(scene, robots, broker, WallClock(), speed=asked.speed, faults=faults)


def _chosen(scene: FleetScene, names: tuple[str, ...]) -> list[RobotSpec]:
    there = {robot.robot_id: robot for robot in vda_robots(scene)}
    if not there:
        raise RefusedError(
            f"No robot of {scene.name} speaks VDA 5050.",
            code="robot.none",
            hint="Give a robot the link {kind: vda5050, manufacturer: ..., serial: ...}.",
        )
    for name in names:
        if name not in there:
            raise BadInputError.unknown("robot", name, there, code="robot.unknown")
    return [robot for name, robot in there.items() if not names or name in names]


def _broker(url: str | None, settings: Settings) -> Broker:
    broker = broker_of(url or "", settings.with_secrets, settings.__getitem__)
    if broker is None:
        raise BadInputError("A broker is mqtt://host:port or mqtts://host:port.", code="usage")
    return broker
