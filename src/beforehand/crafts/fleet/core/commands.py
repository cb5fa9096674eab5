"""The phase that sends orders: a task whose next step is due gets its goTarget, if its robot can take one now.

Where ground is shared out, an order goes out with the first ground that is granted for it, so traffic sends it. A robot
then always lets go of one order before it gets the next: nobody knows which of two ways it is on otherwise.
"""

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.patches import is_still_right
from beforehand.crafts.fleet.core.payload import commit_distance, payload_of
from beforehand.crafts.fleet.core.rules import (
    drop_errand,
    is_there,
    of_another_log,
    order_name,
    phase_of,
    reports_ids,
    runs_for_others,
    target_node,
)
from beforehand.model.fleet import Robot, Task, Trace
from beforehand.model.records import changed
from beforehand.model.robot import CancelTarget, GoTarget, is_order_key


def commands(board: Board) -> Board:
    if board.hold.person:
        return board
    for task in list(board.pending_tasks()):
        is_due = task.command_state == "due" and task.status == "active"
        if is_due and task.robot_id is not None and is_still_right(board, task):
            robot = board.robot(task.robot_id)
            heard = board.seen(task.robot_id).heard and robot.status != "offline"
            ready = heard and not robot.held and robot.orphan_key is None and clear_errand(board, robot)
            if ready and board.state.traffic is None:
                send(board, task, robot)
    return board


def send(
    board: Board, task: Task, robot: Robot, way: tuple[str, ...] | None = None, horizon: tuple[str, ...] = ()
) -> None:
    robot_id = robot.robot_id
    report = board.seen(robot_id).report
    ours = is_order_key(report.task_id) and not of_another_log(board, report)
    if runs_for_others(board, robot) and not ours:
        return  # It carries out something that is not ours; two orders would be mixed up.
    task = board.change_task(task, attempt=task.attempt + 1)
    key = board.state.log.key(order_name(task))
    settings = board.settings
    phase = phase_of(task, is_there(board, robot_id, target_node(board, task)))
    board.change_task(
        task,
        command_key=key,
        command_state="sent",
        sent_ts_ms=board.now,
        phase=phase,
        deadline_ts_ms=board.now + round(settings.start_timeout_s * 1000),
        remaining_ms=None,
        at_place_ts_ms=None,
        trace=Trace(report.task_status, report.sure_load, report.target),
        in_doubt=None,
        lease_ts_ms=task.lease_ts_ms or board.now + round(settings.lease_s * 1000),
    )
    board.change_robot(board.robot(robot_id), phase=phase)
    payload, commit_m = payload_of(board, task), commit_distance(board, task)
    board.commands.append(GoTarget(key, robot_id, payload, commit_m, way, horizon))


def clear_errand(board: Board, robot: Robot) -> bool:
    """Ends what the robot does for itself; false while it still has to let go of that order."""
    errand = robot.errand
    if errand is None:
        return True
    replaced = board.state.traffic is None and errand.state != "canceling" and reports_ids(board, robot.robot_id)
    if errand.state in ("due", "there") or replaced:
        drop_errand(board, robot)
        return True
    if errand.state != "canceling":
        board.commands.append(CancelTarget(f"{errand.key}:cancel", robot.robot_id))
        board.change_robot(robot, errand=changed(errand, state="canceling"))
    return False
