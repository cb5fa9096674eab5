from typing import Any

import pytest

from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.ports.tool import ToolSpec

STRICT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "ratio": {"type": "number"},
        "mode": {"enum": ["a", "b"]},
        "deep": {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def complaints(args: dict[str, Any], schema: Any = STRICT, *, filled_in: bool = False) -> list[tuple[str, str]]:
    return ToolCatalog([ToolSpec("t", "", schema, "pure")]).complaints("t", args, filled_in=filled_in)


@pytest.mark.parametrize(
    "args",
    [
        {"path": "x"},
        {"path": "x", "count": 2, "ratio": 1, "mode": "a", "deep": {"n": [1]}},
        {"path": "$a", "count": "$a.n", "ratio": "${a}", "mode": "$a", "deep": {"n": ["$a"]}},
        {"path": "x", "deep": "$a"},
    ],
)
def test_what_fits_or_may_still_fit(args: dict[str, Any]) -> None:
    assert complaints(args) == []


@pytest.mark.parametrize(
    ("args", "found"),
    [
        ({}, [("args", "needs 'path'")]),
        ({"path": 5}, [("args.path", "must be string, not integer")]),
        ({"path": True}, [("args.path", "must be string, not boolean")]),
        ({"path": None}, [("args.path", "must be string, not null")]),
        ({"path": "x", "count": 0}, [("args.count", "0 is less than the minimum of 1")]),
        ({"path": "x", "mode": "c"}, [("args.mode", "must be one of a, b, not 'c'")]),
        ({"path": "x", "deep": {"n": [1, "z"]}}, [("args.deep.n[1]", "must be integer, not string")]),
        ({"path": "x", "pth": 1}, [("args", "does not take 'pth'; it takes count, deep, mode, path, ratio")]),
        (
            {"count": "$a", "pth": "$a"},
            [("args", "does not take 'pth'; it takes count, deep, mode, path, ratio"), ("args", "needs 'path'")],
        ),
    ],
)
def test_what_does_not_fit_is_said_with_its_path(args: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert complaints(args) == found


def test_filled_in_a_dollar_is_just_text() -> None:
    assert complaints({"path": "$a", "count": "$a"}, filled_in=True) == [("args.count", "must be integer, not string")]


def test_several_missing_names_are_one_complaint() -> None:
    assert complaints({}, {"type": "object", "required": ["a", "b"]}) == [("args", "needs 'a', 'b'")]


def test_rules_beyond_the_plain_ones_are_kept() -> None:
    schema = {
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert complaints({"a": "x"}, schema) == []
    assert len(complaints({"a": "x", "b": "y"}, schema)) == 1
    assert complaints({"x": 1}, {"properties": {"x": True}}) == []


@pytest.mark.parametrize(
    "schema", [{"type": 7}, {"$ref": "http://127.0.0.1:9/x.json"}, {"properties": {"path": {"pattern": "("}}}]
)
def test_a_schema_that_is_none_itself_is_left_to_the_tool(schema: Any) -> None:
    assert complaints({"path": "x"}, schema) == []


def test_long_messages_are_cut_and_few_are_given() -> None:
    ((_, says),) = complaints({"mode": "x" * 1000}, {"properties": {"mode": {"enum": ["a"]}}})
    assert len(says) <= 200
    many = {"additionalProperties": {"type": "integer"}}
    assert len(complaints({f"k{n}": "x" for n in range(100)}, many)) == 20


def test_tools_are_known_by_name() -> None:
    catalog = ToolCatalog([ToolSpec("b", "", {}, "pure"), ToolSpec("a", "", {}, "pure")])
    assert catalog.names() == ["a", "b"]
    assert [spec.name for spec in catalog.specs()] == ["a", "b"]
    assert catalog.get("zzz") is None
