"""Every fault of a script, as the driver sees it."""

import pytest

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.model.robot import CancelTarget

LOAD = {"operation": "ForkLoad", "start_height": 0.1, "end_height": 0.5}
UNLOAD = {"operation": "ForkUnload", "start_height": 0.5, "end_height": 0.1}


def fault(name, at_s=5, **more):
    return [{"atS": at_s, "robotId": "R1", "fault": name, **more}]


def test_offline_is_silence_while_the_robot_goes_on(drive):
    yard = drive(fault("offline", forS=10))
    yard.go("B")
    yard.to(30)
    assert not [r for r in yard.reports() if 5000 <= r.ts < 15_000]
    back = next(r for r in yard.reports() if r.ts == 15_000)
    assert (back.node_id, back.task_status, back.boot) == ("B", 4, 1)


def test_a_command_to_an_offline_robot_is_lost(drive):
    yard = drive(fault("offline", at_s=0, forS=10))
    yard.to(1)
    yard.go("B")
    yard.to(30)
    assert yard.acks() == []
    assert set(yard.statuses()) == {0}


def test_an_answer_under_way_is_lost_when_the_robot_goes_offline(drive):
    yard = drive(fault("offline", at_s=0.02, forS=10))
    yard.go("B")
    yard.to(30)
    assert yard.acks() == []
    assert yard.last().task_status == 4


def test_offline_without_an_end_lasts(drive):
    yard = drive(fault("offline"))
    yard.to(1000)
    assert max(r.ts for r in yard.reports()) < 5000
    assert yard.sim.read("R1", 1_000_000) is None


def test_blocked_stands_and_says_so_then_goes_on(drive):
    yard = drive(fault("blocked", forS=10))
    yard.go("B")
    yard.to(14)
    assert (yard.last().blocked, yard.last().task_status) == (True, 2)
    assert yard.sim.positions()["R1"].x == pytest.approx(4.75)
    yard.to(30)
    assert (yard.last().blocked, yard.last().node_id, yard.last().task_status) == (False, "B", 4)
    assert next(r.ts for r in yard.reports() if r.task_status == 4) == 20_250


def test_two_overlapping_blocks_end_with_the_later(drive):
    yard = drive(fault("blocked", forS=10) + fault("blocked", at_s=8, forS=20))
    yard.go("B")
    yard.to(27)
    assert yard.last().blocked
    yard.to(29)
    assert not yard.last().blocked


def test_paused_by_hand_is_status_3_and_a_new_order_waits_too(drive):
    yard = drive(fault("paused_by_hand", forS=10))
    yard.go("B")
    yard.to(30)
    assert yard.statuses() == [0, 1, 2, 3, 2, 4]


def test_a_late_acknowledgement_comes_late_and_only_once(drive):
    yard = drive(fault("late_ack", at_s=0, delayS=4))
    yard.to(1)
    yard.go("B")
    yard.to(30)
    yard.go("A")
    yard.to(60)
    assert [ack.ts for ack in yard.acks()] == [5050, 30_050]
    assert next(r.ts for r in yard.reports() if r.task_status == 2) == 1250


def test_a_lost_acknowledgement_never_comes_but_the_order_is_done(drive):
    yard = drive(fault("lost_ack", at_s=0))
    yard.to(1)
    yard.go("B")
    yard.to(30)
    assert yard.acks() == []
    assert yard.statuses() == [0, 1, 2, 4]


def test_a_lost_command_is_not_done(drive):
    yard = drive(fault("lost_command", at_s=0))
    yard.to(1)
    yard.go("B")
    yard.to(30)
    assert yard.acks() == []
    assert yard.statuses() == [0]


def test_status_5_fails_the_running_order_where_it_stands(drive):
    yard = drive(fault("status5"))
    yard.go("B")
    yard.to(30)
    assert yard.statuses() == [0, 1, 2, 5]
    assert yard.last().error
    assert yard.sim.positions()["R1"].x == pytest.approx(4.75)
    yard.go("B")
    yard.to(60)
    assert (yard.last().node_id, yard.last().task_status, yard.last().error) == ("B", 4, None)


def test_status_5_for_an_idle_robot_fails_its_next_order_only(drive):
    yard = drive(fault("status5", at_s=0))
    yard.to(1)
    yard.go("P1", **LOAD)
    yard.to(30)
    assert yard.statuses() == [0, 1, 2, 5]
    yard.go("P1", **LOAD)
    yard.to(90)
    assert yard.statuses()[-3:] == [1, 2, 4]


def test_status_6_is_a_completion_by_6(drive):
    yard = drive(fault("status6", at_s=0))
    yard.to(1)
    yard.go("P1", **LOAD)
    yard.to(60)
    assert yard.statuses() == [0, 1, 2, 6]
    assert yard.sim.pallets()["pallet-1"] == ("robot", "R1")
    yard.go("P2", **UNLOAD)
    yard.to(200)
    assert yard.statuses()[-2:] == [2, 4]


