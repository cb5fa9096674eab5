"""The state of a run: a fold over its events and nothing else.

`apply` moves the state on in place, so that a plan of ten thousand steps costs the same per event as one of ten.
Whoever holds a RunState owns it; replaying the same events gives an equal one.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.engine.condition import parse_condition
from beforehand.engine.graph import dependencies, ranks
from beforehand.model.decision import Decision
from beforehand.model.event import Event
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.plan import FINAL_STATUSES, Plan, RunStatus, Step, StepStatus

SUMMARISED = ("completed", "failed", "skipped", "denied", "cancelled", "inDoubt", "blocked")
PlanOf = Callable[[int], Plan]
"""The version of the run's plan with that number."""

# Looking a member up in its class or by its value is slow in Python 3.11, and every event does it many times.
_PENDING, _READY, _RUNNING = StepStatus.PENDING, StepStatus.READY, StepStatus.RUNNING
_COMPLETED, _SKIPPED = StepStatus.COMPLETED, StepStatus.SKIPPED
_STATUS_OF: dict[str, StepStatus] = {status.value: status for status in StepStatus}


@dataclass(slots=True)
class StepState:
    """Where one step stands. Denied and blocked steps do not let their dependents go on."""

    step: Step
    needs: tuple[str, ...]
    rank: int = 0
    parent: str | None = None
    item: Any = None
    place: int = 0
    status: StepStatus = _PENDING
    attempt: int = 0
    tries: int = 0
    """Attempts since a person or an edit last opened the step; automatic retries count against this."""
    result: dict[str, Any] | None = None
    reason: dict[str, Any] | None = None
    started_at: int = 0
    key: str | None = None
    """The key that its present attempt was sent with; none where an older version sent it."""
    retry_at: int | None = None
    stopping: str | None = None
    cleared: str | None = None
    """The hash of the call that a person approved or that was judged harmless; other arguments are asked about anew."""
    seen: str | None = None
    """The state of what the call would change, as it was judged."""
    args: dict[str, Any] | None = None
    """Other arguments a person gave for the next try."""
    decision: str | None = None
    children: tuple[str, ...] = ()
    open_children: int = 0
    lets_go_on: bool = False
    """Whether what needs this step may go on: it completed, or it was skipped and its own needs let it go on."""

    @property
    def is_passed_over(self) -> bool:
        """Skipped: it stands for what it needs itself."""
        return self.status is _SKIPPED

    @property
    def is_open(self) -> bool:
        return self.status is _PENDING or self.status is _READY

    @property
    def is_settled(self) -> bool:
        return self.decision is None and self.status in FINAL_STATUSES

    @property
    def value(self) -> Any:
        return self.result.get("value") if self.result and self.result.get("ok") else None


