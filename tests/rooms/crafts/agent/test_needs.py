"""What an action needs: whatever speaks against a start is told at once, and nothing changes."""

from typing import Any

import pytest
from tests.rooms.crafts.agent.homes import Steered, cabin

Case = tuple[list[str], str, list[str]]
DANCING = ["start(dancing)", "start(clapping)"]
CASES: list[Case] = [
    # Nothing held yet
    ([], "start(sitting on bench1)", ["action.not_afforded"]),
    ([], "start(taking cot1)", ["action.not_afforded"]),
    ([], "start(opening cot1)", ["action.not_afforded"]),
    ([], "start(pushing bench1)", ["action.not_afforded"]),
    ([], "start(opening gate1)", ["action.already"]),
    ([], "start(closing crate1)", ["action.already"]),
    ([], "start(taking rope1)", ["action.closed"]),
    ([], "start(touching rope1)", ["action.closed"]),
    ([], "start(taking rope1 from bench1)", ["action.elsewhere", "action.closed"]),
    ([], "start(taking pot1 from cot1)", ["action.elsewhere"]),
    ([], "start(taking log1 from bench1)", ["action.elsewhere"]),
    ([], "start(placing pot1 on cot1)", ["action.not_held"]),
    ([], "start(placing pot1 in crate1)", ["action.closed", "action.not_held"]),
    ([], "start(placing pot1 on gate1)", ["action.no_place", "action.not_held"]),
    ([], "start(placing pot1 on lamp1)", ["action.no_place", "action.not_held"]),
    ([], "start(placing pot1 in cot1)", ["action.no_place", "action.not_held"]),
    ([], "start(placing pot1 on pot1)", ["action.no_place", "action.not_held"]),
    ([], "start(placing pot1 on bed9)", ["action.unknown_object", "action.not_held"]),
    ([], "start(placing pan on bed9)", ["action.unknown_object", "action.unknown_object"]),
    (["start(waving)"], "start(taking log1 from bed9)", ["action.unknown_object", "action.hands"]),
    ([], "start(sitting on bed9)", ["action.unknown_object"]),
    ([], "start(swimming)", ["action.unknown_verb"]),
    # Held by somebody else
    (["start(dancing)"], "start(walking to cot1)", ["action.needs_held"]),
    (["start(dancing)"], "start(dancing)", ["action.running"]),
    (["start(dancing)"], "start(sitting on bed9)", ["action.unknown_object", "action.needs_held"]),
    (["start(dancing)"], "start(sitting on bench1)", ["action.not_afforded", "action.needs_held"]),
    (["start(waving)", "start(pointing)"], "start(clapping)", ["action.hands"]),
    (["start(waving)", "start(pointing)"], "start(taking pot1)", ["action.hands"]),
    (["start(waving)"], "start(taking log1)", ["action.hands"]),
    (["start(singing)"], "start(saying hello)", ["action.needs_held"]),
    (["start(looking at pot1)"], "start(looking at lamp1)", ["action.needs_held"]),
    (DANCING, "start(taking rope1)", ["action.closed", "action.needs_held", "action.hands"]),
    (DANCING, "start(taking pan)", ["action.unknown_object", "action.needs_held", "action.hands"]),
    # Read in part only
    ([], "start(placing pot1 on bed9)", ["action.unknown_object", "action.not_held"]),
    ([], "start(placing pot1)", ["action.no_target", "action.not_held"]),
    ([], "start(placing pan in crate1)", ["action.unknown_object", "action.closed"]),
    ([], "start(placing pan on gate1)", ["action.unknown_object", "action.no_place"]),
    ([], "start(placing pan on bed9)", ["action.unknown_object", "action.unknown_object"]),
    ([], "start(taking rope1 from bed9)", ["action.unknown_object", "action.closed"]),
    ([], "start(taking cot1 from bed9)", ["action.unknown_object", "action.not_afforded"]),
    ([], "start(closing crate1 two meters away)", ["action.distance", "action.already"]),
    (["start(waving)"], "start(taking log1 from bed9)", ["action.unknown_object", "action.hands"]),
    (["start(singing)"], "start(saying hello and dancing)", ["action.two_verbs", "action.needs_held"]),
]


