"""The installation itself: what it brings, how it is set, and whether it is well."""

from fastapi import APIRouter

from beforehand.app.doctor import diagnosis
from beforehand.app.installed import installed
from beforehand.app.settings import shown_settings
from beforehand.server.callers import RuntimeDep, admins_only
from beforehand.server.installation_shapes import DoctorShape, PluginsShape, SettingsShape
from beforehand.server.responses import Json
from beforehand.server.shapes import gives

router = APIRouter(tags=["installation"])


@router.get("/plugins", operation_id="listPlugins", responses=gives(PluginsShape))
async def list_plugins(runtime: RuntimeDep) -> Json:
    """The crafts, plug-ins and tools there are, and what could not be loaded."""
    return Json(installed(runtime))


@router.get("/settings", operation_id="listSettings", dependencies=[admins_only()], responses=gives(SettingsShape))
async def list_settings(runtime: RuntimeDep) -> Json:
    """Every setting, its value and where it comes from; secrets are hidden."""
    return Json(shown_settings(runtime.settings))


@router.get("/doctor", operation_id="examine", responses=gives(DoctorShape))
async def examine(runtime: RuntimeDep) -> Json:
    """Whether everything is there and well, and if not, what to do: what `beforehand doctor` says."""
    return Json(await diagnosis(runtime.settings, installed(runtime)))
