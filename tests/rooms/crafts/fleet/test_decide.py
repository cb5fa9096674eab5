"""`decide` is pure, and what it returns is all there is."""

import copy

import pytest

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.decide import PHASES, decide, step
from beforehand.crafts.fleet.core.inputs import FleetVerb, RobotVerb, TaskVerb
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.state import evolve, initial, robot_wire, snapshot
from beforehand.model.fleet import FleetScene, Robot, Task
from beforehand.model.records import from_wire, wire_of

SCENE = {
    "name": "pure",
    "nodes": [{"id": f"N{n}", "x": 5 * n, "y": 0} for n in range(4)],
    "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(3)],
    "worksites": [
        {"worksiteId": "A", "worksiteType": "pickup", "entryNodeId": "N1", "occupancy": "filled"},
        {"worksiteId": "B", "worksiteType": "dropoff", "entryNodeId": "N2", "occupancy": "empty"},
        {"worksiteId": "P", "worksiteType": "park", "entryNodeId": "N3"},
    ],
    "robots": [{"robotId": "R", "nodeId": "N0"}],
    "streams": [{"streamId": "s", "params": {"pickGroup": ["A"], "dropGroup": ["B"]}}],
}


@pytest.fixture
def scene() -> FleetScene:
    return read_fleet(SCENE)


def test_a_tick_is_its_phases_in_order() -> None:
    names = [phase.__name__ for phase in PHASES]
    assert names == [
        "telemetry",
        "progress",
        "people",
        "kinds_tick",
        "errors",
        "standing",
        "candidates",
        "arbitration",
        "assignment",
        "commands",
        "parking",
        "charging",
        "traffic",
    ]


def test_decide_leaves_the_state_as_it_was_and_answers_the_same_again(scene: FleetScene) -> None:
    state, sim = initial(scene), SimFleet(scene)
    for tick in range(120):
        now = tick * 500
        inputs = [*sim.advance(now)]
        if tick == 20:
            inputs += [TaskVerb("pure-t1", "redo"), RobotVerb("R", "hold"), FleetVerb("hold")]  # type: ignore[list-item]
        if tick == 30:
            inputs += [RobotVerb("R", "release"), FleetVerb("clear")]  # type: ignore[list-item]
        before, seen = copy.deepcopy(snapshot(state)), dict(state.seen)
        once, twice = decide(state, inputs, now), decide(state, inputs, now)
        assert once == twice
        assert snapshot(state) == before
        assert state.seen == seen
        state, done = step(state, inputs, now)
        assert done == once
        for command in done.commands:
            sim.command(command, now)
    assert state.completed == 1


def test_robots_are_logged_on_change_and_not_every_tick(scene: FleetScene) -> None:
    result = simulate(scene, SimFleet(scene))
    updates = [event for event in result.events if event.kind == "robotUpdated"]
    assert len(updates) < 12 < result.ticks


def test_every_event_belongs_to_the_fleet_and_replays(scene: FleetScene) -> None:
    result = simulate(scene, SimFleet(scene))
    state = initial(scene)
    for event in result.events:
        assert (event.owner, event.scene) == ("fleet:pure", "pure")
        evolve(state, event)
    assert snapshot(state) == snapshot(result.state)
    assert [event.seq for event in result.events] == list(range(1, len(result.events) + 1))


def test_the_result_has_the_contracts_keys(scene: FleetScene) -> None:
    shown = simulate(scene, SimFleet(scene)).wire()
    assert list(shown) == [
        "tasksCompleted",
        "tasksFailed",
        "simSeconds",
        "ticks",
        "robots",
        "worksites",
        "streams",
        "invariantViolations",
    ]
    assert shown["robots"][0]["phase"] == "idle"
    assert shown["robots"][0]["nodeId"] == "N3"
    assert shown["tasksCompleted"] == 1


def test_for_seconds_runs_that_long(scene: FleetScene) -> None:
    result = simulate(scene, SimFleet(scene), for_s=10)
    assert (result.sim_seconds, result.ticks, result.ended) == (10.0, 21, "time")


def test_records_survive_the_wire() -> None:
    task = Task("t", None, "A", "B", waits_for="person", error="It broke.")
    robot = Robot("R", load_state="loaded", out_of_service=True)
    assert from_wire(Task, wire_of(task)) == task
    assert from_wire(Robot, wire_of(robot)) == robot


def test_a_robot_on_the_wire_has_the_specs_fields(scene: FleetScene) -> None:
    state = initial(scene)
    shown = robot_wire(state.robots["R"], state.seen["R"])
    assert {"robotId", "status", "phase", "nodeId", "battery", "loadState", "lastSeenTsMs"} <= set(shown)
    assert {"loadStateSource", "loadStateConfidence"} <= set(shown)
