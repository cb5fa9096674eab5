"""What is held stands, what was said once is done once, and whoever fails is the one looked at."""

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
    RequestTransport,
    RobotVerb,
    TaskVerb,
)
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.why import why_robot, why_stream, why_task
from beforehand.crafts.fleet.testing import ScriptedRobots, Shift
from beforehand.model.errors import BadInputError
from beforehand.model.robot import CancelTarget, GoTarget, PauseRobot, ResumeRobot


def yard(robots: int = 1, pallets: int = 1, policy: str = "freeze", park: bool = True, **settings: Any) -> Any:
    """Robots at LM1, picks A1.. at 10 m, drops B1.. at 40 m, one of each more than pallets, and a park place."""
    nodes = [{"id": "LM1", "x": 0, "y": 0}, {"id": "LM2", "x": 20, "y": 0}, {"id": "PK", "x": 0, "y": 9}]
    edges = [{"from": "LM1", "to": "LM2"}, {"from": "LM1", "to": "PK"}]
    sites: list[dict[str, Any]] = []
    for n in range(pallets + 1):
        for name, x, hub in (("A", 10, "LM1"), ("B", 40, "LM2")):
            nodes.append({"id": f"N{name}{n + 1}", "x": x, "y": 5 * n})
            edges.append({"from": hub, "to": f"N{name}{n + 1}"})
            lies = "filled" if name == "A" and n < pallets else "empty"
            kind = "pickup" if name == "A" else "dropoff"
            site = {"worksiteId": f"{name}{n + 1}", "worksiteType": kind, "entryNodeId": f"N{name}{n + 1}"}
            sites.append(site | {"occupancy": lies})
    if park:
        sites.append({"worksiteId": "PARK", "worksiteType": "park", "entryNodeId": "PK"})
    groups = {
        f"{way}Group": [f"{name}{n + 1}" for n in range(pallets + 1)] for way, name in (("pick", "A"), ("drop", "B"))
    }
    return {
        "kind": "fleet",
        "name": "yard",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": [{"robotId": f"RB-{n + 1:02}", "nodeId": "LM1", "loadState": "empty"} for n in range(robots)],
        "streams": [{"streamId": "s", "params": groups}],
        "settings": {"errorPolicy": policy, **settings},
    }


def policy(scene: Any, **drop: Any) -> Any:
    scene["streams"][0]["params"]["dropPolicy"] = drop
    return scene


def struck(scene: Any, *faults: dict[str, Any], **sim: Any) -> Shift:
    read = read_fleet(scene)
    return Shift(read, SimFleet(read, read_faults(list(faults)), SimSettings(**sim)))


def fault(name: str, at_s: float = 5, robot_id: str = "RB-01", **more: Any) -> dict[str, Any]:
    return {"atS": at_s, "robotId": robot_id, "fault": name, **more}


def committed(shift: Shift) -> bool:
    return bool(shift.state.tasks) and shift.task().committed


def question(shift: Shift) -> Any:
    (decision,) = shift.state.decisions.values()
    return decision


# 9: what is held stands


@pytest.mark.parametrize("ids", [True, False])
def test_a_committed_robot_whose_drop_was_reported_filled_stands_and_unloads_nothing(ids: bool) -> None:
    shift = struck(policy(yard(), commitDistanceM=25), task_ids=ids)
    shift.until(lambda: committed(shift))
    shift.tick(PatchWorksite("B1", "filled"))
    assert isinstance(shift.commands[-1], PauseRobot)
    stood = shift.robots.positions()
    shift.run(120)
    assert shift.robots.positions() == stood, "it did not move a centimetre"
    assert shift.task().status == "held"
    assert "palletDropped" not in shift.kinds()
    shift.tick(AnswerDecision(question(shift).id, "abort", "B2"))
    shift.run(120)
    assert shift.site("B2").occupancy == "filled"
    assert not shift.differing


def test_a_held_robot_goes_on_when_the_task_is_resumed() -> None:
    shift = struck(policy(yard(), commitDistanceM=25))
    shift.until(lambda: committed(shift))
    shift.tick(PatchWorksite("B1", "filled"))
    shift.run(20)
    shift.tick(PatchWorksite("B1", "empty"))
    shift.tick(TaskVerb("yard-t1", "resume"))
    assert any(isinstance(command, ResumeRobot) for command in shift.commands)
    shift.run(120)
    assert shift.task().status == "completed"
    assert not shift.robot().paused


