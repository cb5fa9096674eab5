"""VDA 5050 without a broker: orders, readings and the conversation, with vehicles that say whatever they like."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.adapters.sim.roads import Roads
from beforehand.adapters.vda5050.dialects import DIALECTS
from beforehand.adapters.vda5050.hall import Hall
from beforehand.adapters.vda5050.messages import State, decoded, moment_ms, timestamp
from beforehand.adapters.vda5050.options import VdaOptions, check_vda5050
from beforehand.adapters.vda5050.orders import Stop, order_document, planned, updated
from beforehand.adapters.vda5050.patience import SILENT_WORK_MS
from beforehand.adapters.vda5050.reading import is_active, trouble
from beforehand.adapters.vda5050.talk import Talk
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.broker import read_broker
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, CancelTarget, DriveOn, GoTarget, PauseRobot, Telemetry

NODES = [{"id": name, "x": 10 * n, "y": 0} for n, name in enumerate("ABCD")]
EDGES = [{"from": a, "to": b} for a, b in ("AB", "BC", "CD")]
ROADS = Roads(FleetScene.model_validate({"name": "hall", "nodes": NODES, "edges": EDGES}))
PICK = {"id": "D", "operation": "ForkLoad", "start_height": 0.1, "end_height": 0.5, "recognize": False}
KEY = "hall-t1:pick:1"


def a_talk() -> Talk:
    return Talk("RB-01", VdaOptions("acme", "7"), Hall("hall", ROADS, {"D": "IN_1"}, frozenset()))


class Vehicle:
    """Says what a test wants, with everything else as a vehicle at rest has it."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.number, self.now = talk, 0, 1_000_000

    def says(self, **changes: Any) -> Telemetry:
        self.number += 1
        self.now += 500
        node = changes.get("lastNodeId", "A")
        state = {
            "headerId": self.number,
            "timestamp": f"2026-01-01T00:{self.number // 60:02}:{self.number % 60:02}",
            "orderId": "",
            "lastNodeId": node,
            "nodeStates": [],
            "actionStates": [],
            "driving": False,
            "agvPosition": {
                "x": ROADS.at.get(node, (0, 0))[0],
                "y": 0,
                "theta": 0,
                "mapId": "m",
                "positionInitialized": True,
            },
            **changes,
        }
        self.talk.hear("state", json.dumps(state).encode(), self.now)
        return [one for one in self.talk.told if isinstance(one, Telemetry)][-1]

    def orders(self) -> list[dict[str, Any]]:
        return [document for name, document in self.talk.out if name == "order"]

    def actions(self) -> list[str]:
        return [one["actions"][0]["actionType"] for name, one in self.talk.out if name == "instantActions"]


@pytest.fixture
def vehicle() -> Vehicle:
    made = Vehicle(a_talk())
    made.says()
    return made


def work(status: str, kind: str = "pick") -> list[dict[str, str]]:
    return [{"actionId": f"{KEY}:{kind}", "actionType": kind, "actionStatus": status}]


def ahead(*names: str) -> list[dict[str, Any]]:
    return [{"nodeId": name, "sequenceId": 2 * "ABCD".index(name), "released": True} for name in names]


def about(value: str, key: str = "orderId") -> dict[str, Any]:
    """A warning of the vehicle's that refers to something."""
    reference = {"referenceKey": key, "referenceValue": value}
    return {"errorType": "trouble", "errorLevel": "WARNING", "errorReferences": [reference]}


def test_a_pick_becomes_an_order_with_everything_passed_on(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", {**PICK, "colour": "red"}), vehicle.now)
    (order,) = vehicle.orders()
    assert order["orderId"] == KEY
    assert [node["nodeId"] for node in order["nodes"]] == ["A", "B", "C", "D"]
    assert all(part["released"] for part in (*order["nodes"], *order["edges"]))
    (action,) = order["nodes"][-1]["actions"]
    said = {one["key"]: one["value"] for one in action["actionParameters"]}
    assert (action["actionType"], action["blockingType"]) == ("pick", "HARD")
    assert said["stationName"] == "IN_1"
    assert (said["loadType"], said["stationType"], said["height"], said["colour"]) == ("EPAL", "floor", 0.5, "red")


def test_the_drop_stays_in_the_horizon_until_the_robot_is_near(vehicle: Vehicle) -> None:
    drop = {**PICK, "operation": "ForkUnload"}
    vehicle.talk.command(GoTarget(KEY, "RB-01", drop, commit_m=15.0), vehicle.now)
    assert [node["released"] for node in vehicle.orders()[0]["nodes"]] == [True, True, True, False]
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), driving=True)
    vehicle.says(orderId=KEY, lastNodeId="B", nodeStates=ahead("C", "D"), driving=True)
    assert len(vehicle.orders()) == 1
    near = {"x": 16, "y": 0, "theta": 0, "mapId": "m", "positionInitialized": True}
    vehicle.says(orderId=KEY, lastNodeId="B", nodeStates=ahead("C", "D"), driving=True, agvPosition=near)
    update = vehicle.orders()[1]
    assert (update["orderId"], update["orderUpdateId"]) == (KEY, 1)
    assert [(node["nodeId"], node["sequenceId"], node["released"]) for node in update["nodes"]] == [
        ("C", 4, True),
        ("D", 6, True),
    ]


