"""Every decision for the record. It holds what people wrote and what steps were called with, so it is for admins."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response, StreamingResponse

from beforehand.app.audit import FORMATS, audit_lines, check_form
from beforehand.app.retention import moment
from beforehand.server.callers import RuntimeDep, admins_only
from beforehand.server.shapes import gives_content

router = APIRouter(tags=["installation"])
_LINES = gives_content(
    "One line per decision.",
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
    """Every decision: who, when, what was seen, what answer, and what followed; archived ones too.

    Times are dates, ISO times, or ages such as `90d`.
    """
    now = runtime.now()
    first = moment(since, now) if since else 0
    last = moment(until, now) if until else None
    media = FORMATS[check_form(form)][2]
    return StreamingResponse(audit_lines(runtime.store, form, first, last), media_type=media)
