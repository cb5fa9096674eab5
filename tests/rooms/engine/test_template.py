from typing import Any

import pytest

from beforehand.engine.condition import parse_condition
from beforehand.engine.references import Reference
from beforehand.engine.template import fill_template, parameter_from_text, plan_problems, template_problems
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.errors import BadInputError
from beforehand.model.plan import ParameterSpec, Template
from beforehand.ports.tool import ToolSpec


def template(steps: Any = None, **parameters: Any) -> Template:
    return Template(name="copy", parameters=parameters, plan={"name": "Copy ${params.what}", "steps": steps or []})


FULL = {
    "what": {"type": "string"},
    "n": {"type": "integer", "default": 2},
    "files": {"type": "array", "default": ["a"]},
}


def test_parameters_keep_their_type_as_a_whole_and_are_text_inside() -> None:
    step = {
        "id": "a",
        "tool": "t",
        "args": {"n": "$params.n", "s": "n=${params.n} of ${params.what}", "keep": "${a.x} $b"},
    }
    filled = fill_template(template([step], **FULL), {"what": "it"})
    assert filled["name"] == "Copy it"
    assert filled["steps"][0]["args"] == {"n": 2, "s": "n=2 of it", "keep": "${a.x} $b"}


def test_parts_of_parameters_can_be_used_and_lists_repeated_over() -> None:
    step = {"id": "a", "tool": "t", "forEach": "$params.files", "args": {"first": "$params.files[0]"}}
    filled = fill_template(template([step], **FULL), {"what": "x", "files": ["p", "q"]})
    assert filled["steps"][0] == {"id": "a", "tool": "t", "forEach": ["p", "q"], "args": {"first": "p"}}


def test_a_parameters_dollars_stay_dollars() -> None:
    step = {"id": "a", "tool": "t", "args": {"x": "$params.what", "y": "so ${params.what}", "z": "$params.files"}}
    filled = fill_template(template([step], **FULL), {"what": "$secret", "files": ["${b}"]})
    assert filled["steps"][0]["args"] == {"x": "$$secret", "y": "so $$secret", "z": ["$${b}"]}
    assert filled["name"] == "Copy $secret"


def test_in_a_condition_a_parameter_is_a_literal() -> None:
    steps = [{"id": "a", "tool": "t", "when": "$x.n > $params.n and $x.s == $params.what and $x.t == '${params.what}'"}]
    filled = fill_template(template(steps, **FULL), {"what": 'a "b"'})
    assert filled["steps"][0]["when"] == '$x.n > 2 and $x.s == "a \\"b\\"" and $x.t == \'a "b"\''
    undeclared = template([{"id": "a", "tool": "t", "when": "$x > $params.limit"}], **FULL)
    assert [problem.about for problem in template_problems(undeclared)] == ["$params.limit"]


@pytest.mark.parametrize("what", ["fast", "a' or 'b' == 'b", 'a" or "b" == "b', "$x", "\\", "true", "${x.y} or true"])
@pytest.mark.parametrize("form", ["$params.what", "${params.what}", "'${params.what}'", '"${params.what}"'])
def test_whatever_a_parameter_holds_it_stays_one_literal_of_a_condition(what: str, form: str) -> None:
    steps = [{"id": "a", "tool": "t", "when": f"{form} == $x or '$params.n ${{x}}' == 1"}]
    filled = fill_template(template(steps, **FULL), {"what": what})
    condition = parse_condition(filled["steps"][0]["when"])
    assert condition.references == (Reference("x"),)
    assert condition.holds(lambda reference: what)
    assert not condition.holds(lambda reference: "else")


def test_everything_wrong_with_the_parameters_is_told() -> None:
    with pytest.raises(BadInputError) as caught:
        fill_template(template(**FULL), {"n": "three", "files": {}, "nope": 1})
    assert [problem.says for problem in caught.value.problems] == [
        "Unknown parameter 'nope' in copy. Known parameters: files, n, what.",
        "copy needs the parameter what (string).",
        "n must be of type integer.",
        "files must be of type array.",
    ]