def test_an_order_is_done_when_its_action_is_and_its_last_node_is_reached(vehicle: Vehicle) -> None:
    """Even where the vehicle leaves the last node in nodeStates, as some do."""
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    going = vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), actionStates=work("WAITING"), driving=True)
    assert (going.task_status, going.task_id) == (2, KEY)
    there = vehicle.says(orderId=KEY, lastNodeId="D", nodeStates=ahead("D"), actionStates=work("RUNNING"))
    assert there.task_status == 2
    done = vehicle.says(orderId=KEY, lastNodeId="D", nodeStates=ahead("D"), actionStates=work("FINISHED"))
    assert (done.task_status, done.task_id, done.node_id) == (4, KEY, "D")


def test_a_load_that_is_told_late_is_waited_for(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    at_end = {"orderId": KEY, "lastNodeId": "D", "actionStates": work("FINISHED")}
    assert vehicle.says(**at_end, loads=[]).task_status == 2
    done = vehicle.says(**at_end, loads=[{"loadType": "EPAL"}])
    assert (done.task_status, done.load_sensor) == (4, "loaded")


def test_a_robot_that_names_no_order_any_more_has_restarted(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    before = vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), actionStates=work("WAITING"))
    after = vehicle.says(orderId="")
    assert (after.task_status, after.task_id, after.boot) == (0, None, before.boot + 1)


def test_an_order_that_ends_unfinished_is_never_taken_for_done(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), actionStates=work("WAITING"), driving=True)
    ended = vehicle.says(orderId=KEY, lastNodeId="C", loads=[{}])
    assert (ended.task_status, ended.task_id, ended.called_off) == (6, KEY, True)
    failed = Vehicle(a_talk())
    failed.says()
    failed.talk.command(GoTarget(KEY, "RB-01", PICK), failed.now)
    report = failed.says(orderId=KEY, lastNodeId="D", actionStates=work("FAILED"))
    assert (report.task_status, report.task_id) == (5, KEY)
    assert "pick failed" in str(report.error)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 6),
        ({"lastNodeId": "B"}, 6),
        ({"lastNodeId": "B", "errors": [{"errorType": "lowBattery", "errorLevel": "WARNING"}]}, 6),
        ({"lastNodeId": "D", "operatingMode": "MANUAL"}, 6),
        ({"lastNodeId": "B", "actionStates": [*work("FAILED"), {"actionId": "x", "actionType": "cancelOrder"}]}, 6),
        ({"lastNodeId": "D"}, 5),
        ({"lastNodeId": "B", "errors": [{"errorType": "motor", "errorLevel": "FATAL"}]}, 5),
        ({"lastNodeId": "B", "errors": [about(KEY)]}, 5),
        ({"lastNodeId": "B", "errors": [about(f"{KEY}:pick", "actionId")]}, 5),
        ({"lastNodeId": "B", "nodeStates": ahead("C", "D")}, 5),
    ],
)
def test_an_order_ended_by_hand_is_told_from_one_that_failed(
    vehicle: Vehicle, changes: dict[str, Any], status: int
) -> None:
    """Both leave the work FAILED; only a failure says what went wrong, or happens where the work is."""
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), actionStates=work("WAITING"), driving=True)
    ended = vehicle.says(**{"orderId": KEY, "actionStates": work("FAILED"), **changes})
    assert (ended.task_status, ended.task_id, ended.called_off) == (status, KEY, status == 6)