@pytest.mark.parametrize(("before", "command", "codes"), CASES)
def test_every_reason_is_told_and_nothing_changes(before: list[str], command: str, codes: list[str]) -> None:
    steered = Steered()
    if before:
        steered(*before, "skip(1)")
        assert steered.codes == []
    was = seen(steered)
    steered(command)
    assert steered.codes == codes
    assert seen(steered) == was
    assert steered.steps[-1].reply.startswith("Refused. ")


def seen(steered: Steered) -> tuple[Any, ...]:
    return steered.body.wire(), steered.body.tick, steered.body.actions


def test_whoever_holds_what_is_needed_is_named() -> None:
    steered = Steered()
    step = steered("start(dancing wildly)", "start(sitting on cot1)")
    assert step.reply == (
        "Refused. It needs the base and the posture, which dancing wildly holds. "
        'Stop that first: stop("dancing wildly").'
    )


def test_take_with_both_hands_full_says_what_they_hold() -> None:
    steered = Steered()
    steered.does("taking pot1")
    steered.does("taking lamp1")
    assert (steered.body.world.held("right"), steered.body.world.held("left")) == ("pot1", "lamp1")
    step = steered("start(taking tray1)")
    assert "The right hand holds pot1. The left hand holds lamp1." in step.reply


def test_what_is_in_the_hand_is_not_taken_touched_or_walked_to() -> None:
    steered = Steered()
    steered.does("taking pot1")
    for action in ("taking pot1", "touching pot1", "walking to pot1"):
        assert "action.in_hand" in [reason.code for reason in steered(f"start({action})").refused]
    assert steered("start(looking at pot1)").refused == ()


def test_what_lies_on_a_thing_in_the_hand_goes_with_it() -> None:
    steered = Steered()
    steered.does("taking tray1")
    assert steered("start(taking spoon1)").refused[0].says == "spoon1 lies on tray1, and tray1 is in the hand."
    assert steered("start(placing tray1 on spoon1)").refused[0].code == "action.no_place"
    steered.does("placing tray1 on cot1")
    assert steered.body.world.under("spoon1") == ("spoon1", "tray1", "cot1")


def test_two_hands_are_needed_and_taken() -> None:
    steered = Steered()
    steered.does("taking log1")
    assert (steered.body.world.held("left"), steered.body.world.held("right")) == ("log1", "log1")
    steered.does("placing log1 on bench1")
    assert (steered.body.world.held("left"), steered.body.world.held("right")) == (None, None)


def test_what_runs_already_is_told_with_what_else_speaks_against_it() -> None:
    steered = Steered(cabin(gate={"open": True}))
    steered("start(taking pot1)", "skip(0.5)")
    steered.fault(fault="move", about="pot1", to="log1")
    assert steered("start(taking pot1 )").refused[0].code == "action.running"


def test_a_thing_that_does_not_stand_on_the_floor_is_not_pushed() -> None:
    document = cabin()
    document["objects"][-2]["affords"].append("push")
    assert [reason.code for reason in Steered(document)("start(pushing tray1)").refused] == ["action.not_on_floor"]


def test_a_closed_thing_keeps_nobody_from_walking_or_looking_there() -> None:
    steered = Steered()
    assert steered("start(walking to rope1)", "start(looking at rope1)").refused == ()


def test_a_hand_in_use_is_told_beside_a_place_nobody_knows() -> None:
    steered = Steered()
    steered.does("taking pot1")
    steered("start(placing pot1 on bench1)")
    step = steered("start(placing pot1 on bed9)")
    assert [reason.code for reason in step.refused] == ["action.unknown_object", "action.needs_held"]
    assert "It needs the base and the right hand, which placing pot1 on bench1 holds." in step.reply


def test_everything_closed_around_a_thing_is_told_the_outermost_first() -> None:
    document = cabin()
    document["objects"] += [
        {"name": "safe1", "in": "crate1", "affords": ["open", "place"], "open": False},
        {"name": "coin1", "in": "safe1", "affords": ["take"]},
    ]
    steered = Steered(document)
    for command in ("start(taking coin1)", "start(placing coin1 in safe1)"):
        assert [reason.about for reason in steered(command).refused][:2] == ["crate1", "safe1"]
    steered.does("opening crate1")
    steered.does("opening safe1")
    assert steered("start(taking coin1)").refused == ()


def test_nothing_is_placed_on_itself() -> None:
    assert Steered()("start(placing pot1 on pot1)").refused[0].says == "pot1 cannot be placed on itself."
