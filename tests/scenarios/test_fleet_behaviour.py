"""specs/fleet.md section by section, given / when / then, on virtual time against simulated or scripted robots."""

from typing import Any

import pytest

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.inputs import PatchStream, PatchWorksite, RequestTransport, TaskVerb
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.state import snapshot
from beforehand.crafts.fleet.core.warnings import warnings
from beforehand.crafts.fleet.core.why import why_everything, why_robot
from beforehand.crafts.fleet.testing import ScriptedRobots, Shift
from beforehand.model.robot import CancelTarget, GoTarget


def line(picks: int = 1, drops: int = 1, robots: int = 1, park: bool = True, **more: Any) -> dict[str, Any]:
    """RB-01.. at LM1; PICK_01.. at 10, 20 … m; DROP_01.. after them; a park place behind."""
    nodes = [{"id": "LM1", "x": 0, "y": 0}, {"id": "PK", "x": 0, "y": 10}]
    edges: list[dict[str, Any]] = [{"from": "LM1", "to": "PK"}]
    sites: list[dict[str, Any]] = []
    last = "LM1"
    kinds = [("PICK", "pickup", "filled")] * picks + [("DROP", "dropoff", "empty")] * drops
    for number, (name, kind, occupancy) in enumerate(kinds):
        count = number + 1 if name == "PICK" else number - picks + 1
        node = f"AP_{name}_{count:02}"
        nodes.append({"id": node, "x": 10 * (number + 1), "y": 0})
        edges.append({"from": last, "to": node})
        last = node
        site = {"worksiteId": f"{name}_{count:02}", "worksiteType": kind, "entryNodeId": node, "occupancy": occupancy}
        sites.append(site)
    if park:
        sites.append({"worksiteId": "PARK_01", "worksiteType": "park", "entryNodeId": "PK"})
    return {
        "kind": "fleet",
        "name": "line",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": [{"robotId": f"RB-{n + 1:02}", "nodeId": "LM1", "loadState": "empty"} for n in range(robots)],
        "streams": [
            {
                "streamId": "stream_1",
                "kind": "pickDrop",
                "params": {
                    "pickGroup": [f"PICK_{n + 1:02}" for n in range(picks)],
                    "dropGroup": [f"DROP_{n + 1:02}" for n in range(drops)],
                },
            }
        ],
        "settings": {},
        **more,
    }


def with_policy(scene: dict[str, Any], **policy: Any) -> dict[str, Any]:
    scene["streams"][0]["params"]["dropPolicy"] = policy
    return scene


def set_occupancy(scene: dict[str, Any], site: str, occupancy: str) -> dict[str, Any]:
    next(one for one in scene["worksites"] if one["worksiteId"] == site)["occupancy"] = occupancy
    return scene


def targets(shift: Shift) -> list[str]:
    """The drop places in the order in which tasks were made."""
    return [event.data["targetId"] for event in shift.events if event.kind == "taskCreated"]


# 5 Generic rules


def test_fleet_5_a_pick_and_a_drop_are_one_event_each() -> None:
    shift = Shift(line())
    shift.run(120)
    picked = next(event for event in shift.events if event.kind == "palletPicked")
    dropped = next(event for event in shift.events if event.kind == "palletDropped")
    assert (picked.data["worksiteId"], picked.data["occupancy"], picked.data["loadState"]) == (
        "PICK_01",
        "empty",
        "loaded",
    )
    assert (dropped.data["worksiteId"], dropped.data["occupancy"], dropped.data["loadState"]) == (
        "DROP_01",
        "filled",
        "empty",
    )


@pytest.mark.parametrize(("site", "occupancy"), [("PICK_01", "empty"), ("DROP_01", "filled")])
def test_fleet_5_nothing_is_picked_from_empty_or_dropped_on_filled(site: str, occupancy: str) -> None:
    shift = Shift(set_occupancy(line(), site, occupancy))
    shift.run(60)
    assert "taskCreated" not in shift.kinds()


@pytest.mark.parametrize("site", ["PICK_01", "DROP_01"])
def test_fleet_5_unknown_is_neither_picked_from_nor_dropped_to(site: str) -> None:
    shift = Shift(set_occupancy(line(), site, "unknown"))
    shift.run(60)
    assert "taskCreated" not in shift.kinds()


def test_fleet_5_a_loaded_robot_does_not_pick() -> None:
    scene = line()
    scene["robots"][0]["loadState"] = "loaded"
    shift = Shift(scene)
    shift.run(60)
    assert "taskCreated" not in shift.kinds()


# 6.1 Reference scenario


