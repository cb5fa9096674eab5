"""Where an edited step list had best change tools: the fewest steps that keep all its own steps in their order.

The steps that are kept say where the robot goes. What it holds on the way is free, so a tool that is missing later is
taken when the robot passes its stand, not fetched on a second trip. So is when a routine is put in that has to follow
another and first needs its tool. All choices are weighed, step by step, for every tool the robot can hold.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beforehand.crafts.cell.core.lookup import Follower, Lookup
from beforehand.crafts.cell.core.steplist import Line
from beforehand.model.cell import ATTACH, MOVE_SAFE, NO_TOOL, RELEASE, Support


class Spot(NamedTuple):
    place: str
    tool: str
    unclaimed: bool = False
    """The last step is a move to safety that came by itself; the list's own move there is that very step."""
    instead_of: str = ""
    """The tool that was changed by choice, while nothing has needed the new one: no step is left out for that."""
    pending: tuple[Follower, ...] = ()
    """The routines that have to follow, the next one last."""


class Choice(NamedTuple):
    """What is put in before a line, beside what it needs: so many of the pending followers, then a change of tool."""

    followers: int = 0
    tool: str = ""
    """The tool (or `none`) to change to, "" to leave it as it is."""


Toll = tuple[int, int]
"""Steps made, and steps of the list left out."""

Way = tuple[Toll, tuple["Way", Choice] | None]
"""What it took to come here; the way before the last choice, and that choice."""


def best_choices(lookup: Lookup, lines: Sequence[Line], place: str, tool: str) -> list[Choice]:
    """For every line what to put in before it; [] when nothing works."""
    gaps = _Gaps(lookup, lines)
    ways: dict[Spot, Way] = {Spot(place, tool): ((0, 0), None)}
    for line, work in zip(lines, _coming_work(lookup, lines), strict=True):
        onward: dict[Spot, Way] = {}
        for spot, way in ways.items():
            for choice, end, (steps, left_out) in gaps.choices(spot, line, work):
                toll = (way[0][0] + steps, way[0][1] + left_out)
                if end not in onward or toll < onward[end][0]:
                    onward[end] = (toll, (way, choice))
        ways = onward
    ends = [((way[0][0] + steps, way[0][1]), spot, way) for spot, way in ways.items() for steps in gaps.rest(spot)]
    return _choices(min(ends, key=lambda end: end[:2])[2]) if ends else []


def _coming_work(lookup: Lookup, lines: Sequence[Line]) -> list[Line | None]:
    """For every line the routine that is run next, itself included; tool changes and what follows them do not count."""
    changing: list[bool] = []
    follows: Follower | None = None
    for line in lines:
        changing.append(is_tool_change(line) or bool(follows and is_follower(follows, line)))
        support = lookup.support(line.text("target") or "", line.text("position") or "")
        follows = lookup.follower(support, "") if changing[-1] else None
    coming: list[Line | None] = []
    work: Line | None = None
    for line, changes in zip(reversed(lines), reversed(changing), strict=True):
        work = line if line.action == "routine" and not changes else work
        coming.append(work)
    return coming[::-1]


def _choices(way: Way) -> list[Choice]:
    made: list[Choice] = []
    while way[1] is not None:
        way, choice = way[1]
        made.append(choice)
    return made[::-1]


def is_tool_change(line: Line) -> bool:
    return line.action == "routine" and line.text("target") in (ATTACH, RELEASE)


def does_nothing(line: Line, place: str | None, tool: str) -> bool:
    """Whether the robot is there already, or holds by now what it should after a tool change."""
    if line.action == "move":
        return line.text("target") == place
    named = line.text("tool")
    return is_tool_change(line) and (named == tool if line.text("target") == ATTACH else named != tool)


def is_follower(pending: Follower, line: Line) -> bool:
    """Whether the line is the routine that has to follow."""
    ran = (line.action, line.text("target"), line.text("position"))
    return ran == ("routine", pending.routine, pending.position)


