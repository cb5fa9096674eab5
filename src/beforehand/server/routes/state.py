"""Everything live in one answer, and the tools there are."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import create_model

from beforehand.app.scenes import get_scene
from beforehand.app.state import state_at, state_view
from beforehand.app.tools import tool_documents
from beforehand.model.errors import BadInputError
from beforehand.server.callers import RuntimeDep
from beforehand.server.responses import Json
from beforehand.server.shapes import ToolShape, gives
from beforehand.server.state_shapes import StateShape

_DIGITS = re.compile(r"[0-9]{1,30}", re.ASCII)


def router_with(lists: Sequence[Mapping[str, Any]]) -> APIRouter:
    """The calls, with a state that has the lists crafts bring; each is the shape of its items by the list's name."""
    router = APIRouter(tags=["state"])
    fields: dict[str, Any] = {name: (list[item], ...) for brought in lists for name, item in brought.items()}  # type: ignore[valid-type]
    shape = create_model("StateShape", __base__=StateShape, **fields)
    router.add_api_route(
        "/state", get_state, methods=["GET"], operation_id="getState", response_model=None, responses=gives(shape)
    )
    router.add_api_route(
        "/tools",
        list_tools,
        methods=["GET"],
        operation_id="listTools",
        response_model=None,
        responses=gives(list[ToolShape]),
    )
    return router


async def get_state(
    runtime: RuntimeDep,
    scene: str | None = None,
    at: Annotated[
        str | None, Query(description="The state as it was after the event of this number; now when left out.")
    ] = None,
) -> Json:
    """Scenes, runs, decisions and what is live in the scenes, and the `seq` they are true at.

    With `at` what is not in the log (where machines are, when they were last seen) is left out.
    """
    if at is not None:
        return Json(await state_at(runtime, _number(at), scene or None))
    if scene:
        await get_scene(runtime, scene)
    return Json(await state_view(runtime, scene or None))


def _number(given: str) -> int:
    if not _DIGITS.fullmatch(given.strip()):
        raise BadInputError(f"`at` is the number of an event, from 1 on, not {given[:100]!r}.", code="state.at")
    return int(given)


async def list_tools(runtime: RuntimeDep) -> Json:
    """The tools a step can call, with their arguments."""
    return Json(tool_documents(runtime))
