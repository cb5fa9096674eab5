"""Answers in pieces over real HTTP: heard while they are written, and never half an answer taken for a whole one."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.contract.responses_server import FakeResponses

from beforehand.adapters.models.access import Access
from beforehand.adapters.models.budget import Budget, Limits
from beforehand.adapters.models.remote import RemoteModel
from beforehand.model.errors import (
    ModelBudgetError,
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from beforehand.ports.model import Ask, Message, Piece
from beforehand.testing.model_http import FakeServer
from beforehand.testing.model_replies import (
    Reply,
    Seen,
    breaks_off,
    declines,
    dies,
    gives,
    in_pieces,
    says,
    stalls,
    turned_away,
)
from beforehand.testing.model_servers import FakeAnthropic, FakeOpenAI

pytestmark = pytest.mark.needs("pydantic_ai")

WORDS = "The robot waits for a free way."
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def no_sleep(seconds: float) -> None: ...


class Side:
    """A model that streams, the server it talks to, and what is heard."""

    def __init__(self, server: FakeServer, provider: str) -> None:
        self.server = server
        self.model = RemoteModel(Access(f"{provider}:some", server.url, stream=True), sleep=no_sleep)
        self.heard: list[Piece] = []
        self.hears = asyncio.Event()

    def plays(self, *script: Any) -> "Side":
        self.server.script = script
        return self

    def ask(self, **more: Any) -> Ask:
        return Ask((Message("user", "hello"),), hear=self._hear, **more)

    def _hear(self, piece: Piece) -> None:
        self.heard.append(piece)
        self.hears.set()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.heard)

    async def fails(self, **more: Any) -> ModelError:
        with pytest.raises(ModelError) as raised:
            await self.model.answer(self.ask(**more))
        await self.model.close()
        await self.server.left()
        return raised.value


@pytest.fixture(params=["openai", "anthropic"])
async def side(request: pytest.FixtureRequest) -> AsyncIterator[Side]:
    kind = {"openai": FakeOpenAI, "anthropic": FakeAnthropic}[request.param]
    async with kind(says(WORDS)) as server:
        found = Side(server, request.param)
        yield found
        await found.model.close()


async def test_what_has_come_is_heard_before_the_rest_is_there(side: Side) -> None:
    going_on = asyncio.Event()
    side.plays(in_pieces(stalls(going_on, says(WORDS)), 4, after=2))
    asking = asyncio.ensure_future(side.model.answer(side.ask()))
    while len(side.heard) < 2:
        side.hears.clear()
        await side.hears.wait()
    assert WORDS.startswith(side.text)
    assert side.text != WORDS
    assert not asking.done()
    going_on.set()
    answer = await asking
    assert answer.text == side.text == WORDS
    assert len(side.heard) == 4
    assert (answer.usage.requests, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 100, 10)
    assert side.server.seen[0].body["stream"] is True


async def test_a_structured_answer_is_heard_as_json(side: Side) -> None:
    side.plays(in_pieces(gives({"n": 12345678}), 5))
    answer = await side.model.answer(side.ask(schema=SCHEMA))
    assert answer.data == {"n": 12345678}
    assert side.text == '{"n": 12345678}'
    assert len(side.heard) == 5


async def test_a_repaired_answer_begins_anew(side: Side) -> None:
    side.plays(in_pieces(gives({"n": "three"}), 2), in_pieces(gives({"n": 3}), 2))
    await side.model.answer(side.ask(schema=SCHEMA))
    second = "".join(piece.text for piece in side.heard if piece.request == 2)
    assert second == '{"n": 3}'
    assert {piece.request for piece in side.heard} == {1, 2}


@pytest.mark.parametrize("after", [1, 3])
async def test_a_line_that_is_cut_is_no_answer(side: Side, after: int) -> None:
    error = await side.plays(in_pieces(dies(WORDS), 4, after=after)).fails()
    assert isinstance(error, ModelUnreachableError)
    assert len(side.heard) == after
    assert len(side.server.seen) == error.usage.requests == 1


async def test_a_quiet_end_is_no_answer(side: Side) -> None:
    """A proxy may end a stream properly where the server behind it broke: then nothing says how the answer ended."""
    whole = side.server.stream(in_pieces(says(WORDS)), Seen("", {}, {}, "", (), ()))
    cut = b"".join(told.line for told in whole[: 3 if isinstance(side.server, FakeOpenAI) else 4])
    error = await side.plays(Reply(raw=cut, headers={"Content-Type": "text/event-stream"})).fails()
    assert isinstance(error, ModelUnreachableError)
    assert WORDS.startswith(side.text)
    assert side.heard


async def test_a_stream_that_stands_still_is_left(side: Side) -> None:
    error = await side.plays(in_pieces(stalls(None, says(WORDS)), 4, after=2)).fails(silence_s=0.2, timeout_s=1000)
    assert isinstance(error, ModelTimeoutError)
    assert error.code == "model.stalled"
    assert "0.2 s" in error.says
    assert len(side.heard) == 2


async def test_thinking_before_the_first_word_is_no_standstill(side: Side) -> None:
    error = await side.plays(stalls()).fails(silence_s=0.05, timeout_s=0.3)
    assert error.code == "model.timeout"


async def test_a_slow_stream_has_no_more_time_than_any_answer(side: Side) -> None:
    error = await side.plays(in_pieces(stalls(None, says(WORDS)), 4, after=2)).fails(silence_s=1000, timeout_s=0.5)
    assert error.code == "model.timeout"


async def test_a_refusal_in_the_middle_is_one(side: Side) -> None:
    error = await side.plays(in_pieces(declines(WORDS), 4, after=2)).fails()
    assert (type(error), error.code) == (ModelRefusedError, "model.declined")
    assert len(side.heard) == 2
    assert len(side.server.seen) == 1


async def test_a_refusal_from_the_start_is_one(side: Side) -> None:
    assert (await side.plays(in_pieces(declines(WORDS))).fails()).code == "model.declined"


async def test_a_provider_that_fails_in_the_middle_is_told(side: Side) -> None:
    error = await side.plays(in_pieces(breaks_off(says(WORDS)), 4, after=2)).fails()
    assert error.code == "model.failed"
    assert len(side.heard) >= 2


async def test_a_provider_that_turns_away_is_asked_again(side: Side) -> None:
    side.plays(turned_away(529), in_pieces(says(WORDS)))
    answer = await side.model.answer(side.ask())
    assert (answer.text, answer.usage.requests) == (WORDS, 2)
    assert {piece.request for piece in side.heard} == {2}


async def test_patience_with_a_stream_ends(side: Side) -> None:
    assert isinstance(await side.plays(turned_away(503, None)).fails(timeout_s=1000), ModelBusyError)
    assert side.heard == []


async def test_a_stream_without_room_is_not_tried_past_the_budget(side: Side) -> None:
    side.plays(in_pieces(says(WORDS, cut_off=True)))
    budget = Budget(side.model, Limits(tokens=110))
    with pytest.raises(ModelBudgetError):
        await budget.answer(side.ask())
    assert len(side.server.seen) == 1
    assert budget.used.tokens == 110


async def test_what_a_broken_stream_has_used_counts() -> None:
    async with FakeAnthropic(in_pieces(dies(WORDS), 4, after=2)) as server:
        side = Side(server, "anthropic")
        budget = Budget(side.model, Limits(tokens=1000))
        with pytest.raises(ModelUnreachableError) as raised:
            await budget.answer(side.ask())
        await side.model.close()
    assert raised.value.usage.input_tokens == budget.used.input_tokens == 100


async def test_cancelling_in_the_middle_hangs_up(side: Side) -> None:
    side.plays(in_pieces(stalls(None, says(WORDS)), 4, after=1))
    asking = asyncio.ensure_future(side.model.answer(side.ask(timeout_s=1000)))
    await side.hears.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await side.server.left()


async def test_an_answer_that_is_not_streamed_is_one_piece() -> None:
    async with FakeOpenAI(in_pieces(says(WORDS))) as server:
        side = Side(server, "openai")
        model = RemoteModel(Access("openai:some", server.url))
        await model.answer(side.ask())
        await model.close()
    assert [piece.text for piece in side.heard] == [WORDS]
    assert not server.seen[0].body.get("stream")


@pytest.mark.parametrize(("provider", "kind"), [("openai", FakeOpenAI), ("anthropic", FakeAnthropic)])
async def test_nobody_is_asked_to_stream_where_that_is_switched_off(provider: str, kind: type[FakeServer]) -> None:
    async with kind(says(WORDS)) as server:
        model = RemoteModel(Access(f"{provider}:some", server.url, stream=False))
        assert (await model.answer(Side(server, provider).ask())).text == WORDS
        await model.close()
    assert not server.seen[0].body.get("stream")


def no_streams(seen: Seen) -> Reply:
    return turned_away(400) if seen.body.get("stream") else says(WORDS)


async def test_openai_streams_and_goes_on_without_where_it_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeResponses(in_pieces(says(WORDS)), no_streams) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        side = Side(server, "openai")
        model = RemoteModel(Access("openai:gpt-5", None, "sk-key"), sleep=no_sleep)
        assert (await model.answer(side.ask())).text == side.text == WORDS
        assert len(side.heard) == 4
        assert (await model.answer(side.ask())).usage.requests == 2
        assert (await model.answer(side.ask())).usage.requests == 1
        await model.close()
        told = RemoteModel(Access("openai:gpt-5", None, "sk-key", stream=True), sleep=no_sleep)
        with pytest.raises(ModelRefusedError):
            await told.answer(side.ask())
        await told.close()
    assert [bool(seen.body.get("stream")) for seen in server.seen] == [True, True, False, False, True]
