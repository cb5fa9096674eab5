from typing import Any

import pytest

from beforehand.engine.template import fill_template, parameter_from_text, template_problems
from beforehand.model.errors import BadInputError
from beforehand.model.plan import ParameterSpec, Template


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
