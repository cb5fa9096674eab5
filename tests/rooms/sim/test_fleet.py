"""The simulated fleet as a whole: the same every time, nothing lost, taken up again where it was."""

import json
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultName, FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene
from beforehand.model.robot import Ack, CancelTarget, GoTarget, PauseRobot, ResumeRobot, Telemetry

LOAD = {"operation": "ForkLoad", "start_height": 0.1, "end_height": 0.5}
UNLOAD = {"operation": "ForkUnload", "start_height": 0.5, "end_height": 0.1}
ROBOTS = ("R1", "R2", "R3")
RING = {"A": (0, 0), "B": (8, 0), "C": (8, 6), "D": (0, 6), "W1": (-2, 0), "W2": (10, 0), "W3": (10, 6), "CH": (-2, 6)}
EDGES = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("A", "W1"), ("B", "W2"), ("C", "W3"), ("D", "CH")]


def ring() -> FleetScene:
    """Three robots on a ring with two pallets, three places and a charger."""
    places = [("W1", "filled"), ("W2", "filled"), ("W3", "empty")]
    sites = [{"worksiteId": n, "worksiteType": "buffer", "entryNodeId": n, "occupancy": o} for n, o in places]
    sites.append({"worksiteId": "CHARGER", "worksiteType": "charger", "entryNodeId": "CH"})
    return FleetScene.model_validate(
        {
            "name": "ring",
            "nodes": [{"id": name, "x": x, "y": y} for name, (x, y) in RING.items()],
            "edges": [{"from": one, "to": other} for one, other in EDGES],
            "worksites": sites,
            "robots": [{"robotId": name, "nodeId": "A", "battery": 0.02, "speedMps": 1.3} for name in ROBOTS],
        }
    )


targets = st.sampled_from([*RING, "NOWHERE"])
work = st.sampled_from([{}, LOAD, UNLOAD])
robots = st.sampled_from(ROBOTS)
orders = st.builds(lambda robot, target, what: ("go", robot, {"id": target, **what}), robots, targets, work)
others = st.tuples(st.sampled_from(["pause", "resume", "cancel"]), robots)
faults = st.tuples(
    st.just("fault"), robots, st.sampled_from(FaultName.__args__), st.one_of(st.none(), st.integers(0, 20))
)
waits = st.tuples(st.just("wait"), st.integers(0, 30_000))
scripts = st.lists(st.one_of(orders, waits, others, faults), max_size=30)
KINDS = {"pause": PauseRobot, "resume": ResumeRobot, "cancel": CancelTarget}


def play(sim: SimFleet, script: list[Any], now_ms: int = 0, first: int = 0) -> tuple[list[Telemetry | Ack], int]:
    """Carry a script out; what was heard, and what time it then is."""
    heard = sim.advance(now_ms)
    for number, (what, *rest) in enumerate(script, start=first):
        if what == "wait":
            now_ms += rest[0]
            heard += sim.advance(now_ms)
        elif what == "go":
            sim.command(GoTarget(f"k{number}", *rest), now_ms)
        elif what == "fault":
            sim.inject(FaultSpec(at_s=0, robot_id=rest[0], fault=rest[1], for_s=rest[2]), now_ms)
        else:
            sim.command(KINDS[what](f"k{number}", rest[0]), now_ms)
    now_ms += 60_000
    return heard + sim.advance(now_ms), now_ms


def text(heard: list[Telemetry | Ack]) -> str:
    return "\n".join(json.dumps(item._asdict() if isinstance(item, Telemetry) else asdict(item)) for item in heard)


@settings(max_examples=150, deadline=None)
@given(scripts)
def test_the_same_commands_give_the_same_bytes(script):
    assert text(play(SimFleet(ring()), script)[0]) == text(play(SimFleet(ring()), script)[0])


