"""Tasks of the active fleets: followed, and what a person asks of them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from beforehand.crafts.fleet.fleets import fleets_of
from beforehand.crafts.fleet.http.shapes import SceneQuery, TaskShape, WithValue
from beforehand.server.callers import RuntimeDep
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import ReasonShape, gives, takes

router = APIRouter(prefix="/tasks", tags=["fleet"])
VERBS = {
    "resume": "Go on with a held task.",
    "redo": "Do the present step again.",
    "done-by-hand": "A person did the present step.",
    "abort": "End it; with a pallet on the fork `value` may name another worksite to drop it at.",
    "cancel": "End it before the pallet is on the fork.",
    "hand-back": "Take it from its robot; another one gets it.",
}


@router.get("", operation_id="listTasks", responses=gives(list[TaskShape]))
async def list_tasks(
    runtime: RuntimeDep,
    scene: SceneQuery = None,
    still_open: Annotated[bool | None, Query(alias="open", description="Only those that have not ended.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> Json:
    """The tasks of all fleets, or of one, newest first."""
    return Json(await fleets_of(runtime).tasks(scene, open=still_open, limit=limit))


@router.get("/{task_id}", operation_id="getTask", responses=gives(TaskShape))
async def get_task(runtime: RuntimeDep, task_id: str, scene: SceneQuery = None) -> Json:
    return Json(await fleets_of(runtime).task(task_id, scene))


@router.get("/{task_id}/why", operation_id="whyTask", responses=gives(list[ReasonShape]))
async def why_task(runtime: RuntimeDep, task_id: str, scene: SceneQuery = None) -> Json:
    """Why it waits, or how it ended."""
    return Json([reason.wire() for reason in fleets_of(runtime).why(task_id, scene, ("tasks",))])


def _verb(verb: str, says: str) -> None:
    async def call(
        runtime: RuntimeDep,
        task_id: str,
        asked: Annotated[WithValue, body(WithValue, optional=True)],
        scene: SceneQuery = None,
    ) -> Any:
        return Json(await fleets_of(runtime).task_verb(task_id, verb, asked.value, scene))

    name = "".join(part.capitalize() for part in verb.split("-"))
    router.add_api_route(
        f"/{{task_id}}/{verb}",
        call,
        methods=["POST"],
        name=f"task{name}",
        operation_id=f"task{name}",
        description=says,
        openapi_extra=takes(WithValue, required=False),
        responses=gives(TaskShape),
    )


for _name, _says in VERBS.items():
    _verb(_name, _says)
