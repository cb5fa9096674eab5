"""For tests of traffic: whether robots' bodies touch, by where they truly are, with no code shared with the core."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.readings import Position
from beforehand.crafts.fleet.testing import Shift
from beforehand.model.fleet import FleetScene, RobotSpec

SLACK_M = 0.002
"""Positions are rounded to the millimetre."""
LOOKS = 5
"""How often in a tick it is looked where the robots are."""


def touching(scene: FleetScene, places: Mapping[str, Position]) -> list[tuple[str, str]]:
    """Pairs of robots whose bodies overlap."""
    bodies = {robot.robot_id: _corners(robot, places[robot.robot_id]) for robot in scene.robots}
    return [(one, two) for one, two in combinations(bodies, 2) if not _apart(bodies[one], bodies[two])]


class WatchedRobots(SimFleet):
    """Simulated robots that are looked at several times between two ticks."""

    def __init__(self, scene: FleetScene, faults: Any = ()) -> None:
        super().__init__(scene, faults)
        self.scene = scene
        self.touched: dict[tuple[str, str], int] = {}
        """Pairs of robots that have ever touched, and when first."""
        self._looked_ms = 0

    def advance(self, now_ms: int) -> list[Any]:
        step = max(1, (now_ms - self._looked_ms) // LOOKS)
        said: list[Any] = []
        for at_ms in (*range(self._looked_ms + step, now_ms, step), now_ms):
            said += super().advance(at_ms)
            for pair in touching(self.scene, self.positions(at_ms)):
                self.touched.setdefault(pair, at_ms)
        self._looked_ms = now_ms
        return said


def traffic_shift(scene: FleetScene, faults: Any = ()) -> Shift:
    return Shift(scene, WatchedRobots(scene, faults))


def _corners(robot: RobotSpec, at: Position) -> list[tuple[float, float]]:
    ahead, aside = robot.length_m / 2, robot.width_m / 2
    cos, sin = math.cos(at.heading), math.sin(at.heading)
    return [
        (at.x + cos * a * ahead - sin * b * aside, at.y + sin * a * ahead + cos * b * aside)
        for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))
    ]


def _apart(one: list[tuple[float, float]], two: list[tuple[float, float]]) -> bool:
    """Whether a line along some side keeps them apart."""
    for body in (one, two):
        for number in (0, 1):
            (x0, y0), (x1, y1) = body[number], body[number + 1]
            length = math.hypot(x1 - x0, y1 - y0)
            axis = (y1 - y0) / length, (x0 - x1) / length
            spans = [[x * axis[0] + y * axis[1] for x, y in corners] for corners in (one, two)]
            if max(spans[0]) <= min(spans[1]) + SLACK_M or max(spans[1]) <= min(spans[0]) + SLACK_M:
                return True
    return False
