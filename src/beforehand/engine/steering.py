"""A person's hand on a run: answers, pause, resume, cancel, retry, skip, run again, adopt another version.

Each leaves the run as it is and says why when it does not apply. Nothing here starts a tool: these only record, so
that an answer can be given while no process is running the plan.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.engine.board import Board
from beforehand.engine.ending import block_followers, cancel_steps, settle_parent, stop_run, stop_step
from beforehand.engine.inputs import (
    Adopted,
    Answered,
    CancelAsked,
    PauseAsked,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    SkipAsked,
)
from beforehand.engine.state import RunState, StepState
from beforehand.model.decision import Answer
from beforehand.model.event import iso
from beforehand.model.plan import Plan, RunStatus, StepStatus, step_wire
from beforehand.model.reason import Problem

_UNDONE = (StepStatus.BLOCKED, StepStatus.CANCELLED)


def answered(board: Board, given: Answered) -> None:
    decision = board.run.decisions.get(given.decision_id)
    if decision is None or given.verb not in decision.verbs:
        board.refuse("decision.not_open", given.decision_id, "This decision is not open, or does not take that verb.")
        return
    state = board.run.steps[str(decision.about["stepId"])]
    answer = Answer(verb=given.verb, value=given.value, note=given.note, by=given.by, at=iso(given.ts))
    data = decision.wire() | {"status": "answered", "answer": answer.wire()}
    board.emit("decisionAnswered", data, stepId=state.step.id, decisionId=decision.id)
    _EFFECTS[decision.kind, given.verb](board, state, given)


def _approve(board: Board, state: StepState, given: Answered) -> None:
    board.update_step(state, StepStatus.READY)


def _deny(board: Board, state: StepState, given: Answered) -> None:
    reason = _reason("approval.denied", state, "Approval was denied." + (f" {given.note}" if given.note else ""))
    board.end_step(state, StepStatus.SKIPPED, error="Approval was denied.", denied=True, reason=reason)
    block_followers(board, state)
    settle_parent(board, state)


def _answer_question(board: Board, state: StepState, given: Answered) -> None:
    board.end_step(state, StepStatus.COMPLETED, value=given.value)
    settle_parent(board, state)


def _skip(board: Board, state: StepState, given: Answered) -> None:
    skip(board, SkipAsked(given.ts, state.step.id, given.by))


def _retry(board: Board, state: StepState, given: Answered) -> None:
    args = given.value.get("args") if isinstance(given.value, Mapping) else None
    _open_again(board, state, dict(args) if args is not None else None)


def _abort(board: Board, state: StepState, given: Answered) -> None:
    stop_run(board, state)
    block_followers(board, state)
    settle_parent(board, state)


def _happened(board: Board, state: StepState, given: Answered) -> None:
    board.end_step(state, StepStatus.COMPLETED, value=given.value)
    settle_parent(board, state)


def _run_again(board: Board, state: StepState, given: Answered) -> None:
    _open_again(board, state, None)


def _abort_in_doubt(board: Board, state: StepState, given: Answered) -> None:
    board.end_step(state, StepStatus.FAILED, error="A person gave it up; whether it happened is not known.")
    _abort(board, state, given)


_EFFECTS: dict[tuple[str, str], Any] = {
    ("approval", "approve"): _approve,
    ("approval", "deny"): _deny,
    ("question", "answer"): _answer_question,
    ("question", "skip"): _skip,
    ("failure", "retry"): _retry,
    ("failure", "insert"): _retry,
    ("failure", "skip"): _skip,
    ("failure", "abort"): _abort,
    ("inDoubt", "happened"): _happened,
    ("inDoubt", "run-again"): _run_again,
    ("inDoubt", "abort"): _abort_in_doubt,
}


def pause(board: Board, asked: PauseAsked) -> None:
    if not board.run.status.is_final and not board.run.paused:
        board.update_run(RunStatus.PAUSED, paused=True)


def resume(board: Board, asked: ResumeAsked) -> None:
    if board.run.paused:
        board.update_run(RunStatus.RUNNING, paused=None)


def cancel(board: Board, asked: CancelAsked) -> None:
    run = board.run
    if run.status.is_final or run.cancelling:
        return
    board.update_run(RunStatus.RUNNING, cancelling=True, paused=None)
    cancel_steps(board)


def retry(board: Board, asked: RetryAsked) -> None:
    """Open a failed, blocked or cancelled step again, and what waited for it."""
    run = board.run
    state = run.steps.get(asked.step_id)
    if state is None or state.status not in (StepStatus.FAILED, StepStatus.CANCELLED):
        board.refuse("step.not_failed", asked.step_id, "Only a step that failed or was cancelled can be retried.")
        return
    if held_up := [need for need in state.needs if _holds_up(run.steps[need]) and not _never_began(run.steps[need])]:
        board.refuse("step.blocked", asked.step_id, f"It needs {', '.join(held_up)}: retry or skip that first.")
        return
    if state.decision is not None:
        board.withdraw_decision(state.decision, "The step is tried again.")
    _open_again(board, state, dict(asked.args) if asked.args is not None else None)


def skip(board: Board, asked: SkipAsked) -> None:
    """Leave a step out: it counts as done and its value is null."""
    state = board.run.steps.get(asked.step_id)
    if state is None or state.status in (StepStatus.COMPLETED, StepStatus.SKIPPED):
        board.refuse("step.done", asked.step_id, "This step is done already.")
        return
    if state.children and state.status is StepStatus.RUNNING:
        board.refuse("step.running", asked.step_id, "It is under way; skip its items one by one.")
        return
    if state.decision is not None:
        board.withdraw_decision(state.decision, "The step is skipped.")
    if state.status is StepStatus.RUNNING:
        stop_step(board, state, "skip")
        return
    _reopen_run(board)
    board.update_step(state, StepStatus.SKIPPED, reason=_reason("step.skipped", state, "A person skipped it."))
    _unblock(board, state)
    settle_parent(board, state)


def rerun(board: Board, asked: RerunAsked) -> None:
    """Run a step and all that depends on it once more."""
    run = board.run
    state = run.steps.get(asked.step_id)
    if state is None or state.parent is not None:
        board.refuse("step.unknown", asked.step_id, "There is no such step to run from.")
        return
    again = [state, *(run.steps[name] for name in run.followers_of(asked.step_id))]
    busy = [item.step.id for item in again if item.status in (StepStatus.RUNNING, StepStatus.IN_DOUBT)]
    if busy:
        board.refuse("step.running", asked.step_id, f"{', '.join(busy)} must end first.")
        return
    _reopen_run(board)
    for item in again:
        if item.decision is not None:
            board.withdraw_decision(item.decision, "The step is run again.")
        if item.status is not StepStatus.PENDING:
            board.update_step(item, StepStatus.PENDING, reset=True)


def adopt(board: Board, asked: Adopted) -> None:
    """Go on with another version; open approvals of steps that changed are withdrawn and asked for anew."""
    run = board.run
    new = {step.id: _definition(step) for step in asked.plan.steps}
    for state in list(run.steps.values()):
        if state.decision is not None and not state.attempt and new.get(state.step.id) != _definition(state.step):
            board.withdraw_decision(state.decision, f"Version {asked.plan.version} changed the step.")
    head = {**run.head, "version": asked.plan.version}
    board.emit("runAdopted", head)
    for state in list(board.run.steps.values()):
        if state.is_open and any(_holds_up(run.steps[need]) for need in state.needs):
            blocker = next(run.steps[need] for need in state.needs if _holds_up(run.steps[need]))
            block_followers(board, blocker)


def _holds_up(state: StepState) -> bool:
    return state.is_settled and not state.lets_go_on


def _never_began(state: StepState) -> bool:
    return state.status is StepStatus.CANCELLED and not state.attempt


def adoption_problems(run: RunState, plan: Plan) -> list[Problem]:
    """Why a version cannot replace the running one: steps that have started may not change."""
    new = {step.id: step for step in plan.steps}
    problems = []
    for name, state in run.steps.items():
        if state.parent is not None or not _has_started(state):
            continue
        if name not in new:
            says = f"{name} has started and cannot be removed."
        elif _definition(new[name]) != _definition(state.step):
            says = f"{name} has started and cannot change."
        else:
            continue
        problems.append(Problem(code="run.step_started", about=name, path="steps", says=says))
    return problems


def _has_started(state: StepState) -> bool:
    return state.attempt > 0 or bool(state.children) or state.status in (StepStatus.COMPLETED, StepStatus.RUNNING)


def _definition(step: Any) -> dict[str, Any]:
    return {key: value for key, value in step_wire(step).items() if key not in ("order", "status", "result")}


def _reopen_run(board: Board) -> None:
    run = board.run
    if run.status.is_final or run.stopped_by:
        board.update_run(RunStatus.RUNNING, stoppedBy=None, cancelling=None, finishedAt=None, durationMs=None)


def _open_again(board: Board, state: StepState, args: dict[str, Any] | None) -> None:
    _reopen_run(board)
    board.update_step(state, StepStatus.PENDING, reset=True, args=args)
    _unblock(board, state)
    if state.parent is not None:
        parent = board.run.steps[state.parent]
        if parent.status is not StepStatus.RUNNING:
            board.update_step(parent, StepStatus.RUNNING)
            _unblock(board, parent)


def _unblock(board: Board, root: StepState) -> None:
    """What was blocked or cancelled behind a step may go on again, unless something else still holds it up."""
    run = board.run
    names = run.followers_of(root.step.id)
    if run.status is RunStatus.RUNNING:
        names += [name for name, state in run.steps.items() if _never_began(state)]
    for name in sorted(set(names), key=lambda step_id: (run.steps[step_id].rank, step_id)):
        state = run.steps.get(name, root)  # an item goes when the step it belongs to starts over
        if state.status in _UNDONE and not any(_holds_up(run.steps[need]) for need in state.needs):
            board.update_step(state, StepStatus.PENDING, reset=True)


def _reason(code: str, state: StepState, says: str) -> dict[str, Any]:
    return {"code": code, "about": state.step.id, "says": says, "tryNext": ""}