def test_a_cancel_of_an_earlier_order_does_not_make_a_failure_a_cancel(vehicle: Vehicle) -> None:
    old = {"actionId": "c1", "actionType": "cancelOrder", "actionStatus": "FINISHED"}
    vehicle.says(actionStates=[old])
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), actionStates=[*work("WAITING"), old])
    assert vehicle.says(orderId=KEY, lastNodeId="D", actionStates=[*work("FAILED"), old]).task_status == 5


def test_between_states_a_vehicle_is_where_it_shows_itself_and_does_what_it_did(vehicle: Vehicle) -> None:
    drop = {**PICK, "operation": "ForkUnload"}
    vehicle.talk.command(GoTarget(KEY, "RB-01", drop, commit_m=15.0), vehicle.now)
    vehicle.says(orderId=KEY, lastNodeId="B", nodeStates=ahead("C", "D"), driving=True, loads=[{}])

    def shows(x: float, made: str) -> None:
        position = {"x": x, "y": 0, "theta": 0, "mapId": "m"}
        vehicle.now += 500
        seen = {"timestamp": f"2026-01-01T00:{made}", "agvPosition": position}
        vehicle.talk.hear("visualization", json.dumps(seen).encode(), vehicle.now)

    shows(13, "30:00")
    report = vehicle.talk.told[-1]
    assert isinstance(report, Telemetry)
    assert (report.x, report.node_id, report.next_node_id) == (13, "B", "C")
    assert (report.task_status, report.task_id, report.load_sensor) == (2, KEY, "loaded")
    assert len(vehicle.orders()) == 1
    told = len(vehicle.talk.told)
    shows(11, "00:01")
    assert len(vehicle.talk.told) == told, "it was there before its last state"
    shows(16, "30:01")
    assert len(vehicle.orders()) == 2, "near enough for the drop to be released"
    vehicle.talk.hear("connection", b'{"connectionState": "CONNECTIONBROKEN"}', vehicle.now)
    told = len(vehicle.talk.told)
    shows(17, "30:02")
    assert len(vehicle.talk.told) == told


def test_states_that_come_twice_or_late_are_passed_over(vehicle: Vehicle) -> None:
    vehicle.says(lastNodeId="C")
    told = len(vehicle.talk.told)
    vehicle.number = 0
    old = {"headerId": 1, "timestamp": "2026-01-01T00:00:01", "orderId": "", "lastNodeId": "A"}
    vehicle.talk.hear("state", json.dumps(old).encode(), vehicle.now)
    assert len(vehicle.talk.told) == told


def test_a_robot_that_numbers_all_its_states_alike_is_heard_and_its_late_ones_are_known_by_their_time(
    vehicle: Vehicle,
) -> None:
    alike = {"headerId": 1, "timestamp": "2026-01-01T00:00:01"}
    assert vehicle.says(**alike, lastNodeId="B").node_id == "B"
    assert vehicle.says(**alike, lastNodeId="C").node_id == "C"
    assert vehicle.says(**alike | {"timestamp": "2026-01-01T00:00:09"}, lastNodeId="D").node_id == "D"
    assert vehicle.says(**alike, lastNodeId="A").node_id == "D", "an old one"
    assert vehicle.says(**alike | {"timestamp": ""}, lastNodeId="B").node_id == "B"


def test_a_robot_that_counts_anew_is_heard_again_even_with_a_clock_that_went_back(vehicle: Vehicle) -> None:
    vehicle.number = 500
    vehicle.says()
    vehicle.number = 0
    for _ in range(3):
        vehicle.says(lastNodeId="B")
    assert vehicle.says(lastNodeId="C").node_id == "C"


