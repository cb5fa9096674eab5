"""Opening again: what a person's word brings back, and what stays blocked all the same.

A step is held up by a need that ended badly. Whatever is opened is looked through afterwards, so that nothing is left
waiting for what will never come.
"""

from typing import Any

from beforehand.engine.board import Board
from beforehand.engine.ending import block_followers
from beforehand.engine.state import RunState, StepState
from beforehand.model.plan import RunStatus, StepStatus


def is_being_cancelled(board: Board) -> bool:
    """Refuse what would open something again while everything is being ended."""
    run = board.run
    if run.cancelling:
        says = "The run is being cancelled; wait until it has ended."
        board.refuse("run.cancelling", run.run_id, says)
    return run.cancelling


def holds_up(run: RunState, state: StepState) -> bool:
    """Whether what needs this step waits for nothing: it ended badly, or what it was skipped behind did."""
    looked_at, stack = {state.step.id}, [state]
    while stack:
        other = stack.pop()
        if other.is_passed_over:
            ahead = [name for name in other.needs if name not in looked_at] if not other.lets_go_on else []
            looked_at.update(ahead)
            stack += [run.steps[name] for name in ahead]
        elif other.is_settled and not other.lets_go_on:
            return True
    return False


def never_began(state: StepState) -> bool:
    return state.status is StepStatus.CANCELLED and not state.attempt and not state.children


def reopen_run(board: Board) -> bool:
    """Let a run go on that had ended or was stopped; whether it had."""
    run = board.run
    if not run.status.is_final and not run.stopped_by:
        return False
    board.update_run(RunStatus.RUNNING, stoppedBy=None, finishedAt=None, durationMs=None, summary=None)
    return True


def open_again(board: Board, state: StepState, args: dict[str, Any] | None) -> None:
    reopened = reopen_run(board)
    board.update_step(state, StepStatus.PENDING, reset=True, args=args)
    lift_parent(board, state)
    unblock(board, state, everything=reopened)
    _block_held_up_step(board, state)


def lift_parent(board: Board, state: StepState) -> None:
    """An item that is opened again brings its step back under way, and what waits for that."""
    if state.parent is None:
        return
    parent = board.run.steps[state.parent]
    if parent.status is not StepStatus.RUNNING:
        board.update_step(parent, StepStatus.RUNNING)
        unblock(board, parent, everything=False)


def unblock(board: Board, root: StepState, *, everything: bool) -> None:
    """What was blocked or cancelled behind a step may go on, unless something else still holds it up.

    `everything`: the run itself goes on again, so that whatever was cancelled before it began does too.
    """
    run = board.run
    names = dict.fromkeys(run.followers_of(root.step.id))
    if everything:
        names |= dict.fromkeys(name for name, state in run.steps.items() if never_began(state))
    for name in sorted(names, key=lambda step_id: run.steps[step_id].rank):
        state = run.steps[name]
        undone = state.status is StepStatus.BLOCKED or never_began(state)
        if undone and not any(holds_up(run, run.steps[need]) for need in state.needs):
            board.update_step(state, StepStatus.PENDING, reset=True)
            lift_parent(board, state)


def block_held_up(board: Board) -> None:
    """Whatever is open and needs what ended badly is blocked again, so that nothing waits for ever."""
    for state in list(board.run.steps.values()):
        _block_held_up_step(board, state)


def _block_held_up_step(board: Board, state: StepState) -> None:
    run = board.run
    if state.is_open:
        blocker = next((run.steps[need] for need in state.needs if holds_up(run, run.steps[need])), None)
        if blocker is not None:
            block_followers(board, blocker)
