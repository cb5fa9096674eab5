"""The robot walked through the cell on paper: where it stands, what it holds, and the steps that took it there.

A routine that follows another (its `action_after`) is pending from then on: `do` runs it at the end of the goal, a
repair looks first whether the given list does.

A walk never stops at the first obstacle. What cannot be done is noted and the walk goes on as if it had been, so that
one look finds everything that is wrong with a goal; `undo_from` then takes the goal back.
"""

from functools import lru_cache
from typing import Any, Literal, NamedTuple

from beforehand.crafts.cell.core.goals import Task, titled
from beforehand.crafts.cell.core.lookup import Follower, Lookup
from beforehand.model.cell import ATTACH, MOVE_SAFE, NO_TOOL, RELEASE, AtomicStep, Number, Support
from beforehand.model.reason import Problem, Reason, name_list, nearest_names


class Act(NamedTuple):
    """A step before it has a number: light, because a walk makes many and most are looked at only once."""

    name: str
    action: Literal["move", "routine"]
    target: str
    position: str | None = None
    tool: str | None = None
    stabilize: Number | None = None
    action_after: str | None = None
    verify: str | None = None

    def numbered(self, number: int) -> AtomicStep:
        return AtomicStep(id=number, **self._asdict())

    def wire(self, number: int) -> dict[str, Any]:
        """The step as the spec's Output section writes it."""
        shown: dict[str, Any] = {"id": number, "name": self.name, "action": self.action, "target": self.target}
        if self.action == "routine":
            shown.update(
                (key, value) for key, value in zip(Act._fields[3:], self[3:], strict=True) if value is not None
            )
        return shown


@lru_cache(maxsize=100_000)
def _move_to(place: str) -> Act:
    return Act(f"Move to {place}", "move", place)


