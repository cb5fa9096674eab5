"""What happens when things go wrong: freeze and recover, operator verbs, restarts, and the reasons given."""

import json
from itertools import pairwise
from typing import Any

import pytest

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import read_faults
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.inputs import (
    AnswerDecision,
    FleetVerb,
    PatchStream,
    PatchWorksite,
    RobotVerb,
    TaskVerb,
)
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import restore, snapshot
from beforehand.crafts.fleet.core.verbs import TABLE, TASK_VERBS
from beforehand.crafts.fleet.core.why import why, why_everything, why_robot, why_stream, why_task
from beforehand.crafts.fleet.testing import ScriptedRobots, Shift
from beforehand.model.errors import NotFoundError
from beforehand.model.log_identity import LogIdentity
from beforehand.model.robot import CancelTarget, GoTarget, PauseRobot, ResumeRobot


def yard(robots: int = 1, pallets: int = 1, policy: str = "freeze", **settings: Any) -> dict[str, Any]:
    """Robots at LM1, picks A1.. at 10 m, drops B1.. at 40 m, a park place."""
    sites = []
    nodes = [{"id": "LM1", "x": 0, "y": 0}, {"id": "LM2", "x": 20, "y": 0}, {"id": "PK", "x": 0, "y": 9}]
    edges = [{"from": "LM1", "to": "LM2"}, {"from": "LM1", "to": "PK"}]
    for n in range(pallets + 1):
        for name, x, hub in (("A", 10, "LM1"), ("B", 40, "LM2")):
            node = f"N{name}{n + 1}"
            nodes.append({"id": node, "x": x, "y": 5 * n})
            edges.append({"from": hub, "to": node})
            lies = "filled" if name == "A" and n < pallets else "empty"
            kind = "pickup" if name == "A" else "dropoff"
            sites.append({"worksiteId": f"{name}{n + 1}", "worksiteType": kind, "entryNodeId": node, "occupancy": lies})
    return {
        "kind": "fleet",
        "name": "yard",
        "nodes": nodes,
        "edges": edges,
        "worksites": [*sites, {"worksiteId": "PARK", "worksiteType": "park", "entryNodeId": "PK"}],
        "robots": [{"robotId": f"RB-{n + 1:02}", "nodeId": "LM1", "loadState": "empty"} for n in range(robots)],
        "streams": [
            {
                "streamId": "s",
                "params": {
                    "pickGroup": [f"A{n + 1}" for n in range(pallets + 1)],
                    "dropGroup": [f"B{n + 1}" for n in range(pallets + 1)],
                },
            }
        ],
        "settings": {"errorPolicy": policy, **settings},
    }


def struck(scene: dict[str, Any], *faults: dict[str, Any], **sim: Any) -> Shift:
    read = read_fleet(scene)
    return Shift(read, SimFleet(read, read_faults(list(faults)), SimSettings(**sim)))


def fault(name: str, at_s: float = 5, robot_id: str = "RB-01", **more: Any) -> dict[str, Any]:
    return {"atS": at_s, "robotId": robot_id, "fault": name, **more}


def only_decision(shift: Shift) -> Any:
    (decision,) = shift.state.decisions.values()
    return decision


# 6.8.1 freeze


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("status5", "robot.step_failed"),
        ("offline", "robot.offline"),
        ("restart", "robot.restarted"),
        ("lost_command", "task.start_timeout"),
    ],
)
def test_fleet_6_8_freeze_on_error(name: str, code: str) -> None:
    at_s = 0 if name in ("lost_command", "status5") else 5
    shift = struck(yard(robots=2, pallets=3), fault(name, at_s))
    shift.until(lambda: any(task.status == "held" for task in shift.state.tasks.values()))
    (held,) = (task for task in shift.state.tasks.values() if task.status == "held")
    assert held.error_code == code
    assert held.task_id in shift.state.hold.tasks
    made = len(shift.state.tasks)
    shift.run(300)
    assert len(shift.state.tasks) == made, "no new work is given out while the scene is frozen"
    assert shift.state.worksites[held.source_id].reserved_by == held.task_id, "its reservations are frozen"
    assert shift.state.worksites[held.target_id].reserved_by == held.task_id
    assert shift.state.robots["RB-01"].phase == ("held" if name == "offline" else "error")
    assert only_decision(shift).kind == "hold"


