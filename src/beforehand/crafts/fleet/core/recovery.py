"""After a restart: what was in the air meets what the robots say, before anything is ordered.

An order goes on where its robot shows it running, and what can be known of one that ended meanwhile has been booked by
then. One that its robot shows to have never begun is sent anew. For any other it is waited as long as for every order,
and then a person is asked. Errands are harmless and simply given up. A lease that ran out while nobody drove begins
anew: how long that was is only known by a clock that may have been set.

Where a robot's last order is of another generation of this log, what it did after that is in no log that we have: it
names that order as its newest, a sensor tells what is on its fork, or a person looks.
"""

from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.cancel import ask_of_fork, let_go
from beforehand.crafts.fleet.core.evidence import OTHER_LOG, judge, order_of
from beforehand.crafts.fleet.core.rules import RUNNING, drop_errand
from beforehand.model.fleet import Robot, Task
from beforehand.model.robot import Telemetry


def reconcile(board: Board) -> Board:
    reported = {report.robot_id for report, _ in board.reports}
    faulty = {board.task(fault.task_id).robot_id for fault in board.faults}
    for robot_id in sorted(reported):
        robot = board.robot(robot_id)
        report = board.seen(robot_id).report
        running = report.task_status in RUNNING
        if robot.errand is not None and robot.errand.state in ("sent", "running", "canceling") and not running:
            robot = board.change_robot(drop_errand(board, robot), phase="held" if robot.held else "idle")
        if report.sure_load is None and _may_have_gone_on(board, report):
            _done_since(board, robot)
    for task in list(board.open_tasks()):
        if task.command_state == "sent" and task.robot_id in reported - faulty and _never_began(board, task):
            task = board.change_task(task, command_state="due", deadline_ts_ms=None)
        if task.lease_ts_ms is not None and task.lease_ts_ms < board.now:
            board.change_task(task, lease_ts_ms=board.now + round(board.settings.lease_s * 1000))
    return board


def take_back(board: Board, keys: frozenset[str]) -> None:
    """Orders that never went out are due again, or over where their end was wanted meanwhile; errands are given up."""
    for robot_id in board.state.robots:
        robot = board.robot(robot_id)
        if robot.errand is not None and robot.errand.key in keys:
            robot = board.change_robot(drop_errand(board, robot), phase="held" if robot.held else "idle")
            _give_ground_back(board, robot)
    for task in list(board.open_tasks()):
        if task.command_key not in keys:
            continue
        if task.command_state == "canceling":
            let_go(board, task)
        elif task.command_state == "sent":
            board.change_task(task, command_state="due", deadline_ts_ms=None, remaining_ms=None)
            _give_ground_back(board, board.robot(str(task.robot_id)))


def _give_ground_back(board: Board, robot: Robot) -> None:
    """What was granted with an order that never went out; what the robot stands on is its own in any case."""
    if robot.way is not None:
        board.change_robot(robot, way=None, way_at=None)


def _may_have_gone_on(board: Board, report: Telemetry) -> bool:
    """Whether the robot's last order that this log knows is of another generation, and may not be its newest; as long
    as nobody was asked about that."""
    last, log = board.state.order_keys.get(report.robot_id), board.state.log
    asked = board.state.asked_in.get(report.robot_id) == str(log)
    newest = report.names_newest and report.task_id == last
    return last is not None and not (log.owns(last) or asked or newest)


def _done_since(board: Board, robot: Robot) -> None:
    task = None if robot.task_id is None else board.task(robot.task_id)
    if task is None:
        ask_of_fork(board, robot.robot_id)
    elif task.step == "drop" and task.command_state == "due" and task.status == "active":
        says = (
            f"{robot.robot_id} had the pallet of {task.task_id} on its fork before this log was restored, copied or "
            "cut short. It may have dropped it since."
        )
        board.change_task(task, in_doubt=True)
        board.faults.append(Fault(task.task_id, OTHER_LOG, says, "doubt"))


def _never_began(board: Board, task: Task) -> bool:
    report = board.seen(str(task.robot_id)).report
    return judge(order_of(board, task, watched=False), report).end == "not done"
