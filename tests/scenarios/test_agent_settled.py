"""contracts.md §7: every point it settles, as given, when and then, in homes of its own."""

import json
from typing import Any

import pytest
from tests.rooms.crafts.agent.homes import Steered, cabin, home, scene_of, thing

from beforehand.crafts.agent.core.home_body import home_body
from beforehand.crafts.agent.core.session import Session, advanced, commanded, given_up

STAGES = ["moving", "acting", "done", "failed", "stuck", "turning", "laid"]


def seen(steered: Steered) -> tuple[Any, ...]:
    return steered.body.wire(), steered.body.tick, steered.body.actions


# -- commands --------------------------------------------------------------------------------------------------------


def test_agent_7_two_commands_in_one_reply_run_the_first_and_say_so() -> None:
    steered = Steered()
    step = steered('start("dancing")\nskip(5)')
    assert step.reply == "One command at a time: only the first one was run. Started dancing."
    assert steered.body.tick == 0


def test_agent_7_prose_is_not_searched_for_commands() -> None:
    steered = Steered()
    assert steered('I think I should start("dancing") now.').refused[0].code == "command.unreadable"
    assert steered.actions_line == "Actions: []"


def test_agent_7_the_world_stands_still_while_nothing_is_commanded() -> None:
    steered = Steered()
    steered("start(walking to cot1)", "skip(1)")
    where = steered.body.world.at
    steered("start(waving)", "start(singing)", "stop(waving)", "start(nothing)")
    assert (steered.body.world.at, steered.body.tick) == (where, 20)


def test_agent_7_other_clocks_go_on_by_themselves() -> None:
    session, _ = commanded(Session(home_body(scene_of()), clock="charged"), "start(walking to cot1)")
    session, step = commanded(session, "start(waving)", tick=30)
    assert step.tick == 30
    assert "walking to cot1 (moving, 1.5s)" in step.state
    session, changes = advanced(session, 400)
    assert [change.stage for change in changes] == ["done"]


@pytest.mark.parametrize(
    ("command", "reply", "seconds"),
    [
        ("skip()", "Waited for 1.0s. Current state:", 1.0),
        ("skip", "Waited for 1.0s. Current state:", 1.0),
        ("skip(a while)", "Waited for 1.0s. Current state:", 1.0),
        ("skip(2.5)", "Waited for 2.5s. Current state:", 2.5),
        ("skip(61)", "Waited for 60.0s. Current state:", 60.0),
        ("skip(0)", "Waited for 0.0s. Current state:", 0.0),
    ],
)
def test_agent_7_the_reply_to_a_skip_has_the_true_wait(command: str, reply: str, seconds: float) -> None:
    steered = Steered()
    step = steered(command)
    assert (step.reply, step.wire()["atS"]) == (reply, seconds)


@pytest.mark.parametrize("command", ["skip(-1)", "skip(nan)", "skip(inf)"])
def test_agent_7_a_skip_that_is_no_time_is_refused(command: str) -> None:
    steered = Steered()
    assert steered(command).refused[0].code == "command.unreadable"
    assert steered.body.tick == 0


def test_agent_7_a_skip_that_wakes_early_says_how_long_it_was() -> None:
    steered = Steered(home(thing("post1", [6, 0], "touch", size=[0.4, 0.4]), agent={"speedMps": 1}))
    step = steered("start(touching post1)", "skip(60, wake_on=acting)")
    assert step.reply == "Waited for 5.6s. Current state:"
    assert steered("skip(60, wake_on=change)").reply == "Waited for 2.0s. Current state:"
    assert steered("skip(3, wake_on=done)").reply == "Waited for 3.0s. Current state:"


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "dance!",
        "stop(sitting on cot1)",
        "start(dancing)",
        "start(sitting on bed1)",
        "start(placing pot1 on cot1)",
        "start(walking to den)",
        "start(bowing)",
        "skip(-3)",
        "end(now)",
    ],
)
def test_agent_7_a_refused_command_changes_nothing_and_takes_no_time(command: str) -> None:
    steered = Steered()
    steered("start(dancing)", "start(looking at pot1)", "skip(0.15)")
    was = seen(steered)
    step = steered(command)
    assert step.refused
    assert step.reply.startswith("Refused. ")
    assert seen(steered) == was


