"""Giving up an order a robot has: it is told, it stops at the next node, and only then comes what was to follow.

So the end of the old order is never taken for the end of the new, and a fork that had already done its work by then is
booked before anything else happens. Where nobody knows what the fork did, and the task is to end all the same, its
place counts as unknown and somebody looks at the robot.
"""

from typing import Any

from beforehand.crafts.fleet.core.batches import pairs_of, with_target, without_leg
from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.rules import (
    FORK,
    IN_FLIGHT,
    LOADED,
    RUNNING,
    end_task,
    free_robot,
    is_loaded,
    needed_place,
    order_key,
    release,
    reserve,
    settle_questions,
    speaks_of_another,
    thaw,
)
from beforehand.model.fleet import Task, Trace
from beforehand.model.records import changed
from beforehand.model.robot import CancelTarget

ABORTED = "task.aborted"
CANCELED = "task.canceled"
UNWANTED = (ABORTED, CANCELED)
"""The codes of tasks that a person wants no more."""
HAND_BACK_REST_MS = 30_000
"""How long a robot does not get a task again that it handed back."""


def give_up(board: Board, task: Task, then: str, **changes: Any) -> Task:
    """Cancels the task's order, if the robot may have one, and then does `then`."""
    robot_id = task.robot_id
    if robot_id is not None and task.in_doubt and task.command_state not in IN_FLIGHT and may_run(board, task):
        task = taken_up(board, task)
    if task.command_state not in IN_FLIGHT or robot_id is None:
        return let_go(board, board.change_task(task, then=then, **changes))
    robot = board.robot(robot_id)
    is_away = robot.status == "offline"
    if is_away and then == "hand-back" and not task.in_doubt:
        says = f"{robot_id} cannot be reached, and it may have done the {task.step} by now."
        board.faults.append(Fault(task.task_id, "task.in_doubt", says, "doubt"))
        return board.change_task(task, in_doubt=True)
    if is_away and then not in ("resend", "next", "skip"):
        board.change_robot(robot, orphan_key=task.command_key)
        return let_go(board, board.change_task(task, then=then, in_doubt=True, **changes))
    if task.command_state != "canceling" and not is_away:
        board.commands.append(CancelTarget(f"{task.command_key}:cancel", robot_id))
    # One that is away is told as soon as it can be.
    deadline = board.now + (0 if is_away else round(board.settings.start_timeout_s * 1000))
    return board.change_task(
        task, command_state="canceling", then=then, deadline_ts_ms=deadline, remaining_ms=None, **changes
    )


def may_run(board: Board, task: Task) -> bool:
    """Whether its robot shows an order that may be the one nobody was sure of."""
    report = board.seen(str(task.robot_id)).report
    return report.task_status in RUNNING and not speaks_of_another(order_key(board, task), report)


def taken_up(board: Board, task: Task) -> Task:
    """The task with the order that its robot shows after all."""
    deadline = board.now + round(board.settings.step_timeout_s * 1000)
    running = {"command_state": "running", "command_key": order_key(board, task), "deadline_ts_ms": deadline}
    return board.change_task(task, **running, trace=changed(task.trace or Trace(), ran=True), in_doubt=None)


def retarget(board: Board, task: Task, target: str) -> Task:
    """The pallet goes somewhere else.

    A robot already on its way to the drop is called off first and keeps both places until it has let go: it may have
    dropped the pallet at the old one by then.
    """
    reserve(board, target, task.task_id)
    release(board, task.next_target_id, task.task_id)
    task = board.change_task(task, next_target_id=target)
    if task.step == "drop":
        return give_up(board, task, "resend")
    return _switch_target(board, task)


def _switch_target(board: Board, task: Task) -> Task:
    release(board, task.target_id, task.task_id)
    changes = with_target(task, task.source_id, str(task.next_target_id))
    return board.change_task(task, next_target_id=None, committed=False, **changes)


def leave_out(board: Board, task: Task, source_id: str) -> Task:
    """This pallet of several is not carried after all; one that is not the present leg is left out at once."""
    left = without_leg(task, source_id)
    assert left is not None
    for source, target in pairs_of(task):
        if source == source_id:
            release(board, source, task.task_id)
            release(board, target, task.task_id)
    return board.change_task(task, **left)


