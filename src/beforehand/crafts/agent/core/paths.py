"""Exact shortest ways round everything solid: a visibility graph over the corners of the grown boxes.

A floor is built once for what is solid now and kept until that changes. Which corners see each other is found when it
is first asked, so a single way stays cheap and the next ones cost less.
"""

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence

from beforehand.crafts.agent.core.geometry import EPS, Solid, area, between, still_around, within
from beforehand.crafts.agent.core.words import Box, Point

Bounded = tuple[float, float, float, float, Solid]
"""A box with the least and greatest x and y of its corners: most ways are seen to miss it by these alone."""


def _bounded(solid: Solid) -> Bounded:
    xs, ys = [x for x, _ in solid.corners], [y for _, y in solid.corners]
    return (min(xs), min(ys), max(xs), max(ys), solid)


def _is_blocked(boxes: Iterable[Bounded], start: Point, end: Point) -> bool:
    (x, y), (x2, y2) = start, end
    left, right = (x, x2) if x <= x2 else (x2, x)
    low, high = (y, y2) if y <= y2 else (y2, y)
    for least_x, least_y, most_x, most_y, solid in boxes:
        if right <= least_x or left >= most_x or high <= least_y or low >= most_y:
            continue
        if solid.crosses(start, end):
            return True
    return False


class Floor:
    """Where a body of a radius may go among solids."""

    def __init__(self, solids: Iterable[Solid], radius_m: float, bounds: Box) -> None:
        self.solids = tuple(solids)
        self.grown = tuple(solid.grown(radius_m) for solid in self.solids)
        self._boxes = [_bounded(solid) for solid in self.grown]
        self._solid_boxes = [_bounded(solid) for solid in self.solids]
        self.radius_m = radius_m
        self.bounds = bounds
        self._corners = [corner for solid in self.grown for corner in solid.corners if self.is_free(corner)]
        self._seen: dict[int, list[tuple[int, float]]] = {}

    def is_free(self, point: Point) -> bool:
        """Whether the body's centre may be there."""
        x, y = point
        return within(point, self.bounds) and not any(
            solid.contains(point)
            for least_x, least_y, most_x, most_y, solid in self._boxes
            if least_x < x < most_x and least_y < y < most_y
        )

    def is_clear(self, start: Point, end: Point) -> bool:
        """Whether the body may go straight from one point to the other."""
        return not _is_blocked(self._boxes, start, end)

    def ends_of_free(self, start: Point, end: Point) -> Iterator[Point]:
        """Where free ground begins and ends on a line: every free stretch of it has such a point at both ends."""
        spans = (solid.span(start, end) for solid in (*self.grown, area(self.bounds)))
        parts = {0.0, 1.0, *(part for span in spans if span is not None for part in span)}
        points = (between(start, end, part) for part in sorted(parts))
        return (point for point in points if self.is_free(point))

    def is_in_reach(self, point: Point, target: Point, but: str) -> bool:
        """Whether an arm at a point reaches a target with nothing solid between, the thing itself left out."""
        return not _is_blocked((box for box in self._solid_boxes if box[4].name != but), point, target)

    def way(self, start: Point, goals: Sequence[Point]) -> tuple[Point, ...] | None:
        """The shortest way to the nearest of the goals; None where none can be reached.

        A body that stands closer to something than its radius may leave it, and not come closer.
        """
        free = [goal for goal in goals if self.is_free(goal) or math.dist(goal, start) < EPS]
        if not free:
            return None
        leaving = [still_around(solid, self.radius_m, start) for solid in self.solids]
        hulls = [_bounded(hull) for hull in leaving if hull is not None]
        return self._search(start, list(self._exits(start)), free, hulls)

    def _exits(self, start: Point) -> Iterable[Point]:
        """Where a body that stands too close to something gets clear of it: straight away, or along its sides."""
        for grown in self.grown:
            if grown.contains(start):
                x, y = grown.local(start)
                for exit_ in ((grown.along, y), (-grown.along, y), (x, grown.across), (x, -grown.across)):
                    if self.is_free(point := grown.world(exit_)):
                        yield point

    def _search(
        self, start: Point, exits: list[Point], goals: list[Point], hulls: list[Bounded]
    ) -> tuple[Point, ...] | None:
        """A* over start, exits, goals and corners; ties fall to the corner that comes first in the scene."""
        home = len(self._corners)
        points = [*self._corners, start, *exits, *goals]
        ends = range(len(points) - len(goals), len(points))

        def left(point: Point) -> float:
            return min(math.dist(point, goal) for goal in goals)

        best = {home: 0.0}
        came: dict[int, int] = {}
        heap = [(left(start), home)]
        closed: set[int] = set()
        while heap:
            _, node = heapq.heappop(heap)
            if node in closed:
                continue
            closed.add(node)
            if node in ends:
                return self._back(node, came, points)
            for other, length in self._steps(node, points, hulls, ends):
                far = best[node] + length
                if other not in closed and far < best.get(other, math.inf) - 1e-12:
                    best[other] = far
                    came[other] = node
                    heapq.heappush(heap, (far + left(points[other]), other))
        return None

    def _steps(self, node: int, points: list[Point], hulls: list[Bounded], ends: range) -> Iterable[tuple[int, float]]:
        """Where it is to go straight from a corner, the start or an exit, and how far."""
        here, home = points[node], len(self._corners)
        if node < home:
            yield from self._corners_seen(node)
        around = hulls if node == home else self._boxes
        for other in ends if node < home else range(len(points)):
            if other != node and not _is_blocked(around, here, points[other]):
                yield other, math.dist(here, points[other])

    def _corners_seen(self, node: int) -> list[tuple[int, float]]:
        if node not in self._seen:
            here = self._corners[node]
            self._seen[node] = [
                (other, math.dist(here, there))
                for other, there in enumerate(self._corners)
                if other != node and self.is_clear(here, there)
            ]
        return self._seen[node]

    def _back(self, node: int, came: dict[int, int], points: list[Point]) -> tuple[Point, ...]:
        way = [points[node]]
        while node in came:
            node = came[node]
            if math.dist(points[node], way[-1]) > EPS:
                way.append(points[node])
        return tuple(reversed(way))
