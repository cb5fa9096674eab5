"""Which model, where, and with which key: what is known without importing anything heavy.

A name is pydantic-ai's, such as `openai:gpt-5` or `anthropic:claude-opus-5`. A URL stands for any endpoint that speaks
the provider's protocol: Chat Completions for `openai:`, Messages for `anthropic:`.
"""

from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import urlsplit

from beforehand.model.errors import ModelNameError, ModelNotConfiguredError

KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""Where the keys of the providers that come with the extra are looked for; others know their own variables."""
ALIASES = {"openai-chat": "openai", "openai-responses": "openai"}
INSTALL = "pip install 'pydantic-ai-slim[openai,anthropic]>=2.66', or in the checkout: pip install '.[models]'"


@dataclass(frozen=True, slots=True)
class Access:
    name: str
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    stream: bool | None = None
    """Whether answers are asked for in pieces; None where it is as the provider has it."""

    @property
    def provider(self) -> str:
        """What stands before the colon."""
        return self.name.partition(":")[0]

    @property
    def family(self) -> str:
        """Whose protocol and key it uses."""
        return ALIASES.get(self.provider, self.provider)

    @property
    def bare_name(self) -> str:
        """What the provider calls the model."""
        return self.name.partition(":")[2]

    @property
    def streams(self) -> bool:
        """An endpoint of one's own that speaks Chat Completions is not asked to, unless somebody says that it can."""
        if self.stream is not None:
            return self.stream
        return self.family == "anthropic" or (self.family == "openai" and self.url is None)

    @property
    def host(self) -> str:
        """Where it is asked, as a sentence may say it; neither passwords nor paths."""
        if self.url is None:
            return f"the provider {self.provider}"
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def key_hint(self) -> str:
        """Where the key comes from."""
        variable = KEY_VARIABLES.get(self.family, "the provider's own key variable")
        return f"Set BEFOREHAND_MODEL_KEY or {variable} to a key that is valid there."


def check_access(access: Access) -> None:
    """Raise ModelNotConfiguredError where something that can be seen from here is missing or wrong."""
    if not (access.provider and access.bare_name):
        raise ModelNameError(
            f"{access.name!r} is not the name of a model.",
            hint="Write provider and model with a colon between them, such as openai:gpt-5 or anthropic:claude-opus-5.",
        )
    if access.url is not None:
        _check_url(access, access.url)
    elif access.family in KEY_VARIABLES and not access.key:
        raise ModelNotConfiguredError(f"There is no key for {access.name}.", code="model.no_key", hint=access.key_hint)
    if find_spec("pydantic_ai") is None:
        says = "What asks language models is not installed."
        raise ModelNotConfiguredError(says, code="model.not_installed", hint=f"Install it: {INSTALL}.")


def _check_url(access: Access, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        says = "BEFOREHAND_MODEL_URL is not the address of a model: it must begin with http:// or https://."
        raise ModelNotConfiguredError(says, code="model.bad_url", hint="Such as http://127.0.0.1:11434/v1.")
    if access.family not in KEY_VARIABLES:
        raise ModelNotConfiguredError(
            f"BEFOREHAND_MODEL_URL is for models of openai: and anthropic:, and {access.name} is neither.",
            code="model.bad_url",
            hint=f"Leave the URL out, or name the model openai:{access.bare_name} if that is what the endpoint speaks.",
        )