def test_a_robot_that_comes_back_to_a_held_task_is_stopped() -> None:
    shift = struck(yard(), fault("offline", 5, forS=8))
    shift.until(lambda: shift.robot().status == "offline")
    shift.until(lambda: shift.robot().paused)
    shift.run(60)
    assert (shift.task().status, shift.task().step) == ("held", "pick")
    assert shift.robot().status == "online"


def test_a_pause_that_was_lost_is_said_again() -> None:
    shift, robots = Shift(yard(), robots := ScriptedRobots()), robots
    robots.report("RB-01", 0, node_id="LM1")
    shift.tick()
    for _ in range(2):
        robots.report("RB-01", 2, node_id="LM1")
        shift.tick()
    shift.tick(RobotVerb("RB-01", "hold"))
    for _ in range(10):
        robots.report("RB-01", 2, node_id="LM1")
        shift.tick()
    assert sum(isinstance(command, PauseRobot) for command in robots.told) >= 2


def test_a_word_to_go_on_that_was_lost_is_said_again_after_a_restart_too() -> None:
    shift = struck(yard(), fault("lost_command", 19, for_s=10))
    shift.run(15)
    shift.tick(RobotVerb("RB-01", "hold"))
    shift.run(4)
    shift.tick(RobotVerb("RB-01", "release"))
    shift.restart()
    shift.run(200)
    assert sum(isinstance(command, ResumeRobot) for command in shift.commands) >= 2
    assert shift.robot().resume_key is None
    assert shift.task().status == "completed"


def test_a_robot_that_has_heard_to_go_on_and_stands_was_stopped_by_somebody_there() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(), robots)
    for status in (0, 2):
        robots.report("RB-01", status, node_id="LM1")
        shift.tick()
    shift.tick(RobotVerb("RB-01", "hold"))
    robots.report("RB-01", 3, node_id="LM1")
    shift.tick(RobotVerb("RB-01", "release"))
    robots.answer(robots.told[-1].key, "RB-01")
    for _ in range(20):
        robots.report("RB-01", 3, node_id="LM1")
        shift.tick()
    assert sum(isinstance(command, ResumeRobot) for command in robots.told) == 1


def test_releasing_a_robot_does_not_set_a_held_task_going() -> None:
    shift = struck(policy(yard(), commitDistanceM=25))
    shift.until(lambda: committed(shift))
    shift.tick(PatchWorksite("B1", "filled"))
    shift.tick(RobotVerb("RB-01", "hold"))
    shift.tick(RobotVerb("RB-01", "release"))
    shift.tick(FleetVerb("hold"))
    shift.tick(FleetVerb("clear"))
    assert shift.robot().paused
    assert not any(isinstance(command, ResumeRobot) for command in shift.commands)


def test_a_task_held_twice_names_both_holds_and_what_lifts_each() -> None:
    shift = struck(yard())
    shift.run(6)
    shift.tick(RobotVerb("RB-01", "hold"), FleetVerb("hold"))
    told = [(reason.says, reason.try_next) for reason in why_task(shift.state, "yard-t1", shift.now)]
    assert told == [("A person holds the fleet.", "Clear the hold."), ("A person holds RB-01.", "Release it.")]


# 11: people


def test_done_by_hand_said_twice_books_one_step() -> None:
    shift = struck(yard())
    shift.run(6)
    assert (
        shift.tick(TaskVerb("yard-t1", "done-by-hand"), TaskVerb("yard-t1", "done-by-hand"))[0].code == "task.step_done"
    )
    assert (shift.task().step, shift.kinds().count("palletPicked")) == ("drop", 1)
    assert "palletDropped" not in shift.kinds()
    shift.run(200)
    assert shift.task().status == "completed", "in the hall the pallet is on the fork, so the drop works"
    assert not shift.differing
    assert shift.check.end() == []


