"""Mending an edited step list: the steps that survive stay, and the gaps between them are planned the shortest way.

The result is a proposal. It says which steps it keeps, which it puts in, which it drops because they no longer do
anything, and what it cannot mend. A proposal without problems always passes the verifier.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from beforehand.crafts.cell.core.gaps import Choice, best_choices, does_nothing, is_follower, may_wait
from beforehand.crafts.cell.core.goals import titled
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.plan_steps import plan_step
from beforehand.crafts.cell.core.steplist import Line, read_lines
from beforehand.crafts.cell.core.topology import Topology
from beforehand.crafts.cell.core.walk import Walk
from beforehand.model.cell import ATTACH, NO_TOOL, RELEASE, AtomicStep, CellScene, CellState
from beforehand.model.reason import Problem, name_list, nearest_names, unknown


@dataclass(frozen=True, slots=True)
class Repair:
    steps: tuple[AtomicStep, ...]
    origin: tuple[int | None, ...]
    """For every step its place (from 0) in the list that was given; None for one that was put in."""
    dropped: tuple[int, ...]
    """Places of given steps that are left out because they would do nothing."""
    problems: tuple[Problem, ...]
    """What no planning can mend: unknown names, missing paths, unsupported positions."""
    end: CellState
    behind: frozenset[int] = frozenset()
    """Places (from 0) of steps that were put in because a step before them has them follow."""

    @property
    def added(self) -> tuple[AtomicStep, ...]:
        return tuple(step for step, place in zip(self.steps, self.origin, strict=True) if place is None)

    @property
    def says(self) -> str:
        """The proposal in one sentence."""
        if self.problems:
            return f"This cannot be repaired: {self.problems[0].says}"
        names = name_list(step.name for step in self.added)
        parts = [f"adds {len(self.added)} ({names})" if self.added else "adds none"]
        if self.dropped:
            parts.append(f"removes {len(self.dropped)} that would do nothing")
        kept = sum(place is not None for place in self.origin)
        return f"The repair keeps {kept} of the steps, {' and '.join(parts)}."


def repair(scene: CellScene, steps: Any, state: CellState, *, topology: Topology | None = None) -> Repair:
    """A step list that the cell allows and that still does what the given one does, or the reasons why not."""
    lines, found = read_lines(steps, scene.name)
    lookup = Lookup(scene, topology)
    amiss = [problem for problem in found if not _mendable(problem)]
    plain = _mended(lookup, lines, state, amiss, [])
    if plain.problems or not plain.added:
        return plain
    choices = best_choices(lookup, lines, state.current_position, state.current_tool)
    return _mended(lookup, lines, state, amiss, choices)


def _mended(
    lookup: Lookup, lines: list[Line], state: CellState, amiss: list[Problem], choices: Sequence[Choice]
) -> Repair:
    """The lines done one after the other, with what is chosen put in before them."""
    start = state.current_position if state.current_position in lookup.positions else None
    mending = _Mending(lookup, Walk(lookup, start, state.current_tool))
    mending.problems += amiss
    for line, choice in zip(lines, choices or [Choice()] * len(lines), strict=True):
        mending.begin(line)
        mending.put_in(choice)
        mending.take(line)
    mending.run_due(None)
    return mending.result(state)


def _mendable(problem: Problem) -> bool:
    """Ids, chains and metadata are simply written anew; a step that cannot be read at all is not guessed at."""
    if problem.code in ("cell.bad_id", "cell.not_chained", "cell.metadata", "cell.unknown_key"):
        return True
    return problem.path.rsplit(".", 1)[-1] in ("name", "stabilize", "action_after", "verify")


def repair_plan(
    scene: CellScene, steps: list[dict[str, Any]], state: CellState, *, topology: Topology | None = None
) -> tuple[list[dict[str, Any]], Repair]:
    """The same for a plan: survivors keep their ids and goals, new steps get ids not yet used, others stay."""
    proposal = repair(scene, steps, state, topology=topology)
    used = {str(step.get("id")) for step in steps}
    unused = (name for number in count(1) if (name := f"step_{number}") not in used)
    kept = {place for place in proposal.origin if place is not None}
    others = [at for at in range(len(steps)) if at not in kept and at not in proposal.dropped]
    other_ids = {str(steps[at].get("id")) for at in others}
    mended: list[dict[str, Any]] = []
    last: list[str] = []
    for step, place, goal in zip(proposal.steps, proposal.origin, _goals_served(steps, proposal), strict=True):
        while place is not None and others and others[0] < place:
            mended.append(_without(steps[others.pop(0)], steps, proposal.dropped, last))
        old = steps[place] if place is not None else {}
        waits = [one for one in old.get("dependsOn") or () if str(one) in other_ids]
        made = plan_step(step, scene.name, str(old["id"]) if old else next(unused), [*last, *waits], goal)
        mended.append({**old, **made})
        last = [made["id"]]
    mended += [_without(steps[at], steps, proposal.dropped, last) for at in others]
    return mended, proposal


def _without(
    step: dict[str, Any], steps: list[dict[str, Any]], dropped: tuple[int, ...], instead: list[str]
) -> dict[str, Any]:
    """A step that is not the cell's, waiting for the last kept step where it waited for one that is left out."""
    gone = {str(steps[place].get("id")) for place in dropped}
    waits = [str(one) for one in step.get("dependsOn") or ()]
    if not gone & set(waits):
        return step
    return {**step, "dependsOn": list(dict.fromkeys([one for one in waits if one not in gone] + instead))}


