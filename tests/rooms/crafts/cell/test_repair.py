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


AT_POS_1 = CellState(current_position="Pos_1", current_tool="Welder")


@pytest.fixture
def welded(followed: CellScene) -> list[dict[str, Any]]:
    goals = [{"action": "routine", "routine": "tack_weld", "position": "Pos_1"}, {"action": "move", "position": "Home"}]
    return to_plan_steps(build(followed, {"steps": goals}, AT_POS_1))


def at_of(plan: list[dict[str, Any]], target: str) -> int:
    return next(at for at, step in enumerate(plan) if step["args"]["target"] == target)


def test_followers_and_their_tool_changes_are_kept_as_they_are(
    followed: CellScene, welded: list[dict[str, Any]]
) -> None:
    mended, proposal = repair_plan(followed, welded, AT_POS_1)
    assert mended == welded
    assert (proposal.added, proposal.dropped) == ((), ())


@pytest.mark.parametrize("target", ["wipe", "dust", "tool_attach", "focus", "inspect"])
def test_a_follower_or_its_tool_change_that_was_removed_is_put_in_again(
    followed: CellScene, welded: list[dict[str, Any]], target: str
) -> None:
    whole = [step["description"] for step in welded]
    gone = welded.pop(at_of(welded, target))
    mended, proposal = repair_plan(followed, welded, AT_POS_1)
    assert verify(followed, mended, AT_POS_1).ok
    assert [step.name for step in proposal.added] == [gone["description"]]
    assert [step["description"] for step in mended] == whole
    assert {step["goal"]["index"] for step in mended[:-1]} == {1}, "it serves the goal of the routine that it follows"


def test_a_whole_change_for_a_follower_is_planned_anew(followed: CellScene, welded: list[dict[str, Any]]) -> None:
    first, last = at_of(welded, "wipe") + 1, at_of(welded, "inspect")
    del welded[first:last]
    mended, proposal = repair_plan(followed, welded, AT_POS_1)
    assert verify(followed, mended, AT_POS_1).ok
    assert [step["args"]["target"] for step in mended].count("inspect") == 1
    assert len(proposal.added) == last - first


def test_a_detour_on_the_way_to_the_followers_tool_stays(followed: CellScene, welded: list[dict[str, Any]]) -> None:
    at = at_of(welded, "dust") + 2
    there = [{**welded[at], "args": {**welded[at]["args"], "target": place}} for place in ("Safe_Pos_2", "Home")]
    steps = [*welded[: at + 1], *there, *welded[at + 1 :]]
    plan = [{**step, "id": f"s{n}", "dependsOn": [f"s{n - 1}"] if n else []} for n, step in enumerate(steps)]
    assert verify(followed, plan, AT_POS_1).ok
    assert repair(followed, plan, AT_POS_1).added == ()


def test_at_the_end_of_a_list_what_is_owed_is_put_in(followed: CellScene) -> None:
    weld = {"id": 1, "action": "routine", "target": "tack_weld", "position": "Pos_2", "action_after": "wipe"}
    state = CellState(current_position="Pos_2", current_tool="Welder")
    assert [step.name for step in repair(followed, [weld], state).steps] == ["Tack Weld at Pos_2", "Wipe at Pos_2"]