def test_fleet_6_8_what_a_robot_finished_unseen_is_booked_when_it_is_back() -> None:
    shift = struck(yard(), fault("offline", 5, forS=60))
    shift.run(90)
    assert (shift.task().status, shift.task().step) == ("held", "drop"), "a person still has to resume it"
    assert shift.site("A1").occupancy == "empty"
    shift.tick(TaskVerb("yard-t1", "resume"))
    shift.run(200)
    assert shift.task().status == "completed"
    assert shift.kinds().count("palletPicked") == 1


def test_fleet_6_8_what_is_asked_about_a_step_is_not_answered_for_the_next_one() -> None:
    shift = struck(yard(), fault("offline", 5, forS=60))
    shift.until(lambda: bool(shift.state.decisions))
    about_pick = only_decision(shift)
    shift.until(lambda: shift.task().step == "drop")
    about_drop = only_decision(shift)
    assert (about_pick.evidence["step"], about_drop.evidence["step"]) == ("pick", "drop")
    assert "The drop at B1 counts as done" in about_drop.effects["done-by-hand"]
    assert not {"cancel", "hand-back"} & set(about_drop.verbs), "the pallet is on the fork"
    (refused,) = shift.tick(AnswerDecision(about_pick.id, "done-by-hand"))
    assert refused.code == "decision.closed"
    assert (shift.task().step, shift.site("B1").lies) == ("drop", "empty")
    shift.tick(AnswerDecision(about_drop.id, "resume"))
    shift.run(200)
    assert shift.task().status == "completed"


def test_fleet_6_8_an_answer_that_meets_the_end_of_its_step_is_refused() -> None:
    before = struck(yard(), fault("offline", 5, forS=60))
    before.until(lambda: bool(before.state.tasks) and before.task().step == "drop")
    shift = struck(yard(), fault("offline", 5, forS=60))
    shift.until(lambda: shift.now == before.now - 500)
    asked = only_decision(shift)
    assert shift.task().step == "pick"
    (refused,) = shift.tick(AnswerDecision(asked.id, "done-by-hand"))
    assert refused.code == "decision.closed"
    assert (shift.task().step, shift.site("B1").lies) == ("drop", "empty")


def test_fleet_6_8_freeze_then_resume_goes_on_with_the_task() -> None:
    shift = struck(yard(), fault("status5", 0))
    shift.until(lambda: bool(shift.state.decisions))
    shift.tick(AnswerDecision(only_decision(shift).id, "resume"))
    assert not shift.state.hold
    shift.run(300)
    assert shift.task().status == "completed"
    assert shift.check.end() == []


def test_fleet_6_8_freeze_then_abort_fails_the_task_and_frees_its_places() -> None:
    shift = struck(yard(), fault("status5", 0))
    shift.until(lambda: bool(shift.state.decisions))
    shift.tick(TaskVerb("yard-t1", "abort"))
    assert shift.task().status == "failed"
    assert not shift.state.decisions
    assert shift.state.failed == 1
    assert shift.site("B1").lies == "empty"
    assert shift.state.hold.tasks == ()


def test_fleet_6_8_other_robots_finish_what_they_carry() -> None:
    shift = struck(yard(robots=2, pallets=2), fault("status5", 0))
    shift.run(400)
    done = [task.robot_id for task in shift.state.tasks.values() if task.status == "completed"]
    assert done == ["RB-02"]


def test_fleet_6_8_a_refused_command_is_an_error() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(), robots)
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    robots.answer("yard-t1:pick:1", "RB-01", False, "route.none", "RB-01 finds no way from LM1 to NA1.")
    shift.tick()
    assert shift.task().status == "held"
    assert shift.task().error == "RB-01 finds no way from LM1 to NA1."


def test_fleet_6_8_no_start_within_the_start_timeout_is_an_error() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(startTimeoutS=10), robots)
    for _ in range(20):
        robots.report("RB-01", 0, node_id="LM1")
        shift.tick()
    assert shift.task().status == "active"
    for _ in range(2):
        robots.report("RB-01", 0, node_id="LM1")
        shift.tick()
    assert shift.task().error_code == "task.start_timeout"


# 6.8.2 recover


def test_fleet_6_8_2_offline_keeps_its_places_and_goes_on_by_itself() -> None:
    shift = struck(yard(policy="recover"), fault("offline", 5, forS=60))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().status == "held")
    assert (shift.task().waits_for, shift.robot().phase, shift.robot().status) == ("robot", "held", "offline")
    assert shift.site("A1").reserved_by == "yard-t1"
    shift.until(lambda: shift.task().status == "active")
    shift.run(200)
    assert shift.task().status == "completed"
    assert not shift.state.decisions
    assert shift.check.end() == []


