"""Random plans, random worlds, random people and crashes: what holds of every run.

The run is decided by the real `decide`; a small world carries its commands out in any order, loses the process at any
moment and brings it back from the log. What a person may say is said at random.
"""

import copy
import random
from collections import Counter
from dataclasses import fields
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import from_json, to_json

from beforehand.engine.decide import decide, record
from beforehand.engine.edit import edited
from beforehand.engine.inputs import (
    Adopted,
    Answered,
    Begin,
    CancelAsked,
    JudgeStep,
    PauseAsked,
    ProbeStep,
    Recover,
    RerunAsked,
    ResumeAsked,
    RetryAsked,
    RunInput,
    SetTimer,
    SkipAsked,
    StartStep,
    StepEnded,
    StepJudged,
    StepLost,
    StepProbed,
    StopStep,
    TimerFired,
)
from beforehand.engine.state import RunState, replay
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.engine.validate import plan_from
from beforehand.model.errors import BadInputError
from beforehand.model.event import Event
from beforehand.model.plan import FINAL_STATUSES, Plan, RunStatus, StepStatus
from beforehand.ports.tool import Effect, Judgement, ProbeAnswer, ToolSpec

ANYTHING = {"type": "object"}
SPECS = [
    ToolSpec("pure", "", ANYTHING, "pure"),
    ToolSpec("idempotent", "", ANYTHING, "idempotent", destructive="judged"),
    ToolSpec("physical", "", ANYTHING, "physical"),
    ToolSpec("probed", "", ANYTHING, "physical", can_probe=True),
    ToolSpec("delete", "", ANYTHING, "physical", destructive="always"),
    ToolSpec("ask", "", ANYTHING, "pure", asks_person=True),
    ToolSpec("list", "", ANYTHING, "pure"),
]
EFFECTS: dict[str, Effect] = {spec.name: spec.effect for spec in SPECS}
PEOPLE = (PauseAsked, ResumeAsked, CancelAsked, RetryAsked, SkipAsked, RerunAsked, Adopted)


def random_plan(chance: random.Random, size: int) -> dict[str, Any]:
    """A plan whose steps depend on earlier ones, by name or by reference, with every optional field now and then."""
    steps: list[dict[str, Any]] = []
    for place in range(size):
        before = [step["id"] for step in steps]
        lists = [step["id"] for step in steps if step["tool"] == "list"]
        tool = "list" if place == 0 and chance.random() < 0.5 else chance.choice(SPECS).name
        step: dict[str, Any] = {"id": f"s{place}", "tool": tool, "args": {}}
        step["dependsOn"] = chance.sample(before, chance.randint(0, min(2, len(before))))
        if before and chance.random() < 0.3:
            step["args"]["value"] = "$" + chance.choice(before)
        if before and chance.random() < 0.2:
            step["when"] = f"${chance.choice(before)} {chance.choice(['==', '!='])} 1"
        if lists and chance.random() < 0.5:
            step["forEach"] = "$" + chance.choice(lists)
            if chance.random() < 0.3:
                step["when"] = "$item > 1"
        if chance.random() < 0.15:
            step["requiresApproval"] = True
        if chance.random() < 0.3:
            step["onFailure"] = chance.choice(["continue", "stop", "ask", "ask"])
        if chance.random() < 0.2:
            step["timeoutS"] = 5
        if chance.random() < 0.1:
            step["status"] = "skipped"
        step["retries"] = chance.randint(0, 2)
        steps.append(step)
    return {"steps": steps}


