"""The line to a provider: one request out, one response in, every fault as an error of the tree.

An answer comes whole, or in pieces that are passed on as they come. A stream that stands still, breaks, or does not say
how it ended is no answer.
"""

import asyncio
import json
from typing import Any

from pydantic_ai import exceptions as said
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import StreamedResponse

from beforehand.adapters.models import faults
from beforehand.adapters.models.access import Access
from beforehand.adapters.models.providers import provider_model
from beforehand.adapters.models.repairing import Meter
from beforehand.adapters.models.talk import Talk, parameters_of, settings_of, usage_of
from beforehand.model.errors import ModelError


class TurnedAwayError(Exception):
    """Not now; `wait_s` is what the provider asks for, if it says so."""

    def __init__(self, wait_s: float | None, error: ModelError) -> None:
        super().__init__(error.says)
        self.wait_s = wait_s
        self.error = error


class Connection:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._model = provider_model(access)
        self._streams = access.streams

    async def open(self) -> "Connection":
        await self._model.__aenter__()
        return self

    async def close(self) -> None:
        await self._model.__aexit__(None, None, None)

    async def request(self, meter: Meter, talk: Talk) -> ModelResponse:
        """Send the talk as it stands; TurnedAwayError where the same request may be let in later."""
        try:
            return await (self._streamed if self._streams else self._at_once)(meter, talk)
        except said.ModelAPIError as error:
            fault = faults.told(error, self._access)
            if faults.is_turned_away(error):
                raise TurnedAwayError(error.retry_after, fault) from None
            if isinstance(error, said.ModelRequestRejectedError) and self._may_do_without_streams():
                raise TurnedAwayError(0, fault) from None
            raise fault from None
        except ModelError:
            raise
        except Exception as error:  # the libraries trip over odd answers in many ways, and none of them is an answer
            raise faults.told(error, self._access) from None

    def refuse_declined(self, response: ModelResponse) -> None:
        """Raise where the model, or the provider's filter, would not answer."""
        if response.finish_reason == "content_filter":
            raise faults.declined(self._access)

    def _may_do_without_streams(self) -> bool:
        """OpenAI streams some models to known organisations only: nobody asked for it, so it goes on without."""
        if not self._streams or self._access.stream is not None or self._access.family != "openai":
            return False
        self._streams = False
        return True

    async def _at_once(self, meter: Meter, talk: Talk) -> ModelResponse:
        response = await model_request(self._model, talk.messages, **self._how(meter))
        self._count(meter, talk, response)
        for part in response.parts:
            meter.hear(_words(part))
        return response

    async def _streamed(self, meter: Meter, talk: Talk) -> ModelResponse:
        async with model_request_stream(self._model, talk.messages, **self._how(meter)) as stream:
            try:
                await self._listen(stream, meter)
            finally:
                self._count(meter, talk, stream.get())
            return self._whole(stream.get())

    async def _listen(self, stream: StreamedResponse, meter: Meter) -> None:
        """Pass on what comes. Before the first word a model may think for as long as the ask has time."""
        events, begun = aiter(stream), False
        while True:
            try:
                async with asyncio.timeout(meter.ask.silence_s if begun else None):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise faults.stalled(self._access, meter.ask.silence_s) from None
            text = _words(event.part) if isinstance(event, PartStartEvent) else _more(event)
            begun = begun or bool(text)
            meter.hear(text)

    def _how(self, meter: Meter) -> dict[str, Any]:
        return {"model_settings": settings_of(meter.ask), "model_request_parameters": parameters_of(meter.ask)}

    def _whole(self, response: ModelResponse) -> ModelResponse:
        """The response, if it says how it ended: a line that breaks quietly looks like the end of a short answer."""
        told = (response.provider_details or {}).get("finish_reason")
        guessed = self._access.family == "openai"  # the library puts in a reason where none came
        if told or response.finish_reason == "content_filter" or (response.finish_reason and not guessed):
            return response
        raise faults.broke_off(self._access)

    def _count(self, meter: Meter, talk: Talk, response: ModelResponse) -> None:
        """Prices are known for the providers' own endpoints only; tokens that nobody tells are reckoned from bytes."""
        used = usage_of(response, priced=self._access.url is None)
        if not used.tokens and response.parts:
            used = talk.estimated(meter.ask, response)
        if used.tokens or response.state == "complete":
            meter.add(used)


def _words(part: Any) -> str:
    """What a part says: text, or the arguments of a call; what a model thinks is not its answer."""
    match part:
        case TextPart():
            return part.content
        case ToolCallPart():
            return _arguments(part.args)
        case _:
            return ""


def _more(event: Any) -> str:
    match event:
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return text
        case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=arguments)):
            return _arguments(arguments)
        case _:
            return ""


def _arguments(given: str | dict[str, Any] | None) -> str:
    return given if isinstance(given, str) else json.dumps(given) if given else ""
