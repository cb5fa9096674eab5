"""The verifier on lists that are wrong in one way each, and on lists that are no lists."""

from typing import Any

import pytest

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.plan_steps import atomic_step, to_plan_steps
from beforehand.crafts.cell.core.verifier import verify
from beforehand.model.cell import CellScene, CellState

HOME = CellState(current_position="Home")


@pytest.fixture
def steps(star: CellScene) -> list[dict[str, Any]]:
    goals = [{"action": "routine", "routine": "tack_weld", "position": place} for place in ("Pos_1", "Pos_2")]
    return build(star, {"steps": goals}, HOME).wire()


def codes(scene: CellScene, steps: Any, state: CellState = HOME) -> list[str]:
    return [problem.code for problem in verify(scene, steps, state).problems]


def renumbered(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**step, "id": number} for number, step in enumerate(steps, 1)]


def test_the_specs_plan_is_right_and_ends_where_it_says(star: CellScene, steps: list[dict[str, Any]]) -> None:
    verdict = verify(star, steps, HOME)
    assert verdict.ok
    assert verdict.end == CellState(current_position="Pos_2", current_tool="Welder")


def test_names_may_be_left_out(star: CellScene, steps: list[dict[str, Any]]) -> None:
    assert codes(star, [{key: value for key, value in step.items() if key != "name"} for step in steps]) == []


def test_a_missing_move_leaves_the_graph(star: CellScene, steps: list[dict[str, Any]]) -> None:
    del steps[9]
    (problem,) = verify(star, renumbered(steps), HOME).problems
    assert problem.code == "cell.not_adjacent"
    assert problem.says.startswith("Step 10: no allowed move leads from Home to Pos_2.")
    assert problem.path == "steps[9]"


def test_a_missing_attach_is_noticed_at_every_weld(star: CellScene, steps: list[dict[str, Any]]) -> None:
    del steps[2]
    assert codes(star, renumbered(steps)) == ["cell.tool_missing", "cell.tool_missing"]


def test_another_state_is_noticed(star: CellScene, steps: list[dict[str, Any]]) -> None:
    assert "cell.not_adjacent" in codes(star, steps, CellState(current_position="Pos_3"))
    assert codes(star, steps, CellState(current_position="Home", current_tool="Camera")) == ["cell.tool_held"]
    assert codes(star, steps, CellState(current_position="Mars", current_tool="Drill")) == [
        "cell.unknown_position",
        "cell.unknown_tool",
        "cell.tool_held",
    ]


@pytest.mark.parametrize(
    ("at", "change", "code"),
    [
        (0, {"id": 7}, "cell.bad_id"),
        (0, {"id": True}, "cell.bad_id"),
        (0, {"target": "Nowhere"}, "cell.unknown_position"),
        (0, {"target": 3}, "cell.bad_step"),
        (0, {"stabilize": 1.0}, "cell.metadata"),
        (0, {"action": "fly"}, "cell.bad_step"),
        (0, {"hint": "fast"}, "cell.unknown_key"),
        (2, {"tool": "Camera"}, "cell.wrong_stand"),
        (2, {"tool": "Drill"}, "cell.unknown_tool"),
        (2, {"position": "Home"}, "cell.not_there"),
        (2, {"stabilize": 0}, "cell.metadata"),
        (6, {"position": "Pos_2"}, "cell.not_there"),
        (6, {"position": "Mars"}, "cell.unknown_position"),
        (6, {"position": None}, "cell.bad_step"),
        (6, {"target": "paint"}, "cell.unknown_routine"),
        (6, {"stabilize": 1.4}, "cell.metadata"),
        (6, {"stabilize": "1.5"}, "cell.bad_step"),
        (6, {"verify": None}, "cell.metadata"),
        (6, {"action_after": "move_safe"}, "cell.metadata"),
        (6, {"tool": "Camera"}, "cell.tool_missing"),
        (6, {"position": "Safe_Pos_1"}, "cell.unsupported"),
        (6, {"target": "tool_release", "tool": "Welder"}, "cell.wrong_stand"),
    ],
)
def test_one_wrong_field(
    star: CellScene, steps: list[dict[str, Any]], at: int, change: dict[str, Any], code: str
) -> None:
    steps[at] = {**steps[at], **change}
    verdict = verify(star, steps, HOME)
    assert code in [problem.code for problem in verdict.problems]
    assert all(problem.says.endswith(".") for problem in verdict.problems)
    assert any(problem.path.startswith(f"steps[{at}]") for problem in verdict.problems)


