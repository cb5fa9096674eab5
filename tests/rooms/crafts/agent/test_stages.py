"""Actions under way: moving, acting, done or failed, at the ticks that follow from the way."""

import math

import pytest
from tests.rooms.crafts.agent.homes import Steered, body_of, cabin, home, thing

from beforehand.crafts.agent.core.home_body import HomeBody
from beforehand.crafts.agent.core.motion import Motion
from beforehand.ports.body import Change

LANE = home(thing("post1", [6, 0], "touch", "sit", size=[0.4, 0.4]), bounds=[0, -2, 10, 2], agent={"speedMps": 1.0})


def changes(steered: Steered) -> list[tuple[float, str]]:
    return [(change.tick / 20, change.stage) for step in steered.steps for change in step.changes]


def test_the_ticks_of_a_walk_follow_from_its_length() -> None:
    steered = Steered(LANE)
    steered("start(touching post1)", "skip(60)")
    # 6 m to the post less half of it and the body's radius, then a touch of two seconds.
    assert changes(steered) == [(0.0, "moving"), (5.6, "acting"), (7.6, "done")]


def test_a_turn_at_the_end_belongs_to_the_moving() -> None:
    steered = Steered(home(thing("post1", [0.4, 0], "touch", size=[0.4, 0.4]), agent={"facing": 180}))
    steered("start(touching post1)", "skip(60)")
    assert changes(steered) == [(0.0, "moving"), (1.0, "acting"), (3.0, "done")]


@pytest.mark.parametrize("action", ["dancing", "waving", "singing", "standing"])
def test_what_has_nowhere_to_go_acts_from_its_start(action: str) -> None:
    steered = Steered()
    steered(f"start({action})", "skip(60)", "skip(60)")
    assert changes(steered) == [(0.0, "acting")]


def test_a_place_is_done_one_second_after_the_thing_lies_still() -> None:
    steered = Steered()
    steered.does("taking pot1")
    steered("start(placing pot1 on bench1)")
    assert steered.actions_line == "Actions: [placing pot1 on bench1 (acting, 0.0s)]"
    steered("skip(0.95)")
    assert steered.body.world.held("right") == "pot1"
    steered("skip(0.05)")
    assert steered.body.world.held("right") is None
    assert steered.body.actions[0].stage == "acting"
    steered("skip(0.95)")
    assert steered.body.actions[0].stage == "acting"
    steered("skip(0.05)")
    assert steered.body.actions[0].stage == "done"


def test_a_push_moves_the_thing_and_the_body_behind_it() -> None:
    steered = Steered(home(thing("box1", [2, 0], "push", size=[0.4, 0.4]), bounds=[0, -2, 10, 2]))
    steered.does("pushing box1")
    assert steered.body.world.places["box1"].at == pytest.approx((2.5, 0))
    assert steered.body.world.at == pytest.approx((2.1, 0))


@pytest.mark.parametrize("gap_m", [0.0, 0.12])
def test_a_push_ends_at_what_is_behind(gap_m: float) -> None:
    walls = [[[2.2 + gap_m + 0.001, -1], [2.2 + gap_m + 0.001, 1]]]
    steered = Steered(home(thing("box1", [2, 0], "push", size=[0.4, 0.4]), bounds=[0, -2, 10, 2], walls=walls))
    steered("start(pushing box1)", "skip(60)")
    at = steered.body.world.places["box1"].at
    assert at is not None
    assert at[0] == pytest.approx(2.1 if gap_m else 2.0)
    assert steered.body.actions[0].stage == ("done" if gap_m else "failed")


def test_a_push_does_not_lead_the_body_into_a_gap_that_is_too_narrow() -> None:
    """The thing would fit between the posts, the body behind it would not."""
    posts = [thing(f"post{n}", [2.25, y], "touch", size=[0.3, 0.3]) for n, y in enumerate((0.3, -0.3))]
    steered = Steered(home(thing("rod1", [2, 0], "push", size=[0.1, 0.1]), *posts, bounds=[0, -2, 10, 2]))
    steered("start(pushing rod1)", "skip(60)")
    assert steered.body.world.at[0] <= 2.1 - 0.2 + 1e-9


