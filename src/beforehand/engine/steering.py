"""A person's hand on a run: answers, pause, resume, cancel, retry, skip, run again.

Each leaves the run as it is and says why when it does not apply. Nothing here starts a tool: these only record, so
that an answer can be given while no process is running the plan.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.engine.adopting import adoption_problems as adoption_problems
from beforehand.engine.board import Board, close_answered
from beforehand.engine.ending import (
    block_followers,
    cancel_followers,
    cancel_step,
    cancel_steps,
    settle_parent,
    stop_run,
    stop_step,
)
from beforehand.engine.inputs import (
    Answered,
    CancelAsked,
    PauseAsked,
    ReleaseAsked,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    SetTimer,
    SkipAsked,
    timeout_key,
)
from beforehand.engine.reopening import (
    block_held_up,
    holds_up,
    is_being_cancelled,
    lift_parent,
    never_began,
    open_again,
    reopen_run,
    unblock,
)
from beforehand.engine.silence import patience_ms
from beforehand.engine.state import StepState
from beforehand.model.plan import RunStatus, StepStatus
from beforehand.model.reason import unknown


def answered(board: Board, given: Answered) -> None:
    decision = board.run.decisions.get(given.decision_id)
    if decision is None or given.verb not in decision.verbs:
        board.refuse("decision.not_open", given.decision_id, "This decision is not open, or does not take that verb.")
        return
    if given.verb == "retry" and not _args_are_fine(given.value):
        board.refuse("decision.value", given.decision_id, "A retry takes `value: {args: {…}}`, or no value.")
        return
    close_answered(board, decision, given)
    _EFFECTS[decision.kind, given.verb](board, board.run.steps[str(decision.about["stepId"])], given)


def _args_are_fine(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and isinstance(value.get("args", {}), Mapping | None))


def _approve(board: Board, state: StepState, given: Answered) -> None:
    board.update_step(state, StepStatus.READY)


def _deny(board: Board, state: StepState, given: Answered) -> None:
    reason = _reason("approval.denied", state, "Approval was denied." + (f" {given.note}" if given.note else ""))
    board.end_step(state, StepStatus.DENIED, error="Approval was denied.", reason=reason)
    block_followers(board, state)
    settle_parent(board, state)


def _answer_question(board: Board, state: StepState, given: Answered) -> None:
    board.end_step(state, StepStatus.COMPLETED, value=given.value)
    settle_parent(board, state)


def _skip(board: Board, state: StepState, given: Answered) -> None:
    skip(board, SkipAsked(given.ts, state.step.id, given.by))


def _retry(board: Board, state: StepState, given: Answered) -> None:
    args = given.value.get("args") if isinstance(given.value, Mapping) else None
    open_again(board, state, dict(args) if args is not None else None)


def _abort(board: Board, state: StepState, given: Answered) -> None:
    stop_run(board, state)
    block_followers(board, state)
    settle_parent(board, state)


def _happened(board: Board, state: StepState, given: Answered) -> None:
    board.end_step(state, StepStatus.COMPLETED, value=given.value)
    settle_parent(board, state)


def _run_again(board: Board, state: StepState, given: Answered) -> None:
    if board.run.cancelling or board.run.stopped_by:
        cancel_step(board, state)
    else:
        open_again(board, state, None)


def _abort_drifted(board: Board, state: StepState, given: Answered) -> None:
    board.end_step(state, StepStatus.FAILED, error="A person gave it up: its machine was not available as it needs it.")
    _abort(board, state, given)


def _wait_longer(board: Board, state: StepState, given: Answered) -> None:
    patience = patience_ms(board.catalog.get(state.step.tool), state.step.timeout_s) or 0
    board.commands.append(SetTimer(timeout_key(state.step.id, state.attempt), board.ts + patience))


def _stop_silent(board: Board, state: StepState, given: Answered) -> None:
    if state.stopping is None:
        stop_step(board, state, "stop")


def _abort_silent(board: Board, state: StepState, given: Answered) -> None:
    _stop_silent(board, state, given)
    stop_run(board, state)
    cancel_followers(board, state)


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
    ("drift", "check-again"): _approve,
    ("drift", "replan"): _approve,
    ("drift", "skip"): _skip,
    ("drift", "abort"): _abort_drifted,
    ("silent", "wait"): _wait_longer,
    ("silent", "stop"): _stop_silent,
    ("silent", "abort"): _abort_silent,
    ("machineHeld", "check-again"): _approve,
    ("machineHeld", "skip"): _skip,
    ("machineHeld", "abort"): _abort_drifted,
    ("inDoubt", "happened"): _happened,
    ("inDoubt", "run-again"): _run_again,
    ("inDoubt", "abort"): _abort_in_doubt,
}


def pause(board: Board, asked: PauseAsked) -> None:
    if _has_ended(board):
        return
    if not board.run.paused and not board.run.cancelling:
        board.update_run(RunStatus.PAUSED, paused=True)


def resume(board: Board, asked: ResumeAsked) -> None:
    if not _has_ended(board) and board.run.paused:
        board.update_run(RunStatus.RUNNING, paused=None)


def release(board: Board, asked: ReleaseAsked) -> None:
    """Give the machines back; they are taken again by whatever needs them next."""
    run = board.run
    if _has_ended(board):
        return
    if run.running or run.in_air or not (run.paused or run.status is RunStatus.WAITING):
        says = "Machines are given back only while the run is paused or waits and nothing is in flight."
        board.refuse("run.in_flight", run.run_id, says, "Pause the run first.")
    elif run.machines:
        board.update_run(run.status, machines=None)


def cancel(board: Board, asked: CancelAsked) -> None:
    if not _has_ended(board) and not board.run.cancelling:
        board.update_run(RunStatus.RUNNING, cancelling=True, paused=None)
        cancel_steps(board)


def _has_ended(board: Board) -> bool:
    run = board.run
    if run.status.is_final:
        board.refuse("run.ended", run.run_id, f"The run {run.status.how_it_ended} already.", "Retry a step to go on.")
    return run.status.is_final


# -- one step ------------------------------------------------------------------------------------------------------


def retry(board: Board, asked: RetryAsked) -> None:
    """Open a failed, denied or cancelled step again, and what waited for it."""
    state = board.run.steps.get(asked.step_id)
    if is_being_cancelled(board):
        return
    if state is None or state.status not in (StepStatus.FAILED, StepStatus.DENIED, StepStatus.CANCELLED):
        says = "Only a step that failed, was denied or was cancelled can be retried."
        board.refuse("step.not_failed", asked.step_id, says)
    elif state.children:
        board.refuse("step.has_items", asked.step_id, "Retry its items one by one, or run it again as a whole.")
    elif not _is_held_up(board, state):
        if state.decision is not None:
            board.withdraw_decision(state.decision, "The step is tried again.")
        open_again(board, state, dict(asked.args) if asked.args is not None else None)


def _is_held_up(board: Board, state: StepState) -> bool:
    """Refuse what needs steps that ended badly; what was only cancelled before it began comes back by itself."""
    run = board.run
    held_up = [name for name in state.needs if holds_up(run, run.steps[name]) and not never_began(run.steps[name])]
    if held_up:
        board.refuse("step.blocked", state.step.id, f"It needs {', '.join(held_up)}: retry or skip that first.")
    return bool(held_up)


def skip(board: Board, asked: SkipAsked) -> None:
    """Leave a step out: it counts as done and its value is null."""
    run = board.run
    state = run.steps.get(asked.step_id)
    if is_being_cancelled(board):
        return
    if state is None or state.status is StepStatus.COMPLETED or state.is_passed_over:
        board.refuse("step.done", asked.step_id, "This step is done already.")
    elif run.status is RunStatus.CANCELLED:
        board.refuse("run.ended", asked.step_id, "The run was cancelled.", "Retry a step to go on.")
    elif state.status is StepStatus.IN_DOUBT:
        says = "Nobody knows yet whether it happened, so it cannot be skipped."
        board.refuse("step.in_doubt", asked.step_id, says, "Answer its question in the inbox first.")
    elif state.children and state.status is StepStatus.RUNNING:
        board.refuse("step.running", asked.step_id, "It is under way; skip its items one by one.")
    else:
        _skip_now(board, state)


def _skip_now(board: Board, state: StepState) -> None:
    if state.decision is not None:
        board.withdraw_decision(state.decision, "The step is skipped.")
    if state.status is StepStatus.RUNNING:
        if state.stopping is None:
            stop_step(board, state, "skip")
        return
    reopened = reopen_run(board)
    board.update_step(state, StepStatus.SKIPPED, reason=_reason("step.skipped", state, "A person skipped it."))
    lift_parent(board, state)
    unblock(board, state, everything=reopened)
    settle_parent(board, state)


def rerun(board: Board, asked: RerunAsked) -> None:
    """Run a step and all that depends on it once more; what a person left out stays out."""
    run = board.run
    state = run.steps.get(asked.step_id)
    if is_being_cancelled(board):
        return
    if state is None or state.parent is not None:
        names = [name for name, item in run.steps.items() if item.parent is None]
        board.refuse("step.unknown", asked.step_id, unknown("step", asked.step_id, names).says)
        return
    behind = [run.steps[name] for name in run.followers_of(asked.step_id)]
    again = [state, *(item for item in behind if item.parent is None and not _left_out(item))]
    busy = [item.step.id for item in again if item.status in (StepStatus.RUNNING, StepStatus.IN_DOUBT)]
    if busy:
        board.refuse("step.running", asked.step_id, f"{', '.join(busy)} must end first.")
        return
    if _is_held_up(board, state):
        return
    reopened = reopen_run(board)
    for item in again:
        if item.decision is not None:
            board.withdraw_decision(item.decision, "The step is run again.")
        if item is state or item.status is not StepStatus.PENDING:
            board.update_step(item, StepStatus.PENDING, reset=True)
    unblock(board, state, everything=reopened)
    block_held_up(board)


def _left_out(state: StepState) -> bool:
    """Skipped by a person, in review or since; what a condition or a denial left out is asked about anew."""
    if state.status is not StepStatus.SKIPPED:
        return False
    return state.reason is None or state.reason.get("code") == "step.skipped"


def _reason(code: str, state: StepState, says: str) -> dict[str, Any]:
    return {"code": code, "about": state.step.id, "says": says, "tryNext": ""}
