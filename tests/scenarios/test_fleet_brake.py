"""Brakes, and orders that the log kept waiting: what stops gives nothing out, and what was not sent is decided anew."""

from typing import Any

import pytest
from tests.scenarios.test_fleet_errors import yard

from beforehand.crafts.fleet.core.decide import brake, unsend
from beforehand.crafts.fleet.core.inputs import FleetVerb, NotSent, RobotVerb, TaskVerb
from beforehand.crafts.fleet.core.state import snapshot
from beforehand.crafts.fleet.driver import MOST_REPORTS, thinned
from beforehand.crafts.fleet.testing import Shift
from beforehand.model.robot import Ack, CancelTarget, GoTarget, PauseRobot, ResumeRobot, Telemetry


class KeptWaiting(Shift):
    """A shift whose first order is decided and does not go out."""

    def __init__(self, scene: Any) -> None:
        super().__init__(scene)
        self.kept: list[GoTarget] = []
        command = self.robots.command

        def told(cmd: Any, now_ms: int) -> None:
            if isinstance(cmd, GoTarget) and not self.kept:
                self.kept.append(cmd)
            else:
                command(cmd, now_ms)

        self.robots.command = told

    def take_back(self) -> None:
        self.state, verdict = unsend(self.state, NotSent(frozenset(order.key for order in self.kept)), self.now)
        assert not verdict.commands
        self._after(verdict.events, ())

    def orders(self) -> list[GoTarget]:
        return [cmd for cmd in self.commands if isinstance(cmd, GoTarget)]


@pytest.mark.parametrize("mode", ["NONE", "RESERVE"])
def test_an_order_that_did_not_go_out_is_given_anew_under_a_new_key(mode: str) -> None:
    shift = KeptWaiting(yard(trafficMode=mode))
    shift.until(lambda: bool(shift.kept))
    shift.now += 1_800_000  # so long was the log away
    shift.take_back()
    shift.until(lambda: shift.task().status == "completed")
    assert shift.orders()[1].key != shift.kept[0].key
    assert shift.orders()[1].payload == shift.kept[0].payload
    assert not shift.state.decisions
    assert shift.check.end() == []


@pytest.mark.parametrize("mode", ["NONE", "RESERVE"])
def test_what_was_held_meanwhile_gets_it_when_it_is_let_go(mode: str) -> None:
    shift = KeptWaiting(yard(trafficMode=mode))
    shift.until(lambda: bool(shift.kept))
    shift.state, verdict = brake(shift.state, [FleetVerb("hold")], shift.now)
    shift._after(verdict.events, verdict.commands)
    shift.take_back()
    shift.run(30)
    assert len(shift.orders()) == 1
    assert snapshot(shift.state) == snapshot(shift.replayed())
    shift.tick(FleetVerb("clear"))
    shift.until(lambda: shift.task().status == "completed")
    assert not shift.state.decisions


def test_a_task_that_was_cancelled_meanwhile_ends_and_frees_its_robot() -> None:
    shift = KeptWaiting(yard())
    shift.until(lambda: bool(shift.kept))
    shift.state, verdict = brake(shift.state, [TaskVerb("yard-t1", "cancel")], shift.now)
    shift._after(verdict.events, verdict.commands)
    assert [type(cmd) for cmd in verdict.commands] == [CancelTarget]
    shift.take_back()
    assert shift.task().status == "canceled"
    shift.until(lambda: "yard-t2" in shift.state.tasks and shift.task(2).status == "completed")


def test_a_robot_on_an_errand_that_never_began_goes_there_later() -> None:
    shift = KeptWaiting(yard(pallets=0))
    shift.until(lambda: bool(shift.kept))
    shift.take_back()
    assert shift.robot().errand is None or shift.robot().errand.key != shift.kept[0].key
    shift.until(lambda: shift.state.seen["RB-01"].report.node_id == "PK")


def test_a_brake_gives_nothing_out_and_lets_nothing_go_on() -> None:
    shift = Shift(yard(robots=2, pallets=2))
    shift.state, verdict = brake(shift.state, [RobotVerb("RB-01", "hold")], shift.now)
    assert not any(isinstance(cmd, GoTarget | ResumeRobot) for cmd in verdict.commands)
    assert not shift.state.tasks
    shift._after(verdict.events, verdict.commands)
    shift.until(lambda: bool(shift.state.tasks))
    shift.state, verdict = brake(shift.state, [FleetVerb("hold")], shift.now)
    assert {type(cmd) for cmd in verdict.commands} <= {PauseRobot}
    assert verdict.commands


def test_reports_that_nobody_looks_at_are_bounded_and_keep_what_changed() -> None:
    reports: list[Any] = [Ack("k", "RB-01", 0)]
    for seq in range(MOST_REPORTS):
        status = 2 if seq < 500 else 4
        reports.append(Telemetry("RB-01", seq, seq, x=float(seq), task_status=status))
    kept = thinned(reports)
    assert [type(one) for one in kept[:1]] == [Ack]
    assert [(one.seq, one.task_status) for one in kept[1:]] == [(0, 2), (500, 4), (MOST_REPORTS - 1, 4)]
    restless = [Telemetry("RB-01", seq, seq, task_status=seq % 2) for seq in range(MOST_REPORTS)]
    assert [one.seq for one in thinned(restless) if isinstance(one, Telemetry)] == [MOST_REPORTS - 1]