def test_a_refusal_is_told_with_what_the_robot_says(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    reference = {"referenceKey": "orderId", "referenceValue": KEY}
    error = {
        "errorType": "noRouteError",
        "errorLevel": "WARNING",
        "errorDescription": "lost",
        "errorReferences": [reference],
    }
    vehicle.says(errors=[error])
    (ack,) = [one for one in vehicle.talk.told if isinstance(one, Ack)]
    assert (ack.key, ack.ok, ack.code) == (KEY, False, "vda5050.noRouteError")
    assert "noRouteError: lost" in ack.says


def test_a_robot_that_lets_go_of_its_last_node_late_may_refuse_the_next_order_for_a_while(vehicle: Vehicle) -> None:
    lets_go = {"orderId": "hall-t0:pick:1", "actionStates": []}
    vehicle.says(**lets_go, nodeStates=ahead("A"))
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(**lets_go, nodeStates=ahead("A"), errors=[about(KEY)])
    vehicle.says(**lets_go, errors=[about(KEY)])
    assert not [one for one in vehicle.talk.told if isinstance(one, Ack)]
    vehicle.talk.tick(vehicle.now + 2000)
    assert [order["orderId"] for order in vehicle.orders()] == [KEY, KEY]
    vehicle.now += 6000
    vehicle.says(**lets_go, errors=[about(KEY)])
    (ack,) = [one for one in vehicle.talk.told if isinstance(one, Ack)]
    assert (ack.key, ack.ok) == (KEY, False), "then it is a refusal"


def test_a_robot_that_refuses_to_pause_is_told_of_with_its_words(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    going = {"orderId": KEY, "nodeStates": ahead("B", "C", "D"), "driving": True}
    vehicle.says(**going)
    vehicle.talk.command(PauseRobot("p", "RB-01"), vehicle.now)
    (action,) = [a for name, one in vehicle.talk.out if name == "instantActions" for a in one["actions"]][-1:]
    failed = {"actionId": action["actionId"], "actionType": "startPause", "actionStatus": "FAILED"}
    vehicle.says(**going, actionStates=[failed], errors=[about(action["actionId"], "actionId")])
    ack = [one for one in vehicle.talk.told if isinstance(one, Ack)][-1]
    assert (ack.key, ack.ok, ack.says) == ("p", False, "RB-01 refused to pause: trouble. It is told so again.")
    assert vehicle.talk.standing().trouble == ack.says


def test_a_pause_that_was_done_already_is_none_that_was_refused(vehicle: Vehicle) -> None:
    vehicle.talk.command(PauseRobot("p", "RB-01"), vehicle.now)
    (action,) = [a for name, one in vehicle.talk.out if name == "instantActions" for a in one["actions"]][-1:]
    failed = {"actionId": action["actionId"], "actionType": "startPause", "actionStatus": "FAILED"}
    vehicle.says(paused=True, actionStates=[failed])
    ack = [one for one in vehicle.talk.told if isinstance(one, Ack)][-1]
    assert (ack.key, ack.ok) == ("p", True)


def test_an_order_of_somebody_else_is_not_called_off(vehicle: Vehicle) -> None:
    vehicle.says(orderId="theirs", nodeStates=ahead("B"), driving=True)
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    (ack,) = [one for one in vehicle.talk.told if isinstance(one, Ack)]
    assert (ack.ok, ack.code) == (False, "robot.busy")
    assert vehicle.orders() == []
    assert "cancelOrder" not in vehicle.actions()


def test_charging_is_ended_before_an_order(vehicle: Vehicle) -> None:
    vehicle.says(batteryState={"batteryCharge": 50, "charging": True})
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    assert "stopCharging" in vehicle.actions()
    assert vehicle.orders() == []
    vehicle.says(batteryState={"batteryCharge": 50, "charging": False})
    assert len(vehicle.orders()) == 1


def test_an_order_that_waited_for_the_end_of_charging_is_under_way_until_the_robot_shows_it(vehicle: Vehicle) -> None:
    charged = {"orderId": "hall-RB-01:charge:1", "lastNodeId": "A"}
    vehicle.says(**charged, batteryState={"batteryCharge": 50, "charging": True})
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    waits = vehicle.says(**charged, batteryState={"batteryCharge": 50, "charging": True})
    sent = vehicle.says(**charged, batteryState={"batteryCharge": 50, "charging": False})
    still = vehicle.says(**charged)
    assert [(one.task_status, one.task_id) for one in (waits, sent, still)] == [(2, KEY)] * 3
    refused = vehicle.says(**charged, errors=[about(KEY)])
    assert refused.task_id != KEY


def test_an_order_that_never_came_is_said_from_its_beginning_even_where_more_of_its_way_was_granted(
    vehicle: Vehicle,
) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", {"id": "D"}, way=("A", "B"), horizon=("C", "D")), vehicle.now)
    vehicle.talk.command(DriveOn("w1", "RB-01", KEY, 0, ("A", "B", "C"), ("D",)), vehicle.now)
    vehicle.says()
    vehicle.talk.tick(vehicle.now + 2000)
    vehicle.says(orderId=KEY, orderUpdateId=0, nodeStates=ahead("B", "C", "D"))
    said = [
        (
            one["orderUpdateId"],
            "".join(node["nodeId"].lower() if not node["released"] else node["nodeId"] for node in one["nodes"]),
        )
        for one in vehicle.orders()
    ]
    assert said == [(0, "ABcd"), (0, "ABcd"), (1, "BCd")]


def test_what_is_not_shown_is_said_again_but_not_to_a_robot_whose_line_was_down(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.talk.tick(vehicle.now + 3000)
    assert len(vehicle.orders()) == 2
    vehicle.talk.hear("connection", b'{"connectionState": "CONNECTIONBROKEN"}', vehicle.now)
    with pytest.raises(UnavailableError, match="CONNECTIONBROKEN"):
        vehicle.talk.command(PauseRobot("p", "RB-01"), vehicle.now)
    vehicle.talk.hear("connection", b'{"connectionState": "ONLINE"}', vehicle.now)
    vehicle.talk.tick(vehicle.now + 9000)
    assert len(vehicle.orders()) == 2


def test_trouble_is_told_in_sentences(vehicle: Vehicle) -> None:
    report = vehicle.says(
        operatingMode="MANUAL",
        safetyState={"eStop": "AUTOACK", "fieldViolation": False},
        errors=[{"errorType": "motor", "errorLevel": "FATAL", "errorDescription": "too hot"}],
    )
    assert report.blocked
    assert report.error == (
        "Its emergency stop is active (AUTOACK). Its operating mode is MANUAL. It reports motor: too hot."
    )


def test_what_is_planned_is_kept_for_the_next_process() -> None:
    stops = (Stop("A", 0, 0), Stop("D", 30, 0, 30.0))
    order = updated(planned(KEY, PICK, stops, "IN_1", commit_m=3.0))
    assert type(order).kept(json.loads(json.dumps(order.wire()))) == order
    assert order_document(order)["nodes"][0]["sequenceId"] == 0


def test_times_without_a_zone_are_utc() -> None:
    assert moment_ms("2026-01-01T00:00:00") == moment_ms("2026-01-01T00:00:00Z")
    assert moment_ms("yesterday") is None


def test_both_keys_and_both_spellings_are_sent() -> None:
    dialect = DIALECTS["2.1.0"]
    assert dialect.outgoing("instantActions", {"actions": [1]}) == {"actions": [1], "instantActions": [1]}
    node = {"nodePosition": {"allowedDeviationXY": 1.0}}
    assert dialect.outgoing("order", {"nodes": [node]})["nodes"][0]["nodePosition"]["allowedDeviationXy"] == 1.0


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"serial": "7"}, "manufacturer"),
        ({"manufacturer": "acme", "serial": "a/b"}, "serial"),
        ({"manufacturer": "acme", "serial": "7", "version": "3.0.0"}, "version"),
        ({"manufacturer": "acme", "serial": "7", "broker": "x"}, "broker"),
    ],
)
def test_a_wrong_link_is_told(options: dict[str, Any], path: str) -> None:
    assert [problem.path for problem in check_vda5050(options)] == [path]