@settings(max_examples=150, deadline=None)
@given(scripts)
def test_no_pallet_is_lost_or_doubled(script):
    sim = SimFleet(ring())
    play(sim, script)
    places = list(sim.pallets().values())
    kept = sim.snapshot()["pallets"]
    carried = [pallet for many in kept["carried"].values() for pallet in many]
    held = [pallet for pallet in [*kept["standing"].values(), *carried] if pallet]
    assert sorted(held) == list(sim.pallets()) == ["pallet-1", "pallet-2"]
    assert len(set(places)) == 2


@settings(max_examples=150, deadline=None)
@given(scripts, scripts)
def test_a_restored_fleet_goes_on_as_if_nothing_had_been(before, after):
    sim = SimFleet(ring())
    _, now_ms = play(sim, before)
    sim.command(GoTarget("last", "R1", {"id": "W2", **LOAD}), now_ms)
    kept = json.loads(json.dumps(sim.snapshot()))
    again = SimFleet(ring())
    again.restore(kept)
    assert again.snapshot() == sim.snapshot()
    assert text(play(again, after, now_ms, 100)[0]) == text(play(sim, after, now_ms, 100)[0])
    assert json.dumps(again.snapshot()) == json.dumps(sim.snapshot())


@settings(max_examples=300, deadline=None)
@given(scripts)
def test_reports_are_numbered_in_order_and_a_completion_follows_running(script):
    heard, _ = play(SimFleet(ring()), script)
    for robot in ROBOTS:
        seen = {(item.boot, item.seq): item for item in heard if isinstance(item, Telemetry) and item.robot_id == robot}
        told = [seen[number] for number in sorted(seen)]
        assert [item.ts for item in told] == sorted(item.ts for item in told)
        if not any(step[0] == "fault" and step[1] == robot and step[2] in ("offline", "restart") for step in script):
            assert [item.seq for item in told] == list(range(1, len(told) + 1))
            completions = [one.task_status for one, other in pairwise(told) if other.task_status == 4]
            assert set(completions) <= {2, 4}


@settings(max_examples=100, deadline=None)
@given(scripts)
def test_a_robot_is_always_on_the_roads(script):
    heard, _ = play(SimFleet(ring()), script)
    edges = {frozenset(edge) for edge in EDGES}
    for item in heard:
        if isinstance(item, Telemetry) and item.node_id is not None:
            x0, y0 = RING[item.node_id]
            x1, y1 = RING[item.next_node_id] if item.next_node_id else (x0, y0)
            assert item.next_node_id is None or frozenset((item.node_id, item.next_node_id)) in edges
            assert min(x0, x1) <= item.x <= max(x0, x1)
            assert min(y0, y1) <= item.y <= max(y0, y1)


@settings(max_examples=60, deadline=None)
@given(scripts, st.integers(1, 997))
def test_how_often_it_is_asked_changes_nothing(script, step_ms):
    """Many small steps and one long one give the same reports: nothing is integrated."""
    once, often = SimFleet(ring()), SimFleet(ring())
    heard, now_ms = play(once, script)
    later_ms = now_ms + 20_000
    played, _ = play(often, script)
    for moment in range(now_ms, later_ms, step_ms):
        played += often.advance(moment)
    assert text(heard + once.advance(later_ms)) == text(played + often.advance(later_ms))


def test_reports_come_at_the_period_on_the_way_and_at_the_heartbeat_when_standing():
    sim = SimFleet(ring(), settings=SimSettings(period_ms=250, heartbeat_ms=1000))
    sim.advance(0)
    standing = [item.ts for item in sim.advance(4000) if item.robot_id == "R2"]
    assert standing == [1000, 2000, 3000, 4000]
    sim.command(GoTarget("k", "R1", {"id": "B"}), 4000)
    moving = [item.ts for item in sim.advance(6000) if item.robot_id == "R1" and isinstance(item, Telemetry)]
    assert moving == [4050, 4250, 4500, 4750, 5000, 5250, 5500, 5750, 6000]


