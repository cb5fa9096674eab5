"""Model servers for tests: a fake OpenAI-compatible one and a fake Anthropic one, over real HTTP on loopback.

Each request takes the next reply of the script (the last one repeats), or what a function makes of it. They write down
what they were asked, pictures decoded. `url` is what `BEFOREHAND_MODEL_URL` is set to.

    async with FakeOpenAI(turned_away(429), says("skip(2)")) as server:
        …
    assert server.seen[-1].images == (png,)
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from beforehand.testing.model_http import FakeServer, Told, cut, event
from beforehand.testing.model_replies import Reply, Seen

PREFIX = "data:image/png;base64,"


def _structured(reply: Reply, seen: Seen) -> str | None:
    """The arguments of the tool call that the reply is, if it is one and a tool was offered."""
    if reply.arguments is not None:
        return reply.arguments
    is_call = reply.data is not None and reply.form == "tool" and seen.body.get("tools")
    return json.dumps(reply.data) if is_call else None


def _words(reply: Reply) -> str:
    return json.dumps(reply.data) if reply.data is not None else reply.text


USED = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
DONE = Told(b"data: [DONE]\n\n")


class FakeOpenAI(FakeServer):
    """`POST {url}/chat/completions`, streamed as server-sent events where the request says so."""

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

    def write(self, reply: Reply, seen: Seen) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        arguments = _structured(reply, seen)
        if reply.declines:
            message["refusal"] = reply.text
        elif arguments is not None:
            message["tool_calls"] = [_call(seen, arguments)]
        else:
            message["content"] = _words(reply)
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply, arguments)}
        return self._head(seen, "chat.completion") | {"choices": [choice], "usage": USED}

    def stream(self, reply: Reply, seen: Seen) -> list[Told]:
        head = self._head(seen, "chat.completion.chunk")

        def chunk(delta: Mapping[str, Any], reason: str | None = None, *, is_piece: bool = False) -> Told:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return event(head | {"choices": [choice]}, is_piece=is_piece)

        arguments = _structured(reply, seen)
        opening: dict[str, Any] = {"role": "assistant", "content": None if arguments else ""}
        if arguments is not None:
            opening["tool_calls"] = [_call(seen, "")]
        pieces = cut(_words(reply) if arguments is None else arguments, reply.pieces)
        written = [chunk(_delta(reply, piece, is_call=arguments is not None), is_piece=True) for piece in pieces]
        if reply.declines and reply.after is not None:  # a filter that reads along
            return [chunk(opening), *written[: reply.after], chunk({}, "content_filter"), DONE]
        reason = _finish_reason(reply, arguments)
        usage = event(head | {"choices": [], "usage": USED})
        return [chunk(opening), *written, chunk({}, reason), usage, DONE]

    def broken(self) -> bytes:
        return event({"error": {"message": "scripted", "type": "server_error", "code": None}}).line

    def _head(self, seen: Seen, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{len(self.seen)}",
            "object": kind,
            "created": 1,
            "model": seen.body.get("model", ""),
        }

    def error(self, status: int) -> dict[str, Any]:
        return {"error": {"message": f"scripted {status}", "type": "scripted", "code": None}}


def _call(seen: Seen, arguments: str) -> dict[str, Any]:
    name = seen.body["tools"][0]["function"]["name"]
    return {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def _delta(reply: Reply, piece: str, *, is_call: bool) -> dict[str, Any]:
    if is_call:
        return {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
    return {"refusal" if reply.declines and reply.after is None else "content": piece}


def _finish_reason(reply: Reply, arguments: str | None) -> str:
    return "length" if reply.cut_off else "tool_calls" if arguments else "stop"


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

    def write(self, reply: Reply, seen: Seen) -> dict[str, Any]:
        arguments = _structured(reply, seen)
        block: dict[str, Any] = {"type": "text", "text": _words(reply)}
        if arguments is not None:
            name = seen.body["tools"][0]["name"]
            block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(arguments)}
        return self._head(seen) | {"content": [block], "stop_reason": _stop_reason(reply, arguments)}

    def stream(self, reply: Reply, seen: Seen) -> list[Told]:
        arguments = _structured(reply, seen)
        start: dict[str, Any] = {"type": "text", "text": ""}
        if arguments is not None:
            name = seen.body["tools"][0]["name"]
            start = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        pieces = cut(_words(reply) if arguments is None else arguments, reply.pieces)
        if reply.declines and reply.after is not None:
            pieces = pieces[: reply.after]
        stop = {"stop_reason": _stop_reason(reply, arguments), "stop_sequence": None}
        return [
            _event("message_start", message=self._head(seen)),
            _event("content_block_start", index=0, content_block=start),
            *(_piece(piece, is_call=arguments is not None) for piece in pieces),
            _event("content_block_stop", index=0),
            _event("message_delta", delta=stop, usage={"output_tokens": 10}),
            _event("message_stop"),
        ]

    def broken(self) -> bytes:
        return _event("error", error={"type": "api_error", "message": "scripted"}).line

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


def _event(kind: str, *, is_piece: bool = False, **data: Any) -> Told:
    return event({"type": kind, **data}, kind, is_piece=is_piece)


def _piece(text: str, *, is_call: bool) -> Told:
    delta = {"type": "input_json_delta", "partial_json": text} if is_call else {"type": "text_delta", "text": text}
    return _event("content_block_delta", is_piece=True, index=0, delta=delta)


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
