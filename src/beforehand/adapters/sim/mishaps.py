"""How each fault of a script comes over a robot, and how it goes again."""

from beforehand.adapters.sim.body import Body
from beforehand.adapters.sim.faults import CONDITIONS, LOW_LEVEL, RESTART_S, FaultSpec
from beforehand.adapters.sim.forklift import Yard, cancel, fail, forget, halt, resume

_HALTS = {"blocked": "blocked", "paused_by_hand": "hand", "dead_battery": "flat"}


def strike(yard: Yard, body: Body, fault: FaultSpec, now_ms: int) -> None:
    lasts_s = RESTART_S if fault.fault == "restart" and fault.for_s is None else fault.for_s
    if lasts_s is not None:
        yard.later(now_ms + round(1000 * lasts_s), body, "heal", fault.wire())
    if fault.fault == "late_ack":
        body.ack_delay_ms = round(1000 * fault.delay_s)
    match fault.fault:
        case "restart":
            _switch(body, "offline", on=True)
            forget(yard, body, now_ms)
        case "low_battery":
            _set_battery(yard, body, LOW_LEVEL if fault.level is None else fault.level, now_ms)
        case _ if fault.fault in CONDITIONS or lasts_s is not None:
            _switch(body, fault.fault, on=True)
        case "status5" | "cancelled_by_hand" if _has_order(body):
            pass
        case _:
            body.strikes[fault.fault] = body.strikes.get(fault.fault, 0) + 1
    _stop(yard, body, fault, now_ms)


def heal(yard: Yard, body: Body, fault: FaultSpec, now_ms: int) -> None:
    if fault.fault == "restart":
        _switch(body, "offline", on=False)
        body.boot, body.seq, body.face = body.boot + 1, 0, None
        return
    if fault.fault == "low_battery":
        return
    _switch(body, fault.fault, on=False)
    why = _HALTS.get(fault.fault)
    if why is None or body.has(fault.fault):
        return
    if why == "flat":
        _set_battery(yard, body, 1.0 if fault.level is None else fault.level, now_ms)
        body.error = None
    resume(yard, body, why, now_ms)


def run_flat(yard: Yard, body: Body, now_ms: int) -> None:
    """The battery is empty: the robot stops where it is and its order fails."""
    _set_battery(yard, body, 0.0, now_ms)
    fail(yard, body, f"The battery of {body.robot_id} is empty.", now_ms)
    body.error = f"The battery of {body.robot_id} is empty."
    halt(yard, body, "flat", now_ms)


def _stop(yard: Yard, body: Body, fault: FaultSpec, now_ms: int) -> None:
    if fault.fault == "dead_battery":
        run_flat(yard, body, now_ms)
    elif fault.fault in _HALTS:
        halt(yard, body, _HALTS[fault.fault], now_ms)
    elif fault.fault == "status5":
        fail(yard, body, f"{body.robot_id} reports an internal fault.", now_ms)
    elif fault.fault == "cancelled_by_hand":
        cancel(yard, body, now_ms, by_hand=True)


def _has_order(body: Body) -> bool:
    return body.order is not None and body.order.active


def _switch(body: Body, condition: str, *, on: bool) -> None:
    body.conditions[condition] = max(0, body.conditions.get(condition, 0) + (1 if on else -1))


def _set_battery(yard: Yard, body: Body, level: float, now_ms: int) -> None:
    body.reckon(now_ms, yard.costs)
    body.battery = level
