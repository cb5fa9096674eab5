"""Is it up, and how does it do: for monitors."""

import time
from typing import Any

from fastapi import APIRouter, Request, Response

from beforehand import __version__
from beforehand.server.callers import RuntimeDep
from beforehand.server.metrics import metrics_text
from beforehand.server.responses import Json
from beforehand.server.shapes import REFUSAL, HealthShape, gives

router = APIRouter(tags=["health"])
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus text.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    "default": REFUSAL,
}


@router.get("/health", operation_id="getHealth", responses=gives(HealthShape))
async def get_health(request: Request, runtime: RuntimeDep) -> Json:
    """Whether the server works; the only call that never needs a token."""
    uptime = round(time.monotonic() - request.app.state.began, 3)
    return Json({"status": "ok", "version": __version__, "seq": await runtime.store.last_seq(), "uptimeS": uptime})


@router.get("/metrics", operation_id="getMetrics", response_class=Response, responses=_TEXT)
async def get_metrics(request: Request, runtime: RuntimeDep) -> Response:
    """The figures a Prometheus server collects."""
    uptime = time.monotonic() - request.app.state.began
    text = await metrics_text(runtime, request.app.state.audience, uptime)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