def test_fleet_6_1_reference_scenario() -> None:
    shift = Shift(line())
    shift.run(200)
    phases: list[str] = []
    for event in shift.events:
        if event.kind == "robotUpdated" and (not phases or phases[-1] != event.data["phase"]):
            phases.append(event.data["phase"])
    assert phases == ["moving_to_pick", "picking", "moving_to_drop", "dropping", "parking", "idle"]
    assert shift.task().status == "completed"
    assert shift.site("PICK_01").occupancy == "empty"
    assert shift.site("DROP_01").occupancy == "filled"
    assert shift.robot().load_state == "empty"
    assert shift.state.seen["RB-01"].report.node_id == "PK"
    assert {"taskCreated", "taskUpdated", "worksiteUpdated", "robotUpdated"} <= set(shift.kinds())


def test_fleet_6_1_without_a_park_place_the_robot_stays_where_it_is() -> None:
    shift = Shift(line(park=False))
    shift.run(200)
    assert shift.robot().phase == "idle"
    assert shift.state.seen["RB-01"].report.node_id == "AP_DROP_01"


def test_fleet_6_1_filling_the_pick_place_makes_a_new_task() -> None:
    shift = Shift(set_occupancy(line(), "PICK_01", "empty"))
    shift.run(30)
    shift.robots.set_occupancy("PICK_01", "filled")
    shift.tick(PatchWorksite("PICK_01", "filled"))
    assert shift.task().status == "active"
    shift.run(120)
    assert shift.task().status == "completed"


def test_fleet_6_1_the_same_scene_gives_the_same_log() -> None:
    def log() -> list[Any]:
        scene = read_fleet(line(picks=3, drops=3, robots=2))
        return [event.wire() for event in simulate(scene, SimFleet(scene)).events]

    assert log() == log()


# 6.2 Selection


def test_fleet_6_2_drops_are_filled_in_the_order_of_the_stream() -> None:
    shift = Shift(line(picks=3, drops=3))
    shift.run(600)
    assert targets(shift) == ["DROP_01", "DROP_02", "DROP_03"]


def test_fleet_6_2_preceding_empty_is_read_literally() -> None:
    scene = with_policy(line(picks=3, drops=3), accessRule="preceding_empty")
    shift = Shift(scene)
    shift.run(600)
    assert targets(shift) == ["DROP_01"]


def test_fleet_6_2_a_lane_is_filled_from_its_far_end() -> None:
    policy = {"selection": "last_available_in_order", "accessRule": "preceding_empty"}
    shift = Shift(with_policy(line(picks=3, drops=3, robots=2), **policy))
    shift.run(900)
    assert targets(shift) == ["DROP_03", "DROP_02", "DROP_01"]
    assert shift.state.completed == 3


def test_fleet_6_2_an_occupied_place_ends_the_reachable_part_of_a_lane() -> None:
    policy = {"selection": "last_available_in_order", "accessRule": "preceding_empty"}
    shift = Shift(set_occupancy(with_policy(line(picks=3, drops=3), **policy), "DROP_02", "filled"))
    shift.run(900)
    assert targets(shift) == ["DROP_01"]


def test_fleet_6_2_before_commit_the_task_goes_to_another_drop() -> None:
    shift = Shift(with_policy(line(drops=3), commitDistanceM=1))
    shift.until(lambda: shift.task().step == "drop" if shift.state.tasks else False)
    shift.run(2)
    shift.tick(PatchWorksite("DROP_01", "filled"))
    assert shift.task().next_target_id == "DROP_02"
    assert shift.site("DROP_02").reserved_by == "line-t1"
    shift.run(200)
    assert shift.site("DROP_01").occupancy == "filled"
    assert shift.task().status == "completed"
    assert shift.site("DROP_02").occupancy == "filled"


def test_fleet_6_2_after_commit_the_task_is_held_with_a_decision() -> None:
    shift = Shift(with_policy(line(drops=3), commitDistanceM=100))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().committed)
    shift.tick(PatchWorksite("DROP_01", "filled"))
    assert shift.task().status == "held"
    assert shift.task().target_id == "DROP_01"
    assert shift.site("DROP_01").occupancy == "reserved"
    assert shift.site("DROP_01").occupancy_before == "filled"
    decision = next(iter(shift.state.decisions.values()))
    assert "abort" in decision.verbs


@pytest.mark.parametrize("verb", ["resume", "redo"])
def test_fleet_5_nobody_can_send_a_pallet_onto_a_filled_place(verb: str) -> None:
    shift = Shift(with_policy(line(drops=3), commitDistanceM=100))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().committed)
    shift.tick(PatchWorksite("DROP_01", "filled"))
    reasons = shift.tick(TaskVerb(shift.task().task_id, verb))
    assert [reason.says for reason in reasons] == ["DROP_01 is filled, and the drop needs it empty."]
    assert shift.task().status == "held"
    shift.tick(PatchWorksite("DROP_01", "empty"))
    assert shift.tick(TaskVerb(shift.task().task_id, verb)) == ()
    shift.until(lambda: shift.task().status == "completed")


