"""Model servers for tests: a fake OpenAI-compatible one and a fake Anthropic one, over real HTTP on loopback.

Each request takes the next reply of the script (the last one repeats), or what a function makes of it. They write down
what they were asked, pictures decoded. `url` is what `BEFOREHAND_MODEL_URL` is set to.

    async with FakeOpenAI(turned_away(429), says("skip(2)")) as server:
        …
    assert server.seen[-1].images == (png,)
"""

import asyncio
import base64
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from beforehand.testing.model_replies import Reply, Script, Seen

EVENTS = "text/event-stream"
PREFIX = "data:image/png;base64,"
MOST_BYTES = 64 * 2**20


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
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
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
        if reply.waits is not None and not await _comes_first(reply.waits, reader):
            return False
        kind, whole = self._written(reply, seen)
        streams = kind == EVENTS
        framing = {"Connection": "close"} if streams else {"Content-Length": str(len(whole))}
        headers = {"Content-Type": kind, **framing, **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {reply.status} Scripted\r\n{head}\r\n".encode())
        writer.write(whole[: len(whole) // 2] if reply.dies else whole)
        await writer.drain()
        return not (reply.dies or streams)

    def _written(self, reply: Reply, seen: Seen) -> tuple[str, bytes]:
        if reply.raw is not None:
            return "text/plain", reply.raw
        if reply.status != 200:
            return "application/json", json.dumps(self.error(reply.status)).encode()
        return self.write(reply, seen)

    @abstractmethod
    def read(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Seen:
        """The request, understood."""

    @abstractmethod
    def write(self, reply: Reply, seen: Seen) -> tuple[str, bytes]:
        """The answer: its content type and body."""

    @abstractmethod
    def error(self, status: int) -> dict[str, Any]:
        """What the provider would say with this status."""


async def _comes_first(event: asyncio.Event, reader: asyncio.StreamReader) -> bool:
    """Whether the event comes before the caller hangs up."""
    waiting, hung_up = asyncio.ensure_future(event.wait()), asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((waiting, hung_up), return_when=asyncio.FIRST_COMPLETED)
        return waiting.done()
    finally:
        waiting.cancel()
        hung_up.cancel()


def _structured(reply: Reply, seen: Seen) -> str | None:
    """The arguments of the tool call that the reply is, if it is one and a tool was offered."""
    if reply.arguments is not None:
        return reply.arguments
    is_call = reply.data is not None and reply.form == "tool" and seen.body.get("tools")
    return json.dumps(reply.data) if is_call else None


def _words(reply: Reply) -> str:
    return json.dumps(reply.data) if reply.data is not None else reply.text


class FakeOpenAI(FakeServer):
    """`POST {url}/chat/completions`, answered whole."""

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def read(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Seen:
        system, messages, images = "", [], []
        for message in body.get("messages", ()):
            text, pictures = _openai_content(message.get("content"))
            images += pictures
            if message["role"] in ("system", "developer"):
                system += text
            else:
                messages.append((message["role"], text))
        return Seen(path, headers, body, system, tuple(messages), tuple(images))

    def write(self, reply: Reply, seen: Seen) -> tuple[str, bytes]:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        arguments = _structured(reply, seen)
        if reply.declines:
            message["refusal"] = reply.text
        elif arguments is not None:
            name = seen.body["tools"][0]["function"]["name"]
            call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
            message["tool_calls"] = [call]
        else:
            message["content"] = _words(reply)
        reason = "length" if reply.cut_off else "tool_calls" if arguments else "stop"
        completion = {
            "id": f"chatcmpl-{len(self.seen)}",
            "object": "chat.completion",
            "created": 1,
            "model": seen.body.get("model", ""),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        return "application/json", json.dumps(completion).encode()

    def error(self, status: int) -> dict[str, Any]:
        return {"error": {"message": f"scripted {status}", "type": "scripted", "code": None}}


def _openai_content(content: Any) -> tuple[str, list[bytes]]:
    if not isinstance(content, list):
        return content or "", []
    text = "\n".join(part["text"] for part in content if part["type"] == "text")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return text, [base64.b64decode(url.removeprefix(PREFIX), validate=True) for url in urls]


class FakeAnthropic(FakeServer):
    """`POST {url}/v1/messages`, streamed as server-sent events where the request says so."""

    @property
    def url(self) -> str:
        return self.origin

    def read(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Seen:
        messages, images = [], []
        for message in body.get("messages", ()):
            text, pictures = _anthropic_content(message["content"])
            images += pictures
            messages.append((message["role"], text))
        system = _anthropic_content(body.get("system", ""))[0]
        return Seen(path, headers, body, system, tuple(messages), tuple(images))

    def write(self, reply: Reply, seen: Seen) -> tuple[str, bytes]:
        if not seen.body.get("stream"):
            return "application/json", json.dumps(self._whole(reply, seen)).encode()
        events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in self._events(reply, seen))
        return EVENTS, "".join(events).encode()

    def _whole(self, reply: Reply, seen: Seen) -> dict[str, Any]:
        arguments = _structured(reply, seen)
        block: dict[str, Any] = {"type": "text", "text": _words(reply)}
        if arguments is not None:
            name = seen.body["tools"][0]["name"]
            block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(arguments)}
        return self._head(seen) | {"content": [block], "stop_reason": _stop_reason(reply, arguments)}

    def _events(self, reply: Reply, seen: Seen) -> list[dict[str, Any]]:
        arguments = _structured(reply, seen)
        if arguments is None:
            start: dict[str, Any] = {"type": "text", "text": ""}
            delta: dict[str, Any] = {"type": "text_delta", "text": _words(reply)}
        else:
            name = seen.body["tools"][0]["name"]
            start = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": arguments}
        stop = {"stop_reason": _stop_reason(reply, arguments), "stop_sequence": None}
        return [
            {"type": "message_start", "message": self._head(seen)},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ]

    def _head(self, seen: Seen) -> dict[str, Any]:
        return {
            "id": f"msg_{len(self.seen)}",
            "type": "message",
            "role": "assistant",
            "model": seen.body.get("model", ""),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }

    def error(self, status: int) -> dict[str, Any]:
        kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
        kind = kinds.get(status, "overloaded_error" if status == 529 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": f"scripted {status}"}}


def _stop_reason(reply: Reply, arguments: str | None) -> str:
    if reply.declines or reply.cut_off:
        return "refusal" if reply.declines else "max_tokens"
    return "end_turn" if arguments is None else "tool_use"


def _anthropic_content(content: Any) -> tuple[str, list[bytes]]:
    if isinstance(content, str):
        return content, []
    texts = [part["text"] for part in content if part["type"] == "text"]
    for part in content:
        if part["type"] == "tool_result":
            texts.append(_anthropic_content(part.get("content", ""))[0])
    sources = [part["source"] for part in content if part["type"] == "image"]
    return "\n".join(texts), [base64.b64decode(source["data"], validate=True) for source in sources]
