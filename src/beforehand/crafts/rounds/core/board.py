"""The board one decision works on: the state as it changes, and what is to be written and done about it.

A sub-goal that changes several times in one decision is written once, as it ends up.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.crafts.rounds.core.event_kinds import SUB_GOAL_UPDATED
from beforehand.crafts.rounds.core.inputs import AskPerson, Command, RunWorker, StopWorker
from beforehand.crafts.rounds.core.state import QuestionState, SubGoal, changed, ending
from beforehand.model.decision import Answer, Decision, content_hash
from beforehand.model.event import Event, Verdict, iso
from beforehand.model.reason import Reason


class Board:
    def __init__(self, state: QuestionState, now: int, correlation_id: str = "") -> None:
        self.state = state
        self.now = now
        self.correlation_id = correlation_id
        self.commands: list[Command] = []
        self.reasons: list[Reason] = []
        self._told: list[Event | int] = []
        """A number stands for the event of that sub-goal, which is made at the end."""
        self._changed: set[int] = set()
        self._sub_goals: dict[int, SubGoal] | None = None

    def verdict(self) -> tuple[QuestionState, Verdict[Command]]:
        events = tuple([self._sub_goal_updated(told) if isinstance(told, int) else told for told in self._told])
        return self.state, Verdict(events, tuple(self.commands), tuple(self.reasons))

    def _sub_goal_updated(self, id: int) -> Event:
        data = {"questionId": self.state.question_id, **self.state.sub_goals[id].wire()}
        return self.event(SUB_GOAL_UPDATED, data, subGoalId=id)

    def set(self, **changes: Any) -> None:
        self.state = changed(self.state, **changes)

    def event(self, kind: str, data: Mapping[str, Any], **about: Any) -> Event:
        about = {"questionId": self.state.question_id, **about}
        return Event(kind, about, data, self.now, correlation_id=self.correlation_id, owner=self.state.owner)

    def tell(self, kind: str, data: Mapping[str, Any], **about: Any) -> None:
        self._told.append(self.event(kind, data, **about))

    def warn(self, *says: str) -> None:
        self.set(warnings=(*self.state.warnings, *says))

    def refuse(self, code: str, about: object, says: str) -> None:
        self.reasons.append(Reason(code=code, about=str(about), says=says))

    # -- sub-goals -------------------------------------------------------------------------------------------------

    def put(self, sub_goal: SubGoal) -> None:
        """The sub-goal as it is now."""
        changes = ending(self.state, sub_goal)
        if self._sub_goals is None:
            changes["sub_goals"] = self._sub_goals = dict(self.state.sub_goals)
        self._sub_goals[sub_goal.id] = sub_goal  # the board's own copy until the verdict is given
        if changes:
            self.set(**changes)
        if sub_goal.id not in self._changed:
            self._changed.add(sub_goal.id)
            self._told.append(sub_goal.id)

    def fail(self, sub_goal: SubGoal, says: str, **more: Any) -> None:
        """It has failed; `more` says whose failure it is (`root`), whether it may pass, whether it was refused."""
        self.put(changed(sub_goal, status="failed", error=says, ended_round=self.state.round, **more))

    def start(self, sub_goal: SubGoal) -> None:
        """Have the worker called."""
        running = changed(sub_goal, status="running", calls=sub_goal.calls + 1)
        self.put(running)
        self.commands.append(run_command(self.state, running))

    # -- people ----------------------------------------------------------------------------------------------------

    def ask(self, sub_goal: SubGoal, asking: Decision) -> None:
        """Open a decision about a sub-goal, which waits for its answer."""
        self.put(changed(sub_goal, status="asked"))
        self.set(decisions={**self.state.decisions, asking.id: asking}, asked=self.state.asked + 1)
        self.tell("decisionOpened", asking.wire(), decisionId=asking.id, subGoalId=sub_goal.id)
        self.commands.append(asked_command(asking))

    def close(self, decision: Decision, answer: Answer | None) -> None:
        """A decision is answered, or nobody needs its answer any more."""
        status = "withdrawn" if answer is None else "answered"
        done = decision.model_copy(update={"status": status, "answer": answer})
        self.set(decisions={id: each for id, each in self.state.decisions.items() if id != decision.id})
        kind = "decisionWithdrawn" if answer is None else "decisionAnswered"
        self.tell(kind, done.wire(), decisionId=done.id)

    def stop_all(self) -> None:
        """Nobody waits any more for what is under way."""
        for decision in tuple(self.state.decisions.values()):
            self.close(decision, None)
        for sub_goal in self.state.sub_goals.values():
            if sub_goal.is_busy:
                self.commands.append(StopWorker(sub_goal.id, key_of(self.state, sub_goal)))

    def decision(self, sub_goal: SubGoal, kind: str, title: str, effects: Mapping[str, str], **more: Any) -> Decision:
        inputs = inputs_of(self.state, sub_goal)
        evidence = {"worker": sub_goal.worker, "inputs": inputs, "params": dict(sub_goal.params)}
        return Decision(
            id=f"{self.state.question_id}-{self.state.asked + 1}",
            kind=kind,
            owner=self.state.owner,
            title=title,
            about={"questionId": self.state.question_id, "subGoalId": sub_goal.id},
            evidence={"question": self.state.question, **evidence},
            verbs=tuple(effects),
            effects=dict(effects),
            if_unanswered="The question waits.",
            asked_by=self.state.owner,
            covers=content_hash(evidence),
            opened_at=iso(self.now),
            **more,
        )


def inputs_of(state: QuestionState, sub_goal: SubGoal) -> dict[str, Any]:
    """The values that are wired to a sub-goal; KeyError where one is not there."""
    return {name: state.value_of(ref) for name, ref in sub_goal.inputs.items()}


def key_of(state: QuestionState, sub_goal: SubGoal) -> str:
    return f"{state.question_id}/{sub_goal.id}/{max(1, sub_goal.calls)}"


def run_command(state: QuestionState, sub_goal: SubGoal) -> RunWorker:
    inputs = inputs_of(state, sub_goal)
    key = key_of(state, sub_goal)
    return RunWorker(sub_goal.id, sub_goal.worker, state.question, inputs, dict(sub_goal.params), key)


def asked_command(decision: Decision) -> AskPerson:
    kind = decision.kind
    assert kind in ("question", "approval", "inDoubt")
    return AskPerson(int(decision.about["subGoalId"]), kind, decision)  # type: ignore[arg-type]