@pytest.mark.parametrize("verb", ["resume", "redo"])
def test_fleet_6_2_a_held_task_that_is_not_committed_goes_on_to_a_place_that_is_free_by_now(verb: str) -> None:
    shift = Shift(with_policy(line(drops=2), commitDistanceM=2))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().step == "drop")
    shift.tick(PatchWorksite("DROP_02", "filled"))
    shift.tick(PatchWorksite("DROP_01", "filled"))
    assert shift.task().status == "held"
    assert [reason.code for reason in shift.tick(TaskVerb("line-t1", verb))] == ["worksite.wrong"]
    shift.tick(PatchWorksite("DROP_02", "empty"))
    assert shift.tick(TaskVerb("line-t1", verb)) == ()
    shift.until(lambda: shift.task().status == "completed")
    assert shift.task().target_id == "DROP_02"
    assert shift.site("DROP_01").occupancy == "filled"
    assert not shift.state.decisions
    assert shift.check.end() == []


def test_fleet_6_2_commit_distance_is_measured_along_the_route() -> None:
    scene = with_policy(line(), commitDistanceM=4)
    scene["nodes"].append({"id": "FAR", "x": 10, "y": 50})
    scene["edges"] = [
        {"from": "LM1", "to": "PK"},
        {"from": "LM1", "to": "AP_PICK_01"},
        {"from": "AP_PICK_01", "to": "FAR"},
        {"from": "FAR", "to": "AP_DROP_01"},
    ]
    shift = Shift(scene)
    shift.until(lambda: bool(shift.state.tasks) and shift.task().step == "drop")
    shift.run(30)
    assert not shift.task().committed, "10 m through the air, but almost 100 m to drive"
    shift.until(lambda: shift.task().committed)


def test_fleet_6_2_a_pallet_taken_away_before_the_pick_cancels_the_task() -> None:
    shift = Shift(line())
    shift.run(3)
    shift.tick(PatchWorksite("PICK_01", "empty"))
    shift.run(30)
    assert shift.task().status == "canceled"
    assert shift.site("PICK_01").occupancy == "empty"
    assert shift.site("DROP_01").occupancy == "empty"


def test_fleet_6_2_work_calls_a_robot_off_its_way_to_the_park_place() -> None:
    shift = Shift(set_occupancy(line(), "PICK_01", "empty"))
    shift.until(lambda: shift.robot().phase == "parking")
    shift.run(3)
    shift.robots.set_occupancy("PICK_01", "filled")
    shift.tick(PatchWorksite("PICK_01", "filled"))
    assert shift.robot().phase == "moving_to_pick"
    assert shift.site("PARK_01").occupancy == "empty"


@pytest.mark.parametrize("ids", [True, False])
def test_fleet_6_2_a_new_order_takes_effect_at_the_next_node(ids: bool) -> None:
    scene = read_fleet(set_occupancy(line(), "PICK_01", "empty"))
    shift = Shift(scene, SimFleet(scene, (), SimSettings(task_ids=ids)))
    shift.until(lambda: shift.robot().phase == "parking")
    shift.run(4)
    shift.robots.set_occupancy("PICK_01", "filled")
    shift.tick(PatchWorksite("PICK_01", "filled"))
    nodes = []
    for _ in range(400):
        shift.tick()
        node = shift.state.seen["RB-01"].report.node_id
        if not nodes or nodes[-1] != node:
            nodes.append(node)
    assert nodes == ["LM1", "PK", "LM1", "AP_PICK_01", "AP_DROP_01", "AP_PICK_01", "LM1", "PK"]
    assert shift.task().status == "completed"


# 6.3 and 6.6 Commands


def test_fleet_6_3_back_to_back_tasks_without_parking_between() -> None:
    shift = Shift(line(picks=2, drops=2))
    shift.until(lambda: shift.state.completed == 2)
    assert not [c for c in shift.commands[:-1] if isinstance(c, GoTarget) and c.payload["id"] == "PK"]


def test_fleet_6_6_payload_has_the_defaults() -> None:
    shift = Shift(line())
    shift.run(100)
    pick, drop = [c.payload for c in shift.commands if isinstance(c, GoTarget)][:2]
    assert pick == {
        "id": "AP_PICK_01",
        "operation": "ForkLoad",
        "start_height": 0.1,
        "end_height": 1.2,
        "recognize": False,
    }
    assert drop == {
        "id": "AP_DROP_01",
        "operation": "ForkUnload",
        "start_height": 1.2,
        "end_height": 0.1,
        "recognize": False,
    }


