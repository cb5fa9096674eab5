"""Whether a fleet has come to rest: nothing moves, nothing could be done, and nothing will change by itself."""

import math
from collections.abc import Sequence
from itertools import pairwise

from beforehand.crafts.fleet.core.batches import Pair, pairs_of
from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.carrying import cannot_carry
from beforehand.crafts.fleet.core.rules import FORK, SUSPECT_AFTER
from beforehand.crafts.fleet.core.state import FleetState
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.model.decision import Decision
from beforehand.model.fleet import Robot


def is_settled(state: FleetState, now_ms: int) -> bool:
    for task_id in state.open_tasks:
        task = state.tasks[task_id]
        if task.status in ("held", "stale") and task.waits_for == "person":
            continue
        if task.robot_id is None and (state.hold or not _could_be_done(state, pairs_of(task))):
            continue
        if task.robot_id is not None and _waits_for_person(state, task.robot_id):
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
    if robot.errand is None or robot.errand.state == "there" or robot.held:
        return True
    return _waits_for_person(state, robot.robot_id)


def _waits_for_person(state: FleetState, robot_id: str) -> bool:
    """Whether it waits for ground, and somebody on the way to whoever has it is asked about."""
    asked = {one.about.get("robotId") for one in state.decisions.values() if "waitsFor" in one.about}
    known: set[str] = set()
    name: str | None = robot_id
    while asked and name is not None and name not in known:
        if state.robots[name].waits_for is not None and name in asked:
            return True
        known.add(name)
        name = state.robots[name].waits_for
    return False


def _work_left(state: FleetState, now_ms: int) -> bool:
    """Whether some robot could, now or when it is charged, do something a stream would ask for."""
    if state.hold or not any(_may_work_again(state, robot) for robot in state.robots.values()):
        return False
    if any(0 < site.failures < SUSPECT_AFTER and site.rest_until_ts_ms > now_ms for site in state.worksites.values()):
        return True
    queue = Queue(Board(state, (), now_ms), only=None)
    for stream in state.streams.values():
        if stream.enabled:
            for candidate in KINDS[stream.kind].evaluate(queue.view(stream.stream_id)):
                if _could_be_done(state, ((candidate.source_id, candidate.target_id), *candidate.more)):
                    return True
    return False


def _may_work_again(state: FleetState, robot: Robot) -> bool:
    if any(_asks_of_fork(one, robot.robot_id) for one in state.decisions.values()):
        return False
    usable = robot.status != "offline" and not robot.held and not robot.out_of_service and robot.phase != "error"
    return usable and robot.task_id is None and robot.load_state != "loaded" and robot.lost_ts_ms is None


def _asks_of_fork(decision: Decision, robot_id: str) -> bool:
    return decision.evidence.get("code") == FORK and decision.about.get("robotId") == robot_id


def _could_be_done(state: FleetState, pairs: Sequence[Pair]) -> bool:
    """Whether some robot can come to all these places and may carry what lies there."""
    routes = state.routes
    way = [state.worksites[site_id].node_id for site_id in (*(one for one, _ in pairs), *(two for _, two in pairs))]
    if any(math.isinf(routes.between(one, other)) for one, other in pairwise(way)):
        return False
    for robot_id, robot in state.robots.items():
        node = state.seen[robot_id].report.node_id
        if node is None or not _may_work_again(state, robot) or math.isinf(routes.between(node, way[0])):
            continue
        if cannot_carry(state, robot_id, pairs) is None:
            return True
    return False
