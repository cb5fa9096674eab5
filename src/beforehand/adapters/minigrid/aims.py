"""Where each action has to get to before it can act, and why there is no way where there is none."""

from beforehand.adapters.minigrid.grid import LEFT, RIGHT, Cell, Grid, neighbours
from beforehand.adapters.minigrid.ways import Arrived, obstacles, way
from beforehand.adapters.minigrid.words import Action

TURNS = {"left": (LEFT,), "right": (RIGHT,), "around": (RIGHT, RIGHT)}


def steps_to(action: Action, grid: Grid) -> tuple[int, ...] | None:
    """The steps that bring the body to where the action happens; None where there is no way."""
    if action.verb == "turn":
        return TURNS[action.turn]
    if action.verb == "look":
        return _turned_to(grid, grid.places()[str(action.thing)])
    if action.verb == "place":
        return _to_place(action, grid)
    if action.point is not None:
        return way(grid, lambda cell, front: cell == action.point)
    target = grid.places()[str(action.thing)]
    return way(grid, lambda cell, front: front == target)


def why_not(action: Action, grid: Grid) -> str:
    """Why there is no way: what stands in it, or that nothing leads there."""
    goal = action.point or grid.places().get(str(action.other or action.thing))
    name = action.other or action.thing
    to = f"to {name}" if name and goal and action.point is None else "there"
    if goal is None or not grid.inside(goal):
        return f"there is no way {to}"
    met = obstacles(grid, grid.at, {goal})
    if not met:
        return f"there is no room {to}" if action.verb == "place" else f"there is no way {to}"
    first = grid.things()[met[0]]
    state = "is locked" if first.type == "door" and first.is_locked else "is closed"
    return f"there is no way {to}: {met[0]} {state if first.type == 'door' else 'is in the way'}"


def _turned_to(grid: Grid, target: Cell) -> tuple[int, ...]:
    """The turns after which the thing is more ahead than aside."""
    dx, dy = target[0] - grid.at[0], target[1] - grid.at[1]
    direction = (0 if dx > 0 else 2) if abs(dx) >= abs(dy) else (1 if dy > 0 else 3)
    return ((), (RIGHT,), (RIGHT, RIGHT), (LEFT,))[(direction - grid.direction) % 4]


def _to_place(action: Action, grid: Grid) -> tuple[int, ...] | None:
    if action.point is not None:
        return way(grid, lambda cell, front: front == action.point and grid.content(front) is None)
    if action.other is not None:
        target = grid.places()[action.other]
        return way(grid, lambda cell, front: grid.content(front) is None and front in neighbours(target))
    found = way(grid, _out_of_the_way(grid))
    return way(grid, lambda cell, front: grid.content(front) is None) if found is None else found


def _out_of_the_way(grid: Grid) -> Arrived:
    """An empty cell that is not in front of a door."""
    doors = [cell for name, cell in grid.places().items() if grid.content(cell).type == "door"]
    passages = {beside for door in doors for beside in neighbours(door)}
    return lambda cell, front: grid.content(front) is None and front not in passages
