"""What a simulated forklift does with its orders, as the protocol has it.

An order is taken (status 1), begun (2) and ends completed (4), failed (5) or cancelled (6). A robot on an edge always
goes on to its end first: a new target or a cancel takes effect at the next node. One that is told which nodes it may
drive over stops at the last of them, its order still running, until it is told of more. The fork changes what lies
where only at the end of its movement, so an order cancelled before that has changed nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import degrees
from typing import Any, Literal

from beforehand.adapters.sim.body import CANCELLED, FAILED, Body, Leg, Order, SimSettings, wrapped
from beforehand.adapters.sim.pallets import Pallets
from beforehand.adapters.sim.roads import Road, Roads
from beforehand.model.fleet import Settings
from beforehand.model.robot import CancelTarget, DriveOn, GoTarget, PauseRobot, ResumeRobot, RobotCommand

Later = Callable[[int, Body, str, Any], None]
"""Put something for a body on the queue: when, who, what, with what."""

_OPERATIONS = ("ForkLoad", "ForkUnload")
_STRUCK_MS = 1000
_ANSWERS_KEPT = 32


@dataclass(frozen=True, slots=True)
class Answer:
    ok: bool = True
    code: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Yard:
    """What all robots of a scene share."""

    roads: Roads
    pallets: Pallets
    settings: SimSettings
    costs: Settings | None
    """What driving and standing cost; None where batteries do not run down."""
    chargers: frozenset[str]
    later: Later


def take(yard: Yard, body: Body, command: RobotCommand, now_ms: int) -> Answer:
    """Take a command, or refuse it and change nothing. A command known by its key is only answered again."""
    known = body.answers.get(command.key)
    if known is not None:
        return Answer(*known)
    answer = _taken(yard, body, command, now_ms)
    body.answers[command.key] = [answer.ok, answer.code, answer.says]
    if len(body.answers) > _ANSWERS_KEPT:
        del body.answers[next(iter(body.answers))]
    return answer


def _taken(yard: Yard, body: Body, command: RobotCommand, now_ms: int) -> Answer:
    match command:
        case GoTarget():
            return _take_target(yard, body, command, now_ms)
        case DriveOn():
            return _drive_on(yard, body, command, now_ms)
        case PauseRobot():
            return _pause(yard, body, now_ms)
        case ResumeRobot():
            return resume(yard, body, "paused", now_ms)
        case CancelTarget():
            return cancel(yard, body, now_ms)


def _take_target(yard: Yard, body: Body, command: GoTarget, now_ms: int) -> Answer:
    start = body.leg.to if body.leg is not None and body.on_edge(now_ms) else body.node
    target = command.payload.get("id", start)
    refused = _refusal(yard, body, command.payload, target)
    if refused is not None:
        return refused
    route = yard.roads.route(start, target) if command.way is None else _told_way(body, command.way, now_ms)
    if route is None and command.way is not None:
        return Answer(False, "robot.busy", f"{body.robot_id} is not where its way begins, at {command.way[0]}.")
    if route is None:
        return Answer(False, "route.none", f"{body.robot_id} finds no way from {start} to {target}.")
    if not body.on_edge(now_ms):
        _stand(yard, body, now_ms)
    operation = command.payload.get("operation")
    fork_ms, recognises = _fork_ms(yard.settings, command.payload), bool(command.payload.get("recognize"))
    known = None if command.way is None else len(command.way)
    body.order = Order(command.key, target, operation, fork_ms, route, known, recognises=recognises)
    yard.later(now_ms + yard.settings.ack_ms + yard.settings.start_ms, body, "begin", command.key)
    return Answer()


def _told_way(body: Body, way: tuple[str, ...], now_ms: int) -> list[str] | None:
    """What is left of a way it is told; None where it does not lead on from where the robot is."""
    if not body.on_edge(now_ms):
        return list(way[1:]) if way[0] == body.node else None
    on_it = body.leg is not None and way[:2] == (body.node, body.leg.to)
    return list(way[2:]) if on_it else None


def _drive_on(yard: Yard, body: Body, command: DriveOn, now_ms: int) -> Answer:
    order = body.order
    if order is None or order.key != command.order_key or order.known is None or not order.active:
        return Answer(False, "order.unknown", f"{body.robot_id} does not have the order {command.order_key}.")
    more = command.unknown_to(order.known)
    order.route += more
    order.known += len(more)
    if order.status == 2 and not body.busy:
        _go_on(yard, body, now_ms)
    return Answer()


def _refusal(yard: Yard, body: Body, payload: Mapping[str, Any], target: Any) -> Answer | None:
    operation = payload.get("operation")
    if not isinstance(target, str) or target not in yard.roads:
        return Answer(False, "target.unknown", f"{body.robot_id} does not know the node {target!r}.")
    if operation is not None and operation not in _OPERATIONS:
        return Answer(False, "operation.unknown", f"{body.robot_id} does not know the operation {operation!r}.")
    if payload.get("recognize") and not payload.get("recfile"):
        return Answer(False, "recfile.missing", f"{body.robot_id} cannot recognize a pallet without a recfile.")
    if "flat" in body.halts:
        return Answer(False, "robot.battery_empty", f"The battery of {body.robot_id} is empty.")
    if body.doing == "fork":
        return Answer(False, "robot.busy", f"The fork of {body.robot_id} is moving; cancel first or wait for its end.")
    return None


def _fork_ms(settings: SimSettings, payload: Mapping[str, Any]) -> int:
    heights = [payload.get("start_height", 0.0), payload.get("end_height", 0.0)]
    low, high = sorted(float(h) if isinstance(h, int | float) else 0.0 for h in heights)
    seen_ms = settings.recognize_ms if payload.get("recognize") else 0
    return settings.fork_ms + seen_ms + round(1000 * min(high - low, 20.0) / settings.fork_mps)


def begin(yard: Yard, body: Body, key: str, now_ms: int) -> None:
    """The order leaves status 1."""
    order = body.order
    if order is None or order.key != key or order.status != 1:
        return
    order.status, body.error = 2, None
    for fault, what in (("status5", "fail"), ("cancelled_by_hand", "cancel")):
        if body.hit(fault):
            yard.later(now_ms + _STRUCK_MS, body, what, key)
    if "stopped" in body.halts:
        resume(yard, body, "stopped", now_ms)
    if body.busy:
        return
    if body.node == order.target and order.operation is None and not order.route:
        _start(yard, body, yard.settings.dwell_ms, now_ms, "dwell")
    else:
        _go_on(yard, body, now_ms)


def end(yard: Yard, body: Body, token: int, now_ms: int) -> None:
    """The edge or the fork movement is done, unless it was halted or dropped since."""
    if token != body.token:
        return
    body.reckon(now_ms, yard.costs)
    if body.leg is not None:
        body.node, body.heading = body.leg.to, body.leg.heading_to
        body.drop()
        _go_on(yard, body, now_ms)
        return
    worked = body.doing == "fork"
    body.drop()
    if worked:
        _transfer(yard, body, now_ms)
    else:
        _complete(yard, body, now_ms)


def _go_on(yard: Yard, body: Body, now_ms: int) -> None:
    """On a node with nothing to do: the next edge, the fork, or the order's end."""
    order = body.order
    if order is None or order.status != 2:
        _stand(yard, body, now_ms)
    elif order.cancelling:
        _close(yard, body, CANCELLED, now_ms)
    elif order.known is not None and not order.route and body.node != order.target:
        _stand(yard, body, now_ms)
    elif body.node == order.target and (order.known is None or not order.route):
        if order.operation is None:
            _complete(yard, body, now_ms)
        else:
            _start(yard, body, order.fork_ms, now_ms, "fork")
    else:
        road = yard.roads.road(body.node, order.route.pop(0)) if order.route else None
        if road is None:
            fail(yard, body, f"{body.robot_id} finds no way from {body.node} to {order.target}.", now_ms)
        else:
            leg = _leg(yard.settings, body, road)
            _start(yard, body, leg.turn_ms + leg.drive_ms, now_ms, leg)


