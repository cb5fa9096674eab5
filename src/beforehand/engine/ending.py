"""Ending steps: results, retries, what a failure blocks or stops, and when the run itself is over."""

from collections.abc import Mapping
from typing import Any

from beforehand.engine.board import Board
from beforehand.engine.inputs import SetTimer, StepEnded, StopStep
from beforehand.engine.leasing import give_back
from beforehand.engine.state import RunState, StepState
from beforehand.engine.verb_values import HAPPENED, INSERT, retry_value
from beforehand.model.decision import content_hash
from beforehand.model.plan import GOOD_STATUSES, RunStatus, StepStatus
from beforehand.model.words import counted

DRIFT_EFFECTS = {
    "check-again": "The step is tried again if the machine is now as it needs it.",
    "replan": "The rest is planned anew from the present state, verified, and the run goes on with it.",
    "skip": "The step is skipped and what depends on it goes on.",
    "abort": "Nothing new starts and the run ends as failed.",
}
FAILURE_EFFECTS = {
    "retry": "The step is tried again, with other arguments where they are given.",
    "skip": "The step is skipped and what depends on it goes on.",
    "insert": "The given steps are put in before it, then it is tried again.",
    "abort": "Nothing new starts and the run ends as failed.",
}


def ended(board: Board, done: StepEnded) -> None:
    """A tool call is over: completed, stopped, or failed."""
    state = board.run.steps.get(done.step_id)
    if state is None or state.status is not StepStatus.RUNNING or state.attempt != done.attempt:
        return
    close_question(board, state)
    logs = list(done.logs) or None
    if done.ok:
        board.end_step(state, StepStatus.COMPLETED, value=done.value, logs=logs)
    elif state.stopping and is_physical(board, state) and not done.untouched:
        says = done.error if done.stopped else f"It was told to stop in the middle. {done.error}".strip()
        put_in_doubt(board, state, says, done.difference)
    elif state.stopping == "stop":
        fail_step(board, state, "A person stopped it before it began.", logs=logs)
    elif state.stopping == "cancel" or (state.stopping and board.run.cancelling):
        board.end_step(state, StepStatus.CANCELLED, error="Stopped because the run was cancelled.", logs=logs)
    elif state.stopping == "skip":
        reason = _reason("step.skipped", state, "A person skipped it while it ran.")
        board.update_step(state, StepStatus.SKIPPED, reason=reason, logs=logs)
    elif state.stopping == "timeout":
        _timed_out(board, state, logs)
    elif done.in_doubt:
        put_in_doubt(board, state, done.error, done.difference)
    elif done.stale:
        reason = _reason("approval.stale", state, done.error, "It is asked about anew.")
        board.update_step(state, StepStatus.PENDING, reason=reason, reset=True, attempt=state.attempt - 1, cleared="")
    elif done.drift is not None and not board.run.stopped_by:
        _ask_about_drift(board, state, done)
    else:
        _failed(board, state, done, logs)
    settle_parent(board, state)


def close_question(board: Board, state: StepState) -> None:
    """What was asked about a step under way, such as why it is silent, is settled by what became of it."""
    if state.decision is not None:
        board.withdraw_decision(state.decision, "It has ended.")


def _ask_about_drift(board: Board, state: StepState, done: StepEnded) -> None:
    """The machine is not as the step needs it: nothing was sent, so it has not begun, and a person decides."""
    reason = _reason("step.drift", state, done.error, "Answer in the inbox.")
    board.update_step(state, StepStatus.READY, reason=reason, reset=True, attempt=state.attempt - 1)
    evidence = {"tool": state.step.tool, "args": given_args(state), "says": done.error, "difference": done.drift}
    board.open_decision(
        "drift",
        state,
        title=f"Not as planned: {state.step.description or state.step.id}",
        effects=DRIFT_EFFECTS,
        evidence=evidence,
        covers=content_hash(evidence),
        if_unanswered="The step is not sent; the run waits.",
    )


def _timed_out(board: Board, state: StepState, logs: list[Any] | None) -> None:
    says = f"It was stopped after {state.step.timeout_s:g} s without an end."
    if not _retries(board, state, says, logs):
        fail_step(board, state, says, logs=logs)


def _failed(board: Board, state: StepState, done: StepEnded, logs: list[Any] | None) -> None:
    may_retry = done.transient and (done.untouched or not is_physical(board, state))
    if not (may_retry and _retries(board, state, done.error, logs)):
        fail_step(board, state, done.error or "It failed without saying why.", logs=logs)


def is_physical(board: Board, state: StepState) -> bool:
    spec = board.catalog.get(state.step.tool)
    return spec is None or spec.effect == "physical"


