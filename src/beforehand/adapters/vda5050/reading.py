"""What a vehicle's state means: where it is, how far its order is, what it carries and what troubles it.

An order is done when its action is FINISHED and its last node is reached, and in no other way. Some vehicles leave the
last node in `nodeStates`; it counts as reached once it is the last node they name. An order that is over and neither
done nor failed was cancelled: by us, by another master control, or by hand at the vehicle. Of a vehicle that has come
to the end of its order and says nothing of the action there, nobody knows what it did: it claims nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot

from beforehand.adapters.vda5050.messages import ActionState, AgvPosition, NodeState, State, VehicleError
from beforehand.adapters.vda5050.orders import PlannedOrder
from beforehand.model.robot import LoadReading, Telemetry

NONE, WAITING, RUNNING, PAUSED, DONE, FAILED, CANCELLED = range(7)
"""The statuses of `model.robot.Telemetry`."""
ON_NODE_M = 0.3
NEAR_NODE_M = 1.0
_ENDED = ("FINISHED", "FAILED")
_DRIVES_ITSELF = ("", "AUTOMATIC", "SEMIAUTOMATIC")
_SHOWN = 3
ORDER_ERRORS = ("order", "noroute", "validation", "unsupportedparameter")
"""How the types of errors begin that refuse an order, in lower case."""

Places = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Reading:
    node_id: str | None
    next_node_id: str | None = None
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    status: int = NONE
    task_id: str | None = None
    battery: float | None = None
    charging: bool = False
    blocked: bool = False
    load: LoadReading | None = None
    error: str | None = None


def read_state(
    state: State,
    order: PlannedOrder | None,
    places: Places,
    cancelling: bool = False,
    earlier: frozenset[str] = frozenset(),
) -> Reading:
    """The state as we speak of it. `order` is what we last gave it; `cancelling` if we have called that off.

    `earlier` are the ids of actions it had shown before it got the order.
    """
    position = state.agv_position
    node, following = _place(state, position, places)
    status, task_id = order_status(state, order, cancelling, earlier)
    battery = state.battery_state
    return Reading(
        node,
        following,
        *_point(position, node, places),
        status,
        task_id,
        None if battery is None or battery.battery_charge is None else min(1.0, max(0.0, battery.battery_charge / 100)),
        battery is not None and battery.charging,
        _is_blocked(state),
        None if state.loads is None else ("loaded" if state.loads else "empty"),
        trouble(state, order),
    )


# Where it is


def _place(state: State, position: AgvPosition | None, places: Places) -> tuple[str | None, str | None]:
    if position is not None and not position.position_initialized:
        return None, None
    ahead = nodes_ahead(state)
    last = state.last_node_id
    if last not in places or (position is not None and not ahead and _off(position, places[last]) > NEAR_NODE_M):
        near = None if position is None else _nearest(position, places)
        if near is not None or last not in places:
            return near, None
    between = state.driving if position is None else _off(position, places[last]) > ON_NODE_M
    following = next((one.node_id for one in ahead if one.node_id in places), None)
    return last, following if between else None


def nodes_ahead(state: State) -> list[NodeState]:
    """The nodes it has still to reach; the last one it names as reached is not among them, whatever it says."""
    return [one for one in state.node_states if one.node_id != state.last_node_id]


def _off(position: AgvPosition, place: tuple[float, float]) -> float:
    return hypot(position.x - place[0], position.y - place[1])


def _nearest(position: AgvPosition, places: Places) -> str | None:
    name = min(places, key=lambda one: _off(position, places[one]), default=None)
    return name if name is not None and _off(position, places[name]) <= NEAR_NODE_M else None


def _point(position: AgvPosition | None, node: str | None, places: Places) -> tuple[float, float, float]:
    if position is not None:
        return position.x, position.y, position.theta
    return (*places.get(node or "", (0.0, 0.0)), 0.0)


# How far its order is


def order_status(
    state: State, order: PlannedOrder | None, cancelling: bool = False, earlier: frozenset[str] = frozenset()
) -> tuple[int, str | None]:
    """The status of the order it names, and the key of that order."""
    if not state.order_id:
        return NONE, None
    known = order is not None and order.key == state.order_id
    work = _work(state, state.order_id)
    calls = (one for one in state.action_states if one.action_type == "cancelOrder" and one.action_id not in earlier)
    cancelled = cancelling or any(calls)
    failed = has_failed(state, state.order_id)
    if known and order is not None and _is_done(state, order, work):
        return DONE, order.key
    if failed and not cancelled and not (known and order is not None and _ended_by_hand(state, order)):
        return FAILED, state.order_id
    if is_active(state) or (known and order is not None and _awaits_update(state, order) and not (cancelled or failed)):
        return PAUSED if state.paused else RUNNING, state.order_id
    if not known and work and all(one.action_status == "FINISHED" for one in work):
        return DONE, state.order_id
    if not (work or cancelled) and (not known or (order is not None and _ends_silently(state, order))):
        return NONE, state.order_id
    return CANCELLED, state.order_id


def _ended_by_hand(state: State, order: PlannedOrder) -> bool:
    """Whether work that shows as FAILED was never tried: a person ended the order at the vehicle, which let go of it
    short of the place of its work without a word of what went wrong, or is in another mode now."""
    if is_active(state):
        return False
    if state.operating_mode not in _DRIVES_ITSELF:
        return True
    wrong = any(one.error_level == "FATAL" or _concerns(one, order.key) for one in state.errors)
    return state.last_node_id != order.target and not wrong


def is_active(state: State) -> bool:
    """Whether it still has an order to carry out, by everything that it says of it."""
    if not state.order_id:
        return False
    unended = any(one.action_status not in _ENDED for one in _work(state, state.order_id))
    return unended or bool(nodes_ahead(state)) or state.driving


def has_failed(state: State, order_id: str) -> bool:
    """Whether something of the order shows as FAILED: it was tried in vain, or is not to be done any more."""
    return any(one.action_status == "FAILED" for one in _work(state, order_id))


def _work(state: State, order_id: str) -> list[ActionState]:
    """What it says of the actions of an order of ours; their ids begin with the order's."""
    return [one for one in state.action_states if one.action_id.startswith(f"{order_id}:")]


