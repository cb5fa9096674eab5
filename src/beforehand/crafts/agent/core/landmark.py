"""What a place is called: by what stands nearest to it."""

import math

from beforehand.crafts.agent.core.words import ORIGIN
from beforehand.crafts.agent.core.world import World

ORIGIN_M = 0.5


def landmark(world: World) -> str:
    """The name of the place: the origin when close to it, else what stands nearest on the floor."""
    if math.dist(world.at, ORIGIN) <= ORIGIN_M:
        return "origin"
    near: tuple[float, str] | None = None
    for name, place in world.places.items():
        if place.at is not None and not world.thing(name).carried:
            distance = world.solid(name).distance(world.at)
            if near is None or distance < near[0] - 1e-9:
                near = (distance, name)
    return near[1] if near else "origin"