def test_fleet_6_6_stream_and_worksite_parameters_are_passed_on() -> None:
    scene = line()
    scene["streams"][0]["params"] |= {
        "pickParams": {"end_height": 0.5, "recognize": True, "recfile": "plt/p0001.plt", "vendor_speed": 3},
        "dropParams": {"end_height": 0.2},
    }
    scene["worksites"][0]["pickParams"] = {"end_height": 0.7}
    scene["worksites"][1]["dropParams"] = {"end_height": 0.3}
    shift = Shift(scene)
    shift.run(100)
    pick, drop = [c.payload for c in shift.commands if isinstance(c, GoTarget)][:2]
    assert pick == {
        "id": "AP_PICK_01",
        "operation": "ForkLoad",
        "start_height": 0.1,
        "end_height": 0.7,
        "recognize": True,
        "recfile": "plt/p0001.plt",
        "vendor_speed": 3,
    }
    assert (drop["start_height"], drop["end_height"]) == (0.7, 0.3)


def test_fleet_6_6_the_action_node_is_the_target_if_there_is_one() -> None:
    scene = line()
    scene["worksites"][0] |= {"entryNodeId": "LM1", "actionNodeId": "AP_PICK_01"}
    shift = Shift(scene)
    shift.tick()
    assert shift.commands[0].payload["id"] == "AP_PICK_01"  # type: ignore[union-attr]


def test_fleet_6_6_both_places_are_reserved_with_the_first_command_and_released_at_the_end() -> None:
    shift = Shift(line())
    shift.tick()
    assert len(shift.commands) == 1
    for site, before in (("PICK_01", "filled"), ("DROP_01", "empty")):
        assert shift.site(site).occupancy == "reserved"
        assert shift.site(site).reserved_by == "line-t1"
        assert shift.site(site).occupancy_before == before
    shift.until(lambda: shift.task().status == "completed")
    assert shift.site("DROP_01").reserved_by is None


# 6.7 Signals


def scripted(**more: Any) -> tuple[Shift, ScriptedRobots]:
    robots = ScriptedRobots()
    shift = Shift(line(**more), robots)
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    return shift, robots


def test_fleet_6_7_a_step_is_done_at_the_change_from_2_to_4() -> None:
    shift, robots = scripted()
    pick, drop = "AP_PICK_01", "AP_DROP_01"
    for status, at, step in (
        (1, pick, "pick"),
        (2, pick, "pick"),
        (4, pick, "drop"),
        (4, pick, "drop"),
        (2, drop, "drop"),
        (4, drop, "done"),
    ):
        robots.report("RB-01", status, node_id=at)
        shift.tick()
        assert shift.task().step == step
    assert shift.task().status == "completed"


@pytest.mark.parametrize("old", [4, 6])
def test_fleet_6_7_a_status_that_was_there_before_the_command_does_not_count(old: int) -> None:
    robots = ScriptedRobots()
    shift = Shift(line(), robots)
    for _ in range(5):
        robots.report("RB-01", old, node_id="LM1")
        shift.tick()
    assert shift.task().command_state == "sent"
    assert shift.site("PICK_01").occupancy == "reserved"


def test_fleet_6_7_one_change_is_one_step() -> None:
    shift, robots = scripted()
    robots.report("RB-01", 2, node_id="LM1")
    shift.tick()
    robots.report("RB-01", 4, node_id="AP_PICK_01")
    robots.report("RB-01", 4, node_id="AP_PICK_01")
    shift.tick()
    robots.report("RB-01", 4, node_id="AP_PICK_01")
    shift.tick()
    assert (shift.task().step, shift.task().command_state) == ("drop", "sent")


def test_fleet_6_7_a_6_after_our_cancel_is_a_cancel() -> None:
    from beforehand.crafts.fleet.core.inputs import TaskVerb

    shift, robots = scripted()
    robots.report("RB-01", 2, node_id="LM1")
    shift.tick()
    shift.tick(TaskVerb("line-t1", "cancel"))
    assert isinstance(robots.told[-1], CancelTarget)
    robots.report("RB-01", 6, node_id="AP_PICK_01")
    shift.tick()
    assert shift.task().status == "canceled"
    assert "palletPicked" not in shift.kinds()


def test_fleet_6_7_a_6_that_a_protocol_knows_to_be_a_cancel_is_asked_about_whatever_the_sensor_says() -> None:
    shift, robots = scripted()
    for status in (2, 6):
        named = {"task_id": "line-t1:pick:1", "load_sensor": "loaded" if status == 6 else "empty"}
        robots.report("RB-01", status, node_id="AP_PICK_01", called_off=status == 6, **named)
        shift.tick()
    assert (shift.task().status, shift.task().error_code) == ("held", "robot.canceled")
    assert shift.site("PICK_01").lies == "filled"


