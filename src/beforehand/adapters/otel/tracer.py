"""A tracer that sends spans to an OTLP collector over HTTP, in batches and beside everything else.

The id of a trace is made from the correlation id, so what belongs together is found by it, after a restart too. A
collector that is not there costs spans and nothing else: closing waits for it a moment and no longer.
"""

import asyncio
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import SpanKind, Status, StatusCode

from beforehand.ports.tracing import Attributes, Kind, correlation_id

CLOSING_S = 0.8
"""How long the last spans may take to be sent."""
SENDING_S = 5.0
EVERY_MS = 1_000
_KINDS = {"internal": SpanKind.INTERNAL, "server": SpanKind.SERVER, "client": SpanKind.CLIENT}


def trace_id(correlation_id: str) -> int:
    """The trace that belongs to a correlation id; never 0, which means none."""
    return int.from_bytes(hashlib.sha256(correlation_id.encode()).digest()[:16], "big") or 1


class Ids:
    """The ids of spans are drawn; those of traces follow the correlation id."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()

    def is_trace_id_random(self) -> bool:
        return False

    def generate_span_id(self) -> int:
        return int(self._random.generate_span_id())

    def generate_trace_id(self) -> int:
        known = correlation_id()
        return trace_id(known) if known else int(self._random.generate_trace_id())


class OtelSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        self._span.set_attributes(_told(attributes))

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, code: str) -> None:
        self._span.set_attribute("error.type", code)
        self._span.set_status(Status(StatusCode.ERROR))

    @contextmanager
    def inside(self) -> Iterator[None]:
        token = context.attach(trace.set_span_in_context(self._span))
        try:
            yield
        finally:
            context.detach(token)


class OtelTracer:
    def __init__(self, endpoint: str, version: str) -> None:
        """`endpoint` is the collector's base URL, such as http://127.0.0.1:4318."""
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=SENDING_S)
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "beforehand", "service.version": version}),
            id_generator=Ids(),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=EVERY_MS))
        self._tracer = self._provider.get_tracer("beforehand", version)

    @contextmanager
    def span(
        self, name: str, kind: Kind, attributes: Attributes, *, parent: Any = None, start_ns: int | None = None
    ) -> Iterator[OtelSpan]:
        begun = self._tracer.start_span(
            name, context=parent, kind=_KINDS[kind], attributes=_told(attributes), start_time=start_ns
        )
        one = OtelSpan(begun)
        try:
            with one.inside():
                yield one
        except BaseException as error:
            one.fail(str(getattr(error, "code", "") or type(error).__name__))  # its text may tell too much
            raise
        finally:
            begun.end()

    def here(self) -> Any:
        return context.get_current()

    async def close(self) -> None:
        """Send what is left, if somebody takes it at once; a thread that hangs is left behind."""
        loop, sent = asyncio.get_running_loop(), asyncio.Event()

        def send() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # nobody waits any more
                loop.call_soon_threadsafe(sent.set)

        threading.Thread(target=send, name="last spans", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_S):
                await sent.wait()


def _told(attributes: Attributes) -> dict[str, str | int | float | bool]:
    return {name: value for name, value in attributes.items() if value is not None}