def test_done_by_hand_may_say_which_step_it_means() -> None:
    shift = struck(yard())
    shift.run(6)
    (early,) = shift.tick(TaskVerb("yard-t1", "done-by-hand", "drop"))
    assert early.code == "task.step"
    assert (
        shift.tick(TaskVerb("yard-t1", "done-by-hand", "pick"), TaskVerb("yard-t1", "done-by-hand", {"step": "pick"}))
        == ()
    )
    assert shift.kinds().count("palletPicked") == 1
    (wrong,) = shift.tick(TaskVerb("yard-t1", "done-by-hand", "lift"))
    assert wrong.code == "step.unknown"
    shift.tick(TaskVerb("yard-t1", "done-by-hand", "drop"))
    assert shift.task().status == "completed"
    shift.run(30)
    assert not shift.differing


def test_who_is_asked_about_a_step_means_that_step() -> None:
    """Though the pick was done by hand, too, and the drop was never seen to begin."""
    shift = struck(yard(), fault("offline", 7, forS=500))
    shift.run(6)
    shift.tick(TaskVerb("yard-t1", "done-by-hand"))
    shift.until(lambda: bool(shift.state.decisions))
    assert (question(shift).evidence["step"], shift.task().by_hand) == ("drop", True)
    (twice,) = shift.tick(TaskVerb("yard-t1", "done-by-hand"))
    assert twice.code == "task.step_done", "it may be the same press again"
    assert shift.tick(AnswerDecision(question(shift).id, "done-by-hand")) == ()
    assert (shift.task().status, shift.kinds().count("palletDropped")) == ("completed", 1)


@pytest.mark.parametrize("ids", [True, False])
def test_a_cancel_by_hand_at_the_place_is_no_completion(ids: bool) -> None:
    shift = struck(yard(), task_ids=ids)
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "picking")
    shift.run(2)
    shift.robots.inject(read_faults([fault("cancelled_by_hand", 0)])[0], shift.now)
    shift.run(10)
    assert (shift.task().status, shift.task().error_code) == ("held", "robot.canceled")
    assert "palletPicked" not in shift.kinds()


@pytest.mark.parametrize(("ids", "sensor"), [(True, False), (False, False), (False, True)])
def test_a_6_completes_where_something_confirms_it(ids: bool, sensor: bool) -> None:
    shift = struck(yard(), fault("status6", 0), task_ids=ids, load_sensor=sensor)
    shift.run(200)
    assert shift.task().status == "completed"
    assert not shift.differing


def test_a_6_sooner_than_a_fork_can_work_is_asked_about() -> None:
    shift, robots = Shift(yard(), robots := ScriptedRobots()), robots
    for status, node in ((0, "LM1"), (2, "LM1"), (2, "NA1"), (6, "NA1")):
        robots.report("RB-01", status, node_id=node)
        shift.tick()
    assert shift.task().error_code == "robot.canceled"


@pytest.mark.parametrize("dispatch", ["nearest", "first", "optimal"])
def test_a_task_handed_back_goes_to_another_robot(dispatch: str) -> None:
    shift = struck(yard(robots=2, dispatch=dispatch))
    shift.run(6)
    first = shift.task().robot_id
    shift.tick(TaskVerb("yard-t1", "hand-back"))
    shift.until(lambda: shift.task().robot_id not in (None, first))
    shift.run(200)
    assert shift.task().status == "completed"


def test_the_only_robot_gets_a_task_again_that_it_handed_back_but_not_at_once() -> None:
    shift = struck(yard())
    shift.run(6)
    shift.tick(TaskVerb("yard-t1", "hand-back"))
    shift.run(15)
    assert shift.task().robot_id is None
    assert "robot.handed_back" in [reason.code for reason in why_task(shift.state, "yard-t1", shift.now)]
    shift.run(300)
    assert shift.task().status == "completed"


def test_a_held_task_whose_place_is_wrong_is_not_handed_to_the_next_robot() -> None:
    shift = struck(yard(robots=2))
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "picking")
    shift.tick(PatchWorksite("A1", "empty"))
    assert shift.task().status == "held"
    shift.tick(TaskVerb("yard-t1", "hand-back"))
    shift.run(30)
    assert (shift.task().status, shift.task().error_code) == ("canceled", "worksite.changed")


def test_aborting_with_a_load_asks_somebody_to_unload_the_robot() -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "moving_to_drop")
    shift.tick(TaskVerb("yard-t1", "abort"))
    shift.run(30)
    assert shift.task().status == "failed"
    asked = question(shift)
    assert asked.about == {"scene": "yard", "robotId": "RB-01"}
    shift.tick(AnswerDecision(asked.id, "unloaded"))
    assert not shift.state.decisions
    assert shift.robot().load_state == "empty"
    assert not [place for place in shift.robots.pallets().values() if place.kind == "robot"], "in the hall too"