def test_fleet_6_7_which_statuses_complete_is_the_robots_setting() -> None:
    robots = ScriptedRobots()
    scene = line()
    scene["robots"][0]["completionStatuses"] = [4]
    shift = Shift(scene, robots)
    for status in (0, 2, 6):
        robots.report("RB-01", status, node_id="AP_PICK_01")
        shift.tick()
    assert shift.task().status == "held"
    assert shift.task().error_code == "robot.canceled"
    assert shift.site("PICK_01").lies == "filled"


def test_fleet_6_7_where_the_robot_names_the_command_that_decides() -> None:
    shift, robots = scripted()
    for status in (2, 4):
        robots.report("RB-01", status, node_id="AP_PICK_01", task_id="line-RB-01:park:1")
        shift.tick()
    assert (shift.task().step, shift.task().command_state) == ("pick", "sent")
    robots.report("RB-01", 4, node_id="AP_PICK_01", task_id="line-t1:pick:1")
    shift.tick()
    assert shift.task().step == "drop"


def test_fleet_6_7_a_name_that_a_robot_gives_an_order_itself_says_nothing_against_it() -> None:
    shift, robots = scripted()
    for status in (2, 4):
        robots.report("RB-01", status, node_id="AP_PICK_01", task_id="move-1")
        shift.tick()
    assert (shift.task().step, shift.task().status) == ("drop", "active")
    assert len(robots.targets("RB-01")) == 2


@pytest.mark.parametrize("ahead", ["AP_PICK_01", None])
def test_fleet_6_7_a_6_of_a_robot_between_two_places_is_a_cancel_though_it_names_the_order(ahead: str | None) -> None:
    shift, robots = scripted()
    robots.report("RB-01", 2, node_id="LM1", task_id="line-t1:pick:1")
    shift.tick()
    for status in (2, 6):
        robots.report("RB-01", status, node_id=None, next_node_id=ahead, task_id="line-t1:pick:1")
        shift.tick()
    assert (shift.task().status, shift.task().error_code) == ("held", "robot.canceled")
    assert shift.site("PICK_01").lies == "filled"


@pytest.mark.parametrize("status", [0, 4, 5, 6])
def test_fleet_6_7_a_robot_that_ran_the_order_and_names_another_is_asked_about(status: int) -> None:
    """It was started again, perhaps, and remembers what it did before."""
    shift, robots = scripted()
    robots.report("RB-01", 2, node_id="LM1", task_id="line-t1:pick:1")
    shift.tick()
    robots.report("RB-01", status, node_id="LM1", task_id="an-older-one")
    shift.tick()
    assert (shift.task().status, shift.task().error_code) == ("held", "robot.order_lost")
    assert shift.site("PICK_01").lies == "filled"


def test_fleet_6_7_a_robot_that_drove_to_park_and_names_another_order_has_stopped() -> None:
    robots = ScriptedRobots()
    scene = line()
    scene["worksites"][0]["occupancy"] = "empty"
    shift = Shift(scene, robots)
    for _ in range(4):
        robots.report("RB-01", node_id="LM1")
        shift.tick()
    errand = shift.robot().errand
    assert errand is not None
    robots.report("RB-01", 2, node_id="LM1", task_id=errand.key)
    shift.tick()
    assert (shift.robot().phase, shift.robot().errand is None) == ("parking", False)
    robots.report("RB-01", 4, node_id="LM1", task_id="an-older-one")
    shift.tick()
    assert shift.robot().errand is None
    assert "ended its order" in str(shift.robot().error)


def test_why_tells_what_a_blocked_robot_says_of_itself() -> None:
    shift, robots = scripted()
    told = "RB-01: Its emergency stop is pressed."
    for error, says, advice in (
        (told, told, "See to it at the robot."),
        (None, "Something blocks the way of RB-01.", "Clear the way."),
    ):
        robots.report("RB-01", 2, node_id="LM1", blocked=True, error=error)
        shift.tick()
        (reason,) = why_robot(shift.state, "RB-01", shift.now)
        assert (reason.code, reason.says, reason.try_next) == ("robot.blocked", says, advice)
        assert why_everything(shift.state, shift.now)["line-t1"] == [reason]
    robots.report("RB-01", 3, node_id="LM1")
    shift.tick()
    assert why_everything(shift.state, shift.now)["line-t1"][0].code == "task.paused"
    robots.report("RB-01", 2, node_id="LM1")
    shift.tick()
    assert "line-t1" not in why_everything(shift.state, shift.now), "it is under way"