class World:
    def __init__(self, seed: int, size: int) -> None:
        self.chance = random.Random(seed)
        self.catalog = ToolCatalog(SPECS)
        plan = plan_from(random_plan(self.chance, size), self.catalog)
        self.plans: dict[int, Plan] = {plan.version: plan.model_copy(update={"id": "p", "task_id": "t"})}
        self.log: list[Event] = []
        self.ts = 1000
        self.run = RunState("r", plan, self.plans.__getitem__)
        self.calls: dict[tuple[str, int], StartStep] = {}
        self.asked: list[JudgeStep | ProbeStep] = []
        self.timers: list[SetTimer] = []
        self.stopping: list[StepEnded] = []
        self.done_keys: set[str] = set()
        self.effects: Counter[str] = Counter()
        self.permits: Counter[str] = Counter()
        self.completed: set[str] = set()
        self.kindness = 0.5
        started = Event(
            "runStarted", {"runId": "r"}, {"runId": "r", "planId": "p", "version": 1, "status": "running"}, 1000
        )
        self.run.apply(started)
        self.log.append(started)

    # -- one decision ----------------------------------------------------------------------------------------------

    def feed(self, given: RunInput, *, crash: bool = False) -> None:
        """Decide; a crash comes before the events are written, or before anything follows from them."""
        twin = copy.deepcopy(self.run) if self.chance.random() < 0.1 else None
        allowed = self._permitted_by(given)
        verdict = decide(self.run, given, self.catalog)
        if twin is not None:
            assert decide(twin, given, self.catalog) == verdict
        check_counts(self.run)
        written = not crash or self.chance.random() < 0.5
        if written:
            self.permits.update(allowed)
            self._write(verdict.events)
        if crash:
            self.lose_everything()
            return
        assert not verdict.reasons or not verdict.events, "a refusal changes nothing"
        for command in verdict.commands:
            self._carry_out(command)
        self.check_alive()

    def _write(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self._watch(event)
            data = from_json(to_json(event.data))
            self.log.append(Event(event.kind, dict(event.about), data, event.ts, event.scene, event.correlation_id))

    def _watch(self, event: Event) -> None:
        if event.kind != "stepUpdated":
            return
        name, status = event.data["stepId"], event.data["status"]
        if event.data.get("reset"):
            self.completed = {done for done in self.completed if done != name and not done.startswith(f"{name}[")}
        if status == "completed":
            self.completed.add(name)
        elif status == "running" and not self.run.steps[name].children:
            assert name not in self.completed, f"{name} had completed and runs again"

    def _permitted_by(self, given: RunInput) -> list[str]:
        """The steps that a person's word lets act once more."""
        match given:
            case Answered(decision_id=decision_id, verb=verb) if verb in ("run-again", "retry", "insert"):
                return [str(self.run.decisions[decision_id].about["stepId"])]
            case RetryAsked(step_id=step_id) if step_id in self.run.steps:
                return list(self.run.steps)  # a run that had ended goes on as a whole
            case SkipAsked() | Adopted():
                return []
            case RerunAsked(step_id=step_id) if step_id in self.run.steps:
                return list(self.run.steps)
        return []

    def _carry_out(self, command: Any) -> None:
        match command:
            case StartStep():
                self._start(command)
            case StopStep():
                self.ts += 1
                self.calls.pop((command.step_id, command.attempt), None)
                self.stopping.append(StepEnded(self.ts, command.step_id, command.attempt, ok=False, stopped=True))
            case SetTimer():
                self.timers.append(command)
            case _:
                self.asked.append(command)

    def _start(self, command: StartStep) -> None:
        state = self.run.steps[command.step_id]
        assert all(self.run.steps[need].lets_go_on for need in state.needs), f"{command.step_id} began too early"
        assert (command.step_id, command.attempt) not in self.calls, "the same attempt twice at once"
        assert not self.run.paused or self.run.steps[command.step_id].attempt, "nothing starts while paused"
        self.calls[command.step_id, command.attempt] = command
        if EFFECTS[command.tool] == "physical" and self.chance.random() < 0.5:
            self._act(command)

    def _act(self, command: StartStep) -> None:
        """Something physical happens."""
        if command.key not in self.done_keys:
            self.done_keys.add(command.key)
        self.effects[command.step_id] += 1
        assert self.effects[command.step_id] <= 1 + self.permits[command.step_id], f"{command.step_id} acted twice"

    # -- the process comes and goes --------------------------------------------------------------------------------

    def lose_everything(self) -> None:
        self.calls, self.asked, self.timers, self.stopping = {}, [], [], []
        self.run = replay("r", self.plans.__getitem__, self.log)
        check_counts(self.run)
        if self.chance.random() < 0.3 and not self.run.status.is_final:
            self._say_while_nobody_runs_it()
        if not self.run.status.is_final:
            self.feed(Recover(self.ts))

    def _say_while_nobody_runs_it(self) -> None:
        given = self.word()
        if given is None or isinstance(given, Adopted):
            return
        self.permits.update(self._permitted_by(given))
        self._write(record(self.run, given, self.catalog).events)
        self.run = replay("r", self.plans.__getitem__, self.log)
        check_counts(self.run)

    # -- what may happen next --------------------------------------------------------------------------------------

    def happening(self) -> RunInput | None:
        """Something that comes by itself: an end, an answer of a tool, a timer."""
        self.ts += self.chance.randint(0, 3000)
        choices: list[Any] = [*self.calls.values(), *self.asked, *self.timers, *self.stopping]
        if not choices:
            return None
        chosen = self.chance.choice(choices)
        match chosen:
            case StepEnded():
                self.stopping.remove(chosen)
                return chosen
            case StartStep():
                return self._lose(chosen) if self.chance.random() < 0.1 else self._end(chosen)
            case SetTimer():
                self.timers.remove(chosen)
                self.ts = max(self.ts, chosen.at)
                return TimerFired(self.ts, chosen.key)
            case JudgeStep():
                self.asked.remove(chosen)
                return StepJudged(self.ts, chosen.step_id, chosen.covers, Judgement(self.chance.random() < 0.5))
        self.asked.remove(chosen)
        return StepProbed(self.ts, chosen.step_id, chosen.attempt, self._probe(chosen))

    def _lose(self, command: StartStep) -> StepLost:
        """Whoever carried it out is gone, and others go on."""
        del self.calls[command.step_id, command.attempt]
        unsure = EFFECTS[command.tool] != "physical" or self.chance.random() < 0.5
        return StepLost(self.ts, command.step_id, command.attempt, begun=unsure or command.key in self.done_keys)

    def read_anew(self) -> Recover:
        """The state is that of the log again, while everything that is in the air stays there."""
        self.run = replay("r", self.plans.__getitem__, self.log)
        probing = [one for one in self.asked if isinstance(one, ProbeStep)]
        later = [timer.key.partition(":")[2].rpartition(":") for timer in self.timers if timer.key.startswith("probe:")]
        under_way = {
            *self.calls,
            *((one.step_id, one.attempt) for one in (*self.stopping, *probing)),
            *((name, int(attempt)) for name, _, attempt in later),
        }
        self.timers = [timer for timer in self.timers if not timer.key.startswith("retry:")]
        return Recover(self.ts, frozenset(under_way), asked=frozenset(one.step_id for one in self.asked))

    def _probe(self, command: ProbeStep) -> ProbeAnswer:
        odd = self.chance.random()
        if odd < 0.2:
            return ProbeAnswer("running")
        if odd < 0.4:
            return ProbeAnswer("unknown")
        return ProbeAnswer("happened" if command.key in self.done_keys else "not_begun")

    def _end(self, command: StartStep) -> StepEnded:
        del self.calls[command.step_id, command.attempt]
        physical = EFFECTS[command.tool] == "physical"
        acted = command.key in self.done_keys
        if self.chance.random() < self.kindness:
            if physical and not acted:
                self._act(command)
            value = self.chance.sample([1, 2, 3], self.chance.randint(0, 3)) if command.tool == "list" else 1
            return StepEnded(self.ts, command.step_id, command.attempt, True, value=value)
        return StepEnded(
            self.ts,
            command.step_id,
            command.attempt,
            False,
            error="No.",
            transient=self.chance.random() < 0.6,
            untouched=physical and not acted and self.chance.random() < 0.5,
        )

    def answer(self) -> Answered | None:
        if not self.run.decisions:
            return None
        decision = self.chance.choice(list(self.run.decisions.values()))
        return Answered(self.ts, decision.id, self.chance.choice(decision.verbs))

    def word(self) -> RunInput | None:
        """Anything a person may say, sensible or not."""
        kind = self.chance.choice(PEOPLE)
        name = self.chance.choice([*self.run.steps, "nobody"])
        if kind in (RetryAsked, SkipAsked, RerunAsked):
            return kind(self.ts, name)
        if kind is CancelAsked and self.chance.random() < 0.7:
            return None
        return self._adoption() if kind is Adopted else kind(self.ts)

    def _adoption(self) -> Adopted | None:
        latest = self.plans[max(self.plans)]
        name = self.chance.choice(latest.steps).id
        fresh = f"n{len(latest.steps)}v{latest.version}"
        edits: list[Any] = [
            {"op": "edit", "id": name, "set": {"args": {"note": latest.version}}},
            {"op": "add", "step": {"id": fresh, "tool": "pure", "dependsOn": [name]}},
            {"op": "add", "step": {"id": fresh, "tool": "physical"}, "before": name},
            {"op": "edit", "id": name, "set": {"dependsOn": []}},
            {"op": self.chance.choice(["skip", "unskip", "remove"]), "id": name},
        ]
        try:
            plan = edited(latest, self.chance.sample(edits, self.chance.randint(1, 2)), self.catalog, created_at="")
        except BadInputError:
            return None
        self.plans[plan.version] = plan
        return Adopted(self.ts, plan)

    # -- what must hold --------------------------------------------------------------------------------------------

    def check_alive(self) -> None:
        """A run that has not ended has something or somebody that can move it."""
        run = self.run
        under_way = self.calls or self.asked or self.timers or self.stopping
        if run.status.is_final:
            assert not run.decisions
            assert not run.unsettled
            assert not run.paused
            assert not run.cancelling
            assert all(state.status in FINAL_STATUSES for state in run.steps.values())
            return
        if not run.paused:
            assert under_way or run.decisions, f"nothing can move it: {shown(run)}"
        if run.status is RunStatus.WAITING:
            assert run.decisions
            assert not self.calls

    def check_replay(self) -> None:
        assert contents(replay("r", self.plans.__getitem__, self.log)) == contents(self.run)


def shown(run: RunState) -> dict[str, str]:
    return {name: state.status.value for name, state in run.steps.items()}


def contents(run: RunState) -> dict[str, Any]:
    """Everything a state holds but what is in the air and how plans are found."""
    held = {field.name: getattr(run, field.name) for field in fields(run)}
    for name in ("in_air", "plan_of"):
        del held[name]
    held["eligible"] = set(run.eligible) | {
        name for name in run.in_air if run.steps[name].is_open and not run.waits[name]
    }
    held["followers"] = {name: sorted(behind) for name, behind in run.followers.items()}
    return copy.deepcopy(held)


def check_counts(run: RunState) -> None:
    """Every count kept along the way is what counting anew gives."""
    steps = run.steps
    assert run.waits == {name: sum(not steps[need].lets_go_on for need in state.needs) for name, state in steps.items()}
    for name, state in steps.items():
        passes = state.status is StepStatus.COMPLETED or (state.is_passed_over and run.waits[name] == 0)
        assert state.lets_go_on == passes, name
    assert run.unsettled == sum(not state.is_settled for state in steps.values())
    assert run.running == sum(state.status is StepStatus.RUNNING and not state.children for state in steps.values())
    assert run.retrying == sum(state.retry_at is not None for state in steps.values())
    assert set(run.eligible) == {
        name
        for name, state in steps.items()
        if state.is_open
        and run.waits[name] == 0
        and state.decision is None
        and state.retry_at is None
        and name not in run.in_air
    }
    for name, state in steps.items():
        assert state.open_children == sum(not steps[child].is_settled for child in state.children), name
        assert (state.decision is None) == all(one.about["stepId"] != name for one in run.decisions.values()), name
        for need in state.needs:
            assert run.followers[need].count(name) == 1, name
        if state.status is StepStatus.BLOCKED:
            assert run.waits[name], f"{name} is blocked by nothing"
        if state.children and state.status.is_final:
            good = all(steps[child].lets_go_on for child in state.children)
            assert good == state.lets_go_on or state.status is StepStatus.SKIPPED, f"{name} is not what its items are"


@settings(max_examples=400)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 10), words=st.integers(0, 60))
def test_every_run_ends_each_step_once_and_the_log_tells_it_all(seed: int, size: int, words: int) -> None:
    world = World(seed, size)
    world.feed(Begin(world.ts))
    for _ in range(words):
        pick = world.chance.random()
        given_next = world.happening() if pick < 0.6 else world.answer() if pick < 0.8 else world.word()
        if given_next is not None:
            world.feed(given_next, crash=world.chance.random() < 0.1)
        if world.chance.random() < 0.05 and not world.run.status.is_final:
            world.feed(world.read_anew())
    world.check_replay()
    world.kindness = 0.9
    for _ in range(3000):
        if world.run.status.is_final:
            break
        given_next = world.happening() or world.answer() or ResumeAsked(world.ts)
        world.feed(given_next)
    assert world.run.status.is_final, shown(world.run)
    world.check_replay()
    good = all(
        state.status in (StepStatus.COMPLETED, StepStatus.SKIPPED)
        for state in world.run.steps.values()
        if state.parent is None
    )
    assert world.run.status is RunStatus.CANCELLED or (world.run.status is RunStatus.COMPLETED) == good
