"""The robot walked through the cell on paper: where it stands, what it holds, and the steps that took it there.

A walk never stops at the first obstacle. What cannot be done is noted and the walk goes on as if it had been, so that
one look finds everything that is wrong with a goal; `undo_from` then takes the goal back.
"""

from typing import Literal

from beforehand.cell.goals import Task, titled
from beforehand.cell.lookup import Lookup
from beforehand.model.cell import ATTACH, MOVE_SAFE, NO_TOOL, RELEASE, AtomicStep, CellState, Support
from beforehand.model.reason import Problem, Reason, name_list, nearest_names


class Walk:
    def __init__(self, lookup: Lookup, position: str | None, tool: str) -> None:
        self.lookup = lookup
        self.position = position
        """None where the start is not a position of this cell: nothing is then said about the first path."""
        self.tool = tool
        self.steps: list[AtomicStep] = []
        self.states: list[CellState] = []
        self.notes: list[Reason] = []
        self.problems: list[Problem] = []
        self.cost = 0
        self.goal = 1

    def do(self, task: Task) -> None:
        self.goal = task.number
        if task.action == "move":
            self._move(task)
        elif task.action == "attach":
            self._attach(task)
        elif task.action == "release":
            self._release(task)
        else:
            self._routine(task)

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

    def go_to(self, target: str) -> None:
        start, self.position = self.position, target
        if start is None or start == target:
            return
        path = self.lookup.topology.shortest_path(start, target)
        if path is None:
            self._no_path(start, target)
            return
        self.cost += self.lookup.topology.length(path)[1]
        for place in path[1:]:
            self.move(place)

    def move(self, place: str) -> None:
        self.position = place
        self._add(AtomicStep(id=len(self.steps) + 1, name=f"Move to {place}", action="move", target=place))

    def run(self, name: str, routine: str, place: str, support: Support | None, tool: str | None = None) -> None:
        how = support or Support(position=place)
        step = AtomicStep(
            id=len(self.steps) + 1,
            name=name,
            action="routine",
            target=routine,
            position=place,
            tool=tool,
            stabilize=how.stabilize,
            action_after=how.action_after or None,
            verify=how.verify or None,
        )
        self._add(step)
        if step.action_after == MOVE_SAFE:
            self._move_safe(place)

    def _move_safe(self, place: str) -> None:
        safe = self.lookup.safe_neighbour(place)
        if safe is None:
            says = (
                f"After the routine at {place} the robot must move to a safe place, and no safe position is next to it."
            )
            near = self.lookup.topology.neighbours(place)
            hint = f"Give a neighbour of {place} the role safe, or drop move_safe there."
            self._problem("cell.no_safe_place", place, says, "graph", near, hint)
            return
        self.cost += self.lookup.topology.length([place, safe])[1]
        self.move(safe)

    def _add(self, step: AtomicStep) -> None:
        self.steps.append(step)
        self.states.append(CellState(current_position=self.position or "", current_tool=self.tool))

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
            says=f"Step {self.goal}: {says}",
            try_next=try_next,
            path=f"steps[{self.goal - 1}]",
            nearest=nearest_names(about, names),
            fixable_by=fixable_by,
        )
        if problem not in self.problems:
            self.problems.append(problem)