@pytest.mark.parametrize("broker", [None, "http://x", "mqtt://user:sesame@x", "mqtt://x:99999"])
def test_a_scene_needs_a_broker_that_can_be_one(broker: str | None) -> None:
    link = {"kind": "vda5050", "manufacturer": "acme", "serial": "7"}
    scene = {"kind": "fleet", "name": "hall", "nodes": NODES, "edges": EDGES}
    settings = {} if broker is None else {"broker": broker}
    with pytest.raises(BadInputError) as caught:
        read_fleet({**scene, "robots": [{"robotId": "R", "nodeId": "A", "link": link}], "settings": settings})
    assert [problem.path for problem in caught.value.problems] == ["settings.broker"]


def test_a_password_is_named_and_not_written() -> None:
    link = {"kind": "vda5050", "manufacturer": "acme", "serial": "7"}
    robots = [{"robotId": "R", "nodeId": "A", "link": link}]
    url = "mqtts://me:${secret:BROKER}@broker.example"
    scene = read_fleet({"name": "h", "nodes": NODES, "edges": EDGES, "robots": robots, "settings": {"broker": url}})
    found = read_broker(str(scene.settings.broker).replace("${secret:BROKER}", "sesame"))
    assert found is not None
    assert (found.port, found.encrypted, found.user, found.password) == (8883, True, "me", "sesame")
    assert "sesame" not in str(found)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
