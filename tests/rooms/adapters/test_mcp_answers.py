"""Answers to MCP clients: words and data say the same, and what is too long says what is missing."""

import json

from beforehand.adapters.mcp.answers import MOST_CHARACTERS, answered, fitting, refused
from beforehand.model.errors import BadInputError, NotFoundError
from beforehand.model.reason import Problem
from beforehand.ports.mcp import McpAnswer


def test_what_fits_is_left_alone() -> None:
    data = {"runs": [{"runId": "r1"}], "seq": 3, "none": None, "text": "x" * 1_000}
    assert fitting(data) == data


def test_long_lists_and_texts_lose_their_ends() -> None:
    shown = fitting({"steps": [{"says": "y" * 300} for _ in range(3_000)], "diff": "z" * 90_000, "name": "kept"})
    assert len(json.dumps(shown)) <= MOST_CHARACTERS + 1_000
    assert shown["name"] == "kept"
    assert shown["leftOff"]["steps"] == 3_000 - len(shown["steps"])
    assert shown["leftOff"]["diff"] >= 70_000


def test_nested_floods_are_cut_too() -> None:
    shown = fitting({"a": {f"k{at}": {"b": ["w" * 100] * 500} for at in range(500)}})
    assert len(json.dumps(shown)) < 3 * MOST_CHARACTERS
    assert "a" in shown["leftOff"]


def test_an_answer_is_told_in_words_and_as_data() -> None:
    told = answered(McpAnswer("One run.", {"runs": ["r1"]}))
    assert [part.text for part in told.content] == ["One run.", '{"runs": ["r1"]}']  # type: ignore[union-attr]
    assert told.structured_content == {"runs": ["r1"]}
    assert told.is_error is False


def test_a_refusal_carries_every_problem_and_the_nearest_names() -> None:
    problems = [Problem(code="a", about="s1", says="It is wrong.", path="steps[0]", try_next="Mend it.")]
    told = refused(BadInputError("The plan has a problem.", problems=problems, hint="Look again."))
    assert told.is_error is True
    assert told.content[0].text == "The plan has a problem.\n- steps[0]: It is wrong. Mend it.\nLook again."  # type: ignore[union-attr]
    assert told.structured_content["problems"][0]["path"] == "steps[0]"
    told = refused(NotFoundError.unknown("run", "r9", ["r1", "r2"]))
    assert told.structured_content["nearest"] == ["r1", "r2"]
