"""Providers over real HTTP: what reaches the other side, and what becomes of everything that can go wrong there."""

import asyncio
import json
import traceback
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.contract.responses_server import FakeResponses

from beforehand.adapters.models.access import Access
from beforehand.adapters.models.remote import LONGEST_WAIT_S, TRIES, RemoteModel
from beforehand.model.errors import (
    ModelAnswerError,
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from beforehand.ports.model import Ask, Message
from beforehand.testing.model_http import FakeServer
from beforehand.testing.model_replies import (
    calls_with,
    declines,
    dies,
    garbles,
    gives,
    says,
    stalls,
    turned_away,
)
from beforehand.testing.model_servers import FakeAnthropic, FakeOpenAI

pytestmark = pytest.mark.needs("pydantic_ai")

KEY = "sk-this-is-the-key"
PNG = b"\x89PNG\r\n\x1a\n and what a picture holds"
OLD_PNG = b"\x89PNG\r\n\x1a\n older"
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
HELLO = Ask((Message("user", "hello"),), system="Be short.")


class Side:
    """A model and the server it talks to; waits are written down, not waited."""

    def __init__(self, server: FakeServer, provider: str) -> None:
        self.server = server
        self.slept: list[float] = []
        self.model = RemoteModel(Access(f"{provider}:some-model", server.url, KEY), sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def plays(self, *script: Any) -> "Side":
        self.server.script = script
        return self

    async def fails(self, ask: Ask = HELLO) -> ModelError:
        """The error that the ask ends with; nobody is left on the line, and no key is in any word of it."""
        with pytest.raises(ModelError) as raised:
            await self.model.answer(ask)
        await self.model.close()
        await self.server.left()
        told = "".join(traceback.format_exception(raised.value)) + repr(vars(raised.value))
        assert KEY not in told + repr(self.model) + repr(vars(self.model))
        return raised.value


@pytest.fixture(params=["openai", "anthropic"])
async def side(request: pytest.FixtureRequest) -> AsyncIterator[Side]:
    kind = {"openai": FakeOpenAI, "anthropic": FakeAnthropic}[request.param]
    async with kind(says("ok")) as server:
        found = Side(server, request.param)
        yield found
        await found.model.close()


async def test_the_conversation_arrives_as_it_was_given(side: Side) -> None:
    said = (Message("user", "state 1"), Message("assistant", "skip(1)"), Message("user", "state 2", (PNG,)))
    await side.model.answer(Ask(said, system="Be short.", max_output_tokens=77, temperature=0.5))
    (seen,) = side.server.seen
    assert seen.system == "Be short."
    assert seen.messages == (("user", "state 1"), ("assistant", "skip(1)"), ("user", "state 2"))
    assert seen.images == (PNG,)
    assert seen.body["model"] == "some-model"
    assert 77 in (seen.body.get("max_tokens"), seen.body.get("max_completion_tokens"))
    assert seen.body["temperature"] == 0.5
    assert KEY in (seen.headers.get("x-api-key"), seen.headers.get("authorization", "").removeprefix("Bearer "))


async def test_pictures_of_earlier_asks_are_not_sent_again(side: Side) -> None:
    await side.model.answer(Ask((Message("user", "look", (OLD_PNG,)),)))
    await side.model.answer(Ask((Message("user", "look"), Message("assistant", "ok"), Message("user", "now", (PNG,)))))
    assert [seen.images for seen in side.server.seen] == [(OLD_PNG,), (PNG,)]


async def test_openai_compatible_is_chat_completions_not_streamed() -> None:
    async with FakeOpenAI(says("ok")) as server:
        model = RemoteModel(Access("openai:some", server.url))
        await model.answer(HELLO)
        await model.close()
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert not seen.body.get("stream")
    assert seen.body["messages"][-1] == {"role": "user", "content": "hello"}, "plain words are a plain string"
    assert KEY not in repr(seen.headers)


async def test_anthropic_is_streamed_messages() -> None:
    async with FakeAnthropic(says("ok")) as server:
        model = RemoteModel(Access("anthropic:some", server.url))
        assert (await model.answer(HELLO)).text == "ok"
        await model.close()
    (seen,) = server.seen
    assert (seen.path, seen.body["stream"]) == ("/v1/messages", True)


async def test_the_model_is_told_what_was_wrong(side: Side) -> None:
    side.plays(calls_with('{"n": '), gives({"n": "x"}), gives({"n": 3}))
    answer = await side.model.answer(Ask((Message("user", "a number", (PNG,)),), schema=SCHEMA))
    assert answer.data == {"n": 3}
    _, second, third = side.server.seen
    assert "not readable as JSON" in second.last
    assert "answer.n must be integer, not string" in third.last
    assert third.images == (PNG,)


async def test_half_an_answer_is_not_taken_for_a_whole_one(side: Side) -> None:
    side.plays(says("start(sitting on", cut_off=True), says("end()"))
    assert (await side.model.answer(HELLO)).text == "end()"
    assert "cut off" in side.server.seen[1].last


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_turned_away_and_let_in_later(side: Side, status: int) -> None:
    side.plays(turned_away(status, 7), turned_away(status, None), says("yes"))
    answer = await side.model.answer(HELLO)
    assert (answer.text, answer.usage.requests) == ("yes", 3)
    assert side.slept == [7, 1.0]


async def test_patience_ends(side: Side) -> None:
    side.plays(turned_away(429, None))
    error = await side.fails(Ask(HELLO.messages, timeout_s=1000))
    assert isinstance(error, ModelBusyError)
    assert "HTTP 429" in error.says
    assert error.usage.requests == len(side.server.seen) == TRIES
    assert side.slept == sorted(side.slept)
    assert max(side.slept) <= LONGEST_WAIT_S


async def test_nobody_waits_longer_than_there_is_time(side: Side) -> None:
    side.plays(turned_away(429, 3600))
    assert isinstance(await side.fails(), ModelBusyError)
    assert (side.slept, len(side.server.seen)) == ([], 1)


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (turned_away(401), ModelRefusedError, "model.refused"),
        (turned_away(403), ModelRefusedError, "model.refused"),
        (turned_away(404), ModelRefusedError, "model.unknown"),
        (turned_away(400), ModelRefusedError, "model.rejected"),
        (turned_away(402), ModelRefusedError, "model.quota"),
        (turned_away(500), ModelError, "model.failed"),
        (declines(), ModelRefusedError, "model.declined"),
        (garbles(), ModelAnswerError, "model.bad_answer"),
        (garbles(b'{"id":', "application/json"), ModelAnswerError, "model.bad_answer"),
        (garbles(b'{"odd": 1}', "application/json"), ModelAnswerError, "model.bad_answer"),
        (garbles(b"", "application/json"), ModelAnswerError, "model.bad_answer"),
        (dies(), ModelUnreachableError, "model.unreachable"),
    ],
    ids=["401", "403", "404", "400", "402", "500", "declines", "html", "half", "odd", "empty", "dies"],
)
async def test_what_will_not_work_is_told_and_not_tried_again(
    side: Side, reply: Any, kind: type[ModelError], code: str
) -> None:
    error = await side.plays(reply).fails()
    assert (type(error), error.code) == (kind, code)
    assert len(side.server.seen) == 1
    assert error.usage.requests == 1


