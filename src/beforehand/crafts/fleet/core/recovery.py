"""After a restart: what was in the air meets what the robots say, before anything is ordered.

An order goes on where its robot shows it running, and what can be known of one that ended meanwhile has been booked by
then. One that its robot shows to have never begun is sent anew. For any other it is waited as long as for every order,
and then a person is asked. Errands are harmless and simply given up.
"""

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.evidence import judge, order_of
from beforehand.crafts.fleet.core.rules import RUNNING, drop_errand
from beforehand.model.fleet import Task


def reconcile(board: Board) -> Board:
    reported = {report.robot_id for report, _ in board.reports}
    faulty = {board.task(fault.task_id).robot_id for fault in board.faults}
    for robot_id in sorted(reported):
        robot = board.robot(robot_id)
        running = board.seen(robot_id).report.task_status in RUNNING
        if robot.errand is not None and robot.errand.state in ("sent", "running", "canceling") and not running:
            robot = board.change_robot(drop_errand(board, robot), phase="held" if robot.held else "idle")
    for task in list(board.open_tasks()):
        if task.command_state == "sent" and task.robot_id in reported - faulty and _never_began(board, task):
            board.change_task(task, command_state="due", deadline_ts_ms=None)
    return board


def _never_began(board: Board, task: Task) -> bool:
    report = board.seen(str(task.robot_id)).report
    return judge(order_of(board, task, watched=False), report).end == "not done"
