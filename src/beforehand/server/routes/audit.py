"""What was decided and done, for the record, and whether the log is what was written.

It holds what people wrote and what steps were called with, so it is for admins.
"""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from beforehand.app.audit_check import check_log
from beforehand.app.audit_file import FORMATS, audit_lines, check_form, read_anchor
from beforehand.app.crafts import load_crafts
from beforehand.app.retention import moment
from beforehand.model.versions import UPCASTERS
from beforehand.server.callers import RuntimeDep, admins_only
from beforehand.server.installation_shapes import LogCheckShape
from beforehand.server.responses import Json
from beforehand.server.shapes import gives, gives_content

router = APIRouter(tags=["installation"])
_LINES = gives_content(
    "One line per decision and deed; the last is the end.",
    {"application/x-ndjson": {"schema": {"type": "string"}}, "text/csv": {"schema": {"type": "string"}}},
)


@router.get(
    "/audit",
    operation_id="exportAudit",
    dependencies=[admins_only()],
    response_class=Response,
    responses=_LINES,
)
async def export(
    runtime: RuntimeDep,
    since: Annotated[str | None, Query(alias="from", description="Decisions opened or closed from then on.")] = None,
    until: Annotated[str | None, Query(alias="to", description="And before then.")] = None,
    form: Annotated[str, Query(alias="format", description="`jsonl` or `csv`.")] = "jsonl",
) -> StreamingResponse:
    """Every decision: who, when, what was seen, what answer, and what followed; and what else somebody did.

    Archived ones are in it. Each line has a hash chained to the line before. Times are dates, ISO times, or ages such
    as `90d`.
    """
    now = runtime.now()
    first = moment(since, now) if since else 0
    last = moment(until, now) if until else None
    media = FORMATS[check_form(form)].media_type
    return StreamingResponse(audit_lines(runtime.store, form, first, last), media_type=media)


@router.get("/audit/verify", operation_id="verifyLog", dependencies=[admins_only()], responses=gives(LogCheckShape))
async def verify(
    runtime: RuntimeDep,
    against: Annotated[
        str | None, Query(description="`NUMBER:HASH`, as the end of an export or an earlier check told it.")
    ] = None,
) -> Json:
    """Whether the log and its archive are what was written: every event's link of the chain is reckoned anew."""
    anchors = [read_anchor(against)] if against is not None else []
    found = await check_log(runtime.store, {**load_crafts().upcasters(), **UPCASTERS}, anchors)
    return Json(found.wire())
