"""Where each robot is in the traffic: what it wants to drive to, what it has been granted, and what it holds.

A robot holds what lies under its body and what it was granted and has not left behind. What it was granted is in the
log; where it is, it says itself. While nobody can know whether it still has its order, it holds all of that.
"""

import math
from dataclasses import dataclass

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.rules import IN_FLIGHT, RUNNING, target_node
from beforehand.crafts.fleet.core.traffic.geometry import to_line
from beforehand.crafts.fleet.core.traffic.ground import ON_WAY_M, Ground
from beforehand.model.fleet import Robot


@dataclass(frozen=True, slots=True)
class Order:
    """Something a robot is to drive to."""

    key: str
    target: int
    since_ms: int
    sent: bool
    ends: bool = False
    """It is being called off, so nothing more is granted for it."""


@dataclass(slots=True)
class Post:
    robot_id: str
    body: int
    node: int
    following: int | None
    order: Order | None
    way: list[int]
    """The nodes granted to it, as far as they are in the log; empty where it has no order."""
    at: int
    """Where in that way it is."""
    held: set[int]
    stand: int
    """Where it will come to stand with what it has been granted."""
    behind: int = 0
    """The first node of the way that it still holds."""

    @property
    def waits(self) -> bool:
        """Whether it stands where its ground ends."""
        return self.following is None and self.node == self.stand

    @property
    def rank(self) -> tuple[int, str]:
        """Who comes first where two want the same: whose order is older."""
        return (self.order.since_ms if self.order is not None else 1 << 62, self.robot_id)


def post_of(board: Board, ground: Ground, robot: Robot, reached: int) -> Post:
    """`reached` is where in the whole way of its order it is known to have been."""
    report = board.seen(robot.robot_id).report
    node = ground.index[str(report.node_id)]
    following = None if report.next_node_id is None else ground.index.get(report.next_node_id)
    body, place = ground.body_of[robot.robot_id], (report.x, report.y)
    order = order_of(board, ground, robot)
    covered = ground.covered(node, following, place, body)
    if not board.seen(robot.robot_id).heard:
        covered |= _round_about(ground, node)
    known = robot.way is not None and all(name in ground.index for name in robot.way)
    if robot.way is None or not known or not _may_drive_on(board, robot, order):
        stand = node if following is None else following
        return Post(robot.robot_id, body, node, following, order, [], 0, covered, stand)
    way = [ground.index[name] for name in robot.way]
    at = _place_in(way, node, following, max(0, reached - (robot.way_at or 0)))
    if at is None:
        return Post(robot.robot_id, body, node, following, order, way, 0, covered | set(ground.pieces_of(way)), way[-1])
    behind = _behind(ground, way, at, following, place, body)
    held = covered | set(ground.pieces_of(way[at:])) | set(way[behind:at])
    return Post(robot.robot_id, body, node, following, order, way, at, held, way[-1], behind)


def _round_about(ground: Ground, node: int) -> set[int]:
    """Where a robot may stand that was last known to be at a node and does not answer."""
    steps = (*ground.out[node], *ground.into[node])
    return {piece for step in steps for piece in (step.node, step.edge)}


def _may_drive_on(board: Board, robot: Robot, order: Order | None) -> bool:
    if order is not None and order.sent:
        return True
    if robot.orphan_key is not None or robot.status == "offline":
        return True
    return board.seen(robot.robot_id).report.task_status in RUNNING


def _place_in(way: list[int], node: int, following: int | None, reached: int) -> int | None:
    """The first place in the way, from where it is known to have been, that fits what it says."""
    for at in range(min(reached, len(way) - 1), len(way)):
        if way[at] == node and (following is None or (at + 1 < len(way) and way[at + 1] == following)):
            return at
    return None


def _behind(
    ground: Ground, way: list[int], at: int, following: int | None, place: tuple[float, float], body: int
) -> int:
    """The first node of the way that its tail is not clear of."""
    here = ground.places[way[at]]
    there = here if following is None else ground.places[following]
    if to_line(place, here, there) > ON_WAY_M:
        place = here
    first = at
    while first > 0 and math.dist(place, ground.places[way[first - 1]]) < ground.clear_m(body):
        first -= 1
    return first


def order_of(board: Board, ground: Ground, robot: Robot) -> Order | None:
    errand = robot.errand
    if errand is not None and errand.state != "there":
        target = ground.index[errand.node_id]
        sent, ends = errand.state != "due", errand.state == "canceling"
        if sent or robot.task_id is None:
            return Order(errand.key, target, errand.sent_ts_ms, sent, ends)
    if robot.task_id is None:
        return None
    task = board.task(robot.task_id)
    if task.command_state in IN_FLIGHT:
        target = ground.index[target_node(board, task)]
        ends = task.command_state == "canceling"
        return Order(str(task.command_key), target, task.created_ts_ms, True, ends)
    if task.command_state == "due" and task.status == "active" and errand is None:
        return Order("", ground.index[target_node(board, task)], task.created_ts_ms, False)
    return None