def test_a_drop_by_hand_that_was_first_told_as_a_filled_place_is_booked_as_advised() -> None:
    shift = struck(yard())
    shift.until(lambda: bool(shift.state.tasks) and shift.task().phase == "dropping")
    shift.tick(PatchWorksite("B1", "filled"))
    asked = question(shift)
    (refused,) = shift.tick(AnswerDecision(asked.id, "done-by-hand"))
    assert refused.says == "B1 is filled, so nothing can have been dropped there."
    assert refused.try_next == "If it is this pallet: `beforehand worksites set B1 empty`, then say done-by-hand again."
    assert question(shift).id == asked.id
    shift.tick(PatchWorksite("B1", "empty"))
    assert shift.tick(AnswerDecision(asked.id, "done-by-hand")) == ()
    shift.run(30)
    assert (shift.task().status, shift.site("B1").occupancy) == ("completed", "filled")
    assert shift.robot().load_state == "empty"
    assert not shift.differing


@pytest.mark.parametrize(("verb", "status"), [("abort", "failed"), ("cancel", "canceled"), ("hand-back", "active")])
def test_a_pick_that_ends_before_it_can_be_called_off(verb: str, status: str) -> None:
    """What a person wanted to end does not go on to its drop; what was to go to another robot does."""
    robots = ScriptedRobots()
    shift = Shift(yard(), robots)
    for seen, node in ((0, "LM1"), (2, "LM1"), (2, "NA1")):
        robots.report("RB-01", seen, node_id=node)
        shift.tick()
    shift.tick(TaskVerb("yard-t1", verb))
    robots.report("RB-01", 4, node_id="NA1")
    shift.tick()
    assert (shift.task().status, shift.robot().load_state) == (status, "loaded")
    if status == "active":
        assert (shift.task().step, shift.task().error) == ("drop", None)
        return
    assert isinstance(robots.told[-1], CancelTarget)
    assert shift.site("B1").occupancy == "empty"
    assert "unloaded" in question(shift).verbs
    shift.tick(AnswerDecision(question(shift).id, "unloaded"))
    assert shift.robot().load_state == "empty"


def test_set_load_reaches_the_simulated_fork() -> None:
    shift = struck(yard(pallets=0))
    shift.run(2)
    shift.tick(RobotVerb("RB-01", "set-load", "loaded"))
    assert [place.id for place in shift.robots.pallets().values()] == ["RB-01"]


# 12: it ends, and asks


def test_a_robot_that_lost_its_position_gets_no_orders_and_is_asked_about_once() -> None:
    scene = read_fleet(yard(pallets=0, policy="recover"))
    result = simulate(scene, SimFleet(scene, read_faults([fault("lost_position", 0)])))
    assert result.ended == "idle"
    assert result.sim_seconds < 120
    sent = [event for event in result.events if event.kind == "commandSent"]
    assert len(sent) <= 1
    assert [asked.evidence["code"] for asked in result.state.decisions.values()] == ["robot.lost"]


def test_a_robot_that_knows_again_where_it_is_works_again() -> None:
    shift = struck(yard(pallets=0), fault("lost_position", 0, forS=60))
    shift.run(45)
    assert why_robot(shift.state, "RB-01", shift.now)[0].code == "robot.error"
    assert question(shift).evidence["code"] == "robot.lost"
    shift.run(30)
    assert not shift.state.decisions
    assert not shift.state.hold
    shift.tick(PatchWorksite("A1", "filled"))
    shift.run(200)
    assert shift.task().status == "completed"


@pytest.mark.parametrize("error_policy", ["freeze", "recover"])
def test_a_dead_battery_does_not_keep_a_simulation_going(error_policy: str) -> None:
    scene = read_fleet(yard(pallets=0, policy=error_policy))
    result = simulate(scene, SimFleet(scene, read_faults([fault("dead_battery", 0)])))
    assert result.ended == "idle"
    assert result.state.decisions
    assert len([event for event in result.events if event.kind == "commandSent"]) <= 3


