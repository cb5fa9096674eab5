"""Previews in virtual time, plan form, and the map on a terminal."""

from typing import Any

import pytest

from beforehand.crafts.cell.core.ascii_map import ascii_map
from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.plan_steps import from_plan_steps, to_plan_steps
from beforehand.crafts.cell.core.preview import preview, step_seconds
from beforehand.model.cell import CellScene, CellState

HOME = CellState(current_position="Home")
WELD_1 = {"steps": [{"action": "routine", "routine": "tack_weld", "position": "Pos_1"}]}


def test_seconds_come_from_distance_stabilise_and_duration(star: CellScene) -> None:
    timed = star.model_copy(
        update={
            "speed_mps": 1,
            "routines": tuple(one.model_copy(update={"duration_s": 4}) for one in star.routines),
        }
    )
    seen = preview(timed, to_plan_steps(build(timed, WELD_1, HOME)), HOME)
    ends = [moment.end_s for moment in seen.timeline]
    assert ends[0] == pytest.approx((1 + 0.4**2) ** 0.5, abs=1e-3)
    assert ends[2] - ends[1] == pytest.approx(5.5)
    assert ends[6] - ends[5] == pytest.approx(5.5)
    assert seen.duration_s == ends[-1]
    assert [moment.start_s for moment in seen.timeline] == [0.0, *ends[:-1]]
    assert (seen.moves, seen.tool_changes) == (5, 1)
    assert seen.end == CellState(current_position="Pos_1", current_tool="Welder")


def test_the_times_of_a_timeline_are_exact(star: CellScene) -> None:
    """Moves at half a metre a second, rounded to milliseconds; attach and weld take their stabilise time."""
    seen = preview(star, to_plan_steps(build(star, WELD_1, HOME)), HOME)
    moves = [2.154, 3.2, 3.2, 3.441, 2.828]
    ends = [2.154, 5.354, 6.854, 10.054, 13.495, 16.323, 17.823]
    assert [moment.end_s for moment in seen.timeline] == ends
    assert [moment.start_s for moment in seen.timeline] == [0.0, *ends[:-1]]
    assert seen.duration_s == 17.823
    assert sum(moves) + 1.5 + 1.5 == pytest.approx(17.823)
    assert step_seconds(star, "move", "Pos_1", None, "Safe_Pos_1") == 2.828
    assert step_seconds(star, "routine", "tack_weld", 1.5, "Pos_1") == 1.5


def test_an_edge_without_coordinates_takes_two_seconds(star: CellScene) -> None:
    bare = star.model_copy(
        update={"positions": tuple(place.model_copy(update={"x": None, "y": None}) for place in star.positions)}
    )
    seen = preview(bare, build(bare, WELD_1, HOME).wire(), HOME)
    assert seen.duration_s == 5 * 2.0 + 2 * 1.5


def test_a_swap_is_one_tool_change(star: CellScene) -> None:
    state = CellState(current_position="Home", current_tool="Camera")
    assert preview(star, build(star, WELD_1, state).wire(), state).tool_changes == 1
    away = build(star, {"steps": [{"action": "release_tool"}]}, state)
    assert preview(star, away.wire(), state).tool_changes == 1


def test_the_wire_form_names_the_plans_steps(star: CellScene) -> None:
    shown = preview(star, to_plan_steps(build(star, WELD_1, HOME)), HOME).wire()
    assert set(shown) == {"durationS", "moves", "toolChanges", "timeline", "end", "problems"}
    assert shown["timeline"][0] | {"endS": 0} == {
        "stepId": "step_1",
        "startS": 0.0,
        "endS": 0,
        "name": "Move to Tool_Weld_Safe_Position",
        "says": "Move to Tool_Weld_Safe_Position.",
        "action": "move",
        "position": "Tool_Weld_Safe_Position",
        "tool": "none",
        "from": "Home",
    }
    assert shown["end"] == {"current_position": "Pos_1", "current_tool": "Welder"}


def test_the_state_can_be_read_at_any_moment(star: CellScene) -> None:
    seen = preview(star, build(star, WELD_1, HOME).wire(), HOME)
    assert seen.at(0) == HOME
    assert seen.at(seen.timeline[2].end_s).current_tool == "Welder"
    assert seen.at(1e9) == seen.end


def test_a_broken_list_is_previewed_with_its_problems(star: CellScene) -> None:
    steps: list[Any] = [
        {"id": 1, "action": "move", "target": "Pos_1"},
        {"id": 2, "action": "routine", "target": "tack_weld", "stabilize": 10**400},
    ]
    seen = preview(star, steps, HOME)
    assert seen.problems
    assert seen.duration_s < 100


def test_plan_steps_are_chained_and_carry_their_goal(star: CellScene) -> None:
    steps = to_plan_steps(build(star, WELD_1, HOME))
    assert steps[0] == {
        "id": "step_1",
        "description": "Move to Tool_Weld_Safe_Position",
        "tool": "cell.move",
        "args": {"scene": "weld_star", "target": "Tool_Weld_Safe_Position"},
        "dependsOn": [],
        "goal": {"index": 1, "says": "Tack Weld at Pos_1"},
    }
    assert steps[2]["args"] == {
        "scene": "weld_star",
        "target": "tool_attach",
        "position": "Tool_Weld_Position",
        "tool": "Welder",
        "stabilize": 1.5,
        "verify": "Welder",
    }
    assert [step["dependsOn"] for step in steps[1:]] == [[step["id"]] for step in steps[:-1]]
    assert [step.wire() for step in from_plan_steps(steps)] == build(star, WELD_1, HOME).wire()


def test_the_map_shows_positions_the_way_and_the_robot(star: CellScene) -> None:
    drawn = ascii_map(star, ["Home", "Safe_Pos_1", "Pos_1"], robot="Pos_1")
    assert "@ Pos_1" in drawn
    assert "Safe_Pos_1" in drawn
    assert "#" in drawn
    assert max(map(len, drawn.splitlines())) <= 80


def test_a_cell_without_coordinates_is_a_line(star: CellScene) -> None:
    bare = star.model_copy(
        update={"positions": tuple(place.model_copy(update={"x": None, "y": None}) for place in star.positions)}
    )
    assert ascii_map(bare, ["Home", "Safe_Pos_1"]) == "weld_star: Home -> Safe_Pos_1"


def test_a_follower_takes_its_own_time_once(followed: CellScene) -> None:
    state = CellState(current_position="Pos_2", current_tool="Welder")
    goal = {"steps": [{"action": "routine", "routine": "tack_weld", "position": "Pos_2"}]}
    seen = preview(followed, to_plan_steps(build(followed, goal, state)), state)
    assert [(moment.name, moment.end_s) for moment in seen.timeline] == [
        ("Tack Weld at Pos_2", 1.5),
        ("Wipe at Pos_2", 4.5),
    ]


def test_what_follows_at_the_stands_does_not_make_a_swap_two_changes(followed: CellScene) -> None:
    state = CellState(current_position="Home", current_tool="Welder")
    steps = build(followed, {"steps": [{"action": "attach_tool", "tool": "Camera"}]}, state).wire()
    assert [step["target"] for step in steps if step["action"] == "routine"] == [
        "tool_release",
        "dust",
        "tool_attach",
        "focus",
    ]
    assert preview(followed, steps, state).tool_changes == 1
