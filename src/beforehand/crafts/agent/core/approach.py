"""Where the body has to go for an action, and the way there with its times.

Sides are those of the map as it is drawn: right is along x, left against it, behind along y, in front against it. A
thing that lies on another is reached from that one's sides.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from beforehand.crafts.agent.core.action_text import Action, Side
from beforehand.crafts.agent.core.geometry import Solid, area, bearing, between, still_around
from beforehand.crafts.agent.core.motion import Motion
from beforehand.crafts.agent.core.paths import Floor
from beforehand.crafts.agent.core.words import Box, Point
from beforehand.crafts.agent.core.world import World, floor_among, floor_of

NEAR_M = 0.05
"""How far from a thing's side a body may stand and still reach it."""
SPREAD = (0.0, 0.5, -0.5, 0.9, -0.9)
SIDES: tuple[Side, ...] = ("right", "left", "front", "behind")


@dataclass(frozen=True, slots=True)
class NoWay:
    """Why the body cannot get there, in a few words without parentheses."""

    says: str


@dataclass(frozen=True, slots=True)
class Spots:
    """Free spots where an action may happen, better ones in an earlier group."""

    name: str
    """What is there, for messages."""
    nowhere: str
    """What to say where there is none."""
    groups: Iterable[list[Point]]
    towards: Point | None = None
    """What the body faces there."""


def motion_for(action: Action, world: World, floor: Floor, tick: int) -> Motion | NoWay | None:
    """The way to where an action happens; None where it happens on the spot."""
    if action.verb.aim in ("maybe", "none") or (action.thing is None and action.point is None and action.room is None):
        return None
    if action.verb.name == "look":
        return Motion(tick, (world.at,), world.scene.agent.speed_mps, world.gaze, looks_at(action, world))
    spots = _spots(action, world, floor)
    if isinstance(spots, NoWay):
        return spots
    way = _way_to(spots, world, floor)
    if isinstance(way, NoWay):
        return way
    end = way[-1]
    faces = world.facing if spots.towards is None else bearing(end, spots.towards)
    if spots.towards is None and len(way) > 1:
        faces = bearing(way[-2], end)
    motion = Motion(tick, way, world.scene.agent.speed_mps, world.facing, faces)
    return halted(motion, world)


def _way_to(spots: Spots, world: World, floor: Floor) -> tuple[Point, ...] | NoWay:
    """The way to the best spot that can be got to, or why there is none."""
    free: list[Point] = []
    for goals in spots.groups:
        way = floor.way(world.at, goals)
        if way is not None:
            return way
        free += goals
    if not free:
        return NoWay(spots.nowhere)
    closed = _closed_on_the_way(world, free)
    return NoWay(f"no way to {spots.name}{f' because {closed} is closed' if closed else ''}")


def _closed_on_the_way(world: World, goals: list[Point]) -> str | None:
    """The first closed door that keeps the body from getting there."""
    doors = [solid for solid in world.solids() if solid.name in world.open and world.thing(solid.name).door]
    others = [solid for solid in world.solids() if solid not in doors]
    way = floor_among(tuple(others), world.scene).way(world.at, goals)
    for start, end in pairwise(way or ()):
        for door in doors:
            if door.crosses(start, end):
                return door.name
    return None


def looks_at(action: Action, world: World) -> float:
    """The direction in which what an action looks at lies."""
    target = action.point
    if action.thing is not None:
        target = world.position(action.thing)
    if action.room is not None:
        left, low, right, high = _bounds_of(action.room, world)
        target = ((left + right) / 2, (low + high) / 2)
    return world.gaze if target is None or target == world.at else bearing(world.at, target)


def _bounds_of(room: str, world: World) -> Box:
    return next(known.bounds for known in world.scene.rooms if known.name == room)


def halted(motion: Motion, world: World) -> Motion:
    """The same motion, stopped in front of the first door on its way that is blocked, or was closed meanwhile."""
    closed = {name for name, is_open in world.open.items() if not is_open and world.thing(name).door}
    met = [_met_at(world.solid(name), world.scene.agent.radius_m, motion) for name in sorted(world.blocked | closed)]
    halts_m = min((at for at in met if at is not None), default=None)
    return motion if halts_m == motion.halts_m else replace(motion, halts_m=halts_m)


def _met_at(door: Solid, radius_m: float, motion: Motion) -> float | None:
    """How far along a walk the body meets a door; a body in the doorway may leave it."""
    hull, gone = still_around(door, radius_m, motion.points[0]), 0.0
    for start, end in pairwise(motion.points):
        met = None if hull is None else hull.entered_at(start, end)
        if met is not None:
            return gone + met
        gone += math.dist(start, end)
        hull = door.grown(radius_m)
    return None


def _target_name(action: Action) -> str:
    if action.thing is not None:
        return action.other or action.thing
    if action.point is not None:
        return f"x {action.point[0]:g} y {action.point[1]:g}"
    return action.room or "there"


