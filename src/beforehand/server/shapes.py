"""The shapes of the API: what calls take, checked; and what they answer, for the schema and its clients.

An answer has no field that its shape does not name. Crafts bring the shapes of their own calls.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from beforehand.app.intake import NO_DOCUMENT, PlanInput
from beforehand.model.base import WireModel
from beforehand.model.plan import OnFailure, RunStatus, StepStatus

Version = Annotated[int, Field(strict=True, ge=1)]
Text = Annotated[str, Field(strict=True, max_length=10_000)]


# -- what calls take -------------------------------------------------------------------------------------------------


class NewPlan(WireModel):
    """A plan's document, or what somebody wants of a scene: in words, or as an intent."""

    plan: Any = Field(default=None, description="The plan's document: `steps`, each with `id` and `tool`.")
    scene: str | None = None
    text: Text | None = None
    intent: dict[str, Any] | None = None
    order: Literal["given", "free"] | None = None
    position: str | None = None
    tool: str | None = None
    model: str | None = Field(
        default=None,
        description="May read words that the scene's planner refuses: a name, or `configured` for the one that is set.",
    )
    workspace: Text | None = Field(default=None, description="The folder file tools stay inside; for admins.")

    @property
    def given(self) -> PlanInput:
        """What the call hands in."""
        named = {"order": self.order, "position": self.position, "tool": self.tool, "model": self.model}
        options = {name: value for name, value in named.items() if value is not None}
        document = NO_DOCUMENT if self.plan is None else self.plan
        return PlanInput(document, self.scene, self.text, self.intent, options)

    @model_validator(mode="before")
    @classmethod
    def _bare_plan(cls, body: Any) -> Any:
        """A plan may also be sent as it is, without `plan` around it."""
        return {"plan": body} if isinstance(body, dict) and "steps" in body and "plan" not in body else body


class Edits(WireModel):
    """Edits, applied all or none: edit, move, skip, unskip, remove, add."""

    edits: list[dict[str, Any]]
    repair: bool = Field(default=False, description="Take the repair a scene's planner offers for a broken sequence.")


class Regenerate(WireModel):
    note: Text = ""


class PreviewOf(WireModel):
    version: Version | None = Field(default=None, description="The latest when left out.")


class Start(WireModel):
    version: Version


class Retry(WireModel):
    args: dict[str, Any] | None = Field(default=None, description="Other arguments; the step's own when left out.")


class Nothing(WireModel):
    """A call that needs no body."""


class Reply(WireModel):
    """An answer to a decision: one of its verbs, and what goes with it."""

    verb: Text
    note: Text = ""
    value: Any = None


class Parameters(WireModel):
    parameters: dict[str, Any] = Field(default_factory=dict)
    workspace: Text | None = Field(default=None, description="The folder file tools stay inside; for admins.")


class Login(WireModel):
    token: Annotated[str, Field(strict=True, min_length=1, max_length=1_000)]


class NewToken(WireModel):
    """A token's name, and what it may do."""

    name: Annotated[str, Field(strict=True, max_length=100)]
    role: Annotated[str, Field(strict=True, max_length=100)] = "operator"


REQUESTS: tuple[type[WireModel], ...] = (
    NewToken,
    NewPlan,
    Edits,
    Regenerate,
    PreviewOf,
    Start,
    Retry,
    Nothing,
    Reply,
    Parameters,
    Login,
)


def takes(model: type[WireModel], *, required: bool = True) -> dict[str, Any]:
    """The schema's words for a request body."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    return {"requestBody": {"required": required, "content": content}}


# -- what calls answer -----------------------------------------------------------------------------------------------


class Shape(BaseModel):
    """The shape of an answer: it has these fields and no others, which the tests hold every answer to."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", serialize_by_alias=True)


class ReasonShape(Shape):
    code: str
    about: str
    says: str
    try_next: str = ""


class ProblemShape(ReasonShape):
    path: str = ""
    nearest: list[str] = []
    fixable_by: Annotated[str | None, Field(alias="fixable_by")] = None


