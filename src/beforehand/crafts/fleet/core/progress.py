"""The second phase: what the reports mean for the step each robot is on.

A step counts as begun once status 2 was seen after its own command went out. What an order has come to is worked out
by one rule (`evidence.py`), whatever ended it; what nobody can know is asked.
"""

from dataclasses import replace
from typing import Any

from beforehand.crafts.fleet.core.batches import after_step
from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.cancel import let_go
from beforehand.crafts.fleet.core.evidence import OTHER_LOG, Verdict, judge, order_of, word_for
from beforehand.crafts.fleet.core.payload import commit_distance
from beforehand.crafts.fleet.core.rules import (
    IN_FLIGHT,
    LOST,
    RUNNING,
    doubt_sensor,
    drop_errand,
    end_task,
    finish_drop,
    finish_pick,
    of_another_log,
    phase_of,
    speaks_of_another,
    target_node,
)
from beforehand.crafts.fleet.core.standing import heard_to_go_on, pause_again, resume_again
from beforehand.crafts.fleet.core.timers import start_timers, stop_timers
from beforehand.model.fleet import Robot, Task, Trace
from beforehand.model.records import changed
from beforehand.model.robot import Ack, CancelTarget, Telemetry

ERRAND_REST_MS = 30_000
"""How long a robot that could not park or charge waits before it tries again, where the scene recovers; it doubles."""
LOST_PATIENCE_MS = 30_000
"""How long a robot without work may not know where it is before a person is asked."""
ERRAND_TRIES = 3
"""How often in a row, before a person is asked."""
PASSING = ("offline", "blocked", "paused", "busy", "timeout", "control", "emergency_stop")
"""Ends of refusal codes that pass by themselves; any other refusal is final."""


def progress(board: Board) -> Board:
    for ack in board.acks:
        if ack.robot_id in board.state.robots:
            _answered(board, ack)
    robots_now, robots = board.robots_now, board.state.robots
    tasks_now, tasks = board.tasks_now, board.state.tasks
    for report, last in board.reports:
        robot = robots_now.get(report.robot_id) or robots[report.robot_id]
        if robot.paused:
            pause_again(board, robot, report)
            robot = board.robot(report.robot_id)
        elif robot.resume_key is not None:
            resume_again(board, robot, report)
            robot = board.robot(report.robot_id)
        if robot.task_id is None and report.task_id is not None and of_another_log(board, report):
            _names_other_log(board, robot, report)
            robot = board.robot(report.robot_id)
        if robot.orphan_key is not None:
            _follow_orphan(board, robot, report, last)
        elif robot.errand is not None and robot.errand.state not in ("due", "there"):
            _follow_errand(board, robot, report)
        elif robot.task_id is not None:
            task = tasks_now.get(robot.task_id) or tasks[robot.task_id]
            if task.command_state in IN_FLIGHT and not (_no_news(board, task, report, last) or _in_fault(board, task)):
                _follow_task(board, task, report, last)
    for robot_id in sorted(board.placeless):
        _lost(board, board.robot(robot_id))
    return board


def _no_news(board: Board, task: Task, report: Telemetry, last: Telemetry) -> bool:
    """Most reports only say that a robot is still on the same edge; there is nothing to follow in those."""
    return (
        report.task_status == 2 == last.task_status
        and report.node_id == last.node_id
        and report.next_node_id == last.next_node_id
        and report.task_id == last.task_id
        and report.boot == last.boot
        and task.command_state == "running"
        and (task.step == "pick" or task.committed or _far_from_commit(board, task, report))
    )


def _far_from_commit(board: Board, task: Task, report: Telemetry) -> bool:
    """Whether the robot cannot come within the commit distance on the edge it is on."""
    if report.next_node_id is None or task.phase != "moving_to_drop":
        return False
    distance = commit_distance(board, task)
    if distance == 0.0:
        return True
    routes = board.state.routes
    following = routes.index.get(report.next_node_id)
    return following is not None and routes.to(target_node(board, task))[following] > distance


def _in_fault(board: Board, task: Task) -> bool:
    return any(fault.task_id == task.task_id for fault in board.faults)


