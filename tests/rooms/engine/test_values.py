from datetime import UTC, datetime
from typing import Any

import pytest

from beforehand.engine.values import MAX_VALUE_BYTES, json_value, own_copy, writable
from beforehand.model.errors import Fault


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (None, None),
        (True, True),
        (10**30, 10**30),
        ("ü\x00NaN", "ü\x00NaN"),
        (0.1, 0.1),
        ((1, [2]), [1, [2]]),
        ({1: {"a": None}}, {"1": {"a": None}}),
        (["NaN", "Infinity"], ["NaN", "Infinity"]),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z"),
        (b"text", "text"),
    ],
)
def test_a_value_is_taken_as_the_json_it_comes_to(value: Any, taken: Any) -> None:
    assert json_value(value, "t") == taken


@pytest.mark.parametrize(
    "value", [float("nan"), [float("-inf")], {"a": float("nan"), "b": "NaN"}, object(), "\ud800", ["\ud800"], b"\xff"]
)
def test_what_has_no_json_is_the_tools_fault(value: Any) -> None:
    with pytest.raises(Fault, match="The tool t gave a value that is not JSON"):
        json_value(value, "t")


def test_a_value_without_end_is_the_tools_fault() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Fault):
        json_value(loop, "t")


def test_a_value_too_large_for_the_log_is_the_tools_fault() -> None:
    with pytest.raises(Fault, match="is the most a step may give"):
        json_value("x" * (MAX_VALUE_BYTES + 1), "t")


def test_a_copy_of_arguments_shares_nothing_that_can_change() -> None:
    args = {"list": [1, {"a": 2}], "text": "x"}
    copied = own_copy(args)
    assert copied == args
    copied["list"][1]["a"] = 3
    assert args["list"] == [1, {"a": 2}]
    assert own_copy({"a": 1}) == {"a": 1}


def test_a_sentence_the_log_cannot_hold_is_made_writable() -> None:
    assert writable("file \udcff.txt") == "file ?.txt"
    assert writable("größe ✓") == "größe ✓"
