"""Where an edited step list had best change tools: the fewest steps that keep all its own steps in their order.

The steps that are kept say where the robot goes. What it holds on the way is free, so a tool that is missing later is
taken when the robot passes its stand, not fetched on a second trip. All choices are weighed, step by step, for every
tool the robot can hold.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.steplist import Line
from beforehand.model.cell import ATTACH, MOVE_SAFE, NO_TOOL, RELEASE


class Spot(NamedTuple):
    place: str
    tool: str
    unclaimed: bool = False
    """The last step is a move to safety that came by itself; the list's own move there is that very step."""
    idle: bool = False
    """The tool was changed by choice and nothing has needed it yet: no step of the list is left out for that."""


Toll = tuple[int, int]
"""Steps made, and steps of the list left out."""

Way = tuple[Toll, tuple["Way", str] | None]
"""What it took to come here; the way before the last choice, and that choice ("" for none)."""


def best_changes(lookup: Lookup, lines: Sequence[Line], place: str, tool: str) -> list[str]:
    """For every line the tool (or `none`) to change to before it, "" where it is left as it is; [] when none works."""
    gaps = _Gaps(lookup, lines)
    ways: dict[Spot, Way] = {Spot(place, tool): ((0, 0), None)}
    for line in lines:
        onward: dict[Spot, Way] = {}
        for spot, way in ways.items():
            for choice, end, (steps, left_out) in gaps.choices(spot, line):
                toll = (way[0][0] + steps, way[0][1] + left_out)
                if end not in onward or toll < onward[end][0]:
                    onward[end] = (toll, (way, choice))
        ways = onward
    if not ways:
        return []
    return _choices(min(ways.items(), key=lambda item: (item[1][0], item[0]))[1])


def _choices(way: Way) -> list[str]:
    made: list[str] = []
    while way[1] is not None:
        way, choice = way[1]
        made.append(choice)
    return made[::-1]


class _Gaps:
    def __init__(self, lookup: Lookup, lines: Sequence[Line]) -> None:
        self.lookup = lookup
        needed = {self._needs(line) for line in lines} | {line.text("tool") for line in lines}
        self.tools = [NO_TOOL, *sorted(tool for tool in needed if tool and lookup.stand(tool))]
        self._far: dict[tuple[str, str], int | None] = {}

    def _needs(self, line: Line) -> str | None:
        routine = self.lookup.routines.get(line.text("target") or "") if line.action == "routine" else None
        return routine.tool_needed if routine else None

    def choices(self, spot: Spot, line: Line) -> Iterator[tuple[str, Spot, Toll]]:
        """The line done as things are, and done after a change to each other tool."""
        done = self._do(spot, line)
        if done is not None:
            yield "", *done
        if (line.action == "routine" and line.text("target") in (ATTACH, RELEASE)) or self._needs(line):
            return
        for tool in self.tools:
            changed = self._change(spot, tool) if tool != spot.tool else None
            done = self._do(changed[0]._replace(idle=True), line) if changed else None
            if changed and done:
                yield tool, done[0], (changed[1] + done[1][0], done[1][1])

    def _do(self, spot: Spot, line: Line) -> tuple[Spot, Toll] | None:
        target = line.text("target") or ""
        if line.action == "move":
            return self._move(spot, target)
        if target == ATTACH:
            return self._hold(spot, line.text("tool") or "")
        if target == RELEASE:
            return self._free(spot, line.text("tool") or "")
        return self._run(spot, target, line.text("position") or "", self._needs(line))

    def _move(self, spot: Spot, target: str) -> tuple[Spot, Toll] | None:
        """A single allowed move of the list is kept as it is, even if the settled path goes a cheaper way round."""
        direct = target in self.lookup.topology.neighbours(spot.place)
        far = 1 if direct else self._distance(spot.place, target)
        end = spot._replace(place=target, unclaimed=False)
        if far is None:
            return None
        return end, (far, 0) if far or spot.unclaimed else (0, 1)

    def _hold(self, spot: Spot, tool: str) -> tuple[Spot, Toll] | None:
        if spot.tool == tool:
            return None if spot.idle else (spot, (0, 1))
        changed = self._change(spot, tool)
        return changed and (changed[0], (changed[1], 0))

    def _free(self, spot: Spot, tool: str) -> tuple[Spot, Toll] | None:
        if spot.tool != tool:
            return None if spot.idle else (spot, (0, 1))
        changed = self._change(spot, NO_TOOL)
        return changed and (changed[0], (changed[1], 0))

    def _run(self, spot: Spot, name: str, place: str, needed: str | None) -> tuple[Spot, Toll] | None:
        before = 0
        if needed is not None:
            changed = self._change(spot, needed) if spot.tool != needed else (spot, 0)
            if changed is None:
                return None
            spot, before = changed[0]._replace(idle=False), changed[1]
        ran = self._routine(spot, name, place)
        return ran and (ran[0], (before + ran[1], 0))

    def _change(self, spot: Spot, tool: str) -> tuple[Spot, int] | None:
        """Release what is held, attach what is wanted."""
        steps, at = 0, spot._replace(idle=False)
        for name, moved in ((RELEASE, spot.tool), (ATTACH, tool)):
            if moved == NO_TOOL:
                continue
            stand = self.lookup.stand(moved)
            ran = self._routine(at, name, stand) if stand else None
            if ran is None:
                return None
            at, steps = ran[0], steps + ran[1]
        return at._replace(tool=tool), steps

    def _routine(self, spot: Spot, name: str, place: str) -> tuple[Spot, int] | None:
        far = self._distance(spot.place, place)
        support = self.lookup.support(name, place)
        if far is None:
            return None
        if support is None or support.action_after != MOVE_SAFE:
            return spot._replace(place=place, unclaimed=False), far + 1
        safe = self.lookup.safe_neighbour(place)
        return None if safe is None else (spot._replace(place=safe, unclaimed=True), far + 2)

    def _distance(self, start: str, end: str) -> int | None:
        key = (start, end)
        if key not in self._far:
            path = self.lookup.topology.shortest_path(start, end)
            self._far[key] = None if path is None else len(path) - 1
        return self._far[key]