def test_all_problems_come_at_once_unknown_names_first(star: CellScene, steps: list[dict[str, Any]]) -> None:
    steps[1]["target"] = "Pos_3"
    steps[6]["stabilize"] = 9
    steps[11]["target"] = "paint"
    found = codes(star, steps)
    assert found[0] == "cell.unknown_routine"
    assert {"cell.not_adjacent", "cell.not_there", "cell.metadata"} <= set(found)


def test_move_safe_must_be_followed_by_its_move(star: CellScene) -> None:
    document = star.model_dump()
    document["routines"][0]["supported_at"][0]["action_after"] = "move_safe"
    scene = CellScene.model_validate(document)
    at_pos_1 = CellState(current_position="Pos_1", current_tool="Welder")
    weld = {
        "id": 1,
        "action": "routine",
        "target": "tack_weld",
        "position": "Pos_1",
        "stabilize": 1.5,
        "action_after": "move_safe",
        "verify": "weld_quality_check",
    }
    assert codes(scene, [weld], at_pos_1) == ["cell.move_safe"]
    assert codes(scene, [weld, {"id": 2, "action": "move", "target": "Safe_Pos_1"}], at_pos_1) == []
    assert codes(scene, [weld, {**weld, "id": 2}], at_pos_1) == ["cell.move_safe", "cell.move_safe"]


def test_releasing_another_tool_or_attaching_twice(star: CellScene) -> None:
    at_stand = CellState(current_position="Tool_Weld_Position", current_tool="Camera")
    base = {"id": 1, "action": "routine", "position": "Tool_Weld_Position", "tool": "Welder", "verify": "Welder"}
    release = {**base, "target": "tool_release", "stabilize": 1.0}
    attach = {**base, "target": "tool_attach", "stabilize": 1.5}
    assert codes(star, [release], at_stand) == ["cell.tool_missing"]
    assert codes(star, [attach], at_stand) == ["cell.tool_held"]


@pytest.mark.parametrize("steps", [None, 3, "steps", {}, {"steps": None}, [None], [[]], [{}], [{"action": []}]])
def test_what_is_no_step_list_gets_a_sentence(star: CellScene, steps: Any) -> None:
    verdict = verify(star, steps, HOME)
    assert verdict.problems
    assert all(problem.says.endswith(".") for problem in verdict.problems)


@pytest.mark.parametrize("step", [{"tool": []}, {"tool": {}, "id": []}, {"tool": "wait", "dependsOn": 3}])
def test_steps_of_other_tools_are_not_the_cells_to_judge(star: CellScene, step: dict[str, Any]) -> None:
    assert codes(star, [step]) == []


@pytest.fixture
def plan(star: CellScene) -> list[dict[str, Any]]:
    goals = {"steps": [{"action": "routine", "routine": "tack_weld", "position": "Pos_1"}]}
    return to_plan_steps(build(star, goals, HOME))


def test_a_plan_is_read_as_well(star: CellScene, plan: list[dict[str, Any]]) -> None:
    assert codes(star, plan) == []
    assert codes(star, {"name": "x", "steps": plan}) == []