def _retries(board: Board, state: StepState, error: str, logs: list[Any] | None) -> bool:
    """Wait and try again, if tries are left: 1 s, then 2 s and so on."""
    if state.tries > state.step.retries or board.run.cancelling or board.run.stopped_by:
        return False
    at = board.ts + round(state.step.retry_delay_s * 1000 * state.tries)
    says = f"Attempt {state.attempt} failed: {error} It is tried again."
    board.update_step(state, StepStatus.READY, retryAt=at, reason=_reason("step.retrying", state, says), logs=logs)
    board.commands.append(SetTimer(f"retry:{state.step.id}:{state.attempt}", at))
    return True


def fail_step(board: Board, state: StepState, error: str, *, logs: list[Any] | None = None) -> None:
    """The step has failed for good: block what needs it, stop the run, or ask, as the step says."""
    means = state.step.failure_means
    board.end_step(state, StepStatus.FAILED, error=error, logs=logs)
    if means == "ask" and not (state.children or board.run.cancelling or board.run.stopped_by):
        _ask_what_to_do(board, state, error)
        return
    if means == "stop":
        stop_run(board, state)
    block_followers(board, state)
    settle_parent(board, state)


def given_args(state: StepState) -> dict[str, Any]:
    """The arguments as they were written, or as a person gave them since."""
    return dict(state.step.args if state.args is None else state.args)


def _ask_what_to_do(board: Board, state: StepState, error: str) -> None:
    evidence = {"tool": state.step.tool, "args": given_args(state), "error": error}
    board.open_decision(
        "failure",
        state,
        title=f"{state.step.description or state.step.id} failed: what now?",
        effects=FAILURE_EFFECTS,
        values={"retry": retry_value(board.catalog.get(state.step.tool)), "insert": INSERT},
        evidence=evidence,
        covers=content_hash(evidence),
    )


def stop_run(board: Board, state: StepState) -> None:
    """Nothing new starts; what has not begun is cancelled, what runs may finish, nobody is asked what to do any more.

    Only what is in doubt is still asked about. The first step that stops a run is the one its head names.
    """
    run = board.run
    if run.stopped_by or run.cancelling:
        return
    board.update_run(run.status, stoppedBy=state.step.id)
    dependents = {other.step.id for other in _open_followers(run, state.parent or state.step.id)}
    says = f"{state.step.id} failed and stops the run."
    for name, other in list(run.steps.items()):
        if other.is_open and name not in dependents:
            if other.decision is not None:
                board.withdraw_decision(other.decision, says)
            board.update_step(other, StepStatus.CANCELLED, reason=_reason("run.stopped", other, says))
            settle_parent(board, other)
        elif other.status is StepStatus.FAILED and other.decision is not None:
            board.withdraw_decision(other.decision, says)
            block_followers(board, other)
            settle_parent(board, other)


def cancel_followers(board: Board, state: StepState) -> None:
    """What hangs on a step that a stopped run still waits for does not start any more, however that step ends."""
    for follower in _open_followers(board.run, state.parent or state.step.id):
        if follower.is_open:
            if follower.decision is not None:
                board.withdraw_decision(follower.decision, f"{state.step.id} stopped the run.")
            cancel_step(board, follower)


def block_followers(board: Board, state: StepState) -> None:
    """Whatever needs this step cannot go on; each says which step it was."""
    root = state.step.id
    says = f"It needs {root}, which {_how_it_ended(state)}."
    for follower in _open_followers(board.run, root):
        if not follower.is_open:
            continue  # an item that was blocked has settled its step, and that one its own followers
        if follower.decision is not None:
            board.withdraw_decision(follower.decision, says)
        reason = _reason("step.blocked", follower, says, f"Retry or skip {root}.")
        board.update_step(follower, StepStatus.BLOCKED, reason=reason)
        settle_parent(board, follower)


def _open_followers(run: RunState, root: str) -> list[StepState]:
    """What is open and hangs on a step, in an order that respects dependencies; what was skipped is looked through."""
    found: dict[str, StepState] = {}
    stack = [root]
    while stack:
        for name in run.followers[stack.pop()]:
            state = run.steps[name]
            if name not in found and (state.is_open or state.is_passed_over):
                found[name] = state
                stack.append(name)
    return sorted((state for state in found.values() if state.is_open), key=lambda state: state.rank)


def _how_it_ended(state: StepState) -> str:
    how = {StepStatus.FAILED: "failed", StepStatus.CANCELLED: "was cancelled", StepStatus.DENIED: "was denied"}
    return how.get(state.status, "did not complete")


