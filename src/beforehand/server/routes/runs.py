"""Runs: followed, paused, cancelled, and steered step by step."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query

from beforehand.app import runs as verbs
from beforehand.server.answers import DoneWrite, answered_from
from beforehand.server.callers import CallerDep, RuntimeDep
from beforehand.server.plan_shapes import RunHeadShape, RunShape
from beforehand.server.request_shapes import Nothing, Retry, Start, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives
from beforehand.server.workspaces import require_for_run

router = APIRouter(prefix="/runs", tags=["runs"])


async def as_it_is(done: DoneWrite) -> Any:
    return await verbs.run_document(done.runtime, done.path["run_id"])


async def as_adopted(done: DoneWrite) -> Any:
    await verbs.close_adopted(done.runtime, await as_it_is(done))
    return await as_it_is(done)


NoBody = Annotated[Nothing, body(Nothing, optional=True)]


@router.get("", operation_id="listRuns", responses=gives(list[RunHeadShape]))
async def list_runs(
    runtime: RuntimeDep,
    still_open: Annotated[bool | None, Query(alias="open", description="Only those that have not ended.")] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> Json:
    """The runs there are, newest first, without their steps."""
    return Json(await verbs.list_runs(runtime, open=still_open, limit=limit))


@router.get("/{run_id}", operation_id="getRun", responses=gives(RunShape))
async def get_run(runtime: RuntimeDep, run_id: str) -> Json:
    """A run with every step where it stands, and what waits for a person."""
    return Json(await verbs.run_document(runtime, run_id))


@router.post("/{run_id}/adopt", operation_id="adoptVersion", openapi_extra=takes(Start), responses=gives(RunShape))
@answered_from(as_adopted)
async def adopt(runtime: RuntimeDep, caller: CallerDep, run_id: str, asked: Annotated[Start, body(Start)]) -> Json:
    """Let a run go on with another version of its plan."""
    await require_for_run(runtime, caller, run_id)
    return Json(await verbs.adopt_version(runtime, run_id, asked.version, by=caller.name))


@router.post(
    "/{run_id}/steps/{step_id}/retry",
    operation_id="retryStep",
    openapi_extra=takes(Retry, required=False),
    responses=gives(RunShape),
)
@answered_from(as_it_is)
async def retry(
    runtime: RuntimeDep,
    caller: CallerDep,
    run_id: str,
    step_id: str,
    asked: Annotated[Retry, body(Retry, optional=True)],
) -> Json:
    """Try a failed step again, as it is or with other arguments."""
    if asked.args is not None:
        await require_for_run(runtime, caller, run_id)
    return Json(await verbs.retry_step(runtime, run_id, step_id, args=asked.args, by=caller.name))


def _run_verb(name: str, verb: Callable[..., Awaitable[Any]]) -> None:
    async def call(runtime: RuntimeDep, caller: CallerDep, run_id: str, _: NoBody) -> Json:
        return Json(await verb(runtime, run_id, by=caller.name))

    operation = name.partition("-")[0] + "".join(part.capitalize() for part in name.split("-")[1:])
    _add(f"/{{run_id}}/{name}", f"{operation}Run", verb, call)


def _step_verb(name: str, operation: str, verb: Callable[..., Awaitable[Any]]) -> None:
    async def call(runtime: RuntimeDep, caller: CallerDep, run_id: str, step_id: str, _: NoBody) -> Json:
        return Json(await verb(runtime, run_id, step_id, by=caller.name))

    _add(f"/{{run_id}}/steps/{{step_id}}/{name}", operation, verb, call)


def _add(path: str, operation: str, verb: Callable[..., Awaitable[Any]], call: Callable[..., Any]) -> None:
    router.add_api_route(
        path,
        answered_from(as_it_is)(call),
        methods=["POST"],
        name=operation,
        operation_id=operation,
        description=verb.__doc__ or "",
        responses=gives(RunShape),
    )


_run_verb("pause", verbs.pause_run)
_run_verb("resume", verbs.resume_run)
_run_verb("cancel", verbs.cancel_run)
_run_verb("release", verbs.release_run)
_run_verb("stop-after-step", verbs.stop_after_step)
_step_verb("skip", "skipStep", verbs.skip_step)
_step_verb("rerun", "rerunFromStep", verbs.rerun_from)
