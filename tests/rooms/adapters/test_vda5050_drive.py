"""The conversation and the virtual vehicle, mouth to ear and on virtual time: whole drives, without a broker."""

import json
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.roads import Roads
from beforehand.adapters.vda5050.hall import Hall
from beforehand.adapters.vda5050.options import VdaOptions
from beforehand.adapters.vda5050.talk import Talk
from beforehand.adapters.vda5050.vehicle import Vehicle
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import (
    Ack,
    CancelTarget,
    DriveOn,
    GoTarget,
    PauseRobot,
    ResumeRobot,
    RobotCommand,
    Telemetry,
)

SCENE = FleetScene.model_validate(
    {
        "name": "hall",
        "nodes": [*({"id": name, "x": 10 * n, "y": 0} for n, name in enumerate("ABCD")), {"id": "E", "x": 0, "y": 9}],
        "edges": [{"from": a, "to": b} for a, b in ("AB", "BC", "CD", "AE")],
        "robots": [{"robotId": "RB-01", "nodeId": "A"}],
        "worksites": [
            {"worksiteId": "IN_1", "entryNodeId": "D", "worksiteType": "buffer"},
            {"worksiteId": "CH_1", "entryNodeId": "E", "worksiteType": "charger"},
        ],
    }
)
STEP_MS = 100
RUNNING, SUSPENDED, DONE, FAILED, CANCELLED = 2, 3, 4, 5, 6
PICK = {"id": "D", "operation": "ForkLoad", "start_height": 0.1, "end_height": 0.5, "recognize": False}


@dataclass
class Floor:
    """One vehicle and who talks to it; what either says the other hears at once, unless the line is down."""

    now: int = 1_000_000
    line: bool = True
    said: list[Telemetry | Ack] = field(default_factory=list)
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """What the vehicle was told: orders and actions."""

    def __post_init__(self) -> None:
        roads, options = Roads(SCENE), VdaOptions("acme", "7")
        self.talk = Talk("RB-01", options, Hall("hall", roads, {"D": "IN_1"}, frozenset({"E"})))
        self.fleet = SimFleet(SCENE, (), SimSettings(load_sensor=True))
        self.vehicle = Vehicle("RB-01", options, self.fleet, roads.at)
        self.talk.hear("connection", json.dumps(self.vehicle.connection("ONLINE", self.now)).encode(), self.now)
        self.play(1)

    def play(self, seconds: float) -> "Floor":
        for _ in range(round(1000 * seconds / STEP_MS)):
            self.now += STEP_MS
            for said in self.fleet.advance(self.now):
                self.vehicle.follow(said, self.now)
            self.talk.tick(self.now)
            self._pass_on()
        return self

    def _pass_on(self) -> None:
        while self.vehicle.out or self.talk.out:
            spoken, self.vehicle.out[:] = list(self.vehicle.out), []
            for name, document in spoken if self.line else ():
                self.talk.hear(name, json.dumps(document).encode(), self.now)
            orders, self.talk.out[:] = list(self.talk.out), []
            for name, document in orders if self.line else ():
                self.told.append((name, document))
                self.vehicle.hear(name, json.dumps(document).encode(), self.now)
        self.said += self.talk.told
        self.talk.told.clear()

    def tell(self, command: RobotCommand) -> "Floor":
        self.talk.command(command, self.now)
        self._pass_on()
        return self

    def strike(self, fault: str) -> "Floor":
        self.fleet.inject(FaultSpec(at_s=0.0, robot_id="RB-01", fault=fault), self.now)  # type: ignore[arg-type]
        return self

    @property
    def last(self) -> Telemetry:
        return [one for one in self.said if isinstance(one, Telemetry)][-1]

    def answer(self, key: str) -> Ack:
        return [one for one in self.said if isinstance(one, Ack) and one.key == key][-1]

    def statuses(self, key: str) -> list[int]:
        """The statuses that were told of an order, each once in a row."""
        found: list[int] = []
        for one in self.said:
            if isinstance(one, Telemetry) and one.task_id == key and (not found or found[-1] != one.task_status):
                found.append(one.task_status)
        return found

    def actions(self) -> list[str]:
        asked = ("stateRequest", "factsheetRequest")
        kinds = [one["actions"][0]["actionType"] for name, one in self.told if name == "instantActions"]
        return [kind for kind in kinds if kind not in asked]

    def orders(self) -> list[dict[str, Any]]:
        return [document for name, document in self.told if name == "order"]


def go(key: str = "hall-1", target: str = "D", **more: Any) -> GoTarget:
    return GoTarget(key, "RB-01", {"id": target}, **more)


