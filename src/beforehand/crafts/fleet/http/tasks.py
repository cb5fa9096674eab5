"""Tasks of the active fleets: followed, and what a person asks of them."""

from typing import Annotated, Any

from fastapi import Query

from beforehand.crafts.fleet.fleets import Fleets
from beforehand.crafts.fleet.http.shapes import TaskShape, WithValue, scene_of
from beforehand.crafts.fleet.verbs import TASK_VERBS
from beforehand.server.kit import (
    APIRouter,
    DoneWrite,
    Json,
    ReasonShape,
    RuntimeDep,
    SceneQuery,
    answered_from,
    body,
    gives,
    takes,
)

router = APIRouter(prefix="/tasks", tags=["fleet"])


async def as_it_is(done: DoneWrite) -> Any:
    return await done.runtime.service(Fleets).last_task(done.path["task_id"], scene_of(done))


@router.get("", operation_id="listTasks", responses=gives(list[TaskShape]))
async def list_tasks(
    runtime: RuntimeDep,
    scene: SceneQuery = None,
    still_open: Annotated[bool | None, Query(alias="open", description="Only those that have not ended.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> Json:
    """The tasks of all fleets, or of one, newest first."""
    return Json(await runtime.service(Fleets).tasks(scene, open=still_open, limit=limit))


@router.get("/{task_id}", operation_id="getTask", responses=gives(TaskShape))
async def get_task(runtime: RuntimeDep, task_id: str, scene: SceneQuery = None) -> Json:
    return Json(await runtime.service(Fleets).task(task_id, scene))


@router.get("/{task_id}/why", operation_id="whyTask", responses=gives(list[ReasonShape]))
async def why_task(runtime: RuntimeDep, task_id: str, scene: SceneQuery = None) -> Json:
    """Why it waits, or how it ended."""
    return Json([reason.wire() for reason in await runtime.service(Fleets).why(task_id, scene, ("tasks",))])


def _add(verb: str, says: str) -> None:
    async def call(
        runtime: RuntimeDep,
        task_id: str,
        asked: Annotated[WithValue, body(WithValue, optional=True)],
        scene: SceneQuery = None,
    ) -> Any:
        return Json(await runtime.service(Fleets).task_verb(task_id, verb, asked.value, scene))

    name = "task" + "".join(part.capitalize() for part in verb.split("-"))
    router.add_api_route(
        f"/{{task_id}}/{verb}",
        answered_from(as_it_is)(call),
        methods=["POST"],
        name=name,
        operation_id=name,
        description=says,
        openapi_extra=takes(WithValue, required=False),
        responses=gives(TaskShape),
    )


for _verb, _says in TASK_VERBS.items():
    _add(_verb, _says)
