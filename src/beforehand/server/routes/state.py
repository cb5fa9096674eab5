"""Everything live in one answer, and the tools there are."""

from dataclasses import asdict

from fastapi import APIRouter

from beforehand.app.runtime import Runtime
from beforehand.app.scenes import get_scene
from beforehand.app.state import state_view
from beforehand.ports.tool import ToolSpec
from beforehand.server.callers import RuntimeDep
from beforehand.server.responses import Json
from beforehand.server.shapes import StateShape, ToolShape, gives

router = APIRouter(tags=["state"])


@router.get("/state", operation_id="getState", responses=gives(StateShape))
async def get_state(runtime: RuntimeDep, scene: str | None = None) -> Json:
    """Scenes, robots, worksites, streams, tasks, runs, sessions, decisions, and the `seq` they are true at."""
    if scene:
        await get_scene(runtime, scene)
    return Json(await state_view(runtime, scene or None))


@router.get("/tools", operation_id="listTools", responses=gives(list[ToolShape]))
async def list_tools(runtime: RuntimeDep) -> Json:
    """The tools a step can call, with their arguments."""
    return Json([_shown(spec) for spec in specs(runtime)])


def specs(runtime: Runtime) -> list[ToolSpec]:
    return sorted(runtime.catalog.specs(), key=lambda spec: spec.name)


def _shown(spec: ToolSpec) -> dict[str, object]:
    told = asdict(spec)
    return {
        "name": told["name"],
        "description": told["description"],
        "inputSchema": told["input_schema"],
        "effect": told["effect"],
        "destructive": told["destructive"],
        "asksPerson": told["asks_person"],
        "output": told["output"],
        "outputSchema": told["output_schema"],
        "estimateS": told["estimate_s"],
        "source": told["source"],
    }
