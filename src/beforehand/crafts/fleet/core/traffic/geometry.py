"""The few figures that traffic is worked out with: distances in the plane, and whether two strips overlap."""

import math
from typing import NamedTuple

Point = tuple[float, float]


class Strip(NamedTuple):
    """A straight strip of ground round the line from one point to another."""

    start: Point
    end: Point
    half_width: float

    def corners(self) -> tuple[Point, Point, Point, Point]:
        (x0, y0), (x1, y1) = self.start, self.end
        length = math.dist(self.start, self.end) or 1.0
        off_x, off_y = -(y1 - y0) / length * self.half_width, (x1 - x0) / length * self.half_width
        return (x0 + off_x, y0 + off_y), (x1 + off_x, y1 + off_y), (x1 - off_x, y1 - off_y), (x0 - off_x, y0 - off_y)


def to_line(point: Point, start: Point, end: Point) -> float:
    """How far a point is from the line between two others."""
    (x, y), (x0, y0), (x1, y1) = point, start, end
    dx, dy = x1 - x0, y1 - y0
    square = dx * dx + dy * dy
    share = 0.0 if square == 0 else min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / square))
    return math.hypot(x - x0 - share * dx, y - y0 - share * dy)


def overlap(one: Strip, other: Strip, slack: float) -> bool:
    """Whether two strips share more than an edge: no line between them keeps them apart."""
    corners = one.corners(), other.corners()
    for strip in (one, other):
        (x0, y0), (x1, y1) = strip.start, strip.end
        length = math.dist(strip.start, strip.end) or 1.0
        along = (x1 - x0) / length, (y1 - y0) / length
        for axis_x, axis_y in (along, (-along[1], along[0])):
            spans = [[x * axis_x + y * axis_y for x, y in four] for four in corners]
            if max(spans[0]) <= min(spans[1]) + slack or max(spans[1]) <= min(spans[0]) + slack:
                return False
    return True


def shortened(start: Point, end: Point, by: float) -> tuple[Point, Point] | None:
    """The line without its first piece; None where nothing is left of it."""
    length = math.dist(start, end)
    if length <= by:
        return None
    share = by / length
    return (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share), end
