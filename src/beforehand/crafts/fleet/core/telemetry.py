"""The first phase: what the robots report. Each report counts once, in order, and only if it is news.

A report that is not newer than the last one, by boot and number, is dropped. Only what changes a decision becomes an
event: a robot coming back, being blocked, carrying something else than thought, having restarted.
"""

from typing import Any

from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.rules import (
    IN_FLIGHT,
    LOADED,
    LOST,
    drop_errand,
    phase_of,
    settle_question,
    target_node,
)
from beforehand.crafts.fleet.core.state import Seen
from beforehand.crafts.fleet.core.timers import start_timers
from beforehand.model.fleet import Robot
from beforehand.model.robot import Ack, Telemetry


def telemetry(board: Board) -> Board:
    for given in board.inputs:
        if isinstance(given, Telemetry):
            _report(board, given)
        elif isinstance(given, Ack):
            board.acks.append(given)
        else:
            board.words.append(given)
    for robot_id, seen in board.state.seen.items():
        if seen.at_ms < 0 and robot_id not in board.seen_now:
            board.seen_now[robot_id] = Seen(seen.report, board.now, heard=False)
    return board


def _report(board: Board, report: Telemetry) -> None:
    robot_id = report.robot_id
    seen = board.seen_now.get(robot_id) or board.state.seen.get(robot_id)
    if seen is None:
        board.refuse("robot.unknown", robot_id, f"{robot_id} reports, but the scene has no robot of that name.")
        return
    last = seen.report
    old = report.seq <= last.seq if report.boot == last.boot else report.boot < last.boot
    if old and seen.heard:
        return
    robot = board.robots_now.get(robot_id) or board.state.robots[robot_id]
    if report.node_id is None or report.node_id not in board.state.routes.index:
        report = _at(report, last.node_id)
        board.placeless.add(robot_id)
        if robot.lost_ts_ms is None:
            robot = board.change_robot(robot, lost_ts_ms=board.now)
    elif robot.lost_ts_ms is not None:
        board.placeless.discard(robot_id)
        robot = _found(board, robot)
    if robot.doubted_load is not None and report.load_sensor is not None:
        robot, report = _doubted(board, robot, report)
    board.seen_now[robot_id] = Seen(report, board.now)
    board.reports.append((report, last))
    if report.boot != robot.boot:
        robot = _booted(board, robot, report)
    if robot.status == "online" and not report.blocked and report.load_sensor is None and robot.task_id is not None:
        return  # As most of them are.
    changes = _changes(robot, report)
    if changes:
        came_back = robot.status == "offline" and changes.get("status", "offline") != "offline"
        robot = board.change_robot(robot, **changes)
        if changes.get("load_state") == "empty":
            robot = settle_question(board, robot, LOADED)
        if came_back:
            _back(board, robot)


def _doubted(board: Board, robot: Robot, report: Telemetry) -> tuple[Robot, Telemetry]:
    """A sensor that reads what has been contradicted decides nothing; once it reads something else it works again."""
    if report.load_sensor == robot.doubted_load:
        return robot, report._replace(load_confidence="low")
    return board.change_robot(robot, doubted_load=None), report


def _at(report: Telemetry, node_id: str | None) -> Telemetry:
    """A robot that does not know where it is, or names a place we do not know, is where it was last seen."""
    return report._replace(node_id=node_id, next_node_id=None)


def _found(board: Board, robot: Robot) -> Robot:
    """It knows again where it is, so nobody need look."""
    robot = board.change_robot(robot, lost_ts_ms=None)
    return settle_question(board, robot, LOST)


def _changes(robot: Robot, report: Telemetry) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    status = "blocked" if report.blocked else "online"
    if robot.status != status:
        changes["status"] = status
    unsure = report.load_confidence == "low" and robot.load_state_source in ("task", "manual")
    if report.load_sensor is not None and not unsure:
        sensed = (report.load_sensor, "sensor", report.load_confidence)
        if (robot.load_state, robot.load_state_source, robot.load_state_confidence) != sensed:
            changes["load_state"], changes["load_state_source"], changes["load_state_confidence"] = sensed
    stands = robot.task_id is None and robot.errand is None and robot.phase != "error"
    if stands and report.error != robot.error and robot.errand_rest_ts_ms == 0:
        changes["error"] = report.error
    return changes


def _booted(board: Board, robot: Robot, report: Telemetry) -> Robot:
    """The first report ever, or a restart: then whatever order the robot had is gone from its memory."""
    restarted = robot.boot != 0
    robot = board.change_robot(robot, boot=report.boot, paused=False)
    if not restarted:
        return robot
    if robot.errand is not None and robot.errand.state != "there":
        robot = board.change_robot(drop_errand(board, robot), phase="idle" if not robot.task_id else robot.phase)
    if robot.orphan_key is not None:
        robot = board.change_robot(robot, orphan_key=None)
    if robot.task_id is not None and board.task(robot.task_id).command_state in IN_FLIGHT:
        board.change_task(board.task(robot.task_id), in_doubt=True)
        says = f"{robot.robot_id} has restarted and forgotten its order."
        board.faults.append(Fault(robot.task_id, "robot.restarted", says, "doubt"))
    return robot


def _back(board: Board, robot: Robot) -> None:
    """Under `recover` a task that waited for its robot goes on by itself."""
    if robot.task_id is None:
        if robot.phase == "held" and not robot.held:
            board.change_robot(robot, phase="idle" if robot.errand is None else _errand_phase(robot))
        return
    task = board.task(robot.task_id)
    if task.status == "held" and task.waits_for == "robot":
        node = target_node(board, task)
        arrived = board.seen(robot.robot_id).report.node_id == node
        phase = phase_of(task, arrived)
        start_timers(board, task, status="active", waits_for=None, phase=phase, error=None, error_code=None)
        board.change_robot(robot, phase="held" if robot.held else phase, error=None)


def _errand_phase(robot: Robot) -> str:
    assert robot.errand is not None
    if robot.errand.kind == "charge":
        return "charging"
    return "idle" if robot.errand.state == "there" else "parking"
