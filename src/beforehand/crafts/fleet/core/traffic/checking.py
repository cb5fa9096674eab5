"""What traffic asks of a scene: starts apart from each other, and room enough to get out of each other's way."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from beforehand.crafts.fleet.core.shape import Problems
from beforehand.crafts.fleet.core.traffic.geometry import Point
from beforehand.crafts.fleet.core.traffic.ground import SLACK_M, Ground, body_of
from beforehand.crafts.fleet.core.traffic.memory import TrafficMemory
from beforehand.model.fleet import FleetScene, RobotSpec
from beforehand.model.words import counted

Start = tuple[float, float, int, RobotSpec]


def check_starts(parts: Mapping[str, Any], problems: Problems) -> None:
    """No two robots begin on ground that overlaps."""
    if parts["settings"].traffic_mode == "NONE":
        return
    places = {node.id: (node.x, node.y) for node in parts["nodes"] if node is not None and _is_place(node)}
    for (_, _, at, robot), (_, _, _, other) in _too_near(list(_starts(parts["robots"], places))):
        one, two = body_of(robot).radius_m, body_of(other).radius_m
        apart = math.dist(places[robot.node_id], places[other.node_id])
        says = (
            f"{other.robot_id} at {other.node_id} and {robot.robot_id} at {robot.node_id} begin on the same ground: "
            f"they are {apart:.2f} m apart and need {one + two:.2f} m to turn."
        )
        try_next = "Put one of them on another node, or give their true lengthM and widthM."
        problems.add("scene.starts_overlap", f"robots[{at}].nodeId", says, about=robot.robot_id, try_next=try_next)


def _is_place(node: Any) -> bool:
    return isinstance(node.x, int | float) and isinstance(node.y, int | float)


def _starts(robots: list[RobotSpec | None], places: Mapping[str, Point]) -> Iterator[Start]:
    for at, robot in enumerate(robots):
        if robot is not None and robot.node_id in places:
            yield (*places[robot.node_id], at, robot)


def _too_near(starts: list[Start]) -> Iterator[tuple[Start, Start]]:
    """Pairs whose circles overlap, the later one of the file first; only neighbours from left to right are compared."""
    widest = max((body_of(robot).radius_m for *_, robot in starts), default=0.0)
    starts.sort(key=lambda start: (start[0], start[2]))
    for number, one in enumerate(starts):
        for other in starts[number + 1 :]:
            if other[0] - one[0] >= 2 * widest:
                break
            needed = body_of(one[3]).radius_m + body_of(other[3]).radius_m
            if math.dist(one[:2], other[:2]) < needed - SLACK_M:
                yield (one, other) if one[2] > other[2] else (other, one)


def oddities(scene: FleetScene) -> Iterator[tuple[str, str]]:
    """What is legal and yet makes robots wait: the path in the file, and a sentence."""
    memory = TrafficMemory.of(scene)
    if memory is None:
        return
    yield from _tight_edges(scene, memory.ground)
    places, robots = len(memory.resting), len(scene.robots)
    if robots > 1 and places <= robots:
        known = f"There {'is' if places == 1 else 'are'} {counted(places, 'place')}" if places else "There is no place"
        yield (
            "robots",
            f"{known} where a robot can stand without closing the way, and {counted(robots, 'robot')}: they may come "
            "to a standstill that a person has to end. Add park places beside the lanes, one more than there are "
            "robots.",
        )


def _tight_edges(scene: FleetScene, ground: Ground) -> Iterator[tuple[str, str]]:
    """Edges whose two ends cannot be used at once."""
    needed = 2 * ground.widest_m
    tight = [
        at
        for at, edge in enumerate(scene.edges)
        if math.dist(ground.places[ground.index[edge.from_]], ground.places[ground.index[edge.to]]) < needed - SLACK_M
    ]
    if tight and len(scene.robots) > 1:
        first = scene.edges[tight[0]]
        others = f" The same goes for {counted(len(tight) - 1, 'other edge')}." if len(tight) > 1 else ""
        yield (
            f"edges[{tight[0]}]",
            f"{first.from_} and {first.to} are nearer than the {needed:.2f} m that two robots need, so only one of "
            f"them is used at a time.{others}",
        )