class Walk:
    def __init__(self, lookup: Lookup, position: str | None, tool: str) -> None:
        self.lookup = lookup
        self.position = position
        """None where the start is not a position of this cell: nothing is then said about the first path."""
        self.tool = tool
        self.steps: list[Act] = []
        self.spots: list[tuple[str, str]] = []
        """Position and tool after every step."""
        self.pending: list[Follower] = []
        """The routines that still have to follow, the next one last: a tool change for one of them can add others."""
        self.notes: list[Reason] = []
        self.problems: list[Problem] = []
        self.goal = 1
        self.label = ""
        """How a sentence names the step that is walked, where that is not by its number."""

    def do(self, task: Task) -> None:
        self.goal = task.number
        if task.action == "move":
            self._move(task)
        elif task.action == "attach":
            self._attach(task)
        elif task.action == "release":
            self._release(task)
        elif task.action == "probe":
            self._probe(task)
        else:
            self._routine(task)
        while self.pending:
            self.run_follower()

    def _probe(self, task: Task) -> None:
        if task.tool in self.lookup.tools:
            self.hold(str(task.tool))
        if task.position:
            self.go_to(task.position)

    def _move(self, task: Task) -> None:
        if self.position == task.position:
            self._note("cell.already_there", task.position, f"The robot is already at {task.position}: no move added.")
        self.go_to(task.position)

    def _attach(self, task: Task) -> None:
        tool = task.tool or NO_TOOL
        if self.tool == tool:
            self._note("cell.already_held", tool, f"{tool} is already held: nothing to attach, no step added.")
        self.hold(tool)

    def _release(self, task: Task) -> None:
        if self.tool == NO_TOOL:
            self._note("cell.nothing_held", NO_TOOL, "No tool is held: nothing to release, no step added.")
        elif task.tool not in (None, self.tool):
            says = f"{task.tool} cannot be released: the robot holds {self.tool} by then."
            self._problem("cell.not_held", str(task.tool), says, "user", [self.tool])
        elif task.position not in ("", self.lookup.stand(self.tool)):
            says = f"{self.tool} is held by then, and it does not hang at {task.position}."
            stand = self.lookup.stand(self.tool)
            self._problem("cell.unsupported", task.position, says, "user", [stand] if stand else [])
        else:
            self.put_back()

    def _routine(self, task: Task) -> None:
        if task.tool is not None:
            self.hold(task.tool)
        self.go_to(task.position)
        name = f"{titled(task.routine)} at {task.position}"
        self.run(name, task.routine, task.position, task.support)

    def hold(self, tool: str) -> None:
        """Have this tool on: any change is release, then attach."""
        if self.tool == tool:
            return
        if self.tool != NO_TOOL:
            self.put_back()
        stand = self._stand(tool)
        if stand:
            self.go_to(stand)
            self.tool = tool
            self.run(f"Attach {tool}", ATTACH, stand, self.lookup.support(ATTACH, stand), tool)
        self.tool = tool

    def put_back(self) -> None:
        tool = self.tool
        stand = self._stand(tool)
        if stand:
            self.go_to(stand)
            self.tool = NO_TOOL
            self.run(f"Release {tool}", RELEASE, stand, self.lookup.support(RELEASE, stand), tool)
        self.tool = NO_TOOL

    def _stand(self, tool: str) -> str | None:
        stand = self.lookup.stand(tool)
        if stand is None and tool in self.lookup.tools:
            says = f"The tool {tool} has no stand, so it can be neither fetched nor put back."
            fetchable = [name for name in self.lookup.tools if self.lookup.stand(name)]
            self._problem("cell.no_stand", tool, says, "graph", fetchable, "Give the tool a stand in the scene.")
        return stand

    def run_follower(self) -> None:
        """Run the next pending routine, as if it were a goal of its own."""
        routine, place, tool, _ = self.pending.pop()
        if tool is not None:
            self.hold(tool)
        self.go_to(place)
        self.run(f"{titled(routine)} at {place}", routine, place, self.lookup.support(routine, place))

    def run_direct_followers(self) -> None:
        """Run every pending routine that nothing may come before."""
        while self.pending and self.pending[-1].at_once:
            self.run_follower()

    def go_to(self, target: str) -> None:
        self.run_direct_followers()
        start, self.position = self.position, target
        if start is None or start == target:
            return
        path = self.lookup.topology.shortest_path(start, target)
        if path is None:
            self._no_path(start, target)
            return
        tool, way = self.tool, path[1:]
        self.steps += map(_move_to, way)
        self.spots += [(place, tool) for place in way]

    def move(self, place: str) -> None:
        self.position = place
        self.steps.append(_move_to(place))
        self.spots.append((place, self.tool))

    def run(self, name: str, routine: str, place: str, support: Support | None, tool: str | None = None) -> None:
        how = support or Support(position=place)
        after = how.action_after or None
        self.steps.append(Act(name, "routine", routine, place, tool, how.stabilize, after, how.verify or None))
        self.spots.append((self.position or "", self.tool))
        if after == MOVE_SAFE:
            self._move_safe(place)
        elif follower := self.lookup.follower(support, self.tool):
            self.pending.append(follower)

    def _move_safe(self, place: str) -> None:
        safe = self.lookup.safe_neighbour(place)
        if safe is None:
            says = (
                f"After the routine at {place} the robot must move to a safe place, and no safe position is next to it."
            )
            near = self.lookup.topology.neighbours(place)
            hint = f"Give a neighbour of {place} the role safe, or remove move_safe there."
            self._problem("cell.no_safe_place", place, says, "graph", near, hint)
            return
        self.move(safe)

    def _no_path(self, start: str, target: str) -> None:
        within = self.lookup.topology.reachable(start) - {start}
        says = f"No path of allowed moves leads from {start} to {target}."
        near = nearest_names(target, within)
        if near:
            lead = "From there the robot can reach" if len(within) <= 10 else "The nearest names it can reach"
            says += f" {lead}: {name_list(near)}."
        self._problem(
            "cell.no_path", target, says, "graph", within, f"Add the missing moves to {target}, or choose another."
        )

    def _note(self, code: str, about: str, says: str) -> None:
        self.notes.append(Reason(code=code, about=about, says=f"Step {self.goal}: {says}"))

    def _problem(
        self,
        code: str,
        about: str,
        says: str,
        fixable_by: Literal["user", "graph", "state"],
        names: list[str] | set[str],
        try_next: str = "",
    ) -> None:
        problem = Problem(
            code=code,
            about=about,
            says=f"{self.label or f'Step {self.goal}'}: {says}",
            try_next=try_next,
            path=f"steps[{self.goal - 1}]",
            nearest=nearest_names(about, names),
            fixable_by=fixable_by,
        )
        if problem not in self.problems:
            self.problems.append(problem)
