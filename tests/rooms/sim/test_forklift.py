"""How a simulated robot moves, works and answers, as the protocol has it."""

from math import pi

import pytest

from beforehand.adapters.sim.body import SimSettings
from beforehand.model.robot import CancelTarget, PauseRobot, ResumeRobot

LOAD = {"operation": "ForkLoad", "start_height": 0.1, "end_height": 0.5}
UNLOAD = {"operation": "ForkUnload", "start_height": 0.5, "end_height": 0.1}


def test_an_order_is_acknowledged_then_waits_runs_and_completes(drive):
    yard = drive()
    key = yard.go("B")
    yard.to(30)
    assert [(ack.key, ack.ok, ack.ts) for ack in yard.acks()] == [(key, True, 50)]
    assert yard.statuses() == [0, 1, 2, 4]
    assert {report.task_id for report in yard.reports() if report.task_status} == {key}


def test_driving_takes_length_over_speed(drive):
    yard = drive(speedMps=2.0)
    yard.go("C")
    yard.to(60)
    running = next(r.ts for r in yard.reports() if r.task_status == 2)
    arrived = next(r.ts for r in yard.reports() if r.task_status == 4)
    assert arrived - running == 10_000
    assert next(r.ts for r in yard.reports() if r.node_id == "B") == running + 5_000


def test_a_position_between_two_nodes_follows_from_time_alone(drive):
    yard = drive()
    yard.go("B")
    yard.to(4.25)
    assert yard.sim.positions()["R1"] == (4.0, 0.0, 0.0)
    assert yard.last().next_node_id == "B"
    assert yard.last().node_id == "A"


def test_turning_on_the_spot_takes_time_and_is_still_standing_on_the_node(drive):
    yard = drive(settings=SimSettings(turn_dps=45))
    yard.go("P1")
    yard.to(1.25)
    assert yard.sim.positions()["R1"][:2] == (0, 0)
    assert yard.sim.positions()["R1"].heading == pytest.approx(pi / 4, abs=0.01)
    assert yard.last().next_node_id is None
    yard.to(2.25 + 1)
    assert yard.sim.positions()["R1"] == pytest.approx((0, 1, pi / 2), abs=0.01)


def test_the_shortest_way_is_taken_and_one_way_edges_are_kept(drive):
    yard = drive()
    yard.go("D")
    yard.to(60)
    assert yard.last().node_id == "D"
    yard.go("A")
    yard.to(61)
    assert (yard.acks()[-1].ok, yard.acks()[-1].code) == (False, "route.none")
    assert yard.statuses() == [0, 1, 2, 4]


