"""Simulated robots of a scene on the wire, from documents to open ports."""

import asyncio
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.robokit.checkup import BLOCK
from beforehand.adapters.robokit.hall import Hall
from beforehand.adapters.robokit.numbers import PORTS
from beforehand.adapters.robokit.options import link_entry
from beforehand.adapters.robokit.robot import Manners, WireRobot
from beforehand.adapters.sim.faults import read_faults
from beforehand.adapters.sim.scaled_clock import ScaledClock
from beforehand.app.clock import WallClock
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.fleet import FleetScene
from beforehand.model.words import counted

BLOCK_SIZE = 10
Show = Callable[[dict[str, dict[str, Any]]], None]


@dataclass(frozen=True, slots=True)
class RobotsAsked:
    """What is wanted: the scene's document, some of its robots or all, and where they are to listen."""

    document: Any
    robots: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int | None = None
    speed: float = 1.0
    faults: Any = None
    manners: Manners = field(default_factory=Manners)
    holder: str = ""


async def serve_robots(asked: RobotsAsked, show: Show) -> None:
    """Let the robots live until cancelled; `show` is given the links that lead to them."""
    scene = _chosen(asked)
    faults = [] if asked.faults is None else read_faults(asked.faults, {robot.robot_id for robot in scene.robots})
    clock = ScaledClock(WallClock(), asked.speed)
    hall = Hall(scene, clock, faults, follows_orders=True)
    robots = [WireRobot(hall, robot.robot_id, asked.manners, asked.holder) for robot in scene.robots]
    try:
        for number, robot in enumerate(robots):
            await _open(robot, asked, number, alone=len(robots) == 1)
        show({robot.robot_id: link_entry(asked.host, robot.ports) for robot in robots})
        await hall.run()
    finally:
        await asyncio.gather(*(robot.close() for robot in robots))


def read_address(text: str) -> tuple[str, int | None]:
    """HOST, HOST:PORT or [HOST]:PORT."""
    found = re.fullmatch(
        r"\[(?P<six>[^\]]+)\](?::(?P<port6>\d+))?|(?P<host>[^:\s]+)(?::(?P<port>\d+))?|(?P<bare>[0-9a-fA-F:]+)", text
    )
    if found is None:
        raise BadInputError(f"{text!r} is not HOST or HOST:PORT.", code="usage")
    port = found["port"] or found["port6"]
    if port is not None and not 1 <= int(port) <= 65535:
        raise BadInputError(f"A port is a number from 1 to 65535, not {port}.", code="usage")
    return found["six"] or found["host"] or found["bare"], None if port is None else int(port)


def ports_of_block(first: int) -> dict[str, int]:
    """The ports of a simulated robot whose status port is `first`; any that are free where it is 0."""
    return {name: first + away if first else 0 for name, away in BLOCK.items()}


def _chosen(asked: RobotsAsked) -> FleetScene:
    scene = read_fleet(asked.document)
    known = [robot.robot_id for robot in scene.robots]
    for name in asked.robots:
        if name not in known:
            raise BadInputError.unknown("robot", name, known, inside=scene.name)
    if not 0 < asked.speed <= 1000:
        raise BadInputError(f"--speed takes a number above 0 and at most 1000, not {asked.speed:g}.", code="usage")
    robots = tuple(robot for robot in scene.robots if not asked.robots or robot.robot_id in asked.robots)
    if not robots:
        raise BadInputError(f"The scene {scene.name} has no robots.", code="scene.no_robots")
    if asked.port is not None and not 0 <= asked.port <= 65535 - BLOCK_SIZE * len(robots):
        raise BadInputError(
            f"--port {asked.port} leaves no room for {counted(len(robots), 'robot')} below 65536.", code="usage"
        )
    return scene.model_copy(update={"robots": robots})


async def _open(robot: WireRobot, asked: RobotsAsked, number: int, *, alone: bool) -> None:
    if asked.port is None and alone:
        ports = dict(PORTS)
    else:
        first = PORTS["status"] + 1000 if asked.port is None else asked.port
        ports = ports_of_block(first + BLOCK_SIZE * number if first else 0)
    try:
        await robot.open(asked.host, ports)
    except OSError as error:
        raise UnavailableError(
            f"{robot.robot_id} cannot listen at {asked.host}, ports {min(ports.values())} to {max(ports.values())}: "
            f"{os.strerror(error.errno) if error.errno else error}.",
            code="port.taken",
            hint="Choose other ports with --port.",
        ) from None
