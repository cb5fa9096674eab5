from typing import Any

import pytest

from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import check_document, plan_from
from beforehand.model.errors import BadInputError
from beforehand.ports.tool import ToolSpec

CATALOG = ToolCatalog(
    [
        ToolSpec(
            "read", "", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}, "pure"
        ),
        ToolSpec("free", "", {"type": "object"}, "pure"),
    ]
)


def step(id: str, tool: str = "free", **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, **more}


def problems(*steps: dict[str, Any]) -> list[tuple[str, str, str]]:
    _, found = check_document({"steps": list(steps)}, CATALOG)
    return [(problem.code, problem.path, problem.says) for problem in found]


@pytest.mark.parametrize(
    ("steps", "code", "path", "says"),
    [
        (
            [step("a", "raed")],
            "step.unknown_tool",
            "steps[0].tool",
            "a: Unknown tool 'raed'. Known tools: free, read.",
        ),
        ([step("a", "read")], "step.bad_args", "steps[0].args", "a: args needs 'path'."),
        (
            [step("a", "read", args={"path": 1})],
            "step.bad_args",
            "steps[0].args.path",
            "a: args.path must be string, not integer.",
        ),
        (
            [step("a", dependsOn=["b"])],
            "step.unknown_dependency",
            "steps[0].dependsOn",
            "a: Unknown step 'b' in dependsOn. Known steps: a.",
        ),
        (
            [step("a", args={"x": "$b.c"})],
            "step.unknown_reference",
            "steps[0].args.x",
            "a: Unknown step 'b' in $b.c. Known steps: a.",
        ),
        (
            [step("a", when="$b == 1")],
            "step.unknown_reference",
            "steps[0].when",
            "a: Unknown step 'b' in $b. Known steps: a.",
        ),
        (
            [step("a", args={"x": "$item"})],
            "step.unknown_reference",
            "steps[0].args.x",
            "a uses $item, which only a step with forEach has.",
        ),
        ([step("a"), step("a")], "step.duplicate_id", "steps", "2 steps have the id 'a'; every id is used once."),
        (
            [step("item")],
            "step.reserved_id",
            "steps",
            "'item' is kept for references ($item) and cannot be a step's id.",
        ),
        (
            [step("a", when="$a ==")],
            "step.bad_condition",
            "steps[0].when",
            "a: its `when` cannot be read, at character 6: expected a reference or a literal, found 'the end'.",
        ),
        (
            [step("a", forEach="text")],
            "step.bad_for_each",
            "steps[0].forEach",
            "a: forEach takes a reference to a list, such as $step_1.files.",
        ),
        (
            [step("a", forEach=["$item"])],
            "step.bad_for_each",
            "steps[0].forEach",
            "a: forEach itself cannot use $item or $index.",
        ),
        (
            [step("a", dependsOn=["b"]), step("b", args={"x": "$a"})],
            "plan.cycle",
            "steps",
            "These steps wait for each other in a circle: a → b → a.",
        ),
        ([step("a", args={"x": "$a"})], "plan.cycle", "steps", "These steps wait for each other in a circle: a → a."),
    ],
)
def test_each_problem_has_a_code_a_path_and_a_sentence(
    steps: list[dict[str, Any]], code: str, path: str, says: str
) -> None:
    assert problems(*steps) == [(code, path, says)]


def test_every_problem_is_reported_at_once_unknown_names_first() -> None:
    found = problems(
        step("a", "read", dependsOn=["b"], when="1 =="),
        step("b", dependsOn=["a", "gone"]),
        step("b", "nonsense", args={"x": "$nobody"}),
    )
    codes = [code for code, _, _ in found]
    assert codes[:3] == ["step.unknown_dependency", "step.unknown_tool", "step.unknown_reference"]
    assert sorted(codes[3:]) == ["plan.cycle", "step.bad_args", "step.bad_condition", "step.duplicate_id"]


def test_a_step_that_could_not_be_read_is_not_called_unknown() -> None:
    assert [code for code, _, _ in problems(step("a", dependsOn=["b"]), {"id": "b"})] == ["plan.shape"]


def test_a_literal_dollar_is_suggested_for_what_is_no_step() -> None:
    _, (problem,) = check_document([step("a", args={"x": "$HOME"})], CATALOG)
    assert problem.try_next == "Write $$HOME if a literal dollar is meant."


def test_plan_from_gives_the_plan_or_every_problem() -> None:
    assert len(plan_from([step("a"), step("b", args={"x": "$a"})], CATALOG).steps) == 2
    with pytest.raises(BadInputError) as caught:
        plan_from([step("a", "x"), step("b", "y")], CATALOG)
    assert caught.value.code == "plan.invalid"
    assert caught.value.says.startswith("The plan has 2 problems: a: Unknown tool")
    assert len(caught.value.problems) == 2
    assert caught.value.nearest == ("free", "read")


def test_ten_thousand_steps_that_all_go_wrong_are_all_told() -> None:
    steps = [step(f"step_{n}", dependsOn=[f"stepp_{n}"]) for n in range(10_000)]
    _, found = check_document(steps, CATALOG)
    assert len(found) == 10_000
    assert "step_7" in found[7].nearest
    assert found[9_000].nearest == ()


def test_a_circle_of_thousands_is_named_in_short() -> None:
    steps = [step(f"s{n}", dependsOn=[f"s{(n + 1) % 3000}"]) for n in range(3000)]
    ((code, _, says),) = problems(*steps)
    assert code == "plan.cycle"
    assert says.count("→") == 11


def test_a_reference_that_cannot_be_read_is_a_problem_of_the_plan() -> None:
    found = problems(
        {"id": "l", "tool": "read", "args": {"path": "x"}},
        {"id": "b", "tool": "read", "args": {"path": "$l[-1]"}},
    )
    assert [(code, path) for code, path, _ in found] == [("step.bad_reference", "steps[1].args")]