@pytest.mark.parametrize(
    ("target", "payload", "code"),
    [
        ("NOWHERE", {}, "target.unknown"),
        ("E", {}, "route.none"),
        ("B", {"operation": "Dance"}, "operation.unknown"),
        ("P1", {"operation": "ForkLoad", "recognize": True}, "recfile.missing"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_code_and_a_sentence(drive, target, payload, code):
    yard = drive()
    yard.go(target, **payload)
    yard.to(5)
    ack = yard.acks()[0]
    assert (ack.ok, ack.code) == (False, code)
    assert ack.says.endswith(".")
    assert yard.statuses() == [0]


@pytest.mark.parametrize("target", [7, None, ["B"], {"a": 1}])
def test_a_target_that_is_no_name_is_refused(drive, target):
    yard = drive()
    yard.go("B", **{"id": target})
    yard.to(1)
    assert yard.acks()[0].code == "target.unknown"


def test_an_unknown_robot_answers_with_the_names_there_are(drive):
    yard = drive()
    yard.go("B", robot="R9")
    yard.to(1)
    assert yard.acks()[0].code == "robot.unknown"
    assert "R1" in yard.acks()[0].says


def test_an_order_to_where_it_stands_runs_for_a_moment_and_completes(drive):
    yard = drive()
    yard.go("A")
    yard.to(5)
    assert yard.statuses() == [0, 1, 2, 4]


def test_a_pallet_is_picked_and_dropped(drive):
    yard = drive()
    assert yard.sim.pallets()["pallet-1"] == ("worksite", "PICK")
    yard.go("P1", **LOAD)
    yard.to(60)
    assert yard.sim.pallets()["pallet-1"] == ("robot", "R1")
    yard.go("P2", **UNLOAD)
    yard.to(200)
    assert yard.sim.pallets()["pallet-1"] == ("worksite", "DROP")
    assert yard.statuses() == [0, 1, 2, 4, 1, 2, 4]


def test_the_fork_takes_its_time_and_recognition_adds_to_it(drive):
    def ends(**extra):
        yard = drive(nodeId="P1")
        yard.go(None, **LOAD, **extra)
        yard.to(60)
        return next(r.ts for r in yard.reports() if r.task_status == 4)

    plain = ends()
    assert plain == 250 + 5000 + 2000
    assert ends(recognize=True, recfile="plt/p0001.plt") == plain + 3000


def test_without_an_id_the_order_is_for_here(drive):
    yard = drive(nodeId="P2", loadState="loaded")
    yard.go(None, **UNLOAD)
    yard.to(30)
    assert yard.sim.pallets()["pallet-3"] == ("worksite", "DROP")
    assert yard.last().node_id == "P2"


@pytest.mark.parametrize(
    ("start", "load", "work"),
    [
        pytest.param("P2", "empty", LOAD, id="pick from empty"),
        pytest.param("B", "empty", LOAD, id="pick where nothing can lie"),
        pytest.param("P1", "loaded", LOAD, id="pick while loaded"),
        pytest.param("C", "loaded", UNLOAD, id="drop on filled"),
        pytest.param("P2", "empty", UNLOAD, id="drop nothing"),
        pytest.param("B", "loaded", UNLOAD, id="drop on a park"),
    ],
)
def test_fork_work_that_cannot_be_done_fails_and_moves_nothing(drive, start, load, work):
    yard = drive(nodeId=start, loadState=load)
    before = yard.sim.pallets()
    yard.go(None, **work)
    yard.to(30)
    assert yard.statuses() == [0, 1, 2, 5]
    assert yard.last().error.endswith(".")
    assert yard.sim.pallets() == before


def test_a_new_target_while_driving_is_taken_at_the_next_node_only(drive):
    yard = drive()
    yard.go("C")
    yard.to(5)
    second = yard.go("P1")
    yard.to(9)
    assert yard.last().next_node_id == "B"
    assert yard.last().task_id == second
    yard.to(60)
    assert yard.last().node_id == "P1"
    assert "C" not in {report.node_id for report in yard.reports()}
    assert yard.statuses() == [0, 1, 2, 1, 2, 4]


def test_a_new_target_while_turning_is_taken_at_once(drive):
    yard = drive()
    yard.go("P1")
    yard.to(1)
    yard.go("B")
    yard.to(40)
    assert yard.last().node_id == "B"
    assert "P1" not in {report.node_id for report in yard.reports()}


def test_a_cancel_stops_at_the_next_node_with_status_6(drive):
    yard = drive()
    yard.go("C")
    yard.to(5)
    yard.order(CancelTarget)
    yard.to(9)
    assert yard.last().task_status == 2
    yard.to(60)
    assert (yard.last().node_id, yard.last().task_status) == ("B", 6)


def test_a_cancel_while_the_fork_moves_changes_nothing(drive):
    yard = drive(nodeId="P1")
    yard.go(None, **LOAD)
    yard.to(4)
    yard.order(CancelTarget)
    yard.to(30)
    assert yard.statuses() == [0, 1, 2, 6]
    assert yard.sim.pallets()["pallet-1"] == ("worksite", "PICK")


def test_a_cancel_before_the_order_began_ends_it(drive):
    yard = drive()
    yard.go("B")
    yard.to(0.1)
    yard.order(CancelTarget)
    yard.to(30)
    assert yard.statuses() == [0, 1, 6]
    assert yard.last().node_id == "A"


@pytest.mark.parametrize("kind", [CancelTarget, PauseRobot, ResumeRobot])
def test_with_nothing_running_the_other_commands_are_taken_and_change_nothing(drive, kind):
    yard = drive()
    yard.order(kind)
    yard.to(5)
    assert yard.acks()[0].ok
    assert yard.statuses() == [0]


def test_pause_stops_on_the_spot_with_status_3_and_resume_goes_on(drive):
    yard = drive()
    yard.go("B")
    yard.to(5)
    yard.order(PauseRobot)
    yard.to(20)
    stood = yard.sim.positions()["R1"]
    assert yard.last().task_status == 3
    assert 4.5 < stood.x < 5
    yard.order(ResumeRobot)
    yard.to(20 + 6)
    assert yard.statuses() == [0, 1, 2, 3, 2, 4]
    assert yard.last().node_id == "B"


def test_cancelled_while_paused_it_stays_where_it_stands_and_takes_the_next_order_from_there(drive):
    yard = drive()
    yard.go("C")
    yard.to(5)
    yard.order(PauseRobot)
    yard.to(6)
    yard.order(CancelTarget)
    yard.to(20)
    assert yard.statuses() == [0, 1, 2, 3, 6]
    assert 4 < yard.sim.positions()["R1"].x < 6
    yard.go("A")
    yard.to(60)
    assert (yard.last().node_id, yard.last().task_status) == ("A", 4)
    assert "B" in {report.node_id for report in yard.reports()}


def test_a_new_target_while_the_fork_moves_is_refused(drive):
    yard = drive(nodeId="P1")
    yard.go(None, **LOAD)
    yard.to(4)
    yard.go("B")
    yard.to(30)
    assert (yard.acks()[-1].ok, yard.acks()[-1].code) == (False, "robot.busy")
    assert yard.sim.pallets()["pallet-1"] == ("robot", "R1")


def test_a_command_sent_again_under_its_key_is_answered_again_and_not_done_again(drive):
    yard = drive()
    yard.go("P1", key="once", **LOAD)
    yard.to(60)
    yard.go("P1", key="once", **LOAD)
    yard.to(120)
    assert [ack.ok for ack in yard.acks()] == [True, True]
    assert yard.statuses() == [0, 1, 2, 4]


def test_a_robot_whose_completion_is_6_completes_with_6(drive):
    yard = drive(completionStatuses=[6])
    yard.go("P1", **LOAD)
    yard.to(60)
    assert yard.statuses() == [0, 1, 2, 6]
    assert yard.sim.pallets()["pallet-1"] == ("robot", "R1")


def test_batteries_do_not_run_down_without_chargers(drive):
    yard = drive(battery=0.5)
    yard.go("C")
    yard.to(10_000)
    assert {report.battery for report in yard.reports()} == {0.5}


def test_a_battery_runs_down_by_metres_and_seconds_and_charges_on_a_charger(drive):
    yard = drive(chargers=True, battery=0.5)
    yard.go("C")
    yard.to(100)
    assert yard.last().battery == pytest.approx(0.5 - 20 * 0.0002 - 100 * 0.00001, abs=0.0001)
    yard.go("CH")
    yard.to(200)
    assert yard.last().charging
    low = yard.last().battery
    yard.to(400)
    assert yard.last().battery == pytest.approx(low + 200 * 0.0005, abs=0.002)
    yard.to(3000)
    assert yard.last().battery == 1.0
    yard.go("A")
    yard.to(3003)
    assert (yard.last().charging, yard.last().task_status) == (False, 2)
    yard.to(3100)
    assert not yard.last().charging


def test_a_pause_on_the_way_does_not_cost_its_metres_twice(drive):
    def left(*, pauses: int) -> float:
        yard = drive(chargers=True, battery=0.5)
        yard.go("C")
        for number in range(pauses):
            yard.to(5 + number)
            yard.order(PauseRobot)
            yard.order(ResumeRobot)
        yard.to(200)
        return yard.last().battery

    assert left(pauses=3) == left(pauses=0)


def test_a_place_that_was_picked_from_is_empty_for_the_next(drive):
    yard = drive(robots=2, nodeId="P1")
    yard.go("P1", robot="R1", **LOAD)
    yard.to(30)
    yard.go("P1", robot="R2", **LOAD)
    yard.to(60)
    assert (yard.last("R1").task_status, yard.last("R2").task_status) == (4, 5)


def test_a_robot_whose_battery_ends_on_the_way_stops_there_and_fails(drive):
    yard = drive(chargers=True, battery=0.002)
    yard.go("C")
    yard.to(60)
    assert yard.statuses() == [0, 1, 2, 5]
    assert 5 < yard.sim.positions()["R1"].x < 12
    yard.go("A")
    yard.to(61)
    assert yard.acks()[-1].code == "robot.battery_empty"
