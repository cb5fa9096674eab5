"""A virtual VDA 5050 vehicle: it takes orders and actions as the protocol has it, and moves as the simulated forklift.

It drives the base of its order, stop by stop, and waits where the base ends. It takes a new order only when it has
none, refuses what it cannot do with an error that names the order, and forgets everything when it restarts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import hypot, pi
from typing import Any

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.vda5050.messages import Action, InstantActions, Node, Order, decoded, timestamp
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.model.robot import Ack, CancelTarget, GoTarget, PauseRobot, ResumeRobot, Telemetry

NODE_ACTIONS = ("pick", "drop", "startCharging", "stopCharging")
INSTANT_ACTIONS = (
    "startPause",
    "stopPause",
    "cancelOrder",
    "stateRequest",
    "factsheetRequest",
    "startCharging",
    "stopCharging",
)
_FORK = {"pick": "ForkLoad", "drop": "ForkUnload"}
_INSTANT_KEPT = 8
_EVERY_MS = 500


@dataclass(slots=True)
class Vehicle:
    robot_id: str
    options: VdaOptions
    fleet: SimFleet
    places: Mapping[str, tuple[float, float]]
    trusting: bool = True
    """Whether a pallet is where master control says: other processes and people move them too."""
    out: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    order_id: str = ""
    update_id: int = 0
    nodes: list[Node] = field(default_factory=list)
    last_sequence_id: int = 0
    actions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The states of the actions of its order."""
    instant: dict[str, dict[str, Any]] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    paused: bool = False
    seen: Telemetry | None = None
    done: list[str] = field(default_factory=list)
    """The picks and drops it has finished, by their ids."""
    _charging_ended: bool = False
    _cancel_id: str | None = None
    _leg: tuple[str, Node] | None = None
    """The command that the forklift carries out, and the stop it leads to."""
    _leg_ms: int = 0
    """When that was commanded; what the forklift said until then, naming no order, is about an earlier one."""
    _legs: int = 0
    _headers: dict[str, int] = field(default_factory=dict)
    _said_ms: int = 0
    _face: Any = None

    # -- from master control

    def hear(self, topic: str, payload: object, now: int) -> None:
        if topic == "order":
            order = decoded(Order, payload)
            if isinstance(order, Order):
                self._take(order, now)
            else:
                self._refuse("validationError", order, "")
        elif topic == "instantActions":
            given = decoded(InstantActions, payload)
            for action in given.actions if isinstance(given, InstantActions) else ():
                if action.action_id not in self.instant:
                    self._act(action, now)
        self.report(now)

    def _take(self, order: Order, now: int) -> None:
        if order.order_id == self.order_id and order.order_update_id <= self.update_id:
            return
        if order.order_id == self.order_id:
            self._extend(order, now)
            return
        wrong = self._refusal(order)
        if wrong is not None:
            self._refuse(*wrong, order.order_id)
            return
        self.order_id, self.update_id = order.order_id, order.order_update_id
        self.nodes, self.actions, self.errors = list(order.nodes), {}, []
        self.last_sequence_id, self._cancel_id = order.nodes[0].sequence_id, None
        self._note_actions()
        self._go_on(now)

    def _refusal(self, order: Order) -> tuple[str, str] | None:
        if self.is_active:
            return "orderError", "an order is active"
        if not order.nodes or not order.nodes[0].released:
            return "validationError", "an order has at least one node of a base"
        unknown = next((node.node_id for node in order.nodes if node.node_id not in self.places), None)
        if unknown is not None or self.seen is None:
            return "noRouteError", f"the node {unknown} is not on the map"
        first, seen = order.nodes[0], self.seen
        off_m = hypot(seen.x - self.places[first.node_id][0], seen.y - self.places[first.node_id][1])
        slack_m = first.node_position.allowed_deviation_x_y if first.node_position else None
        if seen.node_id != first.node_id and off_m > (slack_m or 0.5):
            return "noRouteError", f"it is not at the first node {first.node_id}"
        other = next(
            (a.action_type for node in order.nodes for a in node.actions if a.action_type not in NODE_ACTIONS), 0
        )
        return ("orderError", f"the action {other} is not known") if other else None

    def _extend(self, order: Order, now: int) -> None:
        base = [node for node in self.nodes if node.released]
        if not base or not order.nodes or order.nodes[0].sequence_id != base[-1].sequence_id:
            self._refuse("orderUpdateError", "the update does not go on from the base", order.order_id)
            return
        self.update_id = order.order_update_id
        joint = base[-1].model_copy(update={"actions": (*base[-1].actions, *order.nodes[0].actions)})
        self.nodes = [*base[:-1], joint, *order.nodes[1:]]
        self._note_actions()
        if self._leg is None:
            self._go_on(now)

    def _note_actions(self) -> None:
        for node in self.nodes:
            for action in node.actions if node.released else ():
                state = {"actionId": action.action_id, "actionType": action.action_type, "actionStatus": "WAITING"}
                self.actions.setdefault(action.action_id, state)

    def _refuse(self, kind: str, says: str, order_id: str) -> None:
        reference = {"referenceKey": "orderId", "referenceValue": order_id}
        self.errors = [one for one in self.errors if reference not in one["errorReferences"]]
        self.errors.append(
            {
                "errorType": kind,
                "errorLevel": "WARNING",
                "errorDescription": says,
                "errorReferences": [reference],
            }
        )

    def _act(self, action: Action, now: int) -> None:
        state = {"actionId": action.action_id, "actionType": action.action_type, "actionStatus": "FINISHED"}
        match action.action_type:
            case "startPause":
                self.paused = True
                self.fleet.command(PauseRobot(action.action_id, self.robot_id), now)
            case "stopPause":
                self.paused = False
                self.fleet.command(ResumeRobot(action.action_id, self.robot_id), now)
            case "cancelOrder" if self.is_active:
                state["actionStatus"] = "RUNNING"
                self._cancel(action.action_id, now)
            case "stopCharging":
                self._charging_ended = True
            case "factsheetRequest":
                self._say("factsheet", FACTSHEET, now)
            case "stateRequest" | "startCharging":
                pass
            case _:
                state["actionStatus"] = "FAILED"
        self.instant[action.action_id] = state
        if len(self.instant) > _INSTANT_KEPT:
            del self.instant[next(iter(self.instant))]
        if self._cancel_id == action.action_id and self._leg is None:
            self._drop_order("cancelled")
        self._face = None

    def _cancel(self, action_id: str, now: int) -> None:
        self._cancel_id = action_id
        if self._leg is not None:
            self.fleet.command(CancelTarget(action_id, self.robot_id), now)

    # -- from the forklift

    def follow(self, said: Telemetry | Ack, now: int) -> None:
        """What the simulated forklift reports."""
        if isinstance(said, Ack):
            if not said.ok and self._leg is not None and said.key == self._leg[0]:
                self._fail(said.says)
        else:
            if self.seen is not None and said.boot != self.seen.boot:
                self._forget()
            self.seen = said
            self._charging_ended = self._charging_ended and said.charging
            self._follow_leg(said, now)
        self.report(now)

    def _follow_leg(self, said: Telemetry, now: int) -> None:
        if self._leg is None or said.task_id not in (None, self._leg[0]):
            return
        if said.task_id is None and said.ts <= self._leg_ms:
            return
        stop = self._leg[1]
        self._pass_nodes(said.node_id, stop)
        if said.task_status in (4, 6) and not (said.task_status == 6 and self._was_cancelled(said)):
            self.last_sequence_id, self._leg = stop.sequence_id, None
            self._finish(stop)
            self._go_on(now)
        elif said.task_status == 5:
            self._fail(said.error or "it failed")
        elif said.task_status == 6:
            self._drop_order("cancelled")

    def _was_cancelled(self, said: Telemetry) -> bool:
        return self._cancel_id is not None or said.task_id is None

    def _pass_nodes(self, node_id: str | None, stop: Node) -> None:
        here = next((node.node_id for node in self.nodes if node.sequence_id == self.last_sequence_id), None)
        for node in self.nodes if node_id != here else ():
            if node.node_id == node_id and self.last_sequence_id < node.sequence_id < stop.sequence_id:
                self.last_sequence_id = node.sequence_id
                break
        came = node_id != here or self.last_sequence_id == stop.sequence_id
        at_stop = came and node_id == stop.node_id and self.seen is not None and self.seen.next_node_id is None
        if at_stop:
            self.last_sequence_id = stop.sequence_id
            for action in stop.actions:
                if self.actions[action.action_id]["actionStatus"] == "WAITING":
                    self.actions[action.action_id]["actionStatus"] = "RUNNING"

    def _finish(self, stop: Node) -> None:
        for action in stop.actions:
            self.actions[action.action_id]["actionStatus"] = "FINISHED"
            if action.action_type in _FORK:
                self.done.append(action.action_id)

    def _go_on(self, now: int) -> None:
        """The next stop: the first node with something to do, or the end of the base."""
        ahead = [node for node in self.nodes if node.released and node.sequence_id >= self.last_sequence_id]
        busy = [node for node in ahead if any(self._is_open(action) for action in node.actions)]
        stop = busy[0] if busy else (ahead[-1] if ahead else None)
        if stop is None or (not busy and stop.sequence_id == self.last_sequence_id):
            return
        self._legs += 1
        key = f"{self.order_id}#{self._legs}"
        self._leg, self._leg_ms = (key, stop), now
        self.fleet.command(GoTarget(key, self.robot_id, self._payload(stop), way=self._way_to(stop, ahead)), now)

    def _way_to(self, stop: Node, ahead: list[Node]) -> tuple[str, ...] | None:
        """The nodes of the order up to there; where it does not stand on the first of them, it finds its own way."""
        nodes = tuple(node.node_id for node in ahead if node.sequence_id <= stop.sequence_id)
        stands = self.seen is not None and self.seen.next_node_id is None and self.seen.node_id == nodes[0]
        return nodes if stands and ahead[0].sequence_id == self.last_sequence_id else None

    def _is_open(self, action: Action) -> bool:
        return self.actions[action.action_id]["actionStatus"] in ("WAITING", "RUNNING")

    def _payload(self, stop: Node) -> dict[str, Any]:
        payload: dict[str, Any] = {"id": stop.node_id}
        work = next((one for one in stop.actions if one.action_type in _FORK and self._is_open(one)), None)
        if work is not None:
            said = {one.key: one.value for one in work.action_parameters}
            payload |= {"operation": _FORK[work.action_type], **{key: said[key] for key in _HEIGHTS if key in said}}
            if self.trusting and isinstance(said.get("stationName"), str):
                self.fleet.set_occupancy(said["stationName"], "filled" if work.action_type == "pick" else "empty")
        return payload

    def _fail(self, why: str) -> None:
        self._refuse("orderError", why, self.order_id)
        self._drop_order("failed")

    def _drop_order(self, how: str) -> None:
        """The order is over before its end; what was not done has failed."""
        for state in self.actions.values():
            if state["actionStatus"] not in ("FINISHED", "FAILED"):
                state |= {"actionStatus": "FAILED", "resultDescription": how}
        self.nodes, self._leg, self.paused = [], None, False
        if self._cancel_id in self.instant:
            self.instant[str(self._cancel_id)]["actionStatus"] = "FINISHED"
        self._cancel_id = None

    def _forget(self) -> None:
        self.order_id, self.update_id, self.nodes, self.last_sequence_id = "", 0, [], 0
        self.actions, self.instant, self.errors, self._headers = {}, {}, [], {}
        self._leg, self._cancel_id, self.paused, self._face = None, None, False, None

    # -- what it says

    @property
    def is_active(self) -> bool:
        unended = any(state["actionStatus"] not in ("FINISHED", "FAILED") for state in self.actions.values())
        return bool(self._ahead()) or unended or self._leg is not None

    def _ahead(self) -> list[Node]:
        return [node for node in self.nodes if node.sequence_id > self.last_sequence_id]

    def report(self, now: int, again: bool = False) -> None:
        """Say how it is: at once where something has changed, else twice a second while it drives."""
        if self.seen is None:
            return
        state = self._state(self.seen)
        moving = ("agvPosition", "batteryState")
        face = repr({key: value for key, value in state.items() if key not in moving})
        if again or face != self._face or now - self._said_ms >= _EVERY_MS:
            self._face, self._said_ms = face, now
            self._say("state", state, now)

    def _state(self, seen: Telemetry) -> dict[str, Any]:
        ahead = self._ahead()
        return {
            "orderId": self.order_id,
            "orderUpdateId": self.update_id,
            "lastNodeId": seen.node_id or "",
            "lastNodeSequenceId": self.last_sequence_id,
            "nodeStates": [
                {"nodeId": node.node_id, "sequenceId": node.sequence_id, "released": node.released} for node in ahead
            ],
            "edgeStates": [
                {"edgeId": f"to-{node.node_id}", "sequenceId": node.sequence_id - 1, "released": node.released}
                for node in ahead
            ],
            "actionStates": [dict(state) for state in (*self.actions.values(), *self.instant.values())],
            "driving": seen.next_node_id is not None and seen.task_status == 2,
            "paused": self.paused,
            "newBaseRequest": False,
            "agvPosition": {
                "x": seen.x,
                "y": seen.y,
                "theta": max(-pi, min(pi, seen.heading)),
                "mapId": "hall",
                "positionInitialized": seen.node_id is not None,
            },
            "batteryState": {
                "batteryCharge": round(100 * (seen.battery or 0.0), 2),
                "charging": seen.charging and not self._charging_ended,
            },
            "loads": [{"loadType": "EPAL"}] if seen.load_sensor == "loaded" else [],
            "errors": [dict(error) for error in self.errors],
            "operatingMode": "AUTOMATIC",
            "safetyState": {"eStop": "NONE", "fieldViolation": seen.blocked},
        }

    def connection(self, said: str, now: int) -> dict[str, Any]:
        """The message on the topic connection."""
        return {**self._header("connection", now), "connectionState": said}

    def _say(self, name: str, document: Mapping[str, Any], now: int) -> None:
        self.out.append((name, {**self._header(name, now), **document}))

    def _header(self, name: str, now: int) -> dict[str, Any]:
        number = self._headers.get(name, 0)
        self._headers[name] = number + 1
        return {
            "headerId": number,
            "timestamp": timestamp(now),
            "version": self.options.dialect.version,
            "manufacturer": self.options.manufacturer,
            "serialNumber": self.options.serial,
        }


