"""The model of the settings: opened, or refused with what to set; keys stay where they belong."""

from pathlib import Path
from typing import Any

import pytest

from beforehand.adapters.models import access
from beforehand.app.models import check_model, open_model
from beforehand.app.settings import Settings, load_settings
from beforehand.app.trust import trust
from beforehand.model.errors import BadInputError, ModelNameError, ModelNotConfiguredError
from beforehand.model.secrets import without_secrets
from beforehand.ports.model import Ask, Message
from beforehand.testing.model_replies import says
from beforehand.testing.model_servers import FakeOpenAI

HELLO = Ask((Message("user", "hello"),))
LOCAL = "http://127.0.0.1:11434/v1"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(access, "find_spec", lambda name: object())

    def made(**environment: str) -> Settings:
        return load_settings({}, environment)

    return made


def refused(settings: Settings, name: str | None = None) -> ModelNotConfiguredError:
    with pytest.raises(ModelNotConfiguredError) as raised:
        open_model(settings, name)
    return raised.value


def test_no_model_is_a_normal_state_that_says_what_to_set(settings: Any) -> None:
    error = refused(settings())
    assert (error.code, error.says) == ("model.not_configured", "No model is configured.")
    for variable in ("BEFOREHAND_MODEL ", "BEFOREHAND_MODEL_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        assert variable in error.hint
    assert (check_model(settings()).state, check_model(settings()).try_next) == ("missing", error.hint)


def test_a_name_that_is_given_goes_before_the_one_that_is_set(settings: Any) -> None:
    set_up = settings(BEFOREHAND_MODEL="openai:gpt-5", OPENAI_API_KEY="sk-aaaa", ANTHROPIC_API_KEY="sk-bbbb")
    assert open_model(set_up).name == "openai:gpt-5"
    assert open_model(set_up, "anthropic:claude-opus-5").name == "anthropic:claude-opus-5"
    assert check_model(set_up).state == "ok"


@pytest.mark.parametrize(
    ("environment", "code", "hint"),
    [
        ({"BEFOREHAND_MODEL": "gpt-5"}, "model.bad_name", "openai:gpt-5"),
        ({"BEFOREHAND_MODEL": "openai:"}, "model.bad_name", "colon"),
        ({"BEFOREHAND_MODEL": "openai:gpt-5"}, "model.no_key", "OPENAI_API_KEY"),
        ({"BEFOREHAND_MODEL": "openai-chat:gpt-5"}, "model.no_key", "OPENAI_API_KEY"),
        ({"BEFOREHAND_MODEL": "anthropic:x", "OPENAI_API_KEY": "sk-a"}, "model.no_key", "ANTHROPIC_API_KEY"),
        ({"BEFOREHAND_MODEL": "openai:x", "BEFOREHAND_MODEL_URL": "localhost:1"}, "model.bad_url", "http://"),
        ({"BEFOREHAND_MODEL": "groq:x", "BEFOREHAND_MODEL_URL": LOCAL}, "model.bad_url", "openai:x"),
    ],
)
def test_what_is_missing_is_told(settings: Any, environment: dict[str, str], code: str, hint: str) -> None:
    error = refused(settings(**environment))
    assert error.code == code
    assert hint in error.hint
    found = check_model(settings(**environment))
    assert (found.state, found.says) == ("broken", error.says)


def test_a_missing_extra_is_told_with_the_command(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "find_spec", lambda name: None)
    error = refused(settings(BEFOREHAND_MODEL="openai:x", BEFOREHAND_MODEL_URL=LOCAL))
    assert error.code == "model.not_installed"
    assert "pip install '.[models]'" in error.hint


def test_an_endpoint_of_ones_own_needs_no_key(settings: Any) -> None:
    for name in ("openai:llama", "anthropic:proxy"):
        assert open_model(settings(BEFOREHAND_MODEL_URL=LOCAL), name).name == name


def test_a_url_from_a_stranger_s_file_is_not_used(settings: Any, tmp_path: Path) -> None:
    file = tmp_path / "beforehand.toml"
    file.write_text('model = "openai:x"\nmodel_url = "https://collector.example/v1"\n', encoding="utf-8")
    error = refused(settings(OPENAI_API_KEY="sk-mine"))
    assert error.code == "model.untrusted_url"
    assert "beforehand config trust" in error.hint
    trust(settings().home, Path("beforehand.toml"))
    assert open_model(settings(OPENAI_API_KEY="sk-mine")).name == "openai:x"
    file.write_text(f'model = "openai:x"\nmodel_url = "{LOCAL}"\n', encoding="utf-8")
    assert open_model(settings(OPENAI_API_KEY="sk-mine")).name == "openai:x"


@pytest.mark.needs("pydantic_ai")
@pytest.mark.parametrize(
    ("environment", "sent"),
    [
        ({"OPENAI_API_KEY": "sk-of-the-provider"}, "sk-of-the-provider"),
        ({"OPENAI_API_KEY": "secret:VENDOR", "BEFOREHAND_SECRET_VENDOR": "sk-by-name"}, "sk-by-name"),
        ({"BEFOREHAND_MODEL_KEY": "secret:VENDOR", "BEFOREHAND_SECRET_VENDOR": "sk-by-setting"}, "sk-by-setting"),
        ({"BEFOREHAND_MODEL_KEY": "sk-set", "OPENAI_API_KEY": "sk-not-this"}, "sk-set"),
        ({"ANTHROPIC_API_KEY": "sk-for-another"}, "none"),
    ],
)
async def test_the_key_goes_to_the_provider_and_nowhere_else(
    settings: Any, environment: dict[str, str], sent: str
) -> None:
    async with FakeOpenAI(says("ok")) as server:
        set_up = settings(BEFOREHAND_MODEL="openai:x", BEFOREHAND_MODEL_URL=server.url, **environment)
        model = open_model(set_up)
        await model.answer(HELLO)
        await model.close()
    assert server.seen[0].headers["authorization"] == f"Bearer {sent}"
    if sent != "none":
        assert sent not in without_secrets(f"The provider said: {sent} is wrong.")
        assert sent not in repr(model) + repr(vars(model)) + repr(set_up) + repr(check_model(set_up))


def test_a_secret_that_is_not_there_is_told(settings: Any) -> None:
    set_up = settings(BEFOREHAND_MODEL="openai:x", BEFOREHAND_MODEL_KEY="secret:GONE")
    with pytest.raises(BadInputError, match="no secret 'GONE'"):
        open_model(set_up)
    assert check_model(set_up).state == "broken"


@pytest.mark.needs("pydantic_ai")
async def test_a_provider_that_only_the_library_could_know_is_told_with_the_first_ask(settings: Any) -> None:
    model = open_model(settings(), "nobody:x")
    with pytest.raises(ModelNameError, match="nobody:x cannot be used"):
        await model.answer(HELLO)


@pytest.mark.needs("pydantic_ai")
@pytest.mark.parametrize(
    ("name", "url", "address"),
    [
        ("openai:gpt-5", None, "https://api.openai.com/v1"),
        ("openai-chat:gpt-5", None, "https://api.openai.com/v1"),
        ("anthropic:claude-opus-5", None, "https://api.anthropic.com"),
        ("openai:llama", LOCAL, LOCAL),
        ("anthropic:proxy", "http://127.0.0.1:9", "http://127.0.0.1:9"),
    ],
)
def test_a_model_is_asked_at_its_provider_or_at_the_url(name: str, url: str | None, address: str) -> None:
    from beforehand.adapters.models.providers import provider_model

    assert str(provider_model(access.Access(name, url, "sk-key")).base_url).rstrip("/") == address


@pytest.mark.needs("pydantic_ai")
def test_what_it_cost_is_told_where_the_price_is_known() -> None:
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.usage import RequestUsage

    from beforehand.adapters.models.talk import usage_of

    used = RequestUsage(input_tokens=1_000_000, output_tokens=10)
    known, strange = (
        ModelResponse([TextPart("ok")], usage=used, model_name=name, provider_name="openai")
        for name in ("gpt-4o", "of-my-own")
    )
    assert usage_of(known, priced=True).money == pytest.approx(2.5, rel=0.5)
    assert usage_of(known, priced=False).money is None
    assert usage_of(strange, priced=True).money is None
    assert usage_of(strange, priced=True).input_tokens == 1_000_000