def test_fleet_6_8_2_timeouts_stand_still_while_the_robot_is_blocked() -> None:
    shift = struck(yard(policy="recover", stepTimeoutS=60), fault("blocked", 5, forS=300))
    shift.run(250)
    assert shift.task().status == "active"
    assert shift.robot().status == "blocked"
    shift.run(300)
    assert shift.task().status == "completed"


def test_fleet_6_8_2_a_failed_step_is_tried_again_with_growing_waits() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(policy="recover", retries=2, retryDelayS=5), robots)
    sent: list[int] = []
    for _ in range(400):
        told = [c for c in robots.told if isinstance(c, GoTarget)]
        if len(told) > len(sent):
            sent.append(shift.now)
            robots.report("RB-01", 2, node_id="LM1")
            robots.report("RB-01", 5, node_id="LM1")
        else:
            robots.report("RB-01", 5, node_id="LM1")
        shift.tick()
        if shift.state.failed:
            break
    assert shift.task().status == "failed"
    waits = [later - earlier for earlier, later in pairwise(sent)]
    assert len(sent) == 3
    assert waits[1] - waits[0] == 5000
    assert shift.site("A1").occupancy == "filled", "a failed pick gives its places back"
    assert shift.site("B1").occupancy == "empty"


def test_fleet_6_8_2_a_terminal_error_fails_at_once_with_its_reason() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(policy="recover"), robots)
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    robots.answer("yard-t1:pick:1", "RB-01", False, "target.unknown", "RB-01 knows no node NA1.")
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    assert shift.task().status == "failed"
    assert shift.task().error_code == "target.unknown"


def test_fleet_6_8_2_a_place_where_picks_fail_rests_and_is_then_left_alone() -> None:
    shift = struck(yard(policy="recover", retries=0), fault("status5", 0, forS=100_000))
    shift.run(2000)
    assert shift.state.failed == 3
    assert any(reason.code == "worksite.suspect" for reason in why_stream(shift.state, "s", shift.now))
    shift.tick(PatchWorksite("A1", "filled"))
    assert shift.site("A1").failures == 0


def test_fleet_6_8_2_a_loaded_robots_drop_stays_reserved_until_a_person_aborts() -> None:
    shift = struck(yard(policy="recover", retries=0))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "dropping")
    key = shift.task().command_key
    assert key is not None
    robots = ScriptedRobots()
    robots.seqs["RB-01"] = 10_000
    shift.robots = robots
    robots.report("RB-01", 5, node_id="NB1", task_id=key)
    shift.tick()
    robots.report("RB-01", 5, node_id="NB1", task_id=key)
    shift.run(3)
    assert shift.task().status == "held"
    assert shift.site("B1").reserved_by == "yard-t1"
    assert "hand-back" not in only_decision(shift).verbs
    shift.tick(TaskVerb("yard-t1", "abort"))
    assert shift.task().status == "failed"
    assert shift.site("B1").occupancy == "empty"
    assert shift.robot().load_state == "loaded", "a failed task does not change what is on the fork"


def test_fleet_6_8_2_a_lease_that_runs_out_makes_the_task_stale() -> None:
    shift = struck(yard(policy="recover", leaseS=20))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().status == "stale")
    assert only_decision(shift).about["taskId"] == "yard-t1"
    shift.run(100)
    shift.tick(TaskVerb("yard-t1", "resume"))
    shift.run(18)
    assert shift.task().status in ("active", "completed")


def test_fleet_6_8_2_a_lease_stands_still_while_a_person_holds_the_robot() -> None:
    shift = struck(yard(leaseS=60))
    shift.run(5)
    shift.tick(RobotVerb("RB-01", "hold"))
    shift.run(600)
    assert shift.task().status == "active"
    shift.tick(RobotVerb("RB-01", "release"))
    shift.run(45)
    assert shift.task().status != "stale"


def test_fleet_6_8_a_restarted_robot_is_held_even_when_the_scene_recovers() -> None:
    shift = struck(yard(policy="recover"), fault("restart", 5))
    shift.until(lambda: bool(shift.state.decisions))
    assert shift.task().error_code == "robot.restarted"
    asked = only_decision(shift).id
    shift.run(10)
    assert only_decision(shift).id == asked, "what it says later is the same story"
    shift.tick(AnswerDecision(asked, "redo"))
    shift.run(300)
    assert shift.task().status == "completed"


