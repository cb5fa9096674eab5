"""Worksites of the active fleets: what lies there, and a person's correction of it."""

from typing import Annotated

from fastapi import APIRouter

from beforehand.app.fleets import fleets_of
from beforehand.server.answers import Json
from beforehand.server.bodies import body
from beforehand.server.callers import HouseDep
from beforehand.server.scene_shapes import Occupancy, SceneQuery, WorksiteShape
from beforehand.server.shapes import gives, takes

router = APIRouter(prefix="/worksites", tags=["fleet"])


@router.get("", operation_id="listWorksites", responses=gives(list[WorksiteShape]))
async def list_worksites(house: HouseDep, scene: SceneQuery = None) -> Json:
    """The worksites of all active fleets, or of one."""
    return Json(fleets_of(house).listed("worksites", scene))


@router.get("/{worksite_id}", operation_id="getWorksite", responses=gives(WorksiteShape))
async def get_worksite(house: HouseDep, worksite_id: str, scene: SceneQuery = None) -> Json:
    return Json(fleets_of(house).one("worksites", worksite_id, scene))


@router.patch(
    "/{worksite_id}", operation_id="setOccupancy", openapi_extra=takes(Occupancy), responses=gives(WorksiteShape)
)
async def set_occupancy(
    house: HouseDep, worksite_id: str, asked: Annotated[Occupancy, body(Occupancy)], scene: SceneQuery = None
) -> Json:
    """Say what lies there; under a reservation it corrects what the reservation covers."""
    return Json(await fleets_of(house).patch_worksite(worksite_id, asked.occupancy, scene))
