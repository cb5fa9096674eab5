"""Is it up, and how does it do: for monitors."""

import time

from fastapi import APIRouter, Request, Response

from beforehand import __version__
from beforehand.app.log_health import LogHealth
from beforehand.app.runtime import Runtime
from beforehand.loop.log_outage import HINT
from beforehand.model.errors import UnavailableError
from beforehand.server.callers import RuntimeDep
from beforehand.server.metrics import metrics_text
from beforehand.server.responses import Json
from beforehand.server.shapes import HealthShape, StatusShape, gives, gives_content

router = APIRouter(tags=["health"])
_TEXT = gives_content("Prometheus text.", {"text/plain": {"schema": {"type": "string"}}})


@router.get("/health", operation_id="getHealth", responses=gives(HealthShape))
async def get_health(request: Request, runtime: RuntimeDep) -> Json:
    """Whether the server works, and the time by its clock; a log that cannot be read or written is a 503."""
    await _refuse_ill(request, runtime)
    identity = await runtime.store.identity()
    return Json(
        {
            "status": "ok",
            "version": __version__,
            "seq": await runtime.store.last_seq(),
            "log": {"identity": identity.id, "generation": identity.generation} if identity else None,
            "uptimeS": round(time.monotonic() - request.app.state.began, 3),
            "now": runtime.now(),
            "role": request.app.state.place.role,
        }
    )


@router.get("/health/live", operation_id="getLiveness", responses=gives(StatusShape))
async def get_liveness() -> Json:
    """Whether the process answers at all."""
    return Json({"status": "ok"})


@router.get("/health/ready", operation_id="getReadiness", responses=gives(StatusShape))
async def get_readiness(request: Request, runtime: RuntimeDep) -> Json:
    """Whether work can be given to it: 503 while the log cannot be read or written."""
    await _refuse_ill(request, runtime)
    return Json({"status": "ok"})


async def _refuse_ill(request: Request, runtime: Runtime) -> None:
    """UnavailableError that says what is wrong with the log, and since when it could not be written."""
    health: LogHealth = request.app.state.log_health
    outage = runtime.outage
    extra = {} if outage.since_ms is None else {"sinceMs": outage.since_ms}
    if ill := await health.findings():
        says = " ".join(finding.says for finding in ill)
        hint = " ".join(finding.try_next for finding in ill)
        raise UnavailableError(says, code="health.log", hint=hint, extra=extra)
    if outage.is_on:
        raise UnavailableError(outage.says, code="health.log", hint=HINT, extra=extra)


@router.get("/metrics", operation_id="getMetrics", response_class=Response, responses=_TEXT)
async def get_metrics(request: Request, runtime: RuntimeDep) -> Response:
    """The figures a Prometheus server collects."""
    uptime = time.monotonic() - request.app.state.began
    text = await metrics_text(runtime, request.app.state.audience, uptime, leads=request.app.state.place.leads)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
