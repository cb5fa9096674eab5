"""What traffic remembers from tick to tick and could work out anew: the ground itself, and plans made on it.

None of it is in the log. After a restart the plans are made again from where the robots are and what they were granted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from beforehand.crafts.fleet.core.traffic.clearing import Clearing
from beforehand.crafts.fleet.core.traffic.ground import Ground
from beforehand.crafts.fleet.core.traffic.resting import resting_places
from beforehand.model.fleet import FleetScene


class Plan(NamedTuple):
    """The rest of a way, after what has been granted."""

    target: int
    after: int
    """The node that it goes on from."""
    rest: tuple[int, ...]
    stops_at: int | None = None
    """A node of it where the robot lets another one by first."""


class Stood(NamedTuple):
    node: int
    since_ms: int


class Asides(NamedTuple):
    """How often somebody has made room on a robot's way to a target, itself or others for it."""

    target: int
    times: int


class Move(NamedTuple):
    """Somebody who has to go somewhere."""

    robot_id: str
    place: int


class Gathering(NamedTuple):
    """Robots that waited in vain clear the lanes for one of them."""

    leader: str
    target: int
    moves: tuple[Move, ...]
    """Those that are left, one after the other."""
    since_ms: int


@dataclass(frozen=True, slots=True)
class TrafficMemory:
    ground: Ground
    resting: frozenset[int]
    clearing: Clearing | None = None
    plans: Mapping[str, Plan] = field(default_factory=dict)
    reached: Mapping[str, int] = field(default_factory=dict)
    """How far each robot has been seen to be in the whole way of its order."""
    stood: Mapping[str, Stood] = field(default_factory=dict)
    """Since when each robot has stood where it stands with ground ahead of it."""
    asides: Mapping[str, Asides] = field(default_factory=dict)
    gathering: Gathering | None = None
    given_up: tuple[str, int] | None = None
    """The leader and the target of the last gathering that took too long: a person is asked about that one."""

    @classmethod
    def of(cls, scene: FleetScene) -> "TrafficMemory | None":
        """Nothing where the scene shares out no ground."""
        if scene.settings.traffic_mode == "NONE":
            return None
        ground = Ground(scene)
        return cls(ground, resting_places(ground, scene))

    def with_plans(self, **changes: object) -> "TrafficMemory":
        return replace(self, **changes)  # type: ignore[arg-type]
