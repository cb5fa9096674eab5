"""The generic rules every stream kind shares: reservations, and what a finished pick or drop changes.

A pallet changes place in one event, worksite and fork together. What is illegal (a pick from an empty place, a drop on
a filled one, a second pallet on a fork) is refused and changes nothing.
"""

from dataclasses import replace
from typing import Any

from beforehand.crafts.fleet.core.batches import carried, load_after, pairs_of
from beforehand.crafts.fleet.core.board import Board
from beforehand.model.decision import Decision
from beforehand.model.fleet import Errand, Phase, Robot, Task, Trace, Worksite
from beforehand.model.robot import Telemetry, is_order_key

IN_FLIGHT = ("sent", "running", "paused", "canceling")
RUNNING = (1, 2, 3)
"""The statuses with which a robot says that it has an order."""
LOST = "robot.lost"
"""The code of the question about a robot that does not know where it is; it is withdrawn when the robot knows again."""
LOADED = "robot.loaded"
"""The code of the question about a robot that carries a pallet of no task."""
FORK = "robot.fork_unknown"
"""The code of the question about a robot of which nobody knows what is on its fork; somebody has to look."""
TRAFFIC = "traffic.waits"
"""The code of the question about a robot that waits in vain for another one's ground."""
SUSPECT_AFTER = 3
"""Failures in a row after which a worksite is left alone until a person has looked at it."""
FIRST_REST_MS = 10_000


def reserve(board: Board, site_id: str, holder: str) -> None:
    site = board.site(site_id)
    board.change_site(site, occupancy="reserved", reserved_by=holder, occupancy_before=site.occupancy)


def release(board: Board, site_id: str | None, holder: str) -> None:
    """Gives a worksite back as it was; one that the holder does not hold is left alone."""
    if site_id is None:
        return
    site = board.site(site_id)
    if site.reserved_by == holder:
        before = site.occupancy_before or "unknown"
        board.change_site(site, occupancy=before, reserved_by=None, occupancy_before=None)


def needed_place(task: Task) -> tuple[str, str]:
    """Where the task's present step works, and what has to lie there for it."""
    return (task.source_id, "filled") if task.step == "pick" else (task.target_id, "empty")


def can_pick(board: Board, site_id: str) -> bool:
    site = board.site(site_id)
    return site.occupancy == "filled" and is_usable(board, site)


def can_drop(board: Board, site_id: str) -> bool:
    site = board.site(site_id)
    return site.occupancy == "empty" and is_usable(board, site)


def is_usable(board: Board, site: Worksite) -> bool:
    return site.failures == 0 or (site.failures < SUSPECT_AFTER and site.rest_until_ts_ms <= board.now)


def note_failure(board: Board, site_id: str) -> None:
    """A place where a step failed rests before it is used again, longer each time."""
    site = board.site(site_id)
    rest = board.now + FIRST_REST_MS * 2**site.failures
    board.change_site(site, failures=site.failures + 1, rest_until_ts_ms=rest)


def forgive(board: Board, site_id: str, times: int) -> None:
    """So many of its failures were not the place's own."""
    site = board.site(site_id)
    left = max(0, site.failures - times)
    board.change_site(site, failures=left, rest_until_ts_ms=site.rest_until_ts_ms if left else 0)


def finish_pick(board: Board, task: Task, source: str = "task") -> str | None:
    """The pallet leaves its place; None when done, else why it cannot be."""
    site = board.site(task.source_id)
    if site.lies != "filled":
        return f"{task.source_id} is {site.lies}, so nothing can have been picked there."
    board.change_site(
        site,
        occupancy="empty",
        reserved_by=None,
        occupancy_before=None,
        since_ts_ms=board.now,
        failures=0,
        brought_by=None,
    )
    _loaded(board, task, "loaded", source)
    _moved(board, "palletPicked", task, task.source_id, "empty", "loaded", source)
    return None


def finish_drop(board: Board, task: Task, source: str = "task") -> str | None:
    """The pallet stands in its new place; None when done, else why it cannot be."""
    site = board.site(task.target_id)
    if site.lies == "filled":
        return f"{task.target_id} is already filled, so nothing can have been dropped there."
    board.change_site(
        site,
        occupancy="filled",
        reserved_by=None,
        occupancy_before=None,
        since_ts_ms=board.now,
        failures=0,
        brought_by=_bringer(board, task),
    )
    left = load_after(task)
    _loaded(board, task, left, source)
    _moved(board, "palletDropped", task, task.target_id, "filled", left, source)
    return None


def _bringer(board: Board, task: Task) -> str | None:
    """The stream, where it goes both ways and must know what it brought itself."""
    if task.stream_id is None or not is_two_way(board.state.params[task.stream_id]):
        return None
    return task.stream_id


def is_two_way(params: Any) -> bool:
    return bool(getattr(params, "both_ways", False))


def _loaded(board: Board, task: Task, load: str, source: str) -> None:
    assert task.robot_id is not None
    robot = board.robot(task.robot_id)
    sensed = board.seen(task.robot_id).report.sure_load == load
    said_by = "sensor" if sensed else source
    sure = "low" if said_by == "manual" else "high"
    said = {"load_state": load, "load_state_source": said_by, "load_state_confidence": sure}
    board.change_robot(robot, failed_at=None, **said)


def _moved(board: Board, kind: str, task: Task, site_id: str, occupancy: str, load: str, source: str) -> None:
    about = {"taskId": task.task_id, "robotId": task.robot_id, "worksiteId": site_id}
    data: dict[str, Any] = {**about, "occupancy": occupancy, "loadState": load}
    if source == "manual":
        data["byHand"] = True
    board.emit(kind, about, data, task.task_id)


