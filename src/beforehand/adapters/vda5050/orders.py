"""A command of ours as a VDA 5050 order: the way node by node, and what is done at its end.

What a vehicle may drive is the base; what it may only foresee is the horizon. Where a drop may still change, its node
stays in the horizon until the vehicle has come within the commit distance, or can go no further without it; then the
order is updated: it goes on from the last node of the base. The work at the end is one action that blocks everything
else (HARD), and its id begins with the order's, so that it is known even by a process that has forgotten the order.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from beforehand.adapters.vda5050.messages import Action, Edge, Node, NodePosition, Parameter

STATION_TYPE = "floor"
LOAD_TYPE = "EPAL"
DEVIATION_M = 0.5
_OPERATIONS = {"ForkLoad": "pick", "ForkUnload": "drop"}
_NOT_PASSED_ON = ("id", "operation", "stationName", "stationType", "loadType", "height")


class Stop(NamedTuple):
    """One node of the way."""

    node_id: str
    x: float
    y: float
    length_m: float = 0.0
    """Of the edge that leads there."""


@dataclass(frozen=True, slots=True)
class PlannedOrder:
    key: str
    """The command's key, which is the order's id too."""
    stops: tuple[Stop, ...]
    action: Action | None = None
    released: int = 0
    """How many of the stops are in the base."""
    update_id: int = 0
    first: int = 0
    """The stop that the last message began with."""
    commit_m: float = 0.0
    map_id: str = ""
    slack_m: float = DEVIATION_M
    """How far from its first node the vehicle may stand."""
    bases: tuple[int, ...] | None = None
    """Where the base is the ground that was granted: how many stops were in it after each update. It grows only by
    what is granted; None where the vehicle may drive all of its way."""

    @property
    def target(self) -> str:
        return self.stops[-1].node_id

    @property
    def last_sequence_id(self) -> int:
        return 2 * (len(self.stops) - 1)

    @property
    def all_released(self) -> bool:
        return self.released == len(self.stops)

    @property
    def base_end(self) -> str:
        return self.stops[self.released - 1].node_id

    def wire(self) -> dict[str, Any]:
        """What a later process needs of it."""
        return {
            "key": self.key,
            "stops": [list(stop) for stop in self.stops],
            "action": self.action.wire() if self.action else None,
            "released": self.released,
            "updateId": self.update_id,
            "first": self.first,
            "commitM": self.commit_m,
            "mapId": self.map_id,
        } | ({} if self.bases is None else {"bases": list(self.bases)})

    @classmethod
    def kept(cls, data: Mapping[str, Any]) -> "PlannedOrder":
        action = data["action"]
        return cls(
            str(data["key"]),
            tuple(Stop(*stop) for stop in data["stops"]),
            Action.model_validate(action) if action else None,
            int(data["released"]),
            int(data["updateId"]),
            int(data["first"]),
            float(data["commitM"]),
            str(data["mapId"]),
            bases=tuple(int(one) for one in data["bases"]) if "bases" in data else None,
        )


def planned(
    key: str, payload: Mapping[str, Any], stops: tuple[Stop, ...], station: str | None, commit_m: float = 0.0
) -> PlannedOrder:
    """The order for a command along these stops; `station` is the worksite at the end of them."""
    waits = commit_m > 0 and len(stops) > 1
    return PlannedOrder(key, stops, work_of(key, payload, station), len(stops) - waits, commit_m=commit_m)


def work_of(key: str, payload: Mapping[str, Any], station: str | None) -> Action | None:
    """The pick or drop that a payload asks for; what it says beyond that is passed on."""
    kind = _OPERATIONS.get(str(payload.get("operation")))
    if kind is None:
        return None
    height = payload.get("height", payload.get("end_height"))
    said: dict[str, Any] = {
        "stationType": payload.get("stationType", STATION_TYPE),
        "stationName": payload.get("stationName", station),
        "loadType": payload.get("loadType", LOAD_TYPE),
        "height": height,
        **{name: value for name, value in payload.items() if name not in _NOT_PASSED_ON},
    }
    given = tuple(Parameter(key=name, value=_plain(value)) for name, value in said.items() if value is not None)
    return Action(action_type=kind, action_id=f"{key}:{kind}", action_parameters=given)


def charging(order: PlannedOrder) -> PlannedOrder:
    """The same order, with charging begun at its end."""
    return replace(order, action=Action(action_type="startCharging", action_id=f"{order.key}:startCharging"))


def _plain(value: Any) -> Any:
    """Parameters are text, numbers, true, false or lists; anything else goes as its JSON."""
    return json.dumps(value, sort_keys=True) if isinstance(value, Mapping) else value


def updated(order: PlannedOrder) -> PlannedOrder:
    """The order with all of it released, going on from the last node of the base."""
    return replace(order, released=len(order.stops), update_id=order.update_id + 1, first=order.released - 1)


def granted(order: PlannedOrder, many: int) -> PlannedOrder:
    """The order with only the first stops in its base."""
    return replace(order, released=many, bases=(many,))


def driven_on(order: PlannedOrder, stops: tuple[Stop, ...], released: int) -> PlannedOrder:
    """The order with more of its way granted, going on from the last node of the base; what follows may be new."""
    update_id = order.update_id + 1
    bases = (*(order.bases or ()), released)
    return replace(order, stops=stops, released=released, update_id=update_id, first=order.released - 1, bases=bases)


def said_again(order: PlannedOrder, known_update: int) -> PlannedOrder:
    """The order as it goes on from what the vehicle has, where updates got lost."""
    if order.bases is None or not 0 <= known_update < len(order.bases):
        return order
    return replace(order, first=order.bases[known_update] - 1)


def as_begun(order: PlannedOrder) -> PlannedOrder:
    """The order as it was before any update, for a vehicle that has not shown yet that it has it."""
    if order.bases is None:
        return order
    return replace(order, released=order.bases[0], first=0, update_id=0)


def is_due(order: PlannedOrder, left_m: float, last_node_id: str, asked: bool) -> bool:
    """Whether the horizon has to be released: near enough, or the vehicle cannot go on without it."""
    if order.all_released or order.bases is not None:
        return False
    return left_m <= order.commit_m or asked or last_node_id == order.base_end


def order_document(order: PlannedOrder) -> dict[str, Any]:
    """The order as a message, without its header."""
    numbered = list(enumerate(order.stops))[order.first :]
    nodes = [_node(order, number, stop) for number, stop in numbered]
    edges = [_edge(order, number, stop) for number, stop in numbered[1:]]
    return {
        "orderId": order.key,
        "orderUpdateId": order.update_id,
        "nodes": [node.wire() for node in nodes],
        "edges": [edge.wire() for edge in edges],
    }


def _node(order: PlannedOrder, number: int, stop: Stop) -> Node:
    slack = order.slack_m if number == 0 else DEVIATION_M
    works = number == len(order.stops) - 1 and order.action is not None
    return Node(
        node_id=stop.node_id,
        sequence_id=2 * number,
        released=number < order.released,
        node_position=NodePosition(x=stop.x, y=stop.y, map_id=order.map_id, allowed_deviation_x_y=slack),
        actions=(order.action,) if works and order.action else (),
    )


def _edge(order: PlannedOrder, number: int, stop: Stop) -> Edge:
    start = order.stops[number - 1].node_id
    return Edge(
        edge_id=f"{start}-{stop.node_id}",
        sequence_id=2 * number - 1,
        released=number < order.released,
        start_node_id=start,
        end_node_id=stop.node_id,
        length=stop.length_m,
    )
