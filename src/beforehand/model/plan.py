"""Plans, steps and their results, with the field names of the plan specification on the wire.

A plan is a versioned graph of tool steps. The optional fields say how a step behaves when it runs: whether a person
must approve it, how often and how long it is tried, when it applies, what it repeats over and what a failure means.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from beforehand.model.base import WireModel

StepId = Annotated[str, StringConstraints(max_length=200, pattern=r"^\w[\w-]*$"), Field(coerce_numbers_to_str=True)]
"""Letters, digits, `_` and `-`, so that `$id.part` reads in one way."""
OnFailure = Literal["continue", "stop", "ask"]


class StepStatus(StrEnum):
    PENDING = "pending"
    BLOCKED = "blocked"
    READY = "ready"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    IN_DOUBT = "inDoubt"
    DENIED = "denied"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in FINAL_STATUSES


FINAL_STATUSES = frozenset(
    {
        StepStatus.BLOCKED,
        StepStatus.COMPLETED,
        StepStatus.FAILED,
        StepStatus.SKIPPED,
        StepStatus.DENIED,
        StepStatus.CANCELLED,
    }
)
"""Where a step can stand when its run has ended; a retry or a run from there opens it again."""

GOOD_STATUSES = frozenset({StepStatus.COMPLETED, StepStatus.SKIPPED})


class RunStatus(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    WAITING = "waiting"
    COMPLETED = "completed"
    PARTIAL = "partial"
    """Every step ended well but for those that a person denied, and what needs them."""
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in _RUN_ENDS

    @property
    def how_it_ended(self) -> str:
        """What is said of a run with this end: it …"""
        ends = {RunStatus.CANCELLED: "was cancelled", RunStatus.PARTIAL: "has ended"}
        return ends.get(self, f"has {self.value}")


_RUN_ENDS = frozenset({RunStatus.COMPLETED, RunStatus.PARTIAL, RunStatus.FAILED, RunStatus.CANCELLED})


class StepResult(WireModel):
    ok: bool
    value: Any = None
    error: str | None = None
    duration: int
    """Milliseconds."""
    timestamp: str
    """When the step ended, UTC, ISO with milliseconds."""

    def wire(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"ok": self.ok}
        if self.ok:
            shown["value"] = self.value
        else:
            shown["error"] = self.error or ""
        return shown | {"duration": self.duration, "timestamp": self.timestamp}


class Step(WireModel):
    id: StepId
    order: int = 0
    description: str = Field(default="", max_length=10_000)
    tool: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    args: dict[str, Any] = Field(default_factory=dict)
    depends_on: tuple[Annotated[str, Field(coerce_numbers_to_str=True)], ...] = ()
    status: StepStatus = StepStatus.PENDING
    result: StepResult | None = None
    requires_approval: bool = False
    critical: bool = False
    retries: int = Field(default=2, ge=0, le=100)
    retry_delay_s: float = Field(default=1.0, ge=0, le=86_400, allow_inf_nan=False)
    timeout_s: float | None = Field(default=None, gt=0, le=31_536_000, allow_inf_nan=False)
    when: str | None = Field(default=None, max_length=10_000)
    for_each: Any = None
    on_failure: OnFailure | None = None
    goal: dict[str, Any] | None = None
    """What the step serves, for planners that insert steps: a reader folds them under it."""

    @property
    def failure_means(self) -> OnFailure:
        if self.on_failure == "ask":
            return "ask"
        return "stop" if self.critical else self.on_failure or "continue"


OPTIONAL_DEFAULTS: dict[str, Any] = {
    "requiresApproval": False,
    "critical": False,
    "retries": 2,
    "retryDelayS": 1.0,
}
"""Optional step fields that are left out of documents while they have their default."""


def step_wire(step: Step) -> dict[str, Any]:
    """A step as documents and answers show it: the spec's fields always, the optional ones where they are set."""
    shown = step.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"result"})
    for name, default in OPTIONAL_DEFAULTS.items():
        if shown.get(name) == default:
            del shown[name]
    if step.result is not None:
        shown["result"] = step.result.wire()
    return shown


class Origin(WireModel):
    """Who made a plan and from what, so that it can be made anew."""

    planner: str = "person"
    model: str | None = None
    """The language model that wrote it, or that read the words it was made from."""
    text: str | None = None
    intent: dict[str, Any] | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class Plan(WireModel):
    id: str = ""
    task_id: str = ""
    version: int = 1
    name: str = Field(default="", max_length=1_000)
    description: str = Field(default="", max_length=10_000)
    scene: str | None = None
    steps: tuple[Step, ...]
    estimated_duration: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    created_at: str = ""
    workspace: str | None = None
    origin: Origin = Origin()
    world: dict[str, Any] | None = None
    """The state of the world it was planned from; it starts only while that still holds."""
    expects: dict[str, dict[str, Any]] | None = None
    """For every step that works on a machine: the state before it, as the plan was verified."""
    notes: tuple[str, ...] = ()
    comparison: dict[str, Any] | None = None
    """What another order of the same goals would have come to, for the review."""

    def wire(self) -> dict[str, Any]:
        shown = self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"steps"})
        for name in ("name", "description", "notes"):
            if not shown.get(name):
                shown.pop(name, None)
        shown["steps"] = [step_wire(step) for step in self.steps]
        return shown


class ParameterSpec(WireModel):
    """One typed parameter of a template: a JSON type, a default and a sentence."""

    type: Literal["string", "number", "integer", "boolean", "array", "object"] = "string"
    description: str = ""
    default: Any = None
    required: bool | None = None
    """Required unless it has a default; said here to override that."""

    @property
    def is_required(self) -> bool:
        return self.required if self.required is not None else self.default is None


class Template(WireModel):
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
    description: str = ""
    parameters: dict[str, ParameterSpec] = Field(default_factory=dict)
    plan: dict[str, Any]
    """The plan's document, with `$params.name` and `${params.name}` where a parameter goes."""
