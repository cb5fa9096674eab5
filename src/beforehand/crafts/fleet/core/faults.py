"""The third phase: timeouts, robots gone silent, and what the scene's policy makes of each fault.

`freeze` holds the task, stops dispatch and asks a person, whatever the fault. `recover` waits out what passes by
itself, tries again what may work the next time, fails what cannot, and asks only where goods are on the fork or
nobody can know what happened.
"""

from dataclasses import replace
from typing import Any

from beforehand.crafts.fleet.core.board import Board, Fault
from beforehand.crafts.fleet.core.cancel import give_up
from beforehand.crafts.fleet.core.evidence import is_on_its_way, judge, order_of
from beforehand.crafts.fleet.core.progress import doubt, errand_failed, robot_in_error, step_done
from beforehand.crafts.fleet.core.rules import (
    IN_FLIGHT,
    asks_of_another_step,
    forgive,
    is_loaded,
    needed_place,
    note_failure,
    phase_of,
)
from beforehand.crafts.fleet.core.task_values import task_values
from beforehand.crafts.fleet.core.timers import start_timers, stop_deadline, stop_timers
from beforehand.model.fleet import Robot, Task
from beforehand.model.reason import name_list
from beforehand.model.robot import CancelTarget


def errors(board: Board) -> Board:
    _watch_robots(board)
    watched = _restless(board)
    for task in watched:
        _watch_task(board, task)
    for fault in board.faults:
        _meet(board, fault)
    for task in watched:
        _ask_anew(board, board.task(task.task_id))
    board.restless = [*(task.task_id for task in watched), *(fault.task_id for fault in board.faults)]
    return board


BLAME_AFTER = 3
"""Failed tasks of one robot in a row, not all at one place, after which the robot is looked at, not the places."""

# Watching the clock


def _watch_robots(board: Board) -> None:
    silent_since = board.now - round(board.settings.offline_after_s * 1000)
    start_by = board.now - round(board.settings.start_timeout_s * 1000)
    limit = board.now - round(board.settings.step_timeout_s * 1000)
    on_errands, heard_now = board.state.on_errands, board.seen_now
    for robot_id in [name for name in board.state.robots if name not in heard_now or name in on_errands]:
        robot = board.robot(robot_id)
        if board.seen(robot_id).at_ms < silent_since:
            if robot.status != "offline":
                _went_offline(board, robot)
        elif robot.errand is not None and robot.errand.state == "sent" and robot.errand.sent_ts_ms < start_by:
            errand = robot.errand
            leads_there = board.seen(robot_id).report.target == errand.node_id  # Some never show that they run.
            if not leads_there or errand.sent_ts_ms < limit:
                errand_failed(board, robot, f"{robot_id} did not start for {errand.node_id} when told to.")


def _went_offline(board: Board, robot: Robot) -> None:
    board.change_robot(robot, status="offline")
    if robot.task_id is None:
        return
    says = f"{robot.robot_id} has not reported for more than {board.settings.offline_after_s:g} s."
    board.faults.append(Fault(robot.task_id, "robot.offline", says, "transient"))


def _restless(board: Board) -> list[Task]:
    """The open tasks that are not simply under way and in time; every tick asks all of them, so without detours."""
    now, robots_now, robots = board.now, board.robots_now, board.state.robots
    return [
        task
        for task in board.open_tasks()
        if task.status != "active"
        or task.remaining_ms is not None
        or task.command_state == "canceling"
        or (task.deadline_ts_ms is not None and task.deadline_ts_ms < now)
        or (task.lease_ts_ms is not None and task.lease_ts_ms < now)
        or (robots_now.get(str(task.robot_id)) or robots[str(task.robot_id)]).status == "blocked"
    ]


def _watch_task(board: Board, task: Task) -> None:
    if task.robot_id is None:
        return
    robot = board.robot(task.robot_id)
    due = task.waits_for == "retry" and task.status == "held" and (task.retry_ts_ms or 0) <= board.now
    if due and robot.status != "offline":
        _try_again(board, task, robot)
        return
    if task.lease_ts_ms is not None and task.lease_ts_ms < board.now and task.waits_for != "person":
        _stale(board, task)
        return
    if task.command_state == "canceling":
        _cancel_again(board, task, robot)
        return
    if task.status != "active":
        return
    if board.recovers and robot.status == "blocked" and task.deadline_ts_ms is not None:
        stop_deadline(board, task)
    elif task.remaining_ms is not None and _moves(task, robot) and not board.hold.person:
        start_timers(board, task)
    elif task.deadline_ts_ms is not None and task.deadline_ts_ms < board.now and not robot.paused:
        _timed_out(board, task)


def _moves(task: Task, robot: Robot) -> bool:
    waits = robot.waits_for is not None
    return robot.status == "online" and not robot.paused and not waits and task.command_state in ("sent", "running")


