"""Worksites of the active fleets: what lies there, and a person's correction of it."""

from typing import Annotated, Any

from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.http.shapes import Occupancy, WorksiteShape, WorksiteTrialShape, scene_of
from beforehand.server.kit import (
    APIRouter,
    DoneWrite,
    Json,
    RuntimeDep,
    SceneQuery,
    answered_from,
    body,
    changes_nothing,
    gives,
    takes,
)

router = APIRouter(prefix="/worksites", tags=["fleet"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Fleets).last_one("worksites", done.path["worksite_id"], scene_of(done))


@router.get("", operation_id="listWorksites", responses=gives(list[WorksiteShape]))
async def list_worksites(runtime: RuntimeDep, scene: SceneQuery = None) -> Json:
    """The worksites of all active fleets, or of one."""
    return Json(await runtime.service(Fleets).listed("worksites", scene))


@router.get("/{worksite_id}", operation_id="getWorksite", responses=gives(WorksiteShape))
async def get_worksite(runtime: RuntimeDep, worksite_id: str, scene: SceneQuery = None) -> Json:
    return Json(await runtime.service(Fleets).one("worksites", worksite_id, scene))


@router.patch(
    "/{worksite_id}", operation_id="setOccupancy", openapi_extra=takes(Occupancy), responses=gives(WorksiteShape)
)
@answered_from(as_it_is)
async def set_occupancy(
    runtime: RuntimeDep, worksite_id: str, asked: Annotated[Occupancy, body(Occupancy)], scene: SceneQuery = None
) -> Json:
    """Say what lies there; under a reservation it corrects what the reservation covers."""
    return Json(await runtime.service(Fleets).patch_worksite(worksite_id, asked.occupancy, scene))


@router.post(
    "/{worksite_id}/dry-run",
    operation_id="tryOccupancy",
    openapi_extra=takes(Occupancy),
    responses=gives(WorksiteTrialShape),
)
@changes_nothing
async def try_occupancy(
    runtime: RuntimeDep, worksite_id: str, asked: Annotated[Occupancy, body(Occupancy)], scene: SceneQuery = None
) -> Json:
    """Whom it would affect if that were said; nothing changes."""
    return Json(await runtime.service(Fleets).try_worksite(worksite_id, asked.occupancy, scene))
