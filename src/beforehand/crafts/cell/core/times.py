"""How long a step takes, in whole milliseconds, so that sums are exact and two orders can be compared.

A move takes its distance over the scene's speed, or 2 seconds where a position has no coordinates. A routine takes its
stabilise time and its duration, as far as the scene gives them. The preview and the free order count by this watch.
"""

from collections.abc import Sequence
from math import dist
from typing import Any

from beforehand.crafts.cell.core.topology import Topology
from beforehand.model.cell import CellScene

SPEED_MPS = 0.5
EDGE_MS = 2_000


class Watch:
    def __init__(self, scene: CellScene) -> None:
        self.speed = scene.speed_mps or SPEED_MPS
        self.places = {
            place.name: (float(place.x), float(place.y))
            for place in scene.positions
            if place.x is not None and place.y is not None
        }
        self.durations = {routine.name: float(routine.duration_s or 0) for routine in scene.routines}

    def move(self, start: str | None, end: str) -> int:
        a, b = self.places.get(start or ""), self.places.get(end)
        return EDGE_MS if a is None or b is None else round(1_000 * dist(a, b) / self.speed)

    def routine(self, name: str, stabilize: Any) -> int:
        return round(1_000 * (_seconds(stabilize) + self.durations.get(name, 0.0)))

    def travel(self, topology: Topology, places: Sequence[str], moves: Sequence[Sequence[int]]) -> list[list[int]]:
        """The time of the settled path from each of the places (row) to each (column); 0 where there is none."""
        if len(self.places) < 2:
            return [[max(many, 0) * EDGE_MS for many in row] for row in moves]
        columns = [_Arrival(self, topology, place) for place in places]
        return [
            [arrival.time(start) if many > 0 else 0 for arrival, many in zip(columns, row, strict=True)]
            for start, row in zip(places, moves, strict=True)
        ]


class _Arrival:
    """Times to one place; a settled path goes on as the settled path of every place on it."""

    def __init__(self, watch: Watch, topology: Topology, end: str) -> None:
        self.watch, self.topology = watch, topology
        self.known = {topology.number[end]: 0}
        self.far = topology.distances_to(end)

    def time(self, start: str) -> int:
        way = [self.topology.number[start]]
        while way[-1] not in self.known:
            way.append(self.topology.next_towards(way[-1], self.far))
        names = self.topology.names
        for u, v in zip(way[-2::-1], way[:0:-1], strict=True):
            self.known[u] = self.known[v] + self.watch.move(names[u], names[v])
        return self.known[way[0]]


def _seconds(value: Any) -> float:
    """A time as a step gives it; what is no ordinary time counts as none (the verifier reports it)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e12 < value < 1e12:
        return 0.0
    return max(float(value), 0.0)