@pytest.mark.parametrize("at_s", [0, 5])
def test_cancelled_by_hand_is_a_6_with_nothing_done(drive, at_s):
    yard = drive(fault("cancelled_by_hand", at_s=at_s))
    yard.to(1)
    yard.go("P1", **LOAD)
    yard.to(60)
    assert yard.statuses() == [0, 1, 2, 6]
    assert yard.sim.pallets()["pallet-1"] == ("worksite", "PICK")


def test_a_duplicate_is_the_same_report_twice(drive):
    yard = drive(fault("duplicate", at_s=0, forS=10))
    yard.go("B")
    yard.to(30)
    early = [r for r in yard.reports() if 500 <= r.ts < 10_000]
    late = [r for r in yard.reports() if r.ts > 10_500]
    assert early[0::2] == early[1::2]
    assert len({r.seq for r in late}) == len(late)


def test_out_of_order_reports_arrive_after_newer_ones(drive):
    yard = drive(fault("out_of_order", at_s=0, forS=10))
    yard.go("B")
    yard.to(30)
    seqs = [r.seq for r in yard.reports()]
    assert seqs != sorted(seqs)
    assert sorted(seqs) == list(range(1, len(seqs) + 1))


def test_a_mispick_says_done_and_leaves_the_pallet(drive):
    yard = drive(fault("mispick", at_s=0), settings=SimSettings(load_sensor=True))
    yard.to(1)
    yard.go("P1", **LOAD)
    yard.to(60)
    assert yard.statuses() == [0, 1, 2, 4]
    assert yard.last().load_sensor == "empty"
    assert yard.sim.pallets()["pallet-1"] == ("worksite", "PICK")
    yard.go("P2", **UNLOAD)
    yard.to(200)
    assert yard.last().task_status == 5


def test_a_misdrop_says_done_and_keeps_the_pallet(drive):
    yard = drive(fault("misdrop", at_s=0), nodeId="P2", loadState="loaded")
    yard.to(1)
    yard.go(None, **UNLOAD)
    yard.to(60)
    assert yard.statuses() == [0, 1, 2, 4]
    assert yard.sim.pallets()["pallet-3"] == ("robot", "R1")


def test_a_dead_battery_stops_it_until_it_is_changed(drive):
    yard = drive(fault("dead_battery", forS=20, level=0.6))
    yard.go("B")
    yard.to(10)
    assert (yard.last().battery, yard.last().task_status) == (0.0, 5)
    yard.go("B")
    yard.to(11)
    assert yard.acks()[-1].code == "robot.battery_empty"
    yard.to(26)
    assert (yard.last().battery, yard.last().error) == (0.6, None)
    yard.go("B")
    yard.to(60)
    assert (yard.last().node_id, yard.last().task_status) == ("B", 4)


def test_a_low_battery_is_only_low(drive):
    yard = drive(fault("low_battery", level=0.15), chargers=True)
    yard.go("B")
    yard.to(30)
    assert yard.last().battery == pytest.approx(0.15, abs=0.01)
    assert yard.last().task_status == 4


def test_a_restart_forgets_the_order_and_counts_the_boot(drive):
    yard = drive(fault("restart", forS=4), loadState="loaded")
    yard.go("B")
    yard.to(30)
    after = [r for r in yard.reports() if r.ts >= 9000]
    assert not [r for r in yard.reports() if 5000 <= r.ts < 9000]
    assert (after[0].boot, after[0].seq, after[0].task_status, after[0].task_id) == (2, 1, 0, None)
    assert yard.sim.positions()["R1"].x == pytest.approx(4.75)
    assert yard.sim.pallets()["pallet-3"] == ("robot", "R1")
    yard.go("A", key="k1")
    yard.to(60)
    assert (yard.last().node_id, yard.last().task_status) == ("A", 4)


def test_a_wrong_sensor_says_the_opposite(drive):
    yard = drive(fault("sensor_wrong", forS=10), settings=SimSettings(load_sensor=True))
    yard.to(4)
    assert yard.last().load_sensor == "empty"
    yard.to(5)
    assert (yard.last().load_sensor, yard.last().ts) == ("loaded", 5000)
    yard.to(30)
    assert yard.last().load_sensor == "empty"


def test_a_lost_position_has_no_node(drive):
    yard = drive(fault("lost_position", forS=10))
    yard.to(6)
    assert yard.last().node_id is None
    yard.to(16)
    assert yard.last().node_id == "A"


def test_blocked_and_cancelled_it_lets_go_at_once(drive):
    yard = drive(fault("blocked"))
    yard.go("B")
    yard.to(6)
    yard.order(CancelTarget)
    yard.to(10)
    assert yard.last().task_status == 6
    assert yard.last().blocked


def test_a_fault_can_be_let_loose_while_it_runs(drive):
    yard = drive()
    yard.go("B")
    yard.to(3)
    yard.sim.inject(FaultSpec(at_s=1, robot_id="R1", fault="blocked", for_s=2), 3000)
    yard.to(5)
    assert yard.last().blocked
    yard.to(7)
    assert not yard.last().blocked
