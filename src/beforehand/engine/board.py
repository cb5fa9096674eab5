"""The board one decision is worked out on: the run's state, the tools, and what has been emitted so far.

Every event is applied to the state the moment it is emitted, so that the next question is asked of the state as it
then is, and the live state is by construction the one a replay gives.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from beforehand.engine.inputs import Advised, Answered, RunCommand
from beforehand.engine.state import RunState, StepState
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.base import WireModel
from beforehand.model.decision import Answer, Decision, DecisionKind
from beforehand.model.event import Event, iso
from beforehand.model.plan import RunStatus, StepStatus
from beforehand.model.reason import Reason

_WHILE_LIVE = ("paused", "cancelling", "machines")
"""What a run's head says only until the run has ended."""


class Board:
    def __init__(self, run: RunState, catalog: ToolCatalog, ts: int) -> None:
        self.run = run
        self.catalog = catalog
        self.ts = ts
        self.events: list[Event] = []
        self.commands: list[RunCommand] = []
        self.reasons: list[Reason] = []

    def emit(self, kind: str, data: Mapping[str, Any], **about: Any) -> None:
        run = self.run
        ids = {"planId": run.plan.id, "taskId": run.plan.task_id, "runId": run.run_id, **about}
        event = Event(
            kind,
            ids,
            data,
            self.ts,
            scene=run.plan.scene,
            correlation_id=run.correlation_id,
            owner=f"run:{run.run_id}",
        )
        run.apply(event)
        self.events.append(event)

    def refuse(self, code: str, about: str, says: str, try_next: str = "") -> None:
        self.reasons.append(Reason(code=code, about=about, says=says, try_next=try_next))

    # -- steps ---------------------------------------------------------------------------------------------------

    def update_step(self, state: StepState, status: StepStatus, **more: Any) -> None:
        """Say where a step stands now; absent extras fall away, so every event is the whole thing after the change."""
        data: dict[str, Any] = {
            "taskId": self.run.plan.task_id,
            "stepId": state.step.id,
            "status": str(status),
            "attempt": state.attempt,
        }
        if state.args is not None:
            data["args"] = state.args
        data.update({name: value for name, value in more.items() if value is not None})
        self.emit("stepUpdated", data, stepId=state.step.id)

    def end_step(
        self, state: StepState, status: StepStatus, *, value: Any = None, error: str | None = None, **more: Any
    ) -> None:
        """Close a step with its result."""
        result: dict[str, Any] = {"ok": error is None}
        if error is None:
            result["value"] = value
        else:
            result["error"] = error
        result["duration"] = max(0, self.ts - state.started_at) if state.started_at else 0
        result["timestamp"] = iso(self.ts)
        self.update_step(state, status, result=result, **more)

    # -- decisions -----------------------------------------------------------------------------------------------

    def open_decision(
        self,
        kind: DecisionKind,
        state: StepState,
        *,
        title: str,
        effects: Mapping[str, str],
        evidence: Mapping[str, Any],
        covers: str,
        values: Mapping[str, dict[str, Any]] = MappingProxyType({}),
        if_unanswered: str = "The run waits; other steps go on.",
    ) -> None:
        run = self.run
        decision = Decision(
            id=f"{run.run_id}-d{run.decision_count + 1}",
            kind=kind,
            owner=f"run:{run.run_id}",
            title=title,
            about={"planId": run.plan.id, "runId": run.run_id, "stepId": state.step.id, "version": run.plan.version},
            evidence=dict(evidence),
            verbs=tuple(effects),
            effects=dict(effects),
            values=dict(values),
            if_unanswered=if_unanswered,
            asked_by=f"run {run.run_id}",
            covers=covers,
            opened_at=iso(self.ts),
        )
        self.emit("decisionOpened", document(decision), stepId=state.step.id, decisionId=decision.id)

    def withdraw_decision(self, decision_id: str, why: str) -> None:
        decision = self.run.decisions.get(decision_id)
        if decision is not None:
            data = document(decision) | {"status": "withdrawn", "why": why}
            self.emit("decisionWithdrawn", data, decisionId=decision_id, **_step_of(decision))

    # -- the run -------------------------------------------------------------------------------------------------

    def update_run(self, status: RunStatus, **changes: Any) -> None:
        head = {**self.run.head, "status": status.value, **changes}
        self.emit("runUpdated", {name: value for name, value in head.items() if value is not None})

    def finish_run(self, status: RunStatus) -> None:
        head = {
            **self.run.head,
            "status": status.value,
            "finishedAt": iso(self.ts),
            "durationMs": max(0, self.ts - self.run.started_at),
            "summary": self.run.summary(),
        }
        self.emit("runFinished", {name: value for name, value in head.items() if name not in _WHILE_LIVE})


def close_answered(board: Board, decision: Decision, given: Answered) -> None:
    """Write a person's answer down."""
    answer = Answer(verb=given.verb, value=given.value, note=given.note, by=given.by, at=iso(given.ts))
    data = document(decision) | {"status": "answered", "answer": document(answer)}
    board.emit("decisionAnswered", data, decisionId=decision.id, **_step_of(decision))


def add_proposals(board: Board, given: Advised) -> None:
    """Show a person what they might answer; a decision that is closed already stays as it is."""
    decision = board.run.decisions.get(given.decision_id)
    if decision is None:
        board.refuse("decision.closed", given.decision_id, "This decision is not open any more.")
        return
    evidence = {**decision.evidence, "proposals": [dict(proposal) for proposal in given.proposals]}
    data = document(decision.model_copy(update={"evidence": evidence}))
    board.emit("proposalMade", data, decisionId=decision.id, **_step_of(decision))


def document(word: WireModel) -> dict[str, Any]:
    """A word as an event holds it. Its contents are taken over as they are: a preview puts unknown values there."""
    shown = word.model_dump(mode="python", by_alias=True, exclude_none=True)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in shown.items()}


def _step_of(decision: Decision) -> dict[str, Any]:
    return {"stepId": decision.about["stepId"]} if "stepId" in decision.about else {}