def _timed_out(board: Board, task: Task) -> None:
    settings = board.settings
    match task.command_state:
        case "sent":
            _not_seen_to_begin(board, task)
        case "running":
            says = f"{task.robot_id} did not finish the {task.step} within {settings.step_timeout_s:g} s."
            board.faults.append(Fault(task.task_id, "task.step_timeout", says, "retry"))
        case "none" | "due" | "paused" | "canceling":
            pass  # nothing is to be done by the robot now


def _not_seen_to_begin(board: Board, task: Task) -> None:
    """It may have begun all the same, and be done: only where the robot shows that it is not, it is ordered again."""
    seen, settings = board.seen(str(task.robot_id)), board.settings
    if not seen.heard:
        return
    order = order_of(board, task, watched=task.sent_ts_ms >= board.state.since_ms)
    verdict = judge(order, seen.report, late=True)
    on_its_way = verdict.end == "under way" or (verdict.end == "doubt" and is_on_its_way(order, seen.report))
    if verdict.end == "done":
        step_done(board, task)
    elif verdict.end == "not done":
        says = f"{task.robot_id} did not begin the {task.step} within {settings.start_timeout_s:g} s."
        board.faults.append(Fault(task.task_id, "task.start_timeout", says, "retry"))
    elif on_its_way and order.age_ms < settings.step_timeout_s * 1000:
        board.change_task(task, deadline_ts_ms=board.now + round(settings.start_timeout_s * 1000))
    elif verdict.end == "doubt":
        doubt(board, task, verdict)
    else:
        says = f"{task.robot_id} did not finish the {task.step} within {settings.step_timeout_s:g} s."
        board.faults.append(Fault(task.task_id, "task.step_timeout", says, "retry"))


def _cancel_again(board: Board, task: Task, robot: Robot) -> None:
    """A cancel that had no effect was perhaps lost; saying it once more does no harm."""
    late = task.deadline_ts_ms is None or task.deadline_ts_ms < board.now
    if late and not robot.paused and robot.status != "offline":
        board.commands.append(CancelTarget(f"{task.command_key}:cancel:{board.now}", robot.robot_id))
        board.change_task(task, deadline_ts_ms=board.now + round(board.settings.start_timeout_s * 1000))


def _stale(board: Board, task: Task) -> None:
    says = f"The task has held its places for longer than {board.settings.lease_s:g} s."
    changes: dict[str, Any] = {"error_code": "task.stale", "error": says}
    task = stop_timers(board, task, status="stale", waits_for="person", retry_ts_ms=None, **changes)
    _show(board, task, "held", says)
    ask_about(board, task, says)


def _try_again(board: Board, task: Task, robot: Robot) -> None:
    phase = phase_of(task, False)
    task = board.change_task(
        task,
        status="active",
        waits_for=None,
        retry_ts_ms=None,
        retries=task.retries + 1,
        phase=phase,
        remaining_ms=None,
        deadline_ts_ms=None,
        error=None,
        error_code=None,
    )
    board.change_robot(robot, phase="held" if robot.held else phase, error=None)
    give_up(board, start_timers(board, task), "resend")


# Meeting faults


def _meet(board: Board, fault: Fault) -> None:
    task = board.task(fault.task_id)
    if task.ended_ts_ms is not None:
        return
    if task.status in ("held", "stale") and task.waits_for == "person":
        task = board.change_task(task, error_code=fault.code, error=fault.says)
        ask_about(board, task, fault.says, fault.difference)
    elif fault.kind == "doubt" or not board.recovers:
        hold_for_person(board, task, fault)
    elif fault.kind == "transient":
        task = stop_deadline(board, task, status="held", waits_for="robot", error_code=fault.code, error=fault.says)
        _show(board, task, "held", fault.says)
    elif fault.kind == "retry" and task.retries < board.settings.retries:
        delay = board.settings.retry_delay_s * 2**task.retries
        task = stop_deadline(
            board,
            task,
            status="held",
            waits_for="retry",
            retry_ts_ms=board.now + round(delay * 1000),
            error_code=fault.code,
            error=fault.says,
        )
        _show(board, task, "held", fault.says)
    else:
        _final(board, task, fault)


def _final(board: Board, task: Task, fault: Fault) -> None:
    """It cannot work: the task fails, unless there are goods on the fork; then only a person may clear it."""
    if is_loaded(board, task):
        hold_for_person(board, task, fault)
        return
    give_up(board, task, "fail", error_code=fault.code, error=fault.says, status="active", waits_for=None)
    _blame(board, task, fault)