def test_agent_7_stop_of_what_is_not_there_lists_what_is() -> None:
    steered = Steered()
    steered("start(dancing)", "start(singing)")
    assert steered("stop(sitting)").reply == "Refused. 'sitting' is not among the actions. There are: dancing, singing."
    assert Steered()("stop(sitting)").reply.endswith("There are: none.")


def test_agent_7_done_and_failed_actions_may_be_started_again() -> None:
    steered = Steered(cabin(gate={"open": False}))
    steered("start(touching bench1)", "skip(60)", "start(touching bench1)")
    assert steered.actions_line == "Actions: [touching bench1 (acting, 0.0s)]"
    steered("stop(touching bench1)", "start(walking to den)", "start(walking to den)")
    assert steered.actions_line.count("walking to den (failed, 0.0s, ") == 1


def test_agent_7_a_done_action_keeps_what_it_holds_until_it_is_stopped() -> None:
    steered = Steered()
    steered("start(sitting on cot1)", "skip(60)")
    assert steered("start(dancing)").refused[0].code == "action.needs_held"
    steered("stop(sitting on cot1)")
    assert steered("start(dancing)").refused == ()


def test_agent_7_five_refused_commands_in_a_row_end_the_session_with_everything_stopped() -> None:
    steered = Steered()
    steered("start(walking to cot1)", *["nonsense"] * 4, "skip(1)", *["nonsense"] * 4)
    assert steered.session.status == "open"
    step = steered("nonsense")
    assert (steered.session.status, steered.actions_line) == ("failed", "Actions: []")
    assert step.reply.endswith("The session has failed, and everything is stopped.")
    assert steered("skip(1)").refused[0].code == "session.over"


def test_agent_7_a_person_may_be_wrong_as_often_as_they_like() -> None:
    steered = Steered(watched=True)
    steered(*["nonsense"] * 20)
    assert steered.session.status == "open"


def test_agent_7_the_most_steps_end_the_session_as_failed() -> None:
    steered = Steered(max_steps=3)
    steered("start(walking to cot1)", "skip(1)", "skip(1)")
    assert (steered.session.status, steered.actions_line) == ("failed", "Actions: []")
    assert "The most steps allowed, 3, were used up." in steered.session.reason


def test_agent_7_end_within_the_most_steps_is_an_end() -> None:
    steered = Steered(max_steps=2)
    steered("skip(1)", "end()")
    assert (steered.session.status, steered.session.reason) == ("ended", "")


def test_agent_7_a_session_given_up_stands_still() -> None:
    steered = Steered()
    steered("start(walking to cot1)", "skip(1)")
    session, changes = given_up(steered.session, "The model did not answer.")
    assert (session.status, [change.stage for change in changes]) == ("failed", ["stopped"])
    assert advanced(session, 1000)[0].body.tick == 20


# -- names and hands -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["POT1", "pot 1", "Pot1.", " pot1 ", "the pot1"])
def test_agent_7_names_match_regardless_of_case_spacing_and_a_dot(name: str) -> None:
    steered = Steered()
    steered(f"start(Taking {name})")
    assert steered.body.going.actions[0].action.thing == "pot1"
    assert f"[{f'Taking {name}'.strip()} (" in steered.actions_line
    assert steered("stop(taking pot1)").refused == ()


