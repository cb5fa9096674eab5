"""Orders that are driven node by node: a robot is told of each edge as the ground for it is granted (3066).

Every edge is a leg with an id of its own, made of the order's and a number; the work is part of the last one. So the
robot never knows of more than it may drive, and the order goes on running while it stands and waits for more.
"""

from typing import Any

from beforehand.adapters.robokit.numbers import CANCELLED, COMPLETED, FAILED, NONE, RUNNING, SUSPENDED
from beforehand.adapters.robokit.orders import ENDED, SILENT_WORK_MS, UNDER_WAY, Order, of_named
from beforehand.adapters.robokit.readings import Reading
from beforehand.model.robot import is_order_key


def legs_untold(order: Order) -> list[dict[str, Any]]:
    """The legs that the robot has not been told of yet, as 3066 takes them."""
    way = order.way or ()
    if len(way) == 1 and order.told == 0:
        return [{"source_id": way[0], **_work(order, way[0]), "task_id": order.leg_id(1)}]
    return [
        {"source_id": way[number - 1], **_work(order, way[number]), "task_id": order.leg_id(number)}
        for number in range(max(1, order.told), len(way))
    ]


def _work(order: Order, node_id: str) -> dict[str, Any]:
    last = order.all_told_of and node_id == order.target
    return dict(order.payload) if last else {"id": node_id}


def shown_of_legs(
    order: Order, reading: Reading, by_id: int | None, before: int, now_ms: int
) -> tuple[int, str | None]:
    """The status of the whole and the key it speaks of; `by_id` is that of the last leg the robot was told of."""
    status = before if reading.status is None else reading.status
    ours = by_id is not None or (reading.task_id or "").startswith(f"{order.key}/")
    order.named = order.named or ours
    if not ours and reading.task_id is not None and (order.named or is_order_key(reading.task_id)):
        return status, reading.task_id  # It carries out something else.
    if order.over == NONE and (status in UNDER_WAY or by_id is not None):
        order.over = None  # It had not forgotten it after all.
    if order.over is None:
        order.over = _ended(order, reading, status, by_id)
    key = order.key if ours else None
    return (order.over, key) if order.over is not None else _open(order, reading, status, by_id, key, now_ms)


def _ended(order: Order, reading: Reading, status: int, by_id: int | None) -> int | None:
    """How it ended. An end that the robot does not name counts only where the present legs were seen to run; a failure
    or a cancel also where it was not there before."""
    began, at_end = order.part_began, _at_end(order, reading)
    if by_id in ENDED:
        waits = by_id == COMPLETED and not order.all_told_of
        return (CANCELLED if order.cancelled else None) if waits else by_id
    if status in (FAILED, CANCELLED) and by_id is None and (began or status != order.status_before):
        return status
    if status in UNDER_WAY or by_id is not None:
        return None
    if order.cancelled and not (order.all_told_of and at_end):
        return CANCELLED
    if began and status == NONE and not at_end:
        return NONE  # It has forgotten it.
    return COMPLETED if began and status == COMPLETED and order.all_told_of and at_end else None


def _open(
    order: Order, reading: Reading, status: int, by_id: int | None, key: str | None, now_ms: int
) -> tuple[int, str | None]:
    """What is said of legs that have not ended, or of which nobody saw whether they did."""
    told, at_end = {status, by_id}, _at_end(order, reading)
    order.part_began = bool(told & {RUNNING, SUSPENDED}) or (order.part_began and bool(told & UNDER_WAY))
    if order.part_began:
        return SUSPENDED if SUSPENDED in told else RUNNING, key
    if at_end and order.all_told_of and by_id is None:
        if order.ran:  # The status of earlier legs tells nothing of the last one: it may be at its work.
            works = not order.part_is_done(True, 0 if order.leaves(reading) else SILENT_WORK_MS, now_ms)
            return RUNNING if works else NONE, order.key
    elif order.ran or by_id == COMPLETED or (at_end and order.told) or _has_come_along(order, reading):
        return RUNNING, key
    if by_id is not None:
        return by_id, key
    return (status if key is None else of_named(order, status)), key


def _at_end(order: Order, reading: Reading) -> bool:
    """Whether it stands where the last leg ends that it was told of."""
    return bool(order.way) and reading.next_node_id is None and reading.node_id == (order.way or ("",))[-1]


def _has_come_along(order: Order, reading: Reading) -> bool:
    """Whether it is on the way already; some robots never show that they run."""
    way = order.way or ()
    return reading.node_id in way and reading.node_id != way[0]
