"""Templates: plans kept for reuse, with typed parameters."""

from typing import Annotated, Any

from fastapi import APIRouter

from beforehand.app import templates as verbs
from beforehand.app.plans import plan_answer
from beforehand.server.answers import DoneWrite, answered_from
from beforehand.server.callers import CallerDep, CorrelationDep, RuntimeDep, admins_only
from beforehand.server.plan_shapes import ReviewedPlanShape, TemplateShape
from beforehand.server.request_shapes import Parameters, takes
from beforehand.server.requests import body, document_body
from beforehand.server.responses import Json
from beforehand.server.routes.plans import kept_version
from beforehand.server.shapes import gives
from beforehand.server.workspaces import checked_workspace

router = APIRouter(prefix="/templates", tags=["templates"])


async def as_saved(done: DoneWrite) -> Any:
    return done.event.data


_DOCUMENT = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}}


@router.get("", operation_id="listTemplates", responses=gives(list[TemplateShape]))
async def list_templates(runtime: RuntimeDep) -> Json:
    """The templates and their parameters."""
    return Json(await verbs.list_templates(runtime))


@router.get("/{name}", operation_id="getTemplate", responses=gives(TemplateShape))
async def get_template(runtime: RuntimeDep, name: str) -> Json:
    return Json((await verbs.get_template(runtime, name)).wire())


@router.put(
    "/{name}",
    operation_id="saveTemplate",
    dependencies=[admins_only()],
    openapi_extra=_DOCUMENT,
    responses=gives(TemplateShape),
)
@answered_from(as_saved)
async def save_template(runtime: RuntimeDep, name: str, document: Annotated[Any, document_body()]) -> Json:
    """Keep `{plan, parameters}`, or a plan with `parameters` beside its steps, under a name."""
    return Json((await verbs.save_template(runtime, name, document)).wire())


@router.post(
    "/{name}/plans",
    status_code=201,
    operation_id="planFromTemplate",
    openapi_extra=takes(Parameters, required=False),
    responses=gives(ReviewedPlanShape, 201),
)
@answered_from(kept_version)
async def plan_from_template(
    runtime: RuntimeDep,
    caller: CallerDep,
    correlation: CorrelationDep,
    name: str,
    asked: Annotated[Parameters, body(Parameters, optional=True)],
) -> Json:
    """Fill a template in and take the plan in for review."""
    plan, review = await verbs.plan_from_template(
        runtime,
        name,
        asked.parameters,
        workspace=checked_workspace(runtime, caller, asked.workspace),
        correlation_id=correlation,
        by=caller.name,
    )
    return Json(plan_answer(plan, review), 201, version=plan.version)
