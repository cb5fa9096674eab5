"""The words of the API: what calls take, checked; and what they answer, for the schema and its clients.

Answers carry more fields than are named here wherever a craft adds some; the ones named are always as they say.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from beforehand.model.base import WireModel
from beforehand.model.decision import DecisionKind
from beforehand.model.plan import RunStatus, StepStatus

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
    workspace: Text | None = Field(default=None, description="The folder file tools stay inside; for admins.")

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


REQUESTS: tuple[type[WireModel], ...] = (
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
    model_config = ConfigDict(alias_generator=to_camel, extra="allow", serialize_by_alias=True)


class ReasonShape(Shape):
    code: str
    about: str
    says: str
    try_next: str = ""


class ProblemShape(ReasonShape):
    path: str = ""
    nearest: list[str] = []


class ErrorShape(Shape):
    """What every refusal looks like."""

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


class StepShape(Shape):
    id: str
    order: int
    description: str = ""
    tool: str
    args: dict[str, Any]
    depends_on: list[str]
    status: StepStatus
    result: ResultShape | None = None
    reason: ReasonShape | None = None
    requires_approval: bool | None = None
    attempt: int | None = None


class DecisionShape(Shape):
    id: str
    kind: DecisionKind
    title: str
    about: dict[str, Any]
    evidence: dict[str, Any]
    verbs: list[str]
    effects: dict[str, str]
    if_unanswered: str
    opened_at: str
    status: Literal["open", "answered", "withdrawn"]
    answer: dict[str, Any] | None = None


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
    notes: list[str] | None = None


class ReviewedPlanShape(PlanShape):
    """A plan with the review it waits for."""

    decision: DecisionShape


class PlanHeadShape(Shape):
    id: str
    version: int
    name: str | None = None
    scene: str | None = None
    step_count: int
    created_at: str


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


class TimelineShape(Shape):
    step_id: str
    start_s: float
    end_s: float
    says: str | None = None
    diff: str | None = None


class PreviewShape(Shape):
    duration_s: float
    moves: int
    tool_changes: int
    timeline: list[TimelineShape]
    end: dict[str, Any]
    problems: list[dict[str, Any]]


class RunHeadShape(Shape):
    run_id: str
    plan_id: str
    version: int
    status: RunStatus
    name: str | None = None
    scene: str | None = None
    started_at: str
    duration_ms: int | None = None


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
    source: str


class StateShape(Shape):
    seq: int
    scenes: list[SceneHeadShape]
    robots: list[dict[str, Any]]
    worksites: list[dict[str, Any]]
    streams: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    sessions: list[dict[str, Any]]
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


class WhoShape(Shape):
    name: str
    role: Literal["viewer", "operator", "admin"]


class HealthShape(Shape):
    status: Literal["ok"]
    version: str
    seq: int
    uptime_s: float


def gives(model: Any, status: int = 200, description: str = "Done.") -> dict[int | str, dict[str, Any]]:
    """The schema's words for an answer; refusals look the same everywhere."""
    return {status: {"model": model, "description": description}, "default": REFUSAL}


REFUSAL: dict[str, Any] = {
    "description": "Refused; the problem says why and what to do.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ErrorShape"}}},
}
ALWAYS_NAMED: tuple[type[Shape], ...] = (ErrorShape, EventShape)
"""Shapes the schema names although no call answers with them as plain JSON."""