def test_a_simulation_tells_where_the_books_differ_from_the_pallets() -> None:
    scene = read_fleet(yard())
    result = simulate(scene, SimFleet(scene, read_faults([fault("misdrop", 0)])))
    assert result.violations == [
        "B1 is filled in the books, and truly it is not.",
        "RB-01 is empty in the books, and truly it is not.",
    ]
    assert simulate(scene, SimFleet(scene)).violations == []


# 13: reservations, blame, leases, chargers


def lane() -> Any:
    scene = yard(pallets=2)
    scene["edges"] = [edge for edge in scene["edges"] if edge["to"] not in ("NB2", "NB3")]
    scene["edges"] += [{"from": "NB1", "to": "NB2"}, {"from": "NB2", "to": "NB3"}]
    return policy(scene, selection="last_available_in_order", accessRule="preceding_empty")


def test_a_lane_retargets_although_the_task_itself_holds_a_place_in_it() -> None:
    shift = struck(lane())
    shift.run(6)
    assert shift.task().target_id == "B3"
    shift.tick(PatchWorksite("B3", "filled"))
    assert (shift.task().target_id, shift.task().status) == ("B2", "active")
    assert shift.site("B3").reserved_by is None


def test_a_place_in_front_of_a_lanes_target_is_in_the_way_and_one_behind_is_not() -> None:
    shift = struck(lane())
    shift.run(6)
    shift.tick(PatchWorksite("B2", "filled"))
    assert shift.task().target_id == "B1", "B3 behind it cannot be reached any more"
    shift.tick(PatchWorksite("B3", "filled"))
    assert (shift.task().target_id, shift.task().status) == ("B1", "active")


def test_a_place_in_front_of_a_committed_lanes_target_holds_the_task() -> None:
    scene = lane()
    scene["streams"][0]["params"]["dropPolicy"]["commitDistanceM"] = 40
    shift = struck(scene)
    shift.until(lambda: committed(shift))
    shift.tick(PatchWorksite("B1", "filled"))
    assert shift.task().status == "held"
    assert isinstance(shift.commands[-1], PauseRobot)


def test_failures_that_follow_a_robot_are_the_robots() -> None:
    faults = [fault("status5", at_s, "RB-01") for at_s in range(0, 600, 2)]
    shift = struck(yard(robots=1, pallets=4, policy="recover", retries=0), *faults)
    shift.run(300)
    assert len(shift.state.tasks) == 3
    assert question(shift).evidence["code"] == "robot.fails"
    assert shift.robot().phase == "error"
    assert {site.failures for site in shift.state.worksites.values()} == {0}, "the places are not given up"


def test_a_lease_runs_on_while_the_robot_is_silent_and_then_somebody_is_asked() -> None:
    shift = struck(yard(policy="recover", leaseS=100), fault("offline", 5))
    shift.run(150)
    assert shift.task().status == "stale"
    assert question(shift).about["taskId"] == "yard-t1"


def test_a_lease_runs_on_while_the_robot_is_blocked() -> None:
    shift = struck(yard(policy="recover", leaseS=100), fault("blocked", 5))
    shift.run(150)
    assert shift.task().status == "stale"


def charging(robots: int = 2, park: bool = True) -> Any:
    scene = yard(robots=robots, pallets=0, park=park, chargePerS=0.02)
    scene["nodes"].append({"id": "CH", "x": 0, "y": -9})
    scene["edges"].append({"from": "LM1", "to": "CH"})
    scene["worksites"].append({"worksiteId": "CHARGER", "worksiteType": "charger", "entryNodeId": "CH"})
    return scene


def test_a_charger_is_not_given_to_a_second_robot_while_the_first_stands_on_it() -> None:
    scene = charging(park=False)
    scene["robots"][0] |= {"nodeId": "CH", "battery": 1.0}
    scene["robots"][1] |= {"battery": 0.1}
    shift = struck(scene)
    shift.tick()
    assert not [command for command in shift.commands if command.robot_id == "RB-02"]
    told = [reason.code for reason in why_robot(shift.state, "RB-02", shift.now)]
    assert told == ["robot.battery_low", "charger.taken"]
    shift.tick(RobotVerb("RB-01", "hold"))
    shift.run(60)
    assert shift.robot("RB-02").errand is None
    (refused,) = shift.tick(RobotVerb("RB-02", "charge"))
    assert refused.code == "charger.taken"
    assert "RB-01" in refused.says


