"""Which robots may take work, which work fits which robot, and in each case the rule that says no.

A rule returns a Reason or nothing, so that what stops a robot is the same text in dispatch and in `why`.

Energy: a metre costs `batteryPerM` and a second `batteryPerS` of a full battery. Work is given only if the whole drive
(to the pallet, to its drop, from there to the nearest charger) leaves `RESERVE`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.carrying import cannot_carry
from beforehand.crafts.fleet.core.rules import FORK, runs_for_others
from beforehand.crafts.fleet.core.streams import Pallets
from beforehand.model.fleet import Robot
from beforehand.model.reason import Reason

RESERVE = 0.02
FORK_S = 30.0
"""What a pick and a drop together are reckoned to take besides driving."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A piece of work to give out: a stream's candidate, or a task that waits for a robot."""

    stream_id: str | None
    source_id: str
    target_id: str
    since_ms: int
    priority: float
    task_id: str | None
    not_robot_id: str | None
    not_until_ms: int = 0
    """Until when that robot is not to have it."""
    more: tuple[tuple[str, str], ...] = ()
    """The other pallets, where it is several at once."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.source_id, self.target_id), *self.more)

    @property
    def sites(self) -> tuple[str, ...]:
        """Every place in the order the robot comes to it: all picks, then all drops."""
        if not self.more:
            return (self.source_id, self.target_id)
        return (*(source for source, _ in self.pairs), *(target for _, target in self.pairs))

    @property
    def pallets(self) -> Pallets:
        return self.stream_id, tuple(source for source, _ in self.pairs)

    def shuns(self, robot_id: str, now_ms: int) -> bool:
        return robot_id == self.not_robot_id and now_ms < self.not_until_ms


def robots_at_rest(board: Board) -> list[str]:
    """The robots that may take work now, in the order of their ids."""
    return sorted(robot_id for robot_id in board.untasked_robots() if _ready(board, robot_id))


def _ready(board: Board, robot_id: str) -> bool:
    robot = board.robot(robot_id)
    if robot.task_id is not None or robot.status != "online" or robot.held or robot.out_of_service:
        return False
    return unfit(board, robot_id) is None


def unfit(board: Board, robot_id: str) -> Reason | None:
    """The first rule that keeps this robot from any work, or None."""
    robot = board.robot(robot_id)
    seen = board.seen(robot_id)
    if robot.out_of_service:
        return _no("robot.out_of_service", robot_id, "It is out of service.", "Put it back into service.")
    if robot.held:
        return _no("robot.held", robot_id, "A person holds it.", "Release it.")
    if not seen.heard:
        try_next = f"Wait for its first report. How the line to it stands: `beforehand robots link {robot_id}`."
        return _no("robot.not_heard", robot_id, "It has not reported yet.", try_next)
    if robot.status == "offline":
        return is_offline(robot_id)
    if robot.status == "blocked":
        return is_blocked(board, robot_id, robot_id)
    if robot.task_id is not None:
        return _no("robot.busy", robot_id, f"It works on {robot.task_id}.", "")
    if robot.phase == "error":
        return _no(
            "robot.error",
            robot_id,
            f"It is in error: {robot.error}",
            f"Correct the cause, then release it: `beforehand robots release {robot_id}`.",
        )
    if robot.orphan_key is not None:
        return _no("robot.letting_go", robot_id, "It still has to let go of an order that was given up.", "")
    if robot.load_state == "loaded":
        says = "It carries a pallet that belongs to no task."
        return _no(
            "robot.loaded",
            robot_id,
            says,
            f"Unload it by hand, then report it: `beforehand robots unloaded {robot_id}`.",
        )
    asked = board.question_of(robot_id)
    if asked is not None and asked.evidence.get("code") == FORK:
        says = "Nobody knows what is on its fork."
        try_next = f"Look at it, unload it, then report it: `beforehand robots unloaded {robot_id}`."
        return _no("robot.fork_unknown", robot_id, says, try_next)
    if robot.wish is not None or (robot.errand is not None and robot.errand.ordered and robot.errand.state != "there"):
        says = f"A person sent it to {robot.wish or (robot.errand and robot.errand.kind)}."
        return _no("robot.sent", robot_id, says, "Wait until it is there.")
    if runs_for_others(board, robot):
        return _no("robot.other_order", robot_id, "It carries out an order that is not ours.", "Let it finish.")
    if robot.lost_ts_ms is not None or seen.report.node_id is None:
        return _no("robot.lost", robot_id, "It does not know where it is.", "Put it on a node of the map.")
    return _short_of_battery(board, robot)


def _short_of_battery(board: Board, robot: Robot) -> Reason | None:
    battery = board.seen(robot.robot_id).report.battery
    if not board.state.has_chargers or battery is None:
        return None
    settings = board.settings
    if robot.errand is not None and robot.errand.kind == "charge":
        level = robot.errand.level if robot.errand.level is not None else settings.charge_stop_threshold
        if battery < level:
            says = f"It charges: battery {battery:.0%}, until {level:.0%}."
            return _no("robot.charging", robot.robot_id, says, "Wait, or lower chargeStopThreshold in the scene.")
    if battery < settings.charge_start_threshold:
        says = f"Battery {battery:.0%}, needs {settings.charge_start_threshold:.0%}."
        return _no(
            "robot.battery_low",
            robot.robot_id,
            says,
            f"Send it to charge: `beforehand robots charge {robot.robot_id}`.",
        )
    return None


def fit(board: Board, robot_id: str, offer: Offer) -> float | None:
    """How far the robot has to drive to the pallet, or None if it cannot do this work; notes a lack of battery."""
    if offer.not_robot_id is not None and offer.shuns(robot_id, board.now):
        return None
    if cannot_take(board, robot_id, offer) is not None:
        return None
    way = way_of(board, offer)
    node, already = whereabouts(board, robot_id)
    empty = float(board.state.routes.to(way[0])[node]) + already
    if math.isinf(empty) or not is_joined(board, way):
        return None
    if not board.state.has_chargers:
        return empty
    loaded = metres_along(board, way)
    battery = board.seen(robot_id).report.battery
    if battery is not None and battery < energy(board, robot_id, empty + loaded, way[-1]):
        board.short_of_charge.add(robot_id)
        return None
    return empty


def cannot_take(board: Board, robot_id: str, offer: Offer) -> Reason | None:
    """Why this work is not for this robot, wherever it is; asked only where it may be so."""
    if not offer.more and not board.state.has_choosy_robots:
        return None
    return cannot_carry(board.state, robot_id, offer.pairs)


def way_of(board: Board, offer: Offer) -> tuple[str, ...]:
    """The nodes the work leads to, in order."""
    return tuple(board.site(site_id).node_id for site_id in offer.sites)


def is_joined(board: Board, way: Sequence[str]) -> bool:
    return all(board.state.routes.joined(one, other) for one, other in pairwise(way))


def metres_along(board: Board, way: Sequence[str]) -> float:
    return float(sum(board.state.routes.between(one, other) for one, other in pairwise(way)))


class Whereabouts:
    """Where the free robots are, so that one look at the map gives the distance of them all to a place."""

    def __init__(self, board: Board, robots: Sequence[str]) -> None:
        self.routes = board.state.routes
        self.robots = list(robots)
        places = [whereabouts(board, robot_id) for robot_id in robots]
        self.nodes = np.array([node for node, _ in places], dtype=np.intp)
        self.already = np.array([metres for _, metres in places])
        reports = [board.seen(robot_id).report for robot_id in robots]
        self.battery = np.array([math.inf if one.battery is None else one.battery for one in reports])
        self.parts = {self.routes.part(str(one.node_id)) for one in reports}
        """The parts of the map where they are."""
        self.speed = np.array([board.state.robot_specs[robot_id].speed_mps for robot_id in robots])

    def metres_to(self, node_id: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        found: np.ndarray[Any, np.dtype[np.float64]] = np.asarray(self.routes.to(node_id))[self.nodes] + self.already
        return found

    def table(self, node_ids: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The metres of every robot (columns) to every place (rows), with as few searches as either side needs."""
        if len(node_ids) <= len(self.robots):
            return np.stack([self.metres_to(node_id) for node_id in node_ids])
        places = np.array([self.routes.index[node_id] for node_id in node_ids], dtype=np.intp)
        columns = [np.asarray(self.routes.out_of(int(node)))[places] for node in self.nodes]
        found: np.ndarray[Any, np.dtype[np.float64]] = np.stack(columns, axis=1) + self.already
        return found

    def short(
        self, board: Board, metres: np.ndarray[Any, np.dtype[np.float64]], end_node: str
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which robots lack the battery to drive so far, ending there, and then to a charger."""
        needed = _energy(board, metres + board.state.routes.to_charger(end_node), self.speed)
        found: np.ndarray[Any, np.dtype[np.bool_]] = self.battery < needed
        return found

    def nearest(self, metres: np.ndarray[Any, np.dtype[np.float64]]) -> str:
        return self.robots[int(metres.argmin())]

    def by_distance(self, metres: np.ndarray[Any, np.dtype[np.float64]]) -> list[str]:
        return [self.robots[number] for number in metres.argsort(kind="stable")]

    def remove(self, robot_id: str) -> None:
        number = self.robots.index(robot_id)
        del self.robots[number]
        self.nodes, self.already = np.delete(self.nodes, number), np.delete(self.already, number)
        self.battery, self.speed = np.delete(self.battery, number), np.delete(self.speed, number)


def whereabouts(board: Board, robot_id: str) -> tuple[int, float]:
    """The number of the node the robot can next turn at, and the metres it still has to go to get there."""
    report = board.seen(robot_id).report
    assert report.node_id is not None
    return board.state.routes.ahead(report.node_id, report.next_node_id, report.x, report.y)


def energy(board: Board, robot_id: str, metres: float, end_node: str) -> float:
    """The battery a drive of so many metres needs that ends at this node, with the way to a charger after it."""
    if not board.state.has_chargers:
        return 0.0
    speed = board.state.robot_specs[robot_id].speed_mps
    return float(_energy(board, metres + board.state.routes.to_charger(end_node), speed))


def _energy(board: Board, metres: Any, speed: Any) -> Any:
    """The battery so many metres take at this speed, one robot or an array of them."""
    seconds = metres / speed + FORK_S
    return metres * board.settings.battery_per_m + seconds * board.settings.battery_per_s + RESERVE


def is_offline(robot_id: str) -> Reason:
    try_next = f"Look at its power and its connection: `beforehand robots link {robot_id}`."
    return _no("robot.offline", robot_id, "It is offline.", try_next)


def is_blocked(board: Board, robot_id: str, about: str) -> Reason:
    """With what the robot says of it: an emergency stop is no obstacle on the way."""
    told = board.seen(robot_id).report.error
    says = told or f"Something blocks the way of {robot_id}."
    return _no("robot.blocked", about, says, "See to it at the robot." if told else "Clear the way.")


def _no(code: str, robot_id: str, says: str, try_next: str) -> Reason:
    return Reason(code=code, about=robot_id, says=says, try_next=try_next)
