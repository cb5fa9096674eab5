"""Plain plane geometry: oriented boxes, what lies inside them, what crosses them, and where their sides run.

Everything solid is a box: a thing with its extent, a wall or a closed door as a long box without depth. A box grown by
the body's radius is what the body's centre has to stay out of; it may slide along the sides.
"""

import math
from dataclasses import dataclass, replace

from beforehand.crafts.agent.core.words import Box, Point, Segment

EPS = 1e-9
THIN = 0.001
"""Half the depth of a wall, in metres."""


@dataclass(frozen=True, slots=True)
class Solid:
    """A box: its centre, its unit axis, and how far it reaches along the axis and across it."""

    name: str
    x: float
    y: float
    along: float
    across: float
    ux: float = 1.0
    uy: float = 0.0

    def grown(self, by_m: float) -> "Solid":
        return replace(self, along=self.along + by_m, across=self.across + by_m)

    def local(self, point: Point) -> Point:
        """A point in the box's own coordinates."""
        dx, dy = point[0] - self.x, point[1] - self.y
        return (dx * self.ux + dy * self.uy, dy * self.ux - dx * self.uy)

    def world(self, point: Point) -> Point:
        """A point in its own coordinates, on the map."""
        x, y = point
        return (self.x + x * self.ux - y * self.uy, self.y + x * self.uy + y * self.ux)

    @property
    def corners(self) -> tuple[Point, ...]:
        a, b = self.along, self.across
        return tuple(self.world(corner) for corner in ((-a, -b), (a, -b), (a, b), (-a, b)))

    def contains(self, point: Point) -> bool:
        """Whether a point lies truly inside; the sides do not count."""
        x, y = self.local(point)
        return abs(x) < self.along - EPS and abs(y) < self.across - EPS

    @property
    def is_thin(self) -> bool:
        """Whether it is a line on the map, such as a wall."""
        return self.across <= THIN

    def margin(self, point: Point) -> float:
        """By how much the box could grow until its side meets the point; negative where the point lies inside."""
        x, y = self.local(point)
        return max(abs(x) - self.along, abs(y) - self.across)

    def distance(self, point: Point) -> float:
        """How far a point is from the box; 0 inside."""
        x, y = self.local(point)
        return math.hypot(max(0.0, abs(x) - self.along), max(0.0, abs(y) - self.across))

    def nearest(self, point: Point) -> Point:
        """The point of the box that is nearest to a point."""
        x, y = self.local(point)
        return self.world((max(-self.along, min(self.along, x)), max(-self.across, min(self.across, y))))

    def crosses(self, start: Point, end: Point) -> bool:
        """Whether the way between two points leads through the inside."""
        return self.span(start, end, EPS) is not None

    def span(self, start: Point, end: Point, less: float = 0.0) -> tuple[float, float] | None:
        """From which part of the way between two points to which it leads through the box, made smaller by `less`."""
        x, y = self.local(start)
        x2, y2 = self.local(end)
        enter, leave = 0.0, 1.0
        for here, there, reach in ((x, x2, self.along - less), (y, y2, self.across - less)):
            step = there - here
            if abs(step) < 1e-12:
                if abs(here) >= reach:
                    return None
                continue
            first, last = (-reach - here) / step, (reach - here) / step
            if first > last:
                first, last = last, first
            enter, leave = max(enter, first), min(leave, last)
            if enter >= leave:
                return None
        return enter, leave

    def entered_at(self, start: Point, end: Point) -> float | None:
        """How far along the way from start to end the box begins, in metres; None where it is not met."""
        if not self.crosses(start, end):
            return None
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            if self.crosses(start, between(start, end, middle)):
                high = middle
            else:
                low = middle
        return low * math.dist(start, end)


def between(start: Point, end: Point, part: float) -> Point:
    return (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)


def box(name: str, centre: Point, size: tuple[float, float]) -> Solid:
    return Solid(name, centre[0], centre[1], size[0] / 2, size[1] / 2)


def area(bounds: Box) -> Solid:
    """A part of the map as a box."""
    left, low, right, high = bounds
    return box("", ((left + right) / 2, (low + high) / 2), (right - left, high - low))


def wall(name: str, segment: Segment) -> Solid:
    (x, y), (x2, y2) = segment
    length = math.hypot(x2 - x, y2 - y)
    ux, uy = (x2 - x) / length, (y2 - y) / length
    return Solid(name, (x + x2) / 2, (y + y2) / 2, length / 2, THIN, ux, uy)


def overlaps(one: Solid, other: Solid) -> bool:
    """Whether two boxes share some of their inside."""
    for box_, rest in ((one, other), (other, one)):
        corners = rest.corners
        if any(box_.contains(corner) for corner in corners) or box_.contains((rest.x, rest.y)):
            return True
        if any(box_.crosses(start, end) for start, end in zip(corners, (*corners[1:], corners[0]), strict=True)):
            return True
    return False


def still_around(solid: Solid, radius_m: float, point: Point) -> Solid | None:
    """What a body has to stay out of that goes on from a point: closer than its radius it may leave, not come closer.

    None where the point lies inside, or on a wall's line: such a body may go anywhere.
    """
    grown = solid.grown(radius_m)
    if not grown.contains(point):
        return grown
    margin = solid.margin(point)
    if margin < 0 or (solid.is_thin and solid.distance(point) <= EPS):
        return None
    return solid.grown(margin)


def within(point: Point, bounds: Box) -> bool:
    return bounds[0] - EPS <= point[0] <= bounds[2] + EPS and bounds[1] - EPS <= point[1] <= bounds[3] + EPS


def bearing(start: Point, end: Point) -> float:
    """The direction from one point to another, in degrees from 0 up to 360."""
    return math.degrees(math.atan2(end[1] - start[1], end[0] - start[0])) % 360.0


def turn(facing: float, wanted: float) -> float:
    """How far it is to turn, from -180 to 180 degrees."""
    return (wanted - facing + 180.0) % 360.0 - 180.0