def may_wait(pending: Follower, line: Line | None) -> bool:
    """Whether the routine that has to follow may wait for this line, or is this line itself."""
    if line is None or is_follower(pending, line):
        return line is not None
    return not pending.at_once and (line.action == "move" or is_tool_change(line))


class _Gaps:
    def __init__(self, lookup: Lookup, lines: Sequence[Line]) -> None:
        self.lookup = lookup
        needed = {self._needs(line) for line in lines} | {line.text("tool") for line in lines}
        needed |= {routine.tool_needed for support in self._supports(lines) for routine in lookup.chain(support)}
        self.tools = [NO_TOOL, *sorted(tool for tool in needed if tool and lookup.stand(tool))]
        self._far: dict[tuple[str, str], int | None] = {}

    def _supports(self, lines: Sequence[Line]) -> list[Support]:
        ran = dict.fromkeys((line.text("target") or "", line.text("position") or "") for line in lines)
        return [support for name, place in ran if (support := self.lookup.support(name, place))]

    def _needs(self, line: Line) -> str | None:
        routine = self.lookup.routines.get(line.text("target") or "") if line.action == "routine" else None
        return routine.tool_needed if routine else None

    def choices(self, spot: Spot, line: Line, work: Line | None) -> Iterator[tuple[Choice, Spot, Toll]]:
        """The line done as things are, or after pending followers, and done after a change to each other tool."""
        for followers, at, before in self._after_followers(spot, work):
            for tool, end, (steps, left_out) in self._changes(at, line):
                yield Choice(followers, tool), end, (before + steps, left_out)

    def _after_followers(self, spot: Spot, work: Line | None) -> Iterator[tuple[int, Spot, int]]:
        """No pending follower run yet, or so many, each with its tool change; not those that the list itself runs."""
        yield 0, spot, 0
        count, steps = 0, 0
        while spot.pending and not (work and is_follower(spot.pending[-1], work)):
            waits = not spot.pending[-1].at_once
            done = self._run_follower(spot)
            if done is None:
                return
            spot, count, steps = done[0], count + 1, steps + done[1]
            if waits:
                yield count, spot, steps

    def _changes(self, spot: Spot, line: Line) -> Iterator[tuple[str, Spot, Toll]]:
        done = self._do(spot, line)
        if done is not None:
            yield "", *done
        if is_tool_change(line):
            return
        awaited, needed = spot.pending[-1].tool if spot.pending else None, self._needs(line)
        for tool in self.tools if needed is None else [needed]:
            changed = self._change(spot, tool) if tool != spot.tool else None
            instead_of = "" if tool == awaited else spot.instead_of or spot.tool
            done = self._do(changed[0]._replace(instead_of=instead_of), line) if changed else None
            if changed and done:
                yield tool, done[0], (changed[1] + done[1][0], done[1][1])

    def rest(self, spot: Spot) -> list[int]:
        """The steps that all pending followers take at the end; [] when they cannot be run."""
        done = self._run_due(spot, None)
        return [done[1]] if done else []

    def _run_due(self, spot: Spot, line: Line | None) -> tuple[Spot, int] | None:
        """Pending followers are run, as far as they may not wait for this line."""
        steps = 0
        if line is not None and does_nothing(line, spot.place, spot.tool):
            return spot, steps
        while spot.pending and not may_wait(spot.pending[-1], line):
            done = self._run_follower(spot)
            if done is None:
                return None
            spot, steps = done[0], steps + done[1]
        return spot, steps

    def _run_follower(self, spot: Spot) -> tuple[Spot, int] | None:
        pending = spot.pending[-1]
        held = self._held(spot._replace(pending=spot.pending[:-1]), pending.tool)
        if held is None:
            return None
        ran = self._routine(held[0], pending.routine, pending.position, held[0].tool)
        return ran and (ran[0], held[1] + ran[1])

    def _do(self, spot: Spot, line: Line) -> tuple[Spot, Toll] | None:
        ready = self._run_due(spot, line)
        if ready is None:
            return None
        spot, before = ready
        done = self._do_line(spot, line)
        return done and (done[0], (before + done[1][0], done[1][1]))

    def _claimed(self, spot: Spot, line: Line) -> Spot:
        """Where the line is the next pending follower itself, that is pending no more."""
        if not spot.pending or not is_follower(spot.pending[-1], line):
            return spot
        return spot._replace(pending=spot.pending[:-1])

    def _do_line(self, spot: Spot, line: Line) -> tuple[Spot, Toll] | None:
        target = line.text("target") or ""
        if line.action == "move":
            return self._move(spot, target)
        if target == ATTACH:
            return self._hold(spot, line.text("tool") or "")
        if target == RELEASE:
            return self._free(spot, line.text("tool") or "")
        return self._run(spot, line)

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
            return None if spot.instead_of not in ("", tool) else (spot, (0, 1))
        changed = self._change(spot, tool)
        return changed and (changed[0], (changed[1], 0))

    def _free(self, spot: Spot, tool: str) -> tuple[Spot, Toll] | None:
        if spot.tool != tool:
            return None if spot.instead_of == tool else (spot, (0, 1))
        changed = self._change(spot, NO_TOOL)
        return changed and (changed[0], (changed[1], 0))

    def _run(self, spot: Spot, line: Line) -> tuple[Spot, Toll] | None:
        """The line is a follower that was pending before its tool change or, if none was, one that it added."""
        claimed = self._claimed(spot, line)
        held = self._held(claimed, self._needs(line))
        if held is None:
            return None
        ready = held[0] if claimed is not spot else self._claimed(held[0], line)
        ran = self._routine(ready, line.text("target") or "", line.text("position") or "", ready.tool)
        return ran and (ran[0], (held[1] + ran[1], 0))

    def _held(self, spot: Spot, needed: str | None) -> tuple[Spot, int] | None:
        """The tool that a routine needs is on."""
        if needed is None:
            return spot, 0
        changed = self._change(spot, needed) if spot.tool != needed else (spot, 0)
        return changed and (changed[0]._replace(instead_of=""), changed[1])

    def _change(self, spot: Spot, tool: str) -> tuple[Spot, int] | None:
        """Release what is held, attach what is wanted."""
        steps, at = 0, spot._replace(instead_of="")
        for name, moved, after in ((RELEASE, spot.tool, NO_TOOL), (ATTACH, tool, tool)):
            if moved == NO_TOOL:
                continue
            stand = self.lookup.stand(moved)
            ran = self._routine(at, name, stand, after) if stand else None
            if ran is None:
                return None
            at, steps = ran[0], steps + ran[1]
        return at, steps

    def _routine(self, spot: Spot, name: str, place: str, tool: str) -> tuple[Spot, int] | None:
        """The way there and the routine, which leaves this tool on, behind followers that nothing may come before."""
        before = 0
        while spot.pending and spot.pending[-1].at_once:
            done = self._run_follower(spot)
            if done is None:
                return None
            spot, before = done[0], before + done[1]
        far = self._distance(spot.place, place)
        support = self.lookup.support(name, place)
        if far is None:
            return None
        steps = before + far + 1
        follower = self.lookup.follower(support, tool)
        if support is None or support.action_after != MOVE_SAFE:
            pending = (*spot.pending, follower) if follower else spot.pending
            return spot._replace(place=place, tool=tool, unclaimed=False, pending=pending), steps
        safe = self.lookup.safe_neighbour(place)
        return None if safe is None else (spot._replace(place=safe, tool=tool, unclaimed=True), steps + 1)

    def _distance(self, start: str, end: str) -> int | None:
        key = (start, end)
        if key not in self._far:
            path = self.lookup.topology.shortest_path(start, end)
            self._far[key] = None if path is None else len(path) - 1
        return self._far[key]
