"""The verifier: is this step list what the cell allows, from this state? Every problem at once, each naming its step.

It reads the scene by itself and shares no code with the builder or its graph, so that a mistake in one is seen by
the other. After a problem it goes on as if the step had worked, so that one wrong move does not hide the next.
"""

from dataclasses import dataclass
from typing import Any

from beforehand.crafts.cell.core.steplist import Line, problem, read_lines
from beforehand.model.cell import CellScene, CellState, Routine, Support
from beforehand.model.reason import Problem, name_list, nearest_names, unknown

METADATA = ("stabilize", "action_after", "verify")
TOOL_CHANGES = ("tool_attach", "tool_release")


@dataclass(frozen=True, slots=True)
class Verification:
    problems: tuple[Problem, ...]
    end: CellState
    """Where the robot stands and what it holds after the last step."""
    states: tuple[CellState, ...] = ()
    """The same after every step."""

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(frozen=True, slots=True)
class Promise:
    """What a step's `action_after` still asks for: the move to safety, or a routine at the same position."""

    line: Line
    after: str
    place: str
    waits: bool
    """Whether moves and tool changes may come between, because the routine needs a tool that was not held."""

    @property
    def name(self) -> str:
        return Line("", "", "routine", {"target": self.after, "position": self.place}).name

    def waits_for(self, line: Line | None) -> bool:
        return self.waits and line is not None and (line.action == "move" or line.text("target") in TOOL_CHANGES)

    def kept_by(self, line: Line | None) -> bool:
        asked = ("routine", self.after, self.place)
        return line is not None and (line.action, line.text("target"), line.text("position")) == asked


def verify(scene: CellScene, steps: Any, state: CellState) -> Verification:
    """Judge atomic steps, or a plan's steps, against the scene, starting from the state."""
    lines, problems = read_lines(steps, scene.name)
    inspection = _Inspection(scene, state, problems)
    inspection.check_state()
    for line in lines:
        inspection.check(line)
    inspection.check_promises(None)
    end = CellState(current_position=inspection.position, current_tool=inspection.tool)
    unknown_first = sorted(inspection.problems, key=lambda one: ".unknown_" not in one.code)
    return Verification(tuple(unknown_first), end, tuple(inspection.states))