_HEIGHTS = ("start_height", "end_height", "recognize", "recfile", "rec_height")
FACTSHEET: dict[str, Any] = {
    "typeSpecification": {
        "seriesName": "Beforehand virtual forklift",
        "agvKinematic": "THREEWHEEL",
        "agvClass": "FORKLIFT",
        "maxLoadMass": 1000,
        "localizationTypes": ["NATURAL"],
        "navigationTypes": ["VIRTUAL_LINE_GUIDED"],
    },
    "physicalParameters": {
        "speedMin": 0.1,
        "speedMax": 2.0,
        "accelerationMax": 1.0,
        "decelerationMax": 1.0,
        "heightMin": 0.1,
        "heightMax": 2.0,
        "width": 1.0,
        "length": 1.6,
    },
    "protocolLimits": {
        "maxStringLens": {},
        "maxArrayLens": {},
        "timing": {"minOrderInterval": 0.1, "minStateInterval": 0.1},
    },
    "protocolFeatures": {
        "optionalParameters": [],
        "agvActions": [
            {
                "actionType": name,
                "actionScopes": ["NODE"] * (name in NODE_ACTIONS) + ["INSTANT"] * (name in INSTANT_ACTIONS),
            }
            for name in dict.fromkeys((*NODE_ACTIONS, *INSTANT_ACTIONS))
        ],
    },
    "agvGeometry": {},
    "loadSpecification": {"loadSets": [{"setName": "DEFAULT", "loadType": "EPAL"}]},
}
