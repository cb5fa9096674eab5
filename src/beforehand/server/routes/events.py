"""The log and the live frames, as server-sent events."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from beforehand.app.runtime import Runtime
from beforehand.app.scenes import get_scene
from beforehand.model.errors import BadInputError
from beforehand.ports.store import EventFilter
from beforehand.server.callers import RuntimeDep
from beforehand.server.shapes import REFUSAL
from beforehand.server.sse import EventStream, log_frames

router = APIRouter(tags=["events"])
_NUMBER = re.compile(r"[0-9]{1,4000}", re.ASCII)
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events; the `data` of each is an event.",
        "content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/EventShape"}}},
    },
    "default": REFUSAL,
}


@router.get("/events", operation_id="followEvents", response_class=Response, responses=_STREAM)
async def follow_events(
    request: Request,
    runtime: RuntimeDep,
    after: Annotated[str | None, Query(description="Resume after this number; from the start when left out.")] = None,
    last_event_id: Annotated[str | None, Header(description="What browsers resume by; it wins over `after`.")] = None,
    kinds: Annotated[list[str] | None, Query(description="Only these kinds, with commas between them.")] = None,
    run: str | None = None,
    task: str | None = None,
    scene: str | None = None,
) -> EventStream:
    """The one log, in order and without gaps; with filters, what they let through."""
    wanted = frozenset(name.strip() for part in kinds or () for name in part.split(",") if name.strip())
    only = EventFilter(kinds=wanted, run=run or None, task=task or None, scene=scene or None)
    place = await _place(runtime, last_event_id or after)
    return EventStream(log_frames(runtime.feed, place, only), request.app.state.audience)


async def _place(runtime: Runtime, given: str | None) -> int:
    """Where to go on; a number beyond the log's end means its end."""
    if not given:
        return 0
    if not _NUMBER.fullmatch(given.strip()):
        raise BadInputError(
            f"An event's number is a whole number from 0 on, not {given[:100]!r}.", code="events.number"
        )
    return min(int(given), await runtime.store.last_seq())


@router.get("/telemetry", operation_id="followTelemetry", response_class=Response, responses=_STREAM)
async def follow_telemetry(request: Request, runtime: RuntimeDep, scene: str | None = None) -> EventStream:
    """Live frames (positions, progress) from now on; no ids, not recorded."""
    if scene:
        await get_scene(runtime, scene)
    return EventStream(runtime.telemetry.follow(scene or None), request.app.state.audience)
