"""Transport on request: every word accounted for, names told, nothing guessed."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.crafts.fleet.core.requests import Request, read_request, request_steps
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene

NODES = [{"id": f"N{n}", "x": n, "y": 0} for n in range(5)]
EDGES = [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(4)]
SITES = [("PICK_01", "pickup"), ("DROP_01", "dropoff"), ("DROP_03", "dropoff"), ("CHARGE_1", "charger")]


@pytest.fixture(scope="module")
def scene() -> FleetScene:
    return read_fleet(
        {
            "kind": "fleet",
            "name": "dock",
            "nodes": NODES,
            "edges": EDGES,
            "worksites": [
                {"worksiteId": name, "worksiteType": kind, "entryNodeId": f"N{at}"}
                for at, (name, kind) in enumerate(SITES)
            ],
            "robots": [{"robotId": "RB-01", "nodeId": "N4"}, {"robotId": "RB-02", "nodeId": "N4"}],
        }
    )


MOVE = Request("transport", "PICK_01", "DROP_03")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("move the pallet from PICK_01 to DROP_03", [MOVE]),
        ("Please bring the goods from pick 01 to drop 03!", [MOVE]),
        ("carry it from PICK-01 to DROP_03, then send RB-02 to charge", [MOVE, Request("charge", robot_id="RB-02")]),
        ("send rb 01 to the charging station and park RB-02", ["charge RB-01", "park RB-02"]),
        ("let RB-01 go to park", ["park RB-01"]),
        ("recharge RB-01.", ["charge RB-01"]),
    ],
)
def test_what_is_understood(scene: FleetScene, text: str, expected: list[Any]) -> None:
    read = read_request(scene, text)
    assert not read.refused, read.says
    wanted = [one if isinstance(one, Request) else Request(one.split()[0], robot_id=one.split()[1]) for one in expected]
    assert list(read.requests) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "don't move the pallet from PICK_01 to DROP_03",
        "move the pallet from PICK_01 or DROP_01 to DROP_03",
        "move the pallet from PICK_01 to DROP_03 if it is free",
        "move the pallet from PICK_01 to DROP_03?",
        "move the pallet to DROP_03",
        "move the pallet from PICK_01",
        "send it to charge",
        "send RB-01 home",
        "send RB-01 and RB-02",
        "fly",
        "",
        "please",
        "move " * 2_000,
    ],
)
def test_what_is_not_certain_is_refused_and_never_guessed(scene: FleetScene, text: str) -> None:
    read = read_request(scene, text)
    assert read.refused
    assert read.says.endswith(".")
    assert read.try_next


def test_a_refusal_says_what_it_did_understand(scene: FleetScene) -> None:
    read = read_request(scene, "move the pallet from PICK_01 to DROP_03, then dance")
    assert read.understood == ("Move the pallet from PICK_01 to DROP_03",)
    assert read.words == ("dance",)
    assert "Move the pallet from PICK_01 to DROP_03" in read.says


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("move the pallet from PICK_09 to DROP_99", ["PICK_09", "DROP_99"]),
        ("send RB-77 to charge, then park RB-78", ["RB-77", "RB-78"]),
        ("move the pallet from PICK_01 to PICK_01", ["PICK_01"]),
        ("move the pallet from PICK_01 to CHARGE_1", ["CHARGE_1"]),
        (
            {"steps": [{"action": "transport", "from": "PICK_01", "to": "X"}, {"action": "park"}]},
            ["X", "steps[1].robotId"],
        ),
        ({"steps": [{"action": "fly"}]}, ["steps[0]"]),
        ({"steps": [{"action": "park", "robotId": "RB-01", "speed": 3}]}, ["speed"]),
        ({"steps": [{"action": "transport", "from": "PICK_01", "to": "DROP_01", "priority": "high"}]}, ["steps[0]"]),
    ],
)
def test_names_nobody_has_are_problems_with_the_names_there_are(
    scene: FleetScene, asked: Any, about: list[str]
) -> None:
    with pytest.raises(BadInputError) as refused:
        read_request(scene, asked)
    assert [problem.about for problem in refused.value.problems] == about
    assert all(problem.fixable_by == "user" and problem.says.endswith(".") for problem in refused.value.problems)


@pytest.mark.parametrize("intent", [None, [], 7, {}, {"steps": []}, {"steps": "all"}])
def test_what_is_no_intent(scene: FleetScene, intent: Any) -> None:
    with pytest.raises(BadInputError, match="list of `steps`"):
        read_request(scene, intent)


def test_requests_become_steps_one_after_the_other(scene: FleetScene) -> None:
    intent = {
        "steps": [
            {"action": "transport", "from": "PICK_01", "to": "DROP_03", "priority": 5},
            {"action": "park", "robotId": "RB-01"},
        ]
    }
    first, second = request_steps(scene, read_request(scene, intent))
    assert first["tool"] == "fleet.transport"
    assert first["args"] == {"scene": "dock", "from": "PICK_01", "to": "DROP_03", "priority": 5.0}
    assert (second["tool"], second["dependsOn"]) == ("fleet.park", ["step_1"])


def test_names_that_read_alike_are_not_guessed_between(scene: FleetScene) -> None:
    twins = scene.worksites[0].model_copy(update={"worksite_id": "PICK01"})
    both = scene.model_copy(update={"worksites": (*scene.worksites, twins)})
    with pytest.raises(BadInputError):
        read_request(both, "move the pallet from PICK 01 to DROP_03")


WORDS = st.lists(
    st.sampled_from(
        [
            "move",
            "the",
            "pallet",
            "from",
            "to",
            "PICK_01",
            "DROP_03",
            "RB-01",
            "send",
            "park",
            "charge",
            "and",
            "then",
            "not",
            "or",
            ",",
            ".",
            "?",
            "zebra",
        ]
    ),
    max_size=14,
)


@settings(max_examples=200)
@given(WORDS)
def test_no_sentence_breaks_it_and_none_with_a_stray_word_is_taken(words: list[str]) -> None:
    scene = read_fleet(
        {
            "kind": "fleet",
            "name": "dock",
            "nodes": NODES,
            "edges": EDGES,
            "worksites": [
                {"worksiteId": name, "worksiteType": kind, "entryNodeId": f"N{at}"}
                for at, (name, kind) in enumerate(SITES)
            ],
            "robots": [{"robotId": "RB-01", "nodeId": "N4"}],
        }
    )
    try:
        read = read_request(scene, " ".join(words))
    except BadInputError:
        return
    if {"not", "or", "?", "zebra"} & set(words):
        assert read.refused