def test_plan_steps_that_could_run_side_by_side_are_refused(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[3]["dependsOn"] = ["step_2"]
    assert codes(star, plan) == ["cell.not_chained"]
    plan[3]["dependsOn"] = []
    assert "cell.not_chained" in codes(star, plan)


def test_a_plan_runs_in_the_order_of_its_dependencies(star: CellScene, plan: list[dict[str, Any]]) -> None:
    assert codes(star, plan[::-1]) == []


def test_other_tools_between_keep_the_chain(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan.insert(3, {"id": "pause", "tool": "wait", "args": {"seconds": 1}, "dependsOn": ["step_3"]})
    plan[4]["dependsOn"] = ["pause"]
    assert codes(star, plan) == []


def test_a_skipped_step_is_not_done(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[2]["status"] = "skipped"
    assert codes(star, plan) == ["cell.tool_missing"]


def test_a_step_that_may_not_happen_cannot_be_judged(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[2]["when"] = "$step_1 == 3"
    assert "cell.bad_step" in codes(star, plan)


def test_a_plan_for_another_scene_is_refused(star: CellScene, plan: list[dict[str, Any]]) -> None:
    plan[0]["args"]["scene"] = "weld_corridor"
    assert codes(star, plan) == ["cell.other_scene"]


def test_ten_thousand_steps_are_judged(star: CellScene) -> None:
    there_and_back = [
        {"id": n, "action": "move", "target": "Safe_Pos_2" if n % 2 else "Home"} for n in range(1, 10_001)
    ]
    assert codes(star, there_and_back) == []


def test_a_step_taken_out_is_not_drowned_in_wrong_numbers(star: CellScene, steps: list[dict[str, Any]]) -> None:
    del steps[0]
    assert codes(star, steps) == ["cell.bad_id", "cell.not_adjacent"]
    (numbering, _) = verify(star, steps, HOME).problems
    assert "10 more" in numbering.says


def test_steps_without_names_get_the_builders(steps: list[dict[str, Any]]) -> None:
    nameless = [{key: value for key, value in step.items() if key != "name"} for step in steps]
    assert [atomic_step(step).wire() for step in nameless] == steps


AT_POS_1 = CellState(current_position="Pos_1", current_tool="Welder")


def welded(scene: CellScene) -> list[dict[str, Any]]:
    """Tack weld, wipe, the change to the camera with what follows at the stands, inspect, and off to safety."""
    goal = {"action": "routine", "routine": "tack_weld", "position": "Pos_1"}
    return build(scene, {"steps": [goal]}, AT_POS_1).wire()


def found_in(scene: CellScene, steps: list[dict[str, Any]]) -> list[tuple[str, str]]:
    problems = verify(scene, renumbered(steps), AT_POS_1).problems
    return [(problem.path, problem.says) for problem in problems if problem.code == "cell.action_after"]


def test_what_must_follow_may_have_its_tool_change_before_it(followed: CellScene) -> None:
    assert verify(followed, welded(followed), AT_POS_1).ok


def test_a_follower_that_is_not_there_is_told_with_both_steps(followed: CellScene) -> None:
    steps = welded(followed)
    del steps[1]
    says = (
        "Wipe at Pos_1 follows step 1 (Tack Weld at Pos_1), so it must be the next step; step 2 is Move to Safe_Pos_1."
    )
    assert found_in(followed, steps) == [("steps[0]", says)]


def test_a_follower_with_its_tool_change_may_wait_for_nothing_else(followed: CellScene) -> None:
    steps = welded(followed)
    at = next(at for at, step in enumerate(steps) if step["target"] == "inspect")
    other = {"id": 0, "action": "routine", "target": "wipe", "position": "Pos_1", "action_after": "inspect"}
    only = "Inspect at Pos_1 follows step 2 (Wipe at Pos_1), so only moves and tool changes may come before it"
    assert found_in(followed, [*steps[:at], other, *steps[at:]]) == [
        ("steps[1]", f"{only}; step {at + 1} is Wipe at Pos_1.")
    ]
    assert found_in(followed, steps[:at]) == [("steps[1]", f"{only}; the list ends before it.")]


def test_promises_nest_and_none_is_forgotten(followed: CellScene) -> None:
    """Without what follows at the stands, and without the inspection the tools were changed for."""
    steps = [step for step in welded(followed) if step["target"] not in ("dust", "focus", "inspect")]
    told = [says for _, says in found_in(followed, steps)]
    assert [says.split(" follows ")[0] for says in told] == [
        "Dust at Tool_Weld_Position",
        "Focus at Tool_Camera_Position",
        "Inspect at Pos_1",
    ]


def test_a_follower_somewhere_else_is_not_the_one(followed: CellScene) -> None:
    steps = [{**step, "position": "Pos_2"} if step["target"] == "wipe" else step for step in welded(followed)]
    assert "step 2 is Wipe at Pos_2" in found_in(followed, steps)[0][1]


def test_a_skipped_follower_is_missed(followed: CellScene) -> None:
    goal = {"action": "routine", "routine": "tack_weld", "position": "Pos_1"}
    plan = to_plan_steps(build(followed, {"steps": [goal]}, AT_POS_1))
    plan[1]["status"] = "skipped"
    (problem,) = [one for one in verify(followed, plan, AT_POS_1).problems if one.code == "cell.action_after"]
    assert problem.says.startswith("Wipe at Pos_1 follows step 'step_1' (Tack Weld at Pos_1)")
