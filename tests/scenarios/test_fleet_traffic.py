"""Traffic with `trafficMode: RESERVE`: who waits for whom, who makes room, and what a person is asked."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from beforehand.adapters.sim.faults import read_faults
from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.inputs import AnswerDecision, RequestTransport, RobotVerb
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import snapshot
from beforehand.crafts.fleet.core.why import why
from beforehand.crafts.fleet.sentences import robot_says
from beforehand.crafts.fleet.testing import Shift
from beforehand.crafts.fleet.traffic_testing import traffic_shift
from beforehand.model.robot import DriveOn, GoTarget

CROSSING = Path(__file__).parents[2] / "scenes" / "crossing.yaml"

# A lane with a place at each end and one beside its middle:
#
#              P
#              |
#     W -- A - B - C -- E
LANE = {
    "kind": "fleet",
    "name": "lane",
    "nodes": [{"id": name, "x": x, "y": y} for name, x, y in [("W", 0, 0), ("A", 4, 0), ("B", 8, 0), ("C", 12, 0)]]
    + [{"id": "E", "x": 16, "y": 0}, {"id": "P", "x": 8, "y": 4}, {"id": "Q", "x": 8, "y": -4}],
    "edges": [{"from": one, "to": two} for one, two in ["WA", "AB", "BC", "CE", "BP", "BQ"]],
    "worksites": [
        {"worksiteId": "WEST", "worksiteType": "buffer", "entryNodeId": "W", "occupancy": "filled"},
        {"worksiteId": "EAST", "worksiteType": "buffer", "entryNodeId": "E", "occupancy": "empty"},
    ],
    "robots": [{"robotId": "R1", "nodeId": "W"}, {"robotId": "R2", "nodeId": "E"}],
    "settings": {"trafficMode": "RESERVE", "errorPolicy": "recover"},
}


def lane(faults: Any = (), **settings: Any) -> Shift:
    return traffic_shift(read_fleet({**LANE, "settings": {**LANE["settings"], **settings}}), read_faults(list(faults)))  # type: ignore[dict-item]


def says(shift: Shift, robot_id: str) -> str:
    return str(shift.robot(robot_id).waits_says)


def test_a_crossing_is_driven_by_one_at_a_time_and_nobody_stops_for_good() -> None:
    shift = traffic_shift(read_fleet(yaml.safe_load(CROSSING.read_text(encoding="utf-8"))))
    shift.run(600)
    assert shift.robots.touched == {}
    assert shift.state.completed > 15
    assert not shift.state.decisions
    assert shift.check.violations == []
    waits = [event.data["waitsSays"] for event in shift.events if "waitsSays" in event.data]
    assert any(says.startswith("waits for RB-") and "which holds" in says for says in waits)


def test_orders_go_out_piece_by_piece() -> None:
    shift = lane()
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.state.completed == 1)
    drops = [command for command in shift.commands if isinstance(command, GoTarget) and command.robot_id == "R1"]
    assert drops[-1].way == ("W", "A", "B")
    assert drops[-1].horizon[-1] == "E"
    ons = [command for command in shift.commands if isinstance(command, DriveOn) and command.robot_id == "R1"]
    assert {command.order_key for command in ons} == {drops[-1].key}
    assert ons[-1].way[-1] == "E"
    assert ons[-1].horizon == ()


def test_an_idle_robot_in_the_way_makes_room() -> None:
    shift = lane()
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.state.completed == 1, within_s=300)
    assert shift.robots.touched == {}
    assert shift.state.seen["R1"].report.node_id == "E"
    assert shift.state.seen["R2"].report.node_id in ("P", "Q", "W")
    assert not shift.state.decisions


def test_two_that_want_each_others_place_pass_at_the_passing_place() -> None:
    robots = [{"robotId": "R1", "nodeId": "W", "parkNodeId": "E"}, {"robotId": "R2", "nodeId": "E", "parkNodeId": "W"}]
    shift = traffic_shift(read_fleet({**LANE, "robots": robots}))
    shift.until(lambda: is_settled(shift.state, shift.now), within_s=300)
    assert [shift.state.seen[name].report.node_id for name in ("R1", "R2")] == ["E", "W"]
    assert shift.robots.touched == {}
    assert not shift.state.decisions


def test_a_robot_that_waits_says_for_whom_everywhere() -> None:
    shift = lane([{"atS": 0, "robotId": "R2", "fault": "offline"}], offlineAfterS=1)
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.robot("R1").waits_for is not None, within_s=120)
    assert says(shift, "R1") == "waits for R2, which holds node E and is offline"
    (reason,) = why(shift.state, "R1", shift.now)
    assert (reason.code, reason.says) == ("traffic.waits", "R1 waits for R2, which holds node E and is offline.")
    told = [event for event in shift.events if event.kind == "robotUpdated" and event.data.get("waitsFor") == "R2"]
    assert robot_says(told[-1].data) == "R1 waits for R2, which holds node E and is offline."


TROUBLES = ["offline", "blocked", "lost_position"]


@pytest.mark.parametrize("fault", TROUBLES)
def test_a_wait_behind_a_robot_in_trouble_becomes_a_decision_and_closes_itself(fault: str) -> None:
    shift = lane([{"atS": 0, "robotId": "R2", "fault": fault, "forS": 200}], offlineAfterS=1)
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: any("waitsFor" in one.about for one in shift.state.decisions.values()), within_s=150)
    (decision,) = [one for one in shift.state.decisions.values() if "waitsFor" in one.about]
    assert decision.title.startswith("R1 cannot go on: R2 ")
    assert decision.about["robotId"] == "R1"
    assert "wait" in decision.verbs
    shift.until(lambda: shift.state.completed == 1, within_s=400)
    assert not [one for one in shift.state.decisions.values() if "waitsFor" in one.about]
    assert shift.robots.touched == {}


def test_a_robot_that_a_person_holds_is_asked_about_too() -> None:
    shift = lane()
    shift.tick(RobotVerb("R2", "hold"), RequestTransport("WEST", "EAST"))
    shift.until(lambda: bool(shift.state.decisions), within_s=150)
    (decision,) = shift.state.decisions.values()
    assert decision.title == "R1 cannot go on: R2 is held by a person."
    shift.tick(RobotVerb("R2", "release"))
    shift.until(lambda: shift.state.completed == 1, within_s=300)
    assert not shift.state.decisions


def test_told_to_wait_nobody_is_asked_again() -> None:
    shift = lane([{"atS": 0, "robotId": "R2", "fault": "offline"}], offlineAfterS=1)
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: bool(shift.state.decisions), within_s=150)
    (decision,) = shift.state.decisions.values()
    assert shift.tick(AnswerDecision(decision.id, "wait")) == ()
    shift.run(200)
    assert not shift.state.decisions
    assert shift.robot("R1").waits_for == "R2"


def test_a_task_that_cannot_be_reached_is_handed_back() -> None:
    sites = [{**LANE["worksites"][0], "occupancy": "empty"}, {**LANE["worksites"][1], "occupancy": "filled"}]  # type: ignore[index]
    robots = [{"robotId": "R1", "nodeId": "W"}, {"robotId": "R2", "nodeId": "C"}]
    settings = {**LANE["settings"], "offlineAfterS": 1}  # type: ignore[dict-item]
    faults = read_faults([{"atS": 0, "robotId": "R2", "fault": "offline"}])
    shift = traffic_shift(read_fleet({**LANE, "worksites": sites, "robots": robots, "settings": settings}), faults)
    shift.run(2)
    shift.tick(RequestTransport("EAST", "WEST"))
    shift.until(lambda: bool(shift.state.decisions), within_s=150)
    (decision,) = shift.state.decisions.values()
    assert decision.verbs == ("wait", "hand-back")
    shift.tick(AnswerDecision(decision.id, "hand-back"))
    shift.until(lambda: shift.task().robot_id is None, within_s=60)
    assert shift.robot("R1").waits_for is None


def test_a_wait_does_not_count_as_time_for_the_step() -> None:
    shift = lane([{"atS": 0, "robotId": "R2", "fault": "offline", "forS": 150}], offlineAfterS=1, stepTimeoutS=60)
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.state.completed == 1, within_s=400)
    assert shift.task().status == "completed"


def test_another_way_is_taken_round_a_robot_in_trouble() -> None:
    ring = {
        **LANE,
        "nodes": [*LANE["nodes"], {"id": "U", "x": 12, "y": 8}],  # type: ignore[misc]
        "edges": [*LANE["edges"], {"from": "P", "to": "U"}, {"from": "U", "to": "E"}],  # type: ignore[misc]
        "robots": [{"robotId": "R1", "nodeId": "W"}, {"robotId": "R2", "nodeId": "C"}],
        "settings": {"trafficMode": "RESERVE", "errorPolicy": "recover", "offlineAfterS": 1},
    }
    shift = traffic_shift(read_fleet(ring), read_faults([{"atS": 0, "robotId": "R2", "fault": "offline"}]))
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.state.completed == 1, within_s=300)
    assert not [one for one in shift.state.decisions.values() if "waitsFor" in one.about]
    assert shift.robots.touched == {}


@pytest.mark.parametrize("lost", [False, True])
def test_after_a_restart_what_was_granted_still_counts_as_held(lost: bool) -> None:
    shift = traffic_shift(read_fleet(yaml.safe_load(CROSSING.read_text(encoding="utf-8"))))
    for _ in range(25):
        shift.run(7.5)
        ways = {name: robot.way for name, robot in shift.state.robots.items()}
        shift.restart(lost=lost)
        assert {name: robot.way for name, robot in shift.state.robots.items()} == ways
        assert snapshot(shift.replayed()) == snapshot(shift.state)
    shift.run(120)
    assert shift.robots.touched == {}
    assert shift.state.completed > 4


def test_a_grant_that_gets_lost_is_said_again() -> None:
    shift = lane([{"atS": 12.5, "robotId": "R1", "fault": "lost_command", "forS": 4}])
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.state.completed == 1, within_s=300)
    said = [command.key for command in shift.commands if isinstance(command, DriveOn)]
    assert len(said) == len(set(said))


def test_without_reserve_nothing_is_shared_out() -> None:
    shift = lane(trafficMode="NONE")
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: shift.state.completed == 1, within_s=300)
    assert shift.state.traffic is None
    assert all(command.way is None for command in shift.commands if isinstance(command, GoTarget))
    assert not any("way" in event.data for event in shift.events if event.kind == "robotUpdated")


def test_a_scene_that_no_longer_shares_out_its_ground_forgets_who_waited() -> None:
    shift = lane([{"atS": 0, "robotId": "R2", "fault": "offline"}], offlineAfterS=1)
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: bool(shift.state.decisions), within_s=150)
    shift.scene = read_fleet({**LANE, "settings": {"errorPolicy": "recover", "offlineAfterS": 1}})
    shift.restart()
    assert shift.robot("R1").waits_for is None
    assert shift.robot("R1").way is None
    assert not [one for one in shift.state.decisions.values() if "waitsFor" in one.about]


def test_a_scene_that_has_lost_nodes_of_a_way_is_still_driven() -> None:
    shift = lane()
    shift.tick(RequestTransport("WEST", "EAST"))
    shift.until(lambda: "A" in (shift.robot("R1").way or ()), within_s=60)
    nodes = [{**node, "id": "A2"} if node["id"] == "A" else node for node in LANE["nodes"]]  # type: ignore[union-attr, index]
    edges = [{key: "A2" if node == "A" else node for key, node in edge.items()} for edge in LANE["edges"]]  # type: ignore[union-attr, attr-defined]
    shift.scene = read_fleet({**LANE, "nodes": nodes, "edges": edges})
    shift.restart()
    shift.tick()
    assert shift.state.traffic is not None


def hall_of_aisles() -> dict[str, Any]:
    """Five aisles with a place at each end, joined by three lanes; some aisles are cut through in the middle."""
    ups = {0: (0, 1), 1: (0, 1), 2: (), 3: (0,), 4: (0, 1)}
    nodes = [{"id": f"N{x}-{y}", "x": 4 * x, "y": 4 * y} for x in range(5) for y in range(3)]
    nodes += [{"id": f"{end}{x}", "x": 4 * x, "y": y} for x in range(5) for end, y in (("S", -4), ("N", 12))]
    edges = [(f"N{x}-{y}", f"N{x}-{y + 1}") for x, rows in ups.items() for y in rows]
    edges += [(f"N{x}-{y}", f"N{x + 1}-{y}") for x in range(4) for y in range(3)]
    edges += [pair for x in range(5) for pair in ((f"N{x}-0", f"S{x}"), (f"N{x}-2", f"N{x}"))]
    places = ["N0", "S4", "S3", "S1", "N3", "N2", "N1", "N4"]
    stand = {"N2": 0.5, "S2": 0.5, "S3": 1.0, "N0": 2.0, "N1": 0.5, "S0": 0.5, "S4": 0.5}
    return {
        "kind": "fleet",
        "name": "hall",
        "nodes": nodes,
        "edges": [{"from": one, "to": two} for one, two in edges],
        "worksites": [
            {
                "worksiteId": f"W{n}",
                "worksiteType": "buffer",
                "entryNodeId": place,
                "occupancy": "filled" if n < 4 else "empty",
            }
            for n, place in enumerate(places)
        ],
        "robots": [{"robotId": f"R{n}", "nodeId": at, "speedMps": mps} for n, (at, mps) in enumerate(stand.items())],
        "streams": [
            {
                "streamId": "s",
                "params": {"pickGroup": ["W0", "W1", "W2", "W3"], "dropGroup": ["W4", "W5", "W6", "W7"]},
            }
        ],
        "settings": {"trafficMode": "RESERVE", "errorPolicy": "recover"},
    }


def test_who_only_makes_room_does_not_drive_another_from_its_place() -> None:
    shift = traffic_shift(read_fleet(hall_of_aisles()))
    shift.until(lambda: is_settled(shift.state, shift.now), within_s=900)
    assert shift.state.completed == 4
    assert shift.robots.touched == {}
    assert shift.check.violations == []


def comb() -> dict[str, Any]:
    """A lane of three nodes with a place on either side of each; four robots, and pallets on three of the places."""
    nodes = [{"id": f"{row}{x}", "x": 4 * x, "y": y} for x in range(3) for row, y in (("L", 0), ("S", -4), ("N", 4))]
    edges = [("L0", "L1"), ("L1", "L2"), *((f"L{x}", f"{row}{x}") for x in range(3) for row in "SN")]
    stand = {"S2": 0.5, "N2": 1.0, "S0": 1.0, "N0": 2.0}
    return {
        **hall_of_aisles(),
        "nodes": nodes,
        "edges": [{"from": one, "to": two} for one, two in edges],
        "worksites": [
            {"worksiteId": place, "worksiteType": "buffer", "entryNodeId": place, "occupancy": lies}
            for place, lies in zip(["S0", "S1", "N1", "S2", "N0", "N2"], 3 * ["filled"] + 3 * ["empty"], strict=True)
        ],
        "robots": [{"robotId": f"R{n}", "nodeId": at, "speedMps": mps} for n, (at, mps) in enumerate(stand.items())],
        "streams": [
            {"streamId": "s", "params": {"pickGroup": ["S0", "S1", "N1"], "dropGroup": ["S2", "N0", "N2"]}},
        ],
    }


def test_robots_that_would_make_room_for_each_other_for_ever_gather_and_one_goes_first() -> None:
    shift = traffic_shift(read_fleet(comb()))
    gathered: set[str] = set()
    while not is_settled(shift.state, shift.now):
        shift.tick()
        assert not shift.state.decisions
        gathering = shift.state.traffic.gathering if shift.state.traffic is not None else None
        if gathering is not None:
            gathered.add(gathering.leader)
            assert all(name == gathering.leader or "goes first" in says(shift, name) for name in waiting(shift))
    assert gathered
    assert (shift.state.completed, shift.robots.touched, shift.check.violations) == (3, {}, [])
    assert shift.now < 400_000


def waiting(shift: Shift) -> list[str]:
    return [name for name, robot in shift.state.robots.items() if robot.waits_for is not None]


@pytest.mark.parametrize("trouble", ["offline", "blocked", "restart"])
def test_a_gathering_ends_where_a_robot_is_in_trouble_and_begins_again(trouble: str) -> None:
    shift = traffic_shift(read_fleet(comb()))
    shift.until(lambda: shift.state.traffic is not None and shift.state.traffic.gathering is not None, within_s=600)
    shift.run(3)
    struck = {"atS": 0, "robotId": "R1", "fault": trouble}
    shift.robots.inject(*read_faults([struck if trouble == "restart" else {**struck, "forS": 30}]), shift.now)
    shift.restart()
    shift.until(lambda: is_settled(shift.state, shift.now) and not shift.state.decisions, within_s=1800)
    assert (shift.state.completed, shift.robots.touched, shift.check.violations) == (3, {}, [])


def test_after_a_start_nobody_drives_before_all_have_said_where_they_are() -> None:
    shift = lane([{"atS": 10, "robotId": "R2", "fault": "offline"}], offlineAfterS=8)
    shift.run(12)
    shift.restart()
    assert (shift.state.seen["R1"].heard, shift.state.seen["R2"].heard) == (True, False)
    shift.tick(RequestTransport("WEST", "EAST"))
    while shift.robot("R2").status != "offline":
        assert shift.commands == []
        shift.tick()
    shift.run(1)
    assert "R1" in {command.robot_id for command in shift.commands}
