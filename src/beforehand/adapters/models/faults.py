"""What goes wrong between Beforehand and a provider, in plain sentences.

The provider's own words stay out of them: they may hold parts of keys, and prompts nobody asked for.
"""

from pydantic_ai import exceptions as said

from beforehand.adapters.models.access import Access
from beforehand.model.errors import (
    ModelAnswerError,
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
)


def is_turned_away(error: said.ModelAPIError) -> bool:
    """Whether the same request may be let in a little later."""
    return isinstance(error, said.ModelRateLimitError | said.ModelUnavailableError)


def told(error: Exception, access: Access) -> ModelError:
    """The error of the tree for one of pydantic-ai's."""
    status = getattr(error, "status_code", None)
    code = f" (HTTP {status})" if status else ""
    match error:
        case said.ModelAuthenticationError():
            return ModelRefusedError(f"{_who(access)} refused the key{code}.", hint=access.key_hint)
        case said.ModelNotFoundError():
            says = f"{_who(access)} has no model {access.bare_name!r}{code}."
            return ModelRefusedError(says, code="model.unknown", hint="Set another name in BEFOREHAND_MODEL.")
        case said.ModelQuotaExceededError():
            says = f"{_who(access)} says that the account has no money or quota left{code}."
            return ModelRefusedError(says, code="model.quota", hint="Look at the account there.")
        case said.ModelContextWindowExceededError():
            says = f"What was asked is longer than {access.name} can read{code}."
            return ModelRefusedError(says, code="model.too_long")
        case said.ModelRequestRejectedError():
            says = f"{_who(access)} does not accept the request{code}."
            return ModelRefusedError(says, code="model.rejected", hint="It may not know pictures, tools or a setting.")
        case said.ModelRateLimitError() | said.ModelUnavailableError():
            return ModelBusyError(f"{_who(access)} is busy{code}, and stayed so.", hint="Try again later.")
        case said.ModelTimeoutError() | said.ModelRequestTimeout():
            return ModelTimeoutError(f"{_who(access)} gave no answer in time.", hint="Give it more time.")
        case said.ModelConnectionError():
            return broke_off(access)
        case said.ContentFilterError():
            return declined(access)
        case said.ModelHTTPError():
            return ModelError(f"{_who(access)} failed{code}.", hint="Try again later.")
        case _:
            return ModelAnswerError(f"What {_who(access, lower=True)} sent is not readable as an answer.")


def broke_off(access: Access) -> ModelUnreachableError:
    says = f"{_who(access)} does not answer, or broke off in the middle."
    return ModelUnreachableError(says, hint="Check that it runs, and BEFOREHAND_MODEL_URL if it is set.")


def stalled(access: Access, silence_s: float) -> ModelTimeoutError:
    says = f"{_who(access)} stopped in the middle of its answer and said nothing for {silence_s:g} s."
    return ModelTimeoutError(says, code="model.stalled", hint="Try again later.")


def declined(access: Access) -> ModelRefusedError:
    says = f"{access.name} declined to answer this."
    return ModelRefusedError(says, code="model.declined", hint="Ask in other words, or ask another model.")


def _who(access: Access, *, lower: bool = False) -> str:
    who = access.host if access.url is None else f"the model server at {access.host}"
    return who if lower else f"{who[0].upper()}{who[1:]}"
