"""Spans are kept where the setting `otel` names a collector; a process works the same without.

What is wrong with it is told in the log and by `doctor`: a missing collector must not keep a machine from working.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beforehand.app.settings import Settings
from beforehand.app.untrusted_urls import is_untrusted
from beforehand.model.finding import Finding
from beforehand.ports.log import Log
from beforehand.ports.tracing import is_tracing, set_tracer

if TYPE_CHECKING:
    from beforehand.adapters.otel.tracer import OtelTracer

log = Log("beforehand.tracing")
INSTALL = "Install it, in the checkout: pip install '.[otel]'"


@asynccontextmanager
async def tracing(settings: Settings) -> AsyncIterator[None]:
    """While inside, spans go to the collector that is set; the first runtime of a process sees to it."""
    endpoint = settings["otel"]
    if not endpoint or is_tracing():
        yield
        return
    finding = check_tracing(settings)
    if finding.state != "ok":
        log.warning("spans are not kept", says=finding.says, tryNext=finding.try_next)
        yield
        return
    tracer = await asyncio.to_thread(_opened, endpoint)
    set_tracer(tracer)
    try:
        yield
    finally:
        set_tracer(None)
        await tracer.close()


def _opened(endpoint: str) -> "OtelTracer":
    """Importing it takes a while."""
    from beforehand import __version__
    from beforehand.adapters.otel.tracer import OtelTracer

    return OtelTracer(endpoint, __version__)


def check_tracing(settings: Settings) -> Finding:
    """Whether spans are kept, and where; nobody is asked."""
    endpoint = settings["otel"]
    if not endpoint:
        return Finding("otel", "missing", "No collector is set; none is needed.", "")
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        says = "BEFOREHAND_OTEL is not the address of a collector: it must begin with http:// or https://."
        return Finding("otel", "broken", says, "Such as http://127.0.0.1:4318.")
    if is_untrusted(settings, "otel", endpoint):
        says = f"The otel of {settings.file} is left out: the file lies inside the workspace and was not trusted."
        return Finding("otel", "broken", says, "Read the file, then: beforehand config trust")
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.exporter.otlp.proto.http") is None:
        return Finding("otel", "broken", "What sends spans is not installed.", INSTALL)
    return Finding("otel", "ok", f"Spans are sent to {parts.hostname}:{parts.port or parts.scheme}.")