def let_go(board: Board, task: Task) -> Task:
    """The robot no longer has the order: what was to follow, follows."""
    then = task.then
    if task.ended_ts_ms is not None:
        return task
    task = board.change_task(
        task, command_state="none", command_key=None, then=None, deadline_ts_ms=None, remaining_ms=None
    )
    unsure, task = bool(task.in_doubt), board.change_task(task, in_doubt=None)
    if then in ("cancel", "fail", "hand-back") and is_loaded(board, task):
        return _too_late(board, task, then)
    if unsure and then in ("cancel", "fail", "fail-loaded"):
        return _end_unsure(board, task, then)
    if then == "skip":
        return board.change_task(leave_out(board, task, task.source_id), command_state="due")
    if task.next_target_id is not None:
        task = _switch_target(board, task)
    if then == "cancel":
        return end_task(board, task, "canceled", task.error_code, task.error)
    if then in ("fail", "fail-loaded"):
        ended = end_task(board, task, "failed", task.error_code, task.error)
        if then == "fail-loaded":
            ask_to_unload(board, ended)
        return ended
    if then == "hand-back":
        return hand_back(board, task)
    return board.change_task(task, command_state="due" if then in ("resend", "next") else "none")


def _end_unsure(board: Board, task: Task, then: str) -> Task:
    """It ends, and nobody knows whether its step was done."""
    place = board.site(needed_place(task)[0])
    if place.reserved_by == task.task_id:
        board.change_site(place, occupancy_before="unknown", since_ts_ms=board.now)
    _fork_unknown(board, str(task.robot_id))
    ended = end_task(board, task, "canceled" if then == "cancel" else "failed", task.error_code, task.error)
    ask_to_unload(board, ended, sure=False)
    return ended


def _too_late(board: Board, task: Task, then: str) -> Task:
    """The pick was finished before the cancel reached the robot: there are goods on the fork now. What a person wanted
    to end ends, as it would have with the goods seen there; anything else goes on to its drop."""
    if task.error_code not in UNWANTED:
        return board.change_task(task, command_state="due", error_code=None, error=None)
    ended = end_task(board, task, "canceled" if then == "cancel" else "failed", task.error_code, task.error)
    ask_to_unload(board, ended)
    return ended


def ask_to_unload(board: Board, task: Task, sure: bool = True) -> None:
    """The task is over and its pallet still on the fork, or perhaps: somebody has to take it off."""
    robot_id = str(task.robot_id)
    is_empty = sure and board.robot(robot_id).load_state == "empty"
    if is_empty or board.question_of(robot_id) is not None:
        return
    evidence = {"code": LOADED if sure else FORK, "pallet": f"It was to go from {task.source_id} to {task.target_id}."}
    carries = "carries" if sure else "may carry"
    _ask_to_look(board, robot_id, f"{robot_id} {carries} the pallet of {task.task_id}, which is over.", evidence)


def ask_of_fork(board: Board, robot_id: str) -> None:
    """Its last order is of another generation of this log, and what came after is in no log that we have. It is asked
    once in each generation."""
    if board.question_of(robot_id) is None:
        _fork_unknown(board, robot_id)
        says = "This log was restored, copied or cut short after its last order."
        evidence = {"code": FORK, "pallet": says, "log": str(board.state.log)}
        _ask_to_look(board, robot_id, f"Nobody knows what is on the fork of {robot_id}.", evidence)


def _fork_unknown(board: Board, robot_id: str) -> None:
    unknown = {"load_state": "unknown", "load_state_source": "unknown", "load_state_confidence": "low"}
    board.change_robot(board.robot(robot_id), **unknown)


def _ask_to_look(board: Board, robot_id: str, title: str, evidence: dict[str, Any]) -> None:
    effects = {
        "unloaded": "A person has taken the pallet off the fork, and the robot works again."
        if evidence["code"] == LOADED
        else "A person has seen that the fork is empty, and the robot works again.",
        "out-of-service": "The robot gets no work until it is put back into service.",
    }
    board.open_decision(title, {"robotId": robot_id}, evidence, effects)


def hand_back(board: Board, task: Task) -> Task:
    """The task waits for another robot; its places stay reserved. Where one of them is known to be wrong by now, no
    robot could do it: then it is cancelled."""
    source, target = board.site(task.source_id), board.site(task.target_id)
    if source.lies != "filled" or target.lies != "empty":
        says = f"{task.source_id} is {source.lies} and {task.target_id} is {target.lies}, so no robot could do it."
        return end_task(board, task, "canceled", "worksite.changed", says)
    free_robot(board, task)
    thaw(board, task.task_id)
    settle_questions(board, task.task_id)
    # A robot out of service gets nothing anyway, and back in service it is as good as any.
    rests = task.robot_id is not None and not board.robot(task.robot_id).out_of_service
    return board.change_task(
        task,
        robot_id=None,
        not_robot_id=task.robot_id,
        not_until_ts_ms=board.now + HAND_BACK_REST_MS if rests else None,
        status="created",
        phase="idle",
        waits_for=None,
        retry_ts_ms=None,
        error=None,
        error_code=None,
    )