@pytest.mark.parametrize("name", ["late_ack", "lost_ack", "duplicate", "out_of_order", "status6"])
@pytest.mark.parametrize("ids", [True, False])
def test_fleet_faults_that_change_nothing(name: str, ids: bool) -> None:
    shift = struck(yard(pallets=2), fault(name, 0, forS=500), task_ids=ids)
    shift.run(500)
    assert shift.state.completed == 2
    assert shift.check.end() == []


# Operator verbs


def test_fleet_verbs_every_verb_is_defined_in_every_situation() -> None:
    situations = {"waiting", "active", "active loaded", "held", "held loaded", "completed", "failed", "canceled"}
    assert set(TABLE) == set(TASK_VERBS)
    for verb in TABLE:
        assert set(TABLE[verb]) == situations


@pytest.mark.parametrize("verb", TASK_VERBS)
def test_fleet_verbs_are_idempotent(verb: str) -> None:
    shift = struck(yard())
    shift.run(6)
    shift.tick(TaskVerb("yard-t1", verb))
    shift.run(1)
    before = len([c for c in shift.commands if isinstance(c, CancelTarget)])
    shift.tick(TaskVerb("yard-t1", verb), TaskVerb("yard-t1", verb))
    after = len([c for c in shift.commands if isinstance(c, CancelTarget)])
    assert after - before <= 1
    shift.run(600)
    assert shift.check.end() == []


@pytest.mark.parametrize("ids", [True, False])
def test_fleet_verbs_redo_orders_the_step_again(ids: bool) -> None:
    shift = struck(yard(), task_ids=ids)
    shift.run(6)
    shift.tick(TaskVerb("yard-t1", "redo"))
    shift.run(300)
    picks = [c for c in shift.commands if isinstance(c, GoTarget) and c.payload.get("operation") == "ForkLoad"]
    assert len(picks) == 2
    assert shift.task().status == "completed"


def test_fleet_verbs_redo_of_a_pick_that_was_finished_meanwhile_does_not_pick_twice() -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "picking")
    shift.run(9.5)
    shift.tick(TaskVerb("yard-t1", "redo"))
    shift.run(300)
    assert shift.task().status == "completed"
    assert shift.kinds().count("palletPicked") == 1


def test_fleet_verbs_done_by_hand_books_the_step() -> None:
    shift = struck(yard())
    shift.run(6)
    shift.tick(TaskVerb("yard-t1", "done-by-hand"))
    assert shift.site("A1").occupancy == "empty"
    assert (shift.robot().load_state, shift.robot().load_state_source) == ("loaded", "manual")
    shift.until(lambda: shift.task().command_state == "running")
    shift.tick(TaskVerb("yard-t1", "done-by-hand"))
    assert shift.task().status == "completed"
    assert shift.site("B1").occupancy == "filled"


def test_fleet_verbs_done_by_hand_is_refused_when_the_sensor_says_otherwise() -> None:
    shift = struck(yard(), load_sensor=True)
    shift.run(6)
    (refused,) = shift.tick(TaskVerb("yard-t1", "done-by-hand"))
    assert refused.code == "load.sensed"


def test_fleet_verbs_abort_with_goods_on_the_fork_takes_them_to_another_drop() -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "moving_to_drop")
    (refused,) = shift.tick(TaskVerb("yard-t1", "abort", "B9"))
    assert refused.code == "worksite.unknown"
    assert shift.tick(TaskVerb("yard-t1", "abort", {"targetId": "B2"})) == ()
    shift.run(300)
    assert shift.task().status == "completed"
    assert (shift.site("B1").occupancy, shift.site("B2").occupancy) == ("empty", "filled")


def test_fleet_verbs_a_drop_finished_before_the_robot_could_be_called_off_is_booked_where_it_happened() -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "dropping")
    shift.run(9.5)
    shift.tick(TaskVerb("yard-t1", "abort", "B2"))
    shift.run(60)
    standing = {place.id for place in shift.robots.pallets().values()}
    assert standing == {site for site in ("B1", "B2") if shift.site(site).occupancy == "filled"}
    assert shift.site("B2").reserved_by is None