def end_task(board: Board, task: Task, status: str, code: str | None = None, says: str | None = None) -> Task:
    """The task is over: its reservations go back, its robot is free, what was asked about it is settled."""
    for pair in pairs_of(task):
        for site_id in pair:
            release(board, site_id, task.task_id)
    release(board, task.next_target_id, task.task_id)
    free_robot(board, task)
    thaw(board, task.task_id)
    settle_questions(board, task.task_id)
    return board.change_task(
        task,
        status=status,
        step="done" if status == "completed" else task.step,
        phase="idle",
        command_state="none",
        command_key=None,
        deadline_ts_ms=None,
        remaining_ms=None,
        lease_ts_ms=None,
        lease_remaining_ms=None,
        retry_ts_ms=None,
        waits_for=None,
        then=None,
        next_target_id=None,
        error_code=code,
        error=says,
        ended_ts_ms=board.now,
    )


def free_robot(board: Board, task: Task) -> None:
    if task.robot_id is None:
        return
    robot = board.robot(task.robot_id)
    if robot.task_id == task.task_id:
        asked = board.question_of(robot.robot_id)
        error = None if asked is None else asked.evidence.get("error")
        phase = "error" if error is not None else "held" if robot.held else "idle"
        board.change_robot(robot, task_id=None, phase=phase, error=error)


def thaw(board: Board, task_id: str) -> None:
    """This task no longer keeps the scene frozen."""
    hold = board.hold
    if task_id in hold.tasks:
        board.set_hold(replace(hold, tasks=tuple(one for one in hold.tasks if one != task_id)))


def thaw_robot(board: Board, robot_id: str) -> None:
    """This robot no longer keeps the scene frozen."""
    hold = board.hold
    if robot_id in hold.robots:
        board.set_hold(replace(hold, robots=tuple(one for one in hold.robots if one != robot_id)))


def settle_questions(board: Board, task_id: str) -> None:
    decision = board.decision_about("taskId", task_id)
    if decision is not None:
        board.close_decision(decision)


def asks_of_another_step(decision: Decision, task: Task) -> bool:
    """Whether the question is about a step that the task has left behind since it was asked."""
    asked = decision.evidence.get("step"), decision.evidence.get("place")
    return asked[0] is not None and asked != (task.step, needed_place(task)[0])


def settle_question(board: Board, robot: Robot, code: str) -> Robot:
    """What was asked about the robot under this code has settled itself."""
    asked = board.question_of(robot.robot_id)
    if asked is None or asked.evidence.get("code") != code:
        return robot
    board.close_decision(asked)
    thaw_robot(board, robot.robot_id)
    if robot.phase != "error":
        return robot
    return board.change_robot(robot, phase="held" if robot.held else "idle", error=None)


def phase_of(task: Task, arrived: bool) -> Phase:
    if task.step == "pick":
        return "picking" if arrived else "moving_to_pick"
    return "dropping" if arrived else "moving_to_drop"


def target_node(board: Board, task: Task) -> str:
    return board.site(task.source_id if task.step == "pick" else task.target_id).node_id


def is_there(board: Board, robot_id: str, node_id: str) -> bool:
    report = board.seen(robot_id).report
    return report.node_id == node_id and report.next_node_id is None


def is_loaded(board: Board, task: Task) -> bool:
    """Whether a pallet of the task is on the fork."""
    return task.robot_id is not None and carried(task) > 0


def reports_ids(board: Board, robot_id: str) -> bool:
    """Whether the robot says which command its status speaks of; then one order may replace another at once."""
    return is_order_key(board.seen(robot_id).report.task_id)


def order_name(task: Task) -> str:
    """What the key of a task's order ends with."""
    return f"{task.task_id}:{task.step}:{task.attempt}"


def order_key(board: Board, task: Task) -> str:
    """The key of the order that the task sent last, as it was sent."""
    sent, name = board.state.order_keys.get(str(task.robot_id), ""), order_name(task)
    return sent if sent.endswith(name) else name


def of_another_log(board: Board, report: Telemetry) -> bool:
    """Whether the robot names an order in our manner that this log has not sent: another one did, or this one before
    it was restored or cut short."""
    key, log = report.task_id, board.state.log
    return is_order_key(key) and not log.owns(str(key)) and key != board.state.order_keys.get(report.robot_id)


def runs_for_others(board: Board, robot: Robot) -> bool:
    """Whether the robot carries out an order that nothing shows to be ours."""
    report, errand = board.seen(robot.robot_id).report, robot.errand
    if report.task_status not in RUNNING:
        return False
    if errand is None:
        return True
    named = is_order_key(report.task_id) and not of_another_log(board, report)
    return errand.state in ("due", "there") and not named


def speaks_of_another(key: str | None, report: Telemetry, trace: Trace | None = None) -> bool:
    """Whether the status is that of another order. A robot may name its orders as it likes: a name that we did not give
    says nothing, unless the robot has named this order as we do."""
    if report.task_id is None or report.task_id == key:
        return False
    return is_order_key(report.task_id) or bool(trace and trace.named)


def doubt_sensor(board: Board, report: Telemetry) -> None:
    """What the load sensor reads has been contradicted: it decides nothing until it reads something else."""
    robot = board.robot(report.robot_id)
    board.change_robot(robot, doubted_load=report.load_sensor)
    seen = board.seen(robot.robot_id)
    board.seen_now[robot.robot_id] = seen._replace(report=report._replace(load_confidence="low"))


def drop_errand(board: Board, robot: Robot) -> Robot:
    """Ends an errand and gives its place back."""
    errand: Errand | None = robot.errand
    if errand is None:
        return robot
    release(board, errand.worksite_id, robot.robot_id)
    return board.change_robot(robot, errand=None)
