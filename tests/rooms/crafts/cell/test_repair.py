"""Edited sequences and the repairs offered for them."""

from typing import Any

import pytest

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.plan_steps import to_plan_steps
from beforehand.crafts.cell.core.repair import repair, repair_plan
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.cell import CellScene, CellState

HOME = CellState(current_position="Home")


@pytest.fixture
def plan(star: CellScene) -> list[dict[str, Any]]:
    goals = [{"action": "routine", "routine": "tack_weld", "position": place} for place in ("Pos_1", "Pos_2")]
    return to_plan_steps(build(star, {"steps": goals}, HOME))


def test_what_is_right_stays_as_it_is(star: CellScene, plan: list[dict[str, Any]]) -> None:
    mended, proposal = repair_plan(star, plan, HOME)
    assert mended == plan
    assert proposal.says == "The repair keeps 12 of the steps, adds none."


def test_a_gap_is_planned_anew_and_the_rest_keeps_its_ids(star: CellScene, plan: list[dict[str, Any]]) -> None:
    del plan[3:6]
    mended, proposal = repair_plan(star, plan, HOME)
    assert verify(star, mended, HOME).ok
    assert [step.target for step in proposal.added] == ["Tool_Weld_Safe_Position", "Safe_Pos_1", "Pos_1"]
    assert [step["id"] for step in mended[3:6]] == ["step_4", "step_5", "step_6"]
    assert [step["goal"]["index"] for step in mended[3:6]] == [1, 1, 1]
    assert "adds 3 (Move to Tool_Weld_Safe_Position, Move to Safe_Pos_1, Move to Pos_1)" in proposal.says


def test_a_removed_attach_comes_back(star: CellScene, plan: list[dict[str, Any]]) -> None:
    del plan[2]
    proposal = repair(star, plan, HOME)
    assert [step.name for step in proposal.added] == ["Attach Welder"], "where the robot passes the stand anyway"
    assert len(proposal.steps) == 12
    assert verify(star, proposal.steps, HOME).ok


def test_a_tool_is_taken_on_the_way_and_not_fetched_on_a_second_trip(star: CellScene) -> None:
    moves = ("Tool_Weld_Safe_Position", "Tool_Weld_Position", "Tool_Weld_Safe_Position", "Safe_Pos_1", "Pos_1")
    steps = [{"action": "move", "target": place} for place in moves]
    steps.append({"action": "routine", "target": "tack_weld", "position": "Pos_1"})
    numbered = [{"id": at, "name": "", **step} for at, step in enumerate(steps, 1)]
    proposal = repair(star, numbered, HOME)
    assert [step.target for step in proposal.steps] == [*moves[:2], "tool_attach", *moves[2:], "tack_weld"]
    holding = CellState(current_position="Home", current_tool="Camera")
    mended = repair(star, numbered, holding)
    assert [step.target for step in mended.steps].count("Tool_Weld_Position") == 1
    assert verify(star, mended.steps, holding).ok


def test_a_step_of_the_list_is_not_left_out_for_one_put_in(star: CellScene) -> None:
    steps = build(star, {"steps": [{"action": "routine", "routine": "tack_weld", "position": "Pos_1"}]}, HOME).wire()
    steps[2], steps[3] = steps[3] | {"id": 3}, steps[2] | {"id": 4}
    proposal = repair(star, steps, HOME)
    assert proposal.dropped == ()
    assert [step.name for step in proposal.added] == ["Move to Tool_Weld_Position", "Move to Tool_Weld_Safe_Position"]


def test_another_tool_in_hand_is_put_back_first(star: CellScene, plan: list[dict[str, Any]]) -> None:
    state = CellState(current_position="Home", current_tool="Camera")
    proposal = repair(star, plan, state)
    assert "Release Camera" in [step.name for step in proposal.added]
    assert verify(star, proposal.steps, state).ok


def test_steps_that_do_nothing_are_left_out(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan.insert(3, {**plan[2], "id": "again", "dependsOn": ["step_3"]})
    proposal = repair(star, plan, HOME)
    assert proposal.dropped == (3,)
    assert verify(star, proposal.steps, HOME).ok


def test_what_cannot_be_mended_is_said(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[5]["args"]["target"] = "Pos_4"
    plan[6]["args"]["target"] = "paint"
    proposal = repair(star, plan, HOME)
    assert {problem.code for problem in proposal.problems} >= {"cell.no_path", "cell.unknown_routine"}
    assert proposal.says.startswith("This cannot be repaired:")


def test_a_step_that_cannot_be_read_is_not_quietly_left_out(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[6]["args"] = None
    assert repair(star, plan, HOME).problems
    assert repair(star, [{"id": 1, "action": "fly", "target": "Home"}], HOME).problems
    assert repair(star, 7, HOME).problems


def test_ids_and_chains_are_written_anew(star: CellScene, plan: list[dict[str, Any]]) -> None:
    for step in plan:
        step["dependsOn"] = []
    mended, proposal = repair_plan(star, plan, HOME)
    assert not proposal.problems
    assert verify(star, mended, HOME).ok


def test_other_tools_stay_where_they_were(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan.insert(3, {"id": "pause", "tool": "wait", "args": {"seconds": 1}, "dependsOn": ["step_3"]})
    plan[4]["dependsOn"] = ["pause"]
    del plan[5:7]
    mended, _ = repair_plan(star, plan, HOME)
    assert [step["id"] for step in mended][:5] == ["step_1", "step_2", "step_3", "pause", "step_4"]
    assert mended[4]["dependsOn"] == ["step_3", "pause"]
    assert verify(star, mended, HOME).ok


def test_wrong_metadata_is_put_right(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[6]["args"]["stabilize"] = 0
    mended, proposal = repair_plan(star, plan, HOME)
    assert proposal.added == ()
    assert mended[6]["args"]["stabilize"] == 1.5
