"""Drafts over HTTP: begun at once, followed as events or by asking, and stopped."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from beforehand.crafts.drafting.drafts import Asked, Drafts
from beforehand.server.kit import (
    APIRouter,
    CallerDep,
    DoneWrite,
    HttpPart,
    Json,
    NoBody,
    ProblemShape,
    ReasonShape,
    RuntimeDep,
    Shape,
    WireModel,
    answered_from,
    body,
    changes_nothing,
    gives,
    takes,
)
from beforehand.server.workspaces import checked_workspace

Name = Annotated[str, Field(strict=True, max_length=2_000)]


class DraftBudget(WireModel):
    """What a model may use for one draft; 20 requests and 15 minutes unless said otherwise."""

    requests: Annotated[int, Field(ge=1)] | None = None
    tokens: Annotated[int, Field(ge=1)] | None = None
    money: Annotated[float, Field(gt=0)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None


class NewDraft(WireModel):
    """What is wanted, in words, and who is to write it."""

    text: Annotated[str, Field(strict=True, max_length=20_000)]
    workspace: Name | None = Field(default=None, description="The folder file tools stay inside; for admins.")
    model: Name | None = Field(default=None, description="The model; the one that is configured when left out.")
    scene: Annotated[str, Field(strict=True, max_length=200)] | None = None
    budget: DraftBudget | None = None


class TryShape(Shape):
    number: int = Field(alias="try")
    problems: list[str]


class UsageShape(Shape):
    requests: int
    input_tokens: int
    output_tokens: int
    money: float | None = None
    seconds: float
    estimated: bool | None = Field(default=None, description="Tokens are reckoned from bytes: nobody told them.")


class DraftShape(Shape):
    draft_id: str
    status: str = Field(description="`drafting`, `finished` or `failed`.")
    text: str
    model: str
    started_at: str
    ended_at: str | None = None
    workspace: str | None = None
    scene: str | None = None
    budget: dict[str, float] | None = None
    by: str | None = None
    note: str | None = None
    plan_id: str | None = Field(default=None, description="The plan that came of it, or that is made anew.")
    version: int | None = None
    tries: list[TryShape]
    reason: ProblemShape | None = None
    usage: UsageShape | None = None


class SentShape(Shape):
    role: str
    text: str


class DraftDryRunShape(Shape):
    model: str | None = Field(default=None, description="The model that would be asked.")
    reason: ReasonShape | None = Field(default=None, description="Why none can be asked now.")
    system: str
    messages: list[SentShape]
    answer_schema: Annotated[dict[str, Any], Field(alias="schema")]


router = APIRouter(prefix="/drafts", tags=["drafting"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Drafts).show(done.path.get("draft_id") or done.about("draftId"))


@router.post(
    "",
    status_code=202,
    operation_id="startDraft",
    openapi_extra=takes(NewDraft),
    responses=gives(DraftShape, 202),
)
@answered_from(as_it_is)
async def start_draft(runtime: RuntimeDep, caller: CallerDep, asked: Annotated[NewDraft, body(NewDraft)]) -> Json:
    """Have a model draft a plan; it goes on as events, and the plan then waits for a review."""
    wanted = Asked(
        asked.text,
        checked_workspace(runtime, caller, asked.workspace),
        asked.model or None,
        asked.scene or None,
        asked.budget.wire() if asked.budget else {},
        caller.name,
    )
    return Json(await runtime.service(Drafts).start(wanted), 202)


@router.post("/dry-run", operation_id="dryRunDraft", openapi_extra=takes(NewDraft), responses=gives(DraftDryRunShape))
@changes_nothing
async def dry_run(runtime: RuntimeDep, caller: CallerDep, asked: Annotated[NewDraft, body(NewDraft)]) -> Json:
    """What would be sent to the model, and why it cannot be sent if it cannot; nothing is."""
    wanted = Asked(
        asked.text, checked_workspace(runtime, caller, asked.workspace), asked.model or None, asked.scene or None
    )
    return Json(await runtime.service(Drafts).dry_run(wanted))


@router.get("", operation_id="listDrafts", responses=gives(list[DraftShape]))
async def list_drafts(runtime: RuntimeDep, limit: Annotated[int, Query(ge=1, le=10_000)] = 200) -> Json:
    """Drafts, newest first."""
    return Json(await runtime.service(Drafts).listed(limit))


@router.get("/{draft_id}", operation_id="getDraft", responses=gives(DraftShape))
async def get_draft(runtime: RuntimeDep, draft_id: str) -> Json:
    """A draft as it stands: what was wrong with each try, and the plan that came of it."""
    return Json(await runtime.service(Drafts).show(draft_id))


@router.post("/{draft_id}/stop", operation_id="stopDraft", responses=gives(DraftShape))
@answered_from(as_it_is)
async def stop_draft(runtime: RuntimeDep, caller: CallerDep, draft_id: str, nothing: NoBody) -> Json:
    """Wait for the model no longer."""
    return Json(await runtime.service(Drafts).stop(draft_id, by=caller.name))


HTTP = HttpPart(routers=(router,), requests=(NewDraft,), state={"drafts": DraftShape})
