"""Any scene with room beside its lanes, any robots, any pallets: no two bodies ever touch, and everything gets done."""

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beforehand.adapters.sim.faults import FaultSpec
from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.traffic.memory import TrafficMemory
from beforehand.crafts.fleet.traffic_testing import traffic_shift

BOUND_S = 3600


@st.composite
def halls(draw: st.DrawFn) -> dict[str, Any]:
    """A grid of lanes, some missing, with places beside it along two sides; robots and pallets are put there."""
    wide, deep = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    apart = draw(st.sampled_from([2.0, 2.5, 4.0]))
    nodes, edges, places = [], [], []
    for x in range(wide):
        for y in range(deep):
            nodes.append({"id": f"N{x}-{y}", "x": apart * x, "y": apart * y})
            if x:
                edges.append({"from": f"N{x - 1}-{y}", "to": f"N{x}-{y}"})
            if y and (x in (0, wide - 1) or draw(st.booleans())):
                edges.append({"from": f"N{x}-{y - 1}", "to": f"N{x}-{y}"})
        for side, y, row in (("S", -apart, 0), ("N", apart * deep, deep - 1)):
            nodes.append({"id": f"{side}{x}", "x": apart * x, "y": y})
            edges.append({"from": f"N{x}-{row}", "to": f"{side}{x}"})
            places.append(f"{side}{x}")
    places = draw(st.permutations(places))
    many = draw(st.integers(1, len(places) // 2))
    sizes = st.sampled_from([{}, {}, {"lengthM": 1.0, "widthM": 0.8}, {"lengthM": 1.2, "widthM": 1.2}])
    starts = draw(st.permutations(places))[: draw(st.integers(2, max(2, len(places) - 2)))]
    return {
        "name": "hall",
        "nodes": nodes,
        "edges": edges,
        "worksites": [
            {"worksiteId": f"W{n}", "worksiteType": "buffer", "entryNodeId": node, "occupancy": "filled"}
            | ({} if n < many else {"occupancy": "empty"})
            for n, node in enumerate(places[: 2 * many])
        ],
        "robots": [
            {"robotId": f"R{n}", "nodeId": node, "speedMps": draw(st.sampled_from([0.5, 1.0, 2.0])), **draw(sizes)}
            for n, node in enumerate(starts)
        ],
        "streams": [
            {
                "streamId": "s",
                "params": {
                    "pickGroup": [f"W{n}" for n in range(many)],
                    "dropGroup": [f"W{n}" for n in range(many, 2 * many)],
                },
            }
        ],
        "settings": {"trafficMode": "RESERVE", "errorPolicy": "recover"},
    }


def has_room(document: dict[str, Any]) -> bool:
    scene = read_fleet(document)
    memory = TrafficMemory.of(scene)
    return memory is not None and len(memory.resting) > len(scene.robots)


def check_that_all_gets_done(document: dict[str, Any]) -> None:
    """Everything gets done, also on a single lane with nothing but dead ends, and nobody is asked."""
    shift = traffic_shift(read_fleet(document))
    shift.until(lambda: is_settled(shift.state, shift.now) or bool(shift.state.decisions), within_s=BOUND_S)
    assert shift.robots.touched == {}
    assert shift.check.violations == []
    assert not shift.state.decisions
    assert shift.state.completed == len(document["worksites"]) // 2


@given(halls().filter(has_room))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_nobody_touches_and_everything_gets_done(document: dict[str, Any]) -> None:
    check_that_all_gets_done(document)


@pytest.mark.soak
@given(halls().filter(has_room))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_nobody_touches_and_everything_gets_done_in_many_halls(document: dict[str, Any]) -> None:
    check_that_all_gets_done(document)


FAULTS = ["offline", "blocked", "paused_by_hand", "restart", "cancelled_by_hand", "status5", "lost_command", "lost_ack"]


def check_with_faults(document: dict[str, Any], faults: list[FaultSpec], crashes: list[int]) -> None:
    """Whatever goes wrong, nobody touches, and where something is left undone a person is asked."""
    names = {robot["robotId"] for robot in document["robots"]}
    shift = traffic_shift(read_fleet(document), [fault for fault in faults if fault.robot_id in names])
    for second in range(0, 600, 10):
        shift.run(10)
        if second // 10 in crashes:
            shift.restart()
    assert shift.robots.touched == {}
    undone = shift.state.completed + shift.state.failed < len(document["worksites"]) // 2
    if undone and is_settled(shift.state, shift.now):
        assert shift.state.decisions or shift.state.hold


def some_faults() -> st.SearchStrategy[list[FaultSpec]]:
    return st.lists(
        st.fixed_dictionaries(
            {
                "atS": st.integers(0, 200).map(float),
                "robotId": st.sampled_from(["R0", "R1"]),
                "fault": st.sampled_from(FAULTS),
                "forS": st.none() | st.integers(1, 60).map(float),
            }
        ).map(FaultSpec.model_validate),
        max_size=4,
    )


@given(halls().filter(has_room), some_faults(), st.lists(st.integers(0, 40), max_size=3))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_nobody_touches_whatever_goes_wrong(
    document: dict[str, Any], faults: list[FaultSpec], crashes: list[int]
) -> None:
    check_with_faults(document, faults, crashes)


@pytest.mark.soak
@given(halls().filter(has_room), some_faults(), st.lists(st.integers(0, 40), max_size=3))
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_nobody_touches_whatever_goes_wrong_in_many_halls(
    document: dict[str, Any], faults: list[FaultSpec], crashes: list[int]
) -> None:
    check_with_faults(document, faults, crashes)


@given(st.floats(0.5, 4), st.floats(0.5, 4), st.floats(-math.pi, math.pi), st.floats(1, 6))
@settings(max_examples=60, deadline=None)
def test_what_clashes_does_so_both_ways(length: float, width: float, turn: float, far: float) -> None:
    from beforehand.crafts.fleet.core.traffic.ground import Ground

    scene = read_fleet(
        {
            "name": "two",
            "nodes": [
                {"id": "A", "x": 0, "y": 0},
                {"id": "B", "x": 5, "y": 0},
                {"id": "C", "x": far * math.cos(turn), "y": far * math.sin(turn)},
                {"id": "D", "x": 9, "y": 9},
            ],
            "edges": [{"from": "A", "to": "B"}, {"from": "A", "to": "C"}, {"from": "C", "to": "D"}],
            "robots": [{"robotId": "R", "nodeId": "A", "lengthM": length, "widthM": width}],
        }
    )
    ground = Ground(scene)
    for piece in range(7):
        for other in ground.clashes(piece, 0, 0):
            assert piece in ground.clashes(other, 0, 0)