def _blame(board: Board, task: Task, fault: Fault) -> None:
    """The place rests for a while; failures that follow one robot from place to place are the robot's."""
    note_failure(board, task.source_id)
    robot = board.robot(str(task.robot_id))
    failed_at = (*(robot.failed_at or ()), task.source_id)
    if len(failed_at) < BLAME_AFTER or len(set(failed_at)) == 1:
        board.change_robot(robot, failed_at=failed_at)
        return
    for site_id in dict.fromkeys(failed_at):
        forgive(board, site_id, failed_at.count(site_id))
    places = name_list(sorted(set(failed_at)))
    says = f"{len(failed_at)} tasks of {robot.robot_id} failed in a row, at {places}. The last: {fault.says}"
    robot_in_error(board, board.change_robot(robot, failed_at=None), says, "robot.fails")


def hold_for_person(board: Board, task: Task, fault: Fault) -> None:
    changes: dict[str, Any] = {"error_code": fault.code, "error": fault.says}
    task = stop_timers(board, task, status="held", waits_for="person", retry_ts_ms=None, **changes)
    _show(board, task, "held" if fault.kind == "transient" else "error", fault.says)
    if not board.recovers:
        hold = board.hold
        tasks = hold.tasks if task.task_id in hold.tasks else (*hold.tasks, task.task_id)
        board.set_hold(replace(hold, tasks=tasks))
    ask_about(board, task, fault.says, fault.difference)


def _show(board: Board, task: Task, phase: str, says: str) -> None:
    board.change_task(task, phase=phase)
    if task.robot_id is not None:
        board.change_robot(board.robot(task.robot_id), phase=phase, error=says)


def _ask_anew(board: Board, task: Task) -> None:
    """A step that ended while its task was held: what may be answered is now about the next one."""
    asked = board.decision_about("taskId", task.task_id)
    if asked is not None and task.waits_for == "person" and asks_of_another_step(asked, task):
        ask_about(board, task, task.error or asked.evidence["error"])


def ask_about(board: Board, task: Task, says: str, difference: dict[str, Any] | None = None) -> None:
    """Puts the held task into the inbox, once; what is asked there for another reason is asked anew."""
    if task.command_state in IN_FLIGHT and board.robot(str(task.robot_id)).status == "offline":
        task = board.change_task(task, in_doubt=True)  # Nobody sees what becomes of its order.
    asked = board.decision_about("taskId", task.task_id)
    if asked is not None and asked.evidence.get("error") == says and not asks_of_another_step(asked, task):
        return
    if asked is not None:
        board.close_decision(asked)
    place, _ = needed_place(task)
    effects = {
        "resume": "The task goes on where it stopped.",
        "redo": f"The {task.step} at {place} is ordered again from its beginning.",
        "done-by-hand": f"The {task.step} at {place} counts as done by a person, and the task goes on.",
        "abort": "The task fails and its places are free again.",
    }
    if is_loaded(board, task):
        effects["abort"] = (
            "With another drop place as the value the pallet goes there; without, the task fails, its places are free "
            "and the robot keeps the pallet."
        )
    else:
        effects["cancel"] = "The task is cancelled and its places are free again."
        effects["hand-back"] = "Another robot gets the task."
    if task.in_doubt:
        effects = _in_doubt(task, place, effects)
    about = {"taskId": task.task_id, "robotId": task.robot_id}
    evidence: dict[str, Any] = {"error": says, "code": task.error_code, "step": task.step, "place": place}
    if task.in_doubt:
        evidence["inDoubt"] = True
    if difference is not None:
        evidence["difference"] = difference
    values = {verb: schema for verb, schema in task_values(board, task).items() if verb in effects}
    board.open_decision(f"{task.task_id} is held: {says}", about, evidence, effects, values)


def _in_doubt(task: Task, place: str, effects: dict[str, str]) -> dict[str, str]:
    """Whoever answers says what has happened, so that comes first; and what nobody knows stays unknown when it ends."""
    robot_id, step = task.robot_id, task.step
    unknown = f"{place} counts as unknown, and {robot_id} gets no work until somebody has looked at its fork."
    if "cancel" in effects:
        effects["cancel"] = f"The task is cancelled. {unknown}"
        effects["abort"] = f"The task fails. {unknown}"
        effects["hand-back"] = f"The {step} at {place} counts as not done, and another robot gets the task."
    else:
        elsewhere = "With another drop place as the value the pallet goes there; without, the task fails."
        effects["abort"] = f"{elsewhere} {unknown}"
    effects["done-by-hand"] = f"The {step} at {place} counts as done, and the task goes on."
    effects["redo"] = f"The {step} at {place} counts as not done and is ordered again from its beginning."
    effects["resume"] = f"The task goes on; where {robot_id} does not show the order, the {step} is ordered again."
    first = ("done-by-hand", "redo", "hand-back")
    order = [*(verb for verb in first if verb in effects), *(verb for verb in effects if verb not in first)]
    order.append(order.pop(order.index("resume")))
    return {verb: effects[verb] for verb in order}
