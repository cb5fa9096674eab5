from typing import Any

import pytest

from beforehand.engine.reading import MAX_STEPS, read_plan
from beforehand.model.plan import StepStatus


def says(document: Any) -> list[str]:
    return [problem.says for problem in read_plan(document).problems]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (None, "A plan is an object with a list of steps."),
        ("text", "A plan is an object with a list of steps."),
        ({}, "A plan needs `steps`: a list with at least one step."),
        ({"steps": {}}, "A plan needs `steps`: a list with at least one step."),
        ({"steps": []}, "The plan has no steps."),
        ([], "The plan has no steps."),
        ({"steps": ["x"]}, "steps[0] is not a step: a step is an object with `id` and `tool`."),
        ({"steps": [{"id": "a"}]}, "a needs the field 'tool'."),
        ({"steps": [{"tool": "t"}]}, "steps[0] needs the field 'id'."),
        ({"steps": [{"id": "a b", "tool": "t"}]}, "a b: id may hold only letters, digits, `_` and `-`."),
        ({"steps": [{"id": "a", "tool": ""}]}, "a: tool must not be empty."),
        ({"steps": [{"id": "a" * 201, "tool": "t"}]}, f"{'a' * 100}: id should have at most 200 characters."),
        ({"steps": [{"id": "a\x00", "tool": "t"}]}, "a\x00: id may hold only letters, digits, `_` and `-`."),
        ({"steps": [{"id": "a", "tool": "t", "dependsOn": "b"}]}, "a: dependsOn must be a list."),
        (
            {"steps": [{"id": "a", "tool": "t", "args": {"x": "\ud800"}}]},
            "steps[0] holds half a character (a lone surrogate).",
        ),
        (
            {"steps": [{"id": "a", "tool": "t", "args": {"x": float("nan")}}]},
            "steps[0] holds a number that is not finite.",
        ),
        (
            {"steps": [{"id": "a", "tool": "t", "retries": -1}]},
            "a: retries must be 0 or more.",
        ),
        (
            {"name": "n" * 1001, "steps": [{"id": "a", "tool": "t"}]},
            "plan: name should have at most 1000 characters.",
        ),
    ],
)
def test_what_is_wrong_is_said(document: Any, problem: str) -> None:
    assert says(document) == [problem]


def test_everything_wrong_is_said_at_once_with_its_path() -> None:
    document = {
        "nmae": "x",
        "steps": [
            {"id": "a", "tool": "t", "dependOn": [], "retries": "many", "timeoutS": 0},
            7,
            {"id": "c", "tool": ""},
        ],
    }
    reading = read_plan(document)
    assert [problem.path for problem in reading.problems] == [
        "nmae",
        "steps[0].retries",
        "steps[0].timeoutS",
        "steps[0].dependOn",
        "steps[1]",
        "steps[2].tool",
    ]
    unknown = reading.problems[3]
    assert "dependsOn" in unknown.nearest
    assert reading.broken_ids == {"c"}
    assert [step.id for step in reading.plan.steps] == ["a"], "the rest of it is still checked"


def test_nesting_without_end_is_refused() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    assert says({"steps": [{"id": "a", "tool": "t", "args": {"x": deep}}]}) == [
        "steps[0] is nested more than 64 levels deep."
    ]
    for _ in range(100_000):
        deep = [deep]
    assert len(says({"steps": [{"id": "a", "tool": "t", "args": {"x": deep}}]})) == 1
    wide = {"steps": [{"id": "a", "tool": "t", "args": {"x": [[n] for n in range(1000)]}}]}
    assert says(wide) == []


def test_too_many_steps_are_refused_before_they_are_read() -> None:
    assert says({"steps": [None] * (MAX_STEPS + 1)}) == ["The plan has 10001 steps; 10000 is the most."]


@pytest.mark.parametrize(
    "wrap", [lambda steps: steps, lambda steps: {"steps": steps}, lambda steps: {"plan": {"steps": steps}}]
)
def test_a_plan_a_list_of_steps_and_a_wrapped_plan_are_read_in_both_spellings(wrap: Any) -> None:
    steps = [{"id": 1, "tool": "t", "depends_on": [2], "timeoutS": 3, "on_failure": "ask"}, {"id": "2", "tool": "t"}]
    reading = read_plan(wrap(steps))
    assert reading.problems == []
    first = reading.plan.steps[0]
    assert (first.id, first.depends_on, first.timeout_s, first.on_failure) == ("1", ("2",), 3, "ask")


def test_a_plan_taken_in_has_not_begun() -> None:
    result = {"ok": True, "value": 1, "duration": 1, "timestamp": "x"}
    steps = [
        {"id": "a", "tool": "t", "status": "completed", "result": result},
        {"id": "b", "tool": "t", "status": "skipped"},
    ]
    plan = read_plan(
        {"id": "mine", "version": 9, "createdAt": "then", "name": "n", "taskId": "t9", "steps": steps}
    ).plan
    assert (plan.id, plan.version, plan.name, plan.task_id) == ("", 1, "n", "t9")
    assert [step.status for step in plan.steps] == [StepStatus.PENDING, StepStatus.SKIPPED]
    assert [step.result for step in plan.steps] == [None, None]


def test_steps_are_put_in_their_order_when_all_have_one() -> None:
    steps = [{"id": "a", "tool": "t", "order": 2}, {"id": "b", "tool": "t", "order": 1}]
    assert [(step.id, step.order) for step in read_plan(steps).plan.steps] == [("b", 1), ("a", 2)]
    assert read_plan(steps).paths == ["steps[1]", "steps[0]"]
    steps[0]["order"] = 0
    assert [(step.id, step.order) for step in read_plan(steps).plan.steps] == [("a", 1), ("b", 2)]
