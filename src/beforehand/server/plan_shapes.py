"""What calls answer about plans: steps and decisions, versions, previews and reviews, runs, templates."""

from typing import Annotated, Any, Literal

from pydantic import Field

from beforehand.model.plan import OnFailure, RunStatus, StepStatus
from beforehand.server.shapes import ProblemShape, ReasonShape, Shape


class ResultShape(Shape):
    ok: bool
    value: Any = None
    error: str | None = None
    duration: int
    timestamp: str


class LogLineShape(Shape):
    ts: str
    line: str


class StepShape(Shape):
    """A step of a plan; in a run also how it stands there."""

    id: str
    order: int
    description: str = ""
    tool: str
    args: dict[str, Any]
    depends_on: list[str]
    status: StepStatus
    result: ResultShape | None = None
    requires_approval: bool | None = None
    critical: bool | None = None
    retries: int | None = None
    retry_delay_s: float | None = None
    timeout_s: float | None = None
    when: str | None = None
    for_each: Any = None
    on_failure: OnFailure | None = None
    goal: dict[str, Any] | None = None
    reason: ReasonShape | None = None
    attempt: int | None = None
    retry_at: str | int | None = None
    stopping: bool | None = Field(default=None, description="It was told to stop, and what became of it is not known.")
    logs: list[LogLineShape] | None = None
    parent: str | None = Field(default=None, description="The step with `forEach` that this one is an item of.")
    item: Any = None


class AnswerShape(Shape):
    verb: str
    value: Any = None
    note: str = ""
    by: str = ""
    at: str = ""


class DecisionShape(Shape):
    id: str
    kind: str
    owner: str
    title: str
    about: dict[str, Any]
    evidence: dict[str, Any]
    verbs: list[str]
    effects: dict[str, str]
    values: dict[str, dict[str, Any]] = Field(
        default={}, description="The JSON schema of what goes with a verb, for those that take a value."
    )
    if_unanswered: str
    asked_by: str
    covers: str
    opened_at: str
    status: Literal["open", "answered", "withdrawn"]
    answer: AnswerShape | None = None
    why: str | None = Field(default=None, description="Why it was withdrawn.")
    run_id: str | None = Field(default=None, description="The run that the answer to a review started.")


class OriginShape(Shape):
    planner: str
    model: str | None = None
    text: str | None = None
    intent: dict[str, Any] | None = None
    options: dict[str, Any] = Field(default={})


class PlanShape(Shape):
    id: str
    task_id: str
    version: int
    name: str | None = None
    description: str | None = None
    scene: str | None = None
    steps: list[StepShape]
    estimated_duration: float | None = None
    created_at: str
    workspace: str | None = None
    origin: OriginShape | None = None
    world: dict[str, Any] | None = None
    expects: dict[str, dict[str, Any]] | None = Field(
        default=None, description="The state before each step that works on a machine, as the plan was verified."
    )
    notes: list[str] | None = None
    comparison: dict[str, Any] | None = None


class ReviewedPlanShape(PlanShape):
    """A plan with the review it waits for."""

    decision: DecisionShape


class IntentStepShape(Shape):
    says: str = Field(description="The step in words.")
    text: str | None = Field(default=None, description="The piece of the sentence it was read from.")


class IntentShape(Shape):
    """What was understood of a request, before anything is planned."""

    scene: str
    intent: dict[str, Any] = Field(description="With a list `steps`; `POST /plans` takes it, corrected or not.")
    steps: list[IntentStepShape] = Field(description="What each of the intent's steps says.")
    step_schema: dict[str, Any] = Field(description="The JSON schema of a step; the names in it are the scene's.")
    notes: list[str]
    model: str | None = Field(default=None, description="The model that read the words, where the grammar did not.")


class BegunShape(Shape):
    """A plan that is being made anew by a planner that takes its time; it goes on as events."""

    plan_id: str
    follow: str = Field(description="The call, below `/api/v1`, that says how far it is.")
    says: str


class PlanHeadShape(Shape):
    id: str
    task_id: str | None = None
    version: int
    name: str | None = None
    scene: str | None = None
    step_count: int
    created_at: str
    correlation_id: str
    planner: str


class VersionShape(Shape):
    version: int
    created_at: str
    step_count: int
    latest: bool
    changes: list[dict[str, Any]]


class DifferenceShape(Shape):
    from_: Annotated[int, Field(alias="from")]
    to: int
    changes: list[dict[str, Any]]


class DiffShape(Shape):
    step_id: str
    diff: str


class TimelineShape(Shape):
    step_id: str | int
    start_s: float
    end_s: float
    says: str | None = None
    diff: str | None = None
    needs_approval: bool | None = None
    destroys: Annotated[bool | None, Field(description="Its tool says that this call destroys something.")] = None
    tool: str | None = None
    name: str | None = None
    action: str | None = None
    from_: Annotated[str | None, Field(alias="from")] = None
    position: str | None = None


class PreviewShape(Shape):
    duration_s: float
    moves: int
    tool_changes: int
    timeline: list[TimelineShape]
    end: dict[str, Any]
    end_says: str | None = None
    problems: list[ProblemShape]
    most_at_once: int | None = None
    approvals: list[str] | None = None
    diffs: list[DiffShape] | None = None


class RiskShape(Shape):
    kind: Literal["physical", "destructive", "outside", "duration", "mismatch"]
    says: str
    steps: list[str]


class PlanRunShape(Shape):
    run_id: str
    version: int
    status: RunStatus
    started_at: str


class ReviewShape(Shape):
    plan_id: str
    version: int
    latest_version: int
    decision: DecisionShape | None = None
    risks: list[RiskShape]
    why_not: Annotated[list[ReasonShape], Field(description="Why this version would not start as things are now.")]
    runs: Annotated[list[PlanRunShape], Field(description="The runs of the plan, newest first.")]


class SummaryShape(Shape):
    completed: int
    failed: int
    skipped: int
    denied: int
    cancelled: int
    in_doubt: int
    blocked: int
    first_error: str | None = None


class ProgressShape(Shape):
    """How many steps of a run have ended."""

    done: int
    total: int


class RunHeadShape(Shape):
    run_id: str
    plan_id: str
    task_id: str
    version: int
    status: RunStatus
    name: str | None = None
    scene: str | None = None
    started_at: str
    started_by: str
    finished_at: str | None = None
    duration_ms: int | None = None
    paused: bool | None = None
    cancelling: bool | None = None
    stopped_by: str | None = None
    machines: list[str] | None = Field(default=None, description="The machines it holds.")
    reason: ReasonShape | None = Field(
        default=None, description="Why it waits, where a scene that it works in should be live and is not."
    )
    summary: SummaryShape | None = None
    says: str | None = Field(default=None, description="In `GET /state`: what a run that goes on does, in words.")
    progress: ProgressShape | None = Field(default=None, description="In `GET /state`: how far it is.")


class RunShape(RunHeadShape):
    steps: list[StepShape]
    decisions: list[DecisionShape]


class TemplateShape(Shape):
    name: str
    description: str
    parameters: dict[str, Any]
    plan: dict[str, Any]