@pytest.mark.parametrize("verb", ["cancel", "hand-back"])
def test_fleet_verbs_with_goods_on_the_fork_a_task_is_not_just_dropped(verb: str) -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "moving_to_drop")
    (refused,) = shift.tick(TaskVerb("yard-t1", verb))
    assert refused.code == "task.loaded"
    assert refused.try_next


def test_fleet_verbs_hand_back_gives_the_task_to_another_robot() -> None:
    shift = struck(yard(robots=2))
    shift.run(6)
    first = shift.task().robot_id
    shift.tick(TaskVerb("yard-t1", "hand-back"))
    shift.until(lambda: shift.task().robot_id not in (None, first))
    shift.run(300)
    assert shift.task().status == "completed"


def test_fleet_verbs_out_of_service_hands_back_and_gets_no_more_work() -> None:
    shift = struck(yard(robots=2, pallets=3))
    shift.run(6)
    shift.tick(RobotVerb("RB-01", "out-of-service"))
    shift.run(900)
    assert shift.state.completed == 3
    assert {task.robot_id for task in shift.state.tasks.values()} == {"RB-02"}
    assert why_robot(shift.state, "RB-01", shift.now)[0].code == "robot.out_of_service"


def test_fleet_verbs_hold_pauses_and_release_goes_on() -> None:
    shift = struck(yard())
    shift.run(6)
    shift.tick(RobotVerb("RB-01", "hold"), RobotVerb("RB-01", "hold"))
    assert [type(c) for c in shift.commands[1:]] == [PauseRobot]
    shift.run(1000)
    assert shift.robot().phase == "held"
    assert shift.task().status == "active"
    shift.tick(RobotVerb("RB-01", "release"))
    assert isinstance(shift.commands[-1], ResumeRobot)
    shift.run(300)
    assert shift.task().status == "completed"


def test_fleet_verbs_hold_all_stops_everything_and_clear_goes_on() -> None:
    shift = struck(yard(robots=2, pallets=2))
    shift.run(6)
    shift.tick(FleetVerb("hold"))
    shift.tick(FleetVerb("hold"))
    nodes = {robot: seen.report.node_id for robot, seen in shift.state.seen.items()}
    shift.run(900)
    assert {robot: seen.report.node_id for robot, seen in shift.state.seen.items()} == nodes
    shift.tick(FleetVerb("clear"))
    shift.run(400)
    assert shift.state.completed == 2
    assert shift.kinds().count("fleetHeld") == 1


def test_fleet_verbs_park_and_charge_on_request() -> None:
    scene = yard(pallets=1)
    scene["worksites"][0]["occupancy"] = "empty"
    scene["worksites"].append({"worksiteId": "CHARGE", "worksiteType": "charger", "entryNodeId": "LM2"})
    scene["robots"][0]["battery"] = 0.5
    shift = struck(scene)
    shift.run(30)
    shift.tick(RobotVerb("RB-01", "charge"))
    shift.run(60)
    assert shift.robot().phase == "charging"
    assert shift.state.seen["RB-01"].report.node_id == "LM2"
    shift.tick(RobotVerb("RB-01", "park"))
    shift.run(60)
    assert shift.state.seen["RB-01"].report.node_id == "PK"


def test_fleet_verbs_set_load_is_for_robots_without_a_sensor() -> None:
    scene = yard()
    scene["robots"][0]["loadState"] = "loaded"
    shift = struck(scene)
    shift.run(5)
    assert why_robot(shift.state, "RB-01", shift.now)[0].code == "robot.loaded"
    shift.tick(RobotVerb("RB-01", "set-load", "empty"))
    assert shift.robot().load_state_source == "manual"
    shift.tick()
    assert shift.task().status == "active"
    sensing = struck(yard(), load_sensor=True)
    sensing.run(2)
    sensing.tick(TaskVerb("yard-t1", "cancel"))
    sensing.until(lambda: sensing.task().status == "canceled")


def test_fleet_verbs_unknown_names_and_verbs_are_refused_with_the_known_ones() -> None:
    shift = struck(yard())
    shift.run(2)
    refused = shift.tick(
        TaskVerb("yard-t9", "resume"),
        TaskVerb("yard-t1", "explode"),
        RobotVerb("RB-1", "hold"),
        RobotVerb("RB-01", "dance"),
        FleetVerb("dance"),
        AnswerDecision("nope", "resume"),
        PatchWorksite("A9", "filled"),
        PatchWorksite("A1", "reserved"),
    )
    assert [reason.code for reason in refused] == [
        "task.unknown",
        "verb.unknown",
        "robot.unknown",
        "verb.unknown",
        "verb.unknown",
        "decision.closed",
        "worksite.unknown",
        "worksite.occupancy",
    ]


