from typing import Any

import pytest

from beforehand.engine.condition import ConditionError, parse_condition
from beforehand.engine.references import Reference, part_of
from beforehand.ports.tool import Unknown

VALUES: dict[str, Any] = {
    "a": {"n": 3, "f": 2.5, "s": "ok", "t": True, "z": None, "l": [1, 2], "neg": -1},
    "b": "x",
    "u": Unknown("?"),
}


def look_up(reference: Reference) -> Any:
    return part_of(VALUES[reference.step], reference)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("$a.n == 3", True),
        ("$a.n == 3.0", True),
        ("$a.n != 3", False),
        ("$a.n < 4 and $a.n <= 3 and $a.n > 2 and $a.n >= 3", True),
        ("$a.neg < 0", True),
        ("$a.neg == -1", True),
        ("$a.f > 1e0", True),
        ("$a.s == 'ok'", True),
        ('$a.s == "ok"', True),
        ("$a.s == 'it\\'s'", False),
        ('"\\u0041" == "A"', True),
        ("$a.t == true", True),
        ("$a.t == True", True),
        ("$a.t == 1", False),
        ("$a.z == null", True),
        ("$a.z == none", True),
        ("$a.missing == null", True),
        ("$a.missing.deeper[3] == null", True),
        ("$a.missing > 1", False),
        ("$a.missing < 1", False),
        ("not $a.missing > 1", True),
        ("$a.s > 'oj'", True),
        ("$a.s > 1", False),
        ("$a.t > 0", False),
        ("$a.l[1] == 2", True),
        ("$a.l == $a.l", True),
        ("$a.t", True),
        ("$a.z", False),
        ("not $a.z", True),
        ("not not $a.t", True),
        ("false or true and false", False),
        ("(false or true) and true", True),
        ("true or false and false", True),
        ("not (1 == 1) or 2 == 2", True),
        ("TRUE AND NOT false", True),
        ("${b} == 'x'", True),
        ("$a.n==3and$a.f==2.5", True),
        ("$u.x == 1", True),
        ("not ($u == 1)", True),
    ],
)
def test_what_holds(text: str, holds: bool) -> None:
    assert parse_condition(text).holds(look_up) is holds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at character 1: expected a reference or a literal, found 'the end'"),
        ("$a.n = 3", "at character 6: '=' does not belong here"),
        ("$a.n == ok", "at character 9: expected a reference or a literal, found 'ok' (put text in quotes: \"…\")"),
        ("$a.n == 3 3", "at character 11: expected an operator, found '3'"),
        ("1 < 2 < 3", "at character 7: expected an operator, found '<'"),
        ("($a.n == 3", "at character 11: a closing parenthesis is missing"),
        ("$a and", "at character 7: expected a reference or a literal, found 'the end'"),
        ("'open", 'at character 1: "\'" does not belong here'),
        (
            "__import__('os')",
            "at character 1: expected a reference or a literal, found '__import__' (put text in quotes: \"…\")",
        ),
        ("${a b} == 1", "at character 1: '${a b}' is not a reference such as $step_1.part"),
        ("(" * 200 + "1" + ")" * 200, "it is nested too deeply"),
        ("not " * 200 + "1", "it is nested too deeply"),
        ("1 < " + "9" * 5000, "at character 5: a number has at most 300 digits"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, says: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse_condition(text)
    assert str(caught.value) == says


def test_its_references_are_known() -> None:
    found = parse_condition("$a.n > 1 and not ($b == ${c.d[0]})").references
    assert [str(reference) for reference in found] == ["$a.n", "$b", "$c.d[0]"]


def test_a_long_chain_of_terms_is_read() -> None:
    assert parse_condition(" and ".join(["$a.n == 3"] * 800)).holds(look_up)
