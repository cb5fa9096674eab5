"""Scenes: kept, read and made live by name."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter

from beforehand.app import scenes as verbs
from beforehand.server.answers import DoneWrite, answered_from, changes_nothing
from beforehand.server.callers import RuntimeDep, admins_only
from beforehand.server.request_shapes import Nothing
from beforehand.server.requests import body, document_body
from beforehand.server.responses import Json
from beforehand.server.shapes import SceneCheckShape, SceneHeadShape, SceneShape, gives

router = APIRouter(prefix="/scenes", tags=["scenes"])


async def as_it_is(done: DoneWrite) -> Any:
    return await verbs.shown_scene(done.runtime, await verbs.get_scene(done.runtime, done.path["name"]))


_EITHER = {"application/json": {"schema": {"type": ["object", "string"]}}}
_DOCUMENT_OR_TEXT = {"requestBody": {"required": True, "content": _EITHER}}


@router.get("", operation_id="listScenes", responses=gives(list[SceneHeadShape]))
async def list_scenes(runtime: RuntimeDep) -> Json:
    """The scenes this home knows, without their documents."""
    return Json(await verbs.list_scenes(runtime))


@router.post("/check", operation_id="checkScene", openapi_extra=_DOCUMENT_OR_TEXT, responses=gives(SceneCheckShape))
@changes_nothing
async def check_scene(runtime: RuntimeDep, document: Annotated[Any, document_body()]) -> Json:
    """Everything that is wrong with a scene's document, or with a text that holds one; nothing is kept."""
    return Json(await asyncio.to_thread(verbs.findings, runtime, document))


@router.get("/{name}", operation_id="getScene", responses=gives(SceneShape))
async def get_scene(runtime: RuntimeDep, name: str) -> Json:
    return Json(await verbs.shown_scene(runtime, await verbs.get_scene(runtime, name)))


@router.put(
    "/{name}",
    operation_id="saveScene",
    dependencies=[admins_only()],
    openapi_extra=_DOCUMENT_OR_TEXT,
    responses=gives(SceneShape),
)
@answered_from(as_it_is)
async def save_scene(runtime: RuntimeDep, name: str, document: Annotated[Any, document_body()]) -> Json:
    """Keep a scene, given as its document or as a text; a live one goes on as it was until it is activated again."""
    return Json(await verbs.shown_scene(runtime, await verbs.save_scene(runtime, name, document)))


@router.post(
    "/{name}/activate", operation_id="activateScene", dependencies=[admins_only()], responses=gives(SceneShape)
)
@answered_from(as_it_is)
async def activate_scene(runtime: RuntimeDep, name: str, _: Annotated[Nothing, body(Nothing, optional=True)]) -> Json:
    """Make a scene live; refused where another live scene names one of its machines."""
    return Json(await verbs.shown_scene(runtime, await verbs.activate_scene(runtime, name)))


@router.post(
    "/{name}/deactivate", operation_id="deactivateScene", dependencies=[admins_only()], responses=gives(SceneShape)
)
@answered_from(as_it_is)
async def deactivate_scene(runtime: RuntimeDep, name: str, _: Annotated[Nothing, body(Nothing, optional=True)]) -> Json:
    """Let a live scene rest; refused while something goes on in it."""
    return Json(await verbs.shown_scene(runtime, await verbs.deactivate_scene(runtime, name)))
