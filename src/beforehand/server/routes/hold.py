"""Everything at once: held, and let go again."""

from typing import Annotated, Any

from fastapi import APIRouter

from beforehand.app.holds import clear_everything, cleared_by, held_by, hold_everything
from beforehand.server.answers import DoneWrite, answered_from
from beforehand.server.callers import CallerDep, RuntimeDep
from beforehand.server.request_shapes import Nothing
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import gives
from beforehand.server.state_shapes import HoldAnswerShape

router = APIRouter(tags=["hold"])
NoBody = Annotated[Nothing, body(Nothing, optional=True)]


async def as_held(done: DoneWrite) -> Any:
    return await held_by(done.runtime, done.event)


async def as_cleared(done: DoneWrite) -> Any:
    return await cleared_by(done.runtime, done.event)


@router.post("/hold", operation_id="holdEverything", responses=gives(HoldAnswerShape))
@answered_from(as_held)
async def hold(runtime: RuntimeDep, caller: CallerDep, _: NoBody) -> Json:
    """Let nothing move: machines stop at once where they can, else after the step in flight, and runs pause.

    This is not an emergency stop. A second call says that it is held already.
    """
    return Json(await hold_everything(runtime, by=caller.name))


@router.post("/clear", operation_id="clearEverything", responses=gives(HoldAnswerShape))
@answered_from(as_cleared)
async def clear(runtime: RuntimeDep, caller: CallerDep, _: NoBody) -> Json:
    """Give back what was held for it, and nothing else: a run that a person paused before stays paused."""
    return Json(await clear_everything(runtime, by=caller.name))