def test_a_drive_is_answered_seen_to_run_and_done_where_it_leads() -> None:
    floor = Floor().tell(go()).play(40)
    assert floor.answer("hall-1").ok
    assert floor.statuses("hall-1") == [RUNNING, DONE]
    assert (floor.last.node_id, floor.last.next_node_id, floor.last.x) == ("D", None, 30)
    places = [one.node_id for one in floor.said if isinstance(one, Telemetry)]
    assert list(dict.fromkeys(places)) == ["A", "B", "C", "D"]
    assert len(floor.orders()) == 1


def test_a_pick_lifts_what_stands_there_once() -> None:
    floor = Floor().tell(GoTarget("hall-1", "RB-01", PICK)).play(60)
    assert floor.statuses("hall-1") == [RUNNING, DONE]
    assert floor.last.load_sensor == "loaded"
    assert floor.vehicle.done == ["hall-1:pick"]
    drop = {"id": "D", "operation": "ForkUnload", "start_height": 0.5, "end_height": 0.1, "recognize": False}
    floor.tell(GoTarget("hall-2", "RB-01", drop)).play(30)
    assert floor.statuses("hall-2")[-1] == DONE
    assert floor.last.load_sensor == "empty"
    assert floor.vehicle.done == ["hall-1:pick", "hall-2:drop"]


def test_a_robot_pauses_where_it_is_and_goes_on_from_there() -> None:
    floor = Floor().tell(go()).play(5).tell(PauseRobot("p", "RB-01")).play(3)
    assert floor.answer("p").ok
    stood = floor.last.x
    assert 0 < stood < 30
    assert floor.last.task_status == SUSPENDED
    assert floor.play(10).last.x == stood
    floor.tell(ResumeRobot("r", "RB-01")).play(40)
    assert floor.answer("r").ok
    assert floor.statuses("hall-1") == [RUNNING, SUSPENDED, RUNNING, DONE]
    assert floor.actions() == ["startPause", "stopPause"]


def test_to_go_on_where_nothing_was_paused_is_no_trouble() -> None:
    floor = Floor().tell(ResumeRobot("r", "RB-01"))
    assert floor.answer("r").ok
    assert floor.actions() == []


def test_a_cancelled_order_ends_and_the_next_one_is_taken() -> None:
    floor = Floor().tell(go()).play(5).tell(CancelTarget("c", "RB-01")).play(15)
    assert floor.answer("c").ok
    assert floor.statuses("hall-1") == [RUNNING, CANCELLED]
    assert not floor.vehicle.is_active
    where = floor.last.node_id
    assert where in ("A", "B", "C")
    floor.tell(go("hall-2")).play(40)
    assert floor.statuses("hall-2")[-1] == DONE
    assert floor.last.node_id == "D"
    idle = floor.tell(CancelTarget("c2", "RB-01"))
    assert idle.answer("c2").ok
    assert idle.actions() == ["cancelOrder"]


def test_another_order_calls_the_one_before_off_first() -> None:
    floor = Floor().tell(go()).play(5).tell(go("hall-2", "A")).play(1)
    assert floor.actions() == ["cancelOrder"]
    assert floor.last.task_id == "hall-2", "it is the order under way from now on"
    floor.play(60)
    assert floor.statuses("hall-2") == [RUNNING, DONE]
    assert floor.last.node_id == "A"
    assert [one["orderId"] for one in floor.orders()] == ["hall-1", "hall-2"]


def test_an_order_waits_for_more_of_its_way_and_drives_on_when_it_is_granted() -> None:
    floor = Floor().tell(go(way=("A", "B"), horizon=("C", "D"))).play(30)
    assert (floor.last.node_id, floor.last.task_status) == ("B", RUNNING)
    assert floor.play(10).last.node_id == "B", "no further than it may"
    floor.tell(DriveOn("on", "RB-01", "hall-1", 2, ("C", "D"))).play(40)
    assert floor.answer("on").ok
    assert floor.statuses("hall-1") == [RUNNING, DONE]
    assert floor.last.node_id == "D"
    assert [one["orderUpdateId"] for one in floor.orders()] == [0, 1]
    late = floor.tell(DriveOn("late", "RB-01", "hall-1", 4, ("C",)))
    assert (late.answer("late").ok, late.answer("late").code) == (False, "order.unknown")


def test_a_way_that_begins_elsewhere_is_refused() -> None:
    floor = Floor().tell(go(way=("C", "D")))
    assert (floor.answer("hall-1").ok, floor.answer("hall-1").code) == (False, "robot.busy")
    assert floor.orders() == []


def test_a_target_that_is_not_in_the_scene_is_refused() -> None:
    floor = Floor().tell(go(target="Z"))
    assert (floor.answer("hall-1").ok, floor.answer("hall-1").code) == (False, "target.unknown")