def test_a_charged_robot_makes_room_for_one_that_needs_the_charger() -> None:
    scene = charging(park=False)
    scene["robots"][0] |= {"battery": 0.15}
    scene["robots"][1] |= {"battery": 0.1}
    shift = struck(scene)
    shift.run(400)
    assert min(seen.report.battery or 0 for seen in shift.state.seen.values()) > 0.7


def test_a_parking_error_stops_dispatch_under_freeze() -> None:
    shift = struck(yard(robots=2, pallets=0), fault("status5", 0, "RB-01"))
    shift.until(lambda: shift.robot().phase == "error")
    assert shift.state.hold.robots == ("RB-01",)
    shift.tick(PatchWorksite("A1", "filled"))
    shift.run(30)
    assert not shift.state.tasks
    assert "fleet.frozen" in [reason.code for reason in why_robot(shift.state, "RB-02", shift.now)]
    shift.tick(AnswerDecision(question(shift).id, "release"))
    shift.run(200)
    assert shift.task().status == "completed"
    assert Shift.replayed(shift).hold == shift.state.hold


@pytest.mark.parametrize("answered", [True, False])
def test_a_robot_in_error_that_is_taken_out_of_service_freezes_nobody(answered: bool) -> None:
    shift = struck(yard(robots=2, pallets=0), fault("status5", 0, "RB-01"))
    shift.until(lambda: shift.robot().phase == "error")
    shift.tick(PatchWorksite("A1", "filled"))
    out = AnswerDecision(question(shift).id, "out-of-service") if answered else RobotVerb("RB-01", "out-of-service")
    assert shift.tick(out) == ()
    assert (bool(shift.state.hold), shift.state.decisions) == (False, {})
    shift.run(200)
    assert shift.task().status == "completed"


# 14: scenes and the log


@pytest.mark.parametrize("where", ["stream", "worksite"])
@pytest.mark.parametrize("params", ["pickParams", "dropParams"])
def test_a_payloads_id_cannot_be_given_by_the_scene(where: str, params: str) -> None:
    scene = yard()
    part = scene["streams"][0]["params"] if where == "stream" else scene["worksites"][0]
    part[params] = {"id": "LM2"}
    with pytest.raises(BadInputError) as told:
        read_fleet(scene)
    assert [problem.path.rpartition(".")[2] for problem in told.value.problems] == ["id"]


def test_two_worksites_have_two_places_of_work_but_may_share_an_entry() -> None:
    scene = yard()
    scene["worksites"][1] |= {"entryNodeId": "NA1", "actionNodeId": "NB1"}
    read_fleet(scene)
    scene["worksites"][1] |= {"actionNodeId": "NA1"}
    with pytest.raises(BadInputError) as told:
        read_fleet(scene)
    (problem,) = told.value.problems
    assert (problem.path, "A1" in problem.says, "B1" in problem.says) == ("worksites[1].actionNodeId", True, True)


def test_ends_come_before_what_begins_in_the_same_tick() -> None:
    shift = struck(yard(pallets=3))
    shift.run(400)
    ended: set[str] = set()
    for event in shift.events:
        if event.kind == "taskUpdated" and event.data["status"] == "completed":
            ended.add(event.data["taskId"])
        elif event.kind == "taskCreated" and event.data["taskId"] != "yard-t1":
            assert f"yard-t{int(event.data['taskId'].partition('-t')[2]) - 1}" in ended
    assert len(ended) == 3


def test_every_command_is_an_event_with_its_payload() -> None:
    shift = struck(yard())
    shift.run(200)
    sent = [event for event in shift.events if event.kind == "commandSent"]
    assert [event.data["key"] for event in sent] == [command.key for command in shift.commands]
    targets = [command for command in shift.commands if isinstance(command, GoTarget)]
    assert [event.data["payload"] for event in sent if event.data["command"] == "goTarget"] == [
        dict(command.payload) for command in targets
    ]
    assert sent[0].about == {"robotId": "RB-01", "taskId": "yard-t1"}


# 15: why, and orders that can do nothing


def test_why_a_stream_that_is_off() -> None:
    scene = yard()
    scene["streams"][0]["enabled"] = False
    shift = struck(scene)
    shift.run(5)
    assert [reason.code for reason in why_stream(shift.state, "s", shift.now)] == ["stream.disabled"]
    told = why_robot(shift.state, "RB-01", shift.now)
    assert [reason.code for reason in told] == ["fleet.no_work", "stream.disabled"]
    assert told[0].says == "There is no work for RB-01: every stream is switched off."