def test_a_part_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInputError, match=r"\$params.files\[9\] is not there"):
        fill_template(template([{"args": {"x": "$params.files[9]"}}], **FULL), {"what": "x"})


def test_a_template_is_checked_before_it_is_used() -> None:
    bad = template(
        [{"id": "a", "tool": "t", "args": {"x": "$params.gone", "y": "${params}"}}],
        n={"type": "integer", "default": "x"},
        what={},
    )
    assert sorted(problem.code for problem in template_problems(bad)) == [
        "template.bad_default",
        "template.unknown_parameter",
        "template.unknown_parameter",
    ]
    assert template_problems(template(**FULL)) == []


_SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = ToolCatalog([ToolSpec("t", "", _SCHEMA, "idempotent", writes=("path",))])


def step(id: str, tool: str = "t", path: str = "$params.what", **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": tool, "args": {"path": path}, **more}


def test_what_no_parameter_can_mend_is_told_when_it_is_kept() -> None:
    bad = template(
        [
            step("a", "tt", timeoutS="$params.n"),
            step("b", dependsOn=["c"], colour="$params.what"),
            step("c", dependsOn=["b", "gone", "$params.what"], when="$params.n >"),
            {"id": "d", "tool": "t", "args": {"pth": "$params.what", "n": "many"}},
            step("e", path="x"),
            step("f", path="${nowhere} ${params.what}"),
        ],
        **FULL,
    )
    assert [(problem.code, problem.path) for problem in plan_problems(bad, TOOLS)] == [
        ("plan.unknown_key", "steps[1].colour"),
        ("step.unknown_tool", "steps[0].tool"),
        ("step.unknown_dependency", "steps[2].dependsOn"),
        ("step.unknown_reference", "steps[5].args.path"),
        ("step.bad_condition", "steps[2].when"),
        ("step.bad_args", "steps[3].args"),
        ("step.bad_args", "steps[3].args"),
        ("step.bad_args", "steps[3].args.n"),
        ("plan.cycle", "steps"),
    ]


@pytest.mark.parametrize(
    "steps",
    [
        [step("a", "$params.what", timeout_s="$params.n", retries="${params.n}", onFailure="$params.what")],
        [step("a"), step("b", depends_on=["a", "$params.what"]), step("c", dependsOn="$params.files")],
        [{"id": "a", "tool": "t", "args": "$params.what"}, "$params.what", step("b", dependsOn=["c"], path="$d")],
        [step("a-${params.n}"), step("b", dependsOn=["a-2"])],
        [step("a", forEach="$params.files", when="${params.n} > 2 and '${params.what}' == $params.what")],
        [step("a", path="x"), step("b", path="x", dependsOn=["$params.what"])],
        [step("a", path="x"), step("b", path="x", status="$params.what")],
    ],
)
def test_what_a_parameter_decides_is_left_for_its_use(steps: list[Any]) -> None:
    assert plan_problems(template(steps, **FULL), TOOLS) == []


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("5", "integer", 5),
        ("2.5", "number", 2.5),
        ("True", "boolean", True),
        ("[1, 2]", "array", [1, 2]),
        ('{"a": 1}', "object", {"a": 1}),
        ("5", "string", "5"),
        ("five", "integer", "five"),
    ],
)
def test_text_of_the_command_line_becomes_the_parameters_type(text: str, kind: Any, value: Any) -> None:
    assert parameter_from_text(text, ParameterSpec(type=kind)) == value


@pytest.mark.parametrize(
    ("kind", "value"), [("boolean", 1), ("integer", True), ("integer", 1.5), ("number", "1"), ("string", 1)]
)
def test_types_are_kept_apart(kind: Any, value: Any) -> None:
    with pytest.raises(BadInputError):
        fill_template(Template(name="x", parameters={"p": ParameterSpec(type=kind)}, plan={}), {"p": value})
