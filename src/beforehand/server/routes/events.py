"""The log and the live frames as server-sent events, and the log's recent events as JSON."""

import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from beforehand.app.runtime import Runtime
from beforehand.app.scenes import get_scene
from beforehand.model.errors import BadInputError
from beforehand.ports.store import EventFilter
from beforehand.server.callers import RuntimeDep
from beforehand.server.shapes import REFUSAL, one_event
from beforehand.server.sse import EventStream, live_frames, log_frames

router = APIRouter(tags=["events"])
LARGEST = 2**63 - 1
RECENT = 100
_NUMBER = re.compile(r"[0-9]{1,4000}", re.ASCII)
_EVENT = {"$ref": "#/components/schemas/EventShape"}
_LOG: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, the `data` of each an event; with `before` or `limit` a list of events.",
        "content": {
            "text/event-stream": {"schema": one_event(_EVENT)},
            "application/json": {"schema": {"type": "array", "items": _EVENT}},
        },
    },
    "default": REFUSAL,
}
_FRAMES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events without ids; the `data` of each is a live frame.",
        "content": {"text/event-stream": {"schema": one_event({"type": "object", "additionalProperties": True})}},
    },
    "default": REFUSAL,
}


@router.get("/events", operation_id="followEvents", response_class=Response, responses=_LOG)
async def follow_events(
    request: Request,
    runtime: RuntimeDep,
    after: Annotated[str | None, Query(description="Resume after this number; from the start when left out.")] = None,
    last_event_id: Annotated[str | None, Header(description="What browsers resume by; it wins over `after`.")] = None,
    kinds: Annotated[list[str] | None, Query(description="Only these kinds, with commas between them.")] = None,
    run: str | None = None,
    task: str | None = None,
    scene: str | None = None,
    before: Annotated[str | None, Query(description="The last events before this number, as a list.")] = None,
    limit: Annotated[
        int | None, Query(ge=1, le=1_000, description="How many of them; the newest 100 unless said.")
    ] = None,
) -> Response:
    """The one log, in order and without gaps; with filters, what they let through.

    With `before` or `limit` it does not stay open: it answers a list of recent events, the newest last.
    """
    wanted = frozenset(name.strip() for part in kinds or () for name in part.split(",") if name.strip())
    only = EventFilter(kinds=wanted, run=run or None, task=task or None, scene=scene or None)
    if before is not None or limit is not None:
        end = _number(before) if before else None
        records = await runtime.store.last_records(before=end, limit=limit or RECENT, only=only)
        return _list_of([runtime.sentences.added_to(record.line) for record in records])
    place = await _place(runtime, last_event_id or after)
    return EventStream(log_frames(runtime.feed, place, only, runtime.now), request.app.state.audience)


def _list_of(lines: list[bytes]) -> Response:
    return Response(b"[%s]" % b",".join(lines), media_type="application/json")


async def _place(runtime: Runtime, given: str | None) -> int:
    """Where to go on; a number beyond the log's end means its end."""
    return min(_number(given), await runtime.store.last_seq()) if given else 0


def _number(given: str) -> int:
    if not _NUMBER.fullmatch(given.strip()):
        raise BadInputError(
            f"An event's number is a whole number from 0 on, not {given[:100]!r}.", code="events.number"
        )
    return min(int(given), LARGEST)


@router.get("/telemetry", operation_id="followTelemetry", response_class=Response, responses=_FRAMES)
async def follow_telemetry(request: Request, runtime: RuntimeDep, scene: str | None = None) -> EventStream:
    """Live frames (positions, progress) from now on; no ids, not recorded."""
    if scene:
        await get_scene(runtime, scene)
    frames = live_frames(runtime.telemetry.follow(scene or None), runtime.now)
    return EventStream(frames, request.app.state.audience)
