"""What gives way and what does not: a thing that is pushed with the body behind it, and a door that is to close."""

import math
from dataclasses import replace

from beforehand.crafts.agent.core.geometry import overlaps, still_around, within
from beforehand.crafts.agent.core.words import Point
from beforehand.crafts.agent.core.world import World

PUSHES_M = tuple(step / 20 for step in range(1, 11))
"""How far a thing may be pushed, tried one after the other."""


def room_to_push(world: World, thing: str) -> Point | None:
    """How far a thing moves away from the body that pushes it; None where it does not move at all."""
    reach = world.solid(thing).nearest(world.at)
    away = (reach[0] - world.at[0], reach[1] - world.at[1])
    length = math.hypot(*away)
    room: Point | None = None
    for gone in PUSHES_M if length else ():
        by = (away[0] / length * gone, away[1] / length * gone)
        if not gives_way(world, thing, by):
            break
        room = by
    return room


def gives_way(world: World, thing: str, by: Point) -> bool:
    """Whether a thing and the body behind it can both move that far."""
    solid, bounds = world.solid(thing), world.scene.bounds
    moved = replace(solid, x=solid.x + by[0], y=solid.y + by[1])
    end = (world.at[0] + by[0], world.at[1] + by[1])
    if not all(within(corner, bounds) for corner in (*moved.corners, end)):
        return False
    others = [other for other in (*world.solids(), *map(world.solid, sorted(world.blocked))) if other.name != thing]
    hulls = [still_around(other, world.scene.agent.radius_m, world.at) for other in others]
    if any(hull is not None and hull.crosses(world.at, end) for hull in hulls):
        return False
    swept = list(zip(solid.corners, moved.corners, strict=True))
    return not any(overlaps(moved, other) or any(other.crosses(*way) for way in swept) for other in others)


def in_doorway(world: World, door: str) -> str | None:
    """What keeps a door from closing, if it is one: something solid, or the body."""
    if not world.thing(door).door:
        return None
    leaf = world.solid(door)
    if leaf.grown(world.scene.agent.radius_m).contains(world.at):
        return "the body"
    things = [other for other in world.solids() if other.name in world.places and not world.thing(other.name).door]
    return next((other.name for other in things if overlaps(leaf, other)), None)
