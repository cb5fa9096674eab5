"""A decision as a model writes it: lists instead of mappings, because strict schemas leave mappings empty.

`schema()` is what the model is held to; `decision_from` reads its answer; `check_of` says what is wrong with it in this
state, so that the model is told in the same call. A static parameter comes as JSON text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from beforehand.crafts.rounds.core.gate import admit, completed
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.synthesis import reference_problem
from beforehand.crafts.rounds.core.words import (
    Action,
    GoalType,
    PlannedInputRef,
    PlannedSubGoal,
    PlannerDecision,
)


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WireInput(_Wire):
    name: str
    from_sub_goal: int
    slot: str


class WireParam(_Wire):
    name: str
    json_value: str


class WireSubGoal(_Wire):
    worker: str
    description: str
    inputs: tuple[WireInput, ...]
    params: tuple[WireParam, ...]
    goal_type: GoalType


class WireDecision(_Wire):
    action: Action
    reasoning: str
    sub_goals: tuple[WireSubGoal, ...]
    synthesis_inputs: tuple[WireInput, ...]


def schema() -> dict[str, Any]:
    """The JSON schema of a decision on the wire: no mappings, every field required."""
    return WireDecision.model_json_schema()


def tidied(data: Any) -> Any:
    """A decision with mappings, as the spec writes it, in the schema's form; whatever else it is stays, and is told."""
    try:
        return to_wire(PlannerDecision.model_validate(data))
    except ValidationError:
        return data


def decision_from(data: Any) -> tuple[PlannerDecision | None, list[str]]:
    """The decision in a model's answer, or everything that keeps it from being one, a sentence each."""
    try:
        wire = WireDecision.model_validate(data)
    except ValidationError as error:
        return None, [f"{'.'.join(map(str, item['loc']))}: {item['msg']}." for item in error.errors()]
    problems: list[str] = []
    planned = tuple(_planned(f"sub_goals[{at}]", each, problems) for at, each in enumerate(wire.sub_goals))
    synthesis = _refs("synthesis_inputs", wire.synthesis_inputs, problems)
    decision = PlannerDecision(
        action=wire.action, reasoning=wire.reasoning, sub_goals=planned, synthesis_inputs=synthesis
    )
    return (None if problems else decision), problems


def _planned(where: str, wire: WireSubGoal, problems: list[str]) -> PlannedSubGoal:
    params: dict[str, Any] = {}
    for param in wire.params:
        if param.name in params:
            problems.append(f"{where}: the parameter {param.name} is given twice.")
        try:
            params[param.name] = json.loads(param.json_value)
        except (ValueError, RecursionError):
            problems.append(f"{where}: json_value of {param.name} is not JSON; text needs quotes.")
    return PlannedSubGoal(
        worker=wire.worker,
        description=wire.description,
        inputs=_refs(where, wire.inputs, problems),
        params=params,
        goal_type=wire.goal_type,
    )


def _refs(where: str, inputs: Sequence[WireInput], problems: list[str]) -> dict[str, PlannedInputRef]:
    refs: dict[str, PlannedInputRef] = {}
    for given in inputs:
        if given.name in refs:
            problems.append(f"{where}: the input {given.name} is given twice.")
        refs[given.name] = PlannedInputRef(from_sub_goal=given.from_sub_goal, slot=given.slot)
    return refs


def to_wire(decision: PlannerDecision) -> dict[str, Any]:
    """A decision as a model would write it, for examples and scripted models."""
    return {
        "action": decision.action,
        "reasoning": decision.reasoning,
        "sub_goals": [
            {
                "worker": each.worker,
                "description": each.description,
                "inputs": _listed(each.inputs),
                "params": [{"name": name, "json_value": json.dumps(value)} for name, value in each.params.items()],
                "goal_type": each.goal_type,
            }
            for each in decision.sub_goals
        ],
        "synthesis_inputs": _listed(decision.synthesis_inputs),
    }


def _listed(refs: Mapping[str, PlannedInputRef]) -> list[dict[str, Any]]:
    return [{"name": name, **ref.wire()} for name, ref in refs.items()]


def check_of(state: QuestionState) -> Callable[[Any], list[str]]:
    """What is wrong with a model's answer in this state: everything that would fail at once."""

    def check(data: Any) -> list[str]:
        decision, problems = decision_from(data)
        return problems if decision is None else problems_of(state, decision)

    return check


def problems_of(state: QuestionState, decision: PlannerDecision) -> list[str]:
    """Why a decision would not work out, as far as can be told before anything runs."""
    if decision.action == "continue":
        held = any(each.status == "pending" for each in state.sub_goals.values())
        if not decision.sub_goals and not held:
            return ["`continue` needs at least one sub-goal."]
        failed = admit(state, completed(state, decision).sub_goals).problems
        return [f"sub-goal {id}: {says}" for id, says in failed.items()]
    if decision.action == "done":
        wrong = {name: reference_problem(state, ref) for name, ref in decision.synthesis_inputs.items()}
        found = [f"synthesis input {name}: {says}" for name, says in wrong.items() if says]
        nothing = not decision.synthesis_inputs and not any(state.deliverables())
        return found or (["`done` needs synthesis inputs: no deliverable has succeeded."] if nothing else [])
    return []