def _spots(action: Action, world: World, floor: Floor) -> Spots | NoWay:
    name = _target_name(action)
    if action.point is not None:
        free = floor.is_free(action.point) or math.dist(action.point, world.at) < 1e-9
        return Spots(name, f"no room to stand at {name}", [[action.point]] if free else [])
    if action.room is not None:
        return Spots(name, f"no room to stand in {name}", _in_room(_bounds_of(action.room, world), world, floor))
    base = world.on_floor(str(action.where))
    if world.places[base].hands:
        return NoWay(f"{base} is in the hand")
    solid = world.solid(base)
    centre = (solid.x, solid.y)
    if action.verb.aim == "spot" and (action.side is not None or action.distance_m is not None):
        return Spots(name, f"no room to stand there at {base}", _beside(action, world, floor, solid), centre)
    return Spots(name, f"no room to stand at {base}", _around(world, floor, solid, action.side), centre)


def _around(world: World, floor: Floor, solid: Solid, side: Side | None) -> Iterable[list[Point]]:
    """Spots from which a thing can be reached: some on each side, then wherever there is room on a side at all."""
    yield list(_at_sides(world, floor, solid, side))
    yield _along_sides(floor, solid.grown(world.scene.agent.radius_m), solid, side)


def _along_sides(floor: Floor, hull: Solid, solid: Solid, side: Side | None) -> list[Point]:
    """Where free ground begins and ends along the sides of a hull; its corners are nobody's side."""
    sides = SIDES if side is None else (side,)
    ends = [[hull.world(_on_side(hull, solid, name, 0.0, 0.0, part)) for part in (-1.0, 1.0)] for name in sides]
    return [point for start, end in ends for point in floor.ends_of_free(start, end)]


def _at_sides(world: World, floor: Floor, solid: Solid, side: Side | None) -> Iterable[Point]:
    """Free spots from which the thing can be reached, the body's own place first."""
    radius = world.scene.agent.radius_m
    here = world.at
    hull = solid.grown(radius)
    if (
        _is_beside(solid, here, radius, side)
        and not _in_doorway(world, hull)
        and floor.is_in_reach(here, solid.nearest(here), solid.name)
    ):
        yield here
    x, y = hull.local(here)
    for name in SIDES if side is None else (side,):
        for part in (None, *SPREAD):
            point = hull.world(_on_side(hull, solid, name, x, y, part))
            if floor.is_free(point) and floor.is_in_reach(point, solid.nearest(point), solid.name):
                yield point


def can_reach(thing: str, world: World) -> bool:
    """Whether the body can get to a thing that stands on the floor."""
    floor = floor_of(world)
    groups = _around(world, floor, world.solid(thing), None)
    return any(floor.way(world.at, goals) is not None for goals in groups)


def _is_beside(solid: Solid, point: Point, radius_m: float, side: Side | None) -> bool:
    if solid.distance(point) > radius_m + NEAR_M:
        return False
    return side is None or _side_of(solid, point) == side


def _in_doorway(world: World, hull: Solid) -> bool:
    """Whether the body stands where a door would close on it."""
    return world.thing(hull.name).door and hull.contains(world.at)


def _side_of(solid: Solid, point: Point) -> Side:
    x, y = solid.local(point)
    if abs(x) - solid.along >= abs(y) - solid.across:
        return "right" if x > 0 else "left"
    return "behind" if y > 0 else "front"


def _on_side(hull: Solid, solid: Solid, side: Side, x: float, y: float, part: float | None) -> Point:
    """A spot on a side of the hull: opposite the body where `part` is None, else that part of the way to a corner."""
    if side in ("right", "left"):
        reach = solid.across
        other = max(-reach, min(reach, y)) if part is None else part * reach
        return (hull.along if side == "right" else -hull.along, other)
    reach = solid.along
    other = max(-reach, min(reach, x)) if part is None else part * reach
    return (other, hull.across if side == "behind" else -hull.across)


def _beside(action: Action, world: World, floor: Floor, solid: Solid) -> Iterable[list[Point]]:
    """At a distance from a side of the thing, measured from that side; any side where none is given."""
    away = max(action.distance_m if action.distance_m is not None else 0.0, world.scene.agent.radius_m)
    hull = solid.grown(away)
    sides = SIDES if action.side is None else (action.side,)
    for part in SPREAD:
        points = [hull.world(_on_side(hull, solid, side, 0.0, 0.0, part)) for side in sides]
        yield [point for point in points if floor.is_free(point) or math.dist(point, world.at) < 1e-9]
    yield _along_sides(floor, hull, solid, action.side)


def _in_room(bounds: Box, world: World, floor: Floor) -> Iterable[list[Point]]:
    """In a room: where the body is, its middle, some spots in it, then wherever free ground begins and ends there."""
    left, low, right, high = bounds
    if left <= world.at[0] <= right and low <= world.at[1] <= high:
        yield [world.at]
    parts = (0.5, 0.35, 0.65, 0.2, 0.8)
    spots = [(left + (right - left) * a, low + (high - low) * b) for a in parts for b in parts]
    free = [spot for spot in spots if floor.is_free(spot)]
    yield free if spots[0] not in free else spots[:1]
    yield free
    yield list(_within_room(area(bounds), floor))


def _within_room(room: Solid, floor: Floor) -> Iterator[Point]:
    """The ends of free ground along the room's sides, and along the sides of what stands in it."""
    for solid in (room, *floor.grown):
        corners = solid.corners
        for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
            inside = room.span(start, end) if solid is not room else (0.0, 1.0)
            if inside is not None:
                yield from floor.ends_of_free(*(between(start, end, part) for part in inside))