def _answered(board: Board, ack: Ack) -> None:
    robot = board.robot(ack.robot_id)
    passing = ack.code.rpartition(".")[2] in PASSING
    if ack.key == robot.resume_key and (ack.ok or not passing):
        heard_to_go_on(board, robot)
    task = None if robot.task_id is None else board.task(robot.task_id)
    if task is not None and task.command_state == "canceling" and ack.key.startswith(f"{task.command_key}:cancel"):
        if ack.ok or not passing:  # Where there was nothing to cancel, it says so.
            _traced(board, task, cancel_heard=True)
        return
    if ack.ok:
        return
    says = ack.says or f"{ack.robot_id} refused the command ({ack.code or 'no reason given'})."
    if robot.errand is not None and robot.errand.key == ack.key:
        errand_failed(board, robot, says)
    elif task is not None and task.command_key == ack.key:
        if not board.state.log.owns(ack.key):
            doubt(board, task, Verdict("doubt", OTHER_LOG, says, claimed=True))
            return
        code = ack.code or "robot.refused"
        _refused(board, task, Fault(task.task_id, code, says, "retry" if passing else "terminal"))


def _refused(board: Board, task: Task, fault: Fault) -> None:
    """The robot does not have the order, and never had."""
    if task.command_state == "canceling":
        let_go(board, board.change_task(task, in_doubt=None))
        return
    board.change_task(task, command_state="none", command_key=None, in_doubt=None)
    board.faults.append(fault)


def _follow_orphan(board: Board, robot: Robot, report: Telemetry, last: Telemetry) -> None:
    """An order that was given up while the robot could not be told is cancelled as soon as it can be."""
    orphan = robot.orphan_key
    if report.task_status in RUNNING and not speaks_of_another(orphan, report):
        board.commands.append(CancelTarget(f"{orphan}:cancel", robot.robot_id))
        return
    robot = board.change_robot(robot, orphan_key=None)
    ended = report.task_id == orphan or (last.task_status in RUNNING and last.seq >= 0)
    if report.task_status == 4 and ended and not robot.task_id:
        says = f"{robot.robot_id} finished an order that had been given up; look at what is on its fork."
        if report.sure_load is None:
            robot = board.change_robot(robot, load_state="unknown", load_state_source="unknown")
        robot_in_error(board, robot, says, "robot.orphan_done")


def _names_other_log(board: Board, robot: Robot, report: Telemetry) -> None:
    """What it did for another log is in no place and on no fork of ours: somebody has to look, once."""
    if robot.out_of_service or robot.phase == "error":
        return
    if robot.errand is not None:
        robot = drop_errand(board, robot)
    if report.sure_load is None:
        robot = board.change_robot(robot, load_state="unknown", load_state_source="unknown")
    says = (
        f"{robot.robot_id} reports the order {report.task_id} ({word_for(report.task_status)}), which this log did not "
        "send. The log was restored, copied or cut short, or another installation commands this robot: look at its "
        "fork and at the places where it worked."
    )
    robot_in_error(board, robot, says, OTHER_LOG, orderKey=report.task_id, log=str(board.state.log))


def _lost(board: Board, robot: Robot) -> None:
    """A robot that does not know where it is gets nothing to do; if it stays so, a person is asked, once."""
    since = board.now if robot.lost_ts_ms is None else robot.lost_ts_ms
    waits = robot.task_id is None and robot.errand is None and robot.phase != "error" and not robot.out_of_service
    if waits and board.now - since >= LOST_PATIENCE_MS:
        robot_in_error(board, robot, f"{robot.robot_id} does not know where it is.", LOST)


# Errands


def _follow_errand(board: Board, robot: Robot, report: Telemetry) -> None:
    errand = robot.errand
    assert errand is not None
    running = report.task_status in RUNNING and not speaks_of_another(errand.key, report)
    if errand.state == "canceling":
        if not running:
            robot = drop_errand(board, robot)
            if robot.task_id is None:
                board.change_robot(robot, phase="held" if robot.held else "idle")
    elif running:
        if errand.state == "sent":
            board.change_robot(robot, errand=changed(errand, state="running"))
    elif report.task_status == 5 and (errand.state == "running" or report.task_id == errand.key):
        errand_failed(board, robot, report.error or f"{robot.robot_id} could not reach {errand.node_id}.")
    elif report.node_id == errand.node_id and report.next_node_id is None:
        phase = "charging" if errand.kind == "charge" else "idle"
        there = changed(errand, state="there")
        board.change_robot(robot, errand=there, errand_failures=None, phase="held" if robot.held else phase)
    elif errand.state == "running" and report.task_status not in RUNNING:
        _errand_stopped(board, robot, errand.node_id)


