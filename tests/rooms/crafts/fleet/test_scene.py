"""Reading a fleet scene: every problem at once, each with its path, whatever the document is."""

import copy
import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import Settings
from beforehand.model.reason import Problem

GOOD: dict[str, Any] = {
    "kind": "fleet",
    "name": "dock",
    "nodes": [{"id": "LM1", "x": 0, "y": 0}, {"id": "AP1", "x": 3, "y": 4}, {"id": "AP2", "x": 9, "y": 0}],
    "edges": [{"from": "LM1", "to": "AP1"}, {"from": "LM1", "to": "AP2", "lengthM": 12.5, "oneWay": False}],
    "worksites": [
        {"worksiteId": "PICK_01", "worksiteType": "pickup", "entryNodeId": "AP1", "occupancy": "filled"},
        {"worksiteId": "DROP_01", "worksiteType": "dropoff", "entryNodeId": "AP2", "groupId": "DROPS"},
    ],
    "robots": [{"robotId": "RB-01", "nodeId": "LM1"}],
    "streams": [{"streamId": "s", "params": {"pickGroup": ["PICK_01"], "dropGroup": ["DROP_01"]}}],
}


NESTED: Any = []
for _ in range(5000):
    NESTED = [NESTED]


def problems_of(document: Any) -> dict[str, str]:
    with pytest.raises(BadInputError) as caught:
        read_fleet(document)
    assert caught.value.problems
    for problem in caught.value.problems:
        assert problem.says.endswith("."), problem.says
        assert "Traceback" not in problem.says
    return {problem.path: problem.says for problem in caught.value.problems}


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    inner: Any = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("second", "is_wrong"),
    [
        ({"from": "LM1", "to": "AP1"}, True),
        ({"from": "AP1", "to": "LM1"}, True),
        ({"from": "LM1", "to": "AP1", "oneWay": True}, True),
        ({"from": "AP1", "to": "AP2"}, False),
    ],
)
def test_a_way_is_given_once(second: dict[str, Any], is_wrong: bool) -> None:
    document = changed(["edges"], [*GOOD["edges"], second])
    if not is_wrong:
        assert read_fleet(document)
        return
    assert problems_of(document)["edges[2]"].endswith(f"leads from {second['from']} to {second['to']}; keep one.")


def test_one_edge_each_way_is_two_ways() -> None:
    ways = [{"from": "LM1", "to": "AP1", "oneWay": True}, {"from": "AP1", "to": "LM1", "oneWay": True}]
    assert read_fleet(changed(["edges"], [*ways, GOOD["edges"][1]]))


def test_no_place_begins_reserved() -> None:
    document = changed(["worksites", 0, "occupancy"], "reserved")
    assert "no task holds it" in problems_of(document)["worksites[0].occupancy"]


def test_a_good_scene_is_read_with_the_contracts_defaults() -> None:
    scene = read_fleet(GOOD)
    assert scene.settings.wire() == {
        **Settings().wire(),
        "dispatch": "nearest",
        "arbitration": "priority",
        "errorPolicy": "freeze",
        "chargeStartThreshold": 0.2,
        "chargeStopThreshold": 0.8,
        "maxWaitS": 600,
        "agingPerS": 0.01,
        "startTimeoutS": 10,
        "stepTimeoutS": 600,
        "offlineAfterS": 5,
        "pickHeightM": 1.2,
        "dropHeightM": 0.1,
        "trafficMode": "NONE",
        "tickS": 0.5,
    }
    assert scene.settings.park_node_id is None
    assert scene.robots[0].completion_statuses == (4, 6)
    assert scene.streams[0].priority == 0
    assert scene.worksites[1].initial_occupancy == "unknown"


def test_both_spellings_are_read() -> None:
    document = copy.deepcopy(GOOD)
    document["worksites"][0] = {
        "worksite_id": "PICK_01",
        "worksite_type": "pickup",
        "entry_node_id": "AP1",
        "occupancy": "filled",
    }
    document["streams"][0]["params"] = {"pick_group": ["PICK_01"], "drop_group": ["DROP_01"]}
    document["settings"] = {"error_policy": "recover"}
    scene = read_fleet(document)
    assert scene.worksites[0].worksite_id == "PICK_01"
    assert scene.settings.error_policy == "recover"


