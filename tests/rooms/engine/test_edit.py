from typing import Any

import pytest

from beforehand.engine.edit import difference, edited
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import plan_from
from beforehand.model.errors import BadInputError
from beforehand.model.plan import Plan, StepStatus
from beforehand.ports.tool import ToolSpec

CATALOG = ToolCatalog([ToolSpec("t", "", {"type": "object"}, "pure"), ToolSpec("u", "", {"type": "object"}, "pure")])


def plan() -> Plan:
    steps = [
        {"id": "a", "tool": "t", "args": {"x": 1, "y": 2}, "requiresApproval": True},
        {"id": "b", "tool": "t", "dependsOn": ["a"]},
        {"id": "c", "tool": "t", "args": {"v": "$b"}},
        {"id": "d", "tool": "t"},
    ]
    return plan_from({"name": "n", "steps": steps}, CATALOG).model_copy(update={"id": "p1"})


def after(*edits: Any) -> Plan:
    return edited(plan(), list(edits), CATALOG, created_at="now")


def refusal(*edits: Any) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        after(*edits)
    return caught.value


def ids(changed: Plan) -> list[str]:
    assert [step.order for step in changed.steps] == list(range(1, len(changed.steps) + 1))
    return [step.id for step in changed.steps]


def test_an_edit_gives_the_next_version_and_leaves_the_old_one_alone() -> None:
    before = plan()
    changed = edited(
        before, [{"op": "edit", "id": "a", "set": {"description": "new", "args.x": 5}}], CATALOG, created_at="now"
    )
    assert (changed.version, changed.id, changed.name, changed.created_at) == (2, "p1", "n", "now")
    assert changed.steps[0].description == "new"
    assert changed.steps[0].args == {"x": 5, "y": 2}
    assert before == plan()


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"tool": "u"}, "tool", "u"),
        ({"args": {"z": None}}, "args", {"z": None}),
        ({"timeoutS": 5}, "timeout_s", 5),
        ({"timeout_s": 5}, "timeout_s", 5),
        ({"requiresApproval": False}, "requires_approval", False),
        ({"requires_approval": None}, "requires_approval", False),
        ({"dependsOn": ["d"]}, "depends_on", ("d",)),
        ({"onFailure": "ask"}, "on_failure", "ask"),
        ({"when": "$d == 1"}, "when", "$d == 1"),
    ],
)
def test_every_field_can_be_set_in_both_spellings(change: dict[str, Any], field: str, value: Any) -> None:
    assert getattr(after({"op": "edit", "id": "a", "set": change}).steps[0], field) == value


def test_move_skip_unskip_add_and_remove() -> None:
    assert ids(after({"op": "move", "id": "d", "before": "a"})) == ["d", "a", "b", "c"]
    assert ids(after({"op": "move", "id": "d", "after": "a"})) == ["a", "d", "b", "c"]
    skipped = after({"op": "skip", "id": "b"})
    assert skipped.steps[1].status is StepStatus.SKIPPED
    assert edited(skipped, [{"op": "unskip", "id": "b"}], CATALOG, created_at="").steps[1].status is StepStatus.PENDING
    new = {"id": "n", "tool": "t"}
    assert ids(after({"op": "add", "step": new})) == ["a", "b", "c", "d", "n"]
    assert ids(after({"op": "add", "step": new, "before": "b"})) == ["a", "n", "b", "c", "d"]
    assert ids(after({"op": "add", "step": new, "after": "b"})) == ["a", "b", "n", "c", "d"]
    assert ids(after({"op": "remove", "id": "d"})) == ["a", "b", "c"]


def test_edits_build_on_each_other() -> None:
    changed = after(
        {"op": "add", "step": {"id": "n", "tool": "t"}, "before": "a"},
        {"op": "edit", "id": "a", "set": {"dependsOn": ["n"]}},
        {"op": "edit", "id": "c", "set": {"args": {}}},
        {"op": "remove", "id": "b"},
    )
    assert ids(changed) == ["n", "a", "c", "d"]
    assert changed.version == 2


