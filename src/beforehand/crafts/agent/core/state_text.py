"""The state in the four lines that whoever steers reads: position, actions with stage and seconds, and both hands."""

import math
from collections.abc import Iterable

from beforehand.crafts.agent.core.words import ORIGIN, Point
from beforehand.crafts.agent.core.world import World
from beforehand.ports.body import ActionInfo

ORIGIN_M = 0.5


def state_text(
    place: str, at: Point, actions: Iterable[ActionInfo], left: str | None = None, right: str | None = None
) -> str:
    return "\n".join(
        (
            f"Position: {place} ({short(at[0])}, {short(at[1])})",
            f"Actions: [{', '.join(map(_shown, actions))}]",
            f"Left Hand Holding: {left or 'None'}",
            f"Right Hand Holding: {right or 'None'}",
        )
    )


def _shown(action: ActionInfo) -> str:
    parts = [action.stage, f"{action.duration_s:.1f}s"]
    if action.stuck_s:
        parts.append(f"stuck {action.stuck_s:.1f}s")
    if action.stage == "failed":
        parts.append(action.why)
    return f"{action.text} ({', '.join(parts)})"


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


def short(number: float) -> str:
    """A coordinate with one decimal at most: 0, 3.5, -1."""
    rounded = round(number, 1)
    return f"{rounded if rounded else 0.0:g}" if abs(rounded) < 1e6 else f"{rounded:.0f}"
