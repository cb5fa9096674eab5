"""One robot's body: where it is, what it does, what it carries, all in closed form.

A body does one thing at a time, an edge to drive or a fork to move, and that thing has a length in milliseconds. Where
the body is at any moment follows from when the thing began, so nothing needs small steps. Halts (paused, blocked, flat
…) stop the thing's clock; it goes on where it stopped.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import pi, tau
from typing import Any, Literal

from beforehand.model.fleet import RobotSpec, Settings
from beforehand.model.robot import Telemetry

COMPLETED, FAILED, CANCELLED = 4, 5, 6
NEVER_MS = -(10**15)
_PAUSES = frozenset({"paused", "hand"})


@dataclass(frozen=True, slots=True)
class SimSettings:
    """How the simulated robots move and report; times in milliseconds unless the name says otherwise."""

    period_ms: int = 500
    """A robot on its way reports this often."""
    heartbeat_ms: int | None = None
    """A robot that stands reports this often; by default 2 s, or half of `offlineAfterS` if that is shorter."""
    ack_ms: int = 50
    start_ms: int = 200
    """How long an order waits in status 1."""
    turn_dps: float = 60.0
    """Degrees a second when turning on the spot."""
    fork_ms: int = 5000
    """Driving in under a pallet and out again."""
    fork_mps: float = 0.2
    """Metres a second of the fork going up or down."""
    recognize_ms: int = 3000
    dwell_ms: int = 500
    """How long an order runs that has nothing to do, because the robot is there already."""
    load_sensor: bool = False
    """Whether robots report a load sensor; without one the load follows from the work done."""
    task_ids: bool = True
    """Whether robots report which order their task status speaks of."""


@dataclass(slots=True)
class Leg:
    """An edge being driven, from the body's node; the turn on the spot comes first."""

    to: str
    length_m: float
    turn_ms: int
    drive_ms: int
    heading_from: float
    heading_to: float


@dataclass(slots=True)
class Order:
    key: str
    target: str
    operation: str | None
    fork_ms: int
    route: list[str]
    """The nodes still to pass, the target last, or as far as it may drive."""
    known: int | None = None
    """How many nodes of its way it has been told of, where it is told which; None where it finds its own way."""
    status: int = 1
    cancelling: bool = False
    by_hand: bool = False
    """A person cancelled it at the robot, which then no longer names it."""
    recognises: bool = False
    """It looks for the pallet before it drives in."""

    @property
    def active(self) -> bool:
        return self.status in (1, 2)


