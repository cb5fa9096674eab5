"""Documents read by hand: names that may be left out, and both spellings of a document's keys."""

from beforehand.model.base import SnakeWireModel, WireModel
from beforehand.model.paper import Paper


def test_a_name_that_may_be_left_out_is_still_held_to_what_a_name_is() -> None:
    paper = Paper()
    assert paper.optional_name(None, "tool", "A routine") is None
    assert paper.optional_name("", "tool", "A routine") is None
    assert paper.optional_name("Welder", "tool", "A routine") == "Welder"
    assert paper.problems == []
    assert paper.optional_name(3, "tool", "A routine") is None
    assert [problem.path for problem in paper.problems] == ["tool"]


class Snake(SnakeWireModel):
    required_tool: str
    action_after: str | None = None


class Camel(WireModel):
    required_tool: str
    action_after: str | None = None


def test_each_spec_keeps_its_spelling_on_the_wire_and_both_are_read() -> None:
    for given in ({"required_tool": "Welder"}, {"requiredTool": "Welder"}):
        assert Snake.model_validate(given).wire() == {"required_tool": "Welder"}
        assert Camel.model_validate(given).wire() == {"requiredTool": "Welder"}