class ErrorShape(Shape):
    """What every refusal looks like; some carry further fields that say what differs."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow", serialize_by_alias=True)

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str | None = None
    problems: list[ProblemShape] | None = None
    nearest: list[str] | None = None


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
    options: dict[str, Any] = {}


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


class SummaryShape(Shape):
    completed: int
    failed: int
    skipped: int
    denied: int
    cancelled: int
    in_doubt: int
    blocked: int
    first_error: str | None = None


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
    summary: SummaryShape | None = None


class RunShape(RunHeadShape):
    steps: list[StepShape]
    decisions: list[DecisionShape]


class TemplateShape(Shape):
    name: str
    description: str
    parameters: dict[str, Any]
    plan: dict[str, Any]


class SceneHeadShape(Shape):
    name: str
    kind: str
    active: bool
    saved_at: str


class SceneShape(SceneHeadShape):
    document: dict[str, Any]


class ToolShape(Shape):
    name: str
    description: str
    input_schema: dict[str, Any]
    effect: Literal["pure", "idempotent", "physical"]
    destructive: Literal["never", "always", "judged"]
    asks_person: bool
    output: str
    output_schema: dict[str, Any] | None = None
    estimate_s: float
    can_probe: bool
    scene_kind: str | None = None
    source: str


class HeldThingShape(Shape):
    """One thing that is held with everything: what a craft moves, or a run."""

    scene: str | None = None
    kind: str
    what: str
    run_id: str | None = None


class NotToldShape(HeldThingShape):
    says: str = Field(description="Why it could not be held, or let go.")


class HoldShape(Shape):
    """Who holds everything, since when, and what was held for it."""

    by: str
    since: str
    what: list[HeldThingShape]


class HoldAnswerShape(Shape):
    held: bool
    already: bool = Field(description="It was so before the call.")
    by: str | None = None
    since: str | None = None
    what: list[HeldThingShape] = Field(description="What is held; for a clear, what was given back.")
    could_not: list[NotToldShape]


class StateShape(Shape):
    """Everything live; crafts add their own lists."""

    seq: int
    hold: HoldShape | None = Field(default=None, description="While everything is held: by whom, since when, and what.")
    scenes: list[SceneHeadShape]
    runs: list[RunHeadShape]
    decisions: list[DecisionShape]


class EventShape(Shape):
    """One event of the log; the `data:` of each server-sent event."""

    seq: int
    ts: str
    kind: str
    scene: str | None = None
    correlation_id: str
    about: dict[str, Any]
    data: dict[str, Any]
    says: str = Field(description="The event in words.")


class WhoShape(Shape):
    name: str
    role: Literal["viewer", "operator", "admin"]


class SceneCheckShape(Shape):
    """What is wrong with a scene's document and what is odd about it."""

    ok: bool
    kind: str | None = None
    name: str | None = None
    summary: dict[str, int] | None = Field(default=None, description="How many it has of each, such as positions.")
    problems: list[ProblemShape]
    warnings: list[ProblemShape]


class StatusShape(Shape):
    status: Literal["ok"]


class HealthShape(StatusShape):
    version: str
    seq: int
    uptime_s: float
    now: int = Field(description="Milliseconds since 1970 by the server's clock, which deadlines are told in.")


def gives(model: Any, status: int = 200, description: str = "Done.") -> dict[int | str, dict[str, Any]]:
    """The schema's words for an answer; refusals look the same everywhere."""
    return {status: {"model": model, "description": description}, "default": REFUSAL}


def one_event(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema's words for one server-sent event whose `data` is JSON of this schema."""
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    text = {"type": "string"}
    return {"type": "object", "properties": {"id": text, "event": text, "data": data}, "required": ["data"]}


REFUSAL: dict[str, Any] = {
    "description": "Refused; the problem says why and what to do.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}},
}
ALWAYS_NAMED: tuple[type[Shape], ...] = (ErrorShape, EventShape)
"""Shapes the schema names although no call answers with them as plain JSON."""