def errand_failed(board: Board, robot: Robot, says: str) -> None:
    """A robot that cannot park or charge stands in error; under `recover` it may still work."""
    robot = drop_errand(board, robot)
    if robot.task_id is not None:
        return
    if board.recovers and _failures(robot) < ERRAND_TRIES:
        _rest(board, robot, says)
    else:
        robot_in_error(board, robot, says, "robot.errand_failed")


def _errand_stopped(board: Board, robot: Robot, node_id: str) -> None:
    """It stopped somewhere else: somebody cancelled it at the robot, or it does not know where it is."""
    robot = drop_errand(board, robot)
    says = f"{robot.robot_id} ended its order to {node_id} somewhere else."
    if _failures(robot) < ERRAND_TRIES:
        _rest(board, robot, says)
    else:
        robot_in_error(board, robot, says, "robot.errand_failed")


def _failures(robot: Robot) -> int:
    """Errands in a row that came to nothing, with the present one."""
    return (robot.errand_failures or 0) + 1


def _rest(board: Board, robot: Robot, says: str) -> None:
    failures = _failures(robot)
    resting = {"errand_rest_ts_ms": board.now + ERRAND_REST_MS * 2 ** (failures - 1), "errand_failures": failures}
    board.change_robot(robot, error=says, phase="held" if robot.held else "idle", **resting)


def robot_in_error(board: Board, robot: Robot, says: str, code: str, **evidence: Any) -> None:
    """A robot that a person has to look at; under `freeze` nothing new is given out meanwhile."""
    board.change_robot(robot, error=says, phase="error", errand_failures=None)
    if not board.recovers and robot.robot_id not in board.hold.robots:
        board.set_hold(replace(board.hold, robots=(*board.hold.robots, robot.robot_id)))
    if board.question_of(robot.robot_id) is None:
        effects = {
            "release": "The robot is used again.",
            "out-of-service": "The robot gets no work until it is put back into service.",
        }
        title = f"{robot.robot_id} is in error: {says}"
        board.open_decision(title, {"robotId": robot.robot_id}, {"error": says, "code": code, **evidence}, effects)


# Tasks


def _follow_task(board: Board, task: Task, report: Telemetry, last: Telemetry) -> None:
    if report.task_id is not None and report.task_id == task.command_key:
        task = _traced(board, task, named=True)
    another = speaks_of_another(task.command_key, report, task.trace)
    if report.task_status in RUNNING and not another:
        _follow_running(board, task, report)
        return
    if task.command_state == "sent" or report.task_status in RUNNING:
        task = _note_arrival(board, task, report)
    verdict = judge(order_of(board, task, watched=last.seq >= 0), report)
    if task.command_state == "canceling":
        _follow_canceling(board, task, report, verdict)
    elif verdict.end == "done":
        step_done(board, task)
    elif verdict.end == "failed":
        _failed(board, task, report)
    elif verdict.end == "doubt" and verdict.claimed:
        doubt(board, task, verdict)


def _follow_canceling(board: Board, task: Task, report: Telemetry, verdict: Verdict) -> None:
    """Before anything follows it must be known what became of the order; or a person has said so, who was asked."""
    if task.then == "next":
        if report.task_status not in RUNNING:  # The step that it was for is booked: a person did it.
            let_go(board, task)
    elif verdict.end == "done":
        let_go(board, step_done(board, task))
    elif verdict.end in ("not done", "failed"):
        let_go(board, board.change_task(task, in_doubt=None))
    elif verdict.end == "doubt" and task.in_doubt:
        let_go(board, task)
    elif verdict.end == "doubt":
        doubt(board, task, verdict)


def _traced(board: Board, task: Task, **seen: bool) -> Task:
    trace = task.trace or Trace()
    if all(getattr(trace, name) for name in seen):
        return task
    return board.change_task(task, trace=changed(trace, **seen))


def _note_arrival(board: Board, task: Task, report: Telemetry) -> Task:
    arrived = report.node_id == target_node(board, task) and report.next_node_id is None
    if not arrived or task.at_place_ts_ms is not None:
        return task
    seen = board.state.seen[report.robot_id]
    trace = changed(task.trace or Trace(), away_ts_ms=seen.at_ms if seen.heard else None)
    return board.change_task(task, at_place_ts_ms=board.now, trace=trace)