def _leg(settings: SimSettings, body: Body, road: Road) -> Leg:
    turn = abs(degrees(wrapped(road.heading - body.heading)))
    turn_ms = round(1000 * turn / settings.turn_dps) if turn > 1 else 0
    drive_ms = max(1, round(1000 * road.length_m / body.speed_mps))
    return Leg(road.to, road.length_m, turn_ms, drive_ms, body.heading, road.heading)


def _start(yard: Yard, body: Body, duration_ms: int, now_ms: int, what: Leg | Literal["fork", "dwell"]) -> None:
    body.reckon(now_ms, yard.costs)
    body.plugged = False
    body.battery_m = 0.0
    if isinstance(what, Leg):
        body.leg = what
        body.heading = body.heading if what.turn_ms else what.heading_to
    else:
        body.doing = what
    body.begin(duration_ms, now_ms)
    _foresee(yard, body)


def _stand(yard: Yard, body: Body, now_ms: int) -> None:
    """Stand on the node; a robot that stands on a charger without an order charges."""
    body.reckon(now_ms, yard.costs)
    body.heading = body.heading_at(now_ms)
    body.drop()
    idle = body.order is None or not body.order.active
    body.plugged = yard.costs is not None and idle and body.node in yard.chargers


def _foresee(yard: Yard, body: Body) -> None:
    ends_ms = body.ends_ms()
    if ends_ms is not None:
        yard.later(ends_ms, body, "end", body.token)