def test_fleet_verbs_answering_twice_is_refused() -> None:
    shift = struck(yard(), fault("status5", 0))
    shift.until(lambda: bool(shift.state.decisions))
    decision = only_decision(shift)
    answer = AnswerDecision(decision.id, "abort")
    assert [reason.code for reason in shift.tick(answer, answer)] == ["decision.closed"]
    assert "decisionAnswered" in shift.kinds()


# Restarts


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("at_s", [1, 4, 12, 19, 21, 30, 42, 55, 70])
def test_fleet_restart_loses_no_task_and_doubles_none(ids: bool, at_s: int) -> None:
    shift = struck(yard(robots=2, pallets=3), task_ids=ids)
    shift.run(at_s)
    commands = len(shift.commands)
    shift.restart()
    assert not [c for c in shift.commands[commands:] if isinstance(c, GoTarget)], "robots are heard before orders"
    shift.run(600)
    while shift.state.decisions:  # somebody looks at the robot, where nothing else shows what it did
        decision = next(iter(shift.state.decisions.values()))
        carries = ("robot", decision.about["robotId"]) in shift.robots.pallets().values()
        done = carries == (decision.evidence["step"] == "pick")
        shift.tick(AnswerDecision(decision.id, "done-by-hand" if done else "redo"))
        shift.run(600)
    assert shift.state.completed == 3
    assert len(shift.state.tasks) == 3
    assert shift.kinds().count("palletPicked") == 3
    assert shift.check.end() == []
    assert snapshot(shift.replayed()) == snapshot(shift.state)


@pytest.mark.parametrize("gap_s", [0, 3_600, 30 * 24 * 3_600])
@pytest.mark.parametrize("at_s", [4, 12, 30])
def test_fleet_restart_however_long_it_took_by_the_clock_nothing_is_late_for_it(at_s: int, gap_s: int) -> None:
    shift = struck(yard(robots=2, pallets=3))
    shift.run(at_s)
    shift.now += gap_s * 1000
    shift.robots.settle(shift.now)
    shift.restart()
    shift.run(600)
    assert not shift.state.decisions
    assert shift.state.completed == 3
    assert shift.kinds().count("palletPicked") == 3
    assert snapshot(shift.replayed()) == snapshot(shift.state)


def test_fleet_restart_an_order_never_seen_running_is_asked_about() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(policy="recover"), robots)
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    assert shift.task().command_state == "sent"
    robots.report("RB-01", 0, node_id="LM1")
    shift.restart()
    assert shift.task().status == "active", "it may begin yet"
    for _ in range(22):
        robots.report("RB-01", 0, node_id="LM1")
        shift.tick()
    assert shift.task().status == "held"
    assert shift.task().error_code == "task.in_doubt"
    assert len(robots.told) == 1
    assert {"redo", "done-by-hand", "abort"} <= set(only_decision(shift).verbs)


def test_fleet_restart_an_order_its_robot_never_got_is_sent_anew() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(policy="recover"), robots)
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    robots.report("RB-01", 4, node_id="LM1", task_id="yard-RB-01:park:1")
    shift.restart()
    assert len(robots.told) == 1, "robots are heard before orders"
    assert shift.task().status == "active"
    robots.report("RB-01", 4, node_id="LM1", task_id="yard-RB-01:park:1")
    shift.tick()
    assert len(robots.told) == 2
    assert not shift.state.decisions


FIRST = LogIdentity("0jnk8481", "ewyc2n1k")


def put_back(shift: Shift) -> None:
    """The log begins another generation, and its robots have gone on meanwhile."""
    shift.log = shift.log.next_generation()
    shift.restart()


def carried(**telemetry: Any) -> tuple[Shift, ScriptedRobots]:
    """RB-01 picks a pallet for a first generation of the log."""
    robots = ScriptedRobots()
    shift = Shift(yard(policy="recover"), robots)
    shift.log = shift.state.log = FIRST
    for status, node in ((0, "LM1"), (2, "LM1"), (2, "NA1"), (4, "NA1")):
        robots.report("RB-01", status, node_id=node, **telemetry)
        shift.tick()
    assert shift.task().step == "drop"
    return shift, robots