@dataclass(slots=True)
class RunState:
    run_id: str
    plan: Plan
    plan_of: PlanOf
    log: LogIdentity = UNNAMED
    """The log whose keys new attempts are sent with."""
    correlation_id: str = ""
    status: RunStatus = RunStatus.RUNNING
    head: dict[str, Any] = field(default_factory=dict)
    steps: dict[str, StepState] = field(default_factory=dict)
    followers: dict[str, list[str]] = field(default_factory=dict)
    waits: dict[str, int] = field(default_factory=dict)
    """How many of a step's needs have not let it go on yet."""
    unsettled: int = 0
    running: int = 0
    retrying: int = 0
    decisions: dict[str, Decision] = field(default_factory=dict)
    decision_count: int = 0
    paused: bool = False
    cancelling: bool = False
    stopped_by: str | None = None
    started_at: int = 0
    eligible: dict[str, None] = field(default_factory=dict)
    """Steps that may start now, nobody being asked and no delay running, in the order they became able to."""
    on_machine: dict[str, dict[str, None]] = field(default_factory=dict)
    """For each machine the steps that may still need it, worked out when first asked; not part of the log."""
    in_air: set[str] = field(default_factory=set)
    """Steps being judged or probed: asked again after a restart, so not in the log; not eligible meanwhile."""

    # -- reading -------------------------------------------------------------------------------------------------

    def followers_of(self, name: str) -> list[str]:
        """Everything that depends on a step, directly or not, in an order that respects dependencies."""
        found: dict[str, None] = {}
        stack = list(self.followers.get(name, ()))
        while stack:
            follower = stack.pop()
            if follower not in found:
                found[follower] = None
                stack.extend(self.followers.get(follower, ()))
        return sorted(found, key=lambda step_id: self.steps[step_id].rank)

    def key_of(self, step_id: str, attempt: int) -> str:
        """The key of an attempt: the one that it was sent with, or the one that it is to be sent with."""
        state, name = self.steps[step_id], f"{self.run_id}/{step_id}/{attempt}"
        if attempt > state.attempt:
            return self.log.key(name)
        return state.key or name

    def is_of_this_log(self, step_id: str) -> bool:
        """Whether the present attempt of a step was sent by this log as it is now, and by no other that shares its
        past: only then is what a machine says of it an answer."""
        return self.log.owns(self.key_of(step_id, self.steps[step_id].attempt))

    def expects_of(self, step_id: str) -> Mapping[str, Any]:
        """The state of the world before a step, as the plan was verified; nothing where that is not known."""
        return (self.plan.expects or {}).get(step_id, {})

    @property
    def machines(self) -> list[str]:
        """The machines the run holds."""
        return list(self.head.get("machines") or ())

    def begun(self) -> frozenset[str]:
        """The steps that will not be started any more as they stand, while nothing is in flight.

        While something is, nothing can be said about the state of its machine, so none is named.
        """
        if self.running:
            return frozenset()
        gone = (StepStatus.COMPLETED, StepStatus.SKIPPED, StepStatus.DENIED, StepStatus.CANCELLED, StepStatus.IN_DOUBT)
        return frozenset(name for name, state in self.steps.items() if state.status in gone)

    def stands(self) -> frozenset[str]:
        """The steps that stay as they are when the rest is planned anew: all but those that are open or blocked."""
        return frozenset(
            name
            for name, state in self.steps.items()
            if state.parent is None and not state.is_open and state.status is not StepStatus.BLOCKED
        )

    def plan_as_given(self) -> Plan:
        """The plan with the arguments that a person gave for a step since."""
        given = {name: state.args for name, state in self.steps.items() if state.args is not None}
        steps = (step.model_copy(update={"args": given.get(step.id, step.args)}) for step in self.plan.steps)
        return self.plan.model_copy(update={"steps": tuple(steps)}) if given else self.plan

    def summary(self) -> dict[str, Any]:
        """How many steps ended in each way, and the first error among them; what a `forEach` made counts by itself."""
        counted = [state for state in self.steps.values() if self._counts(state)]
        ends = Counter(state.status.value for state in counted)
        shown: dict[str, Any] = {name: ends[name] for name in SUMMARISED}
        failed = [(state.result or {}, state.step.id) for state in counted if state.status is StepStatus.FAILED]
        if failed:
            result, name = min(failed, key=lambda one: str(one[0].get("timestamp", "")))
            shown["firstError"] = f"{name}: {result.get('error', '')}"
        return shown

    def _counts(self, state: StepState) -> bool:
        """A repeated step counts as its items do; skipped as a whole it counts itself, beside what was done of it."""
        if state.parent is None:
            return not state.children or state.is_passed_over
        return state.status is _COMPLETED or not self.steps[state.parent].is_passed_over

    # -- building ------------------------------------------------------------------------------------------------

    def lay_out(self, plan: Plan) -> None:
        """Set the steps up from a plan, keeping what is known of steps that stay."""
        old = self.steps
        needs = {step.id: dependencies(step) for step in plan.steps}
        order = ranks(needs)
        self.plan = plan
        self.steps = {}
        for step in plan.steps:
            self.steps[step.id] = _laid_out(old.get(step.id), step, needs[step.id], order[step.id])
        for state in list(self.steps.values()):
            for child in state.children:
                self.steps[child] = old[child]
                self.steps[child].needs, self.steps[child].rank = state.needs, state.rank
        self.in_air &= self.steps.keys()
        self.on_machine = {}
        self._index()

    def _index(self) -> None:
        self.followers = {name: [] for name in self.steps}
        for name, state in self.steps.items():
            for need in state.needs:
                self.followers[need].append(name)
        self.waits = dict.fromkeys(self.steps, 0)
        for name, state in sorted(self.steps.items(), key=lambda item: item[1].rank):
            self.waits[name] = sum(not self.steps[need].lets_go_on for need in state.needs)
            state.lets_go_on = self._lets_go_on(state)
        self.unsettled = sum(not state.is_settled for state in self.steps.values())
        self.running = sum(state.status is _RUNNING and not state.children for state in self.steps.values())
        self.retrying = sum(state.retry_at is not None for state in self.steps.values())
        self.eligible = {}
        for name in self.steps:
            self._note_eligible(name)

    def _note_eligible(self, name: str) -> None:
        state = self.steps[name]
        if (
            self.waits[name] == 0
            and (state.status is _PENDING or state.status is _READY)
            and state.decision is None
            and state.retry_at is None
            and name not in self.in_air
        ):
            self.eligible[name] = None
        else:
            self.eligible.pop(name, None)

    def take_off(self, name: str) -> None:
        """The tool of a step is being asked something; until it has answered the step does not start."""
        self.in_air.add(name)
        self.eligible.pop(name, None)

    def land(self, *names: str) -> None:
        """The tools of these steps have answered, or will never."""
        for name in names:
            self.in_air.discard(name)
            if name in self.steps:
                self._note_eligible(name)

    # -- moving on -----------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Move on by one event of this run; events of other kinds change nothing here."""
        change = _CHANGES.get(event.kind)
        if change is not None:
            change(self, event)

    def learn(self, plan: Plan) -> None:
        """Know a version of the plan that the run is about to go on with."""
        before = self.plan_of
        self.plan_of = lambda version: plan if version == plan.version else before(version)

    def _lets_go_on(self, state: StepState) -> bool:
        return state.status is _COMPLETED or (state.is_passed_over and self.waits[state.step.id] == 0)

    def _pass_on(self, state: StepState) -> None:
        """Let followers know whether a step lets them go on; what was skipped hands that further."""
        changed = [state]
        while changed:
            state = changed.pop()
            goes_on = self._lets_go_on(state)
            if goes_on is state.lets_go_on:
                continue
            state.lets_go_on = goes_on
            for name in self.followers[state.step.id]:
                self.waits[name] += -1 if goes_on else 1
                self._note_eligible(name)
                if self.steps[name].status is _SKIPPED:
                    changed.append(self.steps[name])

    def _set(self, state: StepState, change: Callable[[StepState], None]) -> None:
        """Change a step and keep every count that hangs on it true."""
        settled, ran, retried = state.is_settled, _counts_as_running(state), state.retry_at is not None
        change(state)
        self.retrying += (state.retry_at is not None) - retried
        self.running += _counts_as_running(state) - ran
        self._pass_on(state)
        is_settled = state.is_settled
        if settled != is_settled:
            self.unsettled += settled - is_settled
            if state.parent is not None:
                self.steps[state.parent].open_children += 1 if settled else -1
        self._note_eligible(state.step.id)


