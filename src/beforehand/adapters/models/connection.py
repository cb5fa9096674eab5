"""The line to a provider: one request out, one response in, every fault as an error of the tree.

Anthropic's answers are streamed, as its API wants it for long ones; the others come whole.
"""

from typing import Any

from pydantic_ai import exceptions as said
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelResponse

from beforehand.adapters.models import faults
from beforehand.adapters.models.access import Access
from beforehand.adapters.models.providers import provider_model
from beforehand.adapters.models.talk import Talk, parameters_of, settings_of, usage_of
from beforehand.model.errors import ModelError
from beforehand.model.usage import Usage
from beforehand.ports.model import Ask


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
        self._streams = access.family == "anthropic"

    async def open(self) -> "Connection":
        await self._model.__aenter__()
        return self

    async def close(self) -> None:
        await self._model.__aexit__(None, None, None)

    async def request(self, ask: Ask, talk: Talk) -> ModelResponse:
        """Send the talk as it stands; TurnedAwayError where the same request may be let in later."""
        how = {"model_settings": settings_of(ask), "model_request_parameters": parameters_of(ask)}
        try:
            return await self._sent(talk, **how)
        except said.ModelAPIError as error:
            fault = faults.told(error, self._access)
            if faults.is_turned_away(error):
                raise TurnedAwayError(error.retry_after, fault) from None
            raise fault from None
        except ModelError:
            raise
        except Exception as error:  # the libraries trip over odd answers in many ways, and none of them is an answer
            raise faults.told(error, self._access) from None

    def refuse_declined(self, response: ModelResponse) -> None:
        """Raise where the model, or the provider's filter, would not answer."""
        if response.finish_reason == "content_filter":
            raise faults.declined(self._access)

    async def _sent(self, talk: Talk, **how: Any) -> ModelResponse:
        if not self._streams:
            return await model_request(self._model, talk.messages, **how)
        async with model_request_stream(self._model, talk.messages, **how) as stream:
            async for _ in stream:
                pass
            return self._whole(stream.get())

    def _whole(self, response: ModelResponse) -> ModelResponse:
        """The response, if it says how it ended: a line that breaks quietly looks like the end of a short answer."""
        if response.finish_reason is None and not (response.provider_details or {}).get("finish_reason"):
            raise faults.broke_off(self._access)
        return response

    def usage(self, response: ModelResponse) -> Usage:
        """Prices are known for the providers' own endpoints only."""
        return usage_of(response, priced=self._access.url is None)
