"""True path lengths over the scene's nodes and edges, one-way edges honoured.

A row holds the distance from every node to one target, worked out when first asked for and kept. Small graphs are
searched in plain Python; big ones by scipy where it is installed, imported only then. Equal inputs give equal numbers,
whoever searches.
"""

import heapq
import math
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from beforehand.model.fleet import FleetScene
from beforehand.ports.compiled import has_scipy

BIG_GRAPH = 400
KEPT_FLOATS = 30_000_000
"""How many distances are kept in memory; the rows used longest ago go first."""


class Routes:
    """Distances in metres; `math.inf` where there is no way."""

    def __init__(self, scene: FleetScene) -> None:
        self.index = {node.id: number for number, node in enumerate(scene.nodes)}
        self.places = [(node.x, node.y) for node in scene.nodes]
        self._into: list[dict[int, float]] = [{} for _ in self.places]
        for edge in scene.edges:
            start, end = self.index[edge.from_], self.index[edge.to]
            length = edge.length_m if edge.length_m is not None else math.dist(self.places[start], self.places[end])
            self._join(start, end, length)
            if not edge.one_way:
                self._join(end, start, length)
        self._both_ways = all(
            length == self._into[start].get(end)
            for end, into in enumerate(self._into)
            for start, length in into.items()
        )
        self._out_of: list[dict[int, float]] = [{} for _ in self.places]
        for end, into in enumerate(self._into):
            for start, length in into.items():
                self._out_of[start][end] = length
        self._parts = _connected(self._into, self._out_of)
        self._rows: OrderedDict[tuple[int, bool], Sequence[float]] = OrderedDict()
        self._kept_rows = max(16, KEPT_FLOATS // max(1, len(self.places)))
        self._matrices: dict[bool, Any] = {}
        self._big = len(self.places) >= BIG_GRAPH
        if self._big and has_scipy():
            self._by_scipy([0], True)  # Importing scipy takes a while: better now than in the first tick.
        chargers = [site.node_id for site in scene.worksites if site.worksite_type == "charger"]
        self._to_charger = self._from_many([self.index[node] for node in chargers]) if chargers else None

    def _join(self, start: int, end: int, length: float) -> None:
        known = self._into[end].get(start)
        if known is None or length < known:
            self._into[end][start] = length

    def to(self, node_id: str) -> Sequence[float]:
        """The distance from every node, by its index, to this one."""
        return self._row(self.index[node_id], backwards=True)

    def out_of(self, number: int) -> Sequence[float]:
        """The distance from the node of this number to every node."""
        return self._row(number, backwards=False)

    def _row(self, number: int, backwards: bool) -> Sequence[float]:
        key = (number, backwards)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._from_many([number], backwards)
            if len(self._rows) > self._kept_rows:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(key)
        return row

    def between(self, start: str, end: str) -> float:
        """How far it is from one node to another.

        Where every edge can be driven both ways, the row of the start serves too, and that one is mostly there already,
        since the robots' way to the start was asked for just before.
        """
        if start == end:
            return 0.0
        if self._both_ways:
            return float(self.to(start)[self.index[end]])
        return float(self.to(end)[self.index[start]])

    def joined(self, start: str, end: str) -> bool:
        """Whether there is a way at all; without a search where every edge can be driven both ways."""
        if self.part(start) != self.part(end):
            return False
        return self._both_ways or not math.isinf(self.between(start, end))

    def part(self, node_id: str) -> int:
        """The part of the map a node is in; from one part to another there is no way."""
        return self._parts[self.index[node_id]]

    def ahead(self, node_id: str, next_node_id: str | None, x: float, y: float) -> tuple[int, float]:
        """The number of the next node a robot comes to, and how far it is from there: 0 when it stands on one."""
        following = None if next_node_id is None else self.index.get(next_node_id)
        if following is None:
            return self.index[node_id], 0.0
        to_next = math.dist((x, y), self.places[following])
        edge = self._into[following].get(self.index[node_id])
        return following, to_next if edge is None else min(to_next, edge)

    def left(self, node_id: str, next_node_id: str | None, x: float, y: float, end: str) -> float:
        """How far a robot still has to drive, also when it is between two nodes."""
        if next_node_id is None and node_id == end:
            return 0.0
        node, already = self.ahead(node_id, next_node_id, x, y)
        return float(self.to(end)[node]) + already

    def to_charger(self, node_id: str) -> float:
        """The distance to the nearest charger; 0 in a scene that has none."""
        return 0.0 if self._to_charger is None else float(self._to_charger[self.index[node_id]])

    def _from_many(self, starts: Sequence[int], backwards: bool = True) -> Sequence[float]:
        if self._big and has_scipy():
            return self._by_scipy(starts, backwards)
        found = _search(self._into if backwards else self._out_of, starts)
        return array("d", found) if self._big else found  # Thousands of long rows are kept: bare numbers take less.

    def _by_scipy(self, starts: Sequence[int], backwards: bool) -> Sequence[float]:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        if backwards not in self._matrices:
            size = len(self.places)
            joins = self._into if backwards else self._out_of
            joined = [(near, far, length) for near, beyond in enumerate(joins) for far, length in beyond.items()]
            lengths = [length for _, _, length in joined]
            nears, fars = [near for near, _, _ in joined], [far for _, far, _ in joined]
            matrix = csr_array((lengths, (nears, fars)), shape=(size, size))
            # The search wants its indexes so, and would make them so anew every time.
            matrix.indices, matrix.indptr = matrix.indices.astype("int32"), matrix.indptr.astype("int32")
            self._matrices[backwards] = matrix
        found: Sequence[float] = dijkstra(self._matrices[backwards], indices=list(starts), min_only=True)
        return found


def _connected(*joins: Sequence[dict[int, float]]) -> list[int]:
    """For each node the number of the part of the map that it is in."""
    parts = [-1] * len(joins[0])
    for start in range(len(parts)):
        todo = [start] if parts[start] < 0 else []
        while todo:
            node = todo.pop()
            if parts[node] < 0:
                parts[node] = start
                for joined in joins:
                    todo.extend(joined[node])
    return parts


def _search(joins: Sequence[dict[int, float]], starts: Iterable[int]) -> list[float]:
    """Dijkstra's search from the starts along the joins."""
    best = [math.inf] * len(joins)
    heap = [(0.0, start) for start in starts]
    for _, start in heap:
        best[start] = 0.0
    while heap:
        length, node = heapq.heappop(heap)
        if length > best[node]:
            continue
        for beyond, step in joins[node].items():
            if length + step < best[beyond]:
                best[beyond] = length + step
                heapq.heappush(heap, (length + step, beyond))
    return best
