"""What goes wrong: blocked doors, slippery things, things that somebody moved; and faults that cannot be."""

from typing import Any

import pytest
from tests.rooms.crafts.agent.homes import Steered, body_of, cabin

from beforehand.crafts.agent.core.faults import Fault, read_fault
from beforehand.ports.body import Refused


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"fault": "explode", "about": "gate1"}, "fault.unknown"),
        ({"fault": "block", "about": "gate9"}, "fault.unknown"),
        ({"fault": "block", "about": "bench1"}, "fault.no_door"),
        ({"fault": "slip", "about": "bench1"}, "fault.fixed"),
        ({"fault": "move", "about": "pot1"}, "fault.move"),
        ({"fault": "move", "about": "pot1", "to": "pot1"}, "fault.move"),
        ({"fault": "move", "about": "tray1", "to": "spoon1"}, "fault.move"),
        ({"fault": "move", "about": "pot1", "to": "gate1"}, "fault.move"),
        ({"fault": "move", "about": "pot1", "to": "nowhere"}, "fault.unknown"),
        ({"fault": "block"}, "fault.invalid"),
        ({"fault": 7, "about": "gate1"}, "fault.invalid"),
        ({"fault": "slip", "about": "pot1", "times": 0}, "fault.invalid"),
        ({"fault": "slip", "about": "pot1", "times": True}, "fault.invalid"),
        ({"fault": "slip", "about": "pot1", "twice": 1}, "fault.invalid"),
        ({}, "fault.invalid"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(fault: dict[str, Any], code: str) -> None:
    refused = body_of().disturbed(fault)
    assert isinstance(refused, Refused)
    assert refused.reasons[0].code == code


def test_a_fault_survives_its_wire_form() -> None:
    fault = Fault("move", "pot1", "cot1")
    assert read_fault(fault.wire()) == fault


def test_a_slippery_thing_slips_so_many_times() -> None:
    steered = Steered()
    steered.fault(fault="slip", about="Pot 1", times=2)
    for _ in range(2):
        steered("start(taking pot1)", "skip(60)")
        assert steered.body.actions[0].why == "pot1 slipped"
        assert steered.body.world.places["pot1"].support == "bench1"
    steered.does("taking pot1")
    assert steered.body.world.held("right") == "pot1"


def test_a_door_shut_on_the_way_stops_the_body_in_front_of_it() -> None:
    steered = Steered()
    steered("start(sitting on cot1)", "skip(1)")
    steered.fault(fault="shut", about="gate1")
    steered("skip(60)")
    assert steered.body.world.at[0] < 5
    assert "stuck" in steered.actions_line


def test_a_door_does_not_shut_on_the_body() -> None:
    body = body_of(cabin(agent={"at": [5, 4]}))
    refused = body.disturbed({"fault": "shut", "about": "gate1"})
    assert isinstance(refused, Refused)
    assert refused.reasons[0].says == "gate1 cannot shut: the body is in the way."


def test_a_body_in_a_doorway_that_is_blocked_may_leave_it() -> None:
    steered = Steered(cabin(agent={"at": [5, 4]}))
    steered.fault(fault="block", about="gate1")
    steered.does("walking to bench1")
    steered("start(walking to cot1)", "skip(30)")
    assert "stuck" in steered.actions_line


def test_another_fault_does_not_set_the_stuck_watch_back() -> None:
    steered = Steered(cabin())
    steered.fault(fault="block", about="gate1")
    steered("start(sitting on cot1)", "skip(60, wake_on=stuck)")
    stuck = steered.body.actions[0].stuck_s
    assert stuck == 10.0
    steered.fault(fault="move", about="pot1", to="crate1")
    assert steered.body.actions[0].stuck_s == stuck
    steered.fault(fault="unblock", about="gate1")
    steered("skip(60, wake_on=done)")
    assert steered.body.actions[0].stage == "done"


def test_a_push_towards_a_door_that_shuts_ends_there() -> None:
    document = cabin()
    document["objects"].append({"name": "cart1", "at": [4.6, 4], "size": [0.2, 0.2], "affords": ["push"]})
    steered = Steered(document)
    steered("start(pushing cart1)", "skip(60, wake_on=acting)", "skip(0.2)")
    steered.fault(fault="shut", about="gate1")
    steered("skip(10)")
    assert steered.body.actions[0].why == "cart1 does not give way"
    at = steered.body.world.places["cart1"].at
    assert at is not None
    assert at[0] <= 4.87


def test_what_was_pushed_and_then_carried_off_stays_where_it_was_carried() -> None:
    document = cabin()
    document["objects"].append({"name": "cart1", "at": [3, 5], "size": [0.2, 0.2], "affords": ["push", "take"]})
    steered = Steered(document)
    steered("start(pushing cart1)", "skip(60, wake_on=done)")
    steered.fault(fault="move", about="cart1", to="bench1")
    steered("skip(1)", "stop(pushing cart1)")
    assert steered.body.world.places["cart1"].support == "bench1"


def test_what_is_carried_off_while_it_is_pushed_is_not_pushed_any_more() -> None:
    document = cabin()
    document["objects"].append({"name": "cart1", "at": [3, 5], "size": [0.2, 0.2], "affords": ["push", "take"]})
    steered = Steered(document)
    steered("start(pushing cart1)", "skip(60, wake_on=acting)", "skip(0.5)")
    steered.fault(fault="move", about="cart1", to="bench1")
    where = steered.body.world.at
    steered("skip(5)")
    assert steered.body.actions[0].stage == "failed"
    assert steered.body.world.places["cart1"].support == "bench1"
    assert steered.body.world.at == where
