"""Whether a fleet has come to rest: nothing moves, nothing could be done, and nothing will change by itself."""

import math

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.dispatch import Queue
from beforehand.crafts.fleet.core.rules import SUSPECT_AFTER
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.model.fleet import Robot


def is_settled(state: FleetState, now_ms: int) -> bool:
    for task_id in state.open_tasks:
        task = state.tasks[task_id]
        if task.status in ("held", "stale") and task.waits_for == "person":
            continue
        if task.robot_id is None and (state.hold or not _could_reach(state, task.source_id, task.target_id)):
            continue
        return False
    if any(not _at_rest(state, robot, now_ms) for robot in state.robots.values()):
        return False
    return state.hold.person or not _work_left(state, now_ms)


def _at_rest(state: FleetState, robot: Robot, now_ms: int) -> bool:
    seen = state.seen[robot.robot_id]
    if robot.status == "offline":
        return True
    if not seen.heard or robot.wish is not None or robot.orphan_key is not None:
        return False
    if robot.phase != "error" and not robot.out_of_service:
        asked_soon = robot.lost_ts_ms is not None and robot.task_id is None
        if asked_soon or robot.errand_rest_ts_ms > now_ms:
            return False
    return robot.errand is None or robot.errand.state == "there" or robot.held


def _work_left(state: FleetState, now_ms: int) -> bool:
    """Whether some robot could, now or when it is charged, do something a stream would ask for."""
    if state.hold or not any(_may_work_again(robot) for robot in state.robots.values()):
        return False
    if any(0 < site.failures < SUSPECT_AFTER and site.rest_until_ts_ms > now_ms for site in state.worksites.values()):
        return True
    queue = Queue(Board(state, (), now_ms), only=None)
    for stream in state.streams.values():
        if stream.enabled:
            for candidate in KINDS[stream.kind].evaluate(queue.view(stream.stream_id)):
                if _could_reach(state, candidate.source_id, candidate.target_id):
                    return True
    return False


def _may_work_again(robot: Robot) -> bool:
    usable = robot.status != "offline" and not robot.held and not robot.out_of_service and robot.phase != "error"
    return usable and robot.task_id is None and robot.load_state != "loaded" and robot.lost_ts_ms is None


def _could_reach(state: FleetState, source_id: str, target_id: str) -> bool:
    routes = state.routes
    source, target = state.worksites[source_id].node_id, state.worksites[target_id].node_id
    if math.isinf(routes.between(source, target)):
        return False
    for robot_id, robot in state.robots.items():
        node = state.seen[robot_id].report.node_id
        if node is not None and _may_work_again(robot) and not math.isinf(routes.between(node, source)):
            return True
    return False