def settle_parent(board: Board, child: StepState) -> None:
    """When the last item of a `forEach` has settled, so has the step itself: its value is the list of theirs."""
    if child.parent is None:
        return
    parent = board.run.steps[child.parent]
    if parent.open_children or parent.status is not StepStatus.RUNNING:
        return
    children = [board.run.steps[name] for name in parent.children]
    bad = [item for item in children if not item.lets_go_on]
    count = f"{len(bad)} of {counted(len(children), 'item')}"
    was = "was" if len(bad) == 1 else "were"
    if not bad:
        board.end_step(parent, StepStatus.COMPLETED, value=[item.value for item in children])
        return
    if all(item.status is StepStatus.DENIED for item in bad):
        says = f"{count} {was} denied."
        board.end_step(parent, StepStatus.DENIED, error=says, reason=_reason("approval.denied", parent, says))
    elif all(item.status is StepStatus.CANCELLED for item in bad):
        board.end_step(parent, StepStatus.CANCELLED, error=f"{count} {was} cancelled.")
    else:
        fail_step(board, parent, f"{count} did not complete; first: {_first_error(bad)}")
        return
    block_followers(board, parent)


def _first_error(bad: list[StepState]) -> str:
    for item in bad:
        if item.result and item.result.get("error"):
            return f"{item.step.id}: {item.result['error']}"
    return f"{bad[0].step.id} {_how_it_ended(bad[0])}."


def put_in_doubt(board: Board, state: StepState, says: str, difference: Mapping[str, Any] | None = None) -> None:
    """It was started and nobody knows whether it happened: a person decides.

    `difference` is what it was to leave and what is seen, where the machine's word does not fit what it shows.
    """
    close_question(board, state)
    code = "step.contradicted" if difference else "step.in_doubt"
    board.update_step(state, StepStatus.IN_DOUBT, reason=_reason(code, state, says, "Look, then answer in the inbox."))
    evidence = {"tool": state.step.tool, "args": given_args(state), "says": says}
    if difference:
        evidence |= {"code": code, "difference": dict(difference)}
    board.open_decision(
        "inDoubt",
        state,
        title=f"Did it happen? {state.step.description or state.step.id}",
        effects={
            "happened": "It counts as completed, with the given value where later steps need one.",
            "run-again": "It is started once more; where the run was stopped or cancelled, it counts as cancelled.",
            "abort": "The step counts as failed and nothing new starts.",
        },
        values={"happened": HAPPENED},
        evidence=evidence,
        covers=content_hash({"key": board.run.key_of(state.step.id, state.attempt)}),
    )


def cancel_steps(board: Board) -> None:
    """Stop what runs and cancel what has not begun."""
    run = board.run
    for state in list(run.steps.values()):
        if state.decision is not None:
            board.withdraw_decision(state.decision, "The run was cancelled.")
        if state.status is StepStatus.RUNNING and not state.children:
            if state.stopping is None:
                stop_step(board, state, "cancel")
        elif state.is_open or state.status is StepStatus.IN_DOUBT:
            cancel_step(board, state)
        else:
            settle_parent(board, state)


def cancel_step(board: Board, state: StepState) -> None:
    """The step does not start any more, because the run goes no further."""
    by = board.run.stopped_by
    if by and not board.run.cancelling:
        reason = _reason("run.stopped", state, f"{by} stopped the run.", "Retry a step to let the run go on.")
    else:
        reason = _reason("run.cancelled", state, "The run was cancelled.")
    board.update_step(state, StepStatus.CANCELLED, reason=reason)
    settle_parent(board, state)


def stop_step(board: Board, state: StepState, why: str) -> None:
    board.update_step(state, StepStatus.RUNNING, stopping=why)
    stop_again(board, state)


def stop_again(board: Board, state: StepState) -> None:
    """Whoever was told to stop before a crash may not have heard it."""
    board.commands.append(StopStep(board.run.key_of(state.step.id, state.attempt), state.step.id, state.attempt))


def settle_run(board: Board) -> None:
    """Finish the run when every step has settled; else show whether it waits for a person."""
    run = board.run
    if run.status.is_final:
        return
    if run.unsettled == 0:
        board.finish_run(_end_status(run))
        return
    give_back(board)
    status = _live_status(run)
    if status is not run.status:
        board.update_run(status)


def _end_status(run: RunState) -> RunStatus:
    if run.cancelling:
        return RunStatus.CANCELLED
    ends = {state.status for state in run.steps.values() if state.parent is None}
    if run.stopped_by or StepStatus.FAILED in ends:
        return RunStatus.FAILED
    if StepStatus.DENIED in ends:
        return RunStatus.PARTIAL
    return RunStatus.COMPLETED if ends <= GOOD_STATUSES else RunStatus.FAILED


def _live_status(run: RunState) -> RunStatus:
    if run.paused:
        return RunStatus.PAUSED
    busy = run.running or run.in_air or run.retrying or run.eligible
    return RunStatus.WAITING if run.decisions and not busy else RunStatus.RUNNING


def _reason(code: str, state: StepState, says: str, try_next: str = "") -> dict[str, Any]:
    return {"code": code, "about": state.step.id, "says": says, "tryNext": try_next}