def _is_done(state: State, order: PlannedOrder, work: list[ActionState]) -> bool:
    if not order.all_released or state.driving or state.last_node_id != order.target or nodes_ahead(state):
        return False
    if order.action is None:
        return True
    return any(one.action_id == order.action.action_id and one.action_status == "FINISHED" for one in work)


def _ends_silently(state: State, order: PlannedOrder) -> bool:
    """Whether it stands at the end of an order that it says no more of, and has an action to do there."""
    return order.action is not None and order.all_released and state.last_node_id == order.target


def _awaits_update(state: State, order: PlannedOrder) -> bool:
    """Whether it has done what it knows of and there is more for it to come."""
    return not order.all_released or (state.order_update_id or 0) < order.update_id


# What troubles it


def _is_blocked(state: State) -> bool:
    safety = state.safety_state
    stopped = safety is not None and (safety.e_stop not in ("", "NONE") or safety.field_violation)
    fatal = any(one.error_level == "FATAL" for one in state.errors)
    return stopped or fatal or state.operating_mode not in _DRIVES_ITSELF


def trouble(state: State, order: PlannedOrder | None) -> str | None:
    """What a person should know, in sentences; warnings only where they speak of the present order."""
    told = []
    safety = state.safety_state
    if safety is not None and safety.e_stop not in ("", "NONE"):
        told.append(f"Its emergency stop is active ({safety.e_stop}).")
    if safety is not None and safety.field_violation:
        told.append("Something is in its protective field.")
    if state.operating_mode not in _DRIVES_ITSELF:
        told.append(f"Its operating mode is {state.operating_mode[:40]}.")
    key = order.key if order is not None else None
    errors = [one for one in state.errors if one.error_level == "FATAL" or (key and _concerns(one, key))]
    if errors:
        more = f"; {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
        told.append(f"It reports {'; '.join(error_says(one) for one in errors[:_SHOWN])}{more}.")
    failed = [one for one in _work(state, key or "\0") if one.action_status == "FAILED"]
    told += [f"Its {one.action_type or 'action'} failed{_because(one.result_description)}." for one in failed[:1]]
    return " ".join(told) or None


def error_says(error: VehicleError) -> str:
    described = error.error_description.strip()[:200].rstrip(".")
    return ": ".join(part for part in (error.error_type[:80], described) if part) or "an error without a name"


def _because(said: str) -> str:
    return f": {said.strip()[:200].rstrip('.')}" if said.strip() else ""


def _concerns(error: VehicleError, key: str) -> bool:
    named = (one.reference_value for one in error.error_references)
    return any(isinstance(value, str) and value.startswith(key) for value in named)


def refusal(state: State, order: PlannedOrder, before: frozenset[str]) -> VehicleError | None:
    """The error with which it refused the order; `before` are those it had reported before it got the order."""
    for error in state.errors:
        if error.error_level == "FATAL":
            continue
        if error.refers_to("orderId", order.key) and not _of_update(error, order):
            return error
        kind = error.error_type.lower().startswith(ORDER_ERRORS)
        if kind and not error.names("orderId") and error_says(error) not in before:
            return error
    return None


def _of_update(error: VehicleError, order: PlannedOrder) -> bool:
    """Whether it speaks of a later part of an order whose first part was taken."""
    return order.update_id > 0 and error.refers_to("orderUpdateId", str(order.update_id))


def report_of(
    robot_id: str, reading: Reading, now: int, seq: int, boot: int, status: int, task_id: str | None
) -> Telemetry:
    """What is reported of a vehicle that reads so."""
    return Telemetry(
        robot_id,
        now,
        seq,
        boot,
        reading.node_id,
        reading.next_node_id,
        reading.x,
        reading.y,
        reading.heading,
        status,
        task_id,
        reading.battery,
        reading.charging,
        reading.blocked,
        reading.load,
        reading.error,
        called_off=status == CANCELLED,
    )