def test_why_a_stream_over_its_quota() -> None:
    scene = yard(robots=2, pallets=2, arbitration="quota")
    scene["streams"][0]["quota"] = 1
    shift = struck(scene)
    shift.run(5)
    assert [reason.code for reason in why_stream(shift.state, "s", shift.now)] == ["stream.quota"]
    told = why_robot(shift.state, "RB-02", shift.now)
    assert [reason.code for reason in told] == ["fleet.no_work", "stream.quota"]
    assert "no stream has a pallet" not in told[0].says


def test_why_the_rule_of_a_lane() -> None:
    scene = policy(yard(pallets=2), selection="first_available_in_order", accessRule="preceding_empty")
    scene["worksites"][1]["occupancy"] = "filled"
    shift = struck(scene)
    shift.run(5)
    (told,) = why_stream(shift.state, "s", shift.now)
    assert "preceding_empty" in told.says
    assert "B1" in told.says


def test_why_a_threshold() -> None:
    scene = yard(pallets=2)
    scene["streams"][0] |= {"kind": "replenish"}
    scene["streams"][0]["params"]["threshold"] = 1
    scene["worksites"][1]["occupancy"] = "filled"
    shift = struck(scene)
    shift.run(5)
    first, second = why_robot(shift.state, "RB-01", shift.now)
    assert "no stream has a pallet" not in first.says
    assert "At least 1 of its drop places" in second.says


def test_why_a_lost_position() -> None:
    shift = struck(yard(), fault("lost_position", 0))
    shift.run(10)
    assert why_robot(shift.state, "RB-01", shift.now)[0].code == "robot.lost"


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ([RobotVerb("RB-01", "hold")], "robot.held"),
        ([FleetVerb("hold")], "robot.held"),
        ([], "robot.battery_full"),
    ],
)
def test_an_order_that_can_do_nothing_is_refused(asked: list[Any], code: str) -> None:
    shift = struck(charging(robots=1))
    shift.tick()
    for one in asked:
        shift.tick(one)
    (refused,) = shift.tick(RobotVerb("RB-01", "charge"))
    assert refused.code == code
    assert shift.robot().wish is None


def test_a_robot_with_work_is_sent_to_park_by_advice_that_can_be_followed() -> None:
    shift = struck(yard())
    shift.run(3)
    (refused,) = shift.tick(RobotVerb("RB-01", "park"))
    assert refused.try_next == "First: `beforehand tasks hand-back yard-t1`."
    shift.until(lambda: shift.task().step == "drop")
    (refused,) = shift.tick(RobotVerb("RB-01", "park"))
    assert (refused.code, refused.try_next) == ("robot.busy", "Wait until it has dropped it.")


@pytest.mark.parametrize(("trouble", "code"), [("offline", "robot.offline"), ("lost_position", "robot.lost")])
def test_a_robot_out_of_reach_cannot_be_sent_to_charge(trouble: str, code: str) -> None:
    scene = charging(robots=1)
    scene["robots"][0]["battery"] = 0.5
    shift = struck(scene, fault(trouble, 0))
    shift.run(8)
    (refused,) = shift.tick(RobotVerb("RB-01", "charge"))
    assert refused.code == code


def test_a_park_order_without_a_free_park_place_is_refused() -> None:
    shift = struck(yard(robots=2, pallets=0))
    shift.run(60)
    parked = next(robot for robot in shift.state.robots.values() if robot.errand is not None)
    other = "RB-01" if parked.robot_id == "RB-02" else "RB-02"
    (refused,) = shift.tick(RobotVerb(other, "park"))
    assert refused.code == "park.taken"


def test_a_transport_on_request_is_cancelled_like_any_task() -> None:
    shift = struck(yard(pallets=0))
    shift.tick(PatchStream("s", False))
    shift.tick(PatchWorksite("A1", "filled"))
    shift.tick(RequestTransport("A1", "B1"))
    shift.run(6)
    shift.tick(TaskVerb("yard-t1", "cancel"))
    assert any(isinstance(command, CancelTarget) for command in shift.commands)
    shift.run(30)
    assert shift.task().status == "canceled"


# Doubt: what nobody knows


