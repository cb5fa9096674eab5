"""The roads of a scene as a robot sees them: its own way to a target.

The core names a target only; the way is the robot's business. Distances to a target are computed once and kept for the
targets used last. Of equally short ways the neighbour with the smallest name is taken, so the way is always the same.
"""

import heapq
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from math import atan2, hypot, inf
from typing import NamedTuple

from beforehand.model.fleet import FleetScene
from beforehand.ports.compiled import has_scipy

_SHORTEST_M = 0.001
_EQUAL_M = 1e-6
_BIG = 1500
_KEPT = 512


class Road(NamedTuple):
    """One edge in the direction it is driven."""

    to: str
    number: int
    length_m: float
    heading: float


class Roads:
    def __init__(self, scene: FleetScene) -> None:
        self.at = {node.id: (node.x, node.y) for node in scene.nodes}
        self._index = {name: index for index, name in enumerate(self.at)}
        self._out: dict[str, list[Road]] = {name: [] for name in self.at}
        self._into: list[list[tuple[int, float]]] = [[] for _ in self.at]
        for edge in scene.edges:
            self._lay(edge.from_, edge.to, edge.length_m)
            if not edge.one_way:
                self._lay(edge.to, edge.from_, edge.length_m)
        for roads in self._out.values():
            roads.sort()
        self._distances: OrderedDict[str, Sequence[float]] = OrderedDict()

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.at

    def distance(self, start: str, target: str) -> float:
        """Metres from one node to another along the shortest way; infinite where there is none."""
        return float(self._to(target)[self._index[start]])

    def route(self, start: str, target: str) -> list[str] | None:
        """The nodes after `start` on the way to `target`, the target last; None where there is no way."""
        if self.distance(start, target) == inf:
            return None
        nodes: list[str] = []
        node = start
        while (road := self._next(node, target)) is not None:
            node = road.to
            nodes.append(node)
        return nodes

    def road(self, start: str, end: str) -> Road | None:
        """The shortest edge between two neighbours."""
        between = (road for road in self._out.get(start, ()) if road.to == end)
        return min(between, key=lambda road: road.length_m, default=None)

    def _next(self, start: str, target: str) -> Road | None:
        """The first edge of the way from `start` to `target`."""
        if start == target:
            return None
        left = self._to(target)
        best: Road | None = None
        best_m = inf
        for road in self._out[start]:
            through_m = road.length_m + left[road.number]
            if through_m < best_m - _EQUAL_M:
                best, best_m = road, through_m
        return best

    def _lay(self, start: str, end: str, length_m: float | None) -> None:
        (x0, y0), (x1, y1) = self.at[start], self.at[end]
        length = max(hypot(x1 - x0, y1 - y0) if length_m is None else length_m, _SHORTEST_M)
        self._out[start].append(Road(end, self._index[end], length, atan2(y1 - y0, x1 - x0)))
        self._into[self._index[end]].append((self._index[start], length))

    def _to(self, target: str) -> Sequence[float]:
        known = self._distances.get(target)
        if known is None:
            index = self._index[target]
            known = self._far(index) if len(self.at) > _BIG else self._near(index)
            self._distances[target] = known
            if len(self._distances) > _KEPT:
                self._distances.popitem(last=False)
        else:
            self._distances.move_to_end(target)
        return known

    def _near(self, target: int) -> Sequence[float]:
        found = [inf] * len(self.at)
        found[target] = 0.0
        queue = [(0.0, target)]
        while queue:
            length, index = heapq.heappop(queue)
            if length > found[index]:
                continue
            for before, step in self._into[index]:
                if length + step < found[before]:
                    found[before] = length + step
                    heapq.heappush(queue, (length + step, before))
        return found

    def _far(self, target: int) -> Sequence[float]:
        """The same for big halls, in bare numbers, and many times faster where scipy is installed."""
        if not has_scipy():
            return array("d", self._near(target))
        from scipy.sparse.csgraph import dijkstra

        return array("d", dijkstra(self._matrix(), indices=target).tobytes())

    def _matrix(self) -> object:
        if not hasattr(self, "_sparse"):
            from scipy.sparse import csr_matrix

            shortest: dict[tuple[int, int], float] = {}
            for end, befores in enumerate(self._into):
                for start, length in befores:
                    shortest[end, start] = min(length, shortest.get((end, start), inf))
            rows, columns = zip(*shortest, strict=True) if shortest else ((), ())
            size = len(self.at)
            self._sparse = csr_matrix((list(shortest.values()), (rows, columns)), shape=(size, size))
        return self._sparse
