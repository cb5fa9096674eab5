from typing import Any

import pytest

from beforehand.engine.references import (
    MissingPartError,
    Reference,
    as_text,
    broken_references,
    describe,
    fill,
    holds_reference,
    parse_reference,
    part_of,
    references_in,
    rewrite,
)
from beforehand.ports.tool import Unknown

VALUES: dict[str, Any] = {
    "step_1": {"a": {"b": [10, {"c": "deep"}]}, "n": 3, "t": True, "s": "text", "none": None, "with-dash": 1},
    "s-2": [1, 2],
    "7": "seven",
}


def look_up(reference: Reference) -> Any:
    return part_of(VALUES[reference.step], reference)


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("$step_1", Reference("step_1")),
        ("${step_1}", Reference("step_1")),
        ("$step_1.a.b[0]", Reference("step_1", ("a", "b", 0))),
        ("${step_1.a[12].b}", Reference("step_1", ("a", 12, "b"))),
        ("$s-2[1]", Reference("s-2", (1,))),
        ("$7", Reference("7")),
        ("$a.größe", Reference("a", ("größe",))),
        ("$", None),
        ("$$step_1", None),
        ("$ step", None),
        ("text $step_1", None),
        ("$a.b c", None),
        ("$a[-1]", None),
        ("$a[x]", None),
        ("$a..b", None),
        ("${a", None),
        ("$.a", None),
        ("", None),
        ("$a\n", None),
    ],
)
def test_what_is_a_reference_as_a_whole(text: str, reference: Reference | None) -> None:
    assert parse_reference(text) == reference


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("$l[-1]", ["$l[-1]"]),
        ("$l[x].a", ["$l[x].a"]),
        ("$l[0", ["$l[0"]),
        ("$l.", ["$l."]),
        ("${l", ["${l"]),
        ("say ${l and more", ["${l and more"]),
        ("say ${l[-1]}!", ["${l[-1]}"]),
        ("$l[0].a", []),
        ("${l.a} and ${l[0]}", []),
        ("$$l[-1] and $${l", []),
        ("5 $, US$, ^a$", []),
        ("`${a + b}`", []),
        ({"deep": ["$l[-1]"]}, ["$l[-1]"]),
    ],
)
def test_what_only_looks_like_a_reference_is_found(text: object, broken: list[str]) -> None:
    assert broken_references(text) == broken


@pytest.mark.parametrize(
    ("argument", "filled"),
    [
        ("$step_1.n", 3),
        ("$step_1.t", True),
        ("$step_1.none", None),
        ("$step_1.a", {"b": [10, {"c": "deep"}]}),
        ("$step_1.a.b[1].c", "deep"),
        ("${step_1.n}", 3),
        ("n is ${step_1.n}!", "n is 3!"),
        ("${step_1.n}${step_1.s}", "3text"),
        ("flag=${step_1.t} none=${step_1.none} list=${s-2}", "flag=true none=null list=[1,2]"),
        ("$$", "$"),
        ("$$step_1", "$step_1"),
        ("$${step_1.n}", "${step_1.n}"),
        ("costs $5 or $step_1", "costs $5 or $step_1"),
        ("${not a reference}", "${not a reference}"),
        ({"deep": [{"x": "$step_1.n"}, "$$"]}, {"deep": [{"x": 3}, "$"]}),
        (["$s-2", 5, None, True], [[1, 2], 5, None, True]),
        ({"$step_1": 1}, {"$step_1": 1}),
    ],
)
def test_filling_in(argument: Any, filled: Any) -> None:
    result = fill(argument, look_up)
    assert result == filled
    assert type(result) is type(filled)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("$step_1.x", "$step_1.x is not there: $step_1 has no 'x'; it has a, n, none, s, t, with-dash."),
        ("$step_1.a.x.y", "$step_1.a.x.y is not there: $step_1.a has no 'x'; it has b."),
        ("$s-2[5]", "$s-2[5] is not there: $s-2 is a list of 2."),
        ("$step_1.n.x", "$step_1.n.x is not there: $step_1.n is the number 3."),
        ("$step_1.s[0]", "$step_1.s[0] is not there: $step_1.s is text of 4 characters."),
        ("$step_1.none.x", "$step_1.none.x is not there: $step_1.none is null."),
        ("$s-2.x", "$s-2.x is not there: $s-2 is a list of 2."),
        ("$step_1[0]", "$step_1[0] is not there: $step_1 is an object with a, n, none, s, t, with-dash."),
        ("in text ${step_1.t.x}", "$step_1.t.x is not there: $step_1.t is true."),
    ],
)
def test_a_missing_part_says_what_was_there(text: str, says: str) -> None:
    with pytest.raises(MissingPartError) as caught:
        fill(text, look_up)
    assert caught.value.says == says


def test_references_are_found_however_deep_they_lie() -> None:
    value = {"a": ["$x", {"b": "${y.z} and ${x}"}], "c": "$$no $no", "d": 5, "e": ("$t",)}
    assert {str(reference) for reference in references_in(value)} == {"$x", "$y.z", "$t"}
    assert holds_reference(value)
    assert not holds_reference({"a": ["$$x", "plain", 1]})


def test_nesting_of_any_depth_is_looked_through() -> None:
    value: Any = "$x"
    for _ in range(50_000):
        value = [value]
    assert references_in(value) == [Reference("x")]


def test_rewriting_leaves_the_rest_as_written() -> None:
    put = {"a": "1"}
    assert rewrite("${a} $$ ${b.c} $a", lambda reference: put.get(reference.step)) == "1 $$ ${b.c} $a"


def test_what_a_preview_cannot_know_stays_unknown_in_every_part() -> None:
    unknown = Unknown("what it gives")
    assert part_of(unknown, Reference("a", ("b", 0))) is unknown
    assert as_text(unknown) == '"‹what it gives›"'


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (False, "false"),
        (2.5, "the number 2.5"),
        ("ab", "text of 2 characters"),
        ({}, "an object with none"),
        ([], "a list of 0"),
        (object, "a type"),
    ],
)
def test_values_are_described_in_few_words(value: Any, words: str) -> None:
    assert describe(value) == words
