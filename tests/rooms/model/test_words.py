"""Numbers, fields and values as sentences hold them."""

import pytest

from beforehand.model.words import counted, in_words, named


def test_one_thing_is_not_several() -> None:
    assert [counted(number, "tool change") for number in (0, 1, 2)] == [
        "0 tool changes",
        "1 tool change",
        "2 tool changes",
    ]
    assert (counted(1, "entry", "entries"), counted(3, "entry", "entries")) == ("1 entry", "3 entries")


@pytest.mark.parametrize(
    ("field", "shown"),
    [("sizeBefore", "size before"), ("held_by", "held by"), ("path", "path"), ("afterSeq", "after seq")],
)
def test_a_field_is_named_in_words(field: str, shown: str) -> None:
    assert named(field) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("as it is", "as it is"),
        (None, "nothing"),
        (True, "yes"),
        ([], "nothing"),
        ({}, "nothing"),
        (1.5, "1.5"),
        ({"from": "a", "bytes": 3, "kept": False}, "from: a, bytes: 3, kept: no"),
        ([1, [2, {"a": None}]], "1, 2, a: nothing"),
        ({"a": {"b": {"c": {"d": {"e": 1}}}}}, "a: b: c: d: …"),
    ],
)
def test_a_value_is_shown_without_braces(value: object, shown: str) -> None:
    assert in_words(value) == shown