def test_fleet_6_7_duplicate_and_late_reports_are_dropped() -> None:
    shift, robots = scripted()
    robots.report("RB-01", 2, seq=10, node_id="LM1")
    shift.tick()
    robots.report("RB-01", 4, seq=9, node_id="AP_PICK_01")
    robots.report("RB-01", 4, seq=10, node_id="AP_PICK_01")
    shift.tick()
    assert shift.task().step == "pick"


def test_fleet_6_7_3_is_paused_and_the_wait_stands_still() -> None:
    shift, robots = scripted()
    robots.report("RB-01", 2, node_id="LM1")
    shift.tick()
    for _ in range(3000):
        robots.report("RB-01", 3, node_id="LM1")
        shift.tick()
    assert shift.task().status == "active"
    assert shift.task().command_state == "paused"
    assert shift.robot().phase == "held"
    robots.report("RB-01", 2, node_id="LM1")
    shift.tick()
    assert shift.robot().phase == "moving_to_pick"
    assert shift.task().deadline_ts_ms is not None


# 6.9 Load state


def test_fleet_6_9_the_sensor_goes_before_the_task() -> None:
    scene = read_fleet(line())
    shift = Shift(scene, SimFleet(scene, (), SimSettings(load_sensor=True)))
    shift.until(lambda: shift.robot().load_state == "loaded")
    assert shift.robot().load_state_source == "sensor"
    assert shift.robot().load_state_confidence == "high"


def test_fleet_6_9_without_a_sensor_the_task_says_it() -> None:
    shift = Shift(line())
    shift.until(lambda: shift.robot().load_state == "loaded")
    assert shift.robot().load_state_source == "task"


def test_fleet_6_9_a_pick_the_sensor_denies_is_not_booked() -> None:
    shift, robots = scripted()
    for status in (2, 4):
        robots.report("RB-01", status, node_id="AP_PICK_01", load_sensor="empty")
        shift.tick()
    assert shift.task().status == "held"
    assert shift.task().error_code == "step.contradicted"
    assert shift.site("PICK_01").lies == "filled"
    (asked,) = shift.state.decisions.values()
    assert asked.evidence["difference"]["now"] == {"place": "AP_PICK_01", "fork": "empty", "target": None}


# 7 Reservations


def test_fleet_7_two_streams_never_reserve_the_same_place() -> None:
    scene = line(picks=2, drops=1, robots=2)
    first = scene["streams"][0]
    scene["streams"].append({**first, "streamId": "stream_2"})
    shift = Shift(scene)
    shift.tick()
    assert len(shift.state.tasks) == 1
    shift.run(300)
    assert shift.state.completed == 1
    assert shift.check.end() == []


# 8 Many robots


def test_fleet_8_nearest_takes_the_nearest_robot_and_first_the_first_by_id() -> None:
    for dispatch, expected in (("nearest", "RB-02"), ("first", "RB-01")):
        scene = line(robots=2, settings={"dispatch": dispatch})
        scene["robots"][0]["nodeId"] = "PK"
        shift = Shift(scene)
        shift.tick()
        assert shift.task().robot_id == expected


def test_fleet_8_a_tie_goes_to_the_smaller_id() -> None:
    shift = Shift(line(robots=3))
    shift.tick()
    assert shift.task().robot_id == "RB-01"


def test_fleet_8_optimal_drives_less_than_nearest() -> None:
    """Two robots on a line: greedy sends the middle one to the wrong pallet."""

    def empty_metres(dispatch: str) -> float:
        scene = {
            "kind": "fleet",
            "name": "line",
            "nodes": [{"id": f"N{n}", "x": x, "y": 0} for n, x in enumerate((0, 40, 50, 80, 90))],
            "edges": [{"from": f"N{n}", "to": f"N{n + 1}"} for n in range(4)],
            "worksites": [
                {"worksiteId": "A", "worksiteType": "pickup", "entryNodeId": "N2", "occupancy": "filled"},
                {"worksiteId": "B", "worksiteType": "pickup", "entryNodeId": "N0", "occupancy": "filled"},
                {"worksiteId": "C", "worksiteType": "dropoff", "entryNodeId": "N3", "occupancy": "empty"},
                {"worksiteId": "D", "worksiteType": "dropoff", "entryNodeId": "N4", "occupancy": "empty"},
            ],
            "robots": [{"robotId": "R1", "nodeId": "N1"}, {"robotId": "R2", "nodeId": "N3"}],
            "streams": [{"streamId": "s", "params": {"pickGroup": ["A", "B"], "dropGroup": ["C", "D"]}}],
            "settings": {"dispatch": dispatch},
        }
        shift = Shift(scene)
        shift.tick()
        starts = {"R1": "N1", "R2": "N3"}
        routes = shift.state.routes
        tasks = shift.state.tasks.values()
        return sum(routes.between(starts[str(t.robot_id)], shift.site(t.source_id).node_id) for t in tasks)

    assert empty_metres("nearest") == 10 + 80
    assert empty_metres("optimal") == 30 + 40