def _transfer(yard: Yard, body: Body, now_ms: int) -> None:
    """The fork has moved: the pallet changes hands at this instant, or the order fails."""
    loading = body.order is not None and body.order.operation == "ForkLoad"
    if body.order is not None and body.order.recognises and body.hit("not_recognised"):
        fail(yard, body, f"{body.robot_id} did not recognise the pallet at {body.node}.", now_ms)
        return
    if body.hit("mispick" if loading else "misdrop"):
        refused = None
    elif loading:
        refused = yard.pallets.lift(body.robot_id, body.node)
    else:
        refused = yard.pallets.lower(body.robot_id, body.node)
    if refused is None:
        _complete(yard, body, now_ms)
    else:
        fail(yard, body, refused, now_ms)


def _complete(yard: Yard, body: Body, now_ms: int) -> None:
    status = CANCELLED if body.hit("status6") else body.completes_with
    _close(yard, body, status, now_ms)


def _close(yard: Yard, body: Body, status: int, now_ms: int) -> None:
    """The order is over. A robot that is between two nodes stops there until its next order."""
    if body.order is not None:
        body.order.status = status
        body.order.cancelling = False
    if body.on_edge(now_ms):
        halt(yard, body, "stopped", now_ms)
    else:
        _stand(yard, body, now_ms)
    body.unhalt("paused", now_ms)


def fail(yard: Yard, body: Body, why: str, now_ms: int) -> None:
    if body.order is not None and body.order.active:
        body.error = why
        _close(yard, body, FAILED, now_ms)


def cancel(yard: Yard, body: Body, now_ms: int, *, by_hand: bool = False) -> Answer:
    """Stop at the next node; a robot that stands, or is halted on an edge, stops where it is."""
    order = body.order
    if order is None or not order.active:
        return Answer(says="Nothing was running.")
    order.by_hand = by_hand
    if body.on_edge(now_ms) and not body.halts:
        order.status, order.cancelling = 2, True
    else:
        _close(yard, body, CANCELLED, now_ms)
    return Answer()


def _pause(yard: Yard, body: Body, now_ms: int) -> Answer:
    if body.order is None or not body.order.active:
        return Answer(says="Nothing was running.")
    halt(yard, body, "paused", now_ms)
    return Answer()


def halt(yard: Yard, body: Body, why: str, now_ms: int) -> None:
    body.reckon(now_ms, yard.costs)
    body.halt(why, now_ms)


def resume(yard: Yard, body: Body, why: str, now_ms: int) -> Answer:
    if why not in body.halts:
        return Answer(says="Nothing was paused.")
    body.reckon(now_ms, yard.costs)
    body.unhalt(why, now_ms)
    _foresee(yard, body)
    return Answer()


def forget(yard: Yard, body: Body, now_ms: int) -> None:
    """A restart: the order and all that was answered is gone; the body and what it carries stay where they are."""
    if body.on_edge(now_ms):
        halt(yard, body, "stopped", now_ms)
    body.order, body.error = None, None
    body.answers = {}
    body.unhalt("paused", now_ms)
    if not body.on_edge(now_ms):
        _stand(yard, body, now_ms)