def _follow_running(board: Board, task: Task, report: Telemetry) -> None:
    status = report.task_status
    if status == 1 or task.command_state == "canceling":
        if status != 1:
            _traced(board, task, ran=True)
        return
    if task.command_state == "sent":
        deadline = board.now + round(board.settings.step_timeout_s * 1000)
        begun = {"command_state": "running", "by_hand": None, "in_doubt": None, "at_place_ts_ms": None}
        task = board.change_task(_traced(board, task, ran=True), deadline_ts_ms=deadline, remaining_ms=None, **begun)
        if task.status != "active":
            task = stop_timers(board, task)
    if status == 2:
        _moving(board, task, report)
    elif task.command_state != "paused":
        task = stop_timers(board, task, command_state="paused", at_place_ts_ms=None)
        if task.status == "active":
            board.change_robot(board.robot(report.robot_id), phase="held")


def _moving(board: Board, task: Task, report: Telemetry) -> None:
    robot = board.robot(report.robot_id)
    node = target_node(board, task)
    arrived = report.node_id == node and report.next_node_id is None
    task = _note_arrival(board, task, report)
    phase = phase_of(task, arrived)
    if task.command_state == "paused":
        task = board.change_task(task, command_state="running")
        if task.status == "active":
            task = start_timers(board, task)
            robot = board.change_robot(robot, phase="held" if robot.held else phase)
    if task.status == "active" and task.phase != phase and not robot.held:
        task = board.change_task(task, phase=phase)
        board.change_robot(robot, phase=phase)
    if task.step == "drop" and not task.committed and _within_commit(board, task, report, node):
        board.change_task(task, committed=True)


def _within_commit(board: Board, task: Task, report: Telemetry, node: str) -> bool:
    if report.node_id is None:
        return False
    distance = commit_distance(board, task)
    if distance == 0.0:
        return report.node_id == node and report.next_node_id is None
    left = board.state.routes.left(report.node_id, report.next_node_id, report.x, report.y, node)
    return bool(left <= distance)


def step_done(board: Board, task: Task, source: str = "task") -> Task:
    """Applies the finished step and goes on to the next; a held task stays held with its next step still to do."""
    refusal = finish_pick(board, task, source) if task.step == "pick" else finish_drop(board, task, source)
    if refusal is not None:
        board.faults.append(Fault(task.task_id, f"{task.step}.illegal", refusal, "doubt"))
        return board.change_task(task, command_state="none", command_key=None, in_doubt=True)
    following = after_step(task)
    if following is None or "step" not in following:
        return end_task(board, board.change_task(task, **(following or {})), "completed")
    active = task.status == "active"
    assert task.robot_id is not None
    robot = board.robot(task.robot_id)
    phase = "moving_to_pick" if following["step"] == "pick" else "moving_to_drop"
    if active and not robot.held:
        board.change_robot(robot, phase=phase)
    return board.change_task(
        task,
        **following,
        phase=phase if active else task.phase,
        then="resend" if task.then == "skip" else task.then,
        command_state="due",
        command_key=None,
        trace=None,
        in_doubt=None,
        deadline_ts_ms=None,
        remaining_ms=None,
        retries=0,
    )


def _failed(board: Board, task: Task, report: Telemetry) -> None:
    says = report.error or f"{report.robot_id} reports that the {task.step} failed."
    board.change_task(task, command_state="none", command_key=None)
    board.faults.append(Fault(task.task_id, "robot.step_failed", says, "retry"))


def doubt(board: Board, task: Task, verdict: Verdict) -> None:
    """Nobody knows what became of the order: it is over, and a person is asked. A sensor that contradicts its robot is
    not believed until it reads something else."""
    report = board.seen(str(task.robot_id)).report
    if verdict.sensor:
        doubt_sensor(board, report)
    is_told = (task.status, task.error_code, verdict.code) == ("held", "robot.restarted", "robot.order_lost")
    unsure = None if verdict.away else True
    over = {"command_state": "none", "command_key": None, "then": None, "in_doubt": unsure, "by_hand": None}
    board.change_task(task, **over, deadline_ts_ms=None, remaining_ms=None)
    if not is_told:  # that it has restarted says that its order is lost, and somebody is about to answer that
        board.faults.append(Fault(task.task_id, verdict.code, verdict.says, "doubt", verdict.difference))
