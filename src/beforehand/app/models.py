"""The model of the settings: opened without a request, or refused with what to set.

No model is a normal state. A key is looked up when the model is opened, and from then on taken out of every sentence.
"""

from dataclasses import replace

from beforehand.adapters.models.access import KEY_VARIABLES, Access, check_access
from beforehand.adapters.models.remote import RemoteModel
from beforehand.app.settings import Settings
from beforehand.app.untrusted_urls import is_untrusted
from beforehand.model.errors import BeforehandError, ModelNotConfiguredError
from beforehand.model.finding import Finding
from beforehand.model.secrets import hide
from beforehand.ports.model import Model

WHAT_TO_SET = (
    "Set BEFOREHAND_MODEL to a name such as openai:gpt-5 or anthropic:claude-opus-5, and the key in OPENAI_API_KEY, "
    "ANTHROPIC_API_KEY or BEFOREHAND_MODEL_KEY; BEFOREHAND_MODEL_URL is for an endpoint of your own."
)

SHORTEST_KEY = 12
"""What is shorter in a variable of some other program may be a word, which must not vanish from every sentence."""


def open_model(settings: Settings, name: str | None = None) -> Model:
    """The model of that name, else the one that is set; nothing is imported or sent before it is first asked.

    Raises ModelNotConfiguredError, whose hint says what to set. Whoever opens a model closes it.
    """
    access = _access(settings, name or settings["model"])
    check_access(access)
    return RemoteModel(access)


def check_model(settings: Settings) -> Finding:
    """Whether a model is configured, for `doctor`; nobody is asked."""
    if not settings["model"]:
        return Finding("model", "missing", "None is configured; only what asks a model needs one.", WHAT_TO_SET)
    try:
        access = _access(settings, settings["model"])
        check_access(access)
    except BeforehandError as error:
        return Finding("model", "broken", error.says, error.hint)
    return Finding("model", "ok", f"{access.name}, asked at {access.host}.")


def _access(settings: Settings, name: str | None) -> Access:
    if not name:
        raise ModelNotConfiguredError("No model is configured.", hint=WHAT_TO_SET)
    url = settings["model_url"]
    if url is not None:
        _refuse_stranger(settings, url)
    access = Access(name, url, stream=settings["model_stream"])
    return replace(access, key=_key(settings, access.family))


def _key(settings: Settings, family: str) -> str | None:
    """The key of the settings, or of the provider's own variable; that of any provider is kept out of sentences."""
    for variable, value in settings.environment.items():
        if variable.endswith("_API_KEY") and len(value) >= SHORTEST_KEY:
            hide(value)
    own = settings.environment.get(KEY_VARIABLES.get(family, ""))
    key = settings["model_key"] or settings.with_secrets(own)
    return hide(key) if key else None


def _refuse_stranger(settings: Settings, url: str) -> None:
    if is_untrusted(settings, "model_url", url):
        raise ModelNotConfiguredError(
            f"The model_url of {settings.file} is left out: the file lies inside the workspace and was not trusted.",
            code="model.untrusted_url",
            hint="Read the file, then: beforehand config trust",
        )
