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
