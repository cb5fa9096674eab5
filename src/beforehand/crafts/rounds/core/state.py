"""A question on its way to an answer: its sub-goals, what they gave, and where the planner is.

All of it is frozen and can be told as events; what was in the air when a process died can be read from it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar

from beforehand.crafts.rounds.core.words import (
    CONTEXT,
    FORCE_EXECUTE,
    MAX_ROUNDS,
    GoalType,
    PlannedInputRef,
    PlannerDecision,
    Worker,
)
from beforehand.model.decision import Decision
from beforehand.model.event import iso

SubGoalStatus = Literal["pending", "asked", "running", "success", "failed"]
"""`asked` waits for a person; for those outside it is pending, as is what runs."""
BUSY = ("asked", "running")
QuestionStatus = Literal["new", "executing", "synthesising", "done", "failed"]
Artifact = Mapping[str, Any]
Frozen = TypeVar("Frozen", "SubGoal", "QuestionState")


@dataclass(frozen=True)
class SubGoal:
    id: int
    worker: str
    round: int
    description: str = ""
    inputs: Mapping[str, PlannedInputRef] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    goal_type: GoalType = "support"
    status: SubGoalStatus = "pending"
    error: str = ""
    root: int = 0
    """The sub-goal whose failure this one suffers from; 0 where the failure is its own."""
    transient: bool = False
    """Whether the same call may well work another time."""
    refused: bool = False
    """Whether it failed because its worker would not guess what the words mean."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    behind: tuple[int, ...] = ()
    """The exclusive sub-goals that the planner must have looked at before this one goes on."""
    ended_round: int = 0
    calls: int = 0
    """How often its worker was called: more than once only where a person said so after a crash."""

    @property
    def is_open(self) -> bool:
        return self.status == "pending" or self.status in BUSY

    @property
    def is_busy(self) -> bool:
        return self.status in BUSY

    def wire(self) -> dict[str, Any]:
        """Everything there is to know, for the log."""
        told: dict[str, Any] = {
            "id": self.id,
            "worker": self.worker,
            "status": self.status,
            "round": self.round,
            "description": self.description,
            "inputs": {name: ref.wire() for name, ref in self.inputs.items()},
            "params": dict(self.params),
            "goal_type": self.goal_type,
        }
        more = {
            "error": self.error,
            "root": self.root,
            "transient": self.transient,
            "refused": self.refused,
            "outputs": dict(self.outputs) if self.status == "success" else None,
            "behind": list(self.behind),
            "ended_round": self.ended_round,
            "calls": self.calls,
        }
        return told | {name: value for name, value in more.items() if value or value == {}}


def sub_goal_from(data: Mapping[str, Any]) -> SubGoal:
    """The sub-goal that `wire` told."""
    refs = {name: PlannedInputRef.model_validate(ref) for name, ref in data["inputs"].items()}
    names = {each.name for each in fields(SubGoal)} & data.keys()
    plain = {name: data[name] for name in names - {"inputs", "behind"}}
    return SubGoal(**plain, inputs=refs, behind=tuple(data.get("behind", ())))


