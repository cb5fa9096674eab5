"""Orders that are driven node by node: a robot is told of each edge as the ground for it is granted (3066).

Every edge is a leg with an id of its own, made of the order's and a number; the work is part of the last one. So the
robot never knows of more than it may drive, and the order goes on running while it stands and waits for more.
"""

from typing import Any

from beforehand.adapters.robokit.numbers import CANCELLED, COMPLETED, FAILED, NONE, RUNNING, SUSPENDED, WAITING
from beforehand.adapters.robokit.orders import ENDED, Order
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


def shown_of_legs(order: Order, reading: Reading, by_id: int | None, before: int) -> tuple[int, str | None]:
    """The status of the whole and the key it speaks of; `by_id` is that of the last leg the robot was told of."""
    status = before if reading.status is None else reading.status
    ours = by_id is not None or (reading.task_id or "").startswith(f"{order.key}/")
    order.named = order.named or ours
    if not ours and reading.task_id is not None and (order.named or is_order_key(reading.task_id)):
        return status, reading.task_id  # It carries out something else.
    return _of_whole(order, reading, status, by_id), order.key if ours else None


def _of_whole(order: Order, reading: Reading, status: int, by_id: int | None) -> int:
    if order.over is None:
        order.over = _ended(order, reading, status, by_id)
    if order.over is not None:
        return order.over
    order.part_began = order.part_began or RUNNING in (status, by_id)
    if SUSPENDED in (status, by_id):
        return SUSPENDED
    if status == NONE and by_id is None and order.part_began and not _at_end(order, reading):
        return NONE  # It has forgotten it.
    return RUNNING if order.part_began or _at_end(order, reading) else WAITING


def _ended(order: Order, reading: Reading, status: int, by_id: int | None) -> int | None:
    told = status if by_id is None else by_id
    begun = by_id is not None or order.part_began
    if order.cancelled and told not in (WAITING, RUNNING, SUSPENDED):
        return CANCELLED
    if told in (FAILED, CANCELLED) and begun:
        return told
    if told not in ENDED or not order.all_told_of or not begun:
        return None
    return COMPLETED if by_id is not None or _at_end(order, reading) else None


def _at_end(order: Order, reading: Reading) -> bool:
    """Whether it stands where the last leg ends that it was told of."""
    return bool(order.way) and reading.next_node_id is None and reading.node_id == (order.way or ("",))[-1]
