"""Streams of the active fleets: switched on and off, and why they are silent."""

from typing import Annotated

from fastapi import APIRouter

from beforehand.crafts.fleet.fleets import fleets_of
from beforehand.crafts.fleet.http.shapes import Enabled, SceneQuery, StreamShape
from beforehand.server.callers import RuntimeDep
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import ReasonShape, gives, takes

router = APIRouter(prefix="/streams", tags=["fleet"])


@router.get("", operation_id="listStreams", responses=gives(list[StreamShape]))
async def list_streams(runtime: RuntimeDep, scene: SceneQuery = None) -> Json:
    """The streams of all active fleets, or of one."""
    return Json(fleets_of(runtime).listed("streams", scene))


@router.get("/{stream_id}", operation_id="getStream", responses=gives(StreamShape))
async def get_stream(runtime: RuntimeDep, stream_id: str, scene: SceneQuery = None) -> Json:
    return Json(fleets_of(runtime).one("streams", stream_id, scene))


@router.get("/{stream_id}/why", operation_id="whyStream", responses=gives(list[ReasonShape]))
async def why_stream(runtime: RuntimeDep, stream_id: str, scene: SceneQuery = None) -> Json:
    """Why it starts no task now."""
    return Json([reason.wire() for reason in fleets_of(runtime).why(stream_id, scene, ("streams",))])


@router.patch("/{stream_id}", operation_id="setStream", openapi_extra=takes(Enabled), responses=gives(StreamShape))
async def set_stream(
    runtime: RuntimeDep, stream_id: str, asked: Annotated[Enabled, body(Enabled)], scene: SceneQuery = None
) -> Json:
    """Switch a stream on or off; tasks under way go on."""
    return Json(await fleets_of(runtime).patch_stream(stream_id, asked.enabled, scene))
