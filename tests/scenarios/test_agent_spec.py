"""specs/continuous.md: the four test scenarios of its testing plan, and its phases, in a cabin."""

import pytest
from tests.rooms.crafts.agent.homes import Steered, cabin


def test_continuous_test_1_skip_shows_that_time_goes_on() -> None:
    steered = Steered()
    steered("start(walking to cot1)")
    assert steered.actions_line == "Actions: [walking to cot1 (moving, 0.0s)]"
    step = steered("skip(1)")
    assert step.reply == "Waited for 1.0s. Current state:"
    assert steered.actions_line == "Actions: [walking to cot1 (moving, 1.0s)]"
    steered("skip(1)")
    assert steered.actions_line == "Actions: [walking to cot1 (moving, 2.0s)]"
    assert steered("stop(walking to cot1)").reply == "Stopped walking to cot1."
    assert steered.actions_line == "Actions: []"


def test_continuous_test_2_sitting_moves_then_acts_then_is_done() -> None:
    steered = Steered()
    steered("start(sitting on cot1)")
    seen = []
    for _ in range(60):
        steered("skip(0.5)")
        action = steered.body.actions[0]
        seen.append((action.stage, action.duration_s))
    assert list(dict.fromkeys(stage for stage, _ in seen)) == ["moving", "acting", "done"]
    assert [duration for _, duration in seen] == [pytest.approx((n + 1) / 2) for n in range(60)]


def test_continuous_test_3_dancing_acts_until_it_is_stopped() -> None:
    steered = Steered()
    steered("start(dancing)")
    for _ in range(30):
        steered("skip(60)")
        assert steered.body.actions[0].stage == "acting"
    assert steered.actions_line == "Actions: [dancing (acting, 1800.0s)]"
    steered("stop(dancing)")
    assert steered.actions_line == "Actions: []"


def test_continuous_test_4_what_is_stuck_is_seen_stopped_and_tried_again() -> None:
    steered = Steered()
    steered.fault(fault="block", about="gate1")
    steered("start(sitting on cot1)", "skip(60, wake_on=stuck)")
    assert steered.actions_line.endswith("s, stuck 10.0s)]")
    before = steered.body.world.at
    steered("skip(2)")
    assert steered.body.world.at == before
    assert steered.actions_line.endswith("s, stuck 12.0s)]")
    steered("stop(sitting on cot1)")
    steered.fault(fault="unblock", about="gate1")
    steered.does("sitting on cot1")


def test_continuous_the_state_before_anything_is_said() -> None:
    assert Steered().body.state_text() == (
        "Position: origin (0, 0)\nActions: []\nLeft Hand Holding: None\nRight Hand Holding: None"
    )


@pytest.mark.parametrize(
    "action",
    [
        "Jumping excitedly",
        "Leaning against bench1 in front of it",
        "Taking pot1 from bench1",
        "Standing on the right of bench1 one meter away",
        "Sitting on cot1",
        "Standing on origin",
    ],
)
def test_continuous_6_1_the_prompt_s_examples_are_read(action: str) -> None:
    steered = Steered()
    assert steered(f'start("{action}")').refused == ()
    assert f"[{action} (" in steered.actions_line


@pytest.mark.parametrize(
    ("action", "at"),
    [
        ("standing on the right of bench1 one meter away", (3.6, 3)),
        ("standing on the left of bench1 half a meter away", (0.9, 3)),
        ("standing behind bench1 two meters away", (2, 5.3)),
        ("standing in front of bench1 1.5 m away", (2, 1.2)),
    ],
)
def test_continuous_sides_and_distances_are_measured_from_the_side(action: str, at: tuple[float, float]) -> None:
    steered = Steered()
    steered.does(action)
    assert steered.body.world.at == pytest.approx(at)


def test_continuous_several_actions_run_at_once() -> None:
    steered = Steered()
    steered("start(sitting on cot1)", "start(looking at pot1)", "start(waving)", "start(singing)", "skip(30)")
    assert [action.stage for action in steered.body.actions] == ["done", "done", "acting", "acting"]


def test_continuous_4_no_timer_ends_anything() -> None:
    steered = Steered()
    steered("start(touching bench1)", *["skip(60)"] * 10)
    assert [action.stage for action in steered.body.actions] == ["done"]
    assert steered.body.actions[0].duration_s == 600


def test_continuous_an_errand_from_room_to_room() -> None:
    steered = Steered(cabin(gate={"open": False}), goal="bring rope1 to stool1")
    assert steered("start(walking to den)").reply.endswith("it failed: no way to den because gate1 is closed.")
    for action in ("opening crate1", "taking rope1 from crate1", "opening gate1", "placing rope1 on stool1"):
        steered.does(action)
    assert steered("end()").reply == "The session has ended."
    assert (steered.session.status, steered.session.goal_reached) == ("ended", True)
