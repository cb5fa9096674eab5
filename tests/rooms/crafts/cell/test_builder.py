"""What the builder says about goals it refuses: everything that is wrong, not only the first thing."""

from typing import Any

import pytest

from beforehand.crafts.cell.core.builder import build
from beforehand.model.cell import CellScene, CellState
from beforehand.model.errors import BadInputError

HOME = CellState(current_position="Home")


def refused(scene: CellScene, *goals: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(BadInputError) as caught:
        build(scene, {"steps": list(goals)}, HOME)
    return [(problem.code, problem.about) for problem in caught.value.problems]


def test_an_unreachable_place_is_told_with_the_routine_that_cannot_run_there(star: CellScene) -> None:
    goal = {"action": "routine", "routine": "tack_weld", "position": "Pos_4"}
    assert refused(star, goal) == [("cell.unsupported", "Pos_4"), ("cell.no_path", "Pos_4")]


def test_an_unreachable_place_is_told_with_a_routine_nobody_knows(star: CellScene) -> None:
    goal = {"action": "routine", "routine": "paint", "position": "Pos_4"}
    assert refused(star, goal) == [("cell.unknown_routine", "paint"), ("cell.no_path", "Pos_4")]


def test_a_reachable_place_of_a_refused_goal_is_no_second_problem(star: CellScene) -> None:
    goal = {"action": "routine", "routine": "tack_weld", "position": "Safe_Pos_1"}
    assert refused(star, goal) == [("cell.unsupported", "Safe_Pos_1")]


def test_a_tool_without_a_stand_is_told_with_the_position_that_is_wrong(star: CellScene) -> None:
    bare = star.model_copy(update={"tools": tuple(one.model_copy(update={"stand": None}) for one in star.tools)})
    goal = {"action": "routine", "routine": "tack_weld", "position": "Safe_Pos_1"}
    assert refused(bare, goal) == [("cell.unsupported", "Safe_Pos_1"), ("cell.no_stand", "Welder")]


def test_a_refused_goal_leaves_the_robot_where_it_was(star: CellScene) -> None:
    paint = {"action": "routine", "routine": "paint", "position": "Pos_4"}
    assert refused(star, paint, {"action": "move", "position": "Pos_1"}) == [
        ("cell.unknown_routine", "paint"),
        ("cell.no_path", "Pos_4"),
    ]


def names(scene: CellScene, *goals: dict[str, Any], state: CellState = HOME) -> list[str]:
    return [step.name for step in build(scene, {"steps": list(goals)}, state).steps]


def weld(place: str) -> dict[str, Any]:
    return {"action": "routine", "routine": "tack_weld", "position": place}


HOLDING = CellState(current_position="Safe_Pos_2", current_tool="Welder")
LOOK_AT_POS_1 = [
    "Move to Safe_Pos_1",
    "Move to Tool_Weld_Safe_Position",
    "Move to Tool_Weld_Position",
    "Release Welder",
    "Dust at Tool_Weld_Position",
    "Move to Tool_Weld_Safe_Position",
    "Move to Home",
    "Move to Tool_Camera_Safe_Position",
    "Move to Tool_Camera_Position",
    "Attach Camera",
    "Focus at Tool_Camera_Position",
    "Move to Tool_Camera_Safe_Position",
    "Move to Home",
    "Move to Safe_Pos_1",
    "Move to Pos_1",
    "Inspect at Pos_1",
    "Move to Safe_Pos_1",
]


def test_a_follower_that_needs_no_tool_is_the_next_step(followed: CellScene) -> None:
    made = build(followed, {"steps": [weld("Pos_2"), {"action": "move", "position": "Home"}]}, HOLDING)
    assert [step.name for step in made.steps] == [
        "Move to Pos_2",
        "Tack Weld at Pos_2",
        "Wipe at Pos_2",
        "Move to Safe_Pos_2",
        "Move to Home",
    ]
    assert made.goal_of == (1, 1, 1, 2, 2)
    assert [step.get("action_after") for step in made.wire()] == [None, "wipe", None, None, None]
    assert made.wire()[2]["stabilize"] == 0, "its own metadata"


def test_a_chain_of_three_changes_tools_on_the_way_and_ends_in_safety(followed: CellScene) -> None:
    made = build(followed, {"steps": [weld("Pos_1")]}, CellState(current_position="Pos_1", current_tool="Welder"))
    assert [step.name for step in made.steps] == ["Tack Weld at Pos_1", "Wipe at Pos_1", *LOOK_AT_POS_1]
    assert set(made.goal_of) == {1}
    assert made.steps[-2].verify == "seam"
    assert made.end == CellState(current_position="Safe_Pos_1", current_tool="Camera")


def test_the_next_goal_starts_from_where_the_follower_leaves_the_robot(followed: CellScene) -> None:
    told = names(followed, weld("Pos_3"), {"action": "attach_tool", "tool": "Camera"}, state=HOLDING)
    assert told[-1] == "Inspect at Pos_3", "the camera is on by then"


def test_what_follows_a_tool_change_is_done_at_the_stand(followed: CellScene) -> None:
    swap = {"action": "attach_tool", "tool": "Camera"}
    told = names(followed, swap, state=CellState(current_position="Tool_Weld_Position", current_tool="Welder"))
    assert told[:2] == ["Release Welder", "Dust at Tool_Weld_Position"]
    assert told[-2:] == ["Attach Camera", "Focus at Tool_Camera_Position"]


def test_a_follower_asked_for_too_is_done_for_both(followed: CellScene) -> None:
    wipe = {"action": "routine", "routine": "wipe", "position": "Pos_2"}
    told = names(followed, weld("Pos_2"), wipe, state=HOLDING)
    assert told[-3:] == ["Tack Weld at Pos_2", "Wipe at Pos_2", "Wipe at Pos_2"]