@dataclass(frozen=True)
class QuestionState:
    question_id: str
    question: str
    """What is asked, as the intake left it."""
    workers: Mapping[str, Worker]
    context: Mapping[str, Any] = field(default_factory=dict)
    max_rounds: int = MAX_ROUNDS
    text: str = ""
    """What was asked, to the letter."""
    wanted: tuple[str, ...] = ()
    """The slots the rule planner works towards, best first; else those of workers that answer."""
    follows: str | None = None
    by: str = ""
    asked_at: int = 0
    prior_artifacts: tuple[Artifact, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the driver wants kept with it, such as the model's name."""

    status: QuestionStatus = "new"
    round: int = 0
    planning: bool = False
    """Whether the planner has been called and has not answered."""
    next_id: int = 1
    sub_goals: dict[int, SubGoal] = field(default_factory=dict)
    aliases: Mapping[int, int] = field(default_factory=dict)
    stand_ins: Mapping[int, int] = field(default_factory=dict)
    finished: tuple[int, ...] = ()
    """Successful sub-goals in the order in which they ended."""
    ended: tuple[int, ...] = ()
    """Sub-goals whose worker was called or whose person was asked, in the order in which that ended."""
    decided: tuple[PlannerDecision, ...] = ()
    planner_reasoning: str = ""
    warnings: tuple[str, ...] = ()
    synthesis_inputs: Mapping[str, PlannedInputRef] = field(default_factory=dict)
    answer: str | None = None
    partial_response: str | None = None
    reason: str = ""
    """Why it failed."""
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    """What people are asked, by the decision's id; `about.subGoalId` says for which sub-goal."""
    asked: int = 0

    @property
    def owner(self) -> str:
        return f"question:{self.question_id}"

    @property
    def is_open(self) -> bool:
        return self.status not in ("done", "failed")

    @property
    def is_busy(self) -> bool:
        """Whether a worker or a person is at work on it; the newest sub-goals are the likeliest."""
        return any(each.status in BUSY for each in reversed(self.sub_goals.values()))

    @property
    def is_refused(self) -> bool:
        """Whether it failed because nobody would guess what its words mean."""
        if self.status != "failed" or not self.ended or self.is_busy:
            return False
        return self.sub_goals[self.ended[-1]].refused

    @property
    def forces(self) -> bool:
        """Whether somebody said not to ask; it holds in every round."""
        return self.context.get(FORCE_EXECUTE) is True

    def resolved(self, sub_goal: int) -> int:
        """The sub-goal that an id means: aliases and stand-ins followed to the end."""
        while (further := self.aliases.get(sub_goal, self.stand_ins.get(sub_goal))) is not None:
            sub_goal = further
        return sub_goal

    def outputs_of(self, sub_goal: int) -> Mapping[str, Any] | None:
        """What a finished sub-goal, or the context, delivered; None for what has not succeeded."""
        if sub_goal == CONTEXT:
            return self.context
        found = self.sub_goals.get(self.resolved(sub_goal))
        return found.outputs if found is not None and found.status == "success" else None

    def newest(self, slot: str) -> PlannedInputRef | None:
        """Where the newest value of a slot lies: the last that was delivered, else the context's."""
        for sub_goal in reversed(self.finished):
            if slot in self.sub_goals[sub_goal].outputs:
                return PlannedInputRef(from_sub_goal=sub_goal, slot=slot)
        return PlannedInputRef(from_sub_goal=CONTEXT, slot=slot) if slot in self.context else None

    def value_of(self, ref: PlannedInputRef) -> Any:
        outputs = self.outputs_of(ref.from_sub_goal)
        if outputs is None or ref.slot not in outputs:
            raise KeyError(ref.slot)
        return outputs[ref.slot]

    def completed_outputs(self) -> dict[int, Mapping[str, Any]]:
        """What the spec calls by that name: the context at 0, then what succeeded, by id."""
        done = sorted(self.finished)
        return {CONTEXT: self.context, **{sub_goal: self.sub_goals[sub_goal].outputs for sub_goal in done}}

    def deliverables(self) -> Iterator[SubGoal]:
        """The deliverables that succeeded, by id."""
        return (each for each in self._succeeded() if each.goal_type == "deliverable")

    def _succeeded(self) -> Iterator[SubGoal]:
        return (self.sub_goals[sub_goal] for sub_goal in sorted(self.finished))

    def kept(self) -> list[SubGoal]:
        """What a question that fails has to show: all that was finished, its deliverables first."""
        return sorted(self._succeeded(), key=lambda each: each.goal_type != "deliverable")

    def head(self) -> dict[str, Any]:
        """The question as HTTP shows it, without what its sub-goals gave."""
        told = {
            "questionId": self.question_id,
            "text": self.text,
            "question": self.question,
            "status": self.status,
            "round": self.round,
            "max_rounds": self.max_rounds,
            "follows": self.follows,
            "by": self.by or None,
            "askedAt": iso(self.asked_at),
            "planner_reasoning": self.planner_reasoning,
            "synthesis_inputs": {name: ref.wire() for name, ref in self.synthesis_inputs.items()},
            "answer": self.answer,
            "partial_response": self.partial_response,
            "reason": self.reason or None,
            "refused": self.is_refused or None,
            "warnings": list(self.warnings),
            "waitsFor": list(self.decisions) or None,
            **self.options,
        }
        return {name: value for name, value in told.items() if value is not None}


def changed(thing: Frozen, **changes: Any) -> Frozen:
    """The thing with some fields otherwise. Every decision makes several of them, and `dataclasses.replace`, which sets
    each of thirty fields by itself, was a third of what a sub-goal costs."""
    fields = thing.__dict__
    new = object.__new__(type(thing))
    new.__dict__.update(fields, **changes)
    if len(new.__dict__) != len(fields):
        raise TypeError(f"{type(thing).__name__} has no {', '.join(sorted(changes.keys() - fields.keys()))}.")
    return new


def without_model(state: QuestionState) -> QuestionState:
    """The question as one that rules plan. The log keeps whom it was asked of, so a later start may find the model."""
    return changed(state, options={name: value for name, value in state.options.items() if name != "model"})


def with_sub_goal(state: QuestionState, sub_goal: SubGoal) -> QuestionState:
    """The state with a sub-goal as it is now."""
    return changed(state, sub_goals={**state.sub_goals, sub_goal.id: sub_goal}, **ending(state, sub_goal))


def ending(state: QuestionState, sub_goal: SubGoal) -> dict[str, Any]:
    """What else changes in a state when a sub-goal that was under way ends."""
    before = state.sub_goals.get(sub_goal.id)
    if before is None or not before.is_busy or sub_goal.is_open:
        return {}
    ended = {"ended": (*state.ended, sub_goal.id)}
    return ended | {"finished": (*state.finished, sub_goal.id)} if sub_goal.status == "success" else ended
