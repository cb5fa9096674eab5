"""What it takes to go from goal to goal: atomic steps first, then the time as a preview counts it, both exact.

Only the places that matter (goals, stands, where the robot ends up) are measured against each other, once; after that
a whole order of goals is priced by adding up.
"""

from collections.abc import Sequence

from beforehand.crafts.cell.core.distances import distances_among
from beforehand.crafts.cell.core.goals import Task
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.times import Watch
from beforehand.model.cell import ATTACH, MOVE_SAFE, NO_TOOL, RELEASE, CellState, Support

Price = tuple[int, int]
"""Steps and milliseconds."""

Spot = tuple[str, str]
"""Where the robot stands and what it holds."""


class CostMatrix:
    def __init__(self, lookup: Lookup, tasks: Sequence[Task], state: CellState) -> None:
        self.lookup = lookup
        self.tasks = tasks
        self.start: Spot = (state.current_position, state.current_tool)
        involved = {task.tool for task in tasks if task.tool} | {state.current_tool}
        self.stands = {tool: stand for tool in sorted(involved) if (stand := lookup.stand(tool))}
        places = (
            {state.current_position} | {task.position for task in tasks if task.position} | set(self.stands.values())
        )
        places |= {end for place in sorted(places) for end in self._ends(place)}
        self.places = sorted(place for place in places if place in lookup.positions)
        self.at = {place: number for number, place in enumerate(self.places)}
        moves = distances_among(lookup.topology, [lookup.topology.number[place] for place in self.places])
        self.moves: list[list[int]] = moves.tolist()
        self.watch = Watch(lookup.scene)
        self.time = self.watch.travel(lookup.topology, self.places, self.moves)
        """Milliseconds between every two of the places."""
        self._known: dict[tuple[str, str, int], tuple[Spot, Price] | None] = {}

    def _ends(self, place: str) -> list[str]:
        safe = self.lookup.safe_neighbour(place) if place in self.lookup.positions else None
        return [safe] if safe else []

    def price(self, order: Sequence[int]) -> Price | None:
        """The whole order, by indexes into the tasks; None when some part of it cannot be done."""
        spot, steps, time = self.start, 0, 0
        for index in order:
            found = self.advance(spot, index)
            if found is None:
                return None
            spot, (more_steps, more_time) = found
            steps += more_steps
            time += more_time
        return steps, time

    def advance(self, spot: Spot, index: int) -> tuple[Spot, Price] | None:
        """One goal from one spot: where it ends and what it takes."""
        key = (*spot, index)
        if key not in self._known:
            self._known[key] = self._advance(spot, self.tasks[index])
        return self._known[key]

    def _advance(self, spot: Spot, task: Task) -> tuple[Spot, Price] | None:
        if task.action == "release":
            return self._release(spot, task)
        if task.action == "attach":
            return self.change(spot, task.tool or NO_TOOL)
        changed = self.change(spot, task.tool) if task.tool is not None else (spot, (0, 0))
        if changed is None:
            return None
        (place, tool), price = changed
        return self._run(place, tool, task.position, task.support, price, task.routine)

    def _release(self, spot: Spot, task: Task) -> tuple[Spot, Price] | None:
        if spot[1] == NO_TOOL:
            return spot, (0, 0)
        if task.tool not in (None, spot[1]) or task.position not in ("", self.stands.get(spot[1])):
            return None
        return self.change(spot, NO_TOOL)

    def fetched(self, tool: str) -> Spot | None:
        """Where a robot stands that has just attached this tool."""
        stand = self.stands.get(tool)
        found = self.change((stand, NO_TOOL), tool) if stand else None
        return found[0] if found else None

    def change(self, spot: Spot, wanted: str) -> tuple[Spot, Price] | None:
        """Release what is held, attach what is wanted."""
        place, held = spot
        price: Price = (0, 0)
        for tool, routine, after in ((held, RELEASE, NO_TOOL), (wanted, ATTACH, wanted)):
            if tool == NO_TOOL or held == wanted:
                continue
            stand = self.stands.get(tool)
            if stand is None:
                return None
            found = self._run(place, after, stand, self.lookup.support(routine, stand), price, routine)
            if found is None:
                return None
            (place, _), price = found
        return (place, wanted), price

    def _run(
        self, place: str, tool: str, target: str, support: Support | None, price: Price, routine: str
    ) -> tuple[Spot, Price] | None:
        a, b = self.at[place], self.at[target]
        moves = self.moves[a][b]
        if moves < 0:
            return None
        steps, time = price[0] + moves, price[1] + self.time[a][b]
        if routine:
            steps, time = steps + 1, time + self.watch.routine(routine, support.stabilize if support else None)
        if support is None or support.action_after != MOVE_SAFE:
            return (target, tool), (steps, time)
        safe = self.lookup.safe_neighbour(target)
        if safe is None:
            return None
        return (safe, tool), (steps + 1, time + self.watch.move(target, safe))
