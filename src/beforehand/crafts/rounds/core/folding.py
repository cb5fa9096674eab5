"""A question from the log again: each event says the thing after the change, so the state is a fold over them."""

from collections.abc import Iterable, Mapping
from typing import Any

from beforehand.crafts.rounds.core.event_kinds import ASKED, FINISHED, PLANNER_CALLED, PLANNER_DECIDED, SUB_GOAL_UPDATED
from beforehand.crafts.rounds.core.state import QuestionState, changed, sub_goal_from, with_sub_goal
from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannerDecision, Worker
from beforehand.model.decision import Decision
from beforehand.model.event import Event


def from_events(events: Iterable[Event]) -> QuestionState | None:
    """The question that some events tell of, in the order of the log; None where none begins."""
    state: QuestionState | None = None
    for event in events:
        if event.kind == ASKED:
            state = begun(event)
        elif state is not None:
            state = folded(state, event)
    return state


def begun(event: Event) -> QuestionState:
    data = event.data
    workers = [Worker.model_validate(worker) for worker in data["workers"]]
    return QuestionState(
        data["questionId"],
        data["question"],
        {worker.name: worker for worker in workers},
        data["context"],
        data["max_rounds"],
        data["text"],
        tuple(data["wanted"]),
        data.get("follows"),
        data.get("by", ""),
        event.ts,
        tuple(data["prior_artifacts"]),
        data["options"],
        status="executing",
    )


def folded(state: QuestionState, event: Event) -> QuestionState:
    """The state after an event of the log."""
    data = event.data
    if event.kind == SUB_GOAL_UPDATED:
        return with_sub_goal(state, sub_goal_from(data))
    if event.kind == PLANNER_CALLED:
        return changed(state, round=data["round"], planning=True)
    if event.kind == PLANNER_DECIDED:
        return _decided(state, data)
    if event.kind == FINISHED:
        return changed(
            state,
            status=data["status"],
            planning=False,
            answer=data.get("answer"),
            partial_response=data.get("partial_response"),
            reason=data.get("reason", ""),
            warnings=tuple(data["warnings"]),
        )
    if event.kind == "decisionOpened":
        opened = Decision.model_validate(data)
        return changed(state, decisions={**state.decisions, opened.id: opened}, asked=state.asked + 1)
    if event.kind in ("decisionAnswered", "decisionWithdrawn"):
        return changed(state, decisions={id: each for id, each in state.decisions.items() if id != data["id"]})
    return state


def _decided(state: QuestionState, data: Mapping[str, Any]) -> QuestionState:
    decision = PlannerDecision.model_validate(data["decision"])
    refs = {name: PlannedInputRef.model_validate(ref) for name, ref in data.get("synthesis_inputs", {}).items()}
    return changed(
        state,
        planning=False,
        status="synthesising" if refs else state.status,
        decided=(*state.decided, decision),
        planner_reasoning=decision.reasoning,
        next_id=data["next_id"],
        aliases={int(id): meant for id, meant in data["aliases"].items()},
        stand_ins={int(id): meant for id, meant in data["stand_ins"].items()},
        warnings=tuple(data["warnings"]),
        synthesis_inputs=refs,
    )