def test_the_last_stretch_stays_open_until_the_robot_is_near() -> None:
    floor = Floor().tell(go(commit_m=5)).play(3)
    assert [node["released"] for node in floor.orders()[0]["nodes"]] == [True, True, True, False]
    assert len(floor.play(12).orders()) == 1
    floor.play(30)
    assert [one["orderUpdateId"] for one in floor.orders()] == [0, 1]
    assert floor.statuses("hall-1") == [RUNNING, DONE]
    assert floor.last.node_id == "D"


def test_the_same_command_again_is_answered_again_and_not_driven_again() -> None:
    floor = Floor().tell(go()).play(40)
    floor.said.clear()
    floor.tell(go()).play(5)
    assert floor.answer("hall-1").ok
    assert len(floor.orders()) == 1


def test_an_order_that_got_lost_is_said_again() -> None:
    floor = Floor()
    floor.line = False
    floor.tell(go()).play(1)
    floor.line = True
    floor.play(40)
    assert floor.statuses("hall-1")[-1] == DONE
    assert len(floor.orders()) == 1, "the vehicle heard it once"


def test_charging_begins_where_the_order_leads_to_a_charger_and_ends_before_the_next() -> None:
    floor = Floor().tell(go(target="E")).play(30)
    assert floor.orders()[0]["nodes"][-1]["actions"][0]["actionType"] == "startCharging"
    assert floor.statuses("hall-1")[-1] == DONE
    assert floor.last.charging
    floor.tell(go("hall-2")).play(60)
    assert floor.actions() == ["stopCharging"]
    assert (floor.last.node_id, floor.last.charging) == ("D", False)


def test_work_that_fails_is_told_with_the_reason() -> None:
    floor = Floor().tell(GoTarget("hall-1", "RB-01", {**PICK, "recognize": True})).play(60)
    assert floor.statuses("hall-1")[-1] == FAILED
    assert "cannot recognize a pallet without a recfile" in str(floor.last.error)
    assert floor.vehicle.done == []
    assert not floor.vehicle.is_active


def test_an_order_that_was_cancelled_at_the_robot_is_told() -> None:
    floor = Floor().tell(go()).play(5).strike("cancelled_by_hand").play(20)
    assert floor.statuses("hall-1") in ([RUNNING, CANCELLED], [RUNNING, FAILED])
    assert floor.last.node_id != "D"


def test_a_robot_that_restarts_has_forgotten_its_order_and_takes_another() -> None:
    floor = Floor().tell(go()).play(5).strike("restart").play(20)
    assert floor.last.boot == 2
    assert floor.last.task_id is None
    floor.tell(go("hall-2")).play(60)
    assert floor.statuses("hall-2")[-1] == DONE


def test_a_robot_that_something_stands_in_front_of_says_so() -> None:
    floor = Floor().tell(go()).play(5).strike("blocked").play(2)
    assert floor.last.blocked
    assert "protective field" in str(floor.last.error)


def test_the_vehicle_refuses_what_it_cannot_do_and_names_the_order() -> None:
    floor = Floor()

    def refused(**changes: Any) -> str:
        first = {"nodeId": "A", "sequenceId": 0, "released": True, "actions": []}
        document = {"headerId": 1, "orderId": "x", "orderUpdateId": 0, "nodes": [first], "edges": [], **changes}
        floor.vehicle.hear("order", json.dumps(document).encode(), floor.now)
        error = floor.vehicle.errors[-1]
        assert error["errorReferences"] == [{"referenceKey": "orderId", "referenceValue": changes.get("orderId", "x")}]
        return str(error["errorType"])

    node = {"nodeId": "A", "sequenceId": 0, "released": True}
    assert refused(nodes=[]) == "validationError"
    assert refused(nodes=[{**node, "released": False}]) == "validationError"
    assert refused(nodes=[{**node, "nodeId": "Z"}]) == "noRouteError"
    assert refused(nodes=[{**node, "nodeId": "D"}]) == "noRouteError", "it stands elsewhere"
    somersault = {"actionType": "somersault", "actionId": "1", "blockingType": "HARD"}
    assert refused(nodes=[{**node, "actions": [somersault]}]) == "orderError"
    floor.tell(go()).play(3)
    assert refused(orderId="y") == "orderError", "it has one"
    update = {**node, "nodeId": "C", "sequenceId": 4}
    assert refused(orderId="hall-1", orderUpdateId=1, nodes=[update]) == "orderUpdateError"
    assert floor.play(40).statuses("hall-1")[-1] == DONE, "what was refused has changed nothing"


def test_what_the_conversation_keeps_is_enough_for_the_next_process() -> None:
    floor = Floor().tell(go()).play(5)
    kept = json.loads(json.dumps(floor.talk.kept()))
    floor.talk = Talk("RB-01", floor.talk.options, floor.talk.hall)
    floor.talk.take_up(kept)
    floor.play(60)
    assert floor.statuses("hall-1") == [RUNNING, DONE]
    assert len(floor.orders()) == 1
    assert floor.talk.kept()["order"] is None
