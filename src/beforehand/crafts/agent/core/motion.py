"""A walk and the turn at its end, as a function of the tick.

Lengths, directions and times are worked out once, when the motion begins; where the body is at a tick is then looked
up, cheap enough for a thousand bodies twenty times a second.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from beforehand.crafts.agent.core.geometry import bearing, turn
from beforehand.crafts.agent.core.words import Point
from beforehand.ports.body import TICKS_PER_S

TICK_S = 1 / TICKS_PER_S
TURN_DPS = 180.0
Leg = tuple[float, float, float, float, float]
"""Where it begins, the unit vector along it, and its direction in degrees."""


@dataclass(frozen=True, slots=True)
class Motion:
    """A walk and a turn at its end, from one tick on. `halts_m`: where something unforeseen stops it."""

    since: int
    points: tuple[Point, ...]
    speed_mps: float
    facing: float
    """The direction before the first step."""
    ends_facing: float
    halts_m: float | None = None
    length_m: float = field(init=False, compare=False, repr=False)
    walk_ticks: int = field(init=False, compare=False, repr=False)
    turn_ticks: int = field(init=False, compare=False, repr=False)
    _ends: tuple[float, ...] = field(init=False, compare=False, repr=False)
    """How far it is to the end of each leg."""
    _legs: tuple[Leg, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        legs = [(start, end, math.dist(start, end)) for start, end in pairwise(self.points)]
        legs = [leg for leg in legs if leg[2] > 0]
        ends = tuple(accumulate(length for _, _, length in legs))
        self._know("_ends", ends)
        self._know("_legs", tuple(_leg(start, end, length) for start, end, length in legs))
        self._know("length_m", ends[-1] if ends else 0.0)
        self._know("walk_ticks", _ticks_for(self.length_m, self.speed_mps))
        self._know("turn_ticks", _ticks_for(abs(turn(self._last_facing, self.ends_facing)), TURN_DPS))

    def _know(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def _last_facing(self) -> float:
        return self._legs[-1][4] if self._legs else self.facing

    @property
    def ends(self) -> int | None:
        """The tick of arrival; None while something is in the way."""
        return None if self.halts_m is not None else self.since + self.walk_ticks + self.turn_ticks

    def stalled_since(self) -> int | None:
        """The tick since when nothing has moved, because of what is in the way."""
        return None if self.halts_m is None else self.since + _ticks_for(self.halts_m, self.speed_mps)

    def pose(self, tick: int) -> tuple[Point, float]:
        """Where the body is at a tick, and where it looks."""
        gone_ticks = tick - self.since
        if self.halts_m is None and gone_ticks >= self.walk_ticks:
            return self.points[-1], self._turned(gone_ticks - self.walk_ticks)
        gone = gone_ticks * TICK_S * self.speed_mps
        if self.halts_m is not None and gone > self.halts_m:
            gone = self.halts_m
        if gone <= 0.0 or not self._legs:
            return self.points[0], self.facing
        number = min(bisect_left(self._ends, gone), len(self._legs) - 1)
        x, y, ux, uy, facing = self._legs[number]
        along = gone - (self._ends[number - 1] if number else 0.0)
        return (x + ux * along, y + uy * along), facing

    def _turned(self, for_ticks: int) -> float:
        if for_ticks >= self.turn_ticks:
            return self.ends_facing
        before = self._last_facing
        left = turn(before, self.ends_facing)
        return (before + math.copysign(min(abs(left), for_ticks * TICK_S * TURN_DPS), left)) % 360.0


def _leg(start: Point, end: Point, length: float) -> Leg:
    return (*start, (end[0] - start[0]) / length, (end[1] - start[1]) / length, bearing(start, end))


def _ticks_for(amount: float, per_s: float) -> int:
    return math.ceil(amount / (per_s * TICK_S) - 1e-9)
