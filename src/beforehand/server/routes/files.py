"""Files that scenes name: kept, listed and read by name."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter

from beforehand.app import scene_files as verbs
from beforehand.app.scene_file_uses import file_uses
from beforehand.server.answers import DoneWrite, answered_from
from beforehand.server.callers import RuntimeDep, admins_only
from beforehand.server.requests import document_body
from beforehand.server.responses import Json
from beforehand.server.shapes import SceneFileHeadShape, SceneFileShape, SceneFileUseShape, gives

router = APIRouter(prefix="/files", tags=["scenes"])


async def as_saved(done: DoneWrite) -> Any:
    """The file's entry; one that was kept so already left no event of its own."""
    name = f"{done.path['folder']}/{done.path['name']}"
    if done.event.kind == verbs.SAVED:
        return done.event.data
    found = await asyncio.to_thread(verbs.list_files, done.runtime.files)
    return next(entry for entry in found if entry["name"] == name)


_DOCUMENT = {"requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}}


@router.get("", operation_id="listFiles", responses=gives(list[SceneFileHeadShape]))
async def list_files(runtime: RuntimeDep) -> Json:
    """The files that are kept for scenes, without what is in them."""
    return Json(await asyncio.to_thread(verbs.list_files, runtime.files))


@router.get("/uses", operation_id="listFileUses", responses=gives(list[SceneFileUseShape]))
async def list_uses(runtime: RuntimeDep) -> Json:
    """The scenes that name files: which, whether they are kept, and what the scene's check finds now."""
    return Json(await file_uses(runtime))


@router.get("/{folder}/{name}", operation_id="getFile", responses=gives(SceneFileShape))
async def get_file(runtime: RuntimeDep, folder: str, name: str) -> Json:
    return Json(await asyncio.to_thread(verbs.get_file, runtime.files, f"{folder}/{name}"))


@router.put(
    "/{folder}/{name}",
    operation_id="saveFile",
    dependencies=[admins_only()],
    openapi_extra=_DOCUMENT,
    responses=gives(SceneFileHeadShape),
)
@answered_from(as_saved)
async def save_file(runtime: RuntimeDep, folder: str, name: str, document: Annotated[Any, document_body()]) -> Json:
    """Keep a file, or its next version, after a check of its name, its size and its form."""
    return Json(await verbs.save_file(runtime, f"{folder}/{name}", document))