def test_fleet_8_optimal_still_fills_the_drops_in_order() -> None:
    scene = line(picks=4, drops=4, robots=2, settings={"dispatch": "optimal"})
    shift = Shift(scene)
    shift.run(900)
    assert targets(shift) == ["DROP_01", "DROP_02", "DROP_03", "DROP_04"]


@pytest.mark.parametrize("arbitration", ["priority", "roundRobin", "quota", "preempt"])
@pytest.mark.parametrize("dispatch", ["nearest", "optimal"])
def test_fleet_8_nothing_waits_longer_than_the_stated_wait_and_the_work_before_it(
    arbitration: str, dispatch: str
) -> None:
    """A stream of high priority that never runs dry cannot keep a low one waiting for ever."""
    scene = line(picks=2, drops=2, settings={"arbitration": arbitration, "dispatch": dispatch, "maxWaitS": 200})
    scene["streams"] = [
        {"streamId": "low", "params": {"pickGroup": ["PICK_02"], "dropGroup": ["DROP_02"]}},
        {"streamId": "there", "priority": 9, "params": {"pickGroup": ["PICK_01"], "dropGroup": ["DROP_01"]}},
        {"streamId": "back", "priority": 9, "params": {"pickGroup": ["DROP_01"], "dropGroup": ["PICK_01"]}},
    ]
    shift = Shift(scene)
    shift.run(400)
    low = [event for event in shift.events if event.kind == "taskCreated" and event.data.get("streamId") == "low"]
    assert low
    assert low[0].ts <= 300_000


# 9 Arbitration


def two_streams(**settings: Any) -> dict[str, Any]:
    scene = line(picks=4, drops=4, settings=settings)
    scene["streams"] = [
        {"streamId": "a", "params": {"pickGroup": ["PICK_01", "PICK_02"], "dropGroup": ["DROP_01", "DROP_02"]}},
        {
            "streamId": "b",
            "priority": 5,
            "params": {"pickGroup": ["PICK_03", "PICK_04"], "dropGroup": ["DROP_03", "DROP_04"]},
        },
    ]
    return scene


def made(shift: Shift) -> list[str]:
    return [event.data["streamId"] for event in shift.events if event.kind == "taskCreated"]


def test_fleet_9_priority_goes_first() -> None:
    shift = Shift(two_streams())
    shift.run(900)
    assert made(shift) == ["b", "b", "a", "a"]


def test_fleet_9_round_robin_rotates() -> None:
    shift = Shift(two_streams(arbitration="roundRobin"))
    shift.run(900)
    assert made(shift) == ["a", "b", "a", "b"]


def test_fleet_9_quota_limits_a_stream_in_its_window() -> None:
    scene = two_streams(arbitration="quota", quotaWindowS=10_000)
    scene["streams"][1]["quota"] = 1
    shift = Shift(scene)
    shift.run(900)
    assert made(shift) == ["b", "a", "a"]


def test_fleet_9_preempt_takes_the_next_free_robot_however_old_the_others_are() -> None:
    scene = two_streams(arbitration="preempt", agingPerS=10)
    shift = Shift(scene)
    shift.run(900)
    assert made(shift) == ["b", "b", "a", "a"]


def test_fleet_9_a_stream_can_be_switched_off_and_on() -> None:
    shift = Shift(line(picks=2, drops=2))
    shift.tick(PatchStream("stream_1", False))
    shift.run(100)
    assert made(shift) == []
    shift.tick(PatchStream("stream_1", True))
    assert made(shift) == ["stream_1"]


# 10 Parking and charging


def chargeable(battery: float, **settings: Any) -> dict[str, Any]:
    scene = line(settings=settings)
    scene["worksites"].append({"worksiteId": "CHARGE_01", "worksiteType": "charger", "entryNodeId": "PK"})
    scene["worksites"] = [site for site in scene["worksites"] if site["worksiteId"] != "PARK_01"]
    scene["robots"][0]["battery"] = battery
    return scene


def test_fleet_10_low_battery_charges_before_new_work() -> None:
    shift = Shift(chargeable(0.19, chargePerS=0.01))
    shift.tick()
    assert shift.robot().phase == "charging"
    assert shift.site("CHARGE_01").reserved_by == "RB-01"
    assert not shift.state.tasks
    shift.until(lambda: bool(shift.state.tasks))
    battery = shift.state.seen["RB-01"].report.battery
    assert battery is not None
    assert battery >= 0.8
    shift.until(lambda: shift.task().status == "completed")