class _Inspection:
    def __init__(self, scene: CellScene, state: CellState, problems: list[Problem]) -> None:
        self.scene = scene
        self.problems = problems
        self.position = state.current_position
        self.tool = state.current_tool
        self.states: list[CellState] = []
        self.roles = {place.name: place.role for place in scene.positions}
        self.routines: dict[str, Routine] = {routine.name: routine for routine in reversed(scene.routines)}
        self.stands = {tool.name: tool.stand for tool in reversed(scene.tools)}
        self.exits: dict[str, set[str]] = {name: set() for name in self.roles}
        for move in scene.moves:
            if move.source in self.exits and move.target in self.exits:
                self.exits[move.source].add(move.target)
                if not move.one_way:
                    self.exits[move.target].add(move.source)
        self.promises: list[Promise] = []
        """What is still to come, the next one last: the tool changes for one can make others."""

    def check_state(self) -> None:
        if self.position not in self.roles:
            self._unknown("state.current_position", "The robot's state", "position", self.position, list(self.roles))
        if self.tool != "none" and self.tool not in self.stands:
            self._unknown("state.current_tool", "The robot's state", "tool", self.tool, list(self.stands))

    def check(self, line: Line) -> None:
        self.check_promises(line)
        target = line.text("target")
        if not target:
            self._found(line.path, line.path, f"{line.label} has no target.", "cell.bad_step")
        elif line.action == "move":
            self._check_move(line, target)
        elif target == "tool_attach":
            self._check_attach(line)
        elif target == "tool_release":
            self._check_release(line)
        else:
            self._check_routine(line, target)
        self.states.append(CellState(current_position=self.position, current_tool=self.tool))

    def check_promises(self, line: Line | None) -> None:
        """The next step keeps the last promise or, where that one waits, at least changes tools for it."""
        while self.promises and not self.promises[-1].waits_for(line):
            promise = self.promises.pop()
            if promise.after == "move_safe":
                kept = self._check_move_safe(promise.line, line)
            else:
                kept = self._check_follower(promise, line)
            if kept:
                return

    def _check_move_safe(self, promising: Line, line: Line | None) -> bool:
        """A routine that ends in move_safe is followed by exactly that move."""
        safe = sorted(name for name in self.exits.get(self.position, ()) if self.roles[name] == "safe")
        if not safe:
            says = f"{promising.label} ends in move_safe, but no position of role safe is next to {self.position}."
            self._found(promising.path, self.position, says, "cell.no_safe_place")
        elif line is None or line.action != "move" or line.text("target") != safe[0]:
            says = f"{promising.label} ends in move_safe, so the next step must be the move to {safe[0]}."
            self._found(promising.path, safe[0], says, "cell.move_safe", [safe[0]])
        else:
            return True
        return False

    def _check_follower(self, promise: Promise, line: Line | None) -> bool:
        """A routine with another as its action_after is followed by that one, with only its tool change between."""
        if promise.kept_by(line):
            return True
        first = promise.line
        much = "only moves and tool changes may come before it" if promise.waits else "it must be the next step"
        instead = "the list ends before it" if line is None else f"step {line.label[5:]} is {line.name}"
        says = f"{promise.name} follows {first.label[0].lower()}{first.label[1:]} ({first.name}), so {much}; {instead}."
        self._found(first.path, promise.after, says, "cell.action_after")
        return False

    def _check_move(self, line: Line, target: str) -> None:
        if target not in self.roles:
            self._unknown(line.path, line.label, "position", target, list(self.roles))
            return
        exits = self.exits.get(self.position)
        if exits is not None and target not in exits:
            near = nearest_names(target, exits)
            says = f"{line.label}: no allowed move leads from {self.position} to {target}."
            if near:
                says += f" From there it leads to {name_list(near)}."
            self._found(line.path, target, says, "cell.not_adjacent", list(exits))
        self.position = target

    def _place(self, line: Line) -> str | None:
        """The position a routine claims to run at; it must be where the robot is."""
        place = line.text("position")
        if not place:
            self._found(line.path, line.path, f"{line.label} does not say at which position it runs.", "cell.bad_step")
            return None
        if place not in self.roles:
            self._unknown(line.path, line.label, "position", place, list(self.roles))
            return None
        if place != self.position:
            says = f"{line.label} runs at {place}, but the robot is at {self.position} by then."
            self._found(line.path, place, says, "cell.not_there")
            self.position = place
        return place

    def _check_routine(self, line: Line, name: str) -> None:
        place = self._place(line)
        routine = self.routines.get(name)
        if routine is None:
            self._unknown(line.path, line.label, "routine", name, list(self.routines))
            return
        needed = routine.required_tool if routine.required_tool not in ("", "none") else None
        if needed and self.tool != needed:
            says = f"{line.label}: {name} needs {needed}, but the robot holds {self.tool} by then."
            self._found(line.path, needed, says, "cell.tool_missing")
        claimed = line.text("tool")
        if claimed is not None and claimed != self.tool:
            says = f"{line.label} says it runs with {claimed[:80]}, but the robot holds {self.tool} by then."
            self._found(line.path, claimed, says, "cell.tool_missing")
        if place is None:
            return
        support = next((one for one in routine.supported_at if one.position == place), None)
        if support is None:
            says = f"{line.label}: {name} is not supported at {place}."
            self._found(line.path, place, says, "cell.unsupported", [one.position for one in routine.supported_at])
        else:
            self._check_metadata(line, support, name)

    def _tool_of(self, line: Line) -> str | None:
        tool = line.text("tool")
        if tool in self.stands:
            return tool
        if tool:
            self._unknown(line.path, line.label, "tool", tool, list(self.stands))
        else:
            says = f"{line.label} does not name a tool."
            self._found(line.path, line.path, says, "cell.unknown_tool", list(self.stands))
        return None

    def _check_attach(self, line: Line) -> None:
        tool, place = self._tool_of(line), self._place(line)
        if tool is not None:
            if self.tool != "none":
                held = "it already" if self.tool == tool else self.tool
                says = f"{line.label} attaches {tool}, but the robot holds {held} by then; release it first."
                self._found(line.path, tool, says, "cell.tool_held")
            self._check_stand(line, tool, place)
            self.tool = tool
        self._check_tool_metadata(line, "tool_attach", place)

    def _check_release(self, line: Line) -> None:
        tool, place = self._tool_of(line), self._place(line)
        if tool is not None:
            if self.tool != tool:
                says = f"{line.label} releases {tool}, but the robot holds {self.tool} by then."
                self._found(line.path, tool, says, "cell.tool_missing")
            self._check_stand(line, tool, place)
        self.tool = "none"
        self._check_tool_metadata(line, "tool_release", place)

    def _check_stand(self, line: Line, tool: str, place: str | None) -> None:
        stand = self.stands[tool]
        if stand is None:
            self._found(line.path, tool, f"{line.label}: the tool {tool} has no stand.", "cell.no_stand")
        elif place is not None and place != stand:
            says = f"{line.label}: {tool} hangs at {stand}, not at {place}."
            self._found(line.path, place, says, "cell.wrong_stand", [stand])

    def _check_tool_metadata(self, line: Line, name: str, place: str | None) -> None:
        routine = self.routines.get(name)
        if place is None:
            return
        supports = routine.supported_at if routine else ()
        here = next((one for one in supports if one.position == place), Support(position=place))
        self._check_metadata(line, here, name)

    def _check_metadata(self, line: Line, support: Support, name: str) -> None:
        """What the step says about stabilize, action_after and verify is what the scene says, no more and no less."""
        for key in METADATA:
            said, meant = line.fields.get(key), getattr(support, key)
            meant = None if meant == "" else meant
            if said != meant or isinstance(said, bool):
                wants = f"{key} {meant}" if meant is not None else f"no {key}"
                shown = "none" if said is None else str(said)[:60] if isinstance(said, str | int | float) else "odd"
                says = f"{line.label}: the scene has {wants} for {name} at {support.position}; the step has {shown}."
                self._found(line.path, key, says, "cell.metadata")
        after = support.action_after
        if after:
            follower = self.routines.get(after)
            needed = follower.required_tool if follower else None
            waits = after != "move_safe" and needed not in (None, "", "none", self.tool)
            self.promises.append(Promise(line, after, support.position, waits))

    def _unknown(self, path: str, where: str, kind: str, name: str, names: list[str]) -> None:
        self._found(path, name, f"{where}: {unknown(kind, name, names).says}", f"cell.unknown_{kind}", names)

    def _found(self, path: str, about: str, says: str, code: str, names: list[str] | None = None) -> None:
        self.problems.append(problem(path, about, says, code=code, names=names))
