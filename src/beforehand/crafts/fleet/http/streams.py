"""Streams of the active fleets: switched on and off, set before others, tried out, and why they are silent."""

from typing import Annotated, Any

from beforehand.crafts.fleet.core.inputs import PatchStream
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.http.shapes import StreamPatch, StreamShape, StreamTrialShape, scene_of
from beforehand.server.kit import (
    APIRouter,
    DoneWrite,
    Json,
    ReasonShape,
    RuntimeDep,
    SceneQuery,
    answered_from,
    body,
    changes_nothing,
    gives,
    takes,
)

router = APIRouter(prefix="/streams", tags=["fleet"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Fleets).last_one("streams", done.path["stream_id"], scene_of(done))


@router.get("", operation_id="listStreams", responses=gives(list[StreamShape]))
async def list_streams(runtime: RuntimeDep, scene: SceneQuery = None) -> Json:
    """The streams of all active fleets, or of one."""
    return Json(await runtime.service(Fleets).listed("streams", scene))


@router.get("/{stream_id}", operation_id="getStream", responses=gives(StreamShape))
async def get_stream(runtime: RuntimeDep, stream_id: str, scene: SceneQuery = None) -> Json:
    return Json(await runtime.service(Fleets).one("streams", stream_id, scene))


@router.get("/{stream_id}/why", operation_id="whyStream", responses=gives(list[ReasonShape]))
async def why_stream(runtime: RuntimeDep, stream_id: str, scene: SceneQuery = None) -> Json:
    """Why it starts no task now."""
    return Json([reason.wire() for reason in await runtime.service(Fleets).why(stream_id, scene, ("streams",))])


@router.patch("/{stream_id}", operation_id="setStream", openapi_extra=takes(StreamPatch), responses=gives(StreamShape))
@answered_from(as_it_is)
async def set_stream(
    runtime: RuntimeDep, stream_id: str, asked: Annotated[StreamPatch, body(StreamPatch)], scene: SceneQuery = None
) -> Json:
    """Switch a stream on or off, or set its priority; tasks under way go on."""
    given = PatchStream(stream_id, asked.enabled, asked.priority)
    return Json(await runtime.service(Fleets).patch_stream(given, scene))


@router.post(
    "/{stream_id}/dry-run",
    operation_id="tryStream",
    openapi_extra=takes(StreamPatch, required=False),
    responses=gives(StreamTrialShape),
)
@changes_nothing
async def try_stream(
    runtime: RuntimeDep,
    stream_id: str,
    asked: Annotated[StreamPatch, body(StreamPatch, optional=True)],
    scene: SceneQuery = None,
) -> Json:
    """What it would do now, as it is or as the body would set it; nothing changes."""
    as_if = PatchStream(stream_id, asked.enabled, asked.priority)
    return Json(await runtime.service(Fleets).try_stream(as_if, scene))
