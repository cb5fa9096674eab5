"""Goals: read where they are plain, judged from the world, and left alone where nobody can tell."""

import pytest
from tests.rooms.crafts.agent.homes import Steered, home, scene_of, thing

from beforehand.crafts.agent.core.goals import read_goal, wish_parts


def kinds(text: str) -> list[str]:
    return [wish.kind for wish in read_goal(text, scene_of()).wishes]


@pytest.mark.parametrize(
    ("text", "wished"),
    [
        ("Bring the pot to the cot.", ["lies"]),
        ("put pot1 on cot1", ["lies"]),
        ("Please put the rope in the crate", ["lies"]),
        ("take pot1 from bench1 to cot1", ["lies"]),
        ("bring pot1 to the den", ["in_room"]),
        ("take pot1", ["held"]),
        ("pick up pot1 from bench1", ["held"]),
        ("bring me the lamp", ["held"]),
        ("sit on cot1", ["did"]),
        ("dance", ["did"]),
        ("walk to the den", ["at"]),
        ("stand behind bench1 one meter away", ["at"]),
        ("open the crate", ["open"]),
        ("close gate1", ["closed"]),
        ("take pot1 and put it on cot1", ["did", "lies"]),
        ("open the crate, then close it", ["did", "closed"]),
        ("walk to the den, then sit on cot1", ["did", "did"]),
        ("take pot1, take lamp1", ["held", "held"]),
        ("make me happy", []),
        ("take pot1 and make me happy", []),
        ("put the pan on the cot", []),
        ("bring pot1 to everybody", []),
        ("", []),
        ("sit " * 2000, []),
    ],
)
def test_a_goal_is_read_or_left_alone(text: str, wished: list[str]) -> None:
    assert kinds(text) == wished


@pytest.mark.parametrize(
    ("goal", "actions"),
    [
        ("bring pot1 to cot1", ["taking pot1", "placing pot1 on cot1"]),
        ("bring pot1 to the den", ["taking pot1", "placing pot1 on stool1"]),
        ("take pot1 and put it on stool1", ["taking pot1", "placing pot1 on stool1"]),
        ("take lamp1", ["taking lamp1"]),
        ("sit on cot1", ["sitting on cot1"]),
        ("walk to the den", ["walking to den"]),
        ("open crate1", ["opening crate1"]),
        ("open crate1 and close crate1", ["opening crate1", "closing crate1"]),
        ("walk to cot1, then walk to bench1", ["walking to cot1", "walking to bench1"]),
        ("put rope1 in crate1", ["opening crate1", "taking rope1", "placing rope1 in crate1"]),
    ],
)
def test_a_goal_is_reached_by_doing_it_and_not_before(goal: str, actions: list[str]) -> None:
    steered = Steered(goal=goal)
    for action in actions:
        before = steered.session.goal_reached
        steered.does(action)
    assert (steered.session.goal_reached, steered.session.status) == (True, "open")
    if not goal.startswith("put rope1"):
        assert before is False
    steered("end()")
    assert steered.session.goal_reached is True


def test_end_does_not_make_a_goal_reached() -> None:
    steered = Steered(goal="bring pot1 to cot1")
    steered("end()")
    assert (steered.session.status, steered.session.goal_reached) == ("ended", False)


def test_what_nobody_can_tell_is_not_told() -> None:
    steered = Steered(goal="be a good neighbour")
    steered("end()")
    assert steered.session.goal_reached is None


def test_a_thing_carried_through_a_room_does_not_lie_in_it() -> None:
    steered = Steered(goal="bring pot1 to the den")
    steered.does("taking pot1")
    steered.does("walking to den")
    assert steered.session.goal_reached is False


def test_a_name_with_and_in_it_is_one_name() -> None:
    document = home(
        thing("salt and pepper", [1, 1], "take"),
        thing("table1", [5, 5], "place", "touch"),
        thing("cup1", [2, 2], "take"),
    )
    parts = wish_parts("take salt and pepper,, and put it on table1 and dance and juggle", scene_of(document))
    assert [(words, wish and wish.kind) for words, wish in parts] == [
        ("take salt and pepper", "held"),
        ("put salt and pepper on table1", "lies"),
        ("dance", "did"),
        ("juggle", None),
    ]