def in_doubt(**scene: Any) -> tuple[Shift, ScriptedRobots]:
    """A robot that says its pick is done, whose load sensor says that its fork is empty."""
    robots = ScriptedRobots()
    shift = Shift(yard(pallets=2, **scene), robots)
    for status, node in ((0, "LM1"), (2, "LM1"), (4, "NA1")):
        robots.report("RB-01", status, node_id=node, load_sensor="empty")
        shift.tick()
    assert (shift.task().error_code, shift.task().in_doubt) == ("step.contradicted", True)
    return shift, robots


@pytest.mark.parametrize("policy", ["freeze", "recover"])
def test_what_is_in_doubt_is_asked_and_neither_booked_nor_ordered_again(policy: str) -> None:
    shift, robots = in_doubt(policy=policy)
    for _ in range(100):
        robots.report("RB-01", 4, node_id="NA1", load_sensor="empty")
        shift.tick()
    assert shift.site("A1").lies == "filled"
    assert len(robots.targets("RB-01")) == 1
    assert question(shift).evidence["difference"]["planned"]["fork"] == "loaded"


def test_who_was_asked_and_has_looked_overrules_the_sensor_until_it_reads_something_else() -> None:
    shift, robots = in_doubt()
    assert shift.tick(AnswerDecision(question(shift).id, "done-by-hand")) == ()
    assert shift.robot().load_state == "loaded"
    robots.report("RB-01", 2, node_id="LM1", load_sensor="empty")
    shift.tick()
    assert (shift.robot().load_state, shift.robot().doubted_load) == ("loaded", "empty")
    robots.report("RB-01", 2, node_id="LM1", load_sensor="loaded")
    shift.tick()
    assert (shift.robot().doubted_load, shift.robot().load_state_source) == (None, "sensor")
    robots.report("RB-01", 4, node_id="NB1", load_sensor="loaded")
    shift.tick()
    assert shift.task().error_code == "step.contradicted", "it is believed again"


@pytest.mark.parametrize(("verb", "status"), [("cancel", "canceled"), ("abort", "failed")])
def test_who_ends_what_is_in_doubt_leaves_its_place_unknown_and_is_asked_about_the_fork(verb: str, status: str) -> None:
    shift, robots = in_doubt()
    shift.tick(AnswerDecision(question(shift).id, verb))
    assert (shift.task().status, shift.site("A1").lies, shift.site("B1").lies) == (status, "unknown", "empty")
    about_fork = question(shift)
    assert about_fork.title == "RB-01 may carry the pallet of yard-t1, which is over."
    for _ in range(20):
        robots.report("RB-01", 4, node_id="NA1", load_sensor="empty")
        shift.tick()
    assert len(robots.targets("RB-01")) == 1, "another pallet waits, and the robot gets no work"
    assert why_robot(shift.state, "RB-01", shift.now)[0].code == "robot.fork_unknown"
    shift.tick(RobotVerb("RB-01", "unloaded"))
    assert not shift.state.decisions
    assert len(robots.targets("RB-01")) == 2


def test_a_cancel_while_the_robot_cannot_be_reached_leaves_its_place_unknown() -> None:
    shift = struck(yard(policy="recover"), fault("offline", 5, forS=60))
    shift.until(lambda: shift.robot().status == "offline")
    shift.tick(TaskVerb("yard-t1", "cancel"))
    assert (shift.task().status, shift.site("A1").lies) == ("canceled", "unknown")
    shift.run(120)
    assert len(shift.state.tasks) == 1
    assert not [command for command in shift.commands if getattr(command, "payload", {}).get("id") == "NB1"]


def test_a_robot_that_turns_out_to_run_what_was_in_doubt_goes_on_when_it_is_resumed() -> None:
    robots = ScriptedRobots()
    shift = Shift(yard(startTimeoutS=2), robots)
    for _ in range(6):
        robots.report("RB-01", 4, node_id="LM1")
        shift.tick()
    assert shift.task().error_code == "task.in_doubt"
    robots.report("RB-01", 2, node_id="LM1")
    shift.tick()
    shift.tick(AnswerDecision(question(shift).id, "resume"))
    assert len(robots.targets("RB-01")) == 1
    for status, node in ((2, "NA1"), (4, "NA1")):
        robots.report("RB-01", status, node_id=node)
        shift.tick()
    assert shift.task().step == "drop"