@pytest.mark.parametrize(
    ("path", "value", "where", "says"),
    [
        (["nodes", 0, "x"], float("nan"), "nodes[0].x", "nan"),
        (["nodes", 0, "x"], float("inf"), "nodes[0].x", "inf"),
        (["nodes", 0, "x"], True, "nodes[0].x", "not a number"),
        (["nodes", 0, "x"], "3", "nodes[0].x", "not a number"),
        (["nodes", 2, "id"], "AP1", "nodes[2]", "already given as nodes[1]"),
        (["edges", 0, "to"], "AP9", "edges[0].to", "Unknown node 'AP9'. Known nodes"),
        (["edges", 0, "to"], "LM1", "edges[0]", "to itself"),
        (["edges", 1, "lengthM"], -1, "edges[1].lengthM", "greater than 0"),
        (["worksites", 0, "ocupancy"], "filled", "worksites[0].ocupancy", "occupancy"),
        (["worksites", 0, "occupancy"], "full", "worksites[0].occupancy", "'filled'"),
        (["worksites", 0, "worksiteType"], "shelf", "worksites[0].worksiteType", "'pickup'"),
        (["worksites", 0, "entryNodeId"], "AP7", "worksites[0].entryNodeId", "Unknown node 'AP7'. Known nodes"),
        (["worksites", 1, "worksiteId"], "PICK_01", "worksites[1]", "already given"),
        (["robots", 0, "battery"], 1.5, "robots[0].battery", "at most 1"),
        (["robots", 0, "link"], "carrier", "robots[0].link", "Unknown link kind 'carrier'. Known link kinds: "),
        (["robots", 0, "link"], {"kind": "carrier"}, "robots[0].link.kind", "Known link kinds: "),
        (["robots", 0, "link"], {"host": "h"}, "robots[0].link.kind", "kind is missing"),
        (["robots", 0, "link"], {"kind": "sim", "host": "h"}, "robots[0].link.host", "takes no options"),
        (["robots", 0, "link"], 7, "robots[0].link", "write a kind such as sim"),
        (["robots", 0, "completionStatuses"], [5], "robots[0].completionStatuses", "cannot mean completed"),
        (["robots", 0, "nodeId"], "Mars", "robots[0].nodeId", "Unknown node 'Mars'. Known nodes"),
        (["robots", 0, "speedMps"], 0, "robots[0].speedMps", "greater than 0"),
        (["streams", 0, "kind"], "pickdrop", "streams[0].kind", "pickDrop"),
        (["streams", 0, "params", "pickGroup"], [], "streams[0].params.pickGroup", "at least one"),
        (["streams", 0, "params", "dropGroup"], ["DROPS"], "streams[0].params.dropGroup[0]", "is a group"),
        (["streams", 0, "params", "dropGroup"], ["DROP_1"], "streams[0].params.dropGroup[0]", "DROP_01"),
        (["streams", 0, "params", "dropGroup"], ["DROP_01"] * 2, "streams[0].params.dropGroup[1]", "twice"),
        (["streams", 0, "params", "dropGroup"], ["PICK_01"], "streams[0].params.dropGroup", "the same place, PICK_01"),
        (
            ["streams", 0],
            {"streamId": "S", "kind": "shuttle", "params": {"pickGroup": ["PICK_01"], "dropGroup": ["DROP_01", "D"]}},
            "streams[0].params.dropGroup",
            "names 2; name 1 at most",
        ),
        (
            ["streams", 0, "params", "pickParams"],
            {"recognize": True},
            "streams[0].params.pickParams.recfile",
            "recfile",
        ),
        (
            ["streams", 0, "params", "pickParams"],
            {"operation": "Lift"},
            "streams[0].params.pickParams.operation",
            "ForkLoad or ForkUnload",
        ),
        (
            ["streams", 0, "params", "dropPolicy"],
            {"selection": "best"},
            "streams[0].params.dropPolicy.selection",
            "first_available_in_order",
        ),
        (
            ["streams", 0, "params", "dropPolicy"],
            {"commitDistance": 3},
            "streams[0].params.dropPolicy.commitDistance",
            "commitDistanceM",
        ),
        (["streams", 0, "quota"], 0, "streams[0].quota", "at least 1"),
        (["settings"], {"dispatch": "best"}, "settings.dispatch", "'optimal'"),
        (["settings"], {"trafficMode": "MAPF"}, "settings.trafficMode", "'NONE'"),
        (["settings"], {"chargeStartThreshold": 0.9}, "settings.chargeStartThreshold", "never stop"),
        (["settings"], {"parkNodeId": "P"}, "settings.parkNodeId", "Unknown node 'P'. Known nodes"),
        (["setings"], {}, "setings", "settings"),
        (["kind"], "cell", "kind", "not a fleet scene"),
        (["name"], "", "name", "name"),
    ],
)
def test_each_problem_has_its_path_and_a_sentence(path: list[Any], value: Any, where: str, says: str) -> None:
    found = problems_of(changed(path, value))
    assert where in found
    assert says in found[where]


