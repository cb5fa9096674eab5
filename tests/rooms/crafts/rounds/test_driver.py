"""What a question's driver writes together: rules are heard in the same turn, a model between two commits."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import PlannedInputRef, PlannedSubGoal, PlannerDecision, Worker
from beforehand.crafts.rounds.driver import QuestionDriver, Rules, Thinking
from beforehand.model.errors import UnavailableError
from beforehand.model.event import Event
from beforehand.testing import MemoryStore, VirtualClock

ROUNDS = 2


class Commits(MemoryStore):
    """A store that keeps what was written together."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[list[str]] = []

    async def append(self, events: Sequence[Event]) -> Sequence[Event]:
        self.written.append([_said(event) for event in events])
        return await super().append(events)


def _said(event: Event) -> str:
    return str(event.data["status"]) if event.kind == "subGoalUpdated" else event.kind


def plan(state: QuestionState) -> PlannerDecision:
    """One worker a round, and then it is done."""
    if state.round > ROUNDS:
        last = {"answer": PlannedInputRef(from_sub_goal=ROUNDS, slot="out")}
        return PlannerDecision(action="done", synthesis_inputs=last)
    goal = PlannedSubGoal(worker="one", params={"n": state.round}, goal_type="deliverable")
    return PlannerDecision(action="continue", sub_goals=(goal,))


class Waited:
    """The same planner, waited for; it keeps how much was written when it was asked."""

    def __init__(self, store: Commits) -> None:
        self.store = store
        self.saw: list[str] = []

    async def plan(self, state: QuestionState) -> PlannerDecision:
        self.saw.append(self.store.written[-1][-1])
        return plan(state)

    async def answer(self, question: str, values: Mapping[str, Any]) -> str:
        self.saw.append(self.store.written[-1][-1])
        return "in words"

    async def close(self) -> None: ...


async def driven(store: Commits, thinking: Thinking | Rules) -> QuestionState:
    async def work(command: Any, state: QuestionState) -> Mapping[str, Any]:
        assert store.written[-1][-1] == "running", "it is durable before it is called"
        return {"out": command.params["n"]}

    state = QuestionState("q1", "what?", {"one": Worker(name="one", outputs=("out",))}, text="what?")
    driver = QuestionDriver(state, store, VirtualClock(), thinking, work)
    await driver.drive()
    return driver.state


async def test_what_rules_say_is_written_with_what_they_were_asked_for() -> None:
    store = Commits()
    state = await driven(store, Rules(plan, lambda question, values: "in words"))
    assert (state.status, state.answer) == ("done", "in words")
    round = ["plannerCalled", "plannerDecided"]
    assert store.written == [
        ["questionAsked", *round, "running"],
        ["success", *round, "running"],
        ["success", *round, "questionFinished"],
    ]


async def test_a_model_is_asked_only_when_that_is_durable() -> None:
    store = Commits()
    model = Waited(store)
    state = await driven(store, model)
    assert state.status == "done"
    assert model.saw == ["plannerCalled", "plannerCalled", "plannerCalled", "plannerDecided"]


def fails(*given: Any) -> Any:
    raise UnavailableError("Nobody knows.", code="nobody")


@pytest.mark.parametrize("broken", ["plan", "answer"])
async def test_rules_that_fail_end_it_in_a_clear_state(broken: str) -> None:
    rules = Rules(fails, fails) if broken == "plan" else Rules(plan, fails)
    state = await driven(Commits(), rules)
    assert state.status == ("failed" if broken == "plan" else "done")
    assert any("Nobody knows." in says for says in state.warnings)
