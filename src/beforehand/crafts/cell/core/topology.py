"""The allowed moves as a graph, and the one shortest path through it.

Of all paths the settled one is taken: least cost, then fewest moves, then the smallest sequence of names in plain
string order. Positions are numbered in name order and costs are whole numbers of the scene's smallest decimal, so a
tie is a tie and never a rounding. Even costs are searched by levels, in big graphs from both ends; uneven ones by
Dijkstra, which is scipy's in big graphs only, and only where scipy is installed.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from heapq import heappop, heappush
from typing import Any

from beforehand.model.cell import CellScene, Move, Number
from beforehand.ports.compiled import has_scipy

SMALL = 400
"""Up to this many positions, how near all are to each other is worked out when the topology is built."""

BIG = 700
"""From this many positions on, uneven costs are searched by scipy."""

REMEMBERED = 256
"""Targets whose distances are kept."""

KEPT = 500_000
"""Names in all the paths that are kept."""

EXACT = 2**53
"""Whole numbers below this are exact in the floats scipy counts in."""


class Topology:
    """Adjacency in whole numbers; build it once per scene and ask it often."""

    def __init__(self, scene: CellScene) -> None:
        self.names: list[str] = sorted({place.name for place in scene.positions})
        self.number: dict[str, int] = {name: at for at, name in enumerate(self.names)}
        costs = _whole_costs([move.cost for move in scene.moves])
        weights = self._lightest(scene, costs)
        self.radix = len(self.names) + 1
        """A weight is cost x radix + 1, so that one number carries the cost and the number of moves."""
        self.after: list[list[int]] = [[] for _ in self.names]
        self.before: list[list[int]] = [[] for _ in self.names]
        for u, v in weights:
            self.after[u].append(v)
            self.before[v].append(u)
        for near in (*self.after, *self.before):
            near.sort()
        self.weight = {edge: cost * self.radix + 1 for edge, cost in weights.items()}
        self.heaviest = max(self.weight.values(), default=0)
        self.even = len(set(weights.values())) <= 1
        self.matrices: dict[bool, Any] = {}
        """The same as scipy matrices, forwards and backwards, once somebody has asked for them."""
        self._distances: dict[int, Sequence[float]] = {}
        self._paths: dict[tuple[str, str], list[str]] = {}
        self._kept = 0
        self._within = self._nearness() if self.even and len(self.names) <= SMALL else []

    def _lightest(self, scene: CellScene, costs: list[int]) -> dict[tuple[int, int], int]:
        weights: dict[tuple[int, int], int] = {}
        for move, cost in zip(scene.moves, costs, strict=True):
            u, v = self.number.get(move.source), self.number.get(move.target)
            if u is None or v is None or u == v:
                continue
            for edge in ((u, v),) if move.one_way else ((u, v), (v, u)):
                if edge not in weights or cost < weights[edge]:
                    weights[edge] = cost
        return weights

    def neighbours(self, name: str) -> list[str]:
        """Where one allowed move leads, in name order."""
        return [self.names[v] for v in self.after[self.number[name]]]

    def shortest_path(self, start: str, end: str) -> list[str] | None:
        """The settled path with both ends in it, or None when no path leads there."""
        known = self._paths.get((start, end))
        if known is not None:
            return list(known)
        found = self._search(start, end)
        if found is not None:
            self._kept += len(found)
            if self._kept > KEPT:
                self._paths.clear()
                self._kept = len(found)
            self._paths[start, end] = found
        return None if found is None else list(found)

    def _search(self, start: str, end: str) -> list[str] | None:
        s, t = self.number.get(start), self.number.get(end)
        if s is None or t is None:
            return None
        if s == t:
            return [start]
        if not self.even:
            found = self._downhill(s, t)
        else:
            found = self._by_levels(s, t) if self._within else self._from_both_ends(s, t)
        return None if found is None else [self.names[at] for at in found]

    def reachable(self, start: str) -> set[str]:
        """Every position some path leads to, the start included."""
        s = self.number.get(start)
        if s is None:
            return set()
        seen, front, depth = {s: 0}, [s], 0
        while front:
            depth += 1
            front = _spread(front, self.after, seen, depth)
        return {self.names[at] for at in seen}

    def _by_levels(self, s: int, t: int) -> list[int] | None:
        """Always to the smallest name that is one move closer; how near everything is was worked out beforehand."""
        bit = 1 << t
        near = self._within
        still = next((moves for moves, reached in enumerate(near[s]) if reached & bit), -1)
        if still < 0:
            return None
        path, u = [s], s
        while still:
            still -= 1
            for v in self.after[u]:
                if near[v][min(still, len(near[v]) - 1)] & bit:
                    u = v
                    break
            path.append(u)
        return path

    def _nearness(self) -> list[list[int]]:
        """For every position, by number of moves, the positions within them: bits, all grown a move at a time."""
        reach = [1 << at for at in range(len(self.names))]
        within = [[bits] for bits in reach]
        growing = list(range(len(self.names)))
        while growing:
            grown = []
            for u in growing:
                bits = reach[u]
                for v in self.after[u]:
                    bits |= reach[v]
                grown.append(bits)
            still = []
            for u, bits in zip(growing, grown, strict=True):
                if bits != reach[u]:
                    within[u].append(bits)
                    still.append(u)
            for u in still:
                reach[u] = within[u][-1]
            growing = still
        return within

    def _from_both_ends(self, s: int, t: int) -> list[int] | None:
        """Breadth-first from both ends; the smaller front grows. Then the smallest names among all tied paths."""
        ahead, behind = {s: 0}, {t: 0}
        front, back = [s], [t]
        a = b = 0
        meeting: list[int] = []
        while front and back and not meeting:
            if len(front) <= len(back):
                a += 1
                front = _spread(front, self.after, ahead, a)
                meeting = [v for v in front if v in behind]
            else:
                b += 1
                back = _spread(back, self.before, behind, b)
                meeting = [v for v in back if v in ahead]
        return self._smallest_through(s, meeting, ahead, behind, a, b) if meeting else None

    def _smallest_through(
        self, s: int, meeting: list[int], ahead: dict[int, int], behind: dict[int, int], a: int, b: int
    ) -> list[int]:
        """Where the fronts first meet, every tied path passes: mark the way there, then take the smallest names."""
        left = dict.fromkeys(meeting, b)
        layer = set(meeting)
        for depth in range(a - 1, 0, -1):
            layer = {u for v in layer for u in self.before[v] if ahead.get(u) == depth}
            left.update(dict.fromkeys(layer, a + b - depth))
        path = [s]
        for still in range(a + b - 1, -1, -1):
            path.append(next(v for v in self.after[path[-1]] if left.get(v) == still or behind.get(v) == still))
        return path

    def _downhill(self, s: int, t: int) -> list[int] | None:
        """Follow the exact distances to the target."""
        far = self._distance_to(t)
        if far[s] < 0:
            return None
        path = [s]
        while path[-1] != t:
            path.append(self.next_towards(path[-1], far))
        return path

    def distances_to(self, end: str) -> Sequence[float]:
        """The combined weight of the best way from every position, by number; -1 where there is none."""
        return self._distance_to(self.number[end])

    def next_towards(self, u: int, far: Sequence[float]) -> int:
        """Of the positions one move on that lie on a best path, the one with the smallest name."""
        return next(v for v in self.after[u] if far[v] >= 0 and self.weight[u, v] + far[v] == far[u])

    def _distance_to(self, t: int) -> Sequence[float]:
        known = self._distances.get(t)
        if known is not None:
            return known
        if len(self.names) >= BIG and self.heaviest * len(self.names) < EXACT and has_scipy():
            from beforehand.crafts.cell.core.distances import distances_to

            far: Sequence[float] = distances_to(self, t)
        else:
            far = self._dijkstra_to(t)
        return self._remember(t, far)

    def _remember(self, t: int, far: Sequence[float]) -> Sequence[float]:
        if len(self._distances) >= REMEMBERED:
            self._distances.clear()
        self._distances[t] = far
        return far

    def _dijkstra_to(self, t: int) -> list[int]:
        far = [-1] * len(self.names)
        queue = [(0, t)]
        best = {t: 0}
        while queue:
            distance, v = heappop(queue)
            if far[v] >= 0:
                continue
            far[v] = distance
            for u in self.before[v]:
                reach = distance + self.weight[u, v]
                if far[u] < 0 and reach < best.get(u, reach + 1):
                    best[u] = reach
                    heappush(queue, (reach, u))
        return far


def _spread(front: list[int], edges: list[list[int]], seen: dict[int, int], depth: int) -> list[int]:
    reached = []
    for u in front:
        for v in edges[u]:
            if v not in seen:
                seen[v] = depth
                reached.append(v)
    return reached


def strong_components(places: Iterable[str], moves: Iterable[Move]) -> dict[str, int]:
    """A number for every position; two have the same where each can be reached from the other. Linear in the size."""
    ahead: dict[str, list[str]] = {place: [] for place in places}
    behind: dict[str, list[str]] = {place: [] for place in ahead}
    for move in moves:
        if move.source in ahead and move.target in ahead:
            for u, v in ((move.source, move.target),) + (() if move.one_way else ((move.target, move.source),)):
                ahead[u].append(v)
                behind[v].append(u)
    numbers: dict[str, int] = {}
    for place in reversed(_finished(ahead)):
        if place not in numbers:
            number, todo = len(numbers), [place]
            numbers[place] = number
            while todo:
                new = [before for before in behind[todo.pop()] if before not in numbers]
                numbers.update(dict.fromkeys(new, number))
                todo += new
    return numbers


def _finished(ahead: dict[str, list[str]]) -> list[str]:
    """The positions as a search into the depth leaves them."""
    seen: set[str] = set()
    finished: list[str] = []
    for start in ahead:
        if start in seen:
            continue
        seen.add(start)
        way = [(start, iter(ahead[start]))]
        while way:
            following = next((place for place in way[-1][1] if place not in seen), None)
            if following is None:
                finished.append(way.pop()[0])
            else:
                seen.add(following)
                way.append((following, iter(ahead[following])))
    return finished


def _whole_costs(costs: Iterable[Number]) -> list[int]:
    """Costs as whole multiples of the smallest decimal place among them: 0.1 + 0.2 is then 0.3."""
    written = list(costs)
    if all(isinstance(cost, int) for cost in written):
        return [int(cost) for cost in written]
    exact = [Decimal(str(cost)) for cost in written]
    places = max((-int(cost.as_tuple().exponent) for cost in exact), default=0)
    return [_scaled(cost, max(places, 0)) for cost in exact]


def _scaled(cost: Decimal, places: int) -> int:
    sign, digits, exponent = cost.as_tuple()
    power: int = 10 ** (int(exponent) + places)
    whole = int("".join(map(str, digits)) or "0") * power
    return -whole if sign else whole