def test_fleet_restored_a_fork_without_a_sensor_is_looked_at_once() -> None:
    shift, robots = carried()
    for status, node in ((2, "NA1"), (2, "NB1"), (4, "NB1"), (4, "NB1")):
        robots.report("RB-01", status, node_id=node)
        shift.tick()
    assert shift.task().status == "completed"
    robots.report("RB-01", 4, node_id="NB1")
    put_back(shift)
    asked = only_decision(shift)
    assert (asked.about["robotId"], asked.evidence["code"]) == ("RB-01", "robot.fork_unknown")
    assert shift.robot().load_state == "unknown"
    shift.tick(AnswerDecision(asked.id, "unloaded"))
    assert (shift.robot().load_state, shift.robot().load_state_source) == ("empty", "manual")
    robots.report("RB-01", 4, node_id="NB1")
    shift.restart()
    assert not shift.state.decisions
    assert snapshot(shift.replayed()) == snapshot(shift.state)


def test_fleet_restored_a_robot_that_names_the_last_order_as_its_newest_did_nothing_since() -> None:
    shift, robots = carried()
    for status, node in ((2, "NA1"), (2, "NB1"), (4, "NB1"), (4, "NB1")):
        robots.report("RB-01", status, node_id=node)
        shift.tick()
    newest = shift.state.order_keys["RB-01"]
    robots.report("RB-01", 4, node_id="NB1", task_id=newest, names_newest=True)
    put_back(shift)
    assert not shift.state.decisions
    assert shift.robot().load_state == "empty"


def test_fleet_restored_a_fork_with_a_sensor_is_known() -> None:
    shift, robots = carried()
    robots.report("RB-01", 4, node_id="NB1", load_sensor="empty")
    put_back(shift)
    assert shift.robot().load_state == "empty"
    assert all(decision.evidence.get("code") != "robot.fork_unknown" for decision in shift.state.decisions.values())


def test_fleet_restored_a_drop_that_was_due_is_not_ordered_before_somebody_looked() -> None:
    """In the other life it may have been ordered, and done."""
    robots = ScriptedRobots()
    shift = Shift(yard(policy="recover"), robots)
    shift.log = shift.state.log = FIRST
    for status, node in ((0, "LM1"), (2, "LM1"), (2, "NA1")):
        robots.report("RB-01", status, node_id=node)
        shift.tick()
    shift.tick(FleetVerb("hold"))
    robots.report("RB-01", 4, node_id="NA1")
    shift.tick()
    assert (shift.task().step, shift.task().command_state) == ("drop", "due")
    kept = len(shift.events)
    shift.tick(FleetVerb("clear"))
    assert robots.targets("RB-01")[-1]["operation"] == "ForkUnload", "ordered in the first life"
    told, shift.events = len(robots.told), shift.events[:kept]
    robots.report("RB-01", 4, node_id="NB1")
    put_back(shift)
    shift.tick(FleetVerb("clear"))
    for _ in range(10):
        robots.report("RB-01", 4, node_id="NB1")
        shift.tick()
    assert shift.task().status == "held"
    assert shift.task().error_code == "robot.other_log"
    assert [one for one in robots.told[told:] if isinstance(one, GoTarget)] == []
    shift.tick(AnswerDecision(only_decision(shift).id, "done-by-hand"))
    assert shift.task().status == "completed"


def test_fleet_a_parked_robot_that_runs_for_somebody_else_is_not_sent() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(pallets=1), robots)
    shift.tick(PatchStream("s", enabled=False))
    robots.report("RB-01", 0, node_id="PK")
    shift.tick()
    robots.report("RB-01", 4, node_id="PK")
    shift.tick()
    assert shift.robot().errand.state == "there"
    robots.report("RB-01", 2, node_id="LM1", task_id="tablet-7", target="NB2")
    shift.tick(PatchStream("s", enabled=True))
    for _ in range(4):
        robots.report("RB-01", 2, node_id="LM1", task_id="tablet-7", target="NB2")
        shift.tick()
    assert [one for one in robots.targets("RB-01") if one["id"] != "PK"] == []
    assert [reason.code for reason in why_robot(shift.state, "RB-01", shift.now)] == ["robot.other_order"]
    robots.report("RB-01", 4, node_id="LM1", task_id="tablet-7", target="NB2")
    shift.tick()
    assert [one["id"] for one in robots.targets("RB-01") if one["id"] != "PK"] == ["NA1"]


