"""A small yard for the simulator's tests, and words to drive it with.

CH --- A ---10--- B ---10--- C --- P2     D is reached from C only (one way), E from nowhere
       |
       P1
"""

from collections.abc import Callable
from typing import Any

import pytest

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import read_faults
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, CancelTarget, GoTarget, PauseRobot, ResumeRobot, Telemetry

NODES = {
    "A": (0, 0),
    "B": (10, 0),
    "C": (20, 0),
    "D": (20, -5),
    "E": (50, 50),
    "P1": (0, 4),
    "P2": (24, 0),
    "CH": (-6, 0),
}
EDGES = [("A", "B"), ("B", "C"), ("A", "P1"), ("C", "P2"), ("A", "CH")]


def yard(*, chargers: bool = False, robots: int = 1, **robot: Any) -> FleetScene:
    """The yard above; `robot` sets fields of every robot."""
    sites = [
        {
            "worksiteId": "PICK",
            "worksiteType": "pickup",
            "entryNodeId": "A",
            "actionNodeId": "P1",
            "occupancy": "filled",
        },
        {"worksiteId": "DROP", "worksiteType": "dropoff", "entryNodeId": "P2", "occupancy": "empty"},
        {"worksiteId": "FULL", "worksiteType": "buffer", "entryNodeId": "C", "occupancy": "filled"},
        {"worksiteId": "PARK", "worksiteType": "park", "entryNodeId": "B"},
    ]
    if chargers:
        sites.append({"worksiteId": "CHARGER", "worksiteType": "charger", "entryNodeId": "CH"})
    return FleetScene.model_validate(
        {
            "name": "yard",
            "nodes": [{"id": name, "x": x, "y": y} for name, (x, y) in NODES.items()],
            "edges": [{"from": one, "to": other} for one, other in EDGES] + [{"from": "C", "to": "D", "oneWay": True}],
            "worksites": sites,
            "robots": [{"robotId": f"R{n}", "nodeId": "A", "speedMps": 1.0} | robot for n in range(1, robots + 1)],
        }
    )


class Drive:
    """Drives a simulated fleet and keeps everything it reported."""

    def __init__(self, scene: FleetScene, faults: Any = (), settings: SimSettings | None = None) -> None:
        self.sim = SimFleet(scene, read_faults(list(faults)), settings)
        self.heard: list[Telemetry | Ack] = []
        self.now_ms = 0
        self.count = 0
        self.to(0)

    def to(self, seconds: float) -> list[Telemetry | Ack]:
        """Let time pass to this second; what was reported meanwhile."""
        self.now_ms = round(1000 * seconds)
        new = self.sim.advance(self.now_ms)
        self.heard += new
        return new

    def go(self, target: str | None, robot: str = "R1", key: str | None = None, **payload: Any) -> str:
        self.count += 1
        key = key or f"k{self.count}"
        named = {} if target is None else {"id": target}
        self.sim.command(GoTarget(key, robot, named | payload), self.now_ms)
        return key

    def order(self, kind: type[PauseRobot | ResumeRobot | CancelTarget], robot: str = "R1") -> str:
        self.count += 1
        self.sim.command(kind(f"k{self.count}", robot), self.now_ms)
        return f"k{self.count}"

    def reports(self, robot: str = "R1") -> list[Telemetry]:
        return [item for item in self.heard if isinstance(item, Telemetry) and item.robot_id == robot]

    def acks(self) -> list[Ack]:
        return [item for item in self.heard if isinstance(item, Ack)]

    def last(self, robot: str = "R1") -> Telemetry:
        return self.reports(robot)[-1]

    def statuses(self, robot: str = "R1") -> list[int]:
        """The task statuses in the order they were reported, each change once."""
        seen: list[int] = []
        for report in self.reports(robot):
            if seen[-1:] != [report.task_status]:
                seen.append(report.task_status)
        return seen


@pytest.fixture
def drive() -> Callable[..., Drive]:
    def start(faults: Any = (), settings: SimSettings | None = None, **scene: Any) -> Drive:
        return Drive(yard(**scene), faults, settings)

    return start


@pytest.fixture
def yard_scene() -> FleetScene:
    return yard()
