"""What the fake model servers share: HTTP on loopback, the script, what was seen, and answers whole or as a stream."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Self

from beforehand.ports.tasks import part, stop
from beforehand.testing.model_replies import Reply, Script, Seen

EVENTS = "text/event-stream"
MOST_BYTES = 64 * 2**20


class Told(NamedTuple):
    """One server-sent event of an answer."""

    line: bytes
    is_piece: bool = False
    """Whether it brings some of the answer."""


class FakeServer(ABC):
    """What both servers share: HTTP, the script, and what was seen."""

    def __init__(self, *script: Reply | Script) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.asked = asyncio.Event()
        """Set once a request has been read; clear it to wait for the next."""
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None, "the server is not running"
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    @abstractmethod
    def url(self) -> str:
        """What `BEFOREHAND_MODEL_URL` is set to."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MOST_BYTES)
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        await stop(self._open)
        await self._server.wait_closed()

    async def left(self) -> None:
        """Returns when nobody is connected any more."""
        while self._open:
            await asyncio.wait(self._open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while (seen := await self._read(reader)) is not None:
                if not await self._answer(seen, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader) -> Seen | None:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        seen = self.read(first.split()[1], headers, body)
        self.seen.append(seen)
        self.asked.set()
        return seen

    async def _answer(self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        planned = self.script[min(len(self.seen), len(self.script)) - 1]
        reply = planned(seen) if callable(planned) else planned
        streams = bool(seen.body.get("stream")) and reply.raw is None and reply.status == 200
        if reply.waits is not None and not (streams and reply.after):
            if not await _comes_first(reply.waits, reader):
                return False
            reply = replace(reply, waits=None)
        return await (self._stream(reply, seen, reader, writer) if streams else self._whole(reply, seen, writer))

    async def _whole(self, reply: Reply, seen: Seen, writer: asyncio.StreamWriter) -> bool:
        body = reply.raw
        if body is None:
            told = self.write(reply, seen) if reply.status == 200 else self.error(reply.status)
            body = json.dumps(told).encode()
        _begin(writer, reply, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        writer.write(body[: len(body) // 2] if reply.dies else body)
        await writer.drain()
        return not reply.dies

    async def _stream(
        self, reply: Reply, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Every event is a chunk of its own; a stream that dies lacks the one that says that it is over."""
        _begin(writer, reply, {"Content-Type": EVENTS, "Transfer-Encoding": "chunked"})
        left = reply.pieces // 2 if reply.after is None else reply.after
        for told in self.stream(reply, seen):
            if told.is_piece and left == 0:
                if reply.waits is not None and not await _comes_first(reply.waits, reader):
                    return False
                if reply.fails:
                    await _chunk(writer, self.broken())
                if reply.fails or reply.dies:
                    return False
            left -= told.is_piece
            await _chunk(writer, told.line)
        await _chunk(writer, b"")
        return True

    @abstractmethod
    def read(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Seen:
        """The request, understood."""

    @abstractmethod
    def write(self, reply: Reply, seen: Seen) -> dict[str, Any]:
        """The answer in one piece."""

    @abstractmethod
    def stream(self, reply: Reply, seen: Seen) -> Sequence[Told]:
        """The answer as events."""

    @abstractmethod
    def broken(self) -> bytes:
        """The event that says in the middle of a stream that it cannot go on."""

    @abstractmethod
    def error(self, status: int) -> dict[str, Any]:
        """What the provider would say with this status."""


def event(data: Mapping[str, Any], kind: str = "", *, is_piece: bool = False) -> Told:
    """A server-sent event."""
    named = f"event: {kind}\n" if kind else ""
    return Told(f"{named}data: {json.dumps(data)}\n\n".encode(), is_piece)


def cut(text: str, pieces: int) -> list[str]:
    """The text in so many pieces, or fewer where it is short."""
    size = max(1, -(-len(text) // pieces))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _begin(writer: asyncio.StreamWriter, reply: Reply, headers: Mapping[str, str]) -> None:
    head = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **reply.headers}.items())
    writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode())


async def _chunk(writer: asyncio.StreamWriter, content: bytes) -> None:
    writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
    await writer.drain()


async def _comes_first(event: asyncio.Event, reader: asyncio.StreamReader) -> bool:
    """Whether the event comes before the caller hangs up."""
    waiting, hung_up = part(event.wait()), part(reader.read(1))
    try:
        await asyncio.wait((waiting, hung_up), return_when=asyncio.FIRST_COMPLETED)
        return waiting.done()
    finally:
        waiting.cancel()
        hung_up.cancel()
