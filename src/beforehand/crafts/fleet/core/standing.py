"""What is held stands: a robot that a person, a hold or its own held task stops is told to pause, and to go on after.

A task that waits for a person stops its robot wherever it is, so that nothing is unloaded onto a place that was
reported filled. A pause that had no effect was perhaps lost, or the robot could not be reached: it is said again, and
so is a word to go on until the robot has confirmed it.
"""

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.rules import IN_FLIGHT, speaks_of_another
from beforehand.crafts.fleet.core.timers import start_timers, stop_timers
from beforehand.model.fleet import Robot, Task
from beforehand.model.robot import PauseRobot, ResumeRobot, Telemetry

PAUSE_AGAIN_MS = 2_000


def standing(board: Board) -> Board:
    """The phase that stops the robots of held tasks, and lets go on those that nothing holds any more."""
    for task_id in board.restless:
        task = board.task(task_id)
        if task.robot_id is not None and _stands(task) and _drives(board, task):
            pause(board, task.robot_id)
    for robot_id in list(board.robots_now):
        unpause(board, robot_id)
    return board


def must_stand(board: Board, robot: Robot) -> bool:
    if robot.held or board.hold.person:
        return True
    return robot.task_id is not None and _stands(board.task(robot.task_id))


def _stands(task: Task) -> bool:
    return task.waits_for == "person" and task.status in ("held", "stale") and task.command_state != "canceling"


def _drives(board: Board, task: Task) -> bool:
    """Whether the robot says that it carries out the order of this task."""
    report = board.seen(str(task.robot_id)).report
    ours = not speaks_of_another(task.command_key, report, task.trace)
    return task.command_state in ("sent", "running") and report.task_status in (1, 2) and ours


def pause(board: Board, robot_id: str) -> None:
    """Stops a robot that has an order, and the waits that belong to it."""
    robot = board.robot(robot_id)
    if not robot.paused and _has_order(board, robot):
        _tell_to_pause(board, robot)
    if robot.task_id is not None and board.task(robot.task_id).ended_ts_ms is None:
        stop_timers(board, board.task(robot.task_id))


def unpause(board: Board, robot_id: str) -> None:
    """Lets a robot go on that was told to stop, unless something else still holds it or it cannot hear."""
    robot = board.robot(robot_id)
    if not robot.paused or robot.status == "offline" or must_stand(board, robot):
        return
    _tell_to_go_on(board, robot)
    if robot.task_id is not None and board.task(robot.task_id).status == "active":
        start_timers(board, board.task(robot.task_id))


def pause_again(board: Board, robot: Robot, report: Telemetry) -> None:
    """For a robot that was told to pause and drives all the same."""
    late = board.now - (robot.paused_ts_ms or 0) >= PAUSE_AGAIN_MS
    if report.task_status == 2 and late and must_stand(board, robot) and _has_order(board, robot):
        _tell_to_pause(board, robot)


def resume_again(board: Board, robot: Robot, report: Telemetry) -> None:
    """For a robot that was told to go on, has not said that it heard it, and does not show that it runs. One that was
    paused before it began does not show that it is paused."""
    if report.task_status == 2:
        heard_to_go_on(board, robot)
    elif board.now - (robot.paused_ts_ms or 0) >= PAUSE_AGAIN_MS:
        _tell_to_go_on(board, robot)


def heard_to_go_on(board: Board, robot: Robot) -> None:
    """Should it stand from here on, it was stopped at the robot, and that is not ours to end."""
    board.change_robot(robot, resume_key=None, paused_ts_ms=None)


def _tell_to_go_on(board: Board, robot: Robot) -> None:
    key = board.state.log.key(f"{robot.robot_id}:resume:{board.now}")
    board.commands.append(ResumeRobot(key, robot.robot_id))
    board.change_robot(robot, paused=False, paused_ts_ms=board.now, resume_key=key)


def _tell_to_pause(board: Board, robot: Robot) -> None:
    key = board.state.log.key(f"{robot.robot_id}:pause:{board.now}")
    board.commands.append(PauseRobot(key, robot.robot_id))
    board.change_robot(robot, paused=True, paused_ts_ms=board.now, resume_key=None)


def _has_order(board: Board, robot: Robot) -> bool:
    if robot.errand is not None and robot.errand.state in ("sent", "running"):
        return True
    return robot.task_id is not None and board.task(robot.task_id).command_state in IN_FLIGHT
