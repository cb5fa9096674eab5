"""What keeps a robot from getting out of the way by itself: it is broken, away, or in somebody's hands."""

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.rules import IN_FLIGHT, RUNNING


def trouble_of(board: Board, robot_id: str) -> str | None:
    """What a person has to see to, as the end of a sentence that begins with the robot's name; None where nothing."""
    robot, seen = board.robot(robot_id), board.seen(robot_id)
    task = board.task(robot.task_id) if robot.task_id is not None else None
    if robot.status == "offline":
        return "is offline"
    if not seen.heard:
        return "has not reported yet"
    if robot.status == "blocked":
        return "reports that something blocks its way"
    if robot.phase == "error":
        return "stands in error"
    if robot.held:
        return "is held by a person"
    if robot.lost_ts_ms is not None:
        return "does not know where it is"
    if task is not None and task.waits_for == "person" and task.status in ("held", "stale"):
        return f"stands with {task.task_id}, which waits for a person"
    if seen.report.task_status == 3 and not robot.paused:
        return "is paused at the robot"
    if robot.out_of_service and task is None:
        return "is out of service"
    has_order = robot.errand is not None or (task is not None and task.command_state in IN_FLIGHT)
    if seen.report.task_status in RUNNING and not has_order and robot.orphan_key is None:
        return "carries out an order that is not ours"
    return None
