"""A model's decision: lists on the wire, and every problem told before it counts."""

import json
from typing import Any

import pytest
from tests.rooms.crafts.rounds.sessions import Live, done, go, goal, worker

from beforehand.crafts.rounds.core.wire import check_of, decision_from, schema, tidied, to_wire
from beforehand.crafts.rounds.core.words import PlannerDecision
from beforehand.ports.model import Ask, Message
from beforehand.testing import ScriptedModel

MILL, BAKE = worker("mill", {"flour": 1}), worker("bake", {"bread": 1})


def wire(document: dict[str, Any]) -> dict[str, Any]:
    return to_wire(PlannerDecision.model_validate(document))


def objects_in(found: Any) -> list[dict[str, Any]]:
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else []
    below = [each for item in inside for each in objects_in(item)]
    return [found, *below] if isinstance(found, dict) and found.get("type") == "object" else below


def test_the_schema_has_no_mappings_and_requires_every_field() -> None:
    found = objects_in(schema())
    assert len(found) == 4
    for each in found:
        assert each["additionalProperties"] is False
        assert sorted(each["required"]) == sorted(each["properties"])


def test_a_decision_survives_the_wire() -> None:
    document = go(goal("mill", "deliverable", {"n": [1, {"a": None}], "text": "x"}, flour="0.flour"))
    decision = PlannerDecision.model_validate(document)
    assert decision_from(to_wire(decision)) == (decision, [])


async def test_a_decision_as_the_spec_writes_it_is_read_too() -> None:
    """With mappings, and without the fields that its action does not have."""
    document = go(goal("mill", "deliverable", {"n": [1]}), goal("bake", a="1.flour"))
    del document["reasoning"]
    state = Live([MILL, BAKE]).state
    ask = Ask((Message("user", "?"),), schema=schema(), check=check_of(state), tidy=tidied)
    for said in (document, json.dumps(document), wire(document)):
        answer = await ScriptedModel(said).answer(ask)
        assert decision_from(answer.data) == (PlannerDecision.model_validate(document), [])
    assert tidied({"action": "fly"}) == {"action": "fly"}


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (go(), "needs at least one sub-goal"),
        (go(goal("mil")), "sub-goal 1: Unknown worker 'mil'"),
        (go(goal("mill"), goal("bake", a="1.bran")), "sub-goal 2: The input a: Unknown slot 'bran'"),
        (go(goal("mill", a="2.bread"), goal("bake", b="1.flour")), "wait for each other"),
        (done(), "no deliverable has succeeded"),
        (done(x="4.y"), "synthesis input x: Unknown sub-goal 4."),
    ],
)
def test_what_would_fail_at_once_is_told(document: dict[str, Any], says: str) -> None:
    problems = check_of(Live([MILL, BAKE]).state)(wire(document))
    assert any(says in problem for problem in problems)


def test_what_is_good_is_not_complained_about() -> None:
    check = check_of(Live([MILL, BAKE]).state)
    assert check(wire(go(goal("mill"), goal("bake", a="1.flour")))) == []
    assert check(wire({"action": "failed", "reasoning": "no"})) == []


def test_names_given_twice_bad_json_and_wrong_shapes() -> None:
    twice = {"name": "n", "json_value": "1"}
    sub_goal = {"worker": "mill", "description": "", "inputs": [], "params": [twice, twice], "goal_type": "support"}
    made = {"action": "continue", "reasoning": "", "sub_goals": [sub_goal], "synthesis_inputs": []}
    assert decision_from(made)[1] == ["sub_goals[0]: the parameter n is given twice."]
    sub_goal["params"] = [{"name": "n", "json_value": "{oops"}]
    assert "is not JSON" in decision_from(made)[1][0]
    assert decision_from({**made, "action": "maybe"})[0] is None
    assert decision_from("prose")[0] is None


async def test_a_model_is_told_in_the_same_call() -> None:
    live = Live([MILL])
    good = wire(go(goal("mill")))
    model = ScriptedModel(wire(go(goal("mil"))), good)
    answer = await model.answer(Ask((Message("user", "?"),), schema=schema(), check=check_of(live.state)))
    assert decision_from(answer.data)[0] == PlannerDecision.model_validate(go(goal("mill")))
    assert model.problems[1] == ("sub-goal 1: Unknown worker 'mil'. Known workers: mill.",)
