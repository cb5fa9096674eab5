"""Everything live in one answer, and the tools there are."""

from dataclasses import asdict

from fastapi import APIRouter

from beforehand.app.house import House
from beforehand.app.scenes import get_scene
from beforehand.app.view import state_view
from beforehand.ports.tool import ToolSpec
from beforehand.server.answers import Json
from beforehand.server.callers import HouseDep
from beforehand.server.shapes import StateShape, ToolShape, gives

router = APIRouter(tags=["state"])


@router.get("/state", operation_id="getState", responses=gives(StateShape))
async def get_state(house: HouseDep, scene: str | None = None) -> Json:
    """Scenes, robots, worksites, streams, tasks, runs, sessions, decisions, and the `seq` they are true at."""
    if scene:
        await get_scene(house, scene)
    return Json(await state_view(house, scene or None))


@router.get("/tools", operation_id="listTools", responses=gives(list[ToolShape]))
async def list_tools(house: HouseDep) -> Json:
    """The tools a step can call, with their arguments."""
    return Json([_shown(spec) for spec in specs(house)])


def specs(house: House) -> list[ToolSpec]:
    return sorted(house.catalog.specs(), key=lambda spec: spec.name)


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
