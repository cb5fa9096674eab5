"""Plans: taken in, read in any version, edited, made anew, previewed, started."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request

from beforehand.app import plan_changes as changes
from beforehand.app import plans as verbs
from beforehand.app.craft import Begun
from beforehand.app.off_loop import off_loop
from beforehand.app.reviews import plan_review
from beforehand.app.runs import run_document, start_run
from beforehand.engine.edit import difference
from beforehand.model.errors import BadInputError
from beforehand.server.answers import DoneWrite, answered_from, changes_nothing
from beforehand.server.callers import CallerDep, CorrelationDep, RuntimeDep
from beforehand.server.errors import VersionNeededError
from beforehand.server.middleware import HEADER
from beforehand.server.plan_shapes import (
    BegunShape,
    DifferenceShape,
    PlanHeadShape,
    PlanShape,
    PreviewShape,
    ReviewedPlanShape,
    ReviewShape,
    RunShape,
    VersionShape,
)
from beforehand.server.request_shapes import Edits, NewPlan, PreviewOf, Regenerate, Start, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives
from beforehand.server.workspaces import checked_workspace, require_for_plan

router = APIRouter(prefix="/plans", tags=["plans"])


async def kept_version(done: DoneWrite) -> Json:
    """A version that was kept, with the review that came with it."""
    plan, review = done.event.data, await done.later("decisionOpened")
    shown = dict(plan) if review is None else {**plan, "decision": review.data}
    return Json(shown, 201 if done.event.kind == "planCreated" else 200, version=int(plan["version"]))


async def made_anew(done: DoneWrite) -> Json:
    """The same for a plan that is made anew; where that takes its time, that it has begun."""
    if done.event.kind == "planEdited":
        return await kept_version(done)
    return begun_answer(await changes.begun_by(done.runtime, done.event))


def begun_answer(begun: Begun) -> Json:
    return Json({"planId": begun.plan_id, "follow": begun.follow, "says": begun.says}, 202)


async def started_run(done: DoneWrite) -> Any:
    return await run_document(done.runtime, done.about("runId"))


Number = Annotated[int | None, Query(ge=1)]
_MATCH = re.compile(r'\s*(?:W/)?("?)([0-9]{1,9})\1\s*', re.ASCII)


@router.post(
    "",
    status_code=201,
    operation_id="createPlan",
    openapi_extra=takes(NewPlan),
    responses=gives(ReviewedPlanShape, 201),
)
@answered_from(kept_version)
async def create_plan(
    runtime: RuntimeDep, caller: CallerDep, correlation: CorrelationDep, asked: Annotated[NewPlan, body(NewPlan)]
) -> Json:
    """Take a plan in, or have one made for a scene; it waits for a review."""
    plan, review = await verbs.create_plan(
        runtime,
        asked.given,
        workspace=checked_workspace(runtime, caller, asked.workspace),
        correlation_id=correlation,
        by=caller.name,
    )
    return Json(await off_loop(plan, verbs.plan_answer, plan, review), 201, version=plan.version)


@router.get("", operation_id="listPlans", responses=gives(list[PlanHeadShape]))
async def list_plans(runtime: RuntimeDep, limit: Annotated[int, Query(ge=1, le=10_000)] = 200) -> Json:
    """The plans there are, newest first, without their steps."""
    return Json(await verbs.plan_heads(runtime, limit))


@router.get("/{plan_id}", operation_id="getPlan", responses=gives(PlanShape))
async def get_plan(runtime: RuntimeDep, plan_id: str, version: Number = None) -> Json:
    """The latest version of a plan, or the one asked for."""
    plan = await verbs.get_plan(runtime, plan_id, version)
    return Json(await off_loop(plan, plan.wire), version=plan.version)


@router.get("/{plan_id}/versions", operation_id="listPlanVersions", responses=gives(list[VersionShape]))
async def list_versions(runtime: RuntimeDep, plan_id: str) -> Json:
    """Every version, with what it changed against the one before."""
    return Json(await verbs.plan_versions(runtime, plan_id))


@router.get("/{plan_id}/review", operation_id="reviewPlan", responses=gives(ReviewShape))
async def review(runtime: RuntimeDep, plan_id: str, version: Number = None) -> Json:
    """How a version stands before it starts: its review, its risks, why it would not start now, the plan's runs."""
    return Json(await plan_review(runtime, plan_id, version))