def _laid_out(kept: StepState | None, step: Step, needs: tuple[str, ...], rank: int) -> StepState:
    """A step of a plan as a run begins or adopts it; where a kept step stands is for later events to change."""
    if kept is None:
        fresh = _SKIPPED if step.status is _SKIPPED else _PENDING
        return StepState(step, needs, rank, status=fresh)
    if kept.step.args != step.args:
        kept.args = None
    kept.step, kept.needs, kept.rank = step, needs, rank
    return kept


def asks_of_items(step: Step) -> bool:
    """Whether the step's `when` is about each item of its `forEach` rather than about the step as a whole."""
    if step.when is None or step.for_each is None:
        return False
    return any(reference.step in ("item", "index") for reference in parse_condition(step.when).references)


def _counts_as_running(state: StepState) -> bool:
    return state.status is _RUNNING and not state.children


# -- what each kind of event changes -----------------------------------------------------------------------------


def _run_started(run: RunState, event: Event) -> None:
    run.head = dict(event.data)
    run.correlation_id = event.correlation_id
    run.started_at = event.ts
    run.status = RunStatus.RUNNING
    run.lay_out(run.plan_of(int(event.data["version"])))


def _run_updated(run: RunState, event: Event) -> None:
    run.head = dict(event.data)
    run.status = RunStatus(event.data["status"])
    run.paused = bool(event.data.get("paused"))
    run.cancelling = bool(event.data.get("cancelling"))
    run.stopped_by = event.data.get("stoppedBy")


def _run_adopted(run: RunState, event: Event) -> None:
    run.head = dict(event.data)
    run.lay_out(run.plan_of(int(event.data["version"])))


