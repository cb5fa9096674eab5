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

Order = tuple[int, ...]
"""Goals, by their indexes."""

Spot = tuple[str, str]
"""Where the robot stands and what it holds."""


class Stop(dict[int, "Leg | None"]):
    """A spot, and for each goal (by index) the way on from here; worked out when first asked for, None for no way.

    A leg leads straight to the next stop, so an order is priced without making or hashing a key for each goal.
    """

    __slots__ = ("matrix", "number", "spot")

    def __init__(self, matrix: "CostMatrix", spot: Spot, number: int) -> None:
        self.matrix, self.spot, self.number = matrix, spot, number

    def __missing__(self, index: int) -> "Leg | None":
        leg = self[index] = self.matrix.leg(self.spot, index)
        return leg


Leg = tuple[Stop, int, int]
"""One goal: where it ends, its steps and its milliseconds."""


class CostMatrix:
    def __init__(self, lookup: Lookup, tasks: Sequence[Task], state: CellState) -> None:
        self.lookup = lookup
        self.tasks = tasks
        self.start: Spot = (state.current_position, state.current_tool)
        involved = {task.tool for task in tasks if task.tool} | {state.current_tool}
        involved |= {tool for task in tasks for tool in self.tools_behind(task)}
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
        self._stops: dict[Spot, Stop] = {}
        self.first = self.stop(self.start)

    def _ends(self, place: str) -> list[str]:
        safe = self.lookup.safe_neighbour(place) if place in self.lookup.positions else None
        return [safe] if safe else []

    def tools_behind(self, task: Task) -> list[str]:
        """The tools of the routines that follow this goal's, one for each that needs any."""
        return [routine.tool_needed for routine in self.lookup.chain(task.support) if routine.tool_needed]

    def price(self, order: Sequence[int]) -> Price | None:
        """The whole order, by indexes into the tasks; None when some part of it cannot be done."""
        stop, steps, time = self.first, 0, 0
        for index in order:
            leg = stop[index]
            if leg is None:
                return None
            stop, more_steps, more_time = leg
            steps += more_steps
            time += more_time
        return steps, time

    def stop(self, spot: Spot) -> Stop:
        """The one stop there is for a spot; they are numbered as they come."""
        known = self._stops.get(spot)
        if known is None:
            known = self._stops[spot] = Stop(self, spot, len(self._stops))
        return known

    def leg(self, spot: Spot, index: int) -> Leg | None:
        """One goal from one spot, worked out anew; a stop keeps it."""
        found = self._advance(spot, self.tasks[index])
        return found and (self.stop(found[0]), *found[1])

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
        """The way there and the routine, then all that follow it there."""
        done = self._do(place, tool, target, support, price, routine)
        while done and (follower := self.lookup.follower(support, done[0][1])):
            spot, price = done
            if not follower.at_once:
                changed = self.change(spot, follower.tool or NO_TOOL)
                if changed is None:
                    return None
                spot, more = changed
                price = price[0] + more[0], price[1] + more[1]
            support = self.lookup.support(follower.routine, target)
            done = self._do(*spot, target, support, price, follower.routine)
        return done

    def _do(
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


class Walk:
    """An order with its stops and what it takes up to each of them, so that a changed part is priced by itself."""

    def __init__(self, first: Stop, order: Order) -> None:
        self.order = order
        self.stops, self.prices = [first], [(0, 0)]
        self._go_on()

    def _go_on(self) -> None:
        """From where stops and prices end to the end of the order."""
        stop, (steps, time) = self.stops[-1], self.prices[-1]
        for index in self.order[len(self.stops) - 1 :]:
            stop, more_steps, more_time = stop[index] or (stop, 0, 0)
            steps += more_steps
            time += more_time
            self.stops.append(stop)
            self.prices.append((steps, time))

    def changed(self, at: int, part: Order) -> "Walk":
        """The order with this part put in, from here on."""
        other = Walk(self.stops[0], ())
        other.order = self.order[:at] + part + self.order[at + len(part) :]
        other.stops, other.prices = self.stops[: at + 1], self.prices[: at + 1]
        other._go_on()
        return other

    def price(self, at: int, part: Order) -> Price | None:
        """The whole order with this part put in; as soon as it stands where it stood before, the rest is known."""
        stop, (steps, time) = self.stops[at], self.prices[at]
        for index in part:
            leg = stop[index]
            if leg is None:
                return None
            stop, more_steps, more_time = leg
            steps += more_steps
            time += more_time
        at += len(part)
        while at < len(self.order) and stop is not self.stops[at]:
            leg = stop[self.order[at]]
            if leg is None:
                return None
            stop, more_steps, more_time = leg
            steps += more_steps
            time += more_time
            at += 1
        whole, before = self.prices[-1], self.prices[at]
        return steps + whole[0] - before[0], time + whole[1] - before[1]
