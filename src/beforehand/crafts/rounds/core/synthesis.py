"""The end of a question: which outputs the answer is made of, and the answer in plain words.

The synthesiser is given the named inputs and nothing else. Without a model it writes them down as they are.
"""

import json
from collections.abc import Mapping
from typing import Any

from beforehand.crafts.rounds.core.state import QuestionState, SubGoal
from beforehand.crafts.rounds.core.words import CONTEXT, PlannedInputRef
from beforehand.model.reason import unknown

NOT_IN_WORDS = "The answer could not be put into words: "

Refs = dict[str, PlannedInputRef]


def synthesis_of(state: QuestionState, named: Mapping[str, PlannedInputRef]) -> tuple[Refs, list[str]]:
    """The inputs of the answer: those named that are there, else all deliverables; and what was wrong."""
    valid: Refs = {}
    warnings = []
    for name, ref in named.items():
        if problem := reference_problem(state, ref):
            warnings.append(f"The synthesis input {name} was left out: {problem}")
        else:
            valid[name] = PlannedInputRef(from_sub_goal=state.resolved(ref.from_sub_goal), slot=ref.slot)
    return valid or outputs_by_name(state, list(state.deliverables())), warnings


def reference_problem(state: QuestionState, ref: PlannedInputRef) -> str:
    """Why a reference leads to no value; empty where it does."""
    outputs = state.outputs_of(ref.from_sub_goal)
    if outputs is not None:
        inside = "the context" if ref.from_sub_goal == CONTEXT else f"sub-goal {ref.from_sub_goal}"
        return "" if ref.slot in outputs else unknown("slot", ref.slot, outputs, inside=inside).says
    found = state.sub_goals.get(state.resolved(ref.from_sub_goal))
    if found is None:
        return unknown("sub-goal", ref.from_sub_goal, [str(id) for id in (CONTEXT, *state.sub_goals)]).says
    return f"sub-goal {found.id} has {'failed' if found.status == 'failed' else 'not ended'}."


def outputs_by_name(state: QuestionState, sub_goals: list[SubGoal]) -> Refs:
    """Every slot of some sub-goals, named after itself, or with its sub-goal where two have the same."""
    refs: Refs = {}
    for each in sub_goals:
        for slot in _slots(state, each):
            name = slot if slot not in refs else f"{slot}_{each.id}"
            refs[name] = PlannedInputRef(from_sub_goal=each.id, slot=slot)
    return refs


def _slots(state: QuestionState, sub_goal: SubGoal) -> list[str]:
    declared = state.workers[sub_goal.worker].outputs
    return [*declared, *sorted(sub_goal.outputs.keys() - {*declared})]


def kept_in_words(state: QuestionState) -> str | None:
    """What a question that fails has to show for itself; None where nothing was finished."""
    refs = outputs_by_name(state, state.kept())
    return in_plain_words({name: state.value_of(ref) for name, ref in refs.items()}) if refs else None


def in_plain_words(values: Mapping[str, Any]) -> str:
    """Values as an answer: a single one by itself, several with their names, a line each."""
    if len(values) == 1:
        return _shown(next(iter(values.values())))
    return "\n".join(f"{name}: {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
