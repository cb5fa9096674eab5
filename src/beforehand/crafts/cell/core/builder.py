"""The sequence builder: an intent and a state become atomic steps, or every reason why they cannot.

Goals are taken one at a time. Tool changes and moves are put in before each as the simulated robot needs them, and
every step remembers the goal it serves. No guessing: an unknown name, a missing path or stand is always an error.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beforehand.crafts.cell.core.goals import resolve
from beforehand.crafts.cell.core.intent import parse_intent
from beforehand.crafts.cell.core.lookup import Lookup
from beforehand.crafts.cell.core.topology import Topology
from beforehand.crafts.cell.core.walk import Act, Walk
from beforehand.model.cell import NO_TOOL, AtomicStep, CellScene, CellState, Goal, Intent
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem, Reason, unknown


@dataclass(frozen=True)
class Sequence:
    """What a plan is made of, and what its makers need to say about it."""

    scene: str
    acts: tuple[Act, ...]
    goal_of: tuple[int, ...]
    """For every step the number (from 1) of the goal it serves."""
    goals: tuple[str, ...]
    """What each goal says, in order."""
    notes: tuple[Reason, ...]
    start: CellState
    spots: tuple[tuple[str, str], ...]

    @cached_property
    def steps(self) -> tuple[AtomicStep, ...]:
        return tuple(act.numbered(number) for number, act in enumerate(self.acts, 1))

    @cached_property
    def states(self) -> tuple[CellState, ...]:
        """The simulated state after every step."""
        return tuple(CellState(current_position=place, current_tool=tool) for place, tool in self.spots)

    @property
    def end(self) -> CellState:
        if not self.spots:
            return self.start
        return CellState(current_position=self.spots[-1][0], current_tool=self.spots[-1][1])

    def wire(self) -> list[dict[str, Any]]:
        """The atomic list exactly as the spec's Output section."""
        return [act.wire(number) for number, act in enumerate(self.acts, 1)]


def build(
    scene: CellScene, intent: Intent | Any, state: CellState, *, topology: Topology | Lookup | None = None
) -> Sequence:
    """The sequence for an intent, in the order given; BadInputError with all problems when there is none."""
    lookup = topology if isinstance(topology, Lookup) else Lookup(scene, topology)
    goals, problems = parse_intent(intent)
    problems += state_problems(lookup, state) + _order_problems(goals)
    tasks, unknown = resolve(lookup, goals)
    problems += unknown
    start = state.current_position if state.current_position in lookup.positions else None
    walk = Walk(lookup, start, state.current_tool)
    served: list[int] = []
    for task in tasks:
        kept = (len(walk.problems), walk.position, walk.tool)
        walk.do(task)
        served += [task.number] * (len(walk.steps) - len(served))
        if len(walk.problems) > kept[0] or task.action == "probe":
            walk.position, walk.tool = kept[1], kept[2]
    problems += walk.problems
    if problems:
        raise refusal(problems)
    says = tuple(task.says for task in tasks)
    return Sequence(scene.name, tuple(walk.steps), tuple(served), says, tuple(walk.notes), state, tuple(walk.spots))


def state_problems(lookup: Lookup, state: CellState) -> list[Problem]:
    """Whether the state speaks of positions and tools this cell has."""
    problems = []
    checks = [("position", state.current_position, list(lookup.positions))]
    if state.current_tool != NO_TOOL:
        checks.append(("tool", state.current_tool, [*lookup.tools, NO_TOOL]))
    for kind, name, names in checks:
        if name in names:
            continue
        told = unknown(kind, name, names, inside=lookup.scene.name)
        problems.append(
            Problem(
                code=f"cell.unknown_{kind}",
                about=name[:80],
                says=f"The robot's state: {told.says}",
                try_next=f"Give a known --{kind}, or set it: `beforehand cell set {lookup.scene.name} --{kind} NAME`.",
                path=f"state.current_{kind}",
                nearest=told.nearest,
                fixable_by="state",
            )
        )
    return problems


def _order_problems(goals: list[Goal | None]) -> list[Problem]:
    """`after` against the given order: a contradiction is the user's to solve, or the free order's."""
    problems = []
    for at, goal in enumerate(goals, 1):
        for number in goal.after if goal else ():
            if at < number <= len(goals):
                says = f"Step {at} must come after step {number}, but stands before it."
                hint = "Put them in that order, or let the order be free."
                path = f"steps[{at - 1}].after"
                problems.append(
                    Problem(code="cell.order", about=path, says=says, try_next=hint, path=path, fixable_by="user")
                )
    return problems


def refusal(problems: list[Problem]) -> BadInputError:
    """All problems as one error, unknown names first."""
    ordered = sorted(problems, key=lambda problem: ".unknown_" not in problem.code)
    count = len(ordered)
    says = ordered[0].says if count == 1 else f"{count} problems keep this plan from being made."
    return BadInputError(says, code="cell.cannot_plan", problems=ordered, nearest=ordered[0].nearest)
