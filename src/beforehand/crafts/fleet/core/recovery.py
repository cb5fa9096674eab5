"""After a restart: what was in the air meets what the robots say, before anything is ordered.

An order that its robot shows running goes on; one that ended meanwhile has been booked by then. A robot that names the
order it speaks of, and names another, never got ours: it is sent anew. Where nobody can tell, an order that was never
seen to run is not sent again by itself: a person is asked. Errands are harmless and simply given up.
"""

from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.rules import RUNNING, drop_errand
from beforehand.model.fleet import Task


def reconcile(board: Board) -> Board:
    reported = {report.robot_id for report, _ in board.reports}
    faulty = {fault.task_id for fault in board.faults}
    for robot_id in sorted(reported):
        robot = board.robot(robot_id)
        running = board.seen(robot_id).report.task_status in RUNNING
        if robot.errand is not None and robot.errand.state in ("sent", "running", "canceling") and not running:
            robot = board.change_robot(drop_errand(board, robot), phase="held" if robot.held else "idle")
    for task in list(board.open_tasks()):
        if task.command_state != "sent" or task.task_id in faulty or _has_ours(board, task, reported):
            continue
        if task.robot_id in reported and _names_another(board, task):
            board.change_task(task, command_state="due", deadline_ts_ms=None)
        else:
            lacks = "does not show the order" if task.robot_id in reported else "has not reported since"
            says = f"The {task.step} was ordered just before a restart, and {task.robot_id} {lacks}."
            board.faults.append(Fault(task.task_id, "task.in_doubt", says, "doubt"))
    return board


def _has_ours(board: Board, task: Task, reported: set[str]) -> bool:
    """Whether the robot names our order as one it has taken and not begun; it goes on with it."""
    report = board.seen(str(task.robot_id)).report
    mine = task.robot_id in reported and report.task_id is not None and report.task_id == task.command_key
    return mine and report.task_status in RUNNING


def _names_another(board: Board, task: Task) -> bool:
    report = board.seen(str(task.robot_id)).report
    return report.task_id is not None and report.task_id != task.command_key
