"""The log and the live frames as server-sent events, apart and together, and the log's recent events as JSON."""

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from beforehand.app.runtime import Runtime
from beforehand.app.scenes import get_scene
from beforehand.model.errors import BadInputError
from beforehand.ports.store import EventFilter, Record
from beforehand.server.callers import RuntimeDep
from beforehand.server.event_shapes import FRAMES, LIVE, LOG
from beforehand.server.live import live_stream
from beforehand.server.sse import EventStream, live_frames, log_frames

router = APIRouter(tags=["events"])
LARGEST = 2**63 - 1
RECENT = 100
_NUMBER = re.compile(r"[0-9]{1,4000}", re.ASCII)
_ResumedBy = Annotated[str | None, Header(description="What browsers resume by; it wins over `after`.")]


@router.get("/events", operation_id="followEvents", response_class=Response, responses=LOG)
async def follow_events(
    request: Request,
    runtime: RuntimeDep,
    after: Annotated[str | None, Query(description="Resume after this number; from the start when left out.")] = None,
    last_event_id: _ResumedBy = None,
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

    With `before` or `limit` it does not stay open: it answers a list of recent events, the newest last; with `after`
    and without `before`, of those that come next after that number.
    """
    wanted = frozenset(name.strip() for part in kinds or () for name in part.split(",") if name.strip())
    only = EventFilter(kinds=wanted, run=run or None, task=task or None, scene=scene or None)
    if before is not None or limit is not None:
        records = await _page(runtime, after, before, limit or RECENT, only)
        return _list_of([runtime.sentences.added_to(record.line) for record in records])
    place = await _place(runtime, last_event_id or after)
    return EventStream(log_frames(runtime.feed, place, only, runtime.now), request.app.state.audience)


async def _page(runtime: Runtime, after: str | None, before: str | None, limit: int, only: EventFilter) -> list[Record]:
    """The newest events between two numbers; where only the first is given, the next ones after it."""
    start = _number(after) if after else 0
    if after and not before:
        return await runtime.store.records(start, limit, only)
    found = await runtime.store.last_records(before=_number(before) if before else None, limit=limit, only=only)
    return [record for record in found if record.seq > start]


def _list_of(lines: list[bytes]) -> Response:
    return Response(b"[%s]" % b",".join(lines), media_type="application/json")


async def _place(runtime: Runtime, given: str | None) -> int:
    """Where to go on; a number beyond the log's end means its end.

    Most who come back, perhaps all at once because their server died, are where the feed is: the store is not asked.
    """
    place = _number(given) if given else 0
    return place if place <= runtime.feed.newest else min(place, await runtime.store.last_seq())


def _number(given: str) -> int:
    if not _NUMBER.fullmatch(given.strip()):
        raise BadInputError(
            f"An event's number is a whole number from 0 on, not {given[:100]!r}.", code="events.number"
        )
    return min(int(given), LARGEST)


@router.get("/telemetry", operation_id="followTelemetry", response_class=Response, responses=FRAMES)
async def follow_telemetry(request: Request, runtime: RuntimeDep, scene: str | None = None) -> EventStream:
    """Live frames (positions, progress) from now on; no ids, not recorded."""
    if scene:
        await get_scene(runtime, scene)
    frames = live_frames(runtime.telemetry.follow(scene or None), runtime.now)
    return EventStream(frames, request.app.state.audience)


@router.get("/live", operation_id="followLive", response_class=Response, responses=LIVE)
async def follow_live(
    request: Request,
    runtime: RuntimeDep,
    after: Annotated[str | None, Query(description="Resume after this number; from the end when left out.")] = None,
    last_event_id: _ResumedBy = None,
) -> EventStream:
    """The log, the live frames of all scenes and the server's time over one connection, for consoles.

    Events are as in `/events`, without gaps; frames may be left out for a client that reads slowly.
    """
    given = last_event_id or after
    stream = live_stream(runtime, request.app.state.place, request.app.state.boot, _number(given) if given else None)
    return EventStream(stream, request.app.state.audience)