@dataclass(slots=True)
class Body:
    robot_id: str
    speed_mps: float
    completes_with: int
    node: str
    battery: float
    boot: int = 1
    seq: int = 0
    heading: float = 0.0
    leg: Leg | None = None
    doing: Literal["", "fork", "dwell"] = ""
    """What it does standing: a dwell is the moment an order takes that has nothing to do."""
    duration_ms: int = 0
    elapsed_ms: int = 0
    since_ms: int = 0
    """When the present thing's clock last began to run; `elapsed_ms` is what had run before."""
    token: int = 0
    """Counts the things begun and halted, so that an end foreseen for an earlier one is passed over."""
    halts: list[str] = field(default_factory=list)
    order: Order | None = None
    error: str | None = None
    plugged: bool = False
    battery_ms: int = 0
    battery_m: float = 0.0
    """When the battery was last reckoned, and how far on the leg the body was then."""
    conditions: dict[str, int] = field(default_factory=dict)
    strikes: dict[str, int] = field(default_factory=dict)
    ack_delay_ms: int = 0
    answers: dict[str, list[Any]] = field(default_factory=dict)
    """What was answered to the commands of late, by key: a repeated command is answered again and not done again."""
    reported_ms: int = NEVER_MS
    face: tuple[Any, ...] | None = None
    """What the last report said, apart from place, time and battery."""
    held_back: Telemetry | None = None

    @classmethod
    def of(cls, spec: RobotSpec, now_ms: int) -> "Body":
        completes_with = COMPLETED if COMPLETED in spec.completion_statuses else CANCELLED
        return cls(spec.robot_id, spec.speed_mps, completes_with, spec.node_id, spec.battery, battery_ms=now_ms)

    # -- the present thing's clock

    @property
    def busy(self) -> bool:
        return self.leg is not None or self.doing != ""

    def elapsed(self, now_ms: int) -> int:
        if self.halts or (self.leg is None and self.doing == ""):
            return self.elapsed_ms
        elapsed = self.elapsed_ms + now_ms - self.since_ms
        return elapsed if elapsed < self.duration_ms else self.duration_ms

    def begin(self, duration_ms: int, now_ms: int) -> None:
        self.duration_ms, self.elapsed_ms, self.since_ms = duration_ms, 0, now_ms
        self.token += 1

    def drop(self) -> None:
        """Stop doing what it does; only for a body that stands on a node."""
        self.leg, self.doing = None, ""
        self.duration_ms = self.elapsed_ms = 0
        self.battery_m = 0.0
        self.token += 1

    def halt(self, why: str, now_ms: int) -> None:
        if not self.halts:
            self.elapsed_ms = self.elapsed(now_ms)
            self.token += 1
        if why not in self.halts:
            self.halts.append(why)

    def unhalt(self, why: str, now_ms: int) -> None:
        if why in self.halts:
            self.halts.remove(why)
            if not self.halts:
                self.since_ms = now_ms
                self.token += 1

    def ends_ms(self) -> int | None:
        """When the present thing will be done; None while nothing runs."""
        return self.since_ms + self.duration_ms - self.elapsed_ms if self.busy and not self.halts else None

    # -- readings

    @property
    def status(self) -> int:
        if self.order is None:
            return 0
        if self.halts and self.order.active and not _PAUSES.isdisjoint(self.halts):
            return 3
        return self.order.status

    def has(self, condition: str) -> bool:
        return bool(self.conditions.get(condition))

    def hit(self, fault: str) -> bool:
        """Whether this fault strikes now: always while it lasts, else once for each time it was set."""
        if self.has(fault):
            return True
        left = self.strikes.get(fault, 0)
        if left:
            self.strikes[fault] = left - 1
        return bool(left)

    def on_edge(self, now_ms: int) -> bool:
        """Whether it has left its node: turning on the spot is still standing there."""
        return self.leg is not None and self.elapsed(now_ms) > self.leg.turn_ms

    def share_driven(self, now_ms: int) -> float:
        if self.leg is None:
            return 0.0
        driven_ms = self.elapsed(now_ms) - self.leg.turn_ms
        return driven_ms / self.leg.drive_ms if driven_ms > 0 else 0.0

    def heading_at(self, now_ms: int) -> float:
        leg = self.leg
        if leg is None or not leg.turn_ms:
            return self.heading
        share = min(1.0, self.elapsed(now_ms) / leg.turn_ms)
        return wrapped(leg.heading_from + wrapped(leg.heading_to - leg.heading_from) * share)

    def battery_at(self, now_ms: int, costs: Settings | None, share: float) -> float:
        """The charge at this moment, this share of the edge driven; `costs` None means batteries do not run down."""
        if costs is None:
            return self.battery
        seconds = (now_ms - self.battery_ms) / 1000
        if self.plugged:
            return min(1.0, self.battery + costs.charge_per_s * seconds)
        metres = share * self.leg.length_m - self.battery_m if self.leg else 0.0
        return max(0.0, self.battery - costs.battery_per_s * seconds - costs.battery_per_m * metres)

    def reckon(self, now_ms: int, costs: Settings | None) -> None:
        """Write the charge down, before anything that changes how it runs."""
        share = self.share_driven(now_ms)
        self.battery = self.battery_at(now_ms, costs, share)
        self.battery_ms = now_ms
        self.battery_m = share * self.leg.length_m if self.leg else 0.0

    # -- for snapshots

    def wire(self) -> dict[str, Any]:
        """All of it, as a copy; by hand because snapshots of a thousand robots are taken while they drive."""
        values = {name: getattr(self, name) for name in _BODY}
        for name in ("halts", "conditions", "strikes", "answers"):
            values[name] = values[name].copy()
        if self.leg is not None:
            values["leg"] = {name: getattr(self.leg, name) for name in _LEG}
        if self.order is not None:
            values["order"] = {name: getattr(self.order, name) for name in _ORDER} | {"route": self.order.route.copy()}
        if self.held_back is not None:
            values["held_back"] = self.held_back._asdict()
        return values

    @classmethod
    def from_wire(cls, data: Mapping[str, Any]) -> "Body":
        values = copy.deepcopy(dict(data))
        for name, kind in (("leg", Leg), ("order", Order), ("held_back", Telemetry)):
            if values[name] is not None:
                values[name] = kind(**values[name])
        if values["face"] is not None:
            values["face"] = tuple(values["face"])
        return cls(**values)


_BODY, _LEG, _ORDER = (tuple(spec.name for spec in fields(kind)) for kind in (Body, Leg, Order))


def wrapped(angle: float) -> float:
    """An angle in (-π, π]."""
    turned = angle % tau
    return turned - tau if turned > pi else turned
