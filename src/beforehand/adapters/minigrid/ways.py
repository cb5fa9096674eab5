"""Ways through a grid: the fewest steps and turns to where something holds, and what stands in the way where none is.

Directions and cells are tried in a fixed order, so that of equally short ways it is always the same one.
"""

import heapq
from collections import deque
from collections.abc import Callable, Container

from beforehand.adapters.minigrid.grid import FORWARD, LEFT, RIGHT, Cell, Grid, ahead, neighbours

Pose = tuple[Cell, int]
"""A cell and the direction in which the body looks from it."""
Arrived = Callable[[Cell, Cell], bool]
"""Whether a body that stands in the first cell and looks at the second is where it wants to be."""
COSTS = {"door": 5, "ball": 50, "key": 50, "box": 50}
"""What it costs to clear something away, in steps, when the way with the least of it is looked for."""
LOCKED_COST = 2_000


def way(grid: Grid, arrived: Arrived) -> tuple[int, ...] | None:
    """The fewest steps to a pose that will do; None where there is no way."""
    start: Pose = (grid.at, grid.direction)
    came: dict[Pose, tuple[Pose, int] | None] = {start: None}
    queue = deque([start])
    while queue:
        cell, direction = pose = queue.popleft()
        front = ahead(cell, direction)
        if arrived(cell, front):
            return _back(came, pose)
        following = [(LEFT, (cell, (direction - 1) % 4)), (RIGHT, (cell, (direction + 1) % 4))]
        if grid.is_free(front):
            following.insert(0, (FORWARD, (front, direction)))
        for step, further in following:
            if further not in came:
                came[further] = (pose, step)
                queue.append(further)
    return None


def _back(came: dict[Pose, tuple[Pose, int] | None], pose: Pose) -> tuple[int, ...]:
    steps: list[int] = []
    while (before := came[pose]) is not None:
        pose, step = before
        steps.append(step)
    return tuple(reversed(steps))


def obstacles(grid: Grid, start: Cell, targets: Container[Cell], without: Container[Cell] = ()) -> list[str] | None:
    """What has to be opened or cleared away to get from a cell to one beside a target, the nearest first.

    `without` are cells that count as empty, such as where the thing lay that is carried by then. None where walls
    leave no way at all.
    """
    best: dict[Cell, int] = {start: 0}
    came: dict[Cell, Cell] = {}
    heap = [(0, start)]
    while heap:
        cost, cell = heapq.heappop(heap)
        if cost > best[cell]:
            continue
        if any(beside in targets for beside in neighbours(cell)):
            return _met(grid, came, cell, without)
        for further in neighbours(cell):
            price = _price(grid, further, without)
            if price is not None and cost + price < best.get(further, 1_000_000):
                best[further], came[further] = cost + price, cell
                heapq.heappush(heap, (cost + price, further))
    return None


def _met(grid: Grid, came: dict[Cell, Cell], cell: Cell, without: Container[Cell]) -> list[str]:
    met: list[str] = []
    while True:
        if cell not in without and not grid.is_free(cell):
            met.append(grid.name_of(grid.content(cell)))
        if cell not in came:
            return met[::-1]
        cell = came[cell]


def _price(grid: Grid, cell: Cell, without: Container[Cell]) -> int | None:
    if cell in without or grid.is_free(cell):
        return 1
    content = grid.content(cell) if grid.inside(cell) else None
    if content is None or content.type not in COSTS:
        return None
    return LOCKED_COST if content.type == "door" and content.is_locked else COSTS[content.type]