@pytest.mark.parametrize(
    "body",
    [
        "null",
        "[]",
        '"x"',
        '{"error": {"message": "x"}}',
        '{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []}',
        '{"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"message": {}}]}',
        '{"type": "message", "content": null}',
    ],
)
async def test_an_odd_answer_is_no_answer(side: Side, body: str) -> None:
    error = await side.plays(garbles(body.encode(), "application/json")).fails()
    assert isinstance(error, ModelAnswerError)


STREAM = [
    {
        "type": "message_start",
        "message": {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "x",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "stop(sitting"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]


@pytest.mark.parametrize("count", range(len(STREAM)))
async def test_a_stream_that_ends_too_early_is_never_an_answer(count: int) -> None:
    """Half a command must not be taken for a whole one."""
    lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in STREAM[:count])
    async with FakeAnthropic(garbles(lines.encode(), "text/event-stream")) as server:
        side = Side(server, "anthropic")
        if count == len(STREAM) - 1:  # only the last full stop is missing: how it ended has been said
            assert (await side.model.answer(HELLO)).text == "stop(sitting"
        else:
            assert isinstance(await side.fails(), ModelUnreachableError | ModelAnswerError)
        await side.model.close()


async def test_without_a_url_openai_is_asked_as_it_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeResponses(says("ok"), gives({"n": "x"}), gives({"n": 3})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = RemoteModel(Access("openai:gpt-5", None, KEY))
        words = await model.answer(HELLO)
        number = await model.answer(Ask(HELLO.messages, schema=SCHEMA))
        await model.close()
    assert (words.text, number.data) == ("ok", {"n": 3})
    assert words.usage.money is not None
    assert [(seen.path, seen.system) for seen in server.seen[:1]] == [("/v1/responses", "Be short.")]
    assert "must be integer" in json.dumps(server.seen[2].body["input"])


async def test_a_refused_key_says_which_to_set(side: Side) -> None:
    error = await side.plays(turned_away(401)).fails()
    assert "_API_KEY" in error.hint


async def test_nobody_there(side: Side) -> None:
    url = f"http://127.0.0.1:{side.server.port}"
    await side.server.__aexit__()
    model = RemoteModel(Access(side.model.name, url))
    with pytest.raises(ModelUnreachableError, match="does not answer"):
        await model.answer(HELLO)
    await model.close()
    await side.server.__aenter__()


async def test_a_slow_model_is_left(side: Side) -> None:
    error = await side.plays(stalls()).fails(Ask(HELLO.messages, timeout_s=0.2))
    assert isinstance(error, ModelTimeoutError)


async def test_a_model_that_thinks_is_waited_for(side: Side) -> None:
    thought = asyncio.Event()
    side.plays(stalls(thought, says("at last")))
    asking = asyncio.ensure_future(side.model.answer(HELLO))
    await side.server.asked.wait()
    thought.set()
    assert (await asking).text == "at last"


async def test_cancelling_hangs_up(side: Side) -> None:
    side.plays(stalls())
    asking = asyncio.ensure_future(side.model.answer(Ask(HELLO.messages, timeout_s=1000)))
    await side.server.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await side.server.left()


async def test_a_script_may_be_a_function_of_what_is_asked(side: Side) -> None:
    side.plays(lambda seen: says(seen.last.upper()))
    assert (await side.model.answer(HELLO)).text == "HELLO"


async def test_one_model_answers_many_at_once(side: Side) -> None:
    side.plays(lambda seen: says(seen.last))
    asks = [Ask((Message("user", str(number)),)) for number in range(8)]
    answers = await asyncio.gather(*map(side.model.answer, asks))
    assert [answer.text for answer in answers] == [str(number) for number in range(8)]
