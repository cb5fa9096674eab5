"""Random planners: nothing pends for ever, no worker is called too early, nothing finished is lost, nothing differs."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.crafts.rounds.core.deciding import decide
from beforehand.crafts.rounds.core.dispatch import is_held
from beforehand.crafts.rounds.core.folding import from_events
from beforehand.crafts.rounds.core.inputs import (
    Answered,
    Asked,
    AskPerson,
    CalledOff,
    CallPlanner,
    Command,
    PlannerDecided,
    QuestionInput,
    RunWorker,
    Synthesise,
    Synthesised,
    TakenUp,
    WorkerFailed,
    WorkerFinished,
)
from beforehand.crafts.rounds.core.prompt import prompt_of
from beforehand.crafts.rounds.core.replay import play, recorded, result_of
from beforehand.crafts.rounds.core.replay_file import read_replay
from beforehand.crafts.rounds.core.rule_planner import plan_by_rules
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.wire import check_of, decision_from, to_wire
from beforehand.crafts.rounds.core.words import (
    PlannedInputRef,
    PlannedSubGoal,
    PlannerDecision,
    Precondition,
    Worker,
    same,
)
from beforehand.model.event import Event

SLOTS = ("a", "b", "c", "needs_clarification")
NAMES = ("one", "two", "three", "four")
scalars = st.sampled_from([True, False, 1, None, "x"])


@st.composite
def workers(draw: st.DrawFn) -> dict[str, Worker]:
    made = {}
    for name in NAMES[: draw(st.integers(1, 4))]:
        needs = draw(st.lists(st.tuples(st.sampled_from(SLOTS), st.booleans(), scalars), max_size=1))
        made[name] = Worker(
            name=name,
            preconditions=tuple(
                Precondition(slot=slot, equals=value) if has else Precondition(slot=slot) for slot, has, value in needs
            ),
            outputs=tuple(draw(st.lists(st.sampled_from(SLOTS), min_size=1, max_size=2, unique=True))),
            exclusive=draw(st.booleans()),
            destructive=draw(st.integers(0, 9)) == 0,
            asks=draw(st.integers(0, 9)) == 0,
            answers=draw(st.booleans()),
        )
    return made


def made(model: Any, **fields: Any) -> Any:
    """Hypothesis would draw the camelCase names of these models, too."""
    return st.fixed_dictionaries(fields).map(lambda drawn: model(**drawn))


refs = made(PlannedInputRef, from_sub_goal=st.integers(-1, 9), slot=st.sampled_from(SLOTS))
params = st.dictionaries(st.sampled_from(["p", "a"]), scalars, max_size=1) | st.builds(
    lambda id: {"retry_of": id}, st.integers(0, 9)
)
sub_goals = made(
    PlannedSubGoal,
    worker=st.sampled_from([*NAMES, "nobody"]),
    inputs=st.dictionaries(st.sampled_from(["a", "b"]), refs, max_size=2),
    params=params,
    goal_type=st.sampled_from(["support", "deliverable"]),
)
decisions = made(
    PlannerDecision,
    action=st.sampled_from(["continue"] * 6 + ["done", "failed"]),
    sub_goals=st.lists(sub_goals, max_size=4).map(tuple),
    synthesis_inputs=st.dictionaries(st.sampled_from(["x", "y"]), refs, max_size=2),
)


class Watched:
    """A session carried out in any order, with everything that must hold looked at after every decision."""

    def __init__(self, state: QuestionState, draw: Any) -> None:
        self.state = state
        self.draw = draw
        self.events: list[Event] = []
        self.flying: list[Command] = []
        self.called: list[int] = []
        self.inputs: list[QuestionInput] = []

    def feed(self, given: QuestionInput) -> None:
        before = self.state
        state, verdict = decide(before, given, 7)
        assert (state, verdict) == decide(before, given, 7), "the same in, the same out"
        self.state = state
        self.events += verdict.events
        for command in verdict.commands:
            if isinstance(command, RunWorker):
                self._called(command)
            if isinstance(command, CallPlanner):
                self._planner_called()
            self.flying.append(command)
        assert {*before.finished} <= {*self.state.finished}, "nothing finished is lost"
        for id in before.finished:
            assert self.state.sub_goals[id].outputs == before.sub_goals[id].outputs

    def _called(self, command: RunWorker) -> None:
        """All inputs are there, the preconditions hold, and nobody was called twice."""
        state = self.state
        assert command.sub_goal not in self.called
        self.called.append(command.sub_goal)
        sub_goal = state.sub_goals[command.sub_goal]
        assert command.inputs.keys() == sub_goal.inputs.keys()
        assert not is_held(state, sub_goal)
        outputs = {**state.context}
        for id in state.finished:
            outputs |= state.sub_goals[id].outputs
        outputs |= {ref.slot: state.value_of(ref) for ref in reversed(sub_goal.inputs.values())} | dict(command.inputs)
        for need in state.workers[command.worker].preconditions:
            if need.slot == "needs_clarification" and state.context.get("force_execute") is True:
                continue
            assert need.slot in outputs
            if need.has_value:
                assert same(outputs[need.slot], need.equals)

    def _planner_called(self) -> None:
        """Nothing runs, and whatever pends is held behind an exclusive one that has ended, or waits for such."""
        pending = [each for each in self.state.sub_goals.values() if each.is_open]
        for each in pending:
            assert each.status == "pending"
            sources = {self.state.resolved(ref.from_sub_goal) for ref in each.inputs.values()}
            assert each.behind or sources & {other.id for other in pending}
        assert not pending or any(each.behind for each in pending)
        assert self.state.round <= self.state.max_rounds

    def carry_out(self, decide_now: Any) -> QuestionState:
        self.feed(Asked())
        while self.state.is_open:
            at = self.draw(st.integers(0, len(self.flying) - 1))
            self.feed(self._outcome(self.flying.pop(at), decide_now))
        return self.state

    def _outcome(self, command: Command, decide_now: Any) -> QuestionInput:
        match command:
            case CallPlanner():
                return PlannerDecided(command.round, decide_now(self.state))
            case RunWorker():
                return self._worked(command)
            case AskPerson():
                return Answered(command.decision.id, self.draw(st.sampled_from(command.decision.verbs)), "said")
            case Synthesise():
                return Synthesised("in words")
        raise AssertionError(command)

    def _worked(self, command: RunWorker) -> QuestionInput:
        how = self.draw(st.integers(0, 9))
        if how < 2:
            return WorkerFailed(command.sub_goal, "it broke", transient=how == 1)
        slots = self.state.workers[command.worker].outputs
        return WorkerFinished(command.sub_goal, {slot: self.draw(scalars) for slot in slots[how == 2 :]})


contexts = st.dictionaries(st.sampled_from([*SLOTS, "force_execute"]), scalars, max_size=2)


@given(st.data(), workers(), contexts, st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_random_planners_never_break_the_rules(data: Any, registry: Any, context: Any, max_rounds: int) -> None:
    watched = Watched(QuestionState("q", "what?", registry, context, max_rounds), data.draw)
    state = watched.carry_out(lambda state: data.draw(decisions))
    assert state.status in ("done", "failed")
    _nothing_waits_without_a_reason(state)
    if state.finished:
        assert state.answer is not None or state.partial_response is not None, "what was finished is told"
    rebuilt = from_events(watched.events)
    assert rebuilt == state
    assert result_of(play(read_replay(recorded(state)))) == result_of(state)


def _nothing_waits_without_a_reason(state: QuestionState) -> None:
    """At the end only what the planner would have had to look at first may still be pending."""
    pending = {each.id for each in state.sub_goals.values() if each.is_open}
    for id in pending:
        each = state.sub_goals[id]
        sources = {state.resolved(ref.from_sub_goal) for ref in each.inputs.values()}
        assert each.behind or sources & pending
    for each in state.sub_goals.values():
        if each.root:
            assert f"sub-goal {each.root} " in each.error


@given(st.data(), workers(), contexts, st.integers(1, 8))
@settings(max_examples=100, deadline=None)
def test_the_rule_planner_ends_and_never_plans_what_fails_at_once(
    data: Any, registry: Any, context: Any, max_rounds: int
) -> None:
    def by_rules(state: QuestionState) -> PlannerDecision:
        decision = plan_by_rules(state)
        assert decision == plan_by_rules(state)
        assert check_of(state)(to_wire(decision)) == []
        assert decision_from(to_wire(decision)) == (decision, [])
        assert ("Context from F01" in prompt_of(state).now) == (state.round == 1 and bool(context))
        return decision

    state = Watched(QuestionState("q", "what?", registry, context, max_rounds), data.draw).carry_out(by_rules)
    assert not [each.error for each in state.sub_goals.values() if "preconditions" in each.error]


@given(st.data(), workers(), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_a_crash_anywhere_does_nothing_again_that_had_ended(data: Any, registry: Any, max_rounds: int) -> None:
    watched = Watched(QuestionState("q", "what?", registry, {}, max_rounds), data.draw)
    watched.feed(Asked())
    while watched.state.is_open:
        if data.draw(st.integers(0, 3)) == 0:
            rebuilt = from_events(watched.events)
            assert rebuilt == watched.state
            state, verdict = decide(rebuilt, TakenUp(), 9)
            assert state == watched.state
            assert sorted(map(repr, verdict.commands)) == sorted(map(repr, watched.flying)), "what was in the air"
        if data.draw(st.integers(0, 19)) == 0:
            watched.feed(CalledOff("Somebody cancelled it."))
            break
        at = data.draw(st.integers(0, len(watched.flying) - 1))
        watched.feed(watched._outcome(watched.flying.pop(at), lambda state: data.draw(decisions)))
    rebuilt = from_events(watched.events)
    assert rebuilt == watched.state
    assert result_of(play(read_replay(recorded(rebuilt)))) == result_of(rebuilt)