FIELDS = [
    "headerId", "timestamp", "orderUpdateId", "lastNodeId", "lastNodeSequenceId", "nodeStates", "edgeStates",
    "driving", "paused", "newBaseRequest", "agvPosition", "batteryState", "loads", "errors", "operatingMode",
    "safetyState",
]  # fmt: skip


@given(st.binary(max_size=200) | ANYTHING.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_make_an_exception_or_a_report(payload: bytes) -> None:
    vehicle = Vehicle(a_talk())
    vehicle.says()
    told = len(vehicle.talk.told)
    for topic in ("state", "connection", "factsheet", "visualization"):
        vehicle.talk.hear(topic, payload, vehicle.now)
    assert not isinstance(decoded(State, payload), State)
    assert len(vehicle.talk.told) == told


@given(
    st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6),
    st.sampled_from(["", KEY, "theirs", "hall-t0:drop:1"]),
    st.sampled_from(["WAITING", "RUNNING", "FAILED", "PAUSED", "", "INITIALIZING", "finished?"]),
    st.booleans(),
)
def test_whatever_a_state_says_only_a_finished_action_completes(
    fields: dict[str, Any], order_id: str, status: str, cancelled: bool
) -> None:
    vehicle = Vehicle(a_talk())
    vehicle.says()
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), actionStates=work("WAITING"))
    if cancelled:
        vehicle.talk.command(CancelTarget(f"{KEY}:cancel", "RB-01"), vehicle.now)
    state = {"orderId": order_id, "lastNodeId": "D", "actionStates": work(status), **fields}
    vehicle.talk.hear("state", json.dumps(state).encode(), vehicle.now)
    vehicle.talk.tick(vehicle.now + 5000)
    done = [one for one in vehicle.talk.told if isinstance(one, Telemetry) and one.task_status == 4]
    assert not [one for one in done if one.task_id in (None, KEY)]


def at(x: float, y: float = 0.0, known: bool = True) -> dict[str, Any]:
    return {"x": x, "y": y, "theta": 0.5, "mapId": "m", "positionInitialized": known}


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"agvPosition": at(0)}, ("A", None)),
        ({"agvPosition": at(0, known=False)}, (None, None)),
        ({"agvPosition": at(4), "nodeStates": ahead("B", "C"), "driving": True}, ("A", "B")),
        ({"agvPosition": at(0.1), "nodeStates": ahead("B"), "driving": True}, ("A", None)),
        ({"agvPosition": at(20)}, ("C", None)),
        ({"agvPosition": at(15, 8)}, ("A", None)),
        ({"lastNodeId": "Z", "agvPosition": at(20)}, ("C", None)),
        ({"lastNodeId": "Z", "agvPosition": at(15, 8)}, (None, None)),
        ({"lastNodeId": "Z", "agvPosition": None}, (None, None)),
        ({"lastNodeId": "B", "agvPosition": None}, ("B", None)),
        ({"lastNodeId": "B", "agvPosition": None, "nodeStates": ahead("B", "C"), "driving": True}, ("B", "C")),
    ],
)
def test_where_it_is_by_its_last_node_and_by_its_position(
    vehicle: Vehicle, said: dict[str, Any], place: tuple[str | None, str | None]
) -> None:
    report = vehicle.says(**said)
    assert (report.node_id, report.next_node_id) == place
    position = said["agvPosition"]
    if position is not None:
        assert (report.x, report.y, report.heading) == (position["x"], position["y"], 0.5)
    elif place[0] is not None:
        assert (report.x, report.y) == ROADS.at[place[0]]


@pytest.mark.parametrize(("charge", "battery"), [(80, 0.8), (120, 1.0), (-5, 0.0), (None, None)])
def test_how_full_and_how_loaded_it_is(vehicle: Vehicle, charge: float | None, battery: float | None) -> None:
    report = vehicle.says(batteryState={"batteryCharge": charge, "charging": True}, loads=[])
    assert (report.battery, report.charging, report.load_sensor) == (battery, True, "empty")
    assert vehicle.says(loads=[{}]).load_sensor == "loaded"
    silent = vehicle.says()
    assert (silent.battery, silent.charging, silent.load_sensor, silent.blocked) == (None, False, None, False)