def test_fleet_restart_an_order_shown_running_goes_on() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(), robots)
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    robots.report("RB-01", 2, node_id="LM1")
    shift.restart()
    assert shift.task().command_state == "running"
    assert len(robots.told) == 1


def test_fleet_restart_no_order_goes_to_a_robot_that_has_not_been_heard() -> None:
    shift = struck(yard(pallets=2))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "picking")
    told = len(shift.commands)
    shift.robots.advance(shift.now)
    shift.restart(lost=True)
    quiet = ScriptedRobots()
    real, shift.robots = shift.robots, quiet
    shift.run(3)
    assert len(shift.commands) == told
    shift.robots = real
    shift.run(400)
    assert shift.state.completed == 2
    assert shift.kinds().count("palletPicked") == 2


def test_fleet_restart_from_a_snapshot_is_the_same() -> None:
    shift = struck(yard(robots=2, pallets=3), fault("status5", 20))
    shift.run(60)
    text = json.dumps(snapshot(shift.state))
    assert snapshot(restore(shift.scene, json.loads(text))) == snapshot(shift.state)


# Why


def test_fleet_why_an_idle_robot_names_the_rule() -> None:
    scene = yard()
    scene["worksites"][0]["occupancy"] = "empty"
    shift = struck(scene)
    shift.run(30)
    reasons = why_robot(shift.state, "RB-01", shift.now)
    assert reasons[0].code == "fleet.no_work"
    assert any("A1 is empty" in reason.says for reason in reasons)
    assert all(reason.says.endswith(".") for reason in reasons)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"enabled": False}, "stream.disabled"),
        ({}, "stream.no_robot"),
    ],
)
def test_fleet_why_a_silent_stream_names_the_rule(change: dict[str, Any], code: str) -> None:
    scene = yard(pallets=2)
    scene["streams"][0] |= change
    shift = struck(scene)
    shift.run(2)
    assert why_stream(shift.state, "s", shift.now)[0].code == code


def test_fleet_why_a_stream_of_a_scene_without_robots_says_so() -> None:
    scene = yard()
    scene["robots"] = []
    shift = struck(scene)
    shift.run(2)
    (reason,) = why_stream(shift.state, "s", shift.now)
    assert reason.code == "fleet.no_robots"
    assert reason.says == "A1 waits for a robot, and the scene has none."
    assert reason.try_next == "Add robots to the scene."


def test_fleet_why_low_battery_and_frozen_and_held() -> None:
    scene = yard(robots=2, pallets=3)
    scene["worksites"].append({"worksiteId": "CHARGE", "worksiteType": "charger", "entryNodeId": "LM2"})
    scene["robots"][1]["battery"] = 0.12
    shift = struck(scene, fault("status5", 0))
    shift.run(3)
    assert "12%" in why_robot(shift.state, "RB-02", shift.now)[0].says
    assert why(shift.state, "yard-t1", shift.now)[0].code == "robot.step_failed"
    assert why_stream(shift.state, "s", shift.now)[0].code == "fleet.frozen"
    shift.tick(FleetVerb("hold"))
    assert "fleet.held" in [reason.code for reason in why_stream(shift.state, "s", shift.now)]


def test_fleet_why_a_task_says_what_it_waits_for() -> None:
    shift = struck(yard(policy="recover"), fault("offline", 5, forS=60))
    shift.run(2)
    assert why_task(shift.state, "yard-t1", shift.now)[0].code == "task.under_way"
    shift.run(15)
    assert why_task(shift.state, "yard-t1", shift.now)[0].code == "robot.offline"


def test_fleet_why_lists_everything_that_stands_still() -> None:
    shift = struck(yard(robots=2), fault("status5", 0))
    shift.run(5)
    assert set(why_everything(shift.state, shift.now)) == {"RB-02", "yard-t1", "s"}


def test_fleet_why_an_unknown_name_gets_the_known_ones() -> None:
    shift = struck(yard())
    with pytest.raises(NotFoundError, match="RB-01"):
        why(shift.state, "RB-1", 0)


def test_fleet_verbs_abort_with_a_place_is_refused_while_no_pallet_is_on_the_fork() -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks))
    (refused,) = shift.tick(TaskVerb("yard-t1", "abort", "B2"))
    assert refused.code == "task.not_loaded"
    assert shift.task().error is None
    assert shift.tick(TaskVerb("yard-t1", "abort")) == ()
