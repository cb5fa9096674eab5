"""Intents: what a scene's planner understands of words, before anything is planned."""

from typing import Annotated

from fastapi import APIRouter

from beforehand.app.intake import read_wanted
from beforehand.server.answers import changes_nothing
from beforehand.server.callers import RuntimeDep
from beforehand.server.plan_shapes import IntentShape
from beforehand.server.request_shapes import NewIntent, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives

router = APIRouter(prefix="/intents", tags=["plans"])


@router.post("", operation_id="readIntent", openapi_extra=takes(NewIntent), responses=gives(IntentShape))
@changes_nothing
async def read_intent(runtime: RuntimeDep, asked: Annotated[NewIntent, body(NewIntent)]) -> Json:
    """What would be planned, to be shown and corrected; nothing is planned or kept."""
    given = asked.given
    wanted = await read_wanted(runtime, given)
    told = {
        "scene": given.scene,
        "intent": dict(wanted.intent),
        "steps": [{"says": one.says, **({"text": one.text} if one.text else {})} for one in wanted.steps],
        "stepSchema": dict(wanted.step_schema),
        "notes": list(wanted.notes),
    }
    return Json(told if wanted.model is None else {**told, "model": wanted.model})
