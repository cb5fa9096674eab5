"""The ground of a scene in pieces, its nodes and edges, and which pieces two robots may not have at once.

A robot on a node may turn there, so it needs the circle round its body; on an edge it needs the strip it sweeps. It
holds both ends of the edge it is on, until its tail is clear of the one behind. So where no two robots hold pieces that
clash, no two bodies ever touch. What clashes with a piece is worked out when first asked for, and kept.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from beforehand.crafts.fleet.core.traffic.geometry import Point, Strip, overlap, shortened, to_line
from beforehand.model.fleet import FleetScene, RobotSpec

SLACK_M = 1e-6
ON_WAY_M = 1.0
"""A robot that says it is further than this from where it should be is not believed to be there."""


class Body(NamedTuple):
    length_m: float
    width_m: float

    @property
    def radius_m(self) -> float:
        """Of the circle that it needs to turn on the spot."""
        return math.hypot(self.length_m, self.width_m) / 2


class Step(NamedTuple):
    """From one node to the next."""

    node: int
    edge: int
    length_m: float


def body_of(robot: RobotSpec) -> Body:
    return Body(robot.length_m, robot.width_m)


class Ground:
    """Pieces are numbers: the nodes first, then the edges, one number for both directions."""

    def __init__(self, scene: FleetScene) -> None:
        self.names = [node.id for node in scene.nodes]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.places: list[Point] = [(node.x, node.y) for node in scene.nodes]
        self.ends: list[tuple[int, int]] = []
        self.edges: dict[tuple[int, int], int] = {}
        self.out: list[list[Step]] = [[] for _ in self.names]
        self.into: list[list[Step]] = [[] for _ in self.names]
        for edge in scene.edges:
            start, end = self.index[edge.from_], self.index[edge.to]
            length = math.dist(self.places[start], self.places[end]) if edge.length_m is None else edge.length_m
            piece = self._piece(start, end)
            self._join(start, end, piece, length)
            if not edge.one_way:
                self._join(end, start, piece, length)
        for steps in (*self.out, *self.into):
            steps.sort(key=lambda step: self.names[step.node])
        bodies = [body_of(robot) for robot in scene.robots]
        biggest = Body(max((one.length_m for one in bodies), default=1.6), max((b.width_m for b in bodies), default=1))
        self.bodies: list[Body] = list(dict.fromkeys([biggest, *bodies]))
        """The bodies there are, and first one that is as long as the longest and as wide as the widest."""
        self.body_of = {robot.robot_id: self.bodies.index(body_of(robot)) for robot in scene.robots}
        self.widest_m = biggest.radius_m
        self._cell_m = max(2.0, 2 * self.widest_m)
        self._near: dict[tuple[int, int], list[int]] = defaultdict(list)
        for piece in range(len(self.names) + len(self.ends)):
            for cell in self._cells(piece):
                self._near[cell].append(piece)
        self._clashes: dict[tuple[int, int, int], frozenset[int]] = {}

    def _piece(self, start: int, end: int) -> int:
        pair = (min(start, end), max(start, end))
        if pair not in self.edges:
            self.edges[pair] = len(self.names) + len(self.ends)
            self.ends.append(pair)
        return self.edges[pair]

    def _join(self, start: int, end: int, piece: int, length: float) -> None:
        self.out[start].append(Step(end, piece, length))
        self.into[end].append(Step(start, piece, length))

    # -- names

    def edge(self, start: int, end: int) -> int | None:
        return self.edges.get((min(start, end), max(start, end)))

    def step(self, start: int, end: int) -> Step | None:
        found = [step for step in self.out[start] if step.node == end]
        return min(found, key=lambda step: step.length_m, default=None)

    def name(self, piece: int) -> str:
        """A piece in words."""
        if piece < len(self.names):
            return f"node {self.names[piece]}"
        start, end = self.ends[piece - len(self.names)]
        return f"edge {self.names[start]}-{self.names[end]}"

    def clear_m(self, body: int) -> float:
        """How far a robot must have driven from a node before its tail is out of the way of others there."""
        return self.bodies[body].length_m / 2 + self.widest_m

    # -- what clashes

    def clashes(self, piece: int, mine: int, theirs: int) -> frozenset[int]:
        """The pieces that a robot of body `theirs` may not have while one of body `mine` has this one."""
        key = (piece, mine, theirs)
        found = self._clashes.get(key)
        if found is None:
            near = {other for cell in self._cells(piece) for other in self._around(cell)}
            found = frozenset(other for other in near if self._clash(piece, mine, other, theirs))
            self._clashes[key] = found
        return found

    def _around(self, cell: tuple[int, int]) -> Iterator[int]:
        x, y = cell
        for near_x in (x - 1, x, x + 1):
            for near_y in (y - 1, y, y + 1):
                yield from self._near.get((near_x, near_y), ())

    def _cells(self, piece: int) -> set[tuple[int, int]]:
        size = self._cell_m
        if piece < len(self.names):
            x, y = self.places[piece]
            return {(math.floor(x / size), math.floor(y / size))}
        (x0, y0), (x1, y1) = self._line(piece)
        parts = max(1, math.ceil(2 * math.hypot(x1 - x0, y1 - y0) / size))
        shares = (number / parts for number in range(parts + 1))
        return {(math.floor((x0 + (x1 - x0) * s) / size), math.floor((y0 + (y1 - y0) * s) / size)) for s in shares}

    def _line(self, piece: int) -> tuple[Point, Point]:
        start, end = self.ends[piece - len(self.names)]
        return self.places[start], self.places[end]

    def _clash(self, one: int, mine: int, other: int, theirs: int) -> bool:
        if one == other:
            return True
        if one >= len(self.names) and other >= len(self.names):
            return self._edges_clash(one, mine, other, theirs)
        if one >= len(self.names):
            return self._clash(other, theirs, one, mine)
        radius = self.bodies[mine].radius_m
        if other < len(self.names):
            apart = math.dist(self.places[one], self.places[other])
            return apart < radius + self.bodies[theirs].radius_m - SLACK_M
        if one in self.ends[other - len(self.names)]:
            return False  # Who is on an edge holds its ends too, for as long as that matters.
        return to_line(self.places[one], *self._line(other)) < radius + self.bodies[theirs].width_m / 2 - SLACK_M

    def _edges_clash(self, one: int, mine: int, other: int, theirs: int) -> bool:
        shared = set(self.ends[one - len(self.names)]) & set(self.ends[other - len(self.names)])
        if not shared:
            return overlap(self._strip(one, mine), self._strip(other, theirs), SLACK_M)
        joint = shared.pop()
        return self._clash_beyond(joint, one, mine, other, theirs) or self._clash_beyond(
            joint, other, theirs, one, mine
        )

    def _clash_beyond(self, joint: int, one: int, mine: int, other: int, theirs: int) -> bool:
        """Whether a robot that has left the node that two edges share is in the way of one anywhere on the other."""
        start, end = self.ends[one - len(self.names)]
        far = end if joint == start else start
        left = shortened(self.places[joint], self.places[far], self.widest_m)
        if left is None:
            return False
        return overlap(Strip(*left, self.bodies[mine].width_m / 2), self._strip(other, theirs), SLACK_M)

    def _strip(self, piece: int, body: int) -> Strip:
        return Strip(*self._line(piece), self.bodies[body].width_m / 2)

    # -- where a robot is

    def covered(self, node: int, following: int | None, place: Point, body: int) -> set[int]:
        """The pieces under a robot that was last on `node`, is on its way to `following`, and says it is at `place`."""
        if following is not None:
            edge = self.edge(node, following)
            if edge is None:
                return {node, following}
            off_m = to_line(place, self.places[node], self.places[following])
            left = off_m <= ON_WAY_M and math.dist(place, self.places[node]) >= self.clear_m(body)
            return {edge, following} if left else {edge, following, node}
        if place == (0.0, 0.0) or math.dist(place, self.places[node]) <= ON_WAY_M / 2:
            return {node}
        for step in self.out[node]:
            if to_line(place, self.places[node], self.places[step.node]) <= ON_WAY_M / 2:
                return {node, step.edge, step.node}
        return {node, *self._at(place, body)}

    def _at(self, place: Point, body: int) -> Iterator[int]:
        """Whatever a robot that stands anywhere is in the way of."""
        radius = self.bodies[body].radius_m
        x, y = (math.floor(value / self._cell_m) for value in place)
        for piece in set(self._around((x, y))):
            line = (self.places[piece],) * 2 if piece < len(self.names) else self._line(piece)
            if to_line(place, *line) < radius + self.widest_m:
                yield piece

    def pieces_of(self, nodes: Iterable[int]) -> list[int]:
        """The nodes of a way and the edges between them."""
        found: list[int] = []
        last: int | None = None
        for node in nodes:
            edge = None if last is None else self.edge(last, node)
            found += [node] if edge is None else [edge, node]
            last = node
        return found
