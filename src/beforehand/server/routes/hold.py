"""Everything at once: held, and let go again."""

from typing import Annotated

from fastapi import APIRouter

from beforehand.app.holds import clear_everything, hold_everything
from beforehand.server.callers import CallerDep, RuntimeDep
from beforehand.server.request_shapes import Nothing
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives
from beforehand.server.state_shapes import HoldAnswerShape

router = APIRouter(tags=["hold"])
NoBody = Annotated[Nothing, body(Nothing, optional=True)]


@router.post("/hold", operation_id="holdEverything", responses=gives(HoldAnswerShape))
async def hold(runtime: RuntimeDep, caller: CallerDep, _: NoBody) -> Json:
    """Let nothing move: machines stop at once where they can, else after the step in flight, and runs pause.

    This is not an emergency stop. A second call says that it is held already.
    """
    return Json(await hold_everything(runtime, by=caller.name))


@router.post("/clear", operation_id="clearEverything", responses=gives(HoldAnswerShape))
async def clear(runtime: RuntimeDep, caller: CallerDep, _: NoBody) -> Json:
    """Give back what was held for it, and nothing else: a run that a person paused before stays paused."""
    return Json(await clear_everything(runtime, by=caller.name))
