"""A sequence as an ordinary plan and back: each atomic step is a step of `cell.move` or `cell.routine`, in a chain.

The steps carry the goal they serve, so that a reader can fold what was put in for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beforehand.crafts.cell.core.builder import Sequence as Built
from beforehand.crafts.cell.core.steplist import Line
from beforehand.model.cell import AtomicStep
from beforehand.model.plan import Step, StepStatus

MOVE_TOOL = "cell.move"
ROUTINE_TOOL = "cell.routine"
ARGUMENTS = ("target", "position", "tool", "stabilize", "action_after", "verify")


def to_plan_steps(sequence: Built) -> list[dict[str, Any]]:
    """Step documents for a Plan, chained by `dependsOn`."""
    steps = []
    for at, step in enumerate(sequence.steps):
        number = sequence.goal_of[at]
        goal = {"index": number, "says": sequence.goals[number - 1]}
        steps.append(plan_step(step, sequence.scene, f"step_{at + 1}", [f"step_{at}"] if at else [], goal))
    return steps


def plan_step(
    step: AtomicStep, scene: str, step_id: str, depends_on: list[str], goal: dict[str, Any] | None
) -> dict[str, Any]:
    wire = step.wire()
    args = {"scene": scene} | {key: wire[key] for key in ARGUMENTS if key in wire}
    tool = MOVE_TOOL if step.action == "move" else ROUTINE_TOOL
    made: dict[str, Any] = {"id": step_id, "description": step.name, "tool": tool, "args": args}
    made["dependsOn"] = depends_on
    if goal is not None:
        made["goal"] = goal
    return made


def atomic_step(document: Mapping[str, Any]) -> AtomicStep:
    """A step of a verified list; one that has no name gets the one the builder would give it."""
    line = Line("", "", str(document.get("action")), document)
    return AtomicStep.model_validate({"name": line.name, **document})


def from_plan_steps(steps: Iterable[Mapping[str, Any]]) -> list[AtomicStep]:
    """The atomic steps in a plan's cell steps, in the order listed, numbered anew; skipped ones are left out."""
    atomic: list[AtomicStep] = []
    for step in steps:
        if step.get("tool") not in (MOVE_TOOL, ROUTINE_TOOL) or step.get("status") == "skipped":
            continue
        args = step.get("args") or {}
        known = {key: args[key] for key in ARGUMENTS if args.get(key) is not None}
        action = "move" if step["tool"] == MOVE_TOOL else "routine"
        name = str(step.get("description") or known.get("target", ""))
        atomic.append(AtomicStep.model_validate({"id": len(atomic) + 1, "name": name, "action": action, **known}))
    return atomic


def in_line(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps, each cell step that waits for a skipped one waiting for what that one waited for too.

    A skipped step counts as done at once, so without this the robot would begin what stands behind it out of turn.
    """
    needs = {step.id: step.depends_on for step in steps}
    skipped = {step.id for step in steps if step.status is StepStatus.SKIPPED}
    return tuple(
        step.model_copy(update={"depends_on": _through(step, needs, skipped)})
        if step.tool in (MOVE_TOOL, ROUTINE_TOOL) and not skipped.isdisjoint(step.depends_on)
        else step
        for step in steps
    )


def _through(step: Step, needs: Mapping[str, tuple[str, ...]], skipped: set[str]) -> tuple[str, ...]:
    found = list(step.depends_on)
    for name in found:
        if name in skipped:
            found += [other for other in needs[name] if other not in (*found, step.id)]
    return tuple(found)