@pytest.mark.parametrize(
    ("link", "other"),
    [
        ({"kind": "robokit", "host": "h"}, {"kind": "robokit", "host": "H.", "ports": {"push": 1}}),
        (
            {"kind": "vda5050", "manufacturer": "a", "serial": "1"},
            {"kind": "vda5050", "manufacturer": "a", "serial": "1"},
        ),
    ],
)
def test_two_robots_are_never_one_machine(link: dict[str, Any], other: dict[str, Any]) -> None:
    document = changed(["settings"], {"broker": "mqtt://h"})
    robot = document["robots"][0]
    document["robots"] = [{**robot, "link": link}, {**robot, "robotId": "RB-77", "link": other}]
    found = problems_of(document)
    assert "RB-77 and RB-01 are the same machine by their links" in found["robots[1].link"]
    document["robots"][1]["link"] = {**other, "host": "i"} if "host" in other else {**other, "serial": "2"}
    assert len(read_fleet(document).robots) == 2


def test_unreachable_worksites_are_named() -> None:
    document = copy.deepcopy(GOOD)
    document["edges"][1] = {"from": "AP2", "to": "LM1", "oneWay": True}
    found = problems_of(document)
    assert "DROP_01 is unreachable" in found["worksites[1].entryNodeId"]


def test_all_problems_come_together_and_no_name_is_blamed_for_another() -> None:
    document = copy.deepcopy(GOOD)
    document["nodes"][0]["x"] = "left"
    document["worksites"][0]["occupancy"] = "full"
    document["robots"][0]["battery"] = -1
    document["streams"][0]["params"]["dropGroup"] = ["DROP_02"]
    document["colour"] = "blue"
    found = problems_of(document)
    assert set(found) == {
        "colour",
        "streams[0].params.dropGroup[0]",
        "nodes[0].x",
        "worksites[0].occupancy",
        "robots[0].battery",
    }


def test_a_recfile_may_come_from_every_worksite_instead() -> None:
    document = changed(["streams", 0, "params", "pickParams"], {"recognize": True})
    document["worksites"][0]["pickParams"] = {"recfile": "plt/p0001.plt"}
    read_fleet(document)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
SPOTS = [
    ["name"],
    ["nodes"],
    ["nodes", 0],
    ["nodes", 0, "id"],
    ["edges", 0],
    ["edges", 0, "from"],
    ["worksites"],
    ["worksites", 0],
    ["worksites", 0, "worksiteId"],
    ["worksites", 0, "pickParams"],
    ["robots", 0],
    ["robots", 0, "completionStatuses"],
    ["robots", 0, "link"],
    ["streams", 0],
    ["streams", 0, "kind"],
    ["streams", 0, "params"],
    ["streams", 0, "params", "pickGroup"],
    ["streams", 0, "params", "dropPolicy"],
    ["streams", 0, "params", "pickParams"],
    ["settings"],
]


@given(st.sampled_from(SPOTS), anything)
@settings(max_examples=300)
def test_hostile_documents_get_sentences(path: list[Any], value: Any) -> None:
    found: tuple[Problem, ...] | None = None
    try:
        read_fleet(changed(path, value))
    except BadInputError as error:
        found = error.problems
    assert found is None or (found and all(problem.says and len(problem.says) < 2000 for problem in found))


@pytest.mark.parametrize(
    "document",
    [
        {1: 2},
        {**GOOD, None: 3},
        changed(["nodes", 0], {1: 2}),
        changed(["nodes", 0, "x"], 10**400),
        changed(["nodes", 0, "id"], "\ud800"),
        changed(["streams", 0, "params"], {("a",): 1}),
        changed(["streams", 0, "params", "pickParams"], {1: 2, "start_height": 10**400}),
        changed(["worksites", 0, "pickParams"], {"recognize": "yes"}),
        changed(["robots", 0, "completionStatuses"], [True]),
        changed(["robots", 0, "link"], {"kind": ["sim"]}),
        changed(["robots", 0, "link"], {"kind": "sim", "x": NESTED}),
        changed(["robots", 0, "link"], {"kind": "sim", "since": datetime.date(2024, 1, 1)}),
        changed(["name"], "\ud800"),
        changed(["streams", 0, "meta"], {"a": [float("nan")]}),
        changed(["streams", 0, "meta"], {"since": datetime.date(2024, 1, 1)}),
        changed(["streams", 0, "params", "dropParams"], {"x": "\ud800"}),
        changed(["streams", 0, "params", "dropParams"], {"x": NESTED}),
    ],
)
def test_odd_keys_and_numbers_get_sentences(document: Any) -> None:
    assert problems_of(document)


@given(anything)
@settings(max_examples=100)
def test_hostile_documents_at_the_top_get_sentences(value: Any) -> None:
    with pytest.raises(BadInputError):
        read_fleet(value)