def _goals_served(steps: list[dict[str, Any]], proposal: Repair) -> list[dict[str, Any] | None]:
    """A step that was put in serves the goal of the next survivor, or of the last one where it has to follow that."""
    goals: list[dict[str, Any] | None] = []
    following: dict[str, Any] | None = None
    for place in reversed(proposal.origin):
        following = steps[place].get("goal") if place is not None else following
        goals.append(following)
    goals.reverse()
    for at in sorted(proposal.behind):
        goals[at] = goals[at - 1]
    return goals


class _Mending:
    def __init__(self, lookup: Lookup, walk: Walk) -> None:
        self.lookup = lookup
        self.walk = walk
        self.origin: list[int | None] = []
        self.dropped: list[int] = []
        self.behind: set[int] = set()
        """Steps that were put in because a step before them has them follow."""
        self.problems: list[Problem] = []

    def begin(self, line: Line) -> None:
        """What is wrong from here on is told of this line."""
        self.walk.goal, self.walk.label = line.at + 1, line.label

    def put_in(self, choice: Choice) -> None:
        """Run pending followers, and have another tool on, or none, before the next line asks for it."""
        for _ in range(choice.followers):
            self._run_follower()
        if choice.tool == NO_TOOL:
            self.walk.put_back()
        elif choice.tool:
            self.walk.hold(choice.tool)

    def run_due(self, line: Line | None) -> None:
        """Run pending followers, as far as they may not wait for this line."""
        if line is not None and does_nothing(line, self.walk.position, self.walk.tool):
            return
        while self.walk.pending and not may_wait(self.walk.pending[-1], line):
            self._run_follower()

    def _run_follower(self) -> None:
        before = len(self.walk.steps)
        self.walk.run_follower()
        self.behind.update(range(before, len(self.walk.steps)))

    def take(self, line: Line) -> None:
        self.run_due(line)
        target = line.text("target") or ""
        if line.action == "move":
            self._move(line, target)
        elif target in (ATTACH, RELEASE):
            self._tool(line, target)
        else:
            self._routine(line, target)

    def _claim(self, line: Line) -> bool:
        """Where the line is the next pending follower itself, that is pending no more."""
        claims = bool(self.walk.pending) and is_follower(self.walk.pending[-1], line)
        if claims:
            self.walk.pending.pop()
        return claims

    def result(self, state: CellState) -> Repair:
        walk = self.walk
        self.origin += [None] * (len(walk.steps) - len(self.origin))
        end = state
        if walk.spots:
            end = CellState(current_position=walk.spots[-1][0], current_tool=walk.spots[-1][1])
        steps = tuple(act.numbered(number) for number, act in enumerate(walk.steps, 1))
        problems = (*self.problems, *walk.problems)
        return Repair(steps, tuple(self.origin), tuple(self.dropped), problems, end, frozenset(self.behind))

    def _keep(self, at: int, place: int) -> None:
        """The step at this index of the walk is the given one; what came before it was put in."""
        self.origin += [None] * (at - len(self.origin)) + [place]

    def _move(self, line: Line, target: str) -> None:
        if not self._known(line, "position", target, list(self.lookup.positions)):
            return
        if self._just_moved_to(target):
            self._keep_last(line)
        elif self.walk.position == target:
            self.dropped.append(line.at)
        elif self.walk.position and target in self.lookup.topology.neighbours(self.walk.position):
            self.walk.move(target)
            self._keep_last(line)
        else:
            self.walk.go_to(target)
            self._keep_last(line)

    def _just_moved_to(self, target: str) -> bool:
        """Whether the last step is a move there that no line has claimed: a move to safety that came by itself."""
        steps = self.walk.steps
        return len(steps) > len(self.origin) and (steps[-1].action, steps[-1].target) == ("move", target)

    def _keep_last(self, line: Line) -> None:
        if self.walk.steps and len(self.walk.steps) > len(self.origin):
            self._keep(len(self.walk.steps) - 1, line.at)

    def _routine(self, line: Line, name: str) -> None:
        place = line.text("position") or ""
        known = self._known(line, "routine", name, list(self.lookup.routines))
        if not self._known(line, "position", place, list(self.lookup.positions)) or not known:
            return
        support = self.lookup.support(name, place)
        if support is None:
            says = f"{line.label}: {name} is not supported at {place}."
            self._cannot(line, place, says, "cell.unsupported", list(self.lookup.supports[name]))
            return
        needed = self.lookup.routines[name].tool_needed
        claimed = self._claim(line)
        if needed and self._known(line, "tool", needed, list(self.lookup.tools)):
            self.walk.hold(needed)
        if not claimed:
            self._claim(line)
        self.walk.go_to(place)
        at = len(self.walk.steps)
        self.walk.run(f"{titled(name)} at {place}", name, place, support)
        self._keep(at, line.at)

    def _tool(self, line: Line, name: str) -> None:
        tool = line.text("tool") or ""
        if not self._known(line, "tool", tool, list(self.lookup.tools)):
            return
        wanted = tool if name == ATTACH else NO_TOOL
        if self.walk.tool == wanted or (name == RELEASE and self.walk.tool != tool):
            self.dropped.append(line.at)
            return
        before = len(self.walk.steps)
        if name == ATTACH:
            self.walk.hold(tool)
        else:
            self.walk.put_back()
        made = [at for at in range(before, len(self.walk.steps)) if self.walk.steps[at].target == name]
        if made:
            self._keep(made[-1], line.at)

    def _known(self, line: Line, kind: str, name: str, names: list[str]) -> bool:
        if name in names:
            return True
        says = f"{line.label}: {unknown(kind, name, names).says}" if name else f"{line.label} names no {kind}."
        self._cannot(line, name or line.path, says, f"cell.unknown_{kind}", names)
        return False

    def _cannot(self, line: Line, about: str, says: str, code: str, names: list[str]) -> None:
        near = nearest_names(about, names)
        self.problems.append(Problem(code=code, about=about[:80], says=says, path=line.path, nearest=near))
