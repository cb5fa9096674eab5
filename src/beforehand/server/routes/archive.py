"""Growing old: how big the log is, and moving old events into its archive."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from beforehand.app.archiving import archive_events, holdings, shrink
from beforehand.app.retention import moment, retention_of
from beforehand.server.answers import changes_nothing
from beforehand.server.callers import RuntimeDep, admins_only
from beforehand.server.request_shapes import ArchiveBefore, takes
from beforehand.server.requests import body
from beforehand.server.responses import Json
from beforehand.server.shapes import Shape, gives

router = APIRouter(prefix="/archive", tags=["installation"])
PIECE_S = 3.0
"""How long one call works; whoever asked goes on from `next`."""
REST = 0.3


class ArchivedShape(Shape):
    parts: int
    events: int
    bytes: int
    raw_bytes: int = Field(description="What they took before they were compressed.")


class HoldingsShape(Shape):
    """The log and its archive."""

    events: int = Field(description="The number of the newest event.")
    bytes: int = Field(description="What the log itself takes.")
    archive: ArchivedShape
    deleted_events: int
    oldest: int | None = Field(default=None, description="The number of the oldest event that can be read.")
    oldest_at: str | None = None
    retention: str | None = Field(default=None, description="What the setting does, as a sentence.")


class StaysShape(Shape):
    open: int = Field(description="Events that belong to something that goes on.")
    newest: int = Field(description="Events that are the newest word on something that has no end.")


class MovedShape(ArchivedShape):
    before: str
    dry_run: bool
    stays: StaysShape
    next: int | None = Field(default=None, description="Call again with this as `after`; nothing when that was all.")


@router.get("", operation_id="getArchive", responses=gives(HoldingsShape))
async def look(runtime: RuntimeDep) -> Json:
    """How big the log and its archive are, how far back they go, and what becomes of old events."""
    retention = retention_of(runtime.settings)
    told = {} if retention is None else {"retention": retention.says}
    return Json({**await holdings(runtime.store), **told})


@router.post(
    "",
    operation_id="archiveEvents",
    dependencies=[admins_only()],
    openapi_extra=takes(ArchiveBefore),
    responses=gives(MovedShape),
)
@changes_nothing  # what is in the archive stays there, and the rest is moved
async def archive(runtime: RuntimeDep, asked: Annotated[ArchiveBefore, body(ArchiveBefore)]) -> Json:
    """Move old events of what has ended into the archive, for a few seconds; `next` says where to go on.

    Everything that reads events still finds them.
    """
    before = moment(asked.before, runtime.now())
    done = await archive_events(runtime, before, dry_run=asked.dry_run, after=asked.after, for_s=PIECE_S, rest=REST)
    if done["next"] is None and not asked.dry_run:
        await shrink(runtime, for_s=PIECE_S, rest=REST)
    return Json(done)
