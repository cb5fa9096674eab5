"""The inbox: whatever waits for a person, listed and answered in one way."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from beforehand.app import inbox as verbs
from beforehand.app.runs import close_adopted
from beforehand.server.answers import DoneWrite, answered_from
from beforehand.server.callers import CallerDep, RuntimeDep
from beforehand.server.plan_shapes import DecisionShape
from beforehand.server.request_shapes import Reply, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives
from beforehand.server.workspaces import require_for_answer

router = APIRouter(prefix="/inbox", tags=["inbox"])


async def as_answered(done: DoneWrite) -> Any:
    """The decision; the review of a version that a run adopted is closed, where a crash came before that."""
    found = await verbs.show_decision(done.runtime, done.path["decision_id"])
    if found["status"] == "open":
        for head in await done.runtime.store.rows("run", parent=str(found["about"].get("planId"))):
            await close_adopted(done.runtime, head)
    return await verbs.show_decision(done.runtime, done.path["decision_id"])


@router.get("", operation_id="listDecisions", responses=gives(list[DecisionShape]))
async def list_decisions(
    runtime: RuntimeDep,
    still_open: Annotated[bool, Query(alias="open", description="False: the answered and withdrawn ones.")] = True,
    limit: Annotated[int, Query(ge=1, le=10_000, description="How many of the closed ones.")] = 200,
) -> Json:
    """Every open decision, oldest first; with `open=false` the closed ones, newest first."""
    return Json(await (verbs.list_decisions(runtime) if still_open else verbs.closed_decisions(runtime, limit)))


@router.get("/{decision_id}", operation_id="getDecision", responses=gives(DecisionShape))
async def get_decision(runtime: RuntimeDep, decision_id: str) -> Json:
    """One decision, open or not."""
    return Json(await verbs.show_decision(runtime, decision_id))


@router.post(
    "/{decision_id}", operation_id="answerDecision", openapi_extra=takes(Reply), responses=gives(DecisionShape)
)
@answered_from(as_answered)
async def answer(
    runtime: RuntimeDep, caller: CallerDep, decision_id: str, asked: Annotated[Reply, body(Reply)]
) -> Json:
    """Answer a decision with one of its verbs; a second answer is refused."""
    await require_for_answer(runtime, caller, decision_id, asked.verb, asked.value)
    return Json(
        await verbs.answer_decision(
            runtime, decision_id, asked.verb, value=asked.value, note=asked.note, by=caller.name
        )
    )
