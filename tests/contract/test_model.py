"""Every model keeps the promises of its port: providers over real HTTP, scripts, recordings, and their wrappers."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from beforehand.adapters.models.access import Access
from beforehand.adapters.models.budget import Budget, Limits
from beforehand.adapters.models.remote import RemoteModel
from beforehand.app.model_log import LoggedModel, recorded_model
from beforehand.model.errors import ModelAnswerError, ModelError, ModelTimeoutError
from beforehand.ports.model import Ask, Message, Model
from beforehand.testing import MemoryStore, ScriptedModel, VirtualClock
from beforehand.testing.model_replies import Reply, gives, says, stalls
from beforehand.testing.model_servers import FakeAnthropic, FakeOpenAI

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
HELLO = Ask((Message("user", "hello"),), system="Be short.")
NUMBER = Ask((Message("user", "a number, please"),), schema=SCHEMA)

Stage = Callable[..., Awaitable[Model]]


async def no_sleep(seconds: float) -> None: ...


@pytest.fixture(
    params=[
        pytest.param("openai", marks=pytest.mark.needs("pydantic_ai")),
        pytest.param("anthropic", marks=pytest.mark.needs("pydantic_ai")),
        "scripted",
        "budget",
        "logged",
    ]
)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """A model of each kind that will say the given things."""
    async with AsyncExitStack() as stack:

        async def staged(*outcomes: str | dict[str, Any]) -> Model:
            model = await _made(request.param, outcomes, stack)
            stack.push_async_callback(model.close)
            return model

        yield staged


async def _made(kind: str, outcomes: tuple[Any, ...], stack: AsyncExitStack) -> Model:
    if kind in ("openai", "anthropic"):
        server = {"openai": FakeOpenAI, "anthropic": FakeAnthropic}[kind](*map(_reply, outcomes))
        await stack.enter_async_context(server)
        return RemoteModel(Access(f"{kind}:some", server.url, "sk-key"), sleep=no_sleep)
    scripted = ScriptedModel(*(_hangs if outcome is ... else outcome for outcome in outcomes))
    if kind == "budget":
        return Budget(scripted, Limits(requests=100, tokens=100_000, money=1, seconds=1000))
    if kind == "logged":
        return LoggedModel(scripted, MemoryStore(), VirtualClock(), owner="session:s1", about={"sessionId": "s1"})
    return scripted


def _reply(outcome: Any) -> Reply:
    if outcome is ...:
        return stalls()
    return says(outcome) if isinstance(outcome, str) else gives(outcome)


async def _hangs(ask: Ask) -> str:
    return await asyncio.get_running_loop().create_future()


async def test_words_in_words_out(stage: Stage) -> None:
    answer = await (await stage("hi there")).answer(HELLO)
    assert (answer.text, answer.data) == ("hi there", None)
    assert (answer.usage.requests, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 100, 10)
    assert answer.model


async def test_a_structured_answer_has_the_wanted_shape(stage: Stage) -> None:
    answer = await (await stage({"n": 3})).answer(NUMBER)
    assert (answer.data, answer.text) == ({"n": 3}, '{"n": 3}')


async def test_json_in_words_is_an_answer_too(stage: Stage) -> None:
    answer = await (await stage('```json\n{"n": 4}\n```')).answer(NUMBER)
    assert answer.data == {"n": 4}


async def test_a_wrong_shape_is_repaired(stage: Stage) -> None:
    answer = await (await stage({"n": "three"}, "what?", {"n": 3})).answer(NUMBER)
    assert answer.data == {"n": 3}
    assert answer.usage.requests == 3


async def test_a_wrong_meaning_is_repaired(stage: Stage) -> None:
    ask = Ask(NUMBER.messages, schema=SCHEMA, check=lambda data: [] if data["n"] > 5 else ["n must be above 5."])
    answer = await (await stage({"n": 3}, {"n": 6})).answer(ask)
    assert answer.data == {"n": 6}


async def test_words_are_checked_as_well(stage: Stage) -> None:
    ask = Ask(HELLO.messages, check=lambda text: [] if text.startswith("start") else ["Begin with start."])
    answer = await (await stage("hello", "start(x)")).answer(ask)
    assert (answer.text, answer.usage.requests) == ("start(x)", 2)


async def test_what_stays_wrong_is_an_error_that_says_why(stage: Stage) -> None:
    with pytest.raises(ModelAnswerError, match=r"asked 3 times .* answer needs 'n'") as raised:
        await (await stage({})).answer(NUMBER)
    assert raised.value.usage.requests == 3
    assert [problem.says for problem in raised.value.problems] == ["answer needs 'n'."]


async def test_nothing_said_is_no_answer(stage: Stage) -> None:
    with pytest.raises(ModelAnswerError, match="empty"):
        await (await stage("")).answer(Ask(HELLO.messages, repairs=0))


async def test_silence_ends_in_time(stage: Stage) -> None:
    with pytest.raises(ModelTimeoutError) as raised:
        await (await stage(...)).answer(Ask(HELLO.messages, timeout_s=0.05))
    assert raised.value.usage.requests == 1


async def test_cancelling_ends_the_ask_at_once(stage: Stage) -> None:
    model, asked = await stage(...), asyncio.Event()
    task = asyncio.ensure_future(model.answer(Ask(HELLO.messages, timeout_s=1000, permit=lambda used: asked.set())))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_every_request_needs_leave(stage: Stage) -> None:
    told = []

    def permit(used: Any) -> None:
        told.append(used.requests)
        if used.requests == 2:
            raise ModelError("No more.", code="mine")

    ask = Ask(NUMBER.messages, schema=SCHEMA, permit=permit, repairs=5)
    with pytest.raises(ModelError, match="No more") as raised:
        await (await stage({})).answer(ask)
    assert (told, raised.value.usage.requests) == ([0, 1, 2], 2)


async def test_a_model_remembers_nothing(stage: Stage) -> None:
    model = await stage({"n": 1}, {"n": 2})
    asks = await asyncio.gather(model.answer(NUMBER), model.answer(NUMBER))
    assert sorted(answer.data["n"] for answer in asks) == [1, 2]


async def test_a_recording_answers_like_the_model_it_was_made_of() -> None:
    store = MemoryStore()
    script = ScriptedModel("a", ModelTimeoutError("Late.", hint="Wait."), {"n": 3}, "b")
    logged = LoggedModel(script, store, VirtualClock(), owner="session:s1", about={"sessionId": "s1"})
    first = [await _outcome(logged, ask) for ask in (HELLO, HELLO, NUMBER, HELLO)]
    again = await recorded_model(store, "session:s1")
    assert [await _outcome(again, ask) for ask in (HELLO, HELLO, NUMBER, HELLO)] == first
    assert first[1] == ("Late.", "model.timeout", ModelTimeoutError)
    with pytest.raises(ModelAnswerError) as raised:
        await again.answer(HELLO)
    assert raised.value.code == "model.not_recorded"


async def _outcome(model: Model, ask: Ask) -> Any:
    try:
        return await model.answer(ask)
    except ModelError as error:
        return error.says, error.code, type(error)