@pytest.mark.parametrize(
    ("edit", "code", "says"),
    [
        ("skip a", "edit.shape", "edits[0] is not an edit: it needs an `op`."),
        (
            {"op": "destroy", "id": "a"},
            "edit.unknown_op",
            "edits[0]: Unknown op 'destroy'. Known ops: add, edit, move, remove, skip, unskip.",
        ),
        (
            {"op": ["edit"]},
            "edit.unknown_op",
            "edits[0]: Unknown op (a list or an object). Known ops: add, edit, move, remove, skip, unskip.",
        ),
        ({"op": "skip"}, "edit.unknown_step", "edits[0]: Unknown step None. Known steps: a, b, c, d."),
        ({"op": "skip", "id": "z"}, "edit.unknown_step", "edits[0]: Unknown step 'z'. Known steps: a, b, c, d."),
        ({"op": "edit", "id": "a"}, "edit.shape", "edits[0]: an edit needs `set` with the fields to change."),
        ({"op": "edit", "id": "a", "set": {"id": "z"}}, "edit.fixed_field", "edits[0]: id cannot be set by an edit."),
        (
            {"op": "edit", "id": "a", "set": {"status": "completed", "order": 3}},
            "edit.fixed_field",
            "edits[0]: order, status cannot be set by an edit.",
        ),
        (
            {"op": "move", "id": "a", "after": "a"},
            "edit.shape",
            "edits[0]: a step is moved before or after another one, not itself.",
        ),
        ({"op": "move", "id": "a"}, "edit.shape", "edits[0]: a move needs either `before` or `after`."),
        (
            {"op": "move", "id": "a", "before": "z"},
            "edit.unknown_step",
            "edits[0]: Unknown step 'z'. Known steps: b, c, d.",
        ),
        ({"op": "add"}, "edit.shape", "edits[0]: an add needs `step`, with at least `id` and `tool`."),
        (
            {"op": "add", "step": {"id": "a", "tool": "t"}},
            "edit.shape",
            "edits[0]: the new step needs an id of its own, not 'a'.",
        ),
        (
            {"op": "add", "step": {"tool": "t"}},
            "edit.shape",
            "edits[0]: the new step needs an id of its own, not None.",
        ),
    ],
)
def test_an_edit_that_makes_no_sense_is_told(edit: Any, code: str, says: str) -> None:
    refused = refusal(edit)
    assert refused.code == "edit.invalid"
    assert [(problem.code, problem.says) for problem in refused.problems] == [(code, says)]


@pytest.mark.parametrize("edits", [[], None, "x", {"op": "skip"}, [{"op": "skip", "id": "a"}] * 10_001])
def test_what_is_no_list_of_edits_is_refused(edits: Any) -> None:
    with pytest.raises(BadInputError):
        edited(plan(), edits, CATALOG, created_at="")


def test_all_or_nothing_and_every_problem_at_once() -> None:
    refused = refusal({"op": "skip", "id": "z"}, {"op": "edit", "id": "a", "set": {"description": "x"}}, {"op": "oops"})
    assert [problem.path for problem in refused.problems] == ["edits[0]", "edits[2]"]
    assert refused.says.startswith("Nothing was changed:")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ({"op": "remove", "id": "a"}, "b depends on a, which would be removed."),
        ({"op": "remove", "id": "b"}, "c depends on b, which would be removed."),
        ({"op": "move", "id": "b", "before": "a"}, "b cannot come before a, which it depends on."),
        ({"op": "move", "id": "a", "after": "d"}, "b cannot come before a, which it depends on."),
        ({"op": "move", "id": "c", "before": "a"}, "c cannot come before b, which it depends on."),
    ],
)
def test_a_broken_dependency_is_named(edit: Any, says: str) -> None:
    refused = refusal(edit)
    assert [(problem.code, problem.says) for problem in refused.problems] == [("edit.breaks_dependency", says)]


def test_a_change_that_makes_the_plan_invalid_is_refused_with_all_problems() -> None:
    refused = refusal({"op": "edit", "id": "a", "set": {"dependsOn": ["c"], "tool": "x", "nonsense": 1}})
    assert sorted(problem.code for problem in refused.problems) == [
        "plan.cycle",
        "plan.unknown_key",
        "step.unknown_tool",
    ]


def test_numbers_as_keys_and_ids_make_no_traceback() -> None:
    assert refusal({"op": "edit", "id": "a", "set": {5: 1}}).problems
    assert refusal({"op": "edit", "id": 5, "set": {"tool": "t"}}).problems


def test_the_difference_between_versions_names_what_changed() -> None:
    changed = after(
        {"op": "edit", "id": "a", "set": {"args.x": 5}},
        {"op": "add", "step": {"id": "n", "tool": "t"}},
        {"op": "move", "id": "d", "before": "a"},
        {"op": "edit", "id": "c", "set": {"args": {}}},
        {"op": "remove", "id": "b"},
    )
    found = {(change["change"], change["id"]): change for change in difference(plan(), changed)}
    assert set(found) == {
        ("removed", "b"),
        ("changed", "a"),
        ("changed", "c"),
        ("added", "n"),
        ("moved", "d"),
        ("moved", "a"),
        ("moved", "c"),
    }
    assert found["changed", "a"]["fields"] == {"args": {"from": {"x": 1, "y": 2}, "to": {"x": 5, "y": 2}}}
    assert found["moved", "d"] == {"change": "moved", "id": "d", "from": 4, "to": 1}
    assert difference(plan(), plan()) == []


def test_thousands_of_edits_of_a_plan_of_thousands() -> None:
    large = plan_from([{"id": f"s{n}", "tool": "t"} for n in range(5000)], CATALOG)
    changed = edited(large, [{"op": "skip", "id": f"s{n}"} for n in range(5000)], CATALOG, created_at="")
    assert {step.status for step in changed.steps} == {StepStatus.SKIPPED}


def test_thousands_of_edits_of_steps_that_are_not_there_are_all_told() -> None:
    large = plan_from([{"id": f"step_{n}", "tool": "t"} for n in range(3000)], CATALOG)
    with pytest.raises(BadInputError) as caught:
        edited(large, [{"op": "skip", "id": f"stepp_{n}"} for n in range(3000)], CATALOG, created_at="")
    assert len(caught.value.problems) == 3000
    assert "step_7" in caught.value.problems[7].nearest