def test_agent_7_take_uses_the_right_hand_first() -> None:
    steered = Steered()
    steered.does("taking pot1")
    assert steered.body.state_text().splitlines()[2:] == ["Left Hand Holding: None", "Right Hand Holding: pot1"]
    steered.does("taking lamp1")
    assert steered.body.state_text().splitlines()[2:] == ["Left Hand Holding: lamp1", "Right Hand Holding: pot1"]


def test_agent_7_take_uses_the_left_hand_when_the_right_one_is_busy() -> None:
    steered = Steered()
    steered("start(waving)")
    steered.does("taking pot1")
    assert steered.body.world.held("left") == "pot1"


def test_agent_7_a_refusal_names_what_would_do() -> None:
    steered = Steered()
    assert "such as cot1" in steered("start(lying)").reply, "of the things that are made for it"
    steered.does("taking pot1")
    assert "table1" not in steered("start(placing pot1)").reply, "of the things that are there"
    steered.does("taking lamp1")
    assert steered("start(taking log1)").reply.endswith("Place pot1 somewhere first. Place lamp1 somewhere first.")


def test_agent_7_what_needs_two_hands_is_in_both() -> None:
    steered = Steered()
    steered.does("taking pot1")
    assert steered("start(taking log1)").refused[0].code == "action.hands"
    steered.does("placing pot1 on bench1")
    steered.does("taking log1")
    assert steered.body.state_text().splitlines()[2:] == ["Left Hand Holding: log1", "Right Hand Holding: log1"]


def test_agent_7_a_thing_changes_hands_when_it_is_taken_and_stays_after_stop() -> None:
    steered = Steered()
    steered("start(taking pot1)", "skip(60, wake_on=acting)", "skip(0.95)")
    assert steered.body.world.held("right") is None
    steered("skip(0.05)")
    assert steered.body.world.held("right") == "pot1"
    steered("stop(taking pot1)")
    assert steered.body.world.held("right") == "pot1"


def test_agent_7_a_take_stopped_before_its_end_takes_nothing() -> None:
    steered = Steered()
    steered("start(taking pot1)", "skip(60, wake_on=acting)", "skip(0.95)", "stop(taking pot1)", "skip(5)")
    assert steered.body.world.places["pot1"].support == "bench1"


def test_agent_7_stopping_sitting_stands_up() -> None:
    steered = Steered()
    steered("start(sitting on cot1)", "skip(60)")
    assert (steered.body.world.posture, steered.body.world.rests_on) == ("sitting", "cot1")
    steered("stop(sitting on cot1)")
    assert (steered.body.world.posture, steered.body.world.rests_on) == ("standing", None)


# -- stop and end ----------------------------------------------------------------------------------------------------


def in_stage(stage: str) -> tuple[Steered, str]:
    """A body in the middle of a stage, and what to stop."""
    steered = Steered(cabin(gate={"open": stage != "failed"}))
    if stage == "laid":
        steered.does("taking pot1")
        steered("start(placing pot1 on bench1)", "skip(1.5)")
        return steered, "placing pot1 on bench1"
    if stage == "turning":
        steered("start(sitting on cot1)")
        ends = steered.body.next_instant()
        assert ends is not None
        steered.session, _ = advanced(steered.session, ends - 2)
        return steered, "sitting on cot1"
    if stage == "stuck":
        steered.fault(fault="block", about="gate1")
    steered("start(sitting on cot1)", "skip(2)" if stage == "moving" else f"skip(60, wake_on={stage})")
    return steered, "sitting on cot1"


@pytest.mark.parametrize("stage", STAGES)
def test_agent_7_stop_takes_effect_at_once_in_every_stage(stage: str) -> None:
    steered, action = in_stage(stage)
    world, tick = steered.body.world, steered.body.tick
    assert steered(f"stop({action})").refused == ()
    assert (steered.body.world.at, steered.body.world.facing, steered.body.tick) == (world.at, world.facing, tick)
    assert (steered.body.actions, steered.body.world.posture) == ((), "standing")
    for _ in range(5):
        steered("skip(0.05)")
        assert (steered.body.world.at, steered.body.world.facing) == (world.at, world.facing)


