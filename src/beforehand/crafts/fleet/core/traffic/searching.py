"""Ways over the ground: the shortest, or the shortest past what must not be driven over."""

import heapq
from collections.abc import Callable

from beforehand.crafts.fleet.core.routes import Routes
from beforehand.crafts.fleet.core.traffic.ground import Ground

Passable = Callable[[int], bool]


def shortest(ground: Ground, routes: Routes, start: int, target: int) -> tuple[int, ...] | None:
    """The nodes after `start`, the target last; of equally short ways the one whose next node's name is smallest."""
    left = routes.to(ground.names[target])
    if left[start] == float("inf"):
        return None
    nodes: dict[int, None] = {}
    at = start
    while at != target:
        at = min(ground.out[at], key=lambda one: round(one.length_m + left[one.node], 6)).node
        if at in nodes or at == start:
            # Between nodes that lie on each other every way is as short as any: no step need lead on.
            return way_to(ground, start, lambda node: node == target, lambda piece: True)
        nodes[at] = None
    return tuple(nodes)


def way_to(
    ground: Ground, start: int, ends: Callable[[int], bool], passable: Passable, most: int = 1_000_000
) -> tuple[int, ...] | None:
    """The shortest way over passable pieces to a node that will do; None where `most` nodes have none among them."""
    best = {start: 0.0}
    before: dict[int, int] = {}
    heap = [(0.0, start)]
    while heap and most > 0:
        length, node = heapq.heappop(heap)
        if length > best[node]:
            continue
        most -= 1
        if node != start and ends(node):
            return _back(node, start, before)
        for step in ground.out[node]:
            further = length + step.length_m
            if further < best.get(step.node, float("inf")) and passable(step.edge) and passable(step.node):
                best[step.node], before[step.node] = further, node
                heapq.heappush(heap, (further, step.node))
    return None


def _back(node: int, start: int, before: dict[int, int]) -> tuple[int, ...]:
    nodes = [node]
    while before[nodes[-1]] != start:
        nodes.append(before[nodes[-1]])
    return tuple(reversed(nodes))
