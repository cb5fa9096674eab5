"""A reviewer sees the calls; prose stands beside them, and what does not fit is marked."""

from typing import Any

import pytest

from beforehand.app.evidence import call_text, review_evidence
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.plan import Plan
from beforehand.ports.tool import ToolSpec

CATALOG = ToolCatalog(
    [
        ToolSpec("read_file", "Read a file in the workspace.", {}, "pure"),
        ToolSpec("write_file", "Write a file in the workspace, whole.", {}, "idempotent", destructive="judged"),
        ToolSpec("cell.routine", "Run a routine at the position where the robot stands.", {}, "physical"),
    ]
)
WRITE = {"tool": "write_file", "args": {"path": "settings.json", "content": "{}"}}
WELD = {"tool": "cell.routine", "args": {"target": "tack_weld", "position": "Pos_1"}}


def call(description: str, **step: Any) -> dict[str, Any]:
    plan = Plan.model_validate({"steps": [{"id": "a", "order": 1, "description": description, **step}]})
    return dict(review_evidence(plan, CATALOG)["steps"][0])


@pytest.mark.parametrize(
    ("description", "step"),
    [("Read the settings", WRITE), ("Wave hello", WELD), ("Look at the file", WRITE), ("Just a pause", WELD)],
)
def test_prose_that_does_not_fit_is_marked(description: str, step: dict[str, Any]) -> None:
    shown = call(description, **step)
    assert shown["mismatch"] is True
    assert (shown["tool"], shown["args"]) == (step["tool"], step["args"])
    assert "the words do not match the call" in call_text(shown)


@pytest.mark.parametrize(
    ("description", "step"),
    [
        ("Write the new settings", WRITE),
        ("Save settings.json", WRITE),
        ("Tack Weld at Pos_1", WELD),
        ("Weld the first seam", WELD),
        ("", WELD),
        ("Read the settings", {"tool": "read_file", "args": {"path": "settings.json"}}),
    ],
)
def test_prose_that_fits_is_not(description: str, step: dict[str, Any]) -> None:
    assert "mismatch" not in call(description, **step)


def test_a_call_says_what_it_is() -> None:
    assert call_text(call("", **WRITE)) == "1. write_file(path: settings.json, content: {}) [idempotent, may destroy]"
    assert call("", **WELD)["effect"] == "physical"
