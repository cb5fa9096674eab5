"""A tiny OTLP collector over HTTP on loopback: it keeps what it is sent, and may be told to say nothing."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Seen:
    """One span, as it arrived."""

    name: str
    trace: bytes
    id: bytes
    parent: bytes
    kind: int
    attributes: dict[str, Any]
    failed: bool


@dataclass
class Collector:
    answers: bool = True
    spans: list[Seen] = field(default_factory=list)
    raw: bytes = b""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _open: set[Any] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def named(self, name: str) -> list[Seen]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> Seen:
        [span] = self.named(name)
        return span

    def parent(self, span: Seen) -> Seen:
        [parent] = [other for other in self.spans if other.id == span.parent]
        return parent

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(asyncio.current_task())
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = dict(line.lower().split(": ", 1) for line in head.strip().split("\r\n")[1:])
                body = await reader.readexactly(int(headers["content-length"]))
                self.asked.set()
                if not self.answers:
                    await asyncio.Event().wait()
                assert head.startswith("POST /v1/traces ")
                self._keep(body)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.close()

    def _keep(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        self.raw += body
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans += [_seen(span) for span in scope.spans]


def _seen(span: Any) -> Seen:
    attributes = {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes}
    return Seen(
        span.name,
        span.trace_id,
        span.span_id,
        span.parent_span_id,
        span.kind,
        attributes,
        span.status.code == span.status.STATUS_CODE_ERROR,
    )
