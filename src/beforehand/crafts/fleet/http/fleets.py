"""Whole fleets: held and let go, and why things in them stand still."""

from typing import Annotated, Any

from fastapi import APIRouter

from beforehand.crafts.fleet.fleets import fleets_of
from beforehand.crafts.fleet.http.shapes import FleetShape, SceneQuery
from beforehand.server.callers import RuntimeDep
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import Nothing, ReasonShape, gives

router = APIRouter(prefix="/fleet", tags=["fleet"])
NoBody = Annotated[Nothing, body(Nothing, optional=True)]


@router.get("/why", operation_id="whyFleet", responses=gives(list[ReasonShape]))
async def why(runtime: RuntimeDep, name: str | None = None, scene: SceneQuery = None) -> Json:
    """Why a robot, task or stream does what it does; without a name, everything that stands still and why."""
    return Json([reason.wire() for reason in fleets_of(runtime).why(name or None, scene)])


@router.post("/{scene}/hold", operation_id="holdFleet", responses=gives(FleetShape))
async def hold(runtime: RuntimeDep, scene: str, _: NoBody) -> Any:
    """Stop every robot of the scene and all dispatch. This is no safety stop."""
    return Json(await fleets_of(runtime).fleet_verb(scene, "hold"))


@router.post("/{scene}/clear", operation_id="clearFleet", responses=gives(FleetShape))
async def clear(runtime: RuntimeDep, scene: str, _: NoBody) -> Any:
    """Let the fleet go on; held tasks still wait for their answers."""
    return Json(await fleets_of(runtime).fleet_verb(scene, "clear"))