def test_only_warnings_about_the_present_order_are_told_and_not_all_of_many(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    quiet = vehicle.says(orderId=KEY, nodeStates=ahead("B"), actionStates=work("WAITING"), errors=[about("other")])
    assert (quiet.error, quiet.blocked) == (None, False)
    told = vehicle.says(orderId=KEY, nodeStates=ahead("B"), actionStates=work("WAITING"), errors=[about(KEY)] * 9)
    assert str(told.error).startswith("It reports trouble; ")
    assert str(told.error).endswith(" more.")
    failed = [{**work("FAILED")[0], "resultDescription": "no pallet."}]
    assert "Its pick failed: no pallet." in str(vehicle.says(orderId=KEY, lastNodeId="D", actionStates=failed).error)


def test_a_silent_robot_is_asked_for_its_state_and_one_that_is_away_is_not(vehicle: Vehicle) -> None:
    talk = vehicle.talk
    talk.out.clear()
    talk.tick(vehicle.now + 1_000)
    assert talk.out == [], "it has just been heard"
    for later in (2_000, 2_500, 3_000):
        talk.tick(vehicle.now + later)
    assert vehicle.actions() == ["stateRequest", "stateRequest"]
    talk.hear("connection", b'{"connectionState": "OFFLINE"}', vehicle.now)
    talk.out.clear()
    talk.tick(vehicle.now + 60_000)
    assert talk.out == []
    with pytest.raises(UnavailableError, match="it said OFFLINE"):
        talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    standing = talk.standing()
    assert (standing.answers, standing.trouble) == (False, "RB-01 said OFFLINE.")
    talk.hear("connection", b'{"connectionState": "ONLINE"}', vehicle.now)
    assert vehicle.actions() == ["stateRequest", "factsheetRequest"]
    assert talk.standing().answers


def test_nothing_is_known_of_a_robot_before_it_was_heard_and_after_the_line_was_lost() -> None:
    talk = a_talk()
    assert talk.standing().answers is None
    with pytest.raises(UnavailableError, match="has not reported yet"):
        talk.command(GoTarget(KEY, "RB-01", PICK), 0)
    made = Vehicle(talk)
    made.says()
    talk.lost_line(made.now, "The line is down.")
    standing = talk.standing()
    assert (standing.answers, standing.trouble, standing.trouble_ms) == (False, "The line is down.", made.now)
    assert standing.at == "acme, serial number 7"


def test_a_message_that_cannot_be_read_is_told_and_changes_nothing(vehicle: Vehicle) -> None:
    state = vehicle.talk.state
    for payload, says in ((b"no json", "not JSON"), (b"{}", "orderId"), (b"x" * 4_000_001, "too big")):
        vehicle.talk.hear("state", payload, vehicle.now)
        assert says in str(vehicle.talk.standing().trouble)
    vehicle.talk.hear("connection", b'{"connectionState": "MAYBE"}', vehicle.now)
    assert "(connection)" in str(vehicle.talk.standing().trouble)
    assert vehicle.talk.state is state


def test_times_are_written_with_their_milliseconds() -> None:
    assert timestamp(1_767_268_800_007) == "2026-01-01T12:00:00.007Z"
    assert moment_ms(timestamp(1_767_268_800_007)) == 1_767_268_800_007


def test_what_a_state_leaves_out_is_as_a_robot_at_rest_has_it() -> None:
    state = decoded(State, b'{"orderId": "x", "nodeStates": null}')
    assert isinstance(state, State)
    assert not is_active(state)
    assert trouble(state, None) is None
    assert (state.loads, state.battery_state, state.agv_position) == (None, None, None)


def test_a_vehicle_that_says_nothing_of_its_actions_is_not_called_cancelled(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), driving=True)
    at_work = vehicle.says(orderId=KEY, lastNodeId="D", loads=[])
    assert at_work.task_status == 2, "it may be at its work"
    done = vehicle.says(orderId=KEY, lastNodeId="D", loads=[{"loadId": "1"}])
    assert (done.task_status, done.task_id, done.called_off) == (0, KEY, False)
    assert done.sure_load == "loaded"


def test_a_vehicle_that_says_nothing_of_its_actions_nor_of_its_load_is_waited_for_a_while(vehicle: Vehicle) -> None:
    vehicle.talk.command(GoTarget(KEY, "RB-01", PICK), vehicle.now)
    vehicle.says(orderId=KEY, nodeStates=ahead("B", "C", "D"), driving=True)
    assert vehicle.says(orderId=KEY, lastNodeId="D").task_status == 2
    vehicle.now += SILENT_WORK_MS
    assert vehicle.says(orderId=KEY, lastNodeId="D").task_status == 0
