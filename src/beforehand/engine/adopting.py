"""Going on with another version of the plan: what has begun stays as it is, what has not is as the version says."""

from typing import Any

from beforehand.engine.board import Board, close_answered
from beforehand.engine.inputs import Adopted
from beforehand.engine.reopening import block_held_up, is_being_cancelled, never_began, reopen_run
from beforehand.engine.state import RunState, StepState
from beforehand.model.plan import Plan, Step, StepStatus, step_wire
from beforehand.model.reason import Problem


def adopt(board: Board, asked: Adopted) -> None:
    """Go on with another version; open approvals of steps that changed are withdrawn and asked for anew."""
    run = board.run
    if is_being_cancelled(board):
        return
    anew = asked.answers is not None
    if problems := adoption_problems(run, asked.plan, waits_may_change=True, anew=anew):
        board.reasons += problems
        return
    if asked.answers is not None and (decision := run.decisions.get(asked.answers.decision_id)) is not None:
        close_answered(board, decision, asked.answers)
    new = {step.id: step for step in asked.plan.steps}
    old = {name: state.step for name, state in run.steps.items() if state.parent is None}
    for state in list(run.steps.values()):
        if state.parent is None and state.decision is not None:
            _withdraw_if_changed(board, state, new.get(state.step.id), asked.plan.version)
    reopened = reopen_run(board)
    run.learn(asked.plan)
    board.emit("runAdopted", {**run.head, "version": asked.plan.version})
    for state in list(run.steps.values()):
        if state.parent is None and state.step.id in old:
            _fit_in(board, state, old[state.step.id], reopened, anew)
    block_held_up(board)


def _withdraw_if_changed(board: Board, state: StepState, step: Step | None, version: int) -> None:
    """A question about what is not there any more falls away; one about a failure waits for its answer."""
    assert state.decision is not None
    if step is None or (state.is_open and _differs(step, state.step)):
        board.withdraw_decision(state.decision, f"Version {version} changed the step.")


def _fit_in(board: Board, state: StepState, before: Step, reopened: bool, anew: bool) -> None:
    """Where a step stands in the new version: what has begun stays, what has not is as the version says."""
    step = state.step
    changed = _differs(step, before)
    fresh = changed and not _has_started(state, anew) and state.decision is None
    if fresh or state.status is StepStatus.BLOCKED or (reopened and never_began(state)):
        skipped = step.status is StepStatus.SKIPPED
        if state.status is not (StepStatus.SKIPPED if skipped else StepStatus.PENDING):
            board.update_step(state, StepStatus.SKIPPED if skipped else StepStatus.PENDING, reset=True)


def adoption_problems(
    run: RunState, plan: Plan, *, waits_may_change: bool = False, anew: bool = False
) -> list[Problem]:
    """Why a version cannot replace the running one: steps that have started may not change.

    `waits_may_change` lets what a failed step waits for change: that is how steps are inserted before a new try. Where
    the rest is planned `anew`, a step whose earlier try is over and that is open again belongs to the rest.
    """
    new = {step.id: step for step in plan.steps}
    problems = []
    for name, state in run.steps.items():
        if state.parent is not None:
            continue
        if not _has_started(state, anew):
            if name not in new or not _is_too_late(run, state, new[name]):
                continue
            says = f"{name} was skipped and what depends on it has gone on; it cannot change any more."
        elif name not in new:
            says = f"{name} has started and cannot be removed."
        elif _definition(new[name], waits=not waits_may_change) != _definition(state.step, waits=not waits_may_change):
            says = f"{name} has started and cannot change."
        elif new[name].status is not state.step.status:
            says = f"{name} has started; skip it in the run instead."
        else:
            continue
        problems.append(Problem(code="run.step_started", about=name, path="steps", says=says))
    return problems


def _differs(step: Step, before: Step) -> bool:
    return step.status is not before.status or _definition(step) != _definition(before)


def _is_too_late(run: RunState, state: StepState, step: Step) -> bool:
    """Whether a change would open a step again that others have taken as done."""
    if not state.lets_go_on or not _differs(step, state.step):
        return False
    return any(_has_started(run.steps[name]) for name in run.followers[state.step.id])


def _has_started(state: StepState, anew: bool = False) -> bool:
    if anew and state.is_open and not state.children:
        return False
    return state.attempt > 0 or bool(state.children) or state.status in (StepStatus.COMPLETED, StepStatus.RUNNING)


def _definition(step: Step, *, waits: bool = True) -> dict[str, Any]:
    left_out = ("order", "status", "result") if waits else ("order", "status", "result", "dependsOn")
    return {key: value for key, value in step_wire(step).items() if key not in left_out}