def _step_updated(run: RunState, event: Event) -> None:
    data = event.data
    state = run.steps.get(data["stepId"])
    if state is None:
        return
    if data.get("reset"):
        run.on_machine = {}  # it may need its machine again
    if data.get("reset") and state.children:
        _forget_children(run, state)
    run._set(state, lambda changed: _take(changed, data, event.ts))


def _take(state: StepState, data: Mapping[str, Any], ts: int) -> None:
    status = _STATUS_OF[data["status"]]
    if status is _RUNNING and state.status is not _RUNNING:
        state.started_at = ts
        state.tries += 1
    if data.get("reset"):
        state.tries = 0
        state.started_at = 0
        if state.status is _COMPLETED:
            state.cleared = None  # a permission is for one completion
    state.status = status
    attempt = data.get("attempt", state.attempt)
    state.key = data.get("key", state.key if attempt == state.attempt else None)
    state.attempt = attempt
    state.result = data.get("result")
    state.reason = data.get("reason")
    state.retry_at = data.get("retryAt")
    state.stopping = data.get("stopping")
    if "args" in data:
        state.args = data["args"]
    if "cleared" in data:
        state.cleared = data["cleared"]
    if "seen" in data:
        state.seen = data["seen"]


def _forget_children(run: RunState, state: StepState) -> None:
    children = set(state.children)
    for need in state.needs:
        run.followers[need] = [name for name in run.followers[need] if name not in children]
    for child in state.children:
        gone = run.steps.pop(child)
        run.unsettled -= not gone.is_settled
        run.running -= _counts_as_running(gone)
        run.retrying -= gone.retry_at is not None
        run.in_air.discard(child)
        run.eligible.pop(child, None)
        run.waits.pop(child, None)
        run.followers.pop(child, None)
    state.children, state.open_children = (), 0


def _step_expanded(run: RunState, event: Event) -> None:
    parent = run.steps[event.data["stepId"]]
    items = event.data["items"]
    names = tuple(f"{parent.step.id}[{place}]" for place in range(len(items)))

    def become_parent(state: StepState) -> None:
        state.children, state.open_children = names, len(names)
        state.status, state.started_at = _RUNNING, event.ts

    run._set(parent, become_parent)
    when = parent.step.when if asks_of_items(parent.step) else None
    for place, (name, item) in enumerate(zip(names, items, strict=True)):
        step = parent.step.model_copy(update={"id": name, "for_each": None, "depends_on": (), "when": when})
        run.steps[name] = StepState(step, parent.needs, parent.rank, parent=parent.step.id, item=item, place=place)
        run.followers[name], run.waits[name] = [], run.waits[parent.step.id]
        run.unsettled += 1
        run._note_eligible(name)
    for need in parent.needs:
        run.followers[need] += names


def _decision_opened(run: RunState, event: Event) -> None:
    decision = Decision.model_validate(event.data)
    run.decisions[decision.id] = decision
    run.decision_count += 1
    state = run.steps.get(str(decision.about.get("stepId", "")))
    if state is not None:
        run._set(state, lambda changed: setattr(changed, "decision", decision.id))


def _decision_advised(run: RunState, event: Event) -> None:
    run.decisions[event.data["id"]] = Decision.model_validate(event.data)


def _decision_closed(run: RunState, event: Event) -> None:
    decision = run.decisions.pop(event.data["id"], None)
    if decision is None:
        return
    state = run.steps.get(str(decision.about.get("stepId", "")))
    if state is None:
        return
    approved = event.kind == "decisionAnswered" and event.data["answer"]["verb"] == "approve"

    def close(changed: StepState) -> None:
        changed.decision = None
        if approved:
            changed.cleared = decision.covers

    run._set(state, close)


_CHANGES: dict[str, Callable[[RunState, Event], None]] = {
    "runStarted": _run_started,
    "runUpdated": _run_updated,
    "runFinished": _run_updated,
    "runAdopted": _run_adopted,
    "stepUpdated": _step_updated,
    "stepExpanded": _step_expanded,
    "decisionOpened": _decision_opened,
    "proposalMade": _decision_advised,
    "decisionAnswered": _decision_closed,
    "decisionWithdrawn": _decision_closed,
}


def replay(run_id: str, plan_of: PlanOf, events: list[Event], log: LogIdentity = UNNAMED) -> RunState:
    """The run's state, from its events alone; `log` is where they are kept."""
    run = RunState(run_id, Plan(steps=()), plan_of, log)
    for event in events:
        run.apply(event)
    return run
