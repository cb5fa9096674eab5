"""True path lengths over the scene's nodes and edges, one-way edges honoured.

A row holds the distance from every node to one target, worked out when first asked for and kept. Small graphs are
searched in plain Python; big ones by scipy, imported only then. Equal inputs give equal numbers.
"""

import heapq
import math
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

from beforehand.model.fleet import FleetScene

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
        self._rows: OrderedDict[int, Sequence[float]] = OrderedDict()
        self._kept_rows = max(16, KEPT_FLOATS // max(1, len(self.places)))
        self._matrix: Any = None
        chargers = [site.node_id for site in scene.worksites if site.worksite_type == "charger"]
        self._to_charger = self._from_many([self.index[node] for node in chargers]) if chargers else None

    def _join(self, start: int, end: int, length: float) -> None:
        known = self._into[end].get(start)
        if known is None or length < known:
            self._into[end][start] = length

    def to(self, node_id: str) -> Sequence[float]:
        """The distance from every node, by its index, to this one."""
        target = self.index[node_id]
        row = self._rows.get(target)
        if row is None:
            row = self._rows[target] = self._from_many([target])
            if len(self._rows) > self._kept_rows:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(target)
        return row

    def between(self, start: str, end: str) -> float:
        return 0.0 if start == end else float(self.to(end)[self.index[start]])

    def left(self, node_id: str, next_node_id: str | None, x: float, y: float, end: str) -> float:
        """How far a robot still has to drive, also when it is between two nodes."""
        if next_node_id is None or next_node_id not in self.index:
            return self.between(node_id, end)
        to_next = math.dist((x, y), self.places[self.index[next_node_id]])
        edge = self._into[self.index[next_node_id]].get(self.index[node_id])
        return (to_next if edge is None else min(to_next, edge)) + self.between(next_node_id, end)

    def to_charger(self, node_id: str) -> float:
        """The distance to the nearest charger; 0 in a scene that has none."""
        return 0.0 if self._to_charger is None else float(self._to_charger[self.index[node_id]])

    def _from_many(self, targets: Sequence[int]) -> Sequence[float]:
        if len(self.places) >= BIG_GRAPH:
            return self._by_scipy(targets)
        return _search(self._into, targets)

    def _by_scipy(self, targets: Sequence[int]) -> Sequence[float]:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        if self._matrix is None:
            size = len(self.places)
            joined = [(end, start, length) for end, into in enumerate(self._into) for start, length in into.items()]
            # csgraph reads a stored zero as "no edge": two nodes on one spot are a hair apart instead.
            lengths = [max(length, 1e-9) for _, _, length in joined]
            ends, starts = [end for end, _, _ in joined], [start for _, start, _ in joined]
            self._matrix = csr_array((lengths, (ends, starts)), shape=(size, size))
        found: Sequence[float] = dijkstra(self._matrix, indices=list(targets), min_only=True)
        return found


def _search(into: Sequence[dict[int, float]], targets: Iterable[int]) -> list[float]:
    """Dijkstra's search backwards from the targets."""
    best = [math.inf] * len(into)
    heap = [(0.0, target) for target in targets]
    for _, target in heap:
        best[target] = 0.0
    while heap:
        length, node = heapq.heappop(heap)
        if length > best[node]:
            continue
        for before, step in into[node].items():
            if length + step < best[before]:
                best[before] = length + step
                heapq.heappush(heap, (length + step, before))
    return best
