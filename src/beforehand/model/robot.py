"""What goes between Beforehand and a fleet robot, whatever protocol carries it.

The core sends a target and the robot finds its own way there, unless the ways are shared out: then it is told the
nodes it may drive over, and later of more. Telemetry is a report, not an order: it may come late,
twice or out of order, which `boot` and `seq` tell. `task_status` is the protocol's own number: 0 none, 1 waiting,
2 running, 3 suspended, 4 completed, 5 failed, 6 cancelled.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

LoadReading = Literal["empty", "loaded"]
_ORDER_KEY = re.compile(r".+-(t\d+:(pick|drop)|.+:(park|charge)):\d+(/\w+)?")


def is_order_key(name: str | None) -> bool:
    """Whether this is the key of an order of ours, or of a part of one. Robots may name their orders as they like."""
    return name is not None and _ORDER_KEY.fullmatch(name) is not None


class Telemetry(NamedTuple):
    """One report. A tuple, because a big fleet makes hundreds of them a second and those are made fastest."""

    robot_id: str
    ts: int
    """Milliseconds, when the robot made the report."""
    seq: int
    """Counts up by one a report since the robot's last boot."""
    boot: int = 1
    """Counts the robot's restarts; a robot that restarted has forgotten its order."""
    node_id: str | None = None
    """The last node reached; None where the robot does not know where it is."""
    next_node_id: str | None = None
    """The node it is driving to at the other end of the edge it is on; None while it stands on a node."""
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    task_status: int = 0
    task_id: str | None = None
    """The key of the command that `task_status` speaks of, where the robot reports per task."""
    battery: float | None = None
    charging: bool = False
    blocked: bool = False
    load_sensor: LoadReading | None = None
    error: str | None = None
    load_confidence: Literal["high", "low"] = "high"
    """How far the load sensor can be believed; one of low confidence decides nothing."""
    called_off: bool = False
    """Whether a status 6 is certainly a cancel: some protocols never end work that was done in this way."""
    target: str | None = None
    """The node where it says that its present or last order leads."""
    names_newest: bool = False
    """Whether `task_id` is the newest order that it ever got, by its own word; some only answer how an order stands."""

    @property
    def sure_load(self) -> LoadReading | None:
        """What the load sensor says, where it can be believed."""
        return self.load_sensor if self.load_confidence == "high" else None


@dataclass(frozen=True, slots=True)
class GoTarget:
    """Drive to `payload["id"]`, and load or unload there if the payload names an operation."""

    key: str
    robot_id: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    commit_m: float = 0.0
    """The target may still change until the robot has come this near to it along its way; 0 where nobody asks."""
    way: tuple[str, ...] | None = None
    """The nodes it may drive over, from where it stands; it waits at the last one for more. None: it finds its own."""
    horizon: tuple[str, ...] = ()
    """The nodes that are meant to follow; it may not drive there yet."""


@dataclass(frozen=True, slots=True)
class DriveOn:
    """More of the way of the order that the robot has: it may drive on over these nodes."""

    key: str
    robot_id: str
    order_key: str
    at: int
    """Where in the whole way of the order the first of these nodes is; what the robot knows already is passed over."""
    way: tuple[str, ...]
    horizon: tuple[str, ...] = ()

    def unknown_to(self, known: int) -> tuple[str, ...]:
        """The nodes after the first `known` of the order's way."""
        return self.way[max(0, known - self.at) :]


@dataclass(frozen=True, slots=True)
class PauseRobot:
    key: str
    robot_id: str


@dataclass(frozen=True, slots=True)
class ResumeRobot:
    key: str
    robot_id: str


@dataclass(frozen=True, slots=True)
class CancelTarget:
    """Give up the running target; the robot stops at the next node and reports status 6."""

    key: str
    robot_id: str


RobotCommand = GoTarget | DriveOn | PauseRobot | ResumeRobot | CancelTarget


def command_wire(command: RobotCommand) -> dict[str, Any]:
    """A command as the log keeps it."""
    name, payload = _named_with_payload(command)
    return {"robotId": command.robot_id, "key": command.key, "command": name, "payload": payload}


def _named_with_payload(command: RobotCommand) -> tuple[str, dict[str, Any]]:
    match command:
        case GoTarget():
            way = {} if command.way is None else {"way": list(command.way)}
            return "goTarget", {**command.payload, **way}
        case DriveOn():
            return "driveOn", {"order": command.order_key, "at": command.at, "way": list(command.way)}
        case PauseRobot():
            return "pause", {}
        case ResumeRobot():
            return "resume", {}
        case CancelTarget():
            return "cancel", {}


@dataclass(frozen=True, slots=True)
class Ack:
    """The robot's answer to one command: taken or refused, and why. Taken is not done."""

    key: str
    robot_id: str
    ts: int
    ok: bool = True
    code: str = ""
    says: str = ""
