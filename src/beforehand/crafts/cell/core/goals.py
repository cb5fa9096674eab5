"""From goals to tasks: every name looked up, every default filled in, every problem of the names collected.

A task is a goal the walk can carry out without looking anything up again. Names are checked for all goals before the
first step is planned, so that a person sees everything that is wrong in one go.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.model.cell import ATTACH, RELEASE, Goal, Support
from beforehand.model.reason import Problem, name_list, nearest_names, unknown


@dataclass(frozen=True, slots=True)
class Task:
    number: int
    """Of the goal it serves, from 1."""
    action: Literal["move", "routine", "attach", "release", "probe"]
    """`probe` stands for a goal that is already refused, to find what else is wrong with it."""
    says: str
    position: str = ""
    routine: str = ""
    tool: str | None = None
    """The tool a routine needs, the one to attach, or the one expected at release."""
    support: Support | None = None


def resolve(lookup: Lookup, goals: Sequence[Goal | None]) -> tuple[list[Task], list[Problem]]:
    """Tasks in order, probes for goals that cannot stand, and the problems of those."""
    tasks: list[Task] = []
    problems: list[Problem] = []
    for number, goal in enumerate(goals, 1):
        if goal is None:
            continue
        task = _Reading(lookup, goal, number, problems).task()
        if task:
            tasks.append(task)
    return tasks, problems


class _Reading:
    def __init__(self, lookup: Lookup, goal: Goal, number: int, problems: list[Problem]) -> None:
        self.lookup = lookup
        self.goal = goal
        self.number = number
        self.problems = problems

    def task(self) -> Task | None:
        action = self.goal.action
        if action == "move":
            return self._move()
        if action == "attach_tool" or self.goal.routine == ATTACH:
            return self._attach()
        if action == "release_tool" or self.goal.routine == RELEASE:
            return self._release()
        return self._routine()

    def _move(self) -> Task | None:
        place = self.goal.position
        if place is None:
            self._missing("position", self.lookup.positions)
            return None
        if not self._known("position", place, self.lookup.positions):
            return None
        return Task(self.number, "move", f"Move to {place}", position=place)

    def _routine(self) -> Task | None:
        name, place = self.goal.routine, self.goal.position
        count = len(self.problems)
        known_place = place is None or self._known("position", place, self.lookup.positions)
        if self.goal.tool is not None:
            self._known("tool", self.goal.tool, self.lookup.tools)
        if name is None:
            self._missing("routine", self.lookup.routines)
        if name is None or not self._known("routine", name, self.lookup.routines):
            return self._probe(place if known_place else None, None)
        needed = self.lookup.routines[name].tool_needed
        where = self._where(name, place) if known_place else None
        self._tool_fits(name, needed)
        if where is None or len(self.problems) > count:
            return self._probe(place if known_place else None, needed)
        says = f"{titled(name)} at {where}"
        return Task(self.number, "routine", says, where, name, needed, self.lookup.support(name, where))

    def _probe(self, place: str | None, tool: str | None) -> Task | None:
        """What of a goal that cannot stand is still worth trying: is its tool to be had, can its place be reached."""
        return Task(self.number, "probe", "", place or "", tool=tool) if place or tool else None

    def _tool_fits(self, name: str, needed: str | None) -> bool:
        if needed is not None and needed not in self.lookup.tools:
            says = f"The routine {name} needs the tool {needed}, which this cell does not have."
            return self._refuse("cell.unknown_tool", needed, says, self.lookup.tools, "routine", fixable_by="graph")
        asked = self.goal.tool
        if asked in (None, needed) or asked not in self.lookup.tools:
            return asked in (None, needed)
        says = f"The routine {name} runs with {needed or 'any tool'}; a step cannot choose {asked} for it."
        return self._refuse("cell.wrong_tool", name, says, [needed] if needed else [], "tool")

    def _where(self, name: str, place: str | None) -> str | None:
        """The position itself, or the only one the routine runs at."""
        if place is not None and place in self.lookup.supports[name]:
            return place
        places = sorted(where for where in self.lookup.supports[name] if where in self.lookup.positions)
        if not places:
            says = f"The routine {name} is not supported at any position of this cell."
            self._refuse("cell.unsupported", name, says, [], "routine", fixable_by="graph")
            return None
        if place is None and len(places) == 1:
            return places[0]
        if place is None:
            says = f"The routine {name} can run at several positions: {name_list(places)}."
            self._refuse("cell.which_position", name, says, places, "position", offer=False, every=True)
            return None
        says = f"The routine {name} is not supported at {place}."
        self._refuse("cell.unsupported", place, says, places, "position")
        return None

    def _attach(self) -> Task | None:
        tool, place = self.goal.tool, self.goal.position
        tool_stands = tool is None or self._known("tool", tool, self.lookup.tools)
        place_stands = place is None or self._known("position", place, self.lookup.positions)
        if not (tool_stands and place_stands):
            return None
        tool = tool or self._tool_at(place)
        if tool is None or not self._at_its_stand(tool, place):
            return None
        return Task(self.number, "attach", f"Attach {tool}", tool=tool)

    def _tool_at(self, place: str | None) -> str | None:
        tools = sorted(self.lookup.tools) if place is None else self.lookup.tools_at(place)
        if len(tools) == 1:
            return tools[0]
        if place is None:
            self._missing("tool", self.lookup.tools)
        elif tools:
            says = f"Several tools hang at {place}: {name_list(tools)}."
            self._refuse("cell.which_tool", place, says, tools, "tool", offer=False, every=True)
        else:
            self._no_tool_there(place)
        return None

    def _no_tool_there(self, place: str) -> bool:
        stands = sorted({tool.stand for tool in self.lookup.tools.values() if tool.stand})
        return self._refuse("cell.unsupported", place, f"No tool hangs at {place}.", stands, "position")

    def _at_its_stand(self, tool: str, place: str | None) -> bool:
        stand = self.lookup.tools[tool].stand
        if place is None or stand is None or place == stand:
            return True
        says = f"The tool {tool} hangs at {stand}, not at {place}."
        return self._refuse("cell.unsupported", place, says, [stand], "position", offer=False)

    def _release(self) -> Task | None:
        tool, place = self.goal.tool, self.goal.position
        tool_stands = tool is None or self._known("tool", tool, self.lookup.tools)
        place_stands = place is None or self._known("position", place, self.lookup.positions)
        if not (tool_stands and place_stands):
            return None
        if place is not None and not self.lookup.tools_at(place) and not self._no_tool_there(place):
            return None
        if tool is not None and not self._at_its_stand(tool, place):
            return None
        return Task(self.number, "release", f"Release {tool or 'the tool'}", position=place or "", tool=tool)

    def _known(self, kind: str, name: str, names: Iterable[str]) -> bool:
        if name in names:
            return True
        says = unknown(kind, name, names, inside=self.lookup.scene.name).says
        return self._refuse(f"cell.unknown_{kind}", name[:80], says, names, kind, offer=False)

    def _missing(self, kind: str, names: Iterable[str]) -> bool:
        what = self.goal.routine if self.goal.action == "routine" and self.goal.routine else self.goal.action
        says = f"{what} needs a {kind}." if what != self.goal.action else f"The action {what} needs a {kind}."
        return self._refuse(f"cell.missing_{kind}", f"steps[{self.number - 1}]", says, names, kind)

    def _refuse(
        self,
        code: str,
        about: str,
        says: str,
        names: Iterable[str],
        key: str,
        *,
        fixable_by: Literal["user", "graph"] = "user",
        offer: bool = True,
        every: bool = False,
    ) -> bool:
        """Notes the problem; `offer` puts the valid or nearest names into the sentence, `every` all of them."""
        near = tuple(names) if every else nearest_names(about, names)
        if offer and near:
            says += f" {_offer(key, list(names), near)}"
        try_next = "Choose one of these names." if near else "Change the scene." if fixable_by == "graph" else ""
        self.problems.append(
            Problem(
                code=code,
                about=about,
                says=f"Step {self.number}: {says}",
                try_next=try_next,
                path=f"steps[{self.number - 1}].{key}",
                nearest=near,
                fixable_by=fixable_by,
            )
        )
        return False


def _offer(key: str, names: list[str], near: tuple[str, ...]) -> str:
    lead = f"Valid {key}s" if len(set(names)) <= 10 else f"The nearest {key}s"
    return f"{lead}: {name_list(near)}."


def titled(routine: str) -> str:
    """A routine's name as a step shows it: tack_weld is Tack Weld."""
    return routine.replace("_", " ").title()