@router.get("/{plan_id}/difference", operation_id="comparePlanVersions", responses=gives(DifferenceShape))
async def compare(
    runtime: RuntimeDep,
    plan_id: str,
    old: Annotated[int, Query(alias="from", ge=1)],
    new: Annotated[int, Query(alias="to")],
) -> Json:
    """What changed between two versions."""
    before, after = await verbs.get_plan(runtime, plan_id, old), await verbs.get_plan(runtime, plan_id, new)
    return Json({"from": old, "to": new, "changes": difference(before, after)})


@router.patch("/{plan_id}", operation_id="editPlan", openapi_extra=takes(Edits), responses=gives(ReviewedPlanShape))
@answered_from(kept_version)
async def edit_plan(
    runtime: RuntimeDep,
    caller: CallerDep,
    plan_id: str,
    asked: Annotated[Edits, body(Edits)],
    if_match: Annotated[str | None, Header(description="The version the edits were made on.")] = None,
) -> Json:
    """Apply edits to the latest version, all or none."""
    await require_for_plan(runtime, caller, plan_id)
    plan, review = await changes.edit_plan(
        runtime, plan_id, matched_version(if_match), asked.edits, by=caller.name, repair=asked.repair
    )
    return Json(await off_loop(plan, verbs.plan_answer, plan, review), version=plan.version)


def matched_version(header: str | None) -> int:
    """The version in an If-Match header: `3`, `"3"` or `W/"3"`."""
    if header is None:
        raise VersionNeededError(
            "An edit needs the header `If-Match` with the version it was made on, such as `If-Match: 3`.",
            hint="GET the plan; its version is in the body and in the ETag.",
        )
    found = _MATCH.fullmatch(header)
    if found is None:
        raise BadInputError(
            f"`If-Match` takes one version number, such as 3, not {header[:100]!r}.", code="plan.version_needed"
        )
    return int(found[2])


@router.post(
    "/{plan_id}/regenerate",
    operation_id="regeneratePlan",
    openapi_extra=takes(Regenerate, required=False),
    responses={**gives(ReviewedPlanShape), **gives(BegunShape, 202)},
)
@answered_from(made_anew)
async def regenerate(
    runtime: RuntimeDep, caller: CallerDep, plan_id: str, asked: Annotated[Regenerate, body(Regenerate, optional=True)]
) -> Json:
    """A new version by the planner that made it, from the present state; 202 where that takes its time."""
    await require_for_plan(runtime, caller, plan_id)
    begun = await changes.begin_again(runtime, plan_id, asked.note, by=caller.name)
    if begun is not None:
        return begun_answer(begun)
    plan, review = await changes.regenerate_plan(runtime, plan_id, asked.note, by=caller.name)
    return Json(await off_loop(plan, verbs.plan_answer, plan, review), version=plan.version)


@router.post(
    "/{plan_id}/preview",
    operation_id="previewPlan",
    openapi_extra=takes(PreviewOf, required=False),
    responses=gives(PreviewShape),
)
@changes_nothing
async def preview(
    runtime: RuntimeDep,
    plan_id: str,
    asked: Annotated[PreviewOf, body(PreviewOf, optional=True)],
    version: Number = None,
) -> Json:
    """What the plan would do, without doing it."""
    plan = await verbs.get_plan(runtime, plan_id, asked.version or version)
    return Json(await verbs.preview(runtime, plan))


@router.post(
    "/{plan_id}/runs",
    status_code=201,
    operation_id="startRun",
    openapi_extra=takes(Start),
    responses=gives(RunShape, 201),
)
@answered_from(started_run)
async def start(
    runtime: RuntimeDep, caller: CallerDep, request: Request, plan_id: str, asked: Annotated[Start, body(Start)]
) -> Json:
    """Approve that version and start it; its review is answered by this."""
    await require_for_plan(runtime, caller, plan_id)
    brought = request.state.correlation_id if HEADER in request.headers else ""
    return Json(await start_run(runtime, plan_id, asked.version, by=caller.name, correlation_id=brought), 201)