def test_fleet_10_work_only_if_a_charger_can_still_be_reached() -> None:
    shift = Shift(chargeable(0.5, batteryPerM=0.01, chargePerS=0.01))
    shift.tick()
    assert not shift.state.tasks
    assert shift.robot().phase == "charging"
    shift.until(lambda: shift.state.completed == 1)
    battery = shift.state.seen["RB-01"].report.battery
    assert battery is not None
    assert battery > 0


def test_fleet_10_without_chargers_batteries_do_not_matter() -> None:
    scene = line()
    scene["robots"][0]["battery"] = 0.05
    shift = Shift(scene)
    shift.run(120)
    assert shift.task().status == "completed"


@pytest.mark.parametrize("site", ["CHARGE_01", "PARK_01"])
def test_fleet_10_what_is_said_of_a_place_for_robots_is_no_pallet(site: str) -> None:
    document = chargeable(0.5) if site == "CHARGE_01" else line()
    scene = read_fleet(set_occupancy(document, site, "filled"))
    assert [one.about for one in warnings(scene)] == ["worksites[2].occupancy"]
    result = simulate(scene, SimFleet(scene))
    assert (result.state.completed, result.violations) == (1, [])


def test_fleet_10_two_robots_never_share_a_park_place() -> None:
    shift = Shift(set_occupancy(line(robots=2), "PICK_01", "empty"))
    shift.run(60)
    standing = [robot.errand.worksite_id for robot in shift.state.robots.values() if robot.errand is not None]
    assert standing == ["PARK_01"]


def test_fleet_10_park_node_of_the_scene() -> None:
    scene = line(park=False, settings={"parkNodeId": "PK"})
    shift = Shift(scene)
    shift.run(200)
    assert shift.state.seen["RB-01"].report.node_id == "PK"


def test_fleet_10_a_new_task_is_given_before_parking() -> None:
    shift = Shift(line(picks=2, drops=2))
    shift.until(lambda: len(shift.state.tasks) == 2)
    assert shift.robot().errands == 0


# 11 Stream kinds


def kind_of(kind: str, scene: dict[str, Any], **params: Any) -> dict[str, Any]:
    scene["streams"][0]["kind"] = kind
    scene["streams"][0]["params"] |= params
    return scene


def test_fleet_11_round_robin_cycles_through_the_drops() -> None:
    shift = Shift(kind_of("roundRobin", set_occupancy(line(picks=3, drops=4), "DROP_02", "filled")))
    shift.run(600)
    assert targets(shift) == ["DROP_01", "DROP_03", "DROP_04"]


def test_fleet_11_replenish_stops_at_its_threshold() -> None:
    shift = Shift(kind_of("replenish", line(picks=3, drops=3, robots=3), threshold=2))
    shift.run(600)
    assert shift.state.completed == 2
    shift.robots.set_occupancy("DROP_01", "empty")
    shift.tick(PatchWorksite("DROP_01", "empty"))
    shift.run(300)
    assert shift.state.completed == 3


def test_fleet_11_buffered_goes_through_the_buffer() -> None:
    scene = line(picks=2, drops=3)
    scene["streams"][0] |= {"kind": "buffered"}
    scene["streams"][0]["params"] = {
        "pickGroup": ["PICK_01", "PICK_02"],
        "bufferGroup": ["DROP_01"],
        "dropGroup": ["DROP_02", "DROP_03"],
    }
    shift = Shift(scene)
    shift.run(900)
    moves = [(e.data["sourceId"], e.data["targetId"]) for e in shift.events if e.kind == "taskCreated"]
    assert moves == [
        ("PICK_01", "DROP_01"),
        ("DROP_01", "DROP_02"),
        ("PICK_02", "DROP_01"),
        ("DROP_01", "DROP_03"),
    ]


# Transport on request, and the log


def test_fleet_transport_on_request() -> None:
    scene = line(picks=1, drops=3, streams=[])
    shift = Shift(scene)
    assert shift.tick(RequestTransport("PICK_01", "DROP_03", request_id="r1")) == ()
    created = next(event for event in shift.events if event.kind == "taskCreated")
    assert created.correlation_id == "r1"
    shift.run(200)
    assert shift.site("DROP_03").occupancy == "filled"
    refused = shift.tick(RequestTransport("PICK_01", "DROP_03"), RequestTransport("PICK_1", "DROP_02"))
    assert [reason.code for reason in refused] == ["worksite.not_filled", "worksite.not_empty", "worksite.unknown"]


def test_fleet_the_log_replays_to_the_same_state() -> None:
    shift = Shift(line(picks=3, drops=3, robots=2))
    for _ in range(300):
        shift.tick()
        if shift.now % 25_000 == 0:
            assert snapshot(shift.replayed()) == snapshot(shift.state)
    assert snapshot(shift.replayed()) == snapshot(shift.state)
