"""What a body shows of itself: where it is, and the report a robot makes of it."""

from typing import Any, NamedTuple

from beforehand.adapters.sim.body import Body
from beforehand.adapters.sim.forklift import Yard
from beforehand.model.robot import LoadReading, Telemetry


class Position(NamedTuple):
    x: float
    y: float
    heading: float


def telemetry(yard: Yard, body: Body, at_ms: int) -> Telemetry:
    """What the robot reports now. Driving robots do so twice a second, so this is `position` written out."""
    order, leg = body.order, body.leg
    x, y = yard.roads.at[body.node]
    share, heading = 0.0, body.heading
    if leg is not None:
        driven_ms = body.elapsed(at_ms) - leg.turn_ms
        if driven_ms > 0:
            share, heading = driven_ms / leg.drive_ms, leg.heading_to
            to_x, to_y = yard.roads.at[leg.to]
            x, y = round(x + (to_x - x) * share, 3), round(y + (to_y - y) * share, 3)
        else:
            heading = body.heading_at(at_ms)
    return Telemetry(
        body.robot_id,
        at_ms,
        body.seq,
        body.boot,
        None if body.conditions and body.has("lost_position") else body.node,
        leg.to if leg is not None and share else None,
        x,
        y,
        round(heading, 3),
        body.status if body.halts else (0 if order is None else order.status),
        order.key if order and yard.settings.task_ids and not order.by_hand else None,
        round(body.battery_at(at_ms, yard.costs, share), 4),
        body.plugged,
        "blocked" in body.halts,
        _load(yard, body) if yard.settings.load_sensor or body.conditions else None,
        body.error,
        target=None if order is None else order.target,
        names_newest=True,
    )


def position(yard: Yard, body: Body, at_ms: int, share: float) -> Position:
    """The place on the map, this share of the edge driven."""
    x, y = yard.roads.at[body.node]
    if body.leg is None or not share:
        return Position(x, y, round(body.heading_at(at_ms), 3))
    to_x, to_y = yard.roads.at[body.leg.to]
    heading = round(body.leg.heading_to, 3)
    return Position(round(x + (to_x - x) * share, 3), round(y + (to_y - y) * share, 3), heading)


def face(yard: Yard, body: Body) -> tuple[Any, ...]:
    """What a report would say apart from place, time and battery: when this changes, the robot reports at once."""
    return (
        body.status,
        body.order.key if body.order else None,
        body.node,
        body.plugged,
        "blocked" in body.halts,
        _load(yard, body),
        body.error,
        body.has("offline"),
        body.has("lost_position"),
    )


def _load(yard: Yard, body: Body) -> LoadReading | None:
    wrong = bool(body.conditions) and body.has("sensor_wrong")
    if not (yard.settings.load_sensor or wrong):
        return None
    return "loaded" if yard.pallets.on(body.robot_id) != wrong else "empty"