def test_a_short_offline_limit_makes_the_heartbeat_faster():
    quick = ring().model_copy(update={"settings": ring().settings.model_copy(update={"offline_after_s": 1.5})})
    sim = SimFleet(quick)
    assert [item.ts for item in sim.advance(0)] == [0, 0, 0]
    assert {item.ts for item in sim.advance(2000)} == {1000, 2000}


def test_time_begins_with_the_first_call_and_never_goes_back():
    start_ms = 1_790_000_000_000
    sim = SimFleet(ring())
    assert {item.ts for item in sim.advance(start_ms)} == {start_ms}
    sim.command(GoTarget("k", "R1", {"id": "B"}), start_ms + 1000)
    assert {item.ts for item in sim.advance(start_ms + 2000)} >= {start_ms + 1050, start_ms + 2000}
    assert sim.advance(start_ms) == []
    sim.command(CancelTarget("l", "R1"), start_ms)
    assert {item.ts for item in sim.advance(start_ms + 2100) if isinstance(item, Ack)} == {start_ms + 2050}
    assert sim.next_ms() > start_ms + 2000


def test_between_two_runs_of_a_server_robots_go_on_unheard():
    sim = SimFleet(ring())
    sim.advance(0)
    sim.command(GoTarget("k", "R1", {"id": "W1", **LOAD}), 0)
    kept = json.loads(json.dumps(sim.snapshot()))
    again = SimFleet(ring())
    again.restore(kept)
    again.settle(600_000)
    assert again.pallets()["pallet-1"] == ("robot", "R1")
    heard = again.advance(600_000)
    assert {(item.robot_id, item.ts) for item in heard} == {(robot, 600_000) for robot in ROBOTS}
    assert next(item for item in heard if item.robot_id == "R1").task_status == 4


def test_after_the_shortest_silence_every_robot_reports_at_once():
    sim = SimFleet(ring())
    sim.advance(0)
    sim.settle(300)
    assert sorted(item.robot_id for item in sim.advance(300)) == list(ROBOTS)


def test_a_snapshot_of_another_scene_is_refused():
    kept = SimFleet(ring()).snapshot()
    with pytest.raises(BadInputError, match="ring"):
        SimFleet(ring()).restore({**kept, "scene": "other"})
    with pytest.raises(BadInputError):
        SimFleet(ring()).restore({})


def test_a_snapshot_outlives_a_change_of_the_scene():
    sim = SimFleet(ring())
    sim.advance(0)
    sim.command(GoTarget("k", "R1", {"id": "C"}), 0)
    sim.command(GoTarget("l", "R2", {"id": "B"}), 0)
    kept = sim.snapshot()
    scene = ring()
    fewer = scene.model_copy(
        update={
            "robots": scene.robots[:2],
            "nodes": tuple(node for node in scene.nodes if node.id != "C" and node.id != "W3"),
            "edges": tuple(edge for edge in scene.edges if not {"C", "W3"} & {edge.from_, edge.to}),
            "worksites": tuple(site for site in scene.worksites if site.worksite_id != "W3"),
        }
    )
    again = SimFleet(fewer)
    again.restore(kept)
    again.advance(60_000)
    assert again.positions()["R1"][:2] == RING["A"]
    assert again.positions()["R2"][:2] == RING["B"]


def test_a_person_brings_and_takes_pallets():
    sim = SimFleet(ring())
    sim.set_occupancy("W3", "filled")
    sim.set_occupancy("W3", "filled")
    sim.set_occupancy("W1", "empty")
    sim.set_occupancy("W2", "unknown")
    sim.set_occupancy("NOWHERE", "filled")
    sim.set_load("R1", True)
    sim.set_load("R2", False)
    assert sim.pallets() == {
        "pallet-2": ("worksite", "W2"),
        "pallet-3": ("worksite", "W3"),
        "pallet-4": ("robot", "R1"),
    }


def test_a_robot_read_on_request_counts_its_report():
    sim = SimFleet(ring())
    first = sim.advance(0)[0]
    asked = sim.read("R1", 100)
    assert (asked.seq, asked.ts) == (first.seq + 1, 100)
    assert sim.read("R9", 100) is None
