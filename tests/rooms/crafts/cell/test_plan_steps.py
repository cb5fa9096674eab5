"""A sequence as a plan's steps: one robot, one step at a time, whatever is left out."""

from beforehand.crafts.cell.core.builder import build
from beforehand.crafts.cell.core.plan_steps import in_line, to_plan_steps
from beforehand.model.cell import CellScene, CellState
from beforehand.model.plan import Step, StepStatus


def plan_steps(star: CellScene, *skipped: str) -> list[Step]:
    goals = [{"action": "routine", "routine": "tack_weld", "position": "Pos_1"}]
    made = to_plan_steps(build(star, {"steps": goals}, CellState(current_position="Home")))
    steps = [Step.model_validate({"order": at, **step}) for at, step in enumerate(made, 1)]
    return [step.model_copy(update={"status": StepStatus.SKIPPED}) if step.id in skipped else step for step in steps]


def test_nothing_changes_where_nothing_is_skipped(star: CellScene) -> None:
    steps = plan_steps(star)
    assert list(in_line(steps)) == steps


def test_what_stands_behind_a_skipped_step_waits_for_what_that_one_waited_for(star: CellScene) -> None:
    waits = {step.id: step.depends_on for step in in_line(plan_steps(star, "step_3", "step_4"))}
    assert waits["step_4"] == ("step_3", "step_2")
    assert waits["step_5"] == ("step_4", "step_3", "step_2")
    assert waits["step_6"] == ("step_5",)


def test_steps_of_other_tools_keep_what_they_say(star: CellScene) -> None:
    other = Step.model_validate({"id": "note", "order": 9, "tool": "wait", "dependsOn": ["step_3"]})
    assert in_line([*plan_steps(star, "step_3"), other])[-1] == other