def test_a_door_does_not_close_on_what_stands_in_it() -> None:
    document = cabin()
    document["objects"].append(thing("sack1", [5, 4], "touch", size=[0.3, 0.3]))
    steered = Steered(document)
    steered("start(closing gate1)", "skip(60)")
    assert steered.actions_line == "Actions: [closing gate1 (failed, 60.0s, sack1 is in the way)]"
    assert steered.body.world.open["gate1"] is True


def test_a_body_in_the_doorway_steps_aside_before_it_closes_the_door() -> None:
    steered = Steered(cabin(agent={"at": [5, 4]}))
    steered.does("closing gate1")
    assert abs(steered.body.world.at[0] - 5) >= 0.2
    assert steered.body.world.open["gate1"] is False


def test_what_was_taken_away_meanwhile_is_not_taken() -> None:
    steered = Steered()
    steered("start(taking pot1)", "skip(1)")
    steered.fault(fault="move", about="pot1", to="cot1")
    steered("skip(60)")
    assert steered.body.actions[0].why == "pot1 is no longer there"


def test_a_reason_has_no_marks_of_lists() -> None:
    document = home(thing("box (big), red", [8, 4], "touch"), walls=[[[5, 0], [5, 8]]])
    steered = Steered(document)
    steered('start("touching box (big), red")')
    assert steered.actions_line.endswith("(failed, 0.0s, no way to box big red)]")


def test_time_passed_in_pieces_is_the_same_time() -> None:
    def run(*skips: float) -> tuple[HomeBody, list[Change]]:
        steered = Steered()
        steered("start(sitting on cot1)", "start(looking at pot1)", "start(waving)")
        steered(*(f"skip({skip})" for skip in skips))
        return steered.body, [change for step in steered.steps for change in step.changes]

    whole, pieces = run(12), run(*[0.05] * 240)
    assert whole[0].going == pieces[0].going
    assert whole[1] == pieces[1]


def test_the_next_instant_is_when_something_happens() -> None:
    body = body_of(LANE)
    begun = body.start("touching post1")
    assert isinstance(begun, tuple)
    assert body.next_instant() is None
    assert begun[0].next_instant() == 112


@pytest.mark.parametrize("tick", [0, 3, 10, 19, 20, 33, 55, 56, 60, 65, 66, 1000])
def test_a_pose_is_what_a_plain_walk_along_the_way_gives(tick: int) -> None:
    motion = Motion(0, ((0, 0), (1, 0), (1, 1.75)), 1.0, 270.0, 180.0)
    gone = tick / 20
    where = (gone, 0) if gone <= 1 else (1, min(gone - 1, 1.75))
    at, facing = motion.pose(tick)
    assert at == pytest.approx(where)
    turned = 90 + max(0.0, min(90.0, (tick - 55) / 20 * 180))
    assert facing == pytest.approx(270 if gone == 0 else 0 if gone <= 1 else turned)
    assert (motion.length_m, motion.walk_ticks, motion.turn_ticks, motion.ends) == (2.75, 55, 10, 65)


def test_a_halted_motion_stays_where_it_halts() -> None:
    motion = Motion(10, ((0, 0), (3, 4)), 1.0, 0.0, 0.0, halts_m=2.5)
    assert (motion.ends, motion.stalled_since()) == (None, 60)
    assert motion.pose(500)[0] == pytest.approx((1.5, 2.0))
    assert motion.pose(500)[1] == pytest.approx(math.degrees(math.atan2(4, 3)))


def test_who_sits_down_again_elsewhere_stands_up_first() -> None:
    mat = thing("mat1", [2, 2], "take", "sit", size=[0.4, 0.4])
    steered = Steered(home(mat, thing("deck1", [8, 6], "touch", "place"), agent={"at": [0, 0]}))
    steered("start(sitting on mat1)", "skip(60, wake_on=done)")
    assert steered.body.world.posture == "sitting"
    steered.fault(fault="move", about="mat1", to="deck1")
    steered("start(sitting on mat1)")
    assert "(moving, 0.0s)" in steered.actions_line
    assert (steered.body.world.posture, steered.body.world.rests_on) == ("standing", None)
    steered("stop(sitting on mat1)", "start(sitting on mat1)", "skip(60, wake_on=acting)")
    assert steered.body.world.posture == "sitting"
