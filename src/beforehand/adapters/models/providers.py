"""pydantic-ai's own model for an access. Importing this takes a second or more, so it is done when first asked."""

from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider

from beforehand.adapters.models.access import Access
from beforehand.model.errors import ModelNameError, ModelNotConfiguredError

NO_KEY = "none"
"""Sent where an endpoint of one's own needs no key: the libraries insist on one."""


def provider_model(access: Access) -> Model:
    """The model that the access names.

    Raises ModelNameError when there is no such provider, ModelNotConfiguredError when it lacks something.
    """
    try:
        if access.url is not None and access.family == "openai":
            return _compatible(access, access.url)
        return infer_model(access.name, lambda name: _provider(name, access))
    except ValueError as error:
        hint = "Write a provider that is known, such as openai:gpt-5 or anthropic:claude-opus-5."
        raise ModelNameError(_says(access, error), hint=hint) from None
    except (UserError, ImportError) as error:
        raise ModelNotConfiguredError(_says(access, error)) from None


def _says(access: Access, error: Exception) -> str:
    return f"The model {access.name} cannot be used: {str(error).splitlines()[0]}"


def _compatible(access: Access, url: str) -> Model:
    """Chat Completions at somebody's own address."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider("compatible", base_url=url, api_key=access.key or NO_KEY)
    return OpenAIChatModel(access.bare_name, provider=provider)


def _provider(name: str, access: Access) -> Provider[Any]:
    if access.family == "openai":
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIProvider(api_key=access.key)
    if access.family == "anthropic":
        from pydantic_ai.providers.anthropic import AnthropicProvider

        url = access.url and access.url.rstrip("/").removesuffix("/v1")  # the library adds it
        return AnthropicProvider(api_key=access.key or NO_KEY, base_url=url)
    return infer_provider(name)
