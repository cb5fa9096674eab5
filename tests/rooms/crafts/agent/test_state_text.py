"""The state in four lines, exactly as the contract writes it."""

import pytest
from tests.rooms.crafts.agent.homes import body_of, home, thing

from beforehand.ports.body import ActionInfo
from beforehand.ports.state_text import short, state_text


def test_the_contract_s_example() -> None:
    actions = (ActionInfo("sitting on bed1", "acting", 2.3), ActionInfo("looking at monitor1", "moving", 0.5))
    assert state_text("origin", (0.0, 0.0), actions) == (
        "Position: origin (0, 0)\n"
        "Actions: [sitting on bed1 (acting, 2.3s), looking at monitor1 (moving, 0.5s)]\n"
        "Left Hand Holding: None\n"
        "Right Hand Holding: None"
    )


def test_stuck_and_failed_have_a_third_item() -> None:
    actions = (ActionInfo("a", "moving", 12.3, 10.0), ActionInfo("b", "failed", 0.0, 0.0, "no way to b"))
    line = state_text("x", (1, 1), actions, "cup1", "mug1").splitlines()
    assert line[1] == "Actions: [a (moving, 12.3s, stuck 10.0s), b (failed, 0.0s, no way to b)]"
    assert line[2:] == ["Left Hand Holding: cup1", "Right Hand Holding: mug1"]


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (-0.04, "0"), (3.5, "3.5"), (-1.0, "-1"), (2.96, "3"), (0.05, "0.1"), (-2.25, "-2.2")],
)
def test_coordinates_are_rounded_and_shortened(number: float, shown: str) -> None:
    assert short(number) == shown


@pytest.mark.parametrize(
    ("at", "name"),
    [([0, 0], "origin"), ([0.5, 0], "origin"), ([0.4, 0.4], "post1"), ([9, 0], "post2"), ([6.2, 0], "post2")],
)
def test_the_place_is_the_nearest_landmark_or_the_origin_within_half_a_metre(at: list[float], name: str) -> None:
    posts = [thing("post1", [3, 0], "touch", size=[0.4, 0.4]), thing("post2", [9, 2], "touch", size=[0.4, 2])]
    cup = thing("cup1", [0.5, 0.5], "take")
    body = body_of(home(*posts, cup, bounds=[0, -3, 10, 3], agent={"at": at}))
    assert body.state_text().startswith(f"Position: {name} ({short(at[0])}, {short(at[1])})\n")


def test_a_home_without_landmarks_has_its_origin() -> None:
    assert body_of(home(agent={"at": [7, 7]})).state_text().startswith("Position: origin (7, 7)")