def test_agent_7_end_cancels_and_lists_what_still_runs() -> None:
    steered = Steered()
    steered("start(touching bench1)", "skip(60)", "start(dancing)", "start(singing)", "start(looking at cot1)")
    assert steered("end()").reply == "The session has ended. Cancelled: singing, looking at cot1."
    assert (steered.session.status, steered.actions_line) == ("ended", "Actions: []")


def test_agent_7_a_goal_is_judged_apart_from_the_end() -> None:
    for goal, reached in (("sit on cot1", True), ("sit on stool1", False), ("feel at home", None)):
        steered = Steered(goal=goal)
        steered("start(sitting on cot1)", "skip(60)", "end()")
        assert steered.session.goal_reached is reached


# -- stages ----------------------------------------------------------------------------------------------------------


def test_agent_7_duration_goes_on_after_done() -> None:
    steered = Steered()
    steered("start(touching bench1)", "skip(60)", "skip(40)")
    assert steered.actions_line == "Actions: [touching bench1 (done, 100.0s)]"


@pytest.mark.parametrize("action", ["touching cot1", "sitting on cot1", "lying on cot1", "leaning against bench1"])
def test_agent_7_touches_act_for_two_seconds_and_are_done_at_that_tick(action: str) -> None:
    steered = Steered()
    steered(f"start({action})", "skip(60, wake_on=acting)", "skip(1.95)")
    assert steered.body.actions[0].stage == "acting"
    steered("skip(0.05)")
    assert steered.body.actions[0].stage == "done"


def test_agent_7_no_path_at_all_is_failed_with_a_reason_as_third_item() -> None:
    steered = Steered(cabin(gate={"open": False}))
    steered("start(sitting on cot1)", "skip(2)")
    assert steered.actions_line == "Actions: [sitting on cot1 (failed, 2.0s, no way to cot1 because gate1 is closed)]"
    assert steered("start(dancing)").refused == ()


def test_agent_7_stuck_is_shown_from_ten_seconds_on_and_ends_nothing() -> None:
    steered = Steered()
    steered.fault(fault="block", about="gate1")
    steered("start(sitting on cot1)", "skip(60, wake_on=stuck)")
    since = steered.body.actions[0].duration_s
    assert steered.actions_line == f"Actions: [sitting on cot1 (moving, {since:.1f}s, stuck 10.0s)]"
    steered("skip(60)", "skip(60)")
    assert steered.body.actions[0].stage == "moving"
    steered = Steered()
    steered.fault(fault="block", about="gate1")
    steered("start(sitting on cot1)", f"skip({since - 0.05})")
    assert "stuck" not in steered.actions_line


# -- the same bytes --------------------------------------------------------------------------------------------------


def test_agent_7_the_same_commands_give_the_same_bytes() -> None:
    lines = ["start(taking pot1)", "skip(60, wake_on=done)", "stop(taking pot1)", "start(placing pot1 on stool1)"]
    lines += ["skip(3)", "nonsense", "skip(9.7)", "start(singing)", "end()"]

    def told() -> str:
        steered = Steered()
        steered(*lines)
        return json.dumps([step.wire() for step in steered.steps])

    assert told() == told()


def test_agent_7_a_step_is_written_as_the_contract_says() -> None:
    wire = Steered()("skip(0.5)").wire()
    assert list(wire) == ["command", "reply", "state", "atS"]
    assert wire["atS"] == 0.5


def test_agent_7_a_session_starts_without_actions_in_the_corner_of_the_bounds() -> None:
    steered = Steered(home(thing("post1", [3, 3], "touch"), bounds=[0, 0, 12, 8], agent={"at": [0, 0]}))
    assert steered.body.state_text().splitlines()[:2] == ["Position: origin (0, 0)", "Actions: []"]
    steered.does("touching post1")
