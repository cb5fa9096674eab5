"""What a model was asked and what it answered, in the log: `modelAsked` before the request, `modelAnswered` after it.

Both carry the hash of the ask. Texts stand beside their hashes, each once, since a conversation repeats all that was
said before; pictures are known by hash only, and keys are nowhere. What lies in the log answers a replay.
"""

import json
from collections.abc import Mapping
from typing import Any

from beforehand.adapters.models.recorded import RecordedModel, Recording
from beforehand.loop.asked import preparing
from beforehand.model.errors import ModelError
from beforehand.model.event import Event
from beforehand.model.secrets import without_secrets
from beforehand.model.usage import Usage
from beforehand.ports.clock import Clock
from beforehand.ports.log import this_request
from beforehand.ports.model import Answer, Ask, Model, digest
from beforehand.ports.store import EventFilter, Store

ASKED, ANSWERED = "modelAsked", "modelAnswered"
PAGE = 1000
_KINDS: list[type[ModelError]] = [ModelError, *ModelError.__subclasses__()]


class LoggedModel:
    """A model whose asks and answers go to the log as events of `owner`, such as `session:s1`."""

    def __init__(
        self,
        model: Model,
        store: Store,
        clock: Clock,
        *,
        owner: str,
        about: Mapping[str, Any],
        scene: str | None = None,
    ) -> None:
        self.name = model.name
        self._model = model
        self._store = store
        self._clock = clock
        self._place: dict[str, Any] = {"owner": owner, "about": about, "scene": scene}
        self._written: set[str] = set()

    async def answer(self, ask: Ask) -> Answer:
        """As the model answers; an ask that was cancelled stays without its `modelAnswered`."""
        told = {"model": self.name, "hash": ask.hash}
        await self._log(ASKED, told | self._asked(ask))
        try:
            answer = await self._model.answer(ask)
        except ModelError as error:
            await self._log(ANSWERED, told | {"error": _error(error), "usage": error.usage.wire()})
            raise
        await self._log(ANSWERED, told | answer.wire())
        return answer

    async def close(self) -> None:
        await self._model.close()

    async def _log(self, kind: str, data: Mapping[str, Any]) -> None:
        place = self._place | {"correlation_id": this_request.get()}
        with preparing():  # a write that asked a model first is done by what comes after
            await self._store.append([Event(kind, data=_without_secrets(data), ts=self._clock.now_ms(), **place)])

    def _asked(self, ask: Ask) -> dict[str, Any]:
        """The ask with hashes in place of texts, and the texts that were not in the log yet."""
        texts: dict[str, str] = {}
        asked = ask.wire()
        messages = [message | {"text": self._beside(message["text"], texts)} for message in asked["messages"]]
        asked |= {"system": self._beside(asked["system"], texts), "messages": messages}
        if ask.schema is not None:
            asked["schema"] = self._beside(json.dumps(ask.schema, sort_keys=True), texts)
        return asked | {"texts": texts}

    def _beside(self, text: str, texts: dict[str, str]) -> str:
        known = digest(text.encode())
        if known not in self._written:
            self._written.add(known)
            texts[known] = text
        return known


async def recorded_model(store: Store, owner: str) -> RecordedModel:
    """A model that answers as the log says it was answered then; it needs neither a key nor a network."""
    only = EventFilter(kinds=frozenset({ANSWERED}), owner=owner)
    recordings: list[Recording] = []
    after = 0
    while page := await store.events(after, PAGE, only):
        recordings += [_recording(event.data) for event in page]
        after = page[-1].seq
    return RecordedModel(recordings)


def _recording(data: Mapping[str, Any]) -> Recording:
    known, error = data["hash"], data.get("error")
    if error is not None:
        told = {name: error[name] for name in ("code", "hint")}
        kind = next(kind for kind in _KINDS if kind.code == error["kind"])
        return Recording(known, kind(error["says"], **told, usage=Usage.model_validate(data["usage"])))
    return Recording(known, Answer.model_validate({name: data[name] for name in data if name != "hash"}))


def _error(error: ModelError) -> dict[str, str]:
    return {"kind": type(error).code, "code": error.code, "says": error.says, "hint": error.hint}


def _without_secrets(data: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing that was looked up as a secret, wherever it stands: a model may repeat what it was never to see."""
    clean: dict[str, Any] = json.loads(without_secrets(json.dumps(data)))
    return clean
