"""A fake of OpenAI's own endpoint, Responses, which `openai:` means where no URL is set."""

import json
from collections.abc import Mapping
from typing import Any

from beforehand.testing.model_http import Told, cut, event
from beforehand.testing.model_replies import Reply, Seen
from beforehand.testing.model_servers import FakeOpenAI


class FakeResponses(FakeOpenAI):
    def read(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Seen:
        return Seen(path, headers, body, body.get("instructions", ""), (), ())

    def write(self, reply: Reply, seen: Seen) -> dict[str, Any]:
        used = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {
            "id": "r",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "gpt-5",
            "output": [self._item(reply)],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110, **used},
        }

    def stream(self, reply: Reply, seen: Seen) -> list[Told]:
        whole, item = self.write(reply, seen), self._item(reply)
        begun = whole | {"status": "in_progress", "output": [], "usage": None}
        place = {"item_id": item["id"], "output_index": 0}
        told = [("response.created", {"response": begun}), ("response.output_item.added", self._added(item))]
        if reply.data is None:
            part = {"type": "output_text", "text": "", "annotations": []}
            told.append(("response.content_part.added", {**place, "content_index": 0, "part": part}))
            delta = "response.output_text.delta"
        else:
            delta = "response.function_call_arguments.delta"
        words = reply.text if reply.data is None else json.dumps(reply.data)
        told += [(delta, {**place, "content_index": 0, "delta": piece}) for piece in cut(words, reply.pieces)]
        told += [("response.output_item.done", {"output_index": 0, "item": item})]
        told += [("response.completed", {"response": whole})]
        return [
            event({"type": kind, "sequence_number": at, **data}, kind, is_piece=kind == delta)
            for at, (kind, data) in enumerate(told)
        ]

    def _item(self, reply: Reply) -> dict[str, Any]:
        if reply.data is not None:
            call = {"type": "function_call", "call_id": "c", "name": "answer", "id": "fc", "status": "completed"}
            return call | {"arguments": json.dumps(reply.data)}
        words = {"type": "output_text", "text": reply.text, "annotations": []}
        return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [words]}

    def _added(self, item: dict[str, Any]) -> dict[str, Any]:
        empty = {"arguments": ""} if "arguments" in item else {"content": []}
        return {"output_index": 0, "item": item | empty | {"status": "in_progress"}}
